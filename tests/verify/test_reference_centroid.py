"""Reference centroids are right, by closed forms and by the kernels, or there are none."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Ellipsoid, Gaussian, Interval, Mixture, Polynomial, Uniform
from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import weighted_region
from dwell.verify.reference_centroid import reference_centroid

SQUARE = Box((0, 0), (1, 1))
CUBE = Box((0, 0, 0), (4, 3, 2))
LINE = Interval(-1, 4)
DISC = Ball((1, 2), 3)
THIRTY = [(math.sqrt(0.75), 0.5), (-0.5, math.sqrt(0.75))]
ELLIPSE = Ellipsoid((5, -2), (3, 1), THIRTY)


def mean(rate: float, center: float) -> float:
    """Of exp(-rate (x - center)**2) over [0, 1]."""
    import mpmath

    with mpmath.workdps(40):
        k, c = mpmath.mpf(rate), mpmath.mpf(center)
        a, b = mpmath.sqrt(k) * -c, mpmath.sqrt(k) * (1 - c)
        mass = mpmath.sqrt(mpmath.pi) / 2 * (mpmath.erf(b) - mpmath.erf(a)) / mpmath.sqrt(k)
        first = (mpmath.exp(-a * a) - mpmath.exp(-b * b)) / (2 * k)
        return float(c + first / mass)


@pytest.mark.parametrize("rate", [0.5, 50.0, 500.0, 5e3, 1e5, 1e7])
@pytest.mark.parametrize("center", [(0.0, 0.0), (0.31, 0.72), (1.02, 0.4), (0.5, -0.01)])
def test_a_peak_on_a_square(rate: float, center: tuple[float, float]) -> None:
    own = np.array([(0.4, 0.45)])
    found = reference_centroid(SQUARE, own, 0, Gaussian(center, rate))
    if found is None:
        assert rate * max(abs(c - min(max(c, 0.0), 1.0)) for c in center) ** 2 > 600.0
        return
    assert own[0] + found == pytest.approx([mean(rate, c) for c in center], abs=2e-11)


@pytest.mark.parametrize(
    ("site", "places", "expected"),
    [
        (LINE, [[0.0], [2.0]], [0.0]),
        (CUBE, [(1, 1, 1), (3, 1, 1)], [0.0, 0.5, 0.0]),
        (DISC, [(0, 2), (2, 2)], [1.0 - 4.0 / math.pi, 0.0]),
        (ELLIPSE, [(4, -2)], [1.0, 0.0]),
    ],
    ids=["interval", "half a cube", "half a disc", "ellipse"],
)
def test_uniform_densities_in_closed_form(site, places, expected):
    found = reference_centroid(site, np.array(places, float), 0, Uniform())
    assert found == pytest.approx(expected, abs=1e-13)


def kernel(site, places, density, agent):
    ground = weighted_region(site, density)
    return measure_cells(ground, places[None], np.zeros(1, int), np.array([agent])).error[0]


SEVERAL = Mixture([
    Gaussian((0.2, 0.2), 1e3), Gaussian((0.25, 0.21), 1e6, weight=300.0), Gaussian((0.8, 0.8), 1e2)
])  # fmt: skip
TRIPLE = np.array([(0.2, 0.3), (0.7, 0.6), (0.4, 0.8)])
WORLDS = {
    "peaks": (SQUARE, SEVERAL, TRIPLE),
    "line-gaussian": (LINE, Gaussian((1.0,), rate=3.0), None),
    "line-polynomial": (LINE, Polynomial([(0, 1.0), (2, 0.5)]), None),
    "cube": (CUBE, Uniform(), None),
    "cube-gaussian": (CUBE, Gaussian((3, 2, 1), rate=0.5), None),
    "disc-gaussian": (DISC, Gaussian((2, 3), rate=20.0), None),
    "ellipse-gaussian": (ELLIPSE, Gaussian((5, -2), rate=50.0), None),
    "short-edge": (
        Ball((0, 0), 1), Uniform(), np.array([(0, 0), (0.8, 0), (0, 0.8), (0.7998, 0.7998)])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
def test_other_code_agrees(name):
    site, density, places = WORLDS[name]
    lower, upper = site.bounds
    drawn = np.random.default_rng(2).uniform(lower, upper, (30, site.dimension))
    places = drawn[site.contains(drawn)][:8] if places is None else places
    for p in range(0, len(places), 2):
        found = reference_centroid(site, places, p, density)
        assert found == pytest.approx(kernel(site, places, density, p), abs=1e-11)


@pytest.mark.parametrize(
    "site", [SQUARE, CUBE, DISC, ELLIPSE], ids=["square", "cube", "disc", "ellipse"]
)
def test_agents_anywhere(site):
    """On and beyond the boundary, and so close together that cells are thin."""
    lower, upper = site.bounds
    rng, size = np.random.default_rng(1), upper - lower
    outside = lower + rng.uniform(-0.1, 1.1, (8, len(size))) * size
    middle = 0.5 * (lower + upper)
    cluster, crowd = (
        middle + gap * rng.normal(size=(6, len(size))) * size for gap in (1e-9, 1e-12)
    )
    column = np.linspace(-1e-6, 1e-6, 5)[:, None] * np.eye(len(size))[0] + middle
    facet = np.vstack([outside, cluster])
    facet[:, 0] = lower[0]
    for places in (outside, cluster, crowd, column, facet):
        for p in range(0, len(places), 2):
            found = reference_centroid(site, places, p, Uniform())
            if found is not None:
                assert found == pytest.approx(kernel(site, places, Uniform(), p), abs=1e-11)
    assert found is not None


def test_one_of_many():
    places = np.random.default_rng(1).uniform(0.2, 0.8, (3000, 2))
    found = reference_centroid(SQUARE, places, 7, Uniform())
    assert found == pytest.approx(kernel(SQUARE, places, Uniform(), 7), abs=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_far_from_the_origin_no_digit_is_lost(n):
    """Shifted by 2**30 without rounding, as places are multiples of 2**-10."""
    places = np.random.default_rng(n).integers(1, 1023, (6, n)) / 1024.0
    hill = Gaussian((0.25,) * n, rate=20.0)
    here = Box((0,) * n, (1,) * n) if n > 1 else Interval(0, 1)
    far = 2.0**30
    there = Box((far,) * n, (far + 1,) * n) if n > 1 else Interval(far, far + 1)
    for density, moved in (
        (hill, Gaussian((far + 0.25,) * n, rate=20.0)),
        (Mixture([Uniform(0.1), hill]), Mixture([Uniform(0.1), Gaussian((far + 0.25,) * n, 20.0)])),
    ):
        for p in range(0, len(places), 3):
            found = reference_centroid(there, places + far, p, moved)
            assert found == pytest.approx(reference_centroid(here, places, p, density), abs=1e-14)


KERNELS = """
import sys
import numpy as np
from dwell import Ball, Box, Gaussian, Interval
from dwell.verify.reference_centroid import reference_centroid

