"""The tables of a sweep file: their keys, what these mean, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from dwell._types import finite_number, is_whole
from dwell.scenario.explain import problems_of
from dwell.scenario.problems import (
    Problem,
    Where,
    dotted,
    listing,
    needs,
    refuse,
    scenario_error,
    shown,
)
from dwell.scenario.values import Table, as_number, as_whole, doc
from dwell.sweep.axes import MOST_CASES, value_text

FORM = "[low, high], or { low, high, scale, whole } with numbers low < high"
Column: TypeAlias = tuple[Any, ...]


def as_scenario(value: object) -> object:
    """The name of a scenario file, or a table."""
    if not isinstance(value, (str, Mapping)):
        raise needs(
            'the name of a scenario file, such as "paper-12.toml", or a table', "sweep.scenario"
        )
    return value


def as_count(value: object) -> int:
    """A whole number; where none is allowed, the sentence says so."""
    try:
        return as_whole(value)
    except ValueError:
        raise needs("a whole number", "sweep.range") from None


def as_columns(value: object) -> dict[str, Column]:
    """Lists of values by dotted keys, from a table with keys that have dots or are nested."""
    table = flat(as_table(value))
    refuse(fault for key, values in table.items() for fault in _faults(key, values))
    return {key: tuple(values) for key, values in table.items()}


def as_grid(value: object) -> dict[str, Column]:
    """Such lists in which no value comes twice."""
    columns = as_columns(value)
    refuse(fault for key, column in columns.items() for fault in twins((key,), column))
    return columns


def as_table(value: object) -> Mapping[str, Any]:
    """A table of any kind."""
    if not isinstance(value, Mapping):
        raise needs("a table", "sweep.type")
    return value


def as_laws(value: object) -> dict[str, dict[str, Any]]:
    """A table for each law."""
    laws = as_table(value)
    refuse(
        Problem((name,), "sweep.laws", f"needs a table with the law's keys, got {shown(table)}")
        for name, table in laws.items()
        if not isinstance(table, Mapping)
    )
    return {name: dict(table) for name, table in laws.items()}


def given(value: object) -> object:
    """Anything but the null of JSON."""
    if value is None:
        raise needs("a value", "sweep.type")
    return value


def as_range(value: object) -> object:
    """The table of a range, from two bounds."""
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return {"low": value[0], "high": value[1]}
    if not isinstance(value, Mapping):
        raise needs(FORM, "sweep.range")
    return dict(value)


def flat(table: Mapping[str, Any], leaves: Sequence[str] = ()) -> dict[str, Any]:
    """Return a table with dotted keys, quoted in the file or not.

    A table with one of the keys `leaves` is a value.
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and not any(leaf in value for leaf in leaves):
            found |= {f"{key}.{rest}": v for rest, v in flat(value, leaves).items()}
        else:
            found[str(key)] = value
    return found


def _faults(key: str, values: object) -> Iterator[Problem]:
    """What of an axis no table can hold."""
    if not isinstance(values, (list, tuple)) or not values:
        needed = f"needs a list of at least one value, got {shown(values)}"
        yield Problem((key,), "sweep.axis", needed)
        return
    for value in values:
        yield from _odd(value, key)


def _odd(value: object, key: str) -> Iterator[Problem]:
    """Values that JSON or a table cannot hold, at any depth."""
    if isinstance(value, (Mapping, list, tuple)):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _odd(inner, key)
    elif not isinstance(value, (str, bool)):
        needed = ""
        if is_whole(value) and abs(value) >= 2**63:
            needed = "whole numbers below 2**63, which a table can hold"
        elif finite_number(value) is None:
            needed = "finite numbers, words, true or false, lists or tables"
        if needed:
            yield Problem((key,), "sweep.axis", f"needs {needed}, got {shown(value)}")


def twins(where: tuple[str, ...], rows: Sequence[Any]) -> Iterator[Problem]:
    """The first value, or row of a zip, that comes twice; 1 and 1.0 are equal."""
    seen: set[str] = set()
    for row in rows:
        text = value_text(row)
        if text in seen:
            says = f"has {shown(row)} twice; the same runs would be made twice"
            yield Problem(where, "sweep.twice", says)
            return
        seen.add(text)


Lists: TypeAlias = dict[str, Annotated[list[Any], Field(min_length=1)] | dict[str, Any]]
Number: TypeAlias = Annotated[float, BeforeValidator(as_number)]
Two: TypeAlias = Annotated[list[float], Field(min_length=2, max_length=2)]


Start: TypeAlias = Literal["random", "scenario"]


class RangeTable(Table):
    """Numbers between two bounds."""

    low: Number = doc("the least value")
    high: Number = doc("the largest value")
    scale: Literal["even", "log"] = doc(
        '`"log"`: equally many values between 0.1 and 1 as between 1 and 10', "even"
    )
    whole: bool = doc("whether there are whole numbers only, both bounds included", False)

    def _problems(self) -> Iterator[Problem]:
        if self.low >= self.high:
            got = f"got {shown(self.low)} and {shown(self.high)}"
            yield Problem((), "sweep.range", f"needs numbers low < high, {got}")
        if self.scale == "log" and self.low <= 0.0:
            says = f'needs low above 0 with scale = "log", got {shown(self.low)}'
            yield Problem((), "sweep.range", says)
        if self.whole and not (self.low.is_integer() and self.high.is_integer()):
            got = f"got {shown(self.low)} and {shown(self.high)}"
            yield Problem((), "sweep.range", f"needs whole bounds for whole numbers, {got}")


RangeForm: TypeAlias = Annotated[
    RangeTable, BeforeValidator(as_range, json_schema_input_type=Two | RangeTable)
]


