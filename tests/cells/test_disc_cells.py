"""Cells in discs and ellipses: forty digits, corners, and Gaussians of all kinds."""

import mpmath as mp
import numpy as np
import pytest

from dwell import Ball, Ellipsoid
from dwell.cells import tessellate
from dwell.cells.backend import borders as polygon_borders
from dwell.cells.cones import borders, cells
from dwell.cells.curved import ARC
from dwell.cells.weighted_region import weighted_region
from dwell.density import Function, Gaussian, Polynomial
from dwell.geometry import Polygon
from tests.cells.shapes import (
    CURVED,
    DISC,
    ELLIPSE,
    HARD,
    HILLS,
    NEEDLE,
    local,
    look,
    scatter,
    tilted,
)
from tests.oracles import curved_cells as oracle

# ------------------------------------------------------------------------ forty digits


def against_digits(shape, positions, agent, seen, density=None, parts=2, rel=2e-13):
    mass, error, polar, second = oracle.moments(shape, positions, agent, density, parts)
    width = float(mp.sqrt(second / mass))
    away = float(mp.sqrt(error[0] ** 2 + error[1] ** 2))
    assert seen.mass[agent] == pytest.approx(float(mass), rel=rel)
    for i in range(2):
        gap = float(error[i] - mp.mpf(seen.error[agent, i]))
        assert abs(gap) <= rel * width + 4e-16 * away
    assert seen.polar[agent] == pytest.approx(float(polar), rel=rel)
    assert seen.second[agent] == pytest.approx(float(second), rel=rel)


@pytest.mark.parametrize("name", HARD)
def test_against_forty_digits(name):
    shape, places = HARD[name]
    positions = np.asarray(places, dtype=float)
    seen = look(shape, positions)
    inside = shape.contains(positions)
    for agent in np.flatnonzero(inside | (name == "on the boundary")):
        against_digits(shape, positions, agent, seen)


@pytest.mark.parametrize(
    ("density", "asked", "parts"),
    [
        (Gaussian((1.0, 1.0), 1.7), (1.0, (1.0, 1.0), ((1.7, 0.0), (0.0, 1.7))), 4),
        (Gaussian((2.0, 0.6), 5.0), (1.0, (2.0, 0.6), ((5.0, 0.0), (0.0, 5.0))), 4),
        (Polynomial([(0, 0, 3.0), (2, 4, 1.0), (16, 0, 1e-3)]), None, 2),
    ],
)
def test_densities_against_forty_digits(density, asked, parts):
    asked = [(0, 0, 3.0), (2, 4, 1.0), (16, 0, 1e-3)] if asked is None else asked
    positions = scatter(DISC, 3, 12)
    seen = look(DISC, positions, density)
    against_digits(DISC, positions, 2, seen, asked, parts)


def test_a_small_cell_at_the_wall_keeps_its_digits_under_a_hill():
    disc = Ball((0.0, 0.0), 1.0)
    positions = np.array([(0, 1 - 1e-9), (1e-9, 1 - 2e-9), (-2e-9, 1 - 1e-9), (0, 0)])
    seen = look(disc, positions, Gaussian((0.2, 0.6), 9.0))
    against_digits(
        disc, positions, 0, seen, (1.0, (0.2, 0.6), ((9.0, 0.0), (0.0, 9.0))), 4, rel=1e-12
    )


# ----------------------------------------------------------------------------- cells


@pytest.mark.parametrize("shape", ["disc", "ellipse", "needle", "far"])
def test_corners_lie_on_their_curves(shape):
    where = CURVED[shape]
    positions = scatter(where, 25, 17)
    arcs = 0
    for cell in cells(where, positions):
        after = np.roll(cell.borders, 1)
        for offset, labels in zip(cell.offsets, zip(cell.borders, after, strict=True), strict=True):
            for label in labels:
                if label == ARC:
                    arcs += 1
                    level = (local(where, cell.position + offset) ** 2).sum()
                    assert level == pytest.approx(1.0, abs=1e-8 if shape == "far" else 1e-11)
                else:
                    gap = positions[label] - cell.position
                    assert (offset - 0.5 * gap) @ gap == pytest.approx(
                        0.0, abs=1e-12 * max(where.semi_axes) ** 2
                    )
        outline = cell.outline()
        assert (local(where, outline) ** 2).sum(axis=1).max() < 1 + 1e-8
    assert arcs > 0


def test_labels_agree_with_forty_digits():
    positions = scatter(ELLIPSE, 9, 19)
    seen = look(ELLIPSE, positions)
    for cell in cells(ELLIPSE, positions):
        asked = [name for name in oracle.labels(ELLIPSE, positions, cell.agent) if name >= 0]
        assert sorted(cell.borders[cell.borders >= 0]) == sorted(asked)
        assert seen.neighbors[cell.agent] == len(asked)
        for other in asked:
            edge, back = cell.edge_with(other), cells(ELLIPSE, positions, [other])[0]
            assert edge == pytest.approx(back.edge_with(cell.agent)[::-1], abs=1e-12)
    assert cells(ELLIPSE, positions, [0])[0].edge_with(99) is None


