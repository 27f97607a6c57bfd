"""From a file, a text or a mapping to a checked `Scenario`, and back to text."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from pydantic import ValidationError

from dwell.errors import ScenarioError

from .explain import error_of
from .guards import MOST_DEPTH, as_path, check_text, line_and_column, printable, read_text
from .modules import named_code
from .overrides import apply_overrides
from .problems import Problem, Where, scenario_error, shown
from .rasters import raster_tables
from .schema import Scenario
from .site import with_outline, with_stand_in
from .trust import refuse_far_code
from .values import MOST_BITS

LINE = 96  # characters of TOML that is written
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


ScenarioLike: TypeAlias = Scenario | Mapping[str, Any] | str | os.PathLike[str]


def load_scenario(
    path: str | os.PathLike[str], overrides: str | Iterable[str] = (), *, allow_code: bool = False
) -> Scenario:
    """Read a scenario file, TOML or JSON.

    The suffix decides between the two; without one, a text that begins with a brace is JSON.

    Parameters
    ----------
    path : str or path
        The file.
    overrides : str or iterable of str
        Changes to single keys, ``"key=value"``.
    allow_code : bool
        Whether the scenario may name Python modules that do not lie beside it.

    Returns
    -------
    Scenario
        The checked scenario.

    Examples
    --------
    >>> import dwell
    >>> dwell.load_scenario("site.toml", ["run.horizon=5"]).run.horizon
    5.0
    """
    file = as_path(path)
    mapping = text_to_mapping(read_text(file), source=str(file))
    changed = apply_overrides(mapping, overrides)
    scenario = parse_scenario_in(changed, file.parent)
    refuse_far_code(scenario, mapping, file.parent, allow_code)
    named = named_code(scenario) or any(spec.file for spec in raster_tables(scenario))
    return beside(scenario, file.parent) if named else scenario


def beside(scenario: Scenario, folder: str | os.PathLike[str]) -> Scenario:
    """`scenario` with `folder` as that of its modules and files, or where it says from there."""
    modules = os.path.abspath(os.path.join(folder, scenario.modules or ""))
    return scenario.model_copy(update={"modules": modules})


def as_scenario(given: ScenarioLike) -> Scenario:
    """`given` as a Scenario: itself, a mapping of its tables, or the path of its file."""
    if isinstance(given, Scenario):
        return given
    if isinstance(given, Mapping):
        return parse_scenario_in(given, "")
    if isinstance(given, str | os.PathLike):
        return load_scenario(given)
    raise ScenarioError(
        f"the scenario is {shown(given)}; a Scenario, a mapping of its tables, or the path of "
        "a .toml or .json file is needed",
        code="scenario.type",
    )


def parse_scenario_in(mapping: Mapping[str, Any], folder: str | os.PathLike[str]) -> Scenario:
    """The scenario that a mapping describes, at the site that it may name by a file in `folder`."""
    checked = with_stand_in(mapping)
    if checked is None:
        return parse_scenario(mapping)
    spec = parse_scenario(checked).site
    assert spec is not None
    return parse_scenario(with_outline(mapping, spec, folder))


def parse_scenario(mapping: Mapping[str, Any]) -> Scenario:
    """The scenario that a mapping describes; arrays and tuples may stand for lists."""
    data = _plain(mapping, ())
    if not isinstance(data, dict):
        raise ScenarioError(f"a scenario must be a table, got {shown(data)}.", code="scenario.type")
    if "scenario" in data and "controller" not in data:
        raise ScenarioError(
            "this is a sweep, which says what to vary of a scenario, and no scenario itself; "
            "dwell sweep runs it.",
            code="scenario.sweep",
            key="scenario",
        )
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise error_of(error, data) from None


def text_to_mapping(text: str, source: str = "the scenario") -> dict[str, Any]:
    """The unchecked content of a scenario text; `source` is its file name, for messages."""
    suffix = os.path.splitext(source)[1].lower()
    source = printable(source)
    check_text(text, source)
    if suffix == ".json" or (suffix != ".toml" and text.lstrip().startswith("{")):
        return _from_json(text, source)
    return _from_toml(text, source)


def _from_toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        if place:
            message = message[: place.start()]
        line, column = line_and_column(text, len(text))
        if place and place[1]:
            line, column = int(place[1]), int(place[2])
        _syntax_error(source, "TOML", message, line, column)
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{source} is not valid TOML.", code="scenario.syntax") from error


def _from_json(text: str, source: str) -> dict[str, Any]:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for key, value in items:
            if key in table:
                raise ScenarioError(
                    f"{source} must have each key once in a table, got {shown(key)} twice.",
                    code="scenario.duplicate-key",
                    key=key,
                )
            table[key] = value
        return table

    def number(literal: str) -> float:
        value = float(literal)
        if not math.isfinite(value):
            raise ScenarioError(
                f"{source} must have finite numbers only, got {literal[:40]}.",
                code="scenario.not-finite",
            )
        return value

    try:
        data = json.loads(text, object_pairs_hook=pairs, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        _syntax_error(source, "JSON", error.msg, error.lineno, error.colno)
    except ScenarioError:
        raise
    except (ValueError, RecursionError) as error:
        raise ScenarioError(f"{source} is not valid JSON.", code="scenario.syntax") from error
    if not isinstance(data, dict):
        raise ScenarioError(f"{source} must be a table, got {shown(data)}.", code="scenario.type")
    return data


def _syntax_error(source: str, language: str, message: str, line: int, column: int) -> NoReturn:
    message = message[:1].lower() + message[1:]
    raise ScenarioError(
        f"{source} is not valid {language} at line {line}, column {column}: {message}.",
        code="scenario.syntax",
    )


def _plain(value: Any, where: Where) -> Any:
    """Tables and lists only, all the way down, and no number that could not be printed."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        says = "must be a whole number of at most 3900 digits, got a longer one"
        raise scenario_error([Problem(where, "scenario.range", says)])
    if len(where) > MOST_DEPTH:
        says = f"is nested too deep; at most {MOST_DEPTH} levels are read"
        raise scenario_error([Problem(where[:4], "scenario.too-deep", says)])
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {_name(key, where): _plain(item, (*where, str(key))) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, (*where, index)) for index, item in enumerate(value)]
    return value


