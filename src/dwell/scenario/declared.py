"""Tables of a scenario file from the classes that declare their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING
from functools import singledispatch
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, create_model

from dwell import _parameters as parameters
from dwell._parameters import (
    LARGEST,
    POSITIVE,
    SMALLEST,
    Parameter,
    declaration_of,
    faults,
    parameters_of,
)
from dwell.density import Moving
from dwell.motion import Circle, Keyframes

from . import checks, values
from .problems import Problem, needs, refuse
from .tracks import (
    MatrixTrack,
    NumberKeyframes,
    PointTrack,
    TermsKeyframes,
    built,
    frames_of,
    track_of,
)
from .values import Table, doc

Spec = TypeVar("Spec", bound="DeclaredTable")


class DeclaredTable(Table):
    """A table whose keys are the parameters of a class, `made_of`."""

    made_of: ClassVar[Any]

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """The declared parameters, by their names in the class."""
        return parameters_of(cls.made_of)

    def _problems(self) -> Iterator[Problem]:
        for where, code, text in faults(self.made_of, self):
            key = str(where[0])
            default = key not in self.model_fields_set
            default = default and text.endswith(f"got {getattr(self, key)!r}")
            yield Problem(where, code, f"{text}, its default" if default else text)

    def __getattr__(self, name: str) -> Any:
        """A parameter by its name in the class, where its key is another one."""
        declared = type(self).parameters().get(name)
        if declared is None or not declared.key:
            return super().__getattr__(name)  # type: ignore[misc]
        return getattr(self, declared.key)

    def given(self) -> dict[str, Any]:
        """The values that are given or have a default, by their names in the class."""
        every = {name: getattr(self, name) for name in self.parameters()}
        return {name: made_of(value) for name, value in every.items() if value is not None}

    def made(self) -> Any:
        """The object of the table."""
        return self.made_of(**self.given())


def made_of(value: Any) -> Any:
    """A value as a class takes it: objects in place of tables, and tracks."""
    if isinstance(value, DeclaredTable):
        return value.made()
    if isinstance(value, tuple) and value and isinstance(value[0], DeclaredTable):
        return tuple(map(made_of, value))
    return built(value)


class DensityTable(DeclaredTable):
    """The table of a density."""

    kind: str

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """What does not have n coordinates."""
        for name, one in self.parameters().items():
            check = OF_DIMENSION.get(type(one.kind))
            if check is not None:
                key = one.key or name
                for where, frame in frames_of(getattr(self, key), (key,)):
                    yield from check(where, frame, n)

    def made(self) -> Any:
        """The density; one that moves if a parameter does."""
        values = self.given()
        moving = any(isinstance(value, Keyframes | Circle) for value in values.values())
        return Moving(self.made_of, **values) if moving else self.made_of(**values)


OF_DIMENSION: Mapping[Any, Callable[[Any, Any, int], Iterator[Problem]]] = {
    parameters.Point: checks.point,
    parameters.Matrix: checks.matrix,
    parameters.Terms: checks.terms,
}


class LawTable(DeclaredTable):
    """The table of a built-in law."""

    kind: str

    def each_per_agent(self, agents: int, later: int) -> Iterator[Problem]:
        """Lists that do not have one entry for each agent."""
        for key in self.lists_per_agent():
            yield from checks.one_per_agent((key,), getattr(self, key), agents, later)

    def lists_per_agent(self) -> Iterator[str]:
        """The keys whose values are lists with an entry for each agent."""
        for name, one in self.parameters().items():
            value = getattr(self, name)
            for_all = isinstance(one.kind, parameters.Times) and not isinstance(
                (value or (0.0,))[0], tuple
            )
            if one.per_agent and isinstance(value, tuple) and not for_all:
                yield one.key or name

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """Vectors that do not have n coordinates."""
        for name, one in self.parameters().items():
            if isinstance(one.kind, parameters.Vectors):
                yield from checks.points((one.key or name,), getattr(self, name), n)

    def clock(self) -> Iterator[tuple[str, Parameter, Any]]:
        """Keys of times by which the clock advances, and of rates of such times, with values."""
        for name, one in self.parameters().items():
            value = getattr(self, name)
            goes = one.belongs is None or getattr(self, one.belongs[0]) == one.belongs[1]
            if value is None and isinstance(one.absent, float):
                value = one.absent
            if one.advances_clock and goes and value is not None:
                yield one.key or name, one, value


def law_table(cls: Any) -> type[LawTable]:
    """The table of a law."""
    return table_of(cls, LawTable, kind=(kind_of(cls), doc("which law this is")))


def density_table(cls: Any) -> type[DensityTable]:
    """The table of a density."""
    return table_of(cls, DensityTable, kind=(kind_of(cls), doc("which form of density this is")))


def kind_of(cls: Any) -> Any:
    """The type of the key that chooses a class."""
    return Literal[declaration_of(cls).kind]


def table_of(cls: Any, base: type[Spec] = DeclaredTable, **more: Any) -> type[Spec]:  # type: ignore[assignment]
    """The table of a class with declared parameters, and with more keys beside them."""
    keys: dict[str, Any] = {"kind": more.pop("kind")} if "kind" in more else {}
    for name, one in parameters_of(cls).items():
        kind = one.in_file or one.kind
        of_kind = moving_type_of(kind) if one.moves else type_of(kind)
        of_class = isinstance(kind, parameters.Point) and one.default == ()
        optional = one.default is None or of_class
        default = ... if one.default is MISSING else None if optional else one.default
        about = doc(
            described(one), default, unit=one.unit, per_agent=one.per_agent,
            json_schema_extra=_extra(one),
        )  # fmt: skip
        keys[one.key or name] = (of_kind | None if optional else of_kind, about)
    summary = str(cls.__doc__).partition("\n")[0]
    made: type[Spec] = create_model(
        f"{cls.__name__}Spec", __base__=base, __doc__=summary, __module__=__name__, **keys, **more
    )
    made.made_of = cls
    return made


def described(one: Parameter) -> str:
    """What a parameter means, with what its choices mean."""
    if not isinstance(one.kind, parameters.Word) or not any(one.kind.choices.values()):
        return one.description
    choices = "; ".join(f"{word}: {text}" for word, text in one.kind.choices.items())
    return f"{one.description}; {choices}"


def _extra(one: Parameter) -> dict[str, Any]:
    """What the JSON Schema says of a parameter beyond its type, unit and lists."""
    extra: dict[str, Any] = {"x-role": one.role} if one.role else {}
    if one.belongs is not None:
        extra["x-belongs"] = dict([one.belongs])
    return extra


@singledispatch
def type_of(kind: Any) -> Any:
    """The type of the key of a parameter of this kind: what the kind takes, and its JSON Schema."""

    def taken(value: object) -> Any:
        try:
            return kind.taken(value)
        except ValueError as bad:
            raise needs(kind.need.rstrip(",")) from bad

    return Annotated[Any, BeforeValidator(taken), WithJsonSchema(dict(kind.schema))]


@type_of.register
def _(kind: parameters.Number) -> Any:
    limits = {"gt": kind.above, "ge": kind.least, "lt": kind.below, "le": kind.most}
    given: dict[str, Any] = {name: v for name, v in limits.items() if v is not None}
    limit = Field(**given)
    number = Annotated[float, limit, BeforeValidator(values.as_number)]
    return (
        Annotated[number, AfterValidator(_sized), WithJsonSchema(SIZED)] if kind.sized else number
    )


SIZED = {"type": "number", "exclusiveMinimum": 0.0, "minimum": SMALLEST, "maximum": LARGEST}


def _sized(number: float) -> float:
    """A number whose fourth power is a double."""
    if not SMALLEST <= number <= LARGEST:
        says = f"must be between {SMALLEST:g} and {LARGEST:g}, got {number!r}"
        refuse([Problem((), "scenario.range", says)])
    return number


@type_of.register
def _(kind: parameters.Word) -> Any:
    words: Any = Literal[tuple(kind.choices)]
    whole = all(isinstance(word, int) for word in kind.choices)
    return Annotated[words, BeforeValidator(values.as_whole)] if whole else words


@type_of.register
def _(kind: parameters.Each) -> Any:
    return values.one_or_each(type_of(POSITIVE))


@type_of.register
def _(kind: parameters.Times) -> Any:
    return values.list_or_lists(type_of(POSITIVE))


@type_of.register
def _(kind: parameters.Vectors) -> Any:
    return values.PointList


@type_of.register
def _(kind: parameters.Levels) -> Any:
    return values.Levels


@type_of.register
def _(kind: parameters.Point) -> Any:
    return values.Point


@type_of.register
def _(kind: parameters.Matrix) -> Any:
    return values.Matrix


@type_of.register
def _(kind: parameters.Terms) -> Any:
    return values.TermRows


def moving_type_of(kind: Any) -> Any:
    """The type of the key of a parameter that may change over time."""
    if isinstance(kind, parameters.Number):
        return track_of(type_of(kind), NumberKeyframes)
    if isinstance(kind, parameters.Point):
        return PointTrack
    if isinstance(kind, parameters.Matrix):
        return MatrixTrack
    return track_of(type_of(kind), TermsKeyframes)


@type_of.register
def _(kind: parameters.Whole) -> Any:
    limit = Field(ge=kind.least) if kind.most is None else Field(ge=kind.least, le=kind.most)
    return Annotated[int, limit, BeforeValidator(values.as_whole)]


@type_of.register
def _(kind: parameters.Wholes) -> Any:
    return Annotated[tuple[values.Whole, ...], values.listed(kind.need)]


@type_of.register
def _(kind: parameters.Range) -> Any:
    two = values.numbers_validator(kind.need, "scenario.bounds", 2, 2)
    return Annotated[tuple[values.NotNegative, values.NotNegative], two]


@type_of.register
def _(kind: parameters.Tables) -> Any:
    table: Any = table_of(kind.of)
    return Annotated[tuple[table, ...], values.listed("a list of tables")]