def test_one_edge_cut_off_twice():
    """A polygon edge whose both ends lie beyond the disc, and a cell with two arcs."""
    positions = np.array([(0.0, 0.0), (0.5, 0.0), (-0.5, 0.0)])
    middle, right, _ = cells(Ball((0.0, 0.0), 1.0), positions)
    assert sorted(middle.borders) == [ARC, ARC, 1, 2]
    assert sorted(right.borders) == [ARC, 0]
    assert np.hypot(*middle.offsets.T) == pytest.approx(1.0, abs=1e-15)


def test_the_root_of_a_thin_ellipse_keeps_its_digits():
    (w11, w12), (_, w22) = NEEDLE.root.matrix
    with mp.workdps(40):
        rows = [
            [mp.mpf(v) / mp.mpf(s) for v in row]
            for row, s in zip(NEEDLE.axes.tolist(), NEEDLE.semi_axes, strict=True)
        ]
        (a, b), (c, d) = rows
        first = mp.sqrt(a * a + c * c)
        assert w11 == pytest.approx(float(first), rel=4e-16, abs=0.0)
        assert w12 == pytest.approx(float((a * b + c * d) / first), rel=4e-16, abs=0.0)
        assert w22 == pytest.approx(float(abs(a * d - b * c) / first), rel=4e-16, abs=0.0)


# --------------------------------------------------------------------------- borders


def test_borders_like_a_polygon_inside():
    """Cells that do not touch the circle have the same borders in any large workspace."""
    axis = np.linspace(-0.5, 0.5, 5)
    positions = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    positions = positions + 0.03 * np.random.default_rng(3).normal(size=positions.shape)
    curved = borders(weighted_region(Ball((0.0, 0.0), 2.0), HILLS), positions)
    square = Polygon([(-3, -3), (3, -3), (3, 3), (-3, 3)])
    flat = polygon_borders(square, positions, HILLS)
    middle = 12
    ours, theirs = curved.agent == middle, flat.agent == middle
    assert sorted(curved.other[ours]) == sorted(flat.other[theirs])
    first, second = np.argsort(curved.other[ours]), np.argsort(flat.other[theirs])
    for name in ("m0", "m1", "m2"):
        assert getattr(curved, name)[ours][first] == pytest.approx(
            getattr(flat, name)[theirs][second], rel=1e-12, abs=1e-14
        )
    assert curved.masses[middle] == pytest.approx(flat.masses[middle], rel=1e-14, abs=0.0)


# ------------------------------------------------------------- functions and grids


@pytest.mark.parametrize("seed", range(1, 13))
def test_hills_of_all_kinds_agree_with_quadrature(seed):
    """Wide and narrow, round and long, inside and outside, near the wall and far."""
    rng = np.random.default_rng(seed)
    shape = Ellipsoid((0.3, -0.2), (2.0, 10.0 ** rng.uniform(-1, 0.3)), tilted(rng.uniform(0, 3)))
    long, wide = 10.0 ** rng.uniform(-1.2, 1.0, 2)
    turn = tilted(rng.uniform(0, 3))
    covariance = turn.T @ np.diag([long**2, wide**2]) @ turn
    covariance[1, 0] = covariance[0, 1]
    center = shape.center + 3 * rng.uniform(0, 1) * rng.normal(size=2)
    rows = tuple(tuple(float(v) for v in row) for row in covariance)
    hill = Gaussian(tuple(center), covariance=rows)
    positions = scatter(shape, 4, 100 + seed)
    slow, fast = look(shape, positions, Function(hill.at)), look(shape, positions, hill)
    sure = (slow.doubt < 1e-9) & (slow.mass > 1e-250)
    assert sure.any()
    mass = fast.mass * np.exp(fast.log_scale)
    assert mass[sure] == pytest.approx(slow.mass[sure], rel=3e-11, abs=0.0)
    assert fast.error[sure] == pytest.approx(slow.error[sure], abs=3e-11)
    assert (fast.second * np.exp(fast.log_scale))[sure] == pytest.approx(
        slow.second[sure], rel=1e-9
    )


@pytest.mark.parametrize("axes", [(1.0, 1.0), (1.0, 0.7)])
@pytest.mark.parametrize("rate", [800.0, 1000.0, 1500.0])
def test_second_moments_do_not_underflow_in_a_tail(axes, rate):
    """A weight scales masses and second moments alike, also where squares of masses underflow."""
    positions = np.random.default_rng(1).uniform(-0.65, 0.65, (20, 2)) * axes
    light, heavy = (
        tessellate(Ellipsoid((0.0, 0.0), axes), positions, Gaussian((0.3, 0.2), rate, weight=w))
        for w in (1.0, 1e200)
    )
    tail = (light.log_masses < -370.0) & (light.log_masses > -600.0)
    assert tail.any()
    spread = heavy.second_moments[tail] / heavy.masses[tail]
    found = light.second_moments[tail] / light.masses[tail]
    assert found == pytest.approx(spread, rel=1e-12, abs=0.0)


def test_a_jump_is_doubted():
    step = Function(lambda z: (z[:, 0] > 0.31).astype(float))
    seen = look(DISC, [(0.0, 0.0)], step)
    with mp.workdps(20):
        h = mp.mpf(0.01) / 2
        area = 4 * float(mp.acos(h) - h * mp.sqrt(1 - h * h))
    assert abs(seen.mass[0] / area - 1) < seen.doubt[0] < 0.05
