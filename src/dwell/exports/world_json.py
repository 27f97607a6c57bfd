"""Worlds that change as JSON, for drawing: tables of the scenario, and who is present when."""

from __future__ import annotations

from typing import Any

from dwell._types import Floats
from dwell.agents.world import Timeline
from dwell.scenario import Scenario
from dwell.scenario.values import Table


def world_json(scenario: Scenario, changes: Timeline | None) -> dict[str, Any] | None:
    """Return phases, arrivals, departures and sensors; None for a world that does not change.

    A phase has the tables `workspace` and `density` of the scenario, with their keyframes and
    circles; a table that is absent is that of the phase before.
    """
    if changes is None:
        return None
    density = {} if scenario.sensor else {"density": _table(scenario.density)}
    first = {"from": 0.0, "workspace": _table(scenario.workspace), **density}
    later = [
        {
            "from": one.begin,
            **{
                name: _table(getattr(one, name))
                for name in ("workspace", "density")
                if getattr(one, name) is not None
            },
        }
        for one in scenario.world or ()
    ]
    tables = scenario.sensor or ()
    return {
        "phases": [first, *later],
        "arrivals": _times(changes.arrivals),
        "departures": _times(changes.departures),
        "sensors": [
            {"name": one.name, "density": _table(table.density), "owners": list(one.owners)}
            for one, table in zip(changes.sensors, tables, strict=True)
        ],
    }


def _table(spec: Table) -> dict[str, Any]:
    return spec.model_dump(mode="json", exclude_none=True)


def _times(times: Floats | None) -> list[float | None] | None:
    """Return the time of each agent, None for never; None where all agents are always present."""
    return None if times is None else [t if t < float("inf") else None for t in times.tolist()]
