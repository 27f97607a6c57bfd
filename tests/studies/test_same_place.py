"""A controller runs in the place of a scenario exactly as the scenario's own law does."""

from __future__ import annotations

from typing import Any

import pytest

from dwell.runner import run_scenario
from dwell.scenario import parse_scenario
from dwell.scenario.build import build_controller
from dwell.studies.compare import compare_scenarios
from tests.conftest import differing

from .conftest import SMALL

HILL = {"kind": "gaussian", "center": [1, 2], "rate": 0.3}
# One option of a scenario at a time, each of which changes the run.
OPTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "density": {"density": {"kind": "uniform"}},
    "ids": {"agents": {"start": SMALL["agents"]["start"], "ids": [7, 3, 12, 5]}},
    "radius": {"agents": {"start": SMALL["agents"]["start"], "radius": [0.6, 0.7, 0.8, 0.9]}},
    "network": {"network": {"loss": 0.4}},
    "seed": {"run": {"horizon": 2.0, "seed": 9}},
    "horizon": {"run": {"horizon": 1.3, "seed": 1}},
    "max_jumps": {"run": {"horizon": 2.0, "seed": 1, "max_jumps": 11}},
    "nu": {"run": {"horizon": 2.0, "seed": 1, "nu": 0.2}},
    "grid": {"run": {"horizon": 2.0, "seed": 1, "integration": {"kind": "grid", "spacing": 0.25}}},
    "samples": {"run": {"horizon": 2.0, "seed": 1, "record": {"sample_every": 0.3}}},
    "switches": {
        "world": [
            {"from": 0.5, "density": HILL, "arrive": [[3.5, 0.3], [0.2, 0.4]]},
            {"from": 1.1, "leave": [1, 4]},
        ]
    },
    "sensors": {
        "density": {"kind": "uniform"},
        "sensor": [{"name": "a", "density": HILL}, {"name": "b", "density": SMALL["density"]}],
        "agents": {
            "start": SMALL["agents"]["start"],
            "sensors": [["a"], ["b"], ["a", "b"], ["b"]],
        },
    },
}


def figures(run: Any) -> dict[str, Any]:
    """What a run came to, but for what only a scenario states."""
    apart = ("wall_seconds", "law", "start_seed", "certificate", "flags", "horizon")
    found = {key: value for key, value in run.summary().items() if key not in apart}
    del found["hold_error"]["limit"]
    return {**found, "samples": run.metrics.times.tolist()}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_controller_has_every_option_of_the_scenario(name: str) -> None:
    tables = {key: value for key, value in SMALL.items() if key != "certificate"}
    usual, place = parse_scenario(tables), parse_scenario({**tables, **OPTIONS[name]})
    run = compare_scenarios(
        {"law": build_controller(place.controller)}, place=place, workers=1, progress=False
    ).runs["law"]
    alone = run_scenario(place, progress=False)
    assert differing(run.events, alone.events) == []
    assert run.metrics.costs.tobytes() == alone.metrics.costs.tobytes()
    assert run.system.seed == alone.system.seed
    assert figures(run) == figures(alone)
    plain = run_scenario(usual, progress=False)
    assert (figures(plain) != figures(alone)) == (name != "nothing")
