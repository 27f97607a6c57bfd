"""Many runs at once: each is the run that `run_scenario` makes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Scenario
from dwell.hybrid import StopReason
from dwell.results.summary import flat
from dwell.scenario import parse_scenario
from dwell.studies.batch import Batch

BOX = {"kind": "box", "lower": [0, 0], "upper": [2, 1]}
HILL = {"kind": "gaussian", "center": [0.5, 0.5], "rate": 3.0}
TIMER = {"kind": "timer", "k1": 0.3, "nu": 0.05, "t1": 0.1, "t2": 0.3}
LAWS = {
    "timer": TIMER,
    "latest": {**TIMER, "reset": "latest"},
    "sequence": {**TIMER, "reset": "sequence", "intervals": [0.1, 0.2, 0.3]},
    "dropout": {**TIMER, "reset": "dropout", "loss": 0.4},
    "lloyd": {"kind": "lloyd", "k2": 1.0, "dt": 0.1},
    "synchronous": {"kind": "discrete-lloyd", "schedule": "synchronous", "step": 0.5},
    "round-robin": {"kind": "discrete-lloyd", "schedule": "round-robin", "step": 0.05},
    "poisson": {"kind": "discrete-lloyd", "schedule": "poisson", "step": 0.5},
    "self-triggered": {"kind": "self-triggered", "tau_min": 0.1, "scan": 0.1},
    "event-triggered": {"kind": "event-triggered"},
}


def scenario(law=TIMER, agents=6, horizon=6.0, start=None, density=HILL, **run):
    return parse_scenario({
        "name": "many",
        "workspace": BOX,
        "density": density,
        "agents": {"start": start or {"count": agents, "seed": 3}},
        "controller": law,
        "run": {"horizon": horizon, "seed": 5, "record": {"sample_every": "off"}, **run},
    })  # fmt: skip


def assert_same(batch: Batch, k: int, run: dwell.Run) -> None:
    """Every number of the batch is one of the run's summary, under its name, bit for bit."""
    answer = flat(run.summary())
    assert set(batch.columns) <= set(answer)
    for name, values in batch.columns.items():
        one, other = values[k], answer[name]
        absent = other is None and (one is None or np.isnan(one).all())
        assert absent or np.array_equal(one, other), (name, one, other)
    assert np.array_equal(batch["final_positions"][k], run.positions(run.horizon))


def random_case(draw: random.Random) -> Scenario:
    """A small scenario with a law, a start and a record of any kind."""
    agents = draw.randint(1, 6)
    start: Any = {"count": agents, "seed": draw.randint(0, 99)}
    if draw.random() < 0.5:
        start = [[draw.uniform(0.0, 2.0), draw.uniform(0.0, 1.0)] for _ in range(agents)]
    record = {"kind": draw.choice(["events", "samples", "summary"])}
    if draw.random() < 0.5:
        record["sample_every"] = 0.1
    density = draw.choice([HILL, {"kind": "uniform"}])
    run = {"record": record, "max_jumps": draw.choice([20, 10**6])}
    if draw.random() < 0.3:
        run["nu"] = 0.1
    law = draw.choice(list(LAWS.values()))
    horizon = draw.choice([0.0, 0.3, 1.0])
    return scenario(law, horizon=horizon, start=start, density=density, **run)


def test_numbers_are_those_of_run_scenario_in_two_hundred_random_cases():
    draw = random.Random(16)
    for _ in range(50):
        one = random_case(draw)
        seeds = [draw.randint(0, 2**40) for _ in range(4)]
        batch = dwell.simulate_many(one, seeds=seeds)
        for k, seed in enumerate(seeds):
            assert batch.scenarios[k].run.seed == seed
            assert_same(batch, k, dwell.run_scenario(batch.scenarios[k]))


def test_starts_given_and_scattered():
    starts = np.random.default_rng(2).uniform(0, 1, (4, 5, 2))
    batch = dwell.simulate_many(scenario(), starts=starts)
    assert batch["seed"].tolist() == [5, 6, 7, 8]
    for k in range(4):
        alone = scenario(start=starts[k].tolist(), seed=5 + k)
        assert_same(batch, k, dwell.run_scenario(alone))
    batch = dwell.simulate_many(scenario(), start_seeds=[3, 9], seeds=[5, 5])
    assert_same(batch, 0, dwell.run_scenario(scenario()))
    other = scenario(start={"count": 6, "seed": 9})
    assert_same(batch, 1, dwell.run_scenario(other))


def test_laws_that_differ_in_their_numbers():
    several = [scenario({**TIMER, "k1": k1, "t2": t2}) for k1 in (0.1, 0.5) for t2 in (0.2, 0.4)]
    several.append(scenario(LAWS["latest"]))
    batch = dwell.simulate_many(several)
    for k, one in enumerate(several):
        assert_same(batch, k, dwell.run_scenario(one))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("workspace", {"workspace": {**BOX, "upper": [2, 1.5]}}),
        ("density", {"density": {**HILL, "rate": 2.0}}),
        ("horizon", {"run": {"horizon": 7.0}}),
        ("max_jumps", {"run": {"max_jumps": 99}}),
        ("integration", {"run": {"integration": {"kind": "grid", "spacing": 0.05}}}),
        ("number of agents", {"agents": {"start": {"count": 7, "seed": 3}}}),
    ],
)
def test_runs_of_a_batch_have_each_of_these_in_common(name, changes):
    one = scenario(horizon=0.5)
    tables = one.model_dump(exclude_none=True)
    run = {**tables["run"], **changes.get("run", {})}
    other = parse_scenario({**tables, **changes, "run": run})
    with pytest.raises(dwell.InputError, match=f"scenario 2 has another {name} than") as error:
        dwell.simulate_many([one, one, other])
    assert error.value.code == "batch.differs"


