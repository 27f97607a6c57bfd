"""The theory beyond polygons: derivatives against differences, rates against runs."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Gaussian, Interval, Lloyd, Polynomial, Polytope, Timer, Uniform
from dwell.theory.decay import observe, predict
from dwell.theory.derivatives import derivatives
from dwell.theory.lipschitz import lipschitz_at
from dwell.theory.rates import rates, rates_near, rates_of

CUBE = Box((0, 0, 0), (4, 3, 2))
WEDGE = Polytope([(0, 0, 0), (3, 0, 0), (0, 3, 0), (0, 0, 2), (3, 0, 2), (0, 3, 2)])

WORLDS = {
    "line": (Interval(0, 5), [[0.4], [1.1], [2.9], [4.5]], Gaussian((2,), rate=0.3)),
    "line-polynomial": (Interval(0, 5), [[0.4], [2.9], [4.5]], Polynomial([(0, 1.0), (2, 0.3)])),
    "cube": (CUBE, [(1, 1, 1), (3, 2, 1), (2, 0.5, 0.4), (0.5, 2.5, 1.5), (3.5, 0.7, 1.6)], None),
    "hill": (CUBE, [(1, 1, 1), (3, 2, 1), (2, 0.5, 0.4)], Gaussian((3, 2, 1), rate=0.3)),
    "wedge": (WEDGE, [(0.5, 0.5, 0.5), (1.5, 0.6, 1.2), (0.4, 1.7, 1.4)], None),
    "disc": (Ball((0, 0), 3), [(1, 1), (-1, 0.4), (0.3, -1.5), (1.4, -0.6)], Gaussian((1, 1), 0.3)),
}  # fmt: skip


def central_differences(site, places, weight, step=1e-5):
    places = np.array(places, dtype=float)
    rows = []
    for k in range(places.size):
        move = np.zeros(places.size)
        move[k] = step
        ends = [
            dwell.tessellate(site, places + sign * move.reshape(places.shape), weight).centroids
            for sign in (1.0, -1.0)
        ]
        rows.append((ends[0] - ends[1]).ravel() / (2.0 * step))
    return np.array(rows).T


@pytest.mark.parametrize("world", WORLDS)
def test_derivatives_of_the_centroids(world):
    site, places, weight = WORLDS[world]
    weight = Uniform() if weight is None else weight
    found = derivatives(site, np.array(places, dtype=float), weight)
    expected = central_differences(site, places, weight)
    assert found.jacobian.toarray() == pytest.approx(expected, abs=1e-7)
    hessian = found.hessian.toarray()
    assert hessian == pytest.approx(hessian.T, abs=1e-9)


def test_two_agents_in_a_bar_have_the_eigenvalues_of_a_rectangle_twice_over():
    """Side by side in a bar 1 x w x h: 0 (thrice), 1/2, 2 w^2 / 3 and 2 h^2 / 3."""
    wide, high = 0.8, 1.1
    bar = Box((0, 0, 0), (1, wide, high))
    pair = [(0.25, wide / 2, high / 2), (0.75, wide / 2, high / 2)]
    found = np.sort(rates(bar, None, pair).spectrum)
    expected = np.sort([0.0, 0.0, 0.0, 0.5, 2 * wide**2 / 3, 2 * high**2 / 3])
    assert found == pytest.approx(expected, abs=1e-10)


def test_two_agents_on_a_line():
    """Only their border moves: each centroid by half of it, and that by half of either agent."""
    found = rates(Interval(0, 1), None, [[0.25], [0.75]])
    assert found.spectrum == pytest.approx([0.5, 0.0], abs=1e-14)
    assert lipschitz_at(Interval(0, 1), [[0.25], [0.75]], Uniform()).value == pytest.approx(
        np.hypot(0.25, 0.25), abs=1e-14
    )


def test_a_disc_can_be_turned():
    found = rates_near(Ball((1, 2), 2), None, [(1.5, 2.0), (0.6, 2.8), (0.5, 1.3)])
    assert found.kind == "degenerate"
    assert found.neutral == 1


@pytest.mark.parametrize(
    ("site", "start", "weight"),
    [
        (Interval(0, 5), [[0.4], [1.1], [2.9]], Gaussian((2,), rate=0.3)),
        (Box((0, 0, 0), (2, 1, 1)), [(0.4, 0.5, 0.5), (1.2, 0.4, 0.6)], None),
    ],
    ids=["line", "space"],
)
def test_runs_decay_as_foretold(site, start, weight):
    law = Lloyd(k2=1.0, dt=0.05)
    run = dwell.simulate(site, weight, start, law, until=40.0, seed=1, sample_every="off")
    found = rates_of(run)
    seen = observe(run, found, predict(found, law))
    assert seen.rate == pytest.approx(predict(found, law).rate, rel=0.02)


def test_adaptive_timers_keep_their_limit_in_space():
    law = Timer(k1=0.5, nu=0.3, t1=0.01, t2=3.0, reset="adaptive", eta_max=0.3)
    start = [(1, 1, 1), (3, 2, 1), (2, 0.5, 0.4), (0.5, 2.5, 1.5)]
    run = dwell.simulate(CUBE, None, start, law, until=8.0, seed=1)
    assert run.events.hold_error.max() <= 0.3
    assert len(run.events) < 8.0 / 0.01 / 10
    assert dwell.check(run).ok


HYPERCUBE = Box([0] * 4, [1] * 4)
PAIR = [[0.3, 0.4, 0.5, 0.5], [0.6, 0.6, 0.5, 0.4]]


@pytest.mark.parametrize(
    ("site", "start", "weight", "told"),
    [
        (HYPERCUBE, PAIR, Gaussian([0.4] * 4, rate=2.0), True),
        (HYPERCUBE, PAIR, None, False),
        (Ball([0.5] * 4, 0.6), PAIR, Gaussian([0.4] * 4, rate=2.0), True),
        (CUBE, [(1, 1, 1), (3, 2, 1)], Gaussian((3, 2, 1), rate=0.3), False),
        (Box((0, 0), (1, 1)), [(0.2, 0.3), (0.6, 0.5)], Gaussian((0.5, 0.5), 9.0), False),
    ],
    ids=["hill", "uniform", "rays", "space", "plane"],
)
def test_a_run_tells_how_well_cells_could_be_weighed(site, start, weight, told):
    law = Timer(k1=0.2, nu=0.2, t1=0.2, t2=0.5)
    run = dwell.simulate(site, weight, start, law, until=0.3, seed=1, sample_every="off")
    says = [flag.says for flag in run.flags if flag.code == "quadrature"]
    assert len(says) == told
    pattern = r"Masses of cells, and so centroids, are only known to \S+ of themselves\."
    assert all(re.fullmatch(pattern, text) for text in says)


def test_planar_runs_are_not_weighed_again_for_their_flags(monkeypatch):
    from dwell.verify import flags

    law = Timer(k1=0.2, nu=0.2, t1=0.2, t2=0.5)
    start = [(0.2, 0.3), (0.6, 0.5)]
    run = dwell.simulate(Box((0, 0), (1, 1)), None, start, law, until=0.3, seed=1)
    monkeypatch.setattr(flags, "measure_cells", None)
    assert "quadrature" not in {flag.code for flag in run.flags}
