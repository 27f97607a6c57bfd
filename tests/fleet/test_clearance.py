"""Robots that came too close are found by the check, whatever their agents knew."""

import re
from dataclasses import replace

import numpy as np
import pytest

import dwell
from dwell._types import lengths
from dwell.fleet.virtual import VirtualFleet
from dwell.live.faults import Faults, Partition
from dwell.live.settings import LiveSettings, live_law
from dwell.scenario import parse_scenario
from dwell.scenario.build import build
from tests.fleet.chaos import yard
from tests.fleet.fleets import copied, recorded, run_from


def tables(start, centers, rate, horizon, *, k1, nu, t1, t2, clearance, world=(), size=(10.0, 6.0)):
    hills = [{"kind": "gaussian", "center": c, "rate": rate} for c in centers]
    return parse_scenario(
        {
            "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": list(size)},
            "density": {"kind": "mixture", "parts": hills},
            "agents": {"start": start},
            "controller": {"kind": "timer", "k1": k1, "nu": nu, "t1": t1, "t2": t2},
            "run": {"horizon": horizon, "seed": 3},
            "fleet": {"clearance": clearance},
            **({"world": list(world)} if world else {}),
        }
    )


def cut_off(until):
    """A robot whose radio fails, in both directions, and perhaps returns."""
    case = tables(
        [[5.5, 5.0], [1.5, 3.0], [2.5, 3.2]], [[2.0, 3.0], [8.0, 3.0]], 1.0, 16.0,
        k1=0.8, nu=0.1, t1=0.2, t2=0.6, clearance=0.3,
    )  # fmt: skip
    return case, Faults(partitions=(Partition(1.0, until, (0,)),))


def leaving():
    """A robot that leaves the run, and stands where it is."""
    case = tables(
        [[1.2, 1.5], [3.2, 1.5], [2.0, 2.6], [2.0, 0.4]], [[2.0, 1.5]], 4.0, 14.0,
        k1=0.5, nu=0.05, t1=0.1, t2=0.3, clearance=0.2, size=(4.0, 3.0),
        world=[{"from": 5.0, "leave": [0]}],
    )  # fmt: skip
    return case, None


def arriving():
    """A robot that stands where it is to arrive."""
    case = tables(
        [[1.2, 1.5], [2.8, 1.5]], [[2.0, 1.5]], 4.0, 8.0,
        k1=0.5, nu=0.05, t1=0.1, t2=0.3, clearance=0.2, size=(4.0, 3.0),
        world=[{"from": 7.9, "arrive": [[1.7, 1.5]]}],
    )  # fmt: skip
    return case, None


def calm():
    """Nothing of all that."""
    return (leaving()[0].model_copy(update={"world": None}), None)


def slow():
    """Messages that come later than the keep-away allows for."""
    case = tables(
        [[1.2, 1.5], [3.2, 1.5], [2.0, 2.6], [2.0, 0.4]], [[2.0, 1.5]], 6.0, 10.0,
        k1=1.0, nu=0.05, t1=0.2, t2=0.5, clearance=0.2, size=(4.0, 3.0),
    )  # fmt: skip
    return case, Faults(delay=(0.3, 0.305))


RUNS = {"cut off": cut_off(60.0), "heals": cut_off(14.0), "leaves": leaving(),
        "arrives": arriving(), "slow": slow()}  # fmt: skip


def run_of(case, faults, seed=1, careless=False):
    """The run of a fleet in virtual time; of agents that keep no distance, if they are careless."""
    case = case.model_copy(update={"run": case.run.model_copy(update={"seed": seed})})
    settings = LiveSettings(margin=0.0, clearance=case.fleet.clearance, silence=case.fleet.silence)
    system, start, _ = build(case)
    made, kept = [], 0.0 if careless else settings.clearance
    law = live_law(system, replace(settings, clearance=kept))
    VirtualFleet(law, start, faults, made.append).run(case.run.horizon)
    return run_from(case, recorded(made, settings))


def found_in(run, name="clearance"):
    report = dwell.check(run, progress=False)
    return report, next(f for f in report.findings if f.name == name)


