"""The time derivative of centroids: against differences, against an integral, in closed cases."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest

import dwell
from dwell.cells.backend import measure_cells
from dwell.cells.centroid_rate import centroid_rate, centroid_rates
from dwell.cells.weighted_region import changing_region
from dwell.density.moving import Moving, density_at
from dwell.errors import DensityError
from dwell.geometry import voronoi_cells
from dwell.geometry.moving import MovingPolygon
from dwell.motion import Circle, Keyframes

SQUARE = dwell.Box((0.0, 0.0), (4.0, 4.0))
FIVE = dwell.Polygon([(0, 0), (4, -0.5), (5, 2), (2, 4.5), (-0.5, 3)])
T = 1.7
PATH = Keyframes((0.0, 4.0), ((1.0, 1.0), (3.0, 2.0)))
FIELD = [(0, 0, 1.0), (1, 0, 0.3), (1, 2, 0.02), (0, 1, 0.1)]
LATER = [(0, 0, 2.0), (1, 0, 0.1), (1, 2, 0.07), (0, 1, 0.0)]
FLAT = (((2.0, 0.3), (0.3, 0.5)), ((0.7, -0.1), (-0.1, 0.9)))
PLANAR = {
    "center": Moving(dwell.Gaussian, center=PATH, rate=0.4),
    "circle": Moving(dwell.Gaussian, center=Circle((2.0, 2.0), 1.0, 5.0), rate=0.5, weight=3.0),
    "rate": Moving(dwell.Gaussian, center=(1.0, 2.5), rate=Keyframes((0.0, 4.0), (0.2, 0.9))),
    "weight": Moving(dwell.Gaussian, center=PATH, rate=0.4, weight=Keyframes((0, 4), (1, 9))),
    "covariance": Moving(dwell.Gaussian, center=PATH, covariance=Keyframes((0, 4), FLAT)),
    "polynomial": Moving(dwell.Polynomial, coefficients=Keyframes((0, 4), (FIELD, LATER))),
}
PLANAR["mixed"] = dwell.Mixture(
    (*(PLANAR[name] for name in ("center", "rate", "polynomial")), dwell.Uniform(0.2))
)
PLANAR["all together"] = dwell.Mixture(
    (*(PLANAR[name] for name in ("circle", "weight", "covariance", "rate")), dwell.Uniform(0.2))
)
PLANAR["falling weight"] = dwell.Mixture(
    (
        Moving(dwell.Gaussian, center=(3.0, 1.0), rate=0.6, weight=Keyframes((0, 4), (5, 2))),
        dwell.Uniform(0.7),
    )
)
LINEAR = {
    "center": Moving(dwell.Gaussian, center=Keyframes((0, 4), (1.0, 3.0)), rate=0.4),
    "rate": Moving(dwell.Gaussian, center=1.5, rate=Keyframes((0, 4), (0.2, 0.9)), weight=2.0),
    "covariance": Moving(dwell.Gaussian, center=(1.5,), covariance=Keyframes((0, 4), (0.5, 2.0))),
    "polynomial": Moving(
        dwell.Polynomial, coefficients=Keyframes((0, 4), ([(0, 1), (3, 0.2)], [(0, 2), (3, 0.1)]))
    ),
}
LINEAR["mixed"] = dwell.Mixture((*LINEAR.values(), dwell.Uniform(0.1)))
LINEAR["weight"] = dwell.Mixture(
    (
        Moving(dwell.Gaussian, center=1.5, rate=0.4, weight=Keyframes((0, 4), (5, 2))),
        dwell.Uniform(0.7),
    )
)
WIDENING = MovingPolygon(
    Keyframes((0, 4), (((0, 0), (4, 0), (4, 4), (0, 4)), ((-1, 0.5), (6, 0), (5, 4), (0, 5))))
)
CLOCKWISE = MovingPolygon(
    Keyframes((0, 4), (((0, 0), (0, 4), (4, 4), (4, 0)), ((-1, 0.5), (0, 5), (5, 4), (6, 0))))
)


def places(n: int, agents: int = 5) -> np.ndarray:
    return np.random.default_rng(n).uniform(0.3, 3.7, (agents, n))


def differences(ground: object, positions: np.ndarray, t: float) -> np.ndarray:
    """Central differences of all centroids, extrapolated from two steps."""
    every = np.arange(len(positions))

    def step(h: float) -> np.ndarray:
        times = np.array([t - h, t + h])
        row, agent = np.divmod(np.arange(2 * len(every)), len(every))
        seen = measure_cells(ground, np.stack([positions] * 2), row, agent, times=times)
        before, after = seen.error.reshape(2, *positions.shape)
        return (after - before) / (2.0 * h)

    return (4.0 * step(1e-3) - step(2e-3)) / 3.0


@pytest.mark.parametrize("site", [SQUARE, FIVE], ids=["square", "five"])
@pytest.mark.parametrize("name", PLANAR)
def test_planar_rates_are_differences(name, site):
    ground = changing_region(site, PLANAR[name])
    for agents in (1, 2, 5, 12):
        found = centroid_rates(ground, places(2, agents), T)
        assert np.abs(found - differences(ground, places(2, agents), T)).max() < 2e-10


@pytest.mark.parametrize("name", LINEAR)
def test_rates_on_the_line_are_differences(name):
    ground = changing_region(dwell.Interval(0.0, 4.0), LINEAR[name])
    for agents in (1, 2, 6):
        found = centroid_rates(ground, places(1, agents), T)
        assert np.abs(found - differences(ground, places(1, agents), T)).max() < 2e-10


@pytest.mark.parametrize("site", [WIDENING, CLOCKWISE], ids=["widening", "clockwise"])
@pytest.mark.parametrize("name", ["uniform", *PLANAR])
def test_moving_boundaries_count(name, site):
    ground = changing_region(site, PLANAR.get(name, dwell.Uniform()))
    for agents in (1, 5):
        found = centroid_rates(ground, places(2, agents), T)
        assert np.abs(found - differences(ground, places(2, agents), T)).max() < 2e-10


def test_a_box_that_moves_takes_its_centroid_along():
    corners = np.array([(0, 0), (2, 0), (2, 1), (0, 1)], dtype=float)
    site = MovingPolygon(Keyframes((0, 10), (corners, corners + np.array([3.0, -1.0]))))
    found = centroid_rate(changing_region(site, dwell.Uniform()), np.array([[1.0, 0.5]]), 0, 2.0)
    np.testing.assert_allclose(found, (0.3, -0.1), atol=1e-15)


def second_moments(vertices: np.ndarray, density: object, order: int = 40) -> tuple:
    """Mass, centroid and covariance over a polygon: a Gauss rule on each triangle of a fan."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    u, w = 0.5 * (1.0 + nodes), 0.5 * weights
    points, measure = [], []
    for a, b in pairwise([*vertices[1:], vertices[-1]][: len(vertices) - 1]):
        e, f = a - vertices[0], b - a
        area = abs(e[0] * f[1] - e[1] * f[0])
        r, s = np.meshgrid(u, u, indexing="ij")
        points.append(vertices[0] + (r[..., None] * e + (r * s)[..., None] * f).reshape(-1, 2))
        measure.append((area * r * np.outer(w, w)).ravel())
    z, m = np.concatenate(points), np.concatenate(measure)
    return z, m * density.at(z)


