"""What the processes of a fleet are started with, as a JSON object; and the plan that it makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dwell.fleet.faults import Faults, Partition
from dwell.fleet.plan import FleetPlan
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario import Scenario, parse_scenario
from dwell.scenario.build import build


def configured(
    scenario: Scenario, folder: Path, run: str, key: bytes | None = None
) -> dict[str, Any]:
    """The configuration of a fleet, for processes of its own."""
    return {
        "scenario": scenario.model_dump(mode="json"), "folder": str(folder), "run": run,
        "key": None if key is None else key.hex(),
    }  # fmt: skip


def plan_of(config: dict[str, Any]) -> FleetPlan:
    """The plan in a configuration."""
    scenario = parse_scenario(config["scenario"])
    key = config.get("key")
    return fleet_plan(
        scenario, Path(config["folder"]), config["run"], None if key is None else bytes.fromhex(key)
    )


def fleet_plan(scenario: Scenario, folder: Path, run: str, key: bytes | None = None) -> FleetPlan:
    """The plan of a scenario."""
    system, positions, _ = build(scenario)
    settings, faults = fleet_settings(scenario)
    return FleetPlan(
        live_law(system, settings), positions, float(scenario.run.horizon), folder, run, faults,
        key, {"settings": settings.table(), "scenario": scenario.model_dump(mode="json")},
    )  # fmt: skip


def fleet_settings(scenario: Scenario) -> tuple[LiveSettings, Faults | None]:
    """The settings and the faults in the table [fleet] of a scenario."""
    if scenario.fleet is None:
        return LiveSettings(), None
    given = scenario.fleet.model_dump(exclude_none=True)
    faults, _ = given.pop("faults", None), given.pop("peers", None)
    if faults is not None:
        parts = [Partition(*one.values()) for one in faults.pop("partitions", ())]
        faults = Faults(**faults, partitions=tuple(parts))
    return LiveSettings(**given), faults
