"""What the `controller` and `network` tables may say: one class per law.

The keys of a built-in law are the parameters that its class declares. A key that belongs to one
choice of another key, such as `dt` to mode = "sampled", is absent by default. Where it applies, its
default is in its description and is filled in by the law itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

from pydantic import ConfigDict, Field

from dwell._parameters import declaration_of
from dwell.agents.network import Network
from dwell.agents.traits import Traits, traits_of
from dwell.controllers import LAWS

from .declared import DeclaredTable, LawTable, law_table, table_of
from .problems import Problem
from .values import Function, Parameter, Table, doc

# The built-in laws by their kinds in a file.
LAW_KINDS: Mapping[str, Any] = {declaration_of(law).kind: law for law in LAWS}
LAW_TABLES = {kind: law_table(law) for kind, law in LAW_KINDS.items()}


class PythonSpec(Table):
    """A law of one's own: a Python class, with its parameters as further keys."""

    model_config = ConfigDict(extra="allow", serialize_by_alias=True)
    __pydantic_extra__: dict[str, Parameter] = Field(init=False)

    kind: Literal["python"] = doc("which law this is")
    law: Function = doc(
        'the class, written "module:Class"; every further key is one of its parameters',
        alias="class",
    )

    def each_per_agent(self, agents: int, later: int) -> Iterator[Problem]:
        """Lists that do not have one entry for each agent; nothing is known of them."""
        yield from ()

    def lists_per_agent(self) -> tuple[str, ...]:
        """The keys whose values are lists with an entry for each agent; none is known."""
        return ()

    def clock(self) -> Iterator[tuple[str, Any, Any]]:
        """Keys of times by which the clock advances; nothing is known of them."""
        yield from ()


if TYPE_CHECKING:
    NetworkSpec: TypeAlias = DeclaredTable
else:
    NetworkSpec = table_of(Network)


LawSpec: TypeAlias = LawTable | PythonSpec


def class_of(spec: LawSpec) -> str | None:
    """The class of a law in Python, "module:Class"; None for a built-in law."""
    return spec.law if isinstance(spec, PythonSpec) else None


def stated_traits(spec: LawSpec) -> Traits:
    """What a law states of itself, known before a scenario is built; of one in Python nothing."""
    if isinstance(spec, PythonSpec):
        return Traits(name=spec.law)
    return traits_of(LAW_KINDS[spec.kind](**spec.model_dump(exclude={"kind"}, exclude_none=True)))


AnyLaw: Any = Union[(*LAW_TABLES.values(), PythonSpec)]
