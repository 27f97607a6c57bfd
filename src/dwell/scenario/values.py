"""Tables of a scenario, and the kinds of value that keys hold: numbers, points, lists per agent.

Each kind is stricter than Python: true is not 1, "1" is not 1, 1.0 is not a whole number, and
nothing is ever infinite or not-a-number. Lists become tuples, so that a scenario is frozen.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from .problems import Problem, needs, refuse

# Python refuses to print longer ones, so they could be neither recorded nor shown.
MOST_BITS = 13_000
STREAMS = 2**31  # of random numbers, one per agent
AGENTS_AT_MOST = 10_000_000  # that can be scattered

MAX_DEGREE = 16  # of a polynomial density


class Table(BaseModel):
    """A table of a scenario: frozen, no unknown keys, no conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    # The table under each key that is not declared, where such keys are allowed.
    others: ClassVar[Any] = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse(self._problems())
        return self

    def _problems(self) -> Iterator[Problem]:
        """Conditions between the keys of this table that do not hold; none by default."""
        yield from ()

    def of_dimension(self, n: int) -> Iterator[Problem]:
        """Points and matrices of this table that do not have n coordinates; none by default."""
        yield from ()

    def got(self, key: str) -> str:
        """The value of a key for a sentence, which says so if it is only the default."""
        value = repr(getattr(self, key))
        return value if key in self.model_fields_set else f"{value}, its default"


def doc(
    description: str,
    default: Any = ...,
    *,
    unit: tuple[int, ...] = (),
    per_agent: bool = False,
    **options: Any,
) -> Any:
    """The field of a key; its description is in the JSON Schema and in refusals.

    `unit` has powers of length and of time; a list of a key `per_agent` has an entry for each.
    """
    extra = options.pop("json_schema_extra", None) or {}
    extra |= ({"x-unit": list(unit)} if any(unit) else {}) | (
        {"x-per-agent": True} if per_agent else {}
    )
    return Field(default, description=description, json_schema_extra=extra or None, **options)


def extras_of(table: type[BaseModel], name: str) -> dict[str, Any]:
    """What the JSON Schema says under a name of the keys of a table, by key."""
    extras = {key: field.json_schema_extra for key, field in table.model_fields.items()}
    return {key: e[name] for key, e in extras.items() if isinstance(e, dict) and name in e}


def as_number(value: object) -> float:
    """A finite float, from a float or an integer; nothing else is taken."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise needs("a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise needs("a finite number", "scenario.not-finite")
    return number


def as_whole(value: object) -> int:
    """An integer of any reasonable size, from an integer only."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise needs("a whole number")
    return int(value)


def as_point(value: object) -> tuple[float, ...]:
    """A point, from a list of finite numbers, one per dimension; on a line a number will do."""
    return as_numbers(value, point_needed(_length(value)), "scenario.point")


def as_numbers(
    value: object, what: str, code: str, least: int = 1, most: int | None = None
) -> tuple[float, ...]:
    """A list of `least` to `most` finite numbers; `what` is needed, in words."""
    try:
        found = tuple(as_number(item) for item in _items(value))
        if not least <= len(found) <= (most or len(found)):
            raise ValueError
        return found
    except ValueError as bad:
        raise needs(what, code) from bad


def numbers_validator(what: str, code: str, least: int, most: int | None = None) -> BeforeValidator:
    """Takes what `as_numbers` takes."""
    return BeforeValidator(lambda value: as_numbers(value, what, code, least, most))


def as_term(value: object) -> tuple[int | float, ...]:
    """A term of a polynomial, from [i, j, coefficient]: a power for each coordinate before it."""
    try:
        *powers, coefficient = _items(value)
        whole = [as_whole(power) for power in powers]
        if not whole or min(whole) < 0 or sum(whole) > MAX_DEGREE:
            raise ValueError
        return (*whole, as_number(coefficient))
    except ValueError as bad:
        raise needs(term_needed(_length(value) - 1), "scenario.term") from bad