def test_any_number_of_threads():
    one = scenario()
    found = [dwell.simulate_many(one, seeds=range(40), threads=n) for n in (1, 2, 5)]
    for name, values in found[0].columns.items():
        for other in found[1:]:
            np.testing.assert_array_equal(values, other[name], err_msg=name)


def test_agents_that_meet_end_their_run_only():
    """Two agents on a line, each sent to the other's place with a velocity that meets halfway."""
    law = {**LAWS["latest"], "t1": 0.5, "t2": 0.5, "initial_hold": [[0.25, 0], [-0.25, 0]]}
    meet, pass_by = [[0.875, 0.5], [1.125, 0.5]], [[0.3, 0.5], [1.8, 0.5]]
    batch = dwell.simulate_many(scenario(law, start=pass_by), starts=[meet, pass_by])
    alone = dwell.run_scenario(scenario(law, start=meet))
    assert alone.stop.reason is StopReason.COINCIDENT
    assert batch["stop.reason"].tolist() == ["coincident", "horizon"]
    assert batch["stop.time"][0] == alone.stop.time
    assert np.isnan(batch["cost.final"][0])
    assert np.isnan(batch["final_masses"][0]).all()
    assert_same(batch, 1, dwell.run_scenario(scenario(law, start=pass_by, seed=6)))


def test_progress_is_told():
    answer = []
    dwell.simulate_many(scenario(), seeds=range(20), progress=lambda *now: answer.append(now))
    assert answer[0] == ("preparing", 0.0)
    assert answer[-1] == ("measuring", 1.0)
    shares = [share for what, share in answer if what == "simulating"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_closest_pair_may_be_that_of_the_start():
    start = [[0.1, 0.1], [0.1, 0.101], [1.9, 0.9]]
    batch = dwell.simulate_many(scenario(start=start), seeds=[1])
    assert batch["separation.seen"][0] == pytest.approx(0.001)


@pytest.mark.parametrize("kind", ["events", "samples", "summary"])
def test_numbers_do_not_depend_on_what_is_recorded(kind):
    """Not even those that samples could see better: all are of the start, events and the end."""
    off = dwell.run_scenario(scenario(horizon=1.0)).summary()
    often = dwell.run_scenario(scenario(horizon=1.0, record={"kind": kind, "sample_every": 0.01}))
    answer = often.summary()
    for name in ("hold_error", "top_speed", "distance", "start_seed"):
        assert answer[name] == off[name]
    assert answer["separation"]["seen"] == off["separation"]["seen"]
    assert answer["coverage"]["last_beyond"] == off["coverage"]["last_beyond"]


def test_any_dimension_and_any_density_run_one_by_one():
    line = {
        "workspace": {"kind": "interval", "bounds": [0, 1]},
        "agents": {"start": {"count": 3}},
        "controller": TIMER,
        "run": {"horizon": 0.5, "seed": 1},
    }
    called = {**line, "workspace": BOX}
    called["density"] = {"kind": "callable", "function": "tests.sweep.worlds:calm"}
    for mapping in (line, called):
        batch = dwell.simulate_many(parse_scenario(mapping), seeds=[1, 2])
        assert_same(batch, 1, dwell.run_scenario(batch.scenarios[1]))


def test_largest_speed_is_that_of_the_segments():
    run = dwell.run_scenario(scenario(LAWS["lloyd"]))
    holds = np.concatenate(
        [run.start.segments.hold, run.events.holds[run.events.time < run.horizon]]
    )
    assert run.summary()["top_speed"] == np.sqrt((holds**2).sum(axis=1)).max()
    still = dwell.run_scenario(scenario(LAWS["lloyd"], horizon=0.0))
    assert still.summary()["top_speed"] == 0.0


def test_seeds_keep_their_digits():
    seeds = [1, 2**63 + 5]
    batch = dwell.simulate_many(scenario(), seeds=seeds)
    assert batch["seed"].tolist() == [one.run.seed for one in batch.scenarios] == seeds
    assert batch["start_seed"].dtype == np.int64
    batch = dwell.simulate_many(scenario(), start_seeds=seeds)
    assert batch["start_seed"].tolist() == seeds
    assert dwell.simulate_many(scenario(), seeds=[1, 2])["seed"].dtype == np.int64


def test_a_seed_that_is_not_there_is_none():
    start = [[0.1, 0.1], [0.1, 0.2], [1.9, 0.9]]
    batch = dwell.simulate_many(scenario(start=start), seeds=[1, 2])
    assert batch["start_seed"].tolist() == [None, None]
    mixed = dwell.simulate_many([scenario(start=start), scenario(agents=3)])
    assert mixed["start_seed"].tolist() == [None, 3]
