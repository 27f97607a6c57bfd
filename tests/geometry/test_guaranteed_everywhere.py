"""Guaranteed and dual guaranteed cells in every workspace: what all of them have in common."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell._kernels._jit import njit
from dwell._kernels.common.algebra import roots_between
from dwell._types import lengths
from dwell.cells.backend import measure_cells, pair_of
from dwell.cells.guaranteed import star_moments
from dwell.cells.weighted_region import weighted_region
from dwell.density import Gaussian, Mixture, Polynomial, Uniform
from dwell.errors import AgentsError
from dwell.geometry import (
    Ball,
    Box,
    Ellipsoid,
    Interval,
    Polygon,
    dual_guaranteed_cell,
    guaranteed_cell,
    is_flat,
)
from tests.cells.shapes import scatter, tilted
from tests.plain import printed

pytestmark = pytest.mark.slow

TURNED = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
LINE, FIVE = (
    Interval(-0.4, 1.1),
    Polygon([(-0.7, -0.6), (0.9, -0.8), (1.2, 0.3), (0.3, 1), (-0.8, 0.6)]),
)
DISC, EGG = Ball((0.1, -0.2), 1.0), Ellipsoid((0.3, 0.1), (1.6, 0.7), tilted(0.5))
BALL, SEED = Ball((0.1, -0.2, 0.05), 1.0), Ellipsoid((0.3, 0.1, 0.2), (1.4, 0.8, 1.0), TURNED)
CUBE = Box((0, 0, 0), (1, 1, 1))
SITES = [LINE, FIVE, DISC, EGG, BALL, SEED, CUBE]
NAMES = ["interval", "polygon", "disc", "ellipse", "ball", "ellipsoid", "cube"]
everywhere = pytest.mark.parametrize("workspace", SITES, ids=NAMES)
PLACE = (0.3, 0.2, 0.1)


def is_exact(workspace):
    """Whether moments are known to rounding."""
    return is_flat(workspace) and workspace.dimension < 3


def density(kind, n):
    """A density of each kind in n dimensions."""
    return {
        "uniform": Uniform(),
        "wide": Gaussian(PLACE[:n], rate=4.0),
        "narrow": Gaussian(PLACE[:n], rate=400.0),
        "far": Gaussian((9.0, 3.0, 1.0)[:n], rate=2.0),
        "polynomial": Polynomial([((0,) * n) + (1.0,), (2, *(0,) * (n - 1), 3.0)]),
        "mixture": Mixture([Uniform(0.3), Gaussian(PLACE[:n], rate=4.0)]),
    }[kind]


def scattered(workspace, count, seed):
    """Places in the region, uniformly, but for a thousandth of its size at the boundary."""
    if isinstance(workspace, Ball | Ellipsoid):
        inside = scatter(workspace, count, seed)
    else:
        some = np.random.default_rng(seed).uniform(
            *workspace.bounds, (2 * count + 20, workspace.dimension)
        )
        inside = some[workspace.contains(some)][:count]
    middle = np.mean(workspace.bounds, axis=0)
    return middle + 0.999 * (inside - middle)


def crowd(workspace, seed, n=6, radius=0.5):
    """An agent, others, and radii up to a share of their distances."""
    places = scattered(workspace, n + 1, seed)
    p, q = places[0], places[1:]
    return p, q, radius * lengths(q - p) * np.random.default_rng(seed).random(n)


def both(workspace, p, q, r):
    return guaranteed_cell(workspace, p, q, r), dual_guaranteed_cell(workspace, p, q, r)


def directions(seed, count):
    u = np.random.default_rng(seed).normal(size=(count, 3))
    return u / lengths(u)[:, None]


def edge_of(cell, seed, count):
    """Points of the boundary, relative to the agent."""
    if cell.workspace.dimension == 1:
        return cell.offsets
    if cell.workspace.dimension == 2:
        return cell.boundary_at(np.linspace(0.0, 2.0 * math.pi, count, endpoint=False))
    u = directions(seed, count)
    return cell.radius(u)[:, None] * u


def by_rays(cell, weight, turns=12000, nodes=12):
    """Mass and centroid in the plane by a plain sum over angles of `radius`, which is NumPy's."""
    angles = (np.arange(turns) + 0.5) * (2.0 * math.pi / turns)
    x, w = np.polynomial.legendre.leggauss(nodes)
    u = np.column_stack([np.cos(angles), np.sin(angles)])
    r = cell.radius(angles)[:, None] * (0.5 * (1 + x))
    z = r[..., None] * u[:, None]
    share = weight.at(cell.position + z.reshape(-1, 2)).reshape(r.shape)
    share *= r * cell.radius(angles)[:, None] * (0.5 * w) * (2.0 * math.pi / turns)
    return share.sum(), (share[..., None] * z).sum(axis=(0, 1)) / share.sum()


