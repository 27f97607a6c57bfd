"""A scenario with the world as it is at one time, for studies of a world that does not change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from dwell._compatibility import Need
from dwell._types import finite_number, in_short
from dwell.errors import InputError
from dwell.scenario.build import build
from dwell.scenario.describe import describe_density
from dwell.scenario.load import parse_scenario
from dwell.scenario.places import describe_workspace
from dwell.scenario.schema import Scenario


def scenario_at(scenario: Scenario, time: float | None) -> Scenario:
    """The scenario with the world of this time, by default of 0, for ever; itself if none changes.

    Its agents are those present then; those outside the workspace begin at its nearest point.
    """
    given = finite_number(0.0 if time is None else time)
    if given is None or not 0.0 <= given <= scenario.run.horizon:
        need = f"a time from 0 to the horizon, {scenario.run.horizon:g}, is needed"
        raise InputError(f"the time is {in_short(time)}; {need}", code="world.time", key="at")
    system, start, _ = build(scenario)
    system.refuse(Need.ONE_TIME)
    if system.changes is None:
        return scenario
    ground, present = system.ground_at(given), system.world_at(given).present
    who = np.arange(system.agents) if present is None else present
    tables: dict[str, Any] = scenario.model_dump(exclude_none=True)
    tables.pop("world", None)
    tables["network"] = asdict(system.world_at(given).network)
    density = describe_density(ground.density)
    tables["workspace"] = describe_workspace(ground.workspace)
    tables["density"] = tables["density"] if density is None else density
    tables["agents"] = {"start": ground.workspace.nearest(start[who]).tolist()}
    if scenario.agents.ids is not None:
        tables["agents"]["ids"] = [scenario.agents.ids[p] for p in who]
    _keep(tables["controller"], scenario.controller.lists_per_agent(), who)
    lipschitz = tables.get("certificate", {}).get("lipschitz")
    if isinstance(lipschitz, list | tuple):
        _keep(tables["certificate"], ("lipschitz",), who)
    return parse_scenario(tables)


def _keep(table: dict[str, Any], names: Iterable[str], who: Any) -> None:
    """Keep the entries of some agents in lists that have one for each."""
    for name in names:
        table[name] = [table[name][p] for p in who]
