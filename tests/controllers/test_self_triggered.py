"""The self-triggered law against closed forms, and its guarantees."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import dwell
from dwell._kernels.common.status import CEILING, FLOOR, IN_TIME
from dwell.agents import Network, Trajectory
from dwell.controllers import Lloyd, SelfTriggered
from dwell.controllers.self_triggered import MISSED
from dwell.density import Uniform
from dwell.geometry import Box
from dwell.verify.guarantees import follow_centroids, self_trigger_guarantees
from tests.controllers.worlds import BOX, HILL, START


def test_the_approach_is_that_of_its_differential_equation():
    law = SelfTriggered(kappa=2.0, v=0.3)
    error = np.array([0.4, -0.3])
    order = law.approach(error)
    x, dt = np.zeros(2), 1e-5
    for _ in range(int(2.5 / dt)):
        gap = error - x
        size = math.hypot(*gap)
        x = x + dt * 2.0 * (gap if size <= 0.15 else 0.15 * gap / size)
    used = order.cruise + (1.0 - math.exp(-2.0 * (2.5 - order.cruise))) / 2.0
    assert order.hold * used == pytest.approx(x, abs=2e-5)
    assert math.hypot(*order.hold) == pytest.approx(0.3)
    assert order.cruise == pytest.approx((0.5 - 0.15) / 0.3)


def test_near_its_centroid_it_only_decays():
    order = SelfTriggered(kappa=2.0, v=0.3).approach(np.array([0.06, 0.08]))
    assert order.cruise == 0.0
    assert order.hold == pytest.approx([0.12, 0.16])


@pytest.fixture(scope="module")
def run():
    """A run whose trigger has no floor to hit, for the most part."""
    law = SelfTriggered(v=0.4, tau_min=0.02, tau_max=1.0, scan=0.02, delta=0.2)
    return dwell.simulate(BOX, HILL, START, law, until=6.0)


@pytest.mark.parametrize("options", [{}, {"factor": 2}, {"own": "ball"}, {"second": "sampled"}])
@pytest.mark.parametrize("seed", range(3))
def test_its_guarantees_hold_wherever_no_floor_was_hit(options, seed):
    start = np.random.default_rng(seed).uniform([0.1, 0.1], [3.9, 2.9], (6, 2))
    law = SelfTriggered(v=0.4, tau_min=0.02, tau_max=1.0, scan=0.02, delta=0.2, **options)
    run = dwell.simulate(BOX, HILL, start, law, until=6.0, seed=seed)
    seen = follow_centroids(Trajectory(run.system, run.start, run.events, 6.0))
    assert len(seen.times) > 1000
    assert seen.drift[seen.free].max() <= 0.2
    assert seen.depth[seen.free].min() >= -1e-12
    assert seen.drift[seen.free].max() > 0.005  # it is not trivially so


@pytest.mark.parametrize("own", ["exact", "ball"])
@pytest.mark.parametrize("seed", range(4))
def test_a_neighbour_that_makes_for_the_sampled_centroid_gets_there_just_after_the_look(own, seed):
    """The worst that can happen, at top speed: balls that were any smaller would be too small."""
    start = np.random.default_rng(seed).uniform([0.5, 0.5], [3.5, 2.5], (4, 2))
    law = SelfTriggered(
        v=0.4, tau_min=1e-3, tau_max=50.0, scan=1e-3, delta=100.0, second="sampled", own=own
    )
    run = dwell.simulate(BOX, HILL, start, law, until=1e-6)
    errors = run.system.measurements(start).error
    for p in range(4):
        assert run.start.spent[p].mark == IN_TIME
        target, wait = start[p] + errors[p], float(run.start.segments.next_at[p])
        others = np.delete(start, p, axis=0)

        def room(s, p=p, target=target, others=others):
            here = run.start.segments.take(p).at(s)
            nearest = np.hypot(*(others - target).T).min() - law.v * s
            return nearest - np.hypot(*(here - target))

        assert room(wait) >= -1e-12
        if own == "exact":
            assert room(wait + 1.001 * law.scan) < 1e-12


@pytest.mark.parametrize("v", [0.35, 1.0])
@pytest.mark.parametrize(
    ("options", "share"),
    [
        ({}, 1.0),
        ({"factor": 2}, 0.5),
        ({"own": "ball"}, 0.5),
        ({"bound": "circumradius"}, 1.0),
        ({"preset": "paper-like", "stop": "before"}, 0.25),
        ({"second": "sampled"}, 1.0),
    ],
)
@pytest.mark.parametrize("delta", [3.0, 0.1, 0.004])
def test_the_trigger_on_a_line_has_a_closed_form(delta, options, share, v):
    """Two agents at rest at 1/4 and 3/4 of a strip of width w.

    With balls of radius r the cells are [0, (1 - r) / 2] and [0, (1 + r) / 2], so that the drift is
    bounded by r exactly; the centroid of the guaranteed cell is w / 2 from the long sides. So the
    trigger is met until r = min(delta, w / 2), up to terms in w^2. The sampled centroid leaves
    the guaranteed cell at r = 1/2.
    """
    width = 0.02
    strip = Box((0.0, 0.0), (1.0, width))
    law = SelfTriggered(v=v, delta=delta, tau_min=1e-6, tau_max=0.75, scan=1e-5, **options)
    places = np.array([(0.25, width / 2), (0.75, width / 2)])
    run = dwell.simulate(strip, Uniform(), places, law, until=1e-9)
    room = 0.5 if options.get("second") == "sampled" else width / 2
    expected = min(share * min(delta, room) / v, law.tau_max)
    gap = np.abs(run.start.segments.next_at - expected)
    assert (gap <= 1.1e-5 + 2e-3 * expected).all()


def test_the_worst_moment_of_an_interval_is_its_end(run):
    """Just before an agent samples again; there the old sample counts, not the new one."""
    seen = follow_centroids(Trajectory(run.system, run.start, run.events, 6.0))
    worst = 0.0
    for p in range(len(START)):
        rows = run.events.of_agent(p)
        centroids = run.events.positions[rows] + run.events.errors[rows]
        first = START[p] + run.system.measurement(START, p).error
        sampled = np.vstack([first, centroids[:-1]])
        worst = max(worst, np.hypot(*(centroids - sampled).T).max())
    assert seen.drift.max() >= worst
    inside = len(seen.times) - len(run.events)
    elsewhere = seen.drift[:inside].max()
    assert elsewhere < worst  # times spread over the run would miss it
    law = replace(
        run.system.controller, delta=0.5 * (elsewhere + worst)
    )  # as if that was guaranteed
    system = replace(run.system, controller=law)
    found = list(self_trigger_guarantees(Trajectory(system, run.start, run.events, 6.0), law))
    assert [f.status for f in found] == ["violated", "holds"]


def test_floor_hits_at_the_beginning_count():
    start = np.random.default_rng(0).uniform([0.1, 0.1], [0.9, 0.9], (5, 2))
    law = SelfTriggered(v=0.5, kappa=10, tau_min=0.1, tau_max=2, scan=0.4, stop="after", delta=0.05)
    run = dwell.simulate(Box((0, 0), (1, 1)), None, start, law, until=0.1)
    assert (run.start.marks == FLOOR).all()
    assert [f.says.split()[0] for f in run.flags if f.code == "floor-hits"] == ["5"]
    long = dwell.simulate(Box((0, 0), (1, 1)), None, start, law, until=5.0)
    report = dwell.check(long)
    assert report.ok, [f for f in report.findings if f.status == "violated"]
    seen = follow_centroids(Trajectory(long.system, long.start, long.events, 5.0))
    assert not seen.free[seen.times == 0.0].any()


def test_lost_looks_are_no_floor_hits():
    start = np.array([(1.0, 0.75), (3.0, 0.75), (1.0, 2.25), (3.0, 2.25)])  # centroids
    law = SelfTriggered(v=0.1, tau_min=0.1, tau_max=0.5, scan=0.05)
    run = dwell.simulate(BOX, None, start, law, until=20.0, network=Network(loss=0.4))
    marks = run.events.count("mark")
    assert (marks == MISSED).sum() > 10
    assert (run.events.count("looked") == 0).sum() == (marks == MISSED).sum()
    assert (marks == FLOOR).sum() == 0
    assert [flag.code for flag in run.flags] == ["unreliable-network"]
    seen = follow_centroids(Trajectory(run.system, run.start, run.events, 20.0))
    assert 0.0 < (~seen.free).mean() < 0.9


def test_what_is_seen_at_the_beginning_is_not_old():
    law = SelfTriggered(v=0.3, tau_min=0.01, tau_max=0.5, scan=0.05)
    late = dwell.simulate(BOX, HILL, START, law, until=0.01, network=Network(delay=5.0))
    now = dwell.simulate(BOX, HILL, START, law, until=0.01)
    assert (late.start.segments.next_at == now.start.segments.next_at).all()
    assert (late.start.marks == now.start.marks).all()


def test_longer_intervals_than_the_trigger_allows_break_them():
    law = SelfTriggered(v=0.4, tau_min=0.9, tau_max=1.0, scan=0.05, delta=0.02)
    run = dwell.simulate(BOX, HILL, START, law, until=6.0)
    marks = run.events.count("mark")
    assert (marks == FLOOR).mean() > 0.5
    assert follow_centroids(Trajectory(run.system, run.start, run.events, 6.0)).drift.max() > 0.02
    assert dwell.check(run).ok  # nothing was promised there
    assert "floor-hits" in {flag.code for flag in run.flags}


def test_marks_say_what_set_the_interval():
    law = SelfTriggered(v=0.4, tau_min=0.02, tau_max=0.3, scan=0.02, delta=0.5)
    run = dwell.simulate(BOX, HILL, START, law, until=8.0)
    table = run.events
    gaps, marks = table.next_at - table.time, table.count("mark")
    assert set(np.unique(marks)) >= {IN_TIME, CEILING}
    assert gaps[marks == CEILING] == pytest.approx(0.3)
    assert gaps.min() >= 0.02 - 1e-12
    assert gaps.max() <= 0.3 + 1e-12
    steps = table.count("guaranteed")
    assert steps[marks == CEILING].tolist() == [15] * int((marks == CEILING).sum())
    assert (steps[marks == IN_TIME] == np.round(gaps[marks == IN_TIME] / 0.02) + 1).all()


def test_a_short_ceiling_makes_it_sampled_saturated_lloyd():
    law = SelfTriggered(kappa=1.0, v=0.2, tau_min=0.01, tau_max=0.01, scan=0.01)
    run = dwell.simulate(BOX, HILL, START, law, until=1.0)
    exact = dwell.simulate(
        BOX, HILL, START, dwell.Timer(k1=0.2, nu=0.2, epsilon=1e-12, t1=1e-3, t2=1e-3), until=1.0
    )
    assert run.positions(1.0) == pytest.approx(exact.positions(1.0), abs=2e-3)
    slow = dwell.simulate(BOX, HILL, START, Lloyd(dt=0.01), until=1.0)
    assert np.abs(run.positions(1.0) - slow.positions(1.0)).max() > 0.1  # it does saturate


def test_options_override_the_preset():
    law = SelfTriggered(preset="paper-like", factor=1)
    assert (law.option("factor"), law.option("own")) == (1, "ball")