def as_matrix(value: object) -> tuple[tuple[float, ...], ...]:
    """A square matrix, from a list of rows; on a line a number will do."""
    try:
        rows = tuple(as_point(row) for row in _items(value))
        if any(len(row) != len(rows) for row in rows):
            raise ValueError
        return rows
    except ValueError as bad:
        what = "a square matrix of finite numbers, in the plane 2 by 2, [[xx, xy], [xy, yy]]"
        raise needs(what, "scenario.matrix") from bad


def point_needed(n: int) -> str:
    """A point of n coordinates in words; of any number of them if n is 0."""
    words = {
        0: "a point of finite numbers, one per dimension",
        1: "a point [x] of one finite number",
        2: "a point [x, y] of two finite numbers",
        3: "a point [x, y, z] of three finite numbers",
    }
    return words.get(n, f"a point of {n} finite numbers")


def term_needed(n: int) -> str:
    """A term of a polynomial in n coordinates in words."""
    names = {1: ["i"], 2: ["i", "j"], 3: ["i", "j", "k"]}.get(n)
    if names is None:
        counted = f"{n} whole powers" if n > 0 else "one whole power per coordinate"
        return (
            f"[powers, coefficient] with {counted} from 0, in sum at most {MAX_DEGREE}, and a "
            "finite coefficient"
        )
    powers = f"powers {', '.join(names)}" if n > 1 else "power i"
    return (
        f"[{', '.join(names)}, coefficient] with whole {powers} from 0, {' + '.join(names)} at "
        f"most {MAX_DEGREE}, and a finite coefficient"
    )


def _items(value: object) -> list[Any]:
    """The entries of a list, at least one; a number is a list of one."""
    if isinstance(value, numbers.Real):
        return [value]
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError
    return list(value)


def _length(value: object) -> int:
    return len(value) if isinstance(value, (list, tuple)) else 0


def as_text(value: object) -> str:
    """A line of text that can be printed and stored."""
    if not isinstance(value, str):
        raise needs("text in quotes")
    if not value or len(value) > 200 or not value.isprintable():
        raise needs("one line of 1 to 200 printable characters", "scenario.text")
    return value


def time_or_off(key: str, what: str) -> BeforeValidator:
    """Takes a time, or the word "off" for no `what`."""

    def as_time(value: object) -> float | str:
        if isinstance(value, str):
            if value != "off":
                raise needs('a number greater than 0, or "off"')
            return value
        number = as_number(value)
        if number <= 0:
            says = f'must be greater than 0, got {number:g}; write {key} = "off" for no {what}'
            refuse([Problem((), "scenario.range", says)])
        return number

    return BeforeValidator(as_time)


def as_function(value: object) -> str:
    """The name of a Python function or class, written module:name."""
    module, _, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    if not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise needs('the name of Python code, written "package.module:name"', "scenario.function")
    return str(value)