@pytest.mark.parametrize("seed", range(8))
def test_of_a_gaussian_it_is_twice_the_covariance_of_the_cell_times_the_form(seed):
    rng = np.random.default_rng(seed)
    start, end = rng.uniform(0.0, 4.0, (2, 2))
    density = Moving(
        dwell.Gaussian, center=Keyframes((0, 4), (start, end)), covariance=FLAT[seed % 2]
    )
    positions = rng.uniform(0.2, 3.8, (6, 2))
    now = density_at(density, T)
    for cell in voronoi_cells(FIVE, positions):
        z, weight = second_moments(cell.vertices, now)
        c = weight @ z / weight.sum()
        spread = (weight[:, None, None] * (z - c)[:, :, None] * (z - c)[:, None, :]).sum(axis=0)
        wanted = 2.0 * spread / weight.sum() @ now.matrix @ (end - start) / 4.0
        found = centroid_rate(changing_region(FIVE, density), positions, cell.agent, T)
        np.testing.assert_allclose(found, wanted, atol=1e-13)


def test_far_out_in_a_tail_on_the_line():
    """Against an integral of 60 digits; the mass is exp(-13800), and exponents round to 2e-12."""
    density = Moving(dwell.Gaussian, center=Keyframes((0, 4), (0.0, 2.0)), rate=100.0)
    ground = changing_region(dwell.Interval(0.0, 30.0), density)
    positions = np.array([[5.0], [20.5], [21.5]])
    found = float(centroid_rate(ground, positions, 1, 2.0)[0])
    with mpmath.workdps(60):
        lo, hi, q, mu = mpmath.mpf(12.75), mpmath.mpf(21), mpmath.mpf(100), mpmath.mpf(1)
        ends = [
            lo,
            lo + mpmath.mpf(1) / 1000,
            lo + mpmath.mpf(1) / 100,
            lo + mpmath.mpf(1) / 10,
            hi,
        ]

        def moment(k):
            return mpmath.quad(
                lambda z: (z - lo) ** k * mpmath.exp(-q * ((z - mu) ** 2 - (lo - mu) ** 2)), ends
            )

        m, f, g = (moment(k) for k in range(3))
        wanted = float(2 * q * (g / m - (f / m) ** 2) * mpmath.mpf(0.5))
    assert found == pytest.approx(wanted, abs=5e-12)
    assert wanted > 1e-5