@njit
def found_roots(a, low, high, out):
    return roots_between(a, low, high, out)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_no_root_of_a_quartic_is_missed(seed):
    a = np.random.default_rng(seed).normal(size=5)
    out = np.empty((2, 6))
    count = found_roots(a, -1.0, 1.0, out)
    every = np.roots(a[::-1])
    real = np.sort(every[np.abs(every.imag) < 1e-9].real)
    inside = real[np.abs(real) < 1.0]
    assert out[0, :count] == pytest.approx(inside, abs=1e-6)


@everywhere
class TestMoments:
    """Masses and centroids by other code; stated errors are true."""

    @pytest.mark.parametrize("kind", ["uniform", "wide", "narrow", "far", "polynomial"])
    def test_with_nothing_uncertain_they_are_voronoi_cells(self, workspace, kind):
        """Narrow components and far tails included."""
        weight = density(kind, workspace.dimension)
        places = scattered(workspace, 7, 5)
        some = np.arange(3)
        seen = measure_cells(
            weighted_region(workspace, weight), places[None], np.zeros(3, int), some
        )
        for k in some:
            for cell in both(workspace, places[k], np.delete(places, k, axis=0), 0.0):
                found = star_moments(cell, weight)
                log_mass = math.log(seen.mass[k]) + seen.log_scale[k]
                error = found.error + (1e-12 if is_exact(workspace) else 1e-9)
                assert error < 1e-5
                assert found.log_mass == pytest.approx(log_mass, abs=error)
                assert found.offset == pytest.approx(seen.error[k], abs=2 * error)

    @pytest.mark.parametrize("n", [0, 1, 5])
    def test_volumes_by_chance(self, workspace, n):
        z = scattered(workspace, 60_000, 9)
        whole = workspace.volume * 0.999**workspace.dimension
        for cell in both(workspace, *crowd(workspace, 4, n)):
            inside = cell.contains(z)
            share = cell.volume / whole
            spread = 5 * math.sqrt(max(share * (1 - share), 1e-6) / len(z))
            assert abs(inside.mean() - share) < spread + 3e-3 * (n == 0)
            off = z[inside].mean(axis=0) - cell.position - star_moments(cell).offset
            assert lengths(off) < 6 * workspace.diameter / math.sqrt(inside.sum())

    @pytest.mark.parametrize("kind", ["wide", "polynomial", "mixture"])
    def test_a_function_and_its_terms(self, workspace, kind):
        weight = density(kind, workspace.dimension)
        for cell in both(workspace, *crowd(workspace, 7, 4)):
            known, blind = star_moments(cell, weight), star_moments(cell, weight.at)
            error = known.error + blind.error + 1e-8
            assert 0.0 < blind.error < (1e-10 if is_exact(workspace) else 1e-4)
            assert blind.mass == pytest.approx(known.mass, rel=error)
            assert blind.offset == pytest.approx(known.offset, abs=2 * error)
            assert blind.second_moment == pytest.approx(known.second_moment, rel=1e-4)

    @pytest.mark.parametrize("kind", ["uniform", "wide", "far"])
    def test_monotone_in_the_radii(self, workspace, kind):
        p, q, r = crowd(workspace, 2, 5)
        weight = density(kind, workspace.dimension)
        found = [both(workspace, p, q, part * r) for part in (0.0, 0.3, 0.6, 1.0)]
        inner, outer = np.array([[star_moments(c, weight).log_mass for c in f] for f in found]).T
        assert (np.diff(inner) < 1e-7).all()
        assert (np.diff(outer) > -1e-7).all()
        assert inner[0] == pytest.approx(outer[0], abs=1e-7)
        inner, outer = np.array([[lengths(edge_of(c, 0, 50)) for c in f] for f in found]).swapaxes(
            0, 1
        )
        assert (np.diff(inner, axis=0) <= 1e-9).all()
        assert (np.diff(outer, axis=0) >= -1e-9).all()

    def test_distances_from_the_boundary(self, workspace):
        n = workspace.dimension
        for cell in both(workspace, *crowd(workspace, 6, 3)):
            edge = edge_of(cell, 0, 60_000)
            for place in scattered(workspace, 12, 1):
                room = cell.distance_to_boundary(place)
                nearest = lengths(edge + cell.position - place).min()
                if not cell.contains(place)[0]:
                    assert room == 0.0
                else:
                    assert nearest - (1e-4 if n == 2 else 0.04) <= room <= nearest + 1e-9


