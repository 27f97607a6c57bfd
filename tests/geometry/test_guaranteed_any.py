"""Guaranteed and dual guaranteed cells on the line and in space."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from dwell._types import lengths
from dwell.cells.guaranteed import pair_of, star_moments
from dwell.cells.weighted_region import weighted_region
from dwell.density import Gaussian, Polynomial, Uniform
from dwell.errors import AgentsError
from dwell.geometry import (
    Ball,
    Box,
    Interval,
    Polygon,
    Polytope,
    StarCell,
    StarInterval,
    StarRegion,
    dual_guaranteed_cell,
    guaranteed_cell,
)
from tests.geometry.test_guaranteed_round import both, directions

pytestmark = pytest.mark.slow

CUBE = Box((0, 0, 0), (1, 1, 1))
SPACE = 1e-10  # what uniform moments in space are held to, relative
HILL = Gaussian(center=(0.3, 0.2, 0.4), rate=6.0)


def crowd(seed, n=8, dimension=3, radius=0.1):
    """An agent, others, and radii up to a share of their distances."""
    rng = np.random.default_rng(seed)
    p, q = rng.random(dimension), rng.random((n, dimension))
    return p, q, radius * lengths(q - p) * rng.random(n)


class TestLine:
    """Intervals in closed form."""

    @pytest.mark.parametrize("r", [0.0, 0.05, 0.2, 0.49])
    def test_two_agents(self, r):
        inner, outer = both(Interval(0, 1), 0.25, [0.75], r)
        assert isinstance(inner, StarInterval)
        assert inner.corners.ravel() == pytest.approx([0.0, (1 - r) / 2], abs=1e-15)
        assert outer.corners.ravel() == pytest.approx([0.0, (1 + r) / 2], abs=1e-15)
        assert inner.borders.tolist() == outer.borders.tolist() == [-1, 0]
        assert (outer.diameter, outer.circumradius) == pytest.approx(((1 + r) / 2, (1 + r) / 4))

    @pytest.mark.parametrize("r", [0.0, 0.1, 0.3])
    def test_the_pair_a_trigger_asks_for(self, r):
        """The bound of the centroid's drift is r exactly, its room (1 - r) / 4."""
        ground = weighted_region(Interval(0, 1), Uniform())
        pair = pair_of(ground, np.array([0.25]), np.array([[0.75]]), np.array([r]))
        assert pair is not None
        assert pair.diameter * (1 - pair.share) == pytest.approx(r, abs=1e-15)
        assert (pair.clearance, pair.offset[0]) == pytest.approx(((1 - r) / 4, -r / 4))

    @pytest.mark.parametrize(
        "density",
        [Uniform(3.0), Gaussian(center=(0.6,), rate=9.0), Polynomial([(0, 1.0), (3, 2.0)])],
    )
    def test_moments_and_the_pair_agree_with_a_fine_sum(self, density):
        for seed in range(5):
            p, q, r = crowd(seed, 4, 1)
            inner, outer = both(Interval(0, 1), p, q, r)
            ground = weighted_region(Interval(0, 1), density)
            pair = pair_of(ground, p, q, r)
            masses = []
            for cell in (inner, outer):
                low, high = cell.corners.ravel()
                z = low + (high - low) * (np.arange(20000) + 0.5)[:, None] / 20000
                w = density.at(z) * (high - low) / 20000
                found = star_moments(cell, density)
                assert found.mass == pytest.approx(w.sum(), rel=1e-7)
                assert found.centroid[0] == pytest.approx((w * z[:, 0]).sum() / w.sum(), abs=1e-7)
                masses.append(found.mass)
                other = star_moments(cell, density.at)
                assert other.mass == pytest.approx(found.mass, rel=1e-12, abs=0.0)
                assert other.error < 1e-9
            assert pair is not None
            assert pair.share == pytest.approx(masses[0] / masses[1], rel=1e-13, abs=0.0)
            centroid = star_moments(inner, density).centroid
            assert pair.clearance == pytest.approx(
                inner.distance_to_boundary(centroid), rel=1e-12, abs=0.0
            )

    def test_far_out_in_a_tail(self):
        """The masses underflow, but not their ratio."""
        ground = weighted_region(Interval(0, 1), Gaussian(center=(60.0,), rate=1.0))
        pair = pair_of(ground, np.array([0.25]), np.array([[0.75]]), np.array([0.01]))
        assert pair is not None
        assert 0.2 < pair.share < 0.4  # e**-(2 * 59.5 * 0.01) and a little more

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=60, deadline=None)
    def test_membership(self, seed):
        p, q, r = crowd(seed, 5, 1, 0.9)
        z = np.random.default_rng(seed).random((200, 1))
        for cell in both(Interval(0, 1), p, q, r):
            low, high = cell.corners.ravel()
            inside = (low <= z[:, 0]) & (z[:, 0] <= high)
            assert (cell.contains(z) == inside).all()

    def test_met(self):
        inner, outer = both(Interval(0, 1), 0.5, [0.6, 0.9], [0.2, 0.1])
        assert inner.empty
        assert inner.volume == inner.diameter == 0.0
        assert star_moments(inner).mass == 0.0
        assert outer.corners.ravel() == pytest.approx([0.0, 0.75])
        ground = weighted_region(Interval(0, 1), Uniform())
        assert pair_of(ground, np.array([0.5]), np.array([[0.6]]), np.array([0.2])) is None
        assert pair_of(ground, np.array([1.5]), np.array([[0.6]]), np.array([0.1])) is None