def _name(key: object, where: Where) -> str:
    if not isinstance(key, str):
        says = f"may have names as keys only, got {shown(key)}"
        raise scenario_error([Problem(where, "scenario.type", says)])
    return key


def dump_toml(scenario: ScenarioLike) -> str:
    """The scenario as TOML, defaults written out; every float reads back bit for bit."""
    data = as_scenario(scenario).model_dump(exclude_none=True)
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    lines = [f"{key} = {_toml(value)}" for key, value in data.items() if key not in tables]
    for name, table in tables.items():
        lines += ["", f"[{name}]"]
        lines += [f"{key} = {_toml(value, len(key) + 3)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any, indent: int = 0) -> str:
    match value:
        case bool():  # before int, which it also is
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int() | float():
            return repr(value)
        case Mapping():
            inside = ", ".join(f"{key} = {_toml(item)}" for key, item in value.items())
            return f"{{ {inside} }}"
        case Sequence():
            return _toml_list(value, indent)
        case _:
            raise TypeError(f"cannot write {type(value).__name__} as TOML")


def _toml_list(values: Sequence[Any], indent: int) -> str:
    items = [_toml(value) for value in values]
    flat = f"[{', '.join(items)}]"
    if indent + len(flat) <= LINE:
        return flat
    rows: list[str] = []
    for item in items:
        if rows and len(rows[-1]) + len(item) + 2 <= LINE:
            rows[-1] += f" {item},"
        else:
            rows.append(f"  {item},")
    return "\n".join(["[", *rows, "]"])
