"""Many runs at once: each is the run that `run_scenario` makes."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell.errors import DwellError
from dwell.hybrid import StopReason
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from dwell.studies.many import Batch

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
}


def scenario(law=TIMER, agents=6, horizon=6.0, start=None, **run):
    return parse_scenario({
        "name": "many",
        "workspace": BOX,
        "density": HILL,
        "agents": {"start": start or {"count": agents, "seed": 3}},
        "controller": law,
        "run": {"horizon": horizon, "seed": 5, "record": {"sample_every": "off"}, **run},
    })  # fmt: skip


def assert_same(batch: Batch, k: int, run: dwell.Run) -> None:
    told = run.summary()
    assert batch.reasons[k] is run.stop.reason
    assert batch.times[k] == run.stop.time
    assert batch.events[k] == told["events"]["total"]
    assert np.array_equal(batch.positions[k], run.positions(run.horizon))
    assert batch.costs[k] == told["cost"]["final"]
    assert batch.errors[k].max() == told["error"]["final_max"]
    if told["hold_error"]["max"] is not None:
        assert batch.hold_errors[k] == told["hold_error"]["max"]
    assert batch.messages[k] == told["messages"]
    assert batch.updates[k].max() == told["updates"]["max"]
    assert batch.distance[k] == pytest.approx(run.counters.distance, rel=1e-13, abs=0.0)
    assert batch.energy[k] == pytest.approx(run.counters.energy, rel=1e-13, abs=0.0)
    assert batch.separations[k] == run.events.nearest.min()


@pytest.mark.parametrize("law", LAWS)
def test_each_run_is_the_one_that_runs_alone(law):
    one = scenario(LAWS[law])
    batch = dwell.simulate_many(one, seeds=[5, 0, 2**40])
    for k, seed in enumerate([5, 0, 2**40]):
        alone = one.model_copy(update={"run": one.run.model_copy(update={"seed": seed})})
        assert_same(batch, k, dwell.run_scenario(alone))


def test_many_agents_in_bins():
    one = scenario(agents=150, horizon=1.0)
    batch = dwell.simulate_many(one, seeds=[5, 6])
    assert_same(batch, 0, dwell.run_scenario(one))


def test_starts():
    starts = np.random.default_rng(2).uniform(0, 1, (4, 5, 2))
    batch = dwell.simulate_many(scenario(), starts=starts)
    assert batch.seeds.tolist() == [5, 6, 7, 8]
    for k in range(4):
        alone = scenario(start=starts[k].tolist(), seed=5 + k)
        assert_same(batch, k, dwell.run_scenario(alone))


def test_scattered_starts():
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


def test_any_number_of_threads():
    one = scenario()
    found = [dwell.simulate_many(one, seeds=range(40), threads=n) for n in (1, 2, 5)]
    for name, values in found[0].columns().items():
        assert all(np.array_equal(values, other.columns()[name]) for other in found[1:]), name


def test_jump_limit():
    one = scenario(max_jumps=37)
    batch = dwell.simulate_many(one, seeds=[5])
    assert batch.reasons == (StopReason.JUMP_LIMIT,)
    assert batch.events.tolist() == [37]
    assert_same(batch, 0, dwell.run_scenario(one))


def test_agents_that_meet_end_their_run_only():
    """Two agents on a line, each sent to the other's place with a velocity that meets halfway."""
    law = {
        **TIMER,
        "reset": "latest",
        "t1": 0.5,
        "t2": 0.5,
        "initial_hold": [[0.25, 0], [-0.25, 0]],
    }
    meet, pass_by = [[0.875, 0.5], [1.125, 0.5]], [[0.3, 0.5], [1.8, 0.5]]
    batch = dwell.simulate_many(scenario(law, start=pass_by), starts=[meet, pass_by])
    alone = dwell.run_scenario(scenario(law, start=meet))
    assert alone.stop.reason is StopReason.COINCIDENT
    assert batch.reasons == (StopReason.COINCIDENT, StopReason.HORIZON)
    assert batch.times[0] == alone.stop.time
    assert np.isnan(batch.costs[0])
    assert_same(batch, 1, dwell.run_scenario(scenario(law, start=pass_by, seed=6)))


def test_the_paper():
    one = parse_scenario(text_to_mapping(template_text("paper-12")))
    batch = dwell.simulate_many(one, seeds=range(3))
    assert batch.events.sum() > 10_000
    assert "3 runs" in repr(batch)


def test_progress_is_told():
    told = []
    dwell.simulate_many(scenario(), seeds=range(20), progress=lambda *now: told.append(now))
    assert told[0] == ("preparing", 0.0)
    assert told[-1] == ("measuring", 1.0)
    shares = [share for what, share in told if what == "simulating"]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([],), "at least one"),
        (([scenario(), scenario(horizon=7.0)],), "scenario 1 has another horizon"),
        (([scenario(), scenario(agents=5)],), "run 1 has 5 agents and run 0 has 6"),
    ],
)
def test_refused(arguments, says):
    with pytest.raises(DwellError, match=says):
        dwell.simulate_many(*arguments)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"seeds": []}, "at least one"),
        ({"seeds": [1.5]}, "whole numbers"),
        ({"starts": [[0.1, 0.2]]}, "shape"),
        ({"starts": "x"}, "shape"),
        ({"start_seeds": [-1]}, "whole numbers"),
        ({"start_seeds": [1], "starts": [[[0.1, 0.2], [0.5, 0.5]]]}, "one of them"),
        ({"starts": [[[0.1, 0.2], [9.0, 9.0]]]}, "outside"),
        ({"starts": [[[0.1, 0.2], [0.1, 0.2]]]}, "same place"),
        ({"starts": [[[0.1, 0.2], [0.5, 0.5]]], "seeds": [1, 2]}, "2 seeds and 1 starts"),
    ],
)
def test_options_refused(options, says):
    with pytest.raises(DwellError, match=says):
        dwell.simulate_many(scenario(), **options)


def test_places_are_not_scattered_anew():
    with pytest.raises(DwellError, match="use starts"):
        dwell.simulate_many(scenario(start=[[0.1, 0.2], [0.5, 0.5]]), start_seeds=[1])


def test_laws_that_need_the_readable_loop_are_named():
    law = {"kind": "self-triggered"}
    with pytest.raises(DwellError, match="SelfTriggered"):
        dwell.simulate_many(scenario(law), seeds=[1])