for site in (Interval(0, 1), Box((0, 0), (1, 1)), Box((0,) * 3, (1,) * 3), Ball((0.5, 0.5), 0.5)):
    n = site.dimension
    places = np.linspace(0.3, 0.7, 3)[:, None] * np.ones(n)
    assert reference_centroid(site, places, 1, Gaussian((0.4,) * n, rate=3.0)) is not None
print(*(name for name in sys.modules if name.startswith("dwell._kernels.")))
"""


def test_no_kernel_of_cells_is_used():
    done = subprocess.run([sys.executable, "-c", KERNELS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {name.split(".")[2] for name in done.stdout.split()} <= {"common"}


def test_there_is_none_where_it_would_not_be_sure():
    steps = dwell.density.as_density(lambda z: np.floor(37.0 * (z[..., 0] + 0.3 * z[..., 1])) % 2)
    assert reference_centroid(SQUARE, np.array([(0.5, 0.5)]), 0, steps) is None
    pair = np.array([(0.9, 1.0, 1.0), (3.0, 1.0, 1.0)])
    assert reference_centroid(CUBE, pair, 0, Gaussian((1, 1, 1), rate=1e5)) is None
    far = np.array([(5.0, 0.5), (0.2, 0.5)])
    assert reference_centroid(SQUARE, far, 0, Uniform()) is None  # its cell is empty
    assert reference_centroid(SQUARE, TRIPLE[[0, 0, 1]], 0, Uniform()) is None
    for beyond in (Box((0,) * 4, (1,) * 4), Ball((0, 0, 0), 1)):
        alone = np.full((1, beyond.dimension), 0.4)
        assert reference_centroid(beyond, alone, 0, Uniform()) is None


LAW = dwell.Timer(k1=0.5, nu=0.5, t1=0.02, t2=0.05)


@pytest.mark.parametrize("rate", [500.0, 5000.0])
def test_runs_with_steep_densities_are_solutions(rate: float) -> None:
    run = dwell.simulate(SQUARE, Gaussian((0, 0), rate), TRIPLE, LAW, until=0.06, seed=1)
    report = dwell.check(run)
    assert report.ok
    (found,) = [f for f in report.findings if f.name == "by-hand"]
    assert found.status == "holds"


def test_cells_far_out_in_a_tail_are_left_out() -> None:
    run = dwell.simulate(SQUARE, Gaussian((40, 40), 1.0), TRIPLE[:2], LAW, until=0.2, seed=1)
    report = dwell.check(run)
    assert report.ok
    (found,) = [f for f in report.findings if f.name == "by-hand"]
    assert found.status == "not applicable"
    assert "weigh too little" in found.where
    assert math.isfinite(found.worst)


@pytest.mark.parametrize("gap", [1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4])
def test_agents_that_crowd_in_a_corner_have_the_right_reference_or_none(gap):
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    for corner in ([0.0, 0.0], [0.0, 1.5], [4.0, 0.0], [4.0, 3.0]):
        inward = np.where(np.array(corner) > 1.6, -1.0, 1.0)
        points = np.array(corner) + gap * square * inward
        cells = dwell.tessellate(dwell.Box((0, 0), (4, 3)), points)
        for agent, centroid in enumerate(cells.centroids - points):
            reference = reference_centroid(cells.workspace, points, agent, dwell.Uniform())
            if reference is None:
                assert gap < 1e-5
            else:
                assert np.abs(reference - centroid).max() < 1e-11
