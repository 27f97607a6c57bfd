"""Guaranteed and dual guaranteed cells in discs, ellipses, balls and ellipsoids."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell._kernels.shells.kronrod import COUNT, GAUSS, KRONROD, LONG, NODE, SHORT
from dwell._kernels.shells.quartic import COLUMNS, roots_on_circle
from dwell._types import lengths
from dwell.cells.backend import measure_cells
from dwell.cells.ground import ground_of
from dwell.cells.guaranteed import pair_of
from dwell.cells.guaranteed_moments import star_moments
from dwell.density import Gaussian, Mixture, Polynomial, Uniform
from dwell.errors import AgentsError
from dwell.geometry import (
    Ball,
    Ellipsoid,
    Polygon,
    StarRound,
    dual_guaranteed_cell,
    guaranteed_cell,
)

pytestmark = pytest.mark.slow

TILT = np.array([[math.cos(0.5), math.sin(0.5)], [-math.sin(0.5), math.cos(0.5)]])
TURNED = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
DISC, EGG = Ball((0.1, -0.2), 1.0), Ellipsoid((0.3, 0.1), (1.6, 0.7), TILT)
BALL, SEED = Ball((0.1, -0.2, 0.05), 1.0), Ellipsoid((0.3, 0.1, 0.2), (1.4, 0.8, 1.0), TURNED)
FLAT, SOLID = [DISC, EGG], [BALL, SEED]
NAMES = ["disc", "ellipse", "ball", "ellipsoid"]


def scattered(workspace, count, seed):
    """Places in the region, uniformly."""
    rng = np.random.default_rng(seed)
    n = workspace.dimension
    u = rng.normal(size=(count, n))
    u *= (rng.random(count) ** (1 / n) / lengths(u))[:, None] * 0.999
    return (u * np.array(workspace.semi_axes)) @ np.asarray(workspace.axes) + workspace.center


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
    if cell.workspace.dimension == 2:
        angles = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
        return cell.outline(count) - cell.position, angles
    u = directions(seed, count)
    return cell.radius(u)[:, None] * u, u


def by_rays(cell, density, turns=200_000, nodes=24):
    """Mass and centroid in the plane by a plain sum over angles of `radius`, which is NumPy's."""
    angles = (np.arange(turns) + 0.5) * (2.0 * math.pi / turns)
    x, w = np.polynomial.legendre.leggauss(nodes)
    u = np.column_stack([np.cos(angles), np.sin(angles)])
    reach = cell.radius(angles)
    mass, first = 0.0, np.zeros(2)
    for node, weight in zip(0.5 * (1 + x), 0.5 * w, strict=True):
        r = node * reach
        z = r[:, None] * u
        share = density.at(cell.position + z) * weight * reach * r * (2.0 * math.pi / turns)
        mass += share.sum()
        first += (share[:, None] * z).sum(axis=0)
    return mass, first / mass


@pytest.mark.parametrize(("rule", "degree"), [(SHORT, 11), (LONG, 23)])
def test_the_rules_of_gauss_and_kronrod(rule, degree):
    n = COUNT[rule]
    x, plain = np.polynomial.legendre.leggauss(n // 2)
    assert NODE[rule, 1:n:2] == pytest.approx(x, abs=1e-15)
    assert GAUSS[rule, 1:n:2] == pytest.approx(plain, abs=1e-15)
    for power in range(degree + 1):
        exact = 2.0 / (power + 1) if power % 2 == 0 else 0.0
        assert (KRONROD[rule] * NODE[rule] ** power).sum() == pytest.approx(exact, abs=1e-15)


class TestQuartic:
    """Roots on the circle against those of a companion matrix."""

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=200, deadline=None)
    def test_no_root_is_missed(self, seed):
        q = np.random.default_rng(seed).normal(size=6)
        place, stack = np.empty((16, 2)), np.empty((64, COLUMNS))
        count = roots_on_circle(tuple(map(float, q)), place, stack)
        # z = exp(i angle): x = (z + 1 / z) / 2, y = (z - 1 / z) / 2i, times z**2
        c2 = (q[3] - q[5]) / 4 - 1j * q[4] / 4
        c1 = (q[1] - 1j * q[2]) / 2
        c0 = q[0] + (q[3] + q[5]) / 2
        roots = np.roots([c2, c1, c0, np.conj(c1), np.conj(c2)])
        real = roots[np.abs(np.abs(roots) - 1) < 1e-9]
        found = place[:count, 0] + 1j * place[:count, 1]
        assert np.abs(np.abs(found) - 1).max(initial=0.0) < 1e-14
        for z in real:
            assert np.abs(found - z).min(initial=np.inf) < 1e-6
        for z in found:
            assert np.abs(real - z).min(initial=np.inf) < 1e-6

    def test_two_roots_close_together(self):
        """x = 1 - 1e-9, as c - x = 0: two roots 9e-5 apart."""
        place, stack = np.empty((16, 2)), np.empty((64, COLUMNS))
        count = roots_on_circle((1 - 1e-9, -1.0, 0.0, 0.0, 0.0, 0.0), place, stack)
        assert count == 2
        expected = math.sqrt(1 - (1 - 1e-9) ** 2)
        assert sorted(place[:2, 1]) == pytest.approx([-expected, expected], rel=1e-6)


