"""The small questions of the page, answered in a worker: each from the text of a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dwell.agents import CoverageSystem
from dwell.results.recorder import expected_events
from dwell.scenario import Scenario, dump_toml, text_to_mapping
from dwell.scenario.build import build
from dwell.web.bodies import mapping_of_json, refuse_events, scenario_of, text_of
from dwell.web.limits import Limits
from dwell.web.work.region import region_of
from dwell.web.work.shapes import shape_of


def validate(raw: bytes, limits: Limits) -> dict[str, Any]:
    """The scenario as it is understood, where its agents start, and what was repaired."""
    scenario = _scenario(raw, limits)
    system, places, repairs = build(scenario)
    return {
        "ok": True,
        "scenario": as_json(scenario),
        "repairs": list(repairs),
        "start": places.tolist(),
        "workspace": shape_of(system.workspace),
    }


def admit(raw: bytes, limits: Limits) -> dict[str, Any]:
    """The scenario of a job as text, which is small while it waits, if this server runs such."""
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
    }


def parse(raw: bytes, limits: Limits) -> dict[str, Any]:
    """The scenario in a TOML or JSON text."""
    mapping = text_to_mapping(text_of(raw, limits), source="the text")
    return {"scenario": as_json(scenario_of(mapping, limits))}


def write(raw: bytes, limits: Limits) -> dict[str, Any]:
    """A scenario as TOML."""
    return {"text": dump_toml(_scenario(raw, limits))}


def design(raw: bytes, limits: Limits) -> dict[str, Any]:
    """What the theorem's conditions say of a scenario; nothing is run, little is measured."""
    from dwell.studies.design import design as design_scenario

    found = design_scenario(_scenario(raw, limits), samples=0, run=False)
    return {**found.as_json(), "region": region_of(found.setting)}


TASKS: Mapping[str, Callable[[bytes, Limits], dict[str, Any]]] = {
    "validate": validate,
    "admit": admit,
    "parse": parse,
    "write": write,
    "design": design,
}


def as_json(scenario: Scenario) -> dict[str, Any]:
    """A scenario as plain data, defaults written out."""
    return scenario.model_dump(mode="json", exclude_none=True)


def _scenario(raw: bytes, limits: Limits) -> Scenario:
    return scenario_of(mapping_of_json(text_of(raw, limits)), limits)


def _foreseen(system: CoverageSystem, scenario: Scenario) -> float | None:
    """Events by laws that say beforehand how often they look; others are asked at their start."""
    if system.program is None or not system.network.perfect:
        return None
    start: Any = None  # these laws need no start for it
    expected = expected_events(system, start, scenario.run.horizon)
    # No float of the limit: it may have more digits than one can have.
    return None if expected is None else float(min(expected, scenario.run.max_jumps))
