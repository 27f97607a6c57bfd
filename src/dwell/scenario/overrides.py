"""Single keys changed from outside: ``controller.t2=0.5``."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from dwell.errors import ScenarioError

from .guards import MOST_KEY_PARTS, check_text
from .problems import Where, dotted, shown

_PATH = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+|\[[0-9]{1,9}\])*+")
_PART = re.compile(r"\[([0-9]+)\]|([A-Za-z0-9_-]+)")
_BARE_WORD = re.compile(r"[^\W\d][\w .:/=-]*")


def apply_overrides(mapping: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """A copy of a scenario's mapping in which some keys are set anew.

    Each override reads ``key=value``. The key is dotted and may go into lists, as
    ``agents.start[0]`` or ``agents.start.0``; tables on the way that do not exist are made. The
    value is written as in TOML; a bare word is text. Keys are not checked here: an unknown one
    is refused, with the nearest known, when the result is parsed.

    >>> apply_overrides({"run": {"horizon": 1.0}}, ["run.horizon=2.5", "run.seed=7"])
    {'run': {'horizon': 2.5, 'seed': 7}}
    """
    result = copy.deepcopy(dict(mapping))
    several: Any = overrides
    if isinstance(several, str) or not isinstance(several, Iterable):
        several = [several]
    for override in several:
        where, value = _split(override)
        _put(result, where, value)
    return result


def parse_override(override: str) -> tuple[str, Any]:
    """The key of an override in dotted form, and its value."""
    where, value = _split(override)
    return dotted(tuple(where)), value


def put(table: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key of a scenario's mapping, in place."""
    _put(table, _where(key, key), value)


def _split(override: str) -> tuple[list[str | int], Any]:
    key, equals, text = str(override).partition("=")
    key, text = key.strip(), text.strip()
    where = _where(key if equals else "", override)
    return where, _value(key, text)


def _where(key: str, given: str) -> list[str | int]:
    """The parts of a dotted key; `given` is what stands in the complaint."""
    parts = _PART.findall(key)
    if not _PATH.fullmatch(key) or len(parts) > MOST_KEY_PARTS:
        needed = "an override must read key=value, as in controller.t2=0.5"
        if key == given:
            needed = "a key must be dotted, as in controller.t2"
        raise ScenarioError(f"{needed}, got {shown(given)}.", code="scenario.override")
    return [int(index) if index else name for index, name in parts]


def _value(key: str, text: str) -> Any:
    check_text(text, source=f"the value for {key}")
    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        document = {}
    if list(document) == ["value"]:
        return document["value"]
    if _BARE_WORD.fullmatch(text):
        return text
    raise ScenarioError(
        f'{key} must be set to a TOML value, such as 0.5, [1, 2] or "text" (in a shell '
        f"'{key}=\"text\"'), got {shown(text)}.",
        code="scenario.override",
        key=key,
    )


def _put(table: dict[str, Any], where: list[str | int], value: Any) -> None:
    here: Any = table
    for step, part in enumerate(where):
        last = step == len(where) - 1
        seen: Where = tuple(where[:step])
        if isinstance(here, list):
            index = _index(here, part, seen)
            if last:
                here[index] = value
            here = here[index]
        elif isinstance(here, dict) and isinstance(part, str):
            if last:
                here[part] = value
            here = here.setdefault(part, {})
        else:
            what = "a list" if isinstance(part, int) else "a table"
            says = f"must be {what} for {dotted(tuple(where))} to be set in it, got {shown(here)}"
            raise ScenarioError(
                f"{dotted(seen)} {says}.", code="scenario.override", key=dotted(seen)
            )


def _index(items: list[Any], part: str | int, seen: Where) -> int:
    number = part if isinstance(part, int) else int(part) if part.isdecimal() else None
    if number is None or number >= len(items):
        key = dotted(seen)
        raise ScenarioError(
            f"{key} has entries 0 to {len(items) - 1}, got {shown(part)}.",
            code="scenario.override",
            key=key,
        )
    return number
