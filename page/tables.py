"""Writes the tables that the page shares with the shell: of keys of scenarios, and of figures.

    python page/tables.py

writes tables.json, keys.json, counted.json and figures.json in page/src/state; a test compares
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dwell._parameters import LENGTH, Parameter, parameters_of
from dwell.results.figures import FIGURES, Figure
from dwell.scenario.laws import LAW_KINDS, LAW_TABLES, NetworkSpec, stated_traits
from dwell.scenario.schema import CertificateSpec, RunSpec
from dwell.scenario.team import AgentsSpec
from dwell.scenario.values import Table, extras_of
from dwell.studies.compare import UNLIKE
from dwell.studies.design import THETA
from dwell.studies.outcome import SMALL

# The figures that the page shows.
SHOWN = (
    "stop.reason", "events.total", "cells.voronoi", "cells.per_agent", "samples", "messages",
    "broadcasts", "cost.initial", "cost.final", "error.final_max", "coverage.reached_at",
    "hold_error.max", "hold_error.limit", "separation.min", "distance", "top_speed",
)  # fmt: skip
# Those of them that count while a run goes on.
COUNTED = ("events.total", "samples", "messages", "broadcasts", "top_speed")
# The tables that a scenario at another place takes over.
TAKEN = ((AgentsSpec, "agents"), (NetworkSpec, "network"), (RunSpec, "run"))
STATE = Path(__file__).parent / "src" / "state"


def tables() -> dict[Path, dict[str, Any]]:
    """The tables of each file, as JSON values; the first picture of the page needs two of them."""
    figures = {one.key: figure_about(one) for one in FIGURES if one.key in SHOWN}
    counted = [figures[key]["label"] for key in COUNTED]
    return {
        STATE / "tables.json": {**laws(), "each": keys_per_agent()},
        STATE / "keys.json": {
            "laws": {kind: more_of(law) for kind, law in LAW_KINDS.items()},
            "keys": {key: about for one in TAKEN for key, about in keys_with_units(*one)},
            "guaranteed": [kind for kind in LAW_KINDS if works_with_guaranteed_cells(kind)],
            "theta": THETA,
            "unlike": UNLIKE,
            "small": SMALL,
        },
        STATE / "counted.json": {"counted": counted},
        STATE / "figures.json": {"figures": figures},
    }


def laws() -> dict[str, Any]:
    """What is known of laws at first."""
    return {
        "laws": {
            kind: {"name": law.declaration.title, **keys_of(law)} for kind, law in LAW_KINDS.items()
        },
    }


def keys_per_agent() -> dict[str, list[str]]:
    """The keys of other tables whose lists have an entry per agent."""
    tables = {"agents": AgentsSpec, "certificate": CertificateSpec}
    return {name: [*extras_of(table, "x-per-agent")] for name, table in tables.items()}


def keys_with_units(table: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The keys of a table that have units, and those of tables in it, by their dotted names."""
    for key, unit in extras_of(table, "x-unit").items():
        yield f"{path}.{key}", {"unit": unit, "about": table.model_fields[key].description}
    for key, field in table.model_fields.items():
        if isinstance(field.default, Table):
            yield from keys_with_units(type(field.default), f"{path}.{key}")


def works_with_guaranteed_cells(kind: str) -> bool:
    """Whether a law works with guaranteed cells; numbers that it needs are 1."""
    needed = {key: 1.0 for key, one in parameters_of(LAW_KINDS[kind]).items() if one.is_needed}
    return stated_traits(LAW_TABLES[kind](kind=kind, **needed)).guaranteed


def figure_about(one: Figure) -> dict[str, Any]:
    """What the page needs to know of a figure."""
    return {"label": one.label, **({"unit": list(one.unit)} if any(one.unit) else {})}


def keys_of(law: Any) -> dict[str, Any]:
    """The keys of a law with a role, and those whose lists have an entry per agent."""
    declared = parameters_of(law).items()
    roles = {one.role: key for key, one in declared if one.role in ("speed", "gain", "period")}
    reach = {"reach": True for _, one in declared if one.role == "gain" and one.unit == LENGTH}
    per_agent = [key for key, one in declared if one.per_agent]
    return {**roles, **reach, **({"each": per_agent} if per_agent else {})}


def more_of(law: Any) -> dict[str, Any]:
    """What the page needs to know of a law later, beyond types of keys, which the schema has."""
    keys = {key: about(one) for key, one in parameters_of(law).items() if about(one)}
    return {"about": law.declaration.about, "keys": keys}


def about(one: Parameter) -> dict[str, Any]:
    """The unit of a key, what it goes with, and the time between samples where none is given."""
    unit = {"unit": list(one.unit)} if any(one.unit) else {}
    goes_with = {} if one.belongs is None else {"belongs": list(one.belongs)}
    without = one.absent if one.default is None else one.default
    return {**unit, **goes_with, **({"default": without} if one.role == "period" else {})}


def written(values: dict[str, Any]) -> str:
    """The text of a file."""
    lines: list[str] = []
    for key, table in values.items():
        if isinstance(table, dict):
            rows = (f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in table.items())
            lines.append(f"  {json.dumps(key)}: {{\n" + ",\n".join(rows) + "\n  }")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(table)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    for file, values in tables().items():
        file.write_text(written(values))
        print(file)
