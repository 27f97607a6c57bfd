"""What guaranteed cells and their duals weigh, against integrals that share nothing with them."""

import math

import mpmath as mp
import numpy as np
import pytest

from dwell.cells import star_moments, tessellate
from dwell.density import Function, Gaussian, Polynomial, Uniform
from dwell.errors import DensityError
from dwell.geometry import Box, Polygon, dual_guaranteed_cell, guaranteed_cell
from tests.kernels.test_guaranteed import (
    DENSITIES,
    at,
    constraints,
    corner_angles,
    reference,
    scene,
)

MAKERS = {False: guaranteed_cell, True: dual_guaranteed_cell}
BOX = Box((0, 0), (4, 3))


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_against_polar_integrals(seed, name, dual):
    polygon, p, others, radii = scene(seed, share=0.7)
    cell, density = MAKERS[dual](polygon, p, others, radii), DENSITIES[name]
    mass, centroid, second = reference(dual, polygon, p, others, radii, at(density))
    found = star_moments(cell, density)
    reach = np.abs(cell.offsets).max()
    assert found.mass == pytest.approx(float(mass), rel=1e-13, abs=0.0)
    assert found.log_mass == pytest.approx(float(np.log(mass)), abs=1e-12)
    assert found.offset == pytest.approx(centroid.astype(float), abs=1e-13 * reach)
    assert (found.centroid == p + found.offset).all()
    assert found.second_moment == pytest.approx(float(second), rel=1e-12, abs=0.0)
    assert found.error == 0.0


@pytest.mark.parametrize("dual", [False, True])
def test_against_thirty_digits(dual):
    """A Gaussian cell by mpmath: the angle by quadrature, the ray in closed form."""
    polygon, p, others, radii = scene(9, agents=4, share=0.6)
    center, rate = (2.0, -1.0), 0.04
    found = star_moments(MAKERS[dual](polygon, p, others, radii), Gaussian(center, rate))
    asked = constraints(dual, polygon, p, others, radii)
    rows = [[mp.mpf(float(v)) for v in row] for row in asked]
    ends = [mp.mpf(float(t)) for t in corner_angles(asked)]
    with mp.workdps(30):
        mass = sum(
            mp.quad(lambda t: _along(t, rows, p, center, rate), [a, (a + b) / 2, b])
            for a, b in zip(ends, [*ends[1:], ends[0] + 2 * mp.pi], strict=True)
        )
    assert found.mass == pytest.approx(float(mass), rel=1e-13, abs=0.0)


def _along(t, rows, p, center, rate):
    """Integral of r exp(-rate |p + r u - c|**2) over the ray in direction t."""
    ux, uy = mp.cos(t), mp.sin(t)
    rho = 1 / max(ux * b + uy * c + d for b, c, d in rows)
    gx, gy = mp.mpf(float(p[0])) - center[0], mp.mpf(float(p[1])) - center[1]
    k = mp.mpf(rate)
    s = gx * ux + gy * uy  # |g + r u|**2 = (r + s)**2 + h
    h = gx * gx + gy * gy - s * s
    root = mp.sqrt(k)
    plain = (mp.exp(-k * s * s) - mp.exp(-k * (rho + s) ** 2)) / (2 * k)
    shift = s * mp.sqrt(mp.pi) / (2 * root) * (mp.erf(root * (rho + s)) - mp.erf(root * s))
    return mp.exp(-k * h) * (plain - shift)


@pytest.mark.parametrize(
    "density", [Uniform(), Gaussian((1.0, 2.0), 0.8), Polynomial([(2, 1, 1.0)])]
)
@pytest.mark.parametrize(
    "agents",
    [
        np.random.default_rng(2).uniform((0, 0), (4, 3), (8, 2)),
        np.array([(i, j) for i in (0.5, 2.0, 3.5) for j in (0.5, 1.5, 2.5)]),
        np.array([(2 + math.cos(k), 1.5 + math.sin(k)) for k in range(6)]),
    ],
    ids=["random", "lattice", "ring"],
)
@pytest.mark.parametrize("dual", [False, True])
def test_without_uncertainty_as_the_tessellation(agents, density, dual):
    whole = tessellate(BOX, agents, density)
    for i, p in enumerate(agents):
        cell = MAKERS[dual](BOX, p, np.delete(agents, i, axis=0), 0.0)
        found = star_moments(cell, density)
        assert found.mass == pytest.approx(whole.masses[i], rel=1e-13, abs=0.0)
        assert found.offset == pytest.approx(whole.errors[i], abs=1e-13)
        assert found.second_moment == pytest.approx(whole.second_moments[i], rel=1e-12, abs=0.0)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("name", DENSITIES)
