"""What the processes of a fleet are started with, as a JSON object; and the plan that it makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dwell._types import Points, lengths
from dwell.agents import CoverageSystem
from dwell.errors import InputError
from dwell.fleet.identity import scenario_digest
from dwell.fleet.plan import FleetPlan
from dwell.live.faults import Faults
from dwell.live.settings import LiveLaw, LiveSettings, live_law
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.build import build
from dwell.scenario.fleet import live_settings
from dwell.scenario.trust import seal_of


def configured(scenario: Scenario, folder: Path, run: str) -> dict[str, Any]:
    """The configuration of a fleet, for processes of its own."""
    return {"scenario": scenario.model_dump(mode="json"), "folder": str(folder), "run": run}


def plan_of(config: dict[str, Any]) -> FleetPlan:
    """The plan in a configuration."""
    return fleet_plan(parse_scenario(config["scenario"]), Path(config["folder"]), config["run"])


def fleet_plan(scenario: Scenario, folder: Path, run: str, key: bytes | None = None) -> FleetPlan:
    """The plan of a scenario."""
    system, positions, _ = build(scenario)
    settings, faults = fleet_settings(scenario)
    about: dict[str, Any] = {
        "settings": settings.table(),
        "scenario": scenario.model_dump(mode="json"),
    }
    about["digest"] = scenario_digest(scenario)
    about |= {"seal": seal} if (seal := seal_of(scenario)) else {}
    return FleetPlan(
        refuse_fleet(scenario, system, positions), positions, float(scenario.run.horizon), folder,
        run, faults, key, about,
    )  # fmt: skip


def refuse_fleet(scenario: Scenario, system: CoverageSystem, positions: Points) -> LiveLaw:
    """The law of a fleet; refused where it cannot run live, or where robots overlap at first."""
    law = live_law(system, fleet_settings(scenario)[0])
    refuse_overlap(scenario, system, positions)
    return law


def refuse_overlap(scenario: Scenario, system: CoverageSystem, positions: Points) -> None:
    """Refuse robots that overlap at the start, whatever their law."""
    clearance = fleet_settings(scenario)[0].clearance
    present = system.timeline.present_at(0.0)
    here = np.arange(len(positions)) if present is None else present
    if clearance == 0.0 or len(here) < 2:
        return
    places = positions[here]  # SciPy would take long to load on a robot
    gap, a, b = min(
        (float(gaps.min()), k, k + 1 + int(gaps.argmin()))
        for k, gaps in ((k, lengths(places[k + 1 :] - places[k])) for k in range(len(here) - 1))
    )
    if gap < 2.0 * clearance:
        says = f"agents {here[a]} and {here[b]} start {gap:.3g} apart, but fleet.clearance"
        says = f"{says} = {clearance:g} is the radius of a robot; use less than {0.5 * gap:.3g}"
        raise InputError(f"{says}, or other starts", code="fleet", key="fleet.clearance")


def fleet_settings(scenario: Scenario) -> tuple[LiveSettings, Faults | None]:
    """The settings and the faults in the table [fleet] of a scenario."""
    settings = LiveSettings(**live_settings(scenario))
    if scenario.fleet is None or scenario.fleet.faults is None:
        return settings, None
    return settings, scenario.fleet.faults.made()