class TestPlane:
    """Discs and ellipses."""

    HILL = Gaussian(center=(0.5, 0.2), rate=4.0)
    ROOF = Polynomial([(0, 0, 1.0), (2, 0, 3.0), (0, 2, 1.5)])

    @pytest.mark.parametrize("workspace", FLAT, ids=NAMES[:2])
    @pytest.mark.parametrize("n", [0, 1, 3, 8])
    def test_areas_and_centroids_by_plain_sums(self, workspace, n):
        for seed in range(3):
            for cell in both(workspace, *crowd(workspace, seed, n)):
                assert isinstance(cell, StarRound)
                mass, offset = by_rays(cell, Uniform(), nodes=4)
                found = star_moments(cell)
                assert found.mass == cell.area == pytest.approx(mass, rel=1e-9, abs=0.0)
                assert found.offset == pytest.approx(offset, abs=1e-9)

    @pytest.mark.parametrize("workspace", FLAT, ids=NAMES[:2])
    @pytest.mark.parametrize("density", [HILL, ROOF, Mixture([Uniform(0.3), HILL])])
    def test_varying_densities_by_plain_sums_and_as_functions(self, workspace, density):
        for cell in both(workspace, *crowd(workspace, 7, 5)):
            mass, offset = by_rays(cell, density, 20_000)
            found = star_moments(cell, density)
            assert found.mass == pytest.approx(mass, rel=1e-7)
            assert found.offset == pytest.approx(offset, abs=1e-7)
            blind = star_moments(cell, density.at)
            assert blind.mass == pytest.approx(found.mass, rel=1e-9, abs=0.0)
            assert blind.offset == pytest.approx(found.offset, abs=1e-9)
            assert blind.second_moment == pytest.approx(found.second_moment, rel=1e-8)

    def test_half_a_disc(self):
        cell = guaranteed_cell(Ball((0, 0), 1.0), (-0.4, 0.0), [(0.4, 0.0)], 0.0)
        found = star_moments(cell)
        assert found.mass == pytest.approx(math.pi / 2, rel=1e-13, abs=0.0)
        assert found.centroid == pytest.approx([-4 / (3 * math.pi), 0.0], abs=1e-13)
        assert 2.0 <= cell.diameter <= 2.0 * (1 + 1e-4)
        assert cell.distance_to_boundary(found.centroid) == pytest.approx(4 / (3 * math.pi))

    @pytest.mark.parametrize("workspace", FLAT, ids=NAMES[:2])
    @pytest.mark.parametrize(
        "density", [Uniform(), HILL, ROOF, Gaussian((0.3, 0.1), 3000.0), Gaussian((9.0, 3.0), 2.0)]
    )
    def test_with_nothing_uncertain_they_are_the_cells_that_looks_see(self, workspace, density):
        """By contours, which share no code with rays; narrow hills and far tails included."""
        places = scattered(workspace, 7, 5)
        ground = ground_of(workspace, density)
        everybody = np.arange(7)
        seen = measure_cells(ground, places[None], np.zeros(7, int), everybody)
        for k in everybody:
            for cell in both(workspace, places[k], np.delete(places, k, axis=0), 0.0):
                found = star_moments(cell, density)
                log_mass = math.log(seen.mass[k]) + seen.log_scale[k]
                assert found.log_mass == pytest.approx(log_mass, abs=1e-10)
                assert found.offset == pytest.approx(seen.error[k], abs=1e-10)

    @pytest.mark.parametrize("workspace", FLAT, ids=NAMES[:2])
    def test_distances_from_the_boundary(self, workspace):
        for seed in range(4):
            for cell in both(workspace, *crowd(workspace, seed, 4)):
                outline = cell.outline(40_000)
                for place in scattered(workspace, 20, seed):
                    room = lengths(outline - place).min() if cell.contains(place)[0] else 0.0
                    assert cell.distance_to_boundary(place) == pytest.approx(room, abs=2e-4)

    def test_a_polygon_with_many_sides_is_nearly_a_disc(self):
        angles = np.arange(720) * (2.0 * math.pi / 720)
        many = Polygon(np.column_stack([np.cos(angles), np.sin(angles)]) + DISC.center)
        density = self.HILL
        for seed in range(4):
            p, q, r = crowd(DISC, seed, 5)
            round_, flat = (pair_of(ground_of(w, density), p * 0.99, q, r) for w in (DISC, many))
            assert round_.share == pytest.approx(flat.share, abs=1e-5)
            assert round_.offset == pytest.approx(flat.offset, abs=1e-5)
            assert round_.room == pytest.approx(flat.room, abs=1e-5)
            assert round_.diameter == pytest.approx(flat.diameter, rel=2e-4)
            assert round_.circumradius == pytest.approx(flat.circumradius, rel=2e-4)