class TestKnownShapes:
    """What is known in closed form, or by rays."""

    def test_half_a_disc(self):
        cell = guaranteed_cell(Ball((0, 0), 1.0), (-0.4, 0.0), [(0.4, 0.0)], 0.0)
        found = star_moments(cell)
        assert found.mass == pytest.approx(math.pi / 2, rel=1e-9, abs=0.0)
        assert found.centroid == pytest.approx([-4 / (3 * math.pi), 0.0], abs=1e-9)
        assert 2.0 <= cell.diameter <= 2.0 * (1 + 1e-4)
        assert cell.distance_to_boundary(found.centroid) == pytest.approx(4 / (3 * math.pi))

    @pytest.mark.parametrize("workspace", SITES[1:4], ids=NAMES[1:4])
    @pytest.mark.parametrize("kind", ["uniform", "wide", "polynomial"])
    def test_in_the_plane_by_plain_sums(self, workspace, kind):
        weight = density(kind, 2)
        for n in (0, 1, 8):
            for cell in both(workspace, *crowd(workspace, 7, n)):
                mass, offset = by_rays(cell, weight)
                found = star_moments(cell, weight)
                assert found.mass == pytest.approx(mass, rel=2e-6)
                assert found.offset == pytest.approx(offset, abs=2e-6)

    def test_a_polygon_with_many_sides_is_nearly_a_disc(self):
        angles = np.arange(240) * (2.0 * math.pi / 240)
        many = Polygon(np.column_stack([np.cos(angles), np.sin(angles)]) + DISC.center)
        p, q, r = crowd(DISC, 1, 5)
        weight = density("wide", 2)
        disc, flat = (pair_of(weighted_region(w, weight), p * 0.99, q, r) for w in (DISC, many))
        assert disc.share == pytest.approx(flat.share, abs=1e-4)
        assert disc.offset == pytest.approx(flat.offset, abs=1e-4)
        assert disc.clearance == pytest.approx(flat.clearance, abs=1e-4)
        assert disc.diameter == pytest.approx(flat.diameter, rel=1e-3)
        assert disc.circumradius == pytest.approx(flat.circumradius, rel=1e-3)


