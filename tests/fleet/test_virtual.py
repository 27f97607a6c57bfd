"""A fleet in virtual time with perfect delivery is the simulation, bit for bit."""

import numpy as np
import pytest

import dwell
from dwell.live.table import start_of, table_of_live
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from tests.fleet.fleets import START, record_of, scenario, template

TIMER = {"kind": "timer", "k1": 0.4, "nu": 0.3, "t1": 0.2, "t2": 0.6}
LAWS = {
    **{rule: {**TIMER, "reset": rule} for rule in ("uniform", "earliest", "latest", "periodic")},
    "staggered": {**TIMER, "reset": "periodic", "period": 0.3, "initial_timer": 0.25},
    "sequence": {**TIMER, "reset": "sequence", "intervals": [0.2, 0.35]},
    "dropout": {**TIMER, "reset": "dropout", "loss": 0.4},
    "adaptive": {**TIMER, "reset": "adaptive", "eta_max": 0.2},
    "each-its-own": {**TIMER, "t1": [0.2] * 6, "t2": [0.3, 0.4, 0.5, 0.6, 0.5, 0.4]},
    "lloyd": {"kind": "lloyd", "dt": 0.1},
    "lloyd-speed": {"kind": "lloyd", "dt": 0.1, "speed": 0.3},
    **{
        name: {"kind": "discrete-lloyd", "step": 0.2, "schedule": name}
        for name in ("synchronous", "round-robin", "random")
    },
    "poisson": {"kind": "discrete-lloyd", "step": 0.2, "schedule": "poisson", "rate": 2.0},
}  # fmt: skip
MOVING = {
    "kind": "gaussian", "rate": 0.4,
    "center": {"times": [0.0, 4.0], "values": [[1.0, 1.0], [3.0, 2.0]]},
}  # fmt: skip


def same_bits(case):
    live, run = record_of(case), dwell.run_scenario(case, progress=False)
    system, positions, _ = build(case)
    table, start = table_of_live(live).columns(), start_of(system, positions, live)
    columns = run.events.columns()
    assert len(run.events) > 10
    assert set(table) == set(columns)
    for name, column in columns.items():
        assert np.array_equal(table[name], column), name
    for name in ("first", "event_counts"):
        assert np.array_equal(getattr(start, name), getattr(run.start, name)), name
    for name, values in start.segments.parts().items():
        assert np.array_equal(values, getattr(run.start.segments, name)), name
    assert list(start.spent) == list(run.start.spent)


@pytest.mark.parametrize("name", LAWS)
def test_every_law_that_moves_towards_a_centroid(name):
    same_bits(scenario(controller=LAWS[name]))


@pytest.mark.parametrize("feedforward", ["own", "ahead", "neighbours"])
def test_laws_that_follow_a_moving_density(feedforward):
    law = {**TIMER, "feedforward": feedforward}
    same_bits(scenario(controller=law, density=MOVING))


@pytest.mark.parametrize(
    "name",
    [
        "two-hills", "paper-12", "paper-30", "paper-12-lloyd", "line-8", "space-12", "disc-9",
        "harbour-20", "moving-hill", "two-sensors",
    ],
)  # fmt: skip
def test_scenarios_of_the_package(name):
    horizon = {"harbour-20": 20.0, "paper-30": 0.3, "paper-12-lloyd": 0.1}.get(name, 2.0)
    same_bits(template(name, f"run.horizon={horizon}"))


def test_agents_that_leave_and_arrive():
    same_bits(template("switching-site", "run.horizon=60"))


@pytest.mark.parametrize(
    "workspace",
    [
        {"kind": "interval", "bounds": [0.0, 4.0]},
        {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
        {"kind": "box", "lower": [0, 0, 0], "upper": [4, 3, 2]},
    ],
)
def test_every_dimension(workspace):
    case = scenario(horizon=2.0).model_dump(mode="json", exclude_unset=True)
    n = len(workspace.get("lower", [0]))
    start = [[*place, 0.3 * k + 0.2][:n] for k, place in enumerate(START)]
    case |= {"workspace": workspace, "density": {"kind": "uniform"}, "agents": {"start": start}}
    same_bits(parse_scenario(case))