def as_parameter(value: object) -> object:
    """A parameter of a law in Python: what both TOML and JSON can hold."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as bad:
        raise needs("finite numbers, text, true or false, or lists and tables of these") from bad
    return value


def listed(what: str) -> BeforeValidator:
    """Takes a list (as a tuple) and refuses anything else; `what` says which list is needed."""

    def as_tuple(value: object) -> object:
        if not isinstance(value, (list, tuple)):
            raise needs(what)
        return tuple(value)

    return BeforeValidator(as_tuple)


def chosen_by(is_second: Callable[[Any], bool], first: str, second: str) -> Discriminator:
    """Chooses between two forms of one key, so that errors speak of one form only."""
    return Discriminator(lambda value: second if is_second(value) else first)


def _is_list(value: object) -> bool:
    return isinstance(value, (list, tuple))


def _is_nested(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(_is_list(item) for item in value)


def is_table(value: object) -> bool:
    """Whether a value is a table, and neither a list nor a number nor text."""
    return not isinstance(value, (list, tuple, str, int, float, type(None)))


Positive: TypeAlias = Annotated[float, Field(gt=0), BeforeValidator(as_number)]
NotNegative: TypeAlias = Annotated[float, Field(ge=0), BeforeValidator(as_number)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1), BeforeValidator(as_number)]
Whole: TypeAlias = Annotated[int, Field(ge=0), BeforeValidator(as_whole)]
Counted: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(as_whole)]
AgentCount: TypeAlias = Annotated[int, Field(ge=1, le=AGENTS_AT_MOST), BeforeValidator(as_whole)]
AgentId: TypeAlias = Annotated[int, Field(ge=0, lt=STREAMS), BeforeValidator(as_whole)]
Text: TypeAlias = Annotated[str, BeforeValidator(as_text)]
Function: TypeAlias = Annotated[str, BeforeValidator(as_function)]
Parameter: TypeAlias = Annotated[Any, BeforeValidator(as_parameter)]
Bounds: TypeAlias = Annotated[
    tuple[float, float],
    numbers_validator(
        "both ends [lower, upper] of an interval, two finite numbers", "scenario.bounds", 2, 2
    ),
]
PlanarPoint: TypeAlias = Annotated[
    tuple[float, float], numbers_validator(point_needed(2), "scenario.point", 2, 2)
]
HalfSpace: TypeAlias = Annotated[
    tuple[float, ...],
    Field(min_length=2),
    numbers_validator(
        "[a1, ..., an, b], finite numbers, for all z with a1 z1 + ... + an zn <= b",
        "scenario.halfspace",
        2,
    ),
]
PlanarPoints: TypeAlias = Annotated[
    tuple[PlanarPoint, ...], Field(min_length=3), listed("a list of points [x, y]")
]
Numbers: TypeAlias = Annotated[tuple[float, ...], Field(min_length=1)]
Point: TypeAlias = Annotated[
    Numbers, BeforeValidator(as_point, json_schema_input_type=float | Numbers)
]
PointList: TypeAlias = Annotated[
    tuple[Point, ...], Field(min_length=1), listed("a list of points, one number per dimension")
]
StartPoints: TypeAlias = Annotated[
    tuple[Point, ...],
    Field(min_length=1),
    listed(
        "a list of points, each with one number per dimension, or a table with count, region and "
        "seed"
    ),
]
HalfSpaces: TypeAlias = Annotated[
    tuple[HalfSpace, ...],
    Field(min_length=1),
    listed("a list of half-spaces [a1, ..., an, b]"),
]
Rows: TypeAlias = Annotated[tuple[float | Numbers, ...], Field(min_length=1)]
Matrix: TypeAlias = Annotated[
    tuple[Numbers, ...],
    Field(min_length=1),
    BeforeValidator(as_matrix, json_schema_input_type=float | Rows),
]
Term: TypeAlias = Annotated[tuple[int | float, ...], Field(min_length=2), BeforeValidator(as_term)]
TermRows: TypeAlias = Annotated[
    tuple[Term, ...], Field(min_length=1), listed("a list of terms [i, j, coefficient]")
]
TimeOrOff: TypeAlias = Annotated[float, Field(gt=0)] | Literal["off"]
SampleEvery: TypeAlias = Annotated[TimeOrOff, time_or_off("sample_every", "samples")] | None
CheckpointEvery: TypeAlias = Annotated[TimeOrOff, time_or_off("every", "checkpoints")]
Levels: TypeAlias = Annotated[
    tuple[Share, ...], Field(min_length=2), listed("a list of numbers from 0 to 1")
]


def list_of(number: Any, what: str = "a list of numbers") -> Any:
    """A list of numbers of some type, at least one."""
    return Annotated[tuple[number, ...], Field(min_length=1), listed(what)]


def one_or_each(number: Any) -> Any:
    """A number of some type for all agents, or a list of one for each."""
    one, each = Annotated[number, Tag("~one")], Annotated[list_of(number), Tag("~each")]
    return Annotated[one | each, chosen_by(_is_list, "~one", "~each")]


def list_or_lists(number: Any) -> Any:
    """A list of numbers of some type for all agents, or a list of one such list for each."""
    one: Any = list_of(number)
    lists: Any = Annotated[tuple[one, ...], listed("a list of lists of numbers")]
    return Annotated[
        Annotated[one, Tag("~one")] | Annotated[lists, Tag("~each")],
        chosen_by(_is_nested, "~one", "~each"),
    ]


PositiveList: Any = list_of(Positive)
PerAgent: Any = one_or_each(Positive)
points_or_table = chosen_by(is_table, "~points", "~table")
word_or_table = chosen_by(is_table, "~word", "~table")