def test_the_same_as_a_function(name, dual):
    polygon, p, others, radii = scene(1, share=0.8)
    cell, density = MAKERS[dual](polygon, p, others, radii), DENSITIES[name]
    exact, numeric = star_moments(cell, density), star_moments(cell, Function(density.at))
    assert abs(numeric.mass - exact.mass) <= (numeric.error + 1e-14) * exact.mass
    assert 0.0 < numeric.error < 1e-10
    assert numeric.offset == pytest.approx(exact.offset, abs=1e-11)
    assert numeric.second_moment == pytest.approx(exact.second_moment, rel=1e-10, abs=0.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda z: np.abs(z[:, 0] - 1.7),
        lambda z: (z[:, 0] + z[:, 1] < 3.0).astype(float),
        lambda z: 1.0 / ((z[:, 0] - 1.4) ** 2 + (z[:, 1] - 1.1) ** 2 + 1e-3),
    ],
    ids=["kink", "step", "peak"],
)
@pytest.mark.parametrize("dual", [False, True])
def test_the_estimate_bounds_the_error(function, dual):
    """Against sums over a fine polar grid."""
    cell = MAKERS[dual](BOX, (1.5, 1.25), [(3.0, 1.0), (1.0, 2.5)], [0.4, 0.3])
    found = star_moments(cell, function)
    t = (np.arange(4000) + 0.5) * 2 * np.pi / 4000
    s = (np.arange(1500) + 0.5) / 1500
    r = cell.radius(t)[:, None] * s
    z = cell.position + np.stack([r * np.cos(t)[:, None], r * np.sin(t)[:, None]], axis=-1)
    value = function(z.reshape(-1, 2)).reshape(r.shape) * r * cell.radius(t)[:, None]
    mass = value.sum() / 1500 * 2 * np.pi / 4000
    assert found.mass == pytest.approx(mass, rel=found.error + 1e-3)


@pytest.mark.parametrize("away", [20.0, 50.0, 400.0])
def test_far_out_in_the_tail(away):
    """Too light for doubles, but not for their logarithm; all of it lies at the nearest point."""
    polygon, p, others, radii = scene(2)
    cell = guaranteed_cell(polygon, p, others, radii)
    found = star_moments(cell, Gaussian((p[0] + away, p[1]), 1.0))
    rim = cell.outline(2000)
    gaps = np.hypot(*(rim - p - (away, 0.0)).T)
    assert -15.0 < found.log_mass + gaps.min() ** 2 < 0.0
    expected = math.exp(found.log_mass) if found.log_mass > -740 else 0.0
    assert found.mass == pytest.approx(expected, rel=1e-12, abs=0.0)
    assert found.centroid == pytest.approx(rim[np.argmin(gaps)], abs=10.0 / away)


def test_an_empty_cell_weighs_nothing():
    cell = guaranteed_cell(BOX, (1, 1), [(1.1, 1)], 0.5)
    for density in (None, Gaussian((0, 0), 1.0), lambda z: z[:, 0]):
        found = star_moments(cell, density)
        assert found.mass == found.second_moment == 0.0
        assert found.log_mass == -math.inf
        assert found.centroid.tolist() == [1.0, 1.0]


def test_what_is_no_density():
    cell = guaranteed_cell(Polygon([(0, 0), (1, 0), (0, 1)]), (0.2, 0.2), [], 0.0)
    with pytest.raises(DensityError, match="must not be negative"):
        star_moments(cell, lambda z: -np.ones(len(z)))
    with pytest.raises(DensityError, match="a density or a function"):
        star_moments(cell, 7)