@everywhere
class TestGuarantees:
    """What makes the cells good for a trigger, by their definitions."""

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=10, deadline=None)
    def test_true_cells_lie_between(self, workspace, seed):
        """Wherever the others are within their balls: gV in V in dgV."""
        rng = np.random.default_rng(seed)
        p, q, r = crowd(workspace, seed)
        inner, outer = both(workspace, p, q, r)
        z = scattered(workspace, 3000, seed)
        for _ in range(4):
            u = rng.normal(size=q.shape)
            true = q + (r * rng.random(len(q)) / lengths(u))[:, None] * u
            own = (lengths(z[:, None] - true[None]) >= lengths(z - p)[:, None]).all(axis=1)
            assert not (inner.contains(z) & ~own).any()
            assert not (own & ~outer.contains(z)).any()

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=10, deadline=None)
    def test_radii_are_those_of_the_definition(self, workspace, seed):
        p, q, r = crowd(workspace, seed)
        for cell in both(workspace, p, q, r):
            edge = edge_of(cell, seed, 500)
            assert cell.contains(p + (1 - 1e-9) * edge).all()
            assert not cell.contains(p + (1 + 1e-9) * edge).any()

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=8, deadline=None)
    def test_sizes_are_true_upper_bounds(self, workspace, seed):
        for cell in both(workspace, *crowd(workspace, seed)):
            edge = edge_of(cell, seed, 900)
            apart = lengths(edge[:, None] - edge[None]).max()
            assert apart <= cell.diameter * (1 + 1e-12)
            assert cell.diameter / 2 <= cell.circumradius * (1 + 1e-9)
            loose = 1.02 if workspace.dimension == 2 else 1.25
            assert not cell.dual or cell.diameter <= loose * apart

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=6, deadline=None)
    def test_the_true_centroid_is_where_the_pair_says(self, workspace, seed):
        """|c_V - c_L| <= size (1 - share), the inequality that all triggers stand on."""
        rng = np.random.default_rng(seed)
        p, q, r = crowd(workspace, seed, 5, 0.3)
        ground = weighted_region(workspace, Uniform())
        pair = pair_of(ground, p, q, r)
        assert pair is not None
        for _ in range(3):
            u = rng.normal(size=q.shape)
            true = workspace.nearest(q + (r * rng.random(len(q)) / lengths(u))[:, None] * u)
            both_ = np.vstack([p, true])[None]
            seen = measure_cells(ground, both_, np.zeros(1, int), np.zeros(1, int))
            off = lengths(seen.error[0] - pair.offset)
            assert off <= pair.diameter * (1 - pair.share) + 1e-12

    def test_on_the_boundary(self, workspace):
        p, q, _ = crowd(workspace, 3)
        lower, upper = workspace.bounds
        center = 0.5 * (lower + upper)
        p = workspace.nearest((center + 9.0 * (p - center))[None])[0]
        inner = guaranteed_cell(workspace, p, q, 0.0)
        other = guaranteed_cell(workspace, p + 1e-6 * (center - p), q, 0.0)
        assert inner.volume == pytest.approx(other.volume, rel=1e-4)
        assert pair_of(weighted_region(workspace, Uniform()), p, q, np.zeros(len(q))) is not None

    def test_met_and_outside(self, workspace):
        p, q, _ = crowd(workspace, 3)
        ground, far = weighted_region(workspace, Uniform()), p + 5.0
        reach = np.full(len(q), 1.01 * lengths(q - p).min())
        cell = guaranteed_cell(workspace, p, q, reach)
        assert cell.empty
        assert cell.corners.shape == (0, len(p))
        sizes = (cell.volume, cell.diameter, cell.circumradius, cell.distance_to_boundary(p))
        assert (*sizes, star_moments(cell).mass) == (0.0,) * 5
        assert (cell.radius(directions(0, 3) if len(p) == 3 else [1.0, -1.0]) == 0.0).all()
        assert not cell.contains(p).any()
        assert pair_of(ground, p, q, reach) is None
        assert pair_of(ground, far, q, 0.01 * reach) is None
        with pytest.raises(AgentsError, match="outside the workspace"):
            guaranteed_cell(workspace, far, q, 0.0)
        alone = pair_of(ground, p, np.empty((0, len(p))), np.empty(0))
        assert alone.share == pytest.approx(1.0, abs=1e-5)

    @pytest.mark.parametrize("kind", ["uniform", "wide"])
    def test_the_pair_is_that_of_both_cells(self, workspace, kind):
        weight = density(kind, workspace.dimension)
        for seed in range(3):
            p, q, r = crowd(workspace, seed, 8, 0.2)
            inner, outer = both(workspace, p, q, r)
            pair = pair_of(weighted_region(workspace, weight), p, q, r)
            less, more = star_moments(inner, weight), star_moments(outer, weight)
            share = less.mass / more.mass * (1 - 2 * (less.error + more.error))
            assert pair.share == pytest.approx(share, rel=1e-10, abs=0.0)
            assert pair.offset == pytest.approx(less.offset, abs=1e-10)
            assert pair.clearance == pytest.approx(inner.distance_to_boundary(less.centroid))
            assert pair.diameter == pytest.approx(outer.diameter, rel=1e-13, abs=0.0)
            assert pair.circumradius == pytest.approx(outer.circumradius, rel=1e-13, abs=0.0)

    def test_moved_far_away(self, workspace):
        """In the agent's own frame nothing is lost."""
        p, q, r = crowd(workspace, 8)
        move = np.full(workspace.dimension, 2.0**20)
        if is_flat(workspace):
            lower, upper = (bound + move for bound in workspace.bounds)
            moved = {1: Interval, 3: Box}.get(len(p), lambda *_: Polygon(FIVE.vertices + move))(
                lower, upper
            )
        else:
            center = np.array(workspace.center) + move
            moved = Ellipsoid(center, workspace.semi_axes, workspace.axes)
        here, there = (
            pair_of(weighted_region(w, Uniform()), a, b, r)
            for w, a, b in ((workspace, p, q), (moved, p + move, q + move))
        )
        assert there.share == pytest.approx(here.share, abs=1e-7)
        assert there.offset == pytest.approx(here.offset, abs=1e-7)


