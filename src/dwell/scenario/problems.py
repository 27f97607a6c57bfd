"""What is wrong with a scenario: one place, one code, one sentence.

Checks give `Problem`s, relative to the table that they check. `scenario_error` turns the first few
into the one exception that callers see.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pydantic_core import PydanticCustomError

from dwell.errors import ScenarioError

Where: TypeAlias = tuple[str | int, ...]

MOST_SHOWN = 5
NEEDS = "dwell_needs"
PROBLEMS = "dwell_problems"

_BARE = re.compile(r"[A-Za-z0-9_-]{1,60}")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, a code for programs, and the sentence after the key.

    `meant` is the place that was probably meant, if the key is unknown.
    """

    where: Where
    code: str
    says: str
    meant: Where | None = None

    @property
    def key(self) -> str:
        """The place in dotted form, such as ``agents.start[3]``."""
        return dotted(self.where)

    @property
    def sentence(self) -> str:
        """The whole sentence, which begins with the key."""
        end = "" if self.says.endswith("?") else "."
        return f"{self.key or 'the scenario'} {self.says}{end}"

    def inside(self, table: Where) -> Problem:
        """This problem with its place as seen from outside the table it was found in."""
        return replace(self, where=table + self.where)


def dotted(where: Where) -> str:
    """A place in dotted form: ``("agents", "start", 3)`` gives ``agents.start[3]``."""
    text = ""
    for part in where:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _BARE.fullmatch(part) else _quoted(part)
            text += f".{name}" if text else name
    return text


def shown(value: object) -> str:
    """A value as a reader would write it in a scenario, kept short."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case int():
            return str(value) if value.bit_length() <= 100 else "a very long whole number"
        case float():
            return repr(float(value))
        case dict():
            return "a table"
        case list() | tuple():
            return _shown_list(value)
        case datetime.date() | datetime.time():
            return f"the date or time {value.isoformat()}"
        case _:
            return f"a value of type {type(value).__name__}"


def _shown_list(values: Sequence[object]) -> str:
    short = len(values) <= 4 and all(isinstance(v, (int, float, str)) for v in values)
    if short:
        return "[" + ", ".join(shown(v) for v in values) + "]"
    return f"a list of {len(values)}"


def _quoted(text: str) -> str:
    if len(text) > 60:
        text = text[:57] + "..."
    return json.dumps(text, ensure_ascii=not text.isprintable())


def listing(words: Sequence[str], last: str = "and") -> str:
    """Words in a row: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + f" {last} {words[-1]}"


BOUNDS = {  # by the kind of a validator's error: a limit in words, and where its value is
    "greater_than": ("greater than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
_ADJECTIVES = {"greater than": "above", "less than": "below"}
_TYPES = {"bool": "true or false", "int": "a whole number", "float": "a number"}


def needed(kind: str, context: Mapping[str, Any]) -> str | None:
    """What is needed in place of a value that a validator refused; None if that is not known."""
    if kind in BOUNDS:
        words, name = BOUNDS[kind]
        return f"a number {_ADJECTIVES.get(words, f'of {words}')} {context[name]:.12g}"
    if kind == "literal_error":
        return str(context["expected"]).replace("'", '"')
    return "a finite number" if kind == "finite_number" else _TYPES.get(kind.split("_")[0])


def needs(what: str, code: str = "scenario.type") -> PydanticCustomError:
    """The error of a value that is not what its key needs."""
    ctx: dict[str, Any] = {"what": what, "code": code}
    return PydanticCustomError(NEEDS, "needs {what}", ctx)


def refuse(problems: Iterable[Problem]) -> None:
    """Raise, inside a validator, if there is any problem; say nothing otherwise."""
    found = list(problems)
    if found:
        ctx: dict[str, Any] = {"problems": found, "text": " ".join(p.sentence for p in found)}
        raise PydanticCustomError(PROBLEMS, "{text}", ctx)


def scenario_error(problems: Sequence[Problem], unseen: int = 0) -> ScenarioError:
    """The exception for some problems: a line each, five at most; code and key of the first.

    `unseen` more problems are counted and not among `problems`.
    """
    lines = [p.sentence for p in problems[:MOST_SHOWN]]
    left = len(problems) - len(lines) + unseen
    if left:
        lines[-1] += f" (and {left} more)"
    first = problems[0]
    return ScenarioError("\n".join(lines), code=first.code, key=first.key or None)