def least_by_sampling(run):
    """The least distance at many times, two robots and the time of it."""
    times = np.linspace(0.0, run.horizon, 20_001)
    places, best = run.positions(times), (np.inf, 0, 0, 0.0)
    for a in range(run.agents):
        for b in range(a):
            gaps = lengths(places[:, a] - places[:, b])
            k = int(gaps.argmin())
            best = min(best, (float(gaps[k]), b, a, float(times[k])))
    return best


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("seed", [1, 2])
def test_robots_that_come_too_close_are_named_with_time_and_distance(name, seed):
    run = run_of(*RUNS[name], seed, careless=True)
    least, a, b, when = least_by_sampling(run)
    report, found = found_in(run)
    wanted = 2.0 * run.scenario.fleet.clearance
    assert least < wanted
    assert found.status == "violated"
    assert not report.ok
    assert f"agents {a} and {b} at t = {when:.2g}"[:-1] in found.where
    said = float(re.search(r"is ([\d.e-]+), of", found.says)[1])
    assert said == pytest.approx(least, abs=2e-3)
    assert found.worst == pytest.approx(wanted - least, abs=2e-3)
    assert run.summary()["separation"]["min"] == pytest.approx(least, abs=2e-3)


def test_the_first_lines_say_what_matters():
    report, found = found_in(run_of(*calm()))
    assert [f.name for f in report.findings[:5]] == [
        "clearance", "workspace", "clocks", "late", "interval",
    ]  # fmt: skip
    assert "0.4" in found.says


def test_without_a_clearance_the_distance_is_said_and_nothing_is_asked():
    case, _ = leaving()
    case = case.model_copy(update={"fleet": case.fleet.model_copy(update={"clearance": 0.0})})
    report, found = found_in(run_of(case, None))
    assert report.ok
    assert found.status == "not applicable"
    assert "the least distance of two robots is" in found.says


def aside(run, uncertainty, **changes):
    """The same run with clocks that are known to `uncertainty`."""
    live = copied(run.details.live, uncertainty=uncertainty, **changes)
    return run_from(run.scenario, live)


def test_a_distance_within_what_clocks_leave_open_is_neither_kept_nor_broken():
    run = run_of(*RUNS["arrives"], careless=True)
    least, a, b, _ = least_by_sampling(run)
    rows, short = run.details.live.samples, 0.4 - least
    speed = sum(lengths(rows["hold"][rows["agent"] == p]).max() for p in (a, b))
    for times, status in ((0.5, "violated"), (1.5, "degraded")):
        _, found = found_in(aside(run, times * short / speed))
        assert found.status == status, found
    assert "so that it may have been enough" in found.says


def test_clocks_that_are_not_known_well_are_not_certified():
    run = run_of(*calm())
    each = {0: 0.001, 1: 0.03, 2: 0.001, 3: 0.002}
    for unsure, verdict in ((0.02, "solution"), (0.03, "uncertain"), (np.inf, "uncertain")):
        report, found = found_in(aside(run, unsure, clocks=each), "clocks")
        assert report.verdict == verdict
        assert report.ok == (verdict == "solution")
    assert "that of agent 1" in found.where
    assert "cannot be certified; uncertain: clocks" in report.says


FAULTS = {
    "none": {},
    "lossy": {"loss": 0.3, "delay": [0.0, 0.3], "repeat": 0.3},
    "cut": {"partitions": [{"from": 2.0, "until": 6.0, "group": [0], "direction": "out"}]},
}


@pytest.mark.parametrize(
    "world", [{"leave": [0]}, {"arrive": [[2.0, 1.4]]}], ids=["leave", "arrive"]
)
@pytest.mark.parametrize("faults", FAULTS)
def test_honest_fleets_whose_agents_leave_or_arrive_are_not_accused(faults, world):
    """Robots that are absent are obstacles, but do not count among the agents that are known."""
    case = yard(
        [[1.2, 1.5], [3.2, 1.5], [2.0, 2.6], [2.0, 0.4]], horizon=8.0, clearance=0.15,
        fleet={"faults": FAULTS[faults]}, world=[{"from": 3.0, **world}],
    )  # fmt: skip
    report = dwell.check(dwell.run_fleet(case, transport="memory", progress=False), progress=False)
    assert [one for one in report.findings if one.status == "violated"] == []
