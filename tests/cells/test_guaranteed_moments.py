"""What guaranteed cells and their duals weigh, against integrals that share nothing with them."""

import math

import numpy as np
import pytest

from dwell.cells import star_moments
from dwell.density import Gaussian
from dwell.errors import DensityError
from dwell.geometry import Box, Polygon, dual_guaranteed_cell, guaranteed_cell
from tests.kernels.test_guaranteed import DENSITIES, at, reference, scene

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