class TestSpace:
    """Balls and ellipsoids."""

    HILL = Gaussian(center=(0.3, 0.2, 0.1), rate=4.0)

    @pytest.mark.parametrize("workspace", SOLID, ids=NAMES[2:])
    @pytest.mark.parametrize("n", [0, 1, 5])
    def test_volumes_by_chance(self, workspace, n):
        z = scattered(workspace, 300_000, 9)
        for cell in both(workspace, *crowd(workspace, 4, n)):
            inside = cell.contains(z)
            share = cell.volume / (workspace.volume * 0.999**3)
            spread = 5 * math.sqrt(max(share * (1 - share), 1e-6) / len(z))
            assert abs(inside.mean() - share) < spread + 3e-3 * (n == 0)
            off = z[inside].mean(axis=0) - cell.position - star_moments(cell).offset
            assert lengths(off) < 6 * workspace.diameter / math.sqrt(inside.sum())

    def test_a_whole_ball_and_a_half(self):
        unit = Ball((0, 0, 0), 1.0)
        assert guaranteed_cell(unit, (0.3, 0.2, -0.5), [], []).volume == pytest.approx(
            4 * math.pi / 3, rel=1e-7
        )
        half = star_moments(guaranteed_cell(unit, (0.2, -0.4, 0.4), [(-0.2, 0.4, -0.4)], 0.0))
        assert half.mass == pytest.approx(2 * math.pi / 3, rel=1e-6)
        assert lengths(half.centroid) == pytest.approx(0.375, rel=1e-6)

    @pytest.mark.parametrize("workspace", SOLID, ids=NAMES[2:])
    @pytest.mark.parametrize("density", [Uniform(), HILL, Gaussian((0.3, 0.2, 0.1), 400.0)])
    def test_with_nothing_uncertain_they_are_the_cells_that_looks_see(self, workspace, density):
        """By slices, which share no code with rays; the error is what it is said to be."""
        places = scattered(workspace, 7, 2)
        everybody = np.arange(2)
        seen = measure_cells(
            ground_of(workspace, density), places[None], np.zeros(2, int), everybody
        )
        for k in everybody:
            for cell in both(workspace, places[k], np.delete(places, k, axis=0), 0.0):
                found = star_moments(cell, density)
                log_mass = math.log(seen.mass[k]) + seen.log_scale[k]
                assert 0.0 < found.error < 1e-5
                assert found.log_mass == pytest.approx(log_mass, abs=found.error)
                assert found.offset == pytest.approx(seen.error[k], abs=2 * found.error)

    def test_a_function_and_its_terms(self):
        p, q, r = crowd(BALL, 5, 3)
        cell = guaranteed_cell(BALL, p, q, r)
        known, blind = star_moments(cell, self.HILL), star_moments(cell, self.HILL.at)
        assert blind.mass == pytest.approx(known.mass, rel=1e-5)
        assert blind.offset == pytest.approx(known.offset, abs=1e-5)

    def test_distances_from_the_boundary(self):
        for workspace in SOLID:
            for cell in both(workspace, *crowd(workspace, 6, 3)):
                edge, _ = edge_of(cell, 0, 200_000)
                for place in scattered(workspace, 12, 1):
                    room = cell.distance_to_boundary(place)
                    if not cell.contains(place)[0]:
                        assert room == 0.0
                        continue
                    nearest = lengths(edge + cell.position - place).min()
                    assert nearest - 0.02 <= room <= nearest + 1e-9