class TestAgainstVoronoi:
    """With nothing uncertain both cells are the Voronoi cell."""

    def test_volume_by_scipy(self):
        from scipy.spatial import ConvexHull, HalfspaceIntersection

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
        z = np.random.default_rng(0).random((400_000, 3))
        for cell in (inner, outer):
            share = cell.contains(z).mean()
            assert abs(share - cell.volume) < 5 * math.sqrt(cell.volume / 400_000)
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
        least = smallest_ball(edge)[1]
        assert least * (1 - 1e-9) <= cell.circumradius <= 1.05 * least

    @pytest.mark.parametrize("seed", range(5))
    def test_the_hull_of_a_dual_cell_is_that_of_its_corners(self, seed):
        from scipy.spatial import ConvexHull

        p, q, r = crowd(seed, 6, radius=0.6)
        cell = dual_guaranteed_cell(CUBE, p, q, r)
        hull = ConvexHull(cell.offsets)
        edge = cell.radius(directions(seed, 4000))[:, None] * directions(seed, 4000)
        beyond = edge @ hull.equations[:, :3].T + hull.equations[:, 3]
        assert beyond.max() <= 1e-9
        widest = lengths(cell.offsets[:, None] - cell.offsets[None]).max()
        assert cell.diameter == pytest.approx(widest, rel=1e-11, abs=0.0)
        middle, radius = smallest_ball(cell.offsets)
        assert lengths(cell.offsets - middle).max() <= radius * (1 + 1e-9)
        assert cell.circumradius == pytest.approx(radius, rel=1e-9, abs=0.0)

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

    def test_the_pair_a_trigger_asks_for(self):
        for density in (Uniform(2.0), HILL):
            ground = weighted_region(CUBE, density)
            for seed in range(4):
                p, q, r = crowd(seed, 9)
                inner, outer = both(CUBE, p, q, r)
                pair = pair_of(ground, p, q, r)
                less, more = star_moments(inner, density), star_moments(outer, density)
                assert pair is not None
                share = less.mass / more.mass * (1 - 2 * (less.error + more.error))
                assert pair.share == pytest.approx(share, rel=1e-10, abs=0.0)
                assert pair.offset == pytest.approx(less.offset, abs=1e-10)
                assert pair.clearance == pytest.approx(inner.distance_to_boundary(less.centroid))
                assert pair.diameter == pytest.approx(outer.diameter, rel=1e-13, abs=0.0)
                assert pair.circumradius == pytest.approx(outer.circumradius, rel=1e-13, abs=0.0)

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


class TestRim:
    """What comes in and what is refused."""

    def test_met_and_outside(self):
        inner, outer = both(CUBE, (0.5, 0.5, 0.5), [(0.6, 0.5, 0.5), (0.9, 0.9, 0.9)], [0.2, 0.1])
        assert isinstance(inner, StarRegion)
        assert inner.empty
        assert inner.volume == inner.diameter == inner.distance_to_boundary((0.5, 0.5, 0.5)) == 0.0
        assert (inner.radius(directions(0, 3)) == 0.0).all()
        assert not outer.empty
        assert 0.5 < outer.volume < 1.0
        with pytest.raises(AgentsError, match="outside the workspace"):
            guaranteed_cell(CUBE, (0.5, 0.5, 1.5), [], 0.0)
        none = np.empty((0, 3)), np.empty(0)
        alone = pair_of(weighted_region(CUBE, Uniform()), np.array([0.5, 0.5, 0.5]), *none)
        assert alone is not None
        assert (alone.share, alone.clearance) == pytest.approx((1.0, 0.5))

    @pytest.mark.parametrize(
        ("workspace", "kind"),
        [
            (Interval(0, 1), StarInterval),
            (Box((0,), (1,)), StarInterval),
            (Polytope([[0.0], [1.0]]), StarInterval),
            (Ball((0.5,), 0.5), StarInterval),
            (Box((0, 0), (1, 1)), StarCell),
            (Polytope([(0, 0), (1, 0), (1, 1), (0, 1)]), StarCell),
            (Polygon([(0, 0), (1, 0), (1, 1), (0, 1)]), StarCell),
            (CUBE, StarRegion),
            (Polytope(CUBE.vertices), StarRegion),
        ],
    )
    def test_the_workspace_decides_the_kind(self, workspace, kind):
        middle = np.full(workspace.dimension, 0.5)
        cell = guaranteed_cell(workspace, middle, [], 0.0)
        assert isinstance(cell, kind)
        assert cell.volume == pytest.approx(1.0)


def smallest_ball(points):
    """Centre and radius by linear steps: the slow way."""
    start = np.append(points.mean(axis=0), lengths(points - points.mean(axis=0)).max())
    limits = {"type": "ineq", "fun": lambda z: z[3] ** 2 - ((points - z[:3]) ** 2).sum(axis=1)}
    found = minimize(
        lambda z: z[3], start, constraints=[limits], method="SLSQP", options={"ftol": 1e-15}
    )
    return found.x[:3], float(found.x[3])
