"""Guaranteed and dual guaranteed cells in polytopes of space."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import ConvexHull, HalfspaceIntersection

from dwell._types import lengths
from dwell.cells.backend import pair_of
from dwell.cells.guaranteed import star_moments
from dwell.cells.weighted_region import weighted_region
from dwell.density import Gaussian
from dwell.geometry import Box, Polytope, dual_guaranteed_cell, guaranteed_cell
from dwell.verify.reference_trigger import _size
from tests.geometry.test_guaranteed_everywhere import both, directions

pytestmark = pytest.mark.slow

CUBE = Box((0, 0, 0), (1, 1, 1))
SPACE = 1e-10  # what uniform moments in space are held to, relative


def crowd(seed, n=8, radius=0.1):
    """An agent, others, and radii up to a share of their distances."""
    rng = np.random.default_rng(seed)
    p, q = rng.random(3), rng.random((n, 3))
    return p, q, radius * lengths(q - p) * rng.random(n)


class TestAgainstVoronoi:
    """With nothing uncertain both cells are the Voronoi cell."""

    def test_volume_by_scipy(self):
        p, q, _ = crowd(3, 15)
        axis = (q - p) / lengths(q - p)[:, None]
        planes = np.column_stack([axis, -(axis * (p + q) / 2).sum(axis=1)])
        walls = np.column_stack([CUBE.normals, -CUBE.offsets])
        corners = HalfspaceIntersection(np.vstack([planes, walls]), p).intersections
        cell = guaranteed_cell(CUBE, p, q, 0.0)
        assert cell.volume == pytest.approx(ConvexHull(corners).volume, rel=SPACE)
        gaps = lengths(corners[:, None] - cell.corners[None])
        assert gaps.min(axis=0).max() < 1e-9
        assert gaps.min(axis=1).max() < 1e-9
        widest = lengths(corners[:, None] - corners[None]).max()
        assert cell.diameter == pytest.approx(widest, rel=1e-9, abs=0.0)

    @pytest.mark.parametrize("r", [0.0, 0.03])
    def test_lattice_with_everything_cospherical(self, r):
        """Corners where many demands meet, and walls through edges of others."""
        grid = (np.indices((3, 3, 3)).reshape(3, -1).T + 0.5) / 3
        middle = lengths(grid - 0.5).argmin()
        others = np.delete(grid, middle, axis=0)
        inner, outer = both(CUBE, grid[middle], others, r)
        if r == 0.0:
            assert (inner.volume, outer.volume) == pytest.approx(
                (1 / 27, 1 / 27), rel=1e-11, abs=0.0
            )
        z = np.random.default_rng(0).random((100_000, 3))
        for cell in (inner, outer):
            share = cell.contains(z).mean()
            assert abs(share - cell.volume) < 5 * math.sqrt(cell.volume / 100_000)
            assert star_moments(cell).offset == pytest.approx(np.zeros(3), abs=1e-11)

    @pytest.mark.parametrize("p", [(0, 0.3, 0.6), (0, 0, 0.6), (0, 0, 0), (1, 1, 0.5)])
    def test_agents_on_the_boundary(self, p):
        q = np.array([(0.5, 0.5, 0.5), (0.9, 0.2, 0.1)])
        inner = guaranteed_cell(CUBE, p, q, 0.0)
        other = guaranteed_cell(CUBE, np.clip(p, 1e-7, 1 - 1e-7), q, 0.0)
        assert inner.volume == pytest.approx(other.volume, rel=2e-6)
        assert inner.diameter == pytest.approx(other.diameter, rel=2e-6)


class TestCurvedSheets:
    """Cells of agents that are known roughly."""

    @pytest.mark.parametrize("dual", [False, True])
    @pytest.mark.parametrize("radius", [0.02, 0.3, 0.8])
    def test_two_agents_on_an_axis(self, dual, radius):
        """The sheet is z = middle -+ a sqrt(1 + (x**2 + y**2) / b**2), over a square."""
        box = Box((-0.4, -0.3, -2.0), (0.4, 0.3, 3.0))
        make = dual_guaranteed_cell if dual else guaranteed_cell
        cell = make(box, (0, 0, -0.5), [(0, 0, 0.5)], radius)
        density = Gaussian(center=(0.1, 0.2, -0.3), rate=1.5)
        t, w = np.polynomial.legendre.leggauss(60)
        x, y = np.meshgrid(0.4 * t, 0.3 * t, indexing="ij")
        area = np.outer(0.4 * w, 0.3 * w)
        a = 0.5 * radius * (1 if dual else -1)
        top = a * np.sqrt(1 + (x * x + y * y) / (0.25 - a * a))
        assert cell.volume == pytest.approx(float((area * (top + 2.0)).sum()), rel=SPACE)
        s = math.sqrt(1.5)
        erf = np.vectorize(math.erf)
        column = math.sqrt(math.pi) / (2 * s) * (erf(s * (top + 0.3)) - math.erf(s * -1.7))
        weight = area * np.exp(-1.5 * ((x - 0.1) ** 2 + (y - 0.2) ** 2)) * column
        found = star_moments(cell, density)
        assert found.mass == pytest.approx(float(weight.sum()), rel=2e-9, abs=0.0)
        assert found.centroid[0] == pytest.approx((weight * x).sum() / weight.sum(), abs=2e-9)
        assert found.centroid[1] == pytest.approx((weight * y).sum() / weight.sum(), abs=2e-9)

    @pytest.mark.parametrize("rate", [200.0, 3000.0])
    def test_a_narrow_hill_is_not_overlooked(self, rate):
        """Well inside the cell it weighs (pi / rate)**1.5; far outside hardly anything."""
        p, q, r = crowd(5, 8, radius=0.2)
        cell = dual_guaranteed_cell(CUBE, p, q, r)
        place = star_moments(cell).centroid
        room = cell.distance_to_boundary(place)
        found = star_moments(cell, Gaussian(center=tuple(place), rate=rate))
        missing = math.exp(-rate * room * room) * 10
        assert found.mass == pytest.approx((math.pi / rate) ** 1.5, rel=1e-8 + missing)
        assert found.centroid == pytest.approx(place, abs=1e-7 + missing)

    @pytest.mark.parametrize("radius", [0.1, 0.5, 0.9, 0.95])
    @pytest.mark.parametrize("count", [1, 3, 6, 12])
    def test_a_guaranteed_cell_is_as_wide_as_it_says(self, count, radius):
        """Two points of it are as far apart: the best of many, moved along the boundary."""
        p, q, r = crowd(count, count, radius=radius)
        cell = guaranteed_cell(CUBE, p, q, r)
        edge = np.vstack([cell.radius(u := directions(count, 600))[:, None] * u, cell.offsets])
        apart = lengths(edge[:, None] - edge[None])

        def shortfall(pair):
            u, v = pair.reshape(2, 3)
            a, b = cell.radius(u) * u / lengths(u), cell.radius(v) * v / lengths(v)
            return -float(lengths(a - b))

        first = np.concatenate(edge[list(np.unravel_index(apart.argmax(), apart.shape))])
        moved = minimize(shortfall, first, method="Nelder-Mead", options={"xatol": 1e-9})
        widest = max(float(apart.max()), -moved.fun)
        assert widest <= cell.diameter <= (1.0 + 2e-3) * widest
        assert cell.diameter <= cell.rough_extent[0] * (1.0 + 1e-8)
        least = 0.5 * _size(edge, "circumradius")
        assert least * (1 - 1e-9) <= cell.circumradius <= 1.05 * least

    @pytest.mark.parametrize("seed", range(5))
    def test_the_hull_of_a_dual_cell_is_that_of_its_corners(self, seed):
        p, q, r = crowd(seed, 6, radius=0.6)
        cell = dual_guaranteed_cell(CUBE, p, q, r)
        hull = ConvexHull(cell.offsets)
        edge = cell.radius(directions(seed, 4000))[:, None] * directions(seed, 4000)
        beyond = edge @ hull.equations[:, :3].T + hull.equations[:, 3]
        assert beyond.max() <= 1e-9
        widest = lengths(cell.offsets[:, None] - cell.offsets[None]).max()
        assert cell.diameter == pytest.approx(widest, rel=1e-11, abs=0.0)
        radius = 0.5 * _size(cell.offsets, "circumradius")
        assert cell.circumradius == pytest.approx(radius, rel=1e-8, abs=0.0)

    @pytest.mark.parametrize("seed", range(3))
    def test_turned_with_everything_else(self, seed):
        rng = np.random.default_rng(seed)
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        turn *= np.sign(np.linalg.det(turn))
        p, q, r = crowd(seed, 6, radius=0.5)
        shift = np.array([3.0, -2.0, 5.0])
        turned = Polytope(CUBE.vertices @ turn.T + shift)
        for before, after in zip(
            both(CUBE, p, q, r), both(turned, turn @ p + shift, q @ turn.T + shift, r), strict=True
        ):
            assert after.volume == pytest.approx(before.volume, rel=1e-9, abs=0.0)
            assert after.diameter == pytest.approx(before.diameter, rel=1e-9, abs=0.0)
            assert after.circumradius == pytest.approx(before.circumradius, rel=1e-9, abs=0.0)
            expected = turn @ star_moments(before).offset
            assert star_moments(after).offset == pytest.approx(expected, abs=1e-9)

    def test_far_out_in_a_tail(self):
        ground = weighted_region(CUBE, Gaussian(center=(40.0, 0.5, 0.5), rate=1.0))
        p, q = np.array([0.25, 0.5, 0.5]), np.array([[0.75, 0.5, 0.5]])
        pair = pair_of(ground, p, q, np.array([0.01]))
        assert pair is not None
        t, w = np.polynomial.legendre.leggauss(60)
        x, y = np.meshgrid(0.5 * t, 0.5 * t, indexing="ij")
        bulge = 0.005 * np.sqrt(1 + (x * x + y * y) / (0.0625 - 0.005**2))

        def tail(end):  # int_0^end exp(-(40 - x)**2) dx, raised, under each point of the square
            z = 0.5 * (1 + t) * end[..., None]
            column = (0.5 * w * np.exp(39.5**2 - (40 - z) ** 2)).sum(axis=-1) * end
            return (np.outer(w, w) * column * np.exp(-(x * x + y * y))).sum()

        assert pair.share == pytest.approx(tail(0.5 - bulge) / tail(0.5 + bulge), rel=1e-7)
