"""Cells whose corners need more digits than doubles have: thin, small, beside near pairs."""

from fractions import Fraction

import numpy as np
import pytest

from dwell import Box, Gaussian, tessellate
from tests.oracles import mp_moments, rational_cells


def corridor(width):
    return [(0.0, 0.0), (1.0, 0.0), (1.0, width), (0.0, width)]


def with_pair(rng, width, most):
    """A few agents in a corridor; the first two are 1 to `most` ulps apart, along x, y or both."""
    points = rng.uniform(0.0, 1.0, (int(rng.integers(4, 7)), 2)) * [1.0, width]
    steps = rng.integers(1, most + 1, 2) * rng.choice([-1, 1], 2)
    steps[rng.integers(0, 2)] *= rng.integers(0, 2)
    points[1] = np.clip(points[0] + steps * np.spacing(points[0]), 0.0, [1.0, width])
    return points


def faults(width, points):
    """Errors of centroids against rationals, relative to the corridor's length and width."""
    found = tessellate(Box((0.0, 0.0), (1.0, width)), points)
    assert (found.second_moments >= 0.0).all()
    worst = np.zeros(2)
    for p, cell in enumerate(rational_cells.tessellation(corridor(width), points.tolist())):
        gaps = [
            abs(float(cell.centroid[k] - Fraction(points[p, k]) - Fraction(found.errors[p, k])))
            for k in range(2)
        ]
        worst = np.maximum(worst, np.array(gaps) / [1.0, width])
    return worst


@pytest.mark.parametrize("most", [2, 100])
@pytest.mark.parametrize("decades", [(0, 3), (3, 6), (6, 8)])
def test_a_near_pair_spoils_no_cell_of_a_corridor(decades, most):
    rng = np.random.default_rng([*decades, most])
    for _ in range(40):
        width = 10.0 ** -rng.uniform(*decades)
        assert faults(width, with_pair(rng, width, most)).max() < 1e-9


def test_an_edge_that_is_there_by_rounding_alone_is_void():
    """Cells of the third agent end at one of two bisectors that differ by less than an ulp."""
    points = np.array(
        [
            [0.14452308208032483, 4.53325854557396e-09],
            [0.14452308208032486, 4.53325854557396e-09],
            [0.9882756025148285, 1.0235567344726682e-09],
            [0.08074788078641826, 9.601716115898197e-09],
        ]
    )
    for width in 10.0 ** -np.arange(3.0, 9.0):
        assert faults(width, points * [1.0, width / 1e-8]).max() < 1e-13


@pytest.mark.parametrize("count", [3, 6])
def test_agents_in_one_column_share_a_corridor(count):
    """Bisectors that are all but parallel: x differs by a few ulps, y by all of the width."""
    rng = np.random.default_rng(count)
    for width in 10.0 ** -rng.uniform(0.0, 8.0, 20):
        x = 0.3 + rng.integers(-50, 51, count) * np.spacing(0.3)
        points = np.column_stack([x, width * rng.uniform(0.0, 1.0, count)])
        assert faults(width, points).max() < 1e-9


@pytest.mark.parametrize("count", [3, 5])
def test_agents_a_few_ulps_apart_in_a_row_have_slivers_with_all_digits(count):
    """Parallel bisectors, closer to each other than corners are rounded: the nearer one counts."""
    rng = np.random.default_rng(count)
    for width in 10.0 ** -rng.uniform(0.0, 8.0, 40):
        x, y = rng.uniform(0.0, 1.0, 2)
        row = x + np.spacing(x) * np.cumsum(rng.integers(1, 4, count))
        points = np.column_stack([row, np.full(count, y * width)])
        found = tessellate(Box((0.0, 0.0), (1.0, width)), points)
        exact = rational_cells.tessellation(corridor(width), points.tolist())
        areas = [float(cell.area) for cell in exact]
        assert found.masses == pytest.approx(areas, rel=1e-12, abs=0.0)
        assert faults(width, points).max() < 1e-13


LATTICE = np.stack(np.meshgrid(np.arange(4), np.arange(4)), -1).reshape(-1, 2)
SCATTERED = np.random.default_rng(3).uniform(0, 1, (12, 2))
ROW = np.column_stack([np.arange(5), [0.2, 0.7, 0.4, 0.6, 0.3]])
SMALL = {
    **{f"lattice of {size:g}": (1.0, 0.4 + size * LATTICE) for size in (1e-5, 1e-6, 1e-8)},
    **{f"cluster of 1e-{k}": (1.0, 0.4 + 10.0**-k * SCATTERED) for k in (1, 2, 3, 4, 6, 8)},
    "needle": (1e-6, [0.5, 0.0] + 1e-6 * ROW),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_cells_keep_their_digits(name):
    """Tiny beside the workspace, or with vertices that four lines share."""
    width, points = SMALL[name]
    found = tessellate(Box((0.0, 0.0), (1.0, width)), points)
    exact = rational_cells.tessellation(corridor(width), points.tolist())
    limit = 1e-13 if name.startswith("lattice") else 1e-12
    assert found.masses == pytest.approx([float(cell.area) for cell in exact], rel=limit, abs=0.0)


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-8])
@pytest.mark.parametrize("away", [1.5, 6.0])
def test_an_agent_outside_a_corridor_takes_no_triangles_of_both_signs(width, away):
    """The density is largest where the agent stands: signed triangles would cancel."""
    peak = (away, 0.5 * width)
    exact = mp_moments.moments(corridor(width), mp_moments.Gaussian.isotropic(peak, 3.0))
    found = tessellate(Box((0.0, 0.0), (1.0, width)), [peak], Gaussian(peak, 3.0))
    assert found.log_masses[0] == pytest.approx(float(exact.log_mass), rel=1e-13, abs=1e-13)
    assert mp_moments.distance(found.centroids[0].tolist(), exact.centroid) < 1e-14 * away