@pytest.mark.parametrize("workspace", [*FLAT, *SOLID], ids=NAMES)
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
            edge, _ = edge_of(cell, seed, 500)
            assert cell.contains(p + (1 - 1e-9) * edge).all()
            assert not cell.contains(p + (1 + 1e-9) * edge).any()

    @given(st.integers(0, 2**32 - 1))
    @settings(max_examples=8, deadline=None)
    def test_sizes_are_true_upper_bounds(self, workspace, seed):
        for cell in both(workspace, *crowd(workspace, seed)):
            edge, _ = edge_of(cell, seed, 900)
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
        ground = ground_of(workspace, Uniform())
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
        p = np.array(workspace.center) + np.asarray(workspace.axes)[0] * workspace.semi_axes[0]
        inner = guaranteed_cell(workspace, p, q, 0.0)
        other = guaranteed_cell(workspace, p + 1e-6 * (np.array(workspace.center) - p), q, 0.0)
        assert inner.volume == pytest.approx(other.volume, rel=1e-4)
        assert pair_of(ground_of(workspace, Uniform()), p, q, np.zeros(len(q))) is not None

    def test_met_and_outside(self, workspace):
        p, q, _ = crowd(workspace, 3)
        ground, far = ground_of(workspace, Uniform()), p + 5.0
        reach = np.full(len(q), 1.01 * lengths(q - p).min())
        assert guaranteed_cell(workspace, p, q, reach).empty
        assert star_moments(guaranteed_cell(workspace, p, q, reach)).mass == 0.0
        assert pair_of(ground, p, q, reach) is None
        assert pair_of(ground, far, q, 0.01 * reach) is None
        with pytest.raises(AgentsError):
            guaranteed_cell(workspace, far, q, 0.0)

    def test_moved_far_away(self, workspace):
        """In the agent's own frame nothing is lost."""
        p, q, r = crowd(workspace, 8)
        move = np.full(workspace.dimension, 2.0**20)
        center = np.array(workspace.center) + move
        if isinstance(workspace, Ball):
            moved = Ball(center, workspace.radius)
        else:
            moved = Ellipsoid(center, workspace.semi_axes, workspace.axes)
        here, there = (
            pair_of(ground_of(w, Uniform()), a, b, r)
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
from dwell.density import Gaussian
from dwell.cells.ground import ground_of
from dwell.cells.guaranteed import pair_of
ground = ground_of(dwell.Ellipsoid((0, 0), (2, 1)), Gaussian(center=(0.4, 0.1), rate=2.0))
others, radii = np.array([[0.9, 0.1], [-0.5, 0.6]]), np.array([0.1, 0.2])
pair = pair_of(ground, np.array([0.3, 0.2]), others, radii)
print(pair.share.hex(), pair.offset.tobytes().hex(), pair.room.hex(), pair.diameter.hex())
"""


def test_compiled_and_plain_give_the_same_bits():
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "DWELL_JIT": flag},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for flag in ("0", "1")
    ]
    assert said[0] == said[1]