def test_more_changes_than_memory_was_made_for():
    """Hundreds of others on a circle round the agent, each with a piece of its own."""
    angles = np.arange(400) * (2.0 * math.pi / 400)
    ring = 0.5 * np.column_stack([np.cos(angles), np.sin(angles)])
    cell = guaranteed_cell(Ball((0, 0), 1.0), (0.0, 0.0), ring, 0.0)
    assert cell.area == pytest.approx(400 * 0.0625 * math.tan(math.pi / 400), rel=1e-9, abs=0.0)


SCRIPT = """
import numpy as np, dwell
from dwell.cells.weighted_region import weighted_region
from dwell.cells.backend import pair_of
for site, n in ((dwell.Ellipsoid((0, 0), (2, 1)), 2), (dwell.Box((0, 0, 0), (1, 1, 1)), 3)):
    places = 0.8 * np.random.default_rng(4).random((4, n))
    for density in (dwell.Uniform(), dwell.Gaussian(center=(0.4, 0.1, 0.6)[:n], rate=2.0)):
        pair = pair_of(weighted_region(site, density), places[0], places[1:], np.full(3, 0.03))
        print([float(v).hex() for v in np.hstack(pair)])
"""


@pytest.mark.exhaustive
def test_compiled_and_plain_give_the_same_bits():
    assert printed(SCRIPT, jit=False) == printed(SCRIPT, jit=True)


@everywhere
def test_earlier_cells_leave_no_trace(workspace):
    """Working memory is shared: no bit depends on what it was used for before."""
    ground = weighted_region(workspace, density("mixture", workspace.dimension))
    first = [pair_of(ground, *crowd(workspace, seed, 4)) for seed in range(6)]
    again = [pair_of(ground, *crowd(workspace, seed, 4)) for seed in reversed(range(6))]
    for a, b in zip(first, reversed(again), strict=True):
        assert np.array_equal(np.hstack(a), np.hstack(b))