def test_far_out_in_a_tail_of_the_plane():
    """The density is a product, so that the far cell of a box has the rates of two lines."""
    path = Keyframes((0, 4), ((0.0, 0.5), (2.0, 0.7)))
    density = Moving(dwell.Gaussian, center=path, rate=100.0)
    ground = changing_region(dwell.Box((0.0, 0.0), (30.0, 1.0)), density)
    positions = np.array([[5.0, 0.5], [20.5, 0.5]])
    found = centroid_rate(ground, positions, 1, 2.0)
    for k, (side, alone) in enumerate((((0.0, 30.0), [[5.0], [20.5]]), ((0.0, 1.0), [[0.5]]))):
        track = Keyframes((0, 4), [row[k] for row in path.values])
        line = changing_region(
            dwell.Interval(*side), Moving(dwell.Gaussian, center=track, rate=100.0)
        )
        wanted = centroid_rate(line, np.array(alone), len(alone) - 1, 2.0)[0]
        assert found[k] == pytest.approx(wanted, abs=5e-11)


def test_still_worlds_have_no_rate():
    ground = changing_region(SQUARE, dwell.Gaussian((1, 1), rate=1.0))
    assert not centroid_rates(ground, places(2), T).any()
    held = Moving(
        dwell.Gaussian, center=Keyframes((0, 1), ((1, 1), (2, 2)), after="hold"), rate=1.0
    )
    assert not centroid_rates(changing_region(SQUARE, held), places(2), T).any()


def test_an_agent_without_a_cell_has_no_rate():
    ground = changing_region(SQUARE, PLANAR["center"])
    positions = np.array([[1.0, 1.0], [3.0, 3.0], [9.0, 9.0]])
    assert not centroid_rate(ground, positions, 2, T).any()


def test_balls_and_space_are_refused():
    density = Moving(dwell.Gaussian, center=PATH, rate=1.0)
    with pytest.raises(DensityError, match="an interval or a flat-sided workspace"):
        centroid_rates(changing_region(dwell.Ball((2, 2), 2.0), density), places(2), T)


@pytest.mark.parametrize("name", ["mixed", "covariance", "polynomial"])
def test_rates_are_differences_of_centroids_by_other_code(name):
    """Cells by Qhull and plain quadrature, without the kernels."""
    from dwell.verify.reference_centroid import reference_centroid

    ground, positions, h = changing_region(FIVE, PLANAR[name]), places(2, 4), 1e-3
    for agent in range(4):
        before, after = (
            reference_centroid(FIVE, positions, agent, density_at(PLANAR[name], T + d))
            for d in (-h, h)
        )
        wanted = (after - before) / (2.0 * h)
        np.testing.assert_allclose(centroid_rate(ground, positions, agent, T), wanted, atol=1e-7)
