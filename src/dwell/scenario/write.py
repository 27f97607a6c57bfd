"""A scenario as TOML text that reads back as the same scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .load import ScenarioLike, as_scenario

LINE = 96


def dump_toml(scenario: ScenarioLike) -> str:
    """The scenario as TOML, defaults written out; every float reads back bit for bit."""
    data = as_scenario(scenario).model_dump(exclude_none=True)
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    lines = [f"{key} = {_value(value)}" for key, value in data.items() if key not in tables]
    for name, table in tables.items():
        lines += ["", f"[{name}]"]
        lines += [f"{key} = {_value(value, len(key) + 3)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any, indent: int = 0) -> str:
    match value:
        case bool():  # before int, which it also is
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int() | float():
            return repr(value)
        case Mapping():
            inside = ", ".join(f"{key} = {_value(item)}" for key, item in value.items())
            return f"{{ {inside} }}"
        case Sequence():
            return _list(value, indent)
        case _:
            raise TypeError(f"cannot write {type(value).__name__} as TOML")


def _list(values: Sequence[Any], indent: int) -> str:
    items = [_value(value) for value in values]
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