class SampleTable(Table):
    """Points of a Latin hypercube; every other key is drawn from a range."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, RangeForm]
    others: ClassVar[Any] = RangeTable

    count: Annotated[int, Field(ge=1, le=MOST_CASES), BeforeValidator(as_count)] = doc(
        "how many points are drawn"
    )

    @model_validator(mode="before")
    @classmethod
    def _dotted(cls, value: Any) -> Any:
        return flat(value, ("low", "high")) if isinstance(value, Mapping) else value

    @property
    def ranges(self) -> dict[str, RangeTable]:
        """The ranges by the keys that are drawn."""
        return dict(self.__pydantic_extra__)

    def _problems(self) -> Iterator[Problem]:
        if not self.ranges:
            yield Problem((), "sweep.sample", "has no key to draw; give one a range [low, high]")


class SweepTable(Table):
    """A sweep: one scenario, what of it varies, how often it is run, and what is stored."""

    scenario: Annotated[
        Any, BeforeValidator(as_scenario, json_schema_input_type=str | dict[str, Any])
    ] = doc("the name of a scenario file beside the sweep file, or the scenario itself as a table")
    repeats: Annotated[int, Field(ge=1, le=MOST_CASES), BeforeValidator(as_count)] = doc(
        "runs at every point, each with its own start and draws", 1
    )
    seed: Annotated[int, Field(ge=0), BeforeValidator(as_count)] = doc(
        "determines the seeds of all repeats, and the points of `[sample]`", 0
    )
    starts: Annotated[Start | None, BeforeValidator(given, json_schema_input_type=Start)] = doc(
        '`"random"`: a new random start in every repeat; `"scenario"`: the start of the scenario; '
        '`"random"` if absent and `repeats` is above 1, else `"scenario"`',
        None,
    )
    record: Literal["summary", "scenario"] = doc(
        '`"summary"`: store numbers only; `"scenario"`: as the `run.record` of the scenario',
        "summary",
    )
    final: bool = doc("whether the table has final positions, centroids and masses", True)
    keep_runs: bool = doc("whether to store every run as a file", False)
    match: bool = doc(
        "whether laws of another kind than that of the scenario get its largest speed and its gain",
        True,
    )
    laws: Annotated[
        dict[str, dict[str, Any]],
        BeforeValidator(as_laws, json_schema_input_type=dict[str, dict[str, Any]]),
    ] = doc("a table for each law: its keys in this sweep, such as `dt` of Lloyd's law", {})
    grid: Annotated[dict[str, Column], BeforeValidator(as_grid, json_schema_input_type=Lists)] = (
        doc("lists of values by keys of the scenario; every combination is run", {})
    )
    zip: Annotated[dict[str, Column], BeforeValidator(as_columns, json_schema_input_type=Lists)] = (
        doc(
            "lists of equal length, whose entries go together; a value may repeat, a row may not",
            {},
        )
    )
    sample: Annotated[
        SampleTable | None, BeforeValidator(given, json_schema_input_type=SampleTable)
    ] = doc("`count` points drawn from ranges", None)

    def _problems(self) -> Iterator[Problem]:
        if len({len(column) for column in self.zip.values()}) > 1:
            counted = listing([f"{key} has {len(column)}" for key, column in self.zip.items()])
            says = f"needs lists of one length, but {counted}"
            yield Problem(("zip",), "sweep.zip", says)
        elif self.zip:
            columns = self.zip.values()
            yield from twins(("zip",), list(zip(*columns, strict=True)))
        ranges = {} if self.sample is None else self.sample.ranges
        keys = [*self.grid, *self.zip, *ranges]
        for k, key in enumerate(keys):
            yield from _clashes(key, keys[:k])


def _clashes(key: str, earlier: Sequence[str]) -> Iterator[Problem]:
    """A key that is given twice, or lies inside another."""
    for other in earlier:
        if key == other:
            yield Problem((key,), "sweep.twice", "is varied twice; name it in one table only")
            return
        elif key.startswith((f"{other}.", f"{other}[")) or other.startswith((f"{key}.", f"{key}[")):
            says = f"and {other} are varied, one inside the other; vary one of them"
            yield Problem((key,), "sweep.twice", says)
            return


def table_of(mapping: Mapping[str, Any]) -> SweepTable:
    """The checked table of a sweep file."""
    # JSON may have null for what has a default.
    free = ("scenario", "repeats", "seed")
    data = {key: value for key, value in mapping.items() if value is not None or key not in free}
    try:
        return SweepTable.model_validate(data)
    except ValidationError as error:
        problems, unseen = problems_of(error, data, SweepTable)
        raise scenario_error([_of_sweeps(one) for one in problems], unseen) from None


def _of_sweeps(problem: Problem) -> Problem:
    """A problem with the code of sweep files; a key such as "controller.t2" is a place."""
    code, says = problem.code.replace("scenario.", "sweep.", 1), problem.says
    if problem.meant is not None:
        says = says.replace(dotted(problem.meant), dotted(_places(problem.meant)))
    return replace(problem, where=_places(problem.where), code=code, says=says)


def _places(where: Where) -> Where:
    """A place whose parts have no dots."""
    places: list[str | int] = []
    for part in where:
        places += [part] if isinstance(part, int) else part.split(".")
    return tuple(places)


def sweep_schema() -> dict[str, Any]:
    """The format of sweep files as a JSON Schema, draft 2020-12."""
    schema = SweepTable.model_json_schema()
    schema["title"] = "dwell sweep"
    schema["description"] = str(SweepTable.__doc__)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
