"""Adaptive timers: as long as the hold error allows, to first order."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.cells.sensitivity import norm, sensitivity
from dwell.controllers import Timer
from dwell.geometry import voronoi_cells
from tests.controllers.worlds import BOX, HILL, START


def law(**changes):
    given = {"k1": 0.5, "nu": 0.4, "t1": 0.01, "t2": 0.7, "reset": "adaptive", "eta_max": 0.2}
    return Timer(**(given | changes))


def test_sensitivities_are_those_of_the_whole_configuration():
    from dwell.theory.derivatives import derivatives

    whole = derivatives(BOX, START, HILL)
    for p in range(len(START)):
        cell = voronoi_cells(dwell.Polygon(BOX.vertices), START, [p])[0]
        neighbors = START[cell.borders[cell.borders >= 0]]
        found = sensitivity(BOX, START[p], neighbors, HILL)
        blocks = {
            int(q): whole.centroid[k] for k, q in enumerate(whole.column) if whole.row[k] == p
        }
        own = blocks.pop(p) - np.eye(2)
        assert found.own == pytest.approx(np.linalg.norm(own, 2), rel=1e-12, abs=0.0)
        others = sum(np.linalg.norm(block, 2) for block in blocks.values())
        assert found.others == pytest.approx(others, rel=1e-12, abs=0.0)


def test_the_norm_of_a_block():
    rng = np.random.default_rng(3)
    for block in rng.normal(size=(50, 2, 2)):
        assert norm(block) == pytest.approx(np.linalg.norm(block, 2), rel=1e-14, abs=0.0)
    assert norm(np.zeros((2, 2))) == 0.0


def test_one_agent_alone_waits_for_what_its_own_motion_does():
    """N = 1: dc/dx = 0, so the hold error grows at the rate k1 |eta| / reach."""
    box = dwell.Box((0.0, 0.0), (2.0, 1.0))
    for x, error in ((0.9, 0.1), (0.2, 0.8)):
        run = dwell.simulate(box, None, [(x, 0.5)], law(t2=50.0), until=0.01)
        speed = 0.5 * min(1.0, error / law().reach)
        expected = 0.2 / (0.5 / max(error, law().reach) * speed)
        assert run.start.segments.next_at[0] == pytest.approx(expected, rel=1e-9, abs=0.0)


def test_velocities_that_are_given_use_up_a_part_of_the_limit():
    """N = 1: with the hold h and the error e the hold error begins at |h - k1 e / reach|."""
    box = dwell.Box((0.0, 0.0), (2.0, 1.0))
    reach = law().reach
    for hold, error in (((0.125, 0.0), 0.1), ((0.3, 0.2), 0.2), ((-0.4, 0.0), 0.1)):
        timer = law(t2=50.0, initial_hold=(hold,))
        run = dwell.simulate(box, None, [(1.0 - error, 0.5)], timer, until=0.01)
        began = math.hypot(hold[0] - 0.5 * error / reach, hold[1])
        rate = 0.5 / reach * math.hypot(*hold)
        expected = max((0.2 - began) / rate, 0.01)
        assert run.start.segments.next_at[0] == pytest.approx(expected, rel=1e-9, abs=0.0)
        if began < 0.2:
            whole = dwell.simulate(box, None, [(1.0 - error, 0.5)], timer, until=1.2 * expected)
            assert whole.events.hold_error[0] <= 0.2 * (1.0 + 1e-9)


def test_a_limit_that_cannot_be_kept_is_told():
    """Timers are never shorter than t1, even if the limit would ask for it."""
    site, start = dwell.Box((0, 0), (1, 1)), [(0.2, 0.3), (0.7, 0.6), (0.4, 0.8)]
    hasty = Timer(k1=5.0, nu=0.5, t1=0.2, t2=2.0, reset="adaptive", eta_max=0.1)
    run = dwell.simulate(site, None, start, hasty, until=3.0, seed=1)
    figures = run.summary()
    assert figures["hold_error"]["max"] > 1.0
    assert figures["hold_error"]["limit"] == 0.1
    flags = {flag["code"]: flag["says"] for flag in figures["flags"]}
    assert "above the timers' own eta_max = 0.1" in flags["hold-error-exceeded"]
    assert "cut off at t1" in flags["adaptive-floor"]
    report = dwell.check(run)
    assert report.ok
    found = {finding.name: finding for finding in report.certificate}
    for name in ("hold-limit", "adaptive-limit"):
        assert found[name].status == "violated"
        assert found[name].worst == figures["hold_error"]["max"]
        assert found[name].where.startswith("agent ")
    good = dwell.simulate(BOX, HILL, START, law(), until=3.0).summary()
    assert not {flag["code"] for flag in good["flags"]} & {"hold-error-exceeded", "adaptive-floor"}


def test_both_limits_are_checked():
    from dwell.verify.run_certificate import held_against

    run = dwell.simulate(BOX, HILL, START, law(eta_max=0.1, t1=0.3), until=5.0)
    assumed = {"eta_max": 0.45, "lipschitz": 5.0}
    found = {f.name: f for f in held_against(run.details.recorded, assumed)}
    assert (found["hold-limit"].status, found["hold-limit"].limit) == ("holds", 0.45)
    assert (found["adaptive-limit"].status, found["adaptive-limit"].limit) == ("violated", 0.1)


@pytest.mark.parametrize("eta_max", [0.02, 0.1, 0.3])
def test_the_hold_error_keeps_to_its_limit(eta_max):
    run = dwell.simulate(BOX, HILL, START, law(eta_max=eta_max), until=6.0, sample_every=0.02)
    seen = max(run.events.hold_error.max(), run.metrics.hold_errors.max())
    assert 0.05 * eta_max < seen <= eta_max
    assert dwell.check(run).ok
    gaps = run.events.next_at - run.events.time
    assert gaps.min() >= 0.01 - 1e-12
    assert gaps.max() <= 0.7 + 1e-12


def test_a_tighter_limit_looks_more_often():
    counts = [
        len(dwell.simulate(BOX, HILL, START, law(eta_max=eta), until=5.0).events)
        for eta in (0.02, 0.1, 0.4)
    ]
    assert counts[0] > counts[1] > counts[2]


def test_it_needs_far_fewer_looks_than_timers_of_the_admissible_size(heptagon, thirty):
    """The paper's 30 agents: the theorem allows T2 = 0.0358 at most."""
    site, hill = dwell.Polygon(heptagon), dwell.Gaussian((7.5, 4.5), 0.03)
    adaptive = Timer(k1=0.525, nu=0.7, t1=0.01, t2=0.6, reset="adaptive", eta_max=0.4)
    fixed = Timer(k1=0.525, nu=0.7, t1=0.01, t2=0.03)
    one, two = (
        dwell.simulate(site, hill, thirty, timer, until=50.0, seed=1, sample_every=0.5)
        for timer in (adaptive, fixed)
    )
    assert 5 * len(one.events) < len(two.events)
    assert max(one.events.hold_error.max(), one.metrics.hold_errors.max()) <= 0.4
    assert one.metrics.costs[-1] == pytest.approx(two.metrics.costs[-1], rel=0.01)


def test_adaptive_timers_keep_their_limit_in_space():
    law = Timer(k1=0.5, nu=0.3, t1=0.01, t2=3.0, reset="adaptive", eta_max=0.3)
    start = [(1, 1, 1), (3, 2, 1), (2, 0.5, 0.4), (0.5, 2.5, 1.5)]
    run = dwell.simulate(dwell.Box((0, 0, 0), (4, 3, 2)), None, start, law, until=8.0, seed=1)
    assert run.events.hold_error.max() <= 0.3
    assert len(run.events) < 8.0 / 0.01 / 10
    assert dwell.check(run).ok
