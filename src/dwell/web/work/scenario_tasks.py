"""Short tasks of the page, in a worker process: from the body of a request to its response."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dwell.agents import CoverageSystem
from dwell.engine.recorder import expected_events
from dwell.exports.workspace_json import workspace_json
from dwell.scenario import Scenario, dump_toml, text_to_mapping
from dwell.scenario.build import build
from dwell.web.jobs.task_client import LESS
from dwell.web.limits import Limits
from dwell.web.request_parsing import checked_text, mapping_of_json, refuse_events, scenario_of
from dwell.web.work.design_region import design_region
from dwell.web.work.outline_task import outline


def validate(raw: bytes, limits: Limits) -> dict[str, Any]:
    """Return the parsed scenario, the initial positions of its agents, radii, and repairs."""
    scenario = _scenario(raw, limits)
    system, places, repairs = build(scenario)
    return {
        "ok": True,
        "scenario": as_json(scenario),
        "repairs": list(repairs),
        "start": places[: scenario.agents.count].tolist(),  # without those that arrive later
        "workspace": workspace_json(system.workspace),
        "radii": None if system.radius is None else list(system.radius),
    }


def admit(raw: bytes, limits: Limits) -> dict[str, Any]:
    """Return the scenario of a job as text, if it is within the limits of the server."""
    scenario = _scenario(raw, limits)
    system, _, _ = build(scenario)
    refuse_events(_foreseen(system, scenario), scenario.run.horizon, limits)
    return {
        "scenario": json.dumps(as_json(scenario)),
        "law": scenario.controller.kind,
        "agents": system.agents,
        "dimension": system.dimension,
        "horizon": scenario.run.horizon,
        "name": scenario.name,
        "advice": advice_if_slow(system, scenario),
    }


def advice_if_slow(system: CoverageSystem, scenario: Scenario) -> str:
    """Return what would shorten a run that takes too long: what its cells cost comes first."""
    parts = max(len(getattr(d, "parts", ())) for d in _densities(system))
    if parts > FEW_PARTS:
        says = f"its density has {parts} parts, each of which takes time in every cell: take fewer"
        return f"{says} parts, or a raster of them, a shorter horizon or fewer agents"
    if system.dimension > 2:
        says = f"cells take long in {system.dimension} dimensions"
        return f"{says}: take fewer agents, or a shorter horizon"
    return LESS


def _densities(system: CoverageSystem) -> list[Any]:
    timeline = system.timeline
    return [*(world.density for world in timeline.worlds), *(s.density for s in timeline.sensors)]


def parse(raw: bytes, limits: Limits) -> dict[str, Any]:
    """Return the scenario in a TOML or JSON text."""
    mapping = text_to_mapping(checked_text(raw, limits), source="the text")
    return {"scenario": as_json(scenario_of(mapping, limits))}


def write(raw: bytes, limits: Limits) -> dict[str, Any]:
    """Return a scenario as TOML."""
    return {"text": dump_toml(_scenario(raw, limits))}


def design(raw: bytes, limits: Limits) -> dict[str, Any]:
    """Return what the theorem's conditions admit for a scenario; nothing is simulated."""
    from dwell.studies.design import design as design_scenario

    found = design_scenario(_scenario(raw, limits), samples=0, run=False)
    return {**found.as_json(), "region": design_region(found.setting)}


def design_measured(raw: bytes, limits: Limits) -> dict[str, Any]:
    """Return what `dwell design` says of a scenario: constants are measured, along a run, too."""
    from dwell.studies.design import design as design_scenario

    return design_scenario(_scenario(raw, limits), progress=False).as_json()


FEW_PARTS = 10  # of a density, up to which they do not count

TASKS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "validate": validate,
    "admit": admit,
    "parse": parse,
    "write": write,
    "design": design,
    "design_measured": design_measured,
    "outline": outline,
}


def as_json(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as JSON values, with its defaults."""
    return scenario.model_dump(mode="json", exclude_none=True)


def _scenario(raw: bytes, limits: Limits) -> Scenario:
    return scenario_of(mapping_of_json(checked_text(raw, limits)), limits)


def _foreseen(system: CoverageSystem, scenario: Scenario) -> float | None:
    """Return the expected number of events where the law fixes it before the start."""
    if system.program is None or not system.perfect:
        return None
    start: Any = None  # these laws need no start for it
    expected = expected_events(system, start, scenario.run.horizon)
    # No float of the limit: it may have more digits than one can have.
    return None if expected is None else float(min(expected, scenario.run.max_jumps))
