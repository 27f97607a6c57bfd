"""Laws of runs: the analytic cases of the timer law, equivariance, bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell import Box, Gaussian, Polygon, Timer, Uniform, simulate, tessellate
from dwell.scenario import apply_overrides, parse_scenario, template_text, text_to_mapping
from tests.conftest import differing

SQUARE = Box((0.0, 0.0), (1.0, 1.0))
HILL, LAW = Gaussian((0.7, 0.6), 3.0), Timer(0.3, 0.2, 0.1, 0.3)
FIVE = np.array([(0.1, 0.2), (0.3, 0.15), (0.25, 0.4), (0.5, 0.3), (0.8, 0.7)])


def template(name, *overrides):
    return parse_scenario(apply_overrides(text_to_mapping(template_text(name)), overrides))


# One agent


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (Timer(k1=0.2, nu=2.0, t1=0.5, t2=0.5), lambda e: e * (1.0 - 0.05 / (1.0 - 1e-8))),
        (Timer(k1=0.1, nu=0.01, t1=0.5, t2=0.5), lambda e: e - 0.05),
    ],
    ids=["unsaturated: by a factor", "saturated: by k1 T"],
)
def test_a_hold_shrinks_the_error_by_a_known_amount(law, expected):
    run = simulate(SQUARE, None, [(0.1, 0.3)], law, until=2.0)
    errors = run.errors(np.arange(5) * 0.5)[:, 0]
    assert errors[1:] == pytest.approx(expected(errors[:-1]), rel=1e-13, abs=0.0)


# Known dynamics


def test_two_agents_on_a_line_of_symmetry():
    """In [0,1] with x1 + x2 = s: c1 = s/4 and c2 = s/4 + 1/2 (the y axis plays no part)."""
    cells = tessellate(SQUARE, [(0.2, 0.5), (0.6, 0.5)])
    assert cells.centroids[:, 0] == pytest.approx([0.2, 0.7], rel=1e-15, abs=0.0)
    law = Timer(k1=1.0, nu=1.0, t1=0.05, t2=0.05)
    run = simulate(SQUARE, None, [(0.2, 0.5), (0.6, 0.5)], law, until=40.0)
    assert run.positions(40.0)[:, 0] == pytest.approx([0.25, 0.75], abs=1e-8)


@pytest.mark.parametrize(("w", "leaves"), [(1.1, False), (1.4, True)])
def test_a_saddle_is_left_and_a_minimum_is_kept(w, leaves):
    """Agents side by side in [0,1] x [0,w]: a strict minimum for w < sqrt(3/2), a saddle above."""
    box = Box((0.0, 0.0), (1.0, w))
    start = [(0.25, w / 2 + 1e-4), (0.75, w / 2 - 1e-4)]
    law = Timer(k1=1.0, nu=1.0, t1=0.2, t2=0.2)
    run = simulate(box, None, start, law, until=400.0, sample_every="off")
    turned = np.abs(run.positions(400.0)[:, 1] - w / 2).max()
    assert bool(turned > 0.1) == leaves
    if not leaves:
        assert turned < 1e-4


def test_one_step_of_discrete_lloyd():
    """With reach = k1 T and errors within reach, one synchronous hold leads exactly to c."""
    law = Timer(k1=1.0, nu=1.0, epsilon=1e-9, t1=1.0 - 1e-9, t2=1.0 - 1e-9)
    cells = tessellate(SQUARE, FIVE)
    run = simulate(SQUARE, None, FIVE, law, until=1.0 - 1e-9)
    assert run.positions(1.0 - 1e-9) == pytest.approx(cells.centroids, abs=1e-15)


def test_short_intervals_approach_the_continuous_law_at_first_order():
    def end(t):
        law = Timer(k1=0.3, nu=0.3, t1=t, t2=t)
        run = simulate(SQUARE, None, FIVE, law, until=2.0, sample_every="off")
        return run.positions(2.0)

    finest = end(2.0**-12)
    gaps = [np.abs(end(2.0**-k) - finest).max() for k in (4, 5, 6)]
    rates = [math.log2(gaps[i] / gaps[i + 1]) for i in range(2)]
    assert rates == pytest.approx([1.0, 1.0], abs=0.1)


# Invariants of any run


@pytest.fixture(scope="module")
def run():
    return dwell.run_scenario(template("paper-12", "run.horizon=40"))


def test_intervals_lie_between_t1_and_t2(run):
    for p in range(run.agents):
        gaps = np.diff(run.events.time[run.events.of_agent(p)])
        assert (gaps >= 0.2 - 1e-14).all()
        assert (gaps <= 0.65 + 1e-14).all()


def test_the_hold_error_vanishes_right_after_a_sample_and_the_cost_is_continuous(run):
    for j in (1, 13, 200):
        event = run.arc.events[j - 1]
        assert (run.arc.before(j).positions == run.arc.after(j).positions).all()
        assert run.hold_errors(event.time)[event.source] == 0.0


def test_inside_holds_too(run):
    """A fine scan of single holds finds nothing above the recorded largest hold error."""
    seen = max(run.events.hold_error.max(), run.metrics.hold_errors.max())
    fine = run.hold_errors(np.linspace(5.0, 6.0, 400)).max()
    assert fine <= seen * (1 + 1e-9)
    assert seen <= 2 * run.system.controller.k1


def test_positions_between_events_are_straight_lines(run):
    t = np.linspace(0.0, 40.0, 997)
    speed = np.hypot(*np.moveaxis(np.diff(run.positions(t), axis=0), -1, 0)) / np.diff(t)[:, None]
    assert speed.max() <= run.system.controller.k1 * (1 + 1e-9)


def test_reached_at_is_the_last_time_an_error_exceeds_nu(run):
    assert run.errors(run.reached_at - 1e-6).max() > 0.5
    later = np.linspace(run.reached_at + 1e-6, run.horizon, 500)
    assert run.errors(later).max() <= 0.5


def test_distance_is_the_length_of_the_path(run):
    t = np.concatenate([[0.0], np.unique(run.events.time), [run.horizon]])
    steps = np.diff(run.positions(t), axis=0)
    assert run.counters.distance == pytest.approx(
        np.hypot(*np.moveaxis(steps, -1, 0)).sum(axis=0), rel=1e-12
    )


def test_agents_that_do_not_overshoot_stay_inside(run):
    assert run.workspace.contains(run.positions(np.linspace(0, 40, 500)).reshape(-1, 2)).all()


# The same bits


def test_permuting_agents_permutes_the_run():
    order = np.array([3, 0, 4, 1, 2])
    plain = simulate(SQUARE, HILL, FIVE, LAW, until=9.0, seed=4)
    mixed = simulate(SQUARE, HILL, FIVE[order], LAW, until=9.0, seed=4, ids=tuple(order.tolist()))
    assert (mixed.positions(9.0) == plain.positions(9.0)[order]).all()
    assert (mixed.metrics.errors == plain.metrics.errors[:, order]).all()
    assert (mixed.metrics.costs == plain.metrics.costs).all()


def test_scaling_space_by_a_power_of_two_scales_the_run():
    s = 2.0**9
    plain = simulate(SQUARE, HILL, FIVE, LAW, until=9.0, seed=4)
    hill, law = Gaussian((0.7 * s, 0.6 * s), 3.0 / s**2), Timer(0.3 * s, 0.2 * s, 0.1, 0.3)
    large = simulate(Box((0, 0), (s, s)), hill, FIVE * s, law, until=9.0, seed=4)
    assert (large.positions(9.0) == plain.positions(9.0) * s).all()
    assert (large.metrics.costs == plain.metrics.costs * s**4).all()


def test_slowing_time_by_a_power_of_two_keeps_the_path():
    slow = simulate(SQUARE, None, FIVE, Timer(0.15, 0.2, 0.2, 0.6), until=8.0, seed=4)
    fast = simulate(SQUARE, None, FIVE, LAW, until=4.0, seed=4)
    assert (slow.positions(8.0) == fast.positions(4.0)).all()
    named = simulate(SQUARE, Uniform(), FIVE, LAW, until=4.0, seed=4)
    assert differing(fast.events, named.events) == []  # the density is uniform by default


def test_any_number_of_threads_gives_the_same_bits():
    scenario = template("paper-12", "run.horizon=10", "run.record.sample_every=0.01")
    one, two = (dwell.run_scenario(scenario, threads=n) for n in (1, 2))
    for name in ("errors", "hold_errors", "costs", "separations"):
        assert getattr(one.metrics, name).tobytes() == getattr(two.metrics, name).tobytes()
    assert differing(one.events, two.events) == []


def test_a_mirrored_world_stays_mirrored():
    """Symmetric about the diagonal, synchronous: swapping x and y swaps the agents for ever."""
    start = np.array([(0.2, 0.6), (0.6, 0.2), (0.8, 0.8)])
    law = Timer(k1=0.3, nu=0.2, t1=0.25, t2=0.25)
    run = simulate(SQUARE, Gaussian((0.6, 0.6), 2.0), start, law, until=20.0)
    end = run.positions(20.0)
    assert end[0] == pytest.approx(end[1][::-1], abs=1e-13)


# The paper


def test_the_papers_first_simulation():
    paper = dwell.run_scenario(template("paper-30"))
    summary = paper.summary()
    assert 220_000 < summary["events"]["total"] < 230_000
    assert 199.0 <= summary["cost"]["final"] <= 203.0
    assert summary["coverage"]["reached_at"] <= 60.0
    assert summary["hold_error"]["max"] <= 0.4
    assert paper.metrics.errors[paper.metrics.times >= 60.0].max() <= 0.7
    assert summary["cells"]["voronoi"] == summary["events"]["total"] + 30
    # Agents that start close together: the constant that the theorem assumes is exceeded.
    assert [flag["code"] for flag in summary["flags"]] == ["certificate-void"]
    assert dwell.check(paper).ok


def test_the_grid_freezes_the_cells():
    """On a point grid the errors fall to rounding level, which exact integrals do not allow."""
    overrides = ("run.horizon=120", "run.record.sample_every=1.0")
    grid = 'run.integration={kind="grid", spacing=0.25}'
    exact, frozen = (
        dwell.run_scenario(template("paper-12", *overrides, *more)) for more in ((), (grid,))
    )
    assert exact.metrics.errors[-1].max() > 1e-5
    assert frozen.metrics.errors[-1].max() < 1e-11


def test_a_python_function_and_the_same_gaussian_give_nearly_the_same_run():
    law = Timer(k1=0.3, nu=0.2, t1=0.4, t2=0.6)
    exact, called = (
        simulate(SQUARE, density, FIVE, law, until=2.0, sample_every=1.0)
        for density in (HILL, HILL.at)
    )
    assert called.positions(2.0) == pytest.approx(exact.positions(2.0), abs=1e-9)
    assert called.metrics.costs == pytest.approx(exact.metrics.costs, rel=1e-9, abs=0.0)
    assert dwell.check(called).ok


def test_a_turned_heptagon_turns_the_run(heptagon, twelve):
    c, s = math.cos(0.7), math.sin(0.7)
    turn = np.array([(c, s), (-s, c)])
    law = Timer(k1=0.5, nu=0.5, t1=0.2, t2=0.65)
    plain = simulate(Polygon(heptagon), Gaussian((7.5, 4.5), 0.03), twelve, law, until=5.0)
    center = tuple(np.array([7.5, 4.5]) @ turn)
    turned = simulate(
        Polygon(heptagon @ turn), Gaussian(center, 0.03), twelve @ turn, law, until=5.0
    )
    assert turned.positions(5.0) == pytest.approx(plain.positions(5.0) @ turn, abs=1e-11)
