"""The second opinion on centroids must itself be right, or say that it cannot tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.verify.oracle import plain_centroid

SQUARE = dwell.Box((0, 0), (1, 1))


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
    found = plain_centroid(SQUARE.vertices, own, 0, dwell.Gaussian(center, rate))
    if found is None:
        assert rate * max(abs(c - min(max(c, 0.0), 1.0)) for c in center) ** 2 > 600.0
        return
    assert own[0] + found == pytest.approx([mean(rate, c) for c in center], abs=2e-11)


def test_several_peaks_of_different_size() -> None:
    parts = [
        dwell.Gaussian((0.2, 0.2), 1e3),
        dwell.Gaussian((0.25, 0.21), 1e6, weight=300.0),
        dwell.Gaussian((0.8, 0.8), 1e2),
    ]
    places = np.array([(0.2, 0.3), (0.7, 0.6), (0.4, 0.8)])
    cells = dwell.tessellate(SQUARE, places, dwell.Mixture(parts))
    for p in range(3):
        found = plain_centroid(SQUARE.vertices, places, p, dwell.Mixture(parts))
        assert found == pytest.approx(cells.errors[p], abs=1e-11)


def test_what_is_too_rough_is_not_told() -> None:
    steps = dwell.density.as_density(lambda z: np.floor(37.0 * (z[..., 0] + 0.3 * z[..., 1])) % 2)
    assert plain_centroid(SQUARE.vertices, np.array([(0.5, 0.5)]), 0, steps) is None


@pytest.mark.parametrize("rate", [500.0, 5000.0])
def test_runs_on_steep_hills_are_solutions(rate: float) -> None:
    start = [(0.2, 0.3), (0.7, 0.6), (0.4, 0.8)]
    law = dwell.Timer(k1=0.5, nu=0.5, t1=0.02, t2=0.05)
    run = dwell.simulate(SQUARE, dwell.Gaussian((0, 0), rate), start, law, until=0.3, seed=1)
    report = dwell.check(run)
    assert report.ok
    (found,) = [f for f in report.findings if f.name == "by-hand"]
    assert found.status == "holds"


def test_cells_far_out_in_a_tail_are_left_out() -> None:
    start = [(0.2, 0.3), (0.7, 0.6)]
    law = dwell.Timer(k1=0.5, nu=0.5, t1=0.02, t2=0.05)
    run = dwell.simulate(SQUARE, dwell.Gaussian((40, 40), 1.0), start, law, until=0.2, seed=1)
    report = dwell.check(run)
    assert report.ok
    (found,) = [f for f in report.findings if f.name == "by-hand"]
    assert found.status == "not applicable"
    assert "weigh too little" in found.where
    assert math.isfinite(found.worst)
