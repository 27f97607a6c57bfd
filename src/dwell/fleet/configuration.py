"""What the processes of a fleet are started with, as a JSON object; and the plan that it makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dwell.fleet.faults import Faults, Partition
from dwell.fleet.identity import scenario_digest
from dwell.fleet.plan import FleetPlan
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.build import build
from dwell.scenario.fleet import live_settings


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
    about = {"settings": settings.table(), "scenario": scenario.model_dump(mode="json")}
    about["digest"] = scenario_digest(scenario)
    return FleetPlan(
        live_law(system, settings), positions, float(scenario.run.horizon), folder, run, faults,
        key, about,
    )  # fmt: skip


def fleet_settings(scenario: Scenario) -> tuple[LiveSettings, Faults | None]:
    """The settings and the faults in the table [fleet] of a scenario."""
    settings = LiveSettings(**live_settings(scenario))
    if scenario.fleet is None or scenario.fleet.faults is None:
        return settings, None
    faults = scenario.fleet.faults.model_dump()
    parts = [Partition(*one.values()) for one in faults.pop("partitions")]
    return settings, Faults(**faults, partitions=tuple(parts))
