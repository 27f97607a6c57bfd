"""P1 to P20: the law and the run."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import dwell
from dwell._kernels.common.hold_law import saturate
from tests.catalogue.kit import Bench, case, small
from tests.cli.shell import dwell as command

SITE = dwell.Box((0, 0), (4, 4))
START = [(1, 1), (2, 2), (3, 3.5)]


def law(**changes: object) -> dwell.Timer:
    """A law with nothing wrong, but for the changes."""
    return dwell.Timer(**{"k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.2, **changes})


def saturated(x: float, y: float, k1: float, reach: float) -> tuple[float, float]:
    """The saturated input of one error in the plane, by the kernel."""
    hold = np.empty((2, 1))
    saturate(0, np.array([[x], [y]]), k1, reach, hold)
    return float(hold[0, 0]), float(hold[1, 0])


@case("P9-numbers")
def test_the_flag_says_what_would_be_admissible(bench: Bench, case: str) -> None:
    figures = bench.accepted("certificate={eta_max=0.9,lipschitz=5.0}")
    (flag,) = [f for f in figures["flags"] if f["code"] == "certificate-void"]
    longest = 0.9 * 0.5 * (1 - 1e-8) / (5 * math.sqrt(3) + 1)
    assert f"at most {longest:.6g}" in flag["says"]
    assert figures["hold_error"]["limit"] == 0.9


@case("P3-together")
def test_equal_timers_stay_together_for_ever(case: str) -> None:
    for reset in ("uniform", "periodic", "latest", "earliest"):
        run = dwell.simulate(SITE, None, START, law(t1=0.1, t2=0.1, reset=reset), until=50.0)
        times = run.events.time.reshape(-1, 3)
        assert (times == times[:, :1]).all()
        assert run.events.agent.reshape(-1, 3).tolist() == [[0, 1, 2]] * len(times)
    exact = dwell.simulate(SITE, None, START, law(t1=0.1, t2=0.1, reset="periodic"), until=50.0)
    ticks = exact.events.time[::3]
    assert ticks.tolist() == [k * 0.1 for k in range(1, len(ticks) + 1)]


@case("P4-cap")
def test_a_cap_on_jumps(bench: Bench, case: str) -> None:
    many = ["run.horizon=1e9", "controller.t1=1e-5", "run.record.sample_every='off'"]
    outcome = bench.run(*many, "run.max_jumps=100")
    assert outcome.code == 1
    assert outcome.json["stop"]["reason"] == "jump-limit"
    assert outcome.json["events"]["total"] == 100
    assert len(dwell.load_run(bench.folder / "run.nc").events) == 100
    assert command("check", bench.folder / "run.nc").code == 0


@case("P14")
def test_both_branches_agree_at_the_radius(case: str) -> None:
    reach, k1 = (1 - 1e-8) * 0.7, 0.525
    assert saturated(0.0, 0.0, k1, reach) == (0.0, 0.0)
    for angle in np.linspace(0, 6.2, 40):
        e = reach * np.array([math.cos(angle), math.sin(angle)])
        at = np.array(saturated(e[0], e[1], k1, reach))
        for factor in (1 - 2**-52, 1 + 2**-51):
            near = np.array(saturated(e[0] * factor, e[1] * factor, k1, reach))
            assert np.abs(near - at).max() <= 4e-16
        assert math.hypot(*at) <= k1 * (1 + 4 * 2**-52)
    for e in (math.nextafter(reach, 0), reach, math.nextafter(reach, 1)):
        assert saturated(e, 0.0, k1, reach)[0] == pytest.approx(k1, rel=4e-16, abs=0.0)
    assert saturated(math.nextafter(reach, 1), 0.0, k1, reach)[0] <= k1 * (1 + 2**-52)


@case("P14-at-rest")
def test_an_error_of_exactly_zero(bench: Bench, case: str) -> None:
    figures = bench.clean("agents.start=[[1,2],[3,2]]")
    assert figures["final_positions"] == [[1.0, 2.0], [3.0, 2.0]]
    assert figures["error"]["final_max"] == 0.0


@case("P15-small", "P15-large")
def test_errors_far_from_one(case: str) -> None:
    size = 1e-70 if case == "P15-small" else 1e70
    hx, hy = saturated(3 * size, 4 * size, 1.0, 0.1 * size)
    assert (hx, hy) == (
        pytest.approx(0.6, rel=1e-15, abs=0.0),
        pytest.approx(0.8, rel=1e-15, abs=0.0),
    )


@case("P16")
def test_a_horizon_of_zero_is_the_start(bench: Bench, case: str) -> None:
    figures = bench.clean("run.horizon=0")
    assert figures["events"]["total"] == 0
    assert figures["final_positions"] == small()["agents"]["start"]
    assert figures["cost"]["initial"] == figures["cost"]["final"]


@case("P17")
def test_a_jump_due_at_the_horizon_is_made(case: str) -> None:
    run = dwell.simulate(SITE, None, START, law(reset="periodic"), until=0.6000000000000001)
    assert run.events.time.max() == run.horizon == 0.2 + 2 * 0.2
    assert len(run.events) == 9
    before = dwell.simulate(SITE, None, START, law(reset="periodic"), until=0.6)
    assert len(before.events) == 6


@case("P18-ends", "P18-last")
def test_times_of_samples(case: str) -> None:
    step = 5.0 if case == "P18-ends" else 0.3
    run = dwell.simulate(SITE, None, START, law(), until=1.0, sample_every=step)
    expected = [0.0, 1.0] if case == "P18-ends" else [0.0, 0.3, 0.6, 0.8999999999999999, 1.0]
    assert run.metrics.times.tolist() == expected


@case("P19-missing")
def test_a_missing_seed_is_drawn_and_recorded(bench: Bench, case: str) -> None:
    scenario = small()
    del scenario["run"]["seed"]
    bench.write(scenario)
    first, second = bench.run().json, bench.run(options=["--force"]).json
    assert first["seed"] != second["seed"]
    assert dwell.load_run(bench.folder / "run.nc").scenario.run.seed == second["seed"]
    again = bench.run(f"run.seed={first['seed']}", options=["--force"]).json
    assert {**again, "wall_seconds": 0} == {**first, "wall_seconds": 0}


@case("P6-numpy")
def test_numbers_of_numpy_are_numbers(case: str) -> None:
    given = law(k1=np.int64(1), nu=np.float32(0.5), t1=np.array([0.1] * 3), t2=np.float64(0.2))
    run = dwell.simulate(SITE, None, START, given, until=np.float64(1.0), seed=np.int64(3))
    assert json.dumps(run.summary())
