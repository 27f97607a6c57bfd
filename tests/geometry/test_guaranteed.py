"""Guaranteed and dual guaranteed cells on the line and in polygons."""

import math

import numpy as np
import pytest

from dwell.cells.backend import pair_of
from dwell.cells.weighted_region import weighted_region
from dwell.density import Gaussian, Uniform
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

MAKERS = {False: guaranteed_cell, True: dual_guaranteed_cell}
BOX = Box((0, 0), (4, 3))
POSITION = (1.5, 1.25)
OTHERS = np.array([(3.0, 1.0), (1.0, 2.5), (2.5, 2.25), (0.5, 0.25)])
RADII = np.array([0.4, 0.3, 0.0, 0.2])
SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


@pytest.mark.parametrize(
    ("workspace", "kind"),
    [
        (Interval(0, 1), StarInterval),
        (Box((0,), (1,)), StarInterval),
        (Polytope([[0.0], [1.0]]), StarInterval),
        (Ball((0.5,), 0.5), StarInterval),
        (Box((0, 0), (1, 1)), StarCell),
        (Polytope(SQUARE), StarCell),
        (Polygon(SQUARE), StarCell),
        (Box((0, 0, 0), (1, 1, 1)), StarRegion),
        (Polytope(Box((0, 0, 0), (1, 1, 1)).vertices), StarRegion),
    ],
)
def test_the_workspace_decides_the_kind(workspace, kind):
    cell = guaranteed_cell(workspace, np.full(workspace.dimension, 0.5), [], 0.0)
    assert isinstance(cell, kind)
    assert cell.volume == pytest.approx(1.0)


@pytest.mark.parametrize("r", [0.0, 0.05, 0.2, 0.49])
def test_two_agents_on_the_line(r):
    """Of the pair that a trigger asks for, the drift is bounded by r exactly."""
    inner, outer = (make(Interval(0, 1), 0.25, [0.75], r) for make in MAKERS.values())
    assert inner.corners.ravel() == pytest.approx([0.0, (1 - r) / 2], abs=1e-15)
    assert outer.corners.ravel() == pytest.approx([0.0, (1 + r) / 2], abs=1e-15)
    assert inner.borders.tolist() == outer.borders.tolist() == [-1, 0]
    assert (outer.diameter, outer.circumradius) == pytest.approx(((1 + r) / 2, (1 + r) / 4))
    ground = weighted_region(Interval(0, 1), Uniform())
    pair = pair_of(ground, np.array([0.25]), np.array([[0.75]]), np.array([r]))
    assert pair.diameter * (1 - pair.share) == pytest.approx(r, abs=1e-15)
    assert (pair.clearance, pair.offset[0]) == pytest.approx(((1 - r) / 4, -r / 4))


def test_far_out_in_a_tail_on_the_line():
    """The masses underflow, but not their ratio."""
    ground = weighted_region(Interval(0, 1), Gaussian(center=(60.0,), rate=1.0))
    pair = pair_of(ground, np.array([0.25]), np.array([[0.75]]), np.array([0.01]))
    assert 0.2 < pair.share < 0.4  # e**-(2 * 59.5 * 0.01) and a little more


@pytest.mark.parametrize("dual", MAKERS)
def test_the_outline_is_that_of_the_area(dual):
    cell = MAKERS[dual](BOX, POSITION, OTHERS, RADII)
    ring = cell.outline(2000)
    after = np.roll(ring, -1, axis=0)
    area = 0.5 * float((ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum())
    assert area == pytest.approx(cell.area, rel=1e-6)


@pytest.mark.parametrize("radius", [0.0, 0.1, 0.3, 0.49])
def test_a_thin_strip_is_the_line(radius):
    """In [0, 1] with agents at 1/4 and 3/4, certain is [0, (1 - r) / 2], possible (1 + r) / 2."""
    strip = Box((0, -1e-6), (1, 1e-6))
    ends = [
        make(strip, (0.25, 0.0), [(0.75, 0.0)], radius).corners[:, 0] for make in MAKERS.values()
    ]
    assert ends[0].min() == ends[1].min() == 0.0
    assert ends[0].max() == pytest.approx((1 - radius) / 2, abs=1e-7)
    assert ends[1].max() == pytest.approx((1 + radius) / 2, abs=1e-7)
    axis = [
        float(make(strip, (0.25, 0), [(0.75, 0)], radius).radius(0.0)) for make in MAKERS.values()
    ]
    assert axis == pytest.approx([(1 - radius) / 2 - 0.25, (1 + radius) / 2 - 0.25], abs=1e-15)


@pytest.mark.parametrize("dual", [False, True])
def test_corners_lie_on_the_two_curves_they_join(dual):
    cell = MAKERS[dual](BOX, POSITION, OTHERS, RADII)
    sign = -1.0 if dual else 1.0
    assert len(cell.corners) == len(cell.borders) >= 4
    for corner, after, before in zip(
        cell.corners, cell.borders, np.roll(cell.borders, 1), strict=True
    ):
        for label in (int(after), int(before)):
            if label >= 0:
                own, theirs = math.dist(corner, POSITION), math.dist(corner, OTHERS[label])
                assert own + sign * RADII[label] == pytest.approx(theirs, abs=1e-13)
            else:
                a, b = BOX.vertices[-1 - label], BOX.vertices[-label % 4]
                assert abs((b - a)[0] * (corner - a)[1] - (b - a)[1] * (corner - a)[0]) <= 1e-13


def dense(cell):
    """Boundary points, straight edges included."""
    ring = cell.outline(400)
    after = np.roll(ring, -1, axis=0)
    return np.concatenate([ring + k / 20 * (after - ring) for k in range(20)])


SCENES = {
    "sharp": (Box((-9, -1), (9, 1)), (0, 0), [(2, 0)], 1.9),
    "lens": (Box((-9, -9), (9, 9)), (0, 0), [(2, 0), (-2, 0)], 1.9),
    "three": (Box((-9, -9), (9, 9)), (0, 0), [(2, 0), (-1.2, 1.6), (-1.2, -1.6)], 1.0),
    "box": (BOX, POSITION, OTHERS, RADII),
    "alone": (BOX, POSITION, [], 0.0),
    "flat": (Box((0, 0), (9, 1)), (4.5, 0.5), [(1, 0.5), (8, 0.5)], 2.0),
}


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("dual", MAKERS)
def test_width_against_many_points(name, dual):
    cell = MAKERS[dual](*SCENES[name])
    points = Polygon.hull_of(dense(cell)).vertices
    widest = max(np.hypot(*(points - z).T).max() for z in points)
    assert widest <= cell.diameter * (1 + 1e-12)
    assert widest == pytest.approx(cell.diameter, rel=1e-5)
    assert cell.diameter / 2 <= cell.circumradius * (1 + 1e-12)
    assert cell.circumradius <= cell.diameter / math.sqrt(3) * (1 + 1e-12)
    middle = points.mean(axis=0)
    assert cell.circumradius <= np.hypot(*(points - middle).T).max() * (1 + 1e-9)


def test_a_guaranteed_cell_may_be_wider_than_its_corners():
    """A long strip with a tip: the tip's arc bulges far beyond the corners, and is the widest."""
    cell = guaranteed_cell(*SCENES["sharp"])
    t = np.linspace(-0.5, 0.5, 200_001)
    tip = cell.radius(t)[:, None] * np.column_stack([np.cos(t), np.sin(t)])
    widest = np.hypot(*(tip - (-9.0, -1.0)).T).max()
    assert cell.diameter == pytest.approx(widest, rel=1e-10, abs=0.0)
    assert cell.diameter > 9.0
    assert max(math.dist(a, b) for a in cell.corners for b in cell.corners) < 7.2
    # Symmetric: the smallest circle goes through the tip and the two corners at the other end.
    tip_x, end_x = 0.05, -9.0
    radius = ((tip_x - end_x) ** 2 + 1.0) / (2.0 * (tip_x - end_x))
    assert cell.circumradius == pytest.approx(radius, rel=1e-12, abs=0.0)


def test_width_without_uncertainty_is_that_of_the_polygon():
    others = [(3, 0), (-3, 0), (0, 2), (0, -2)]
    for make in MAKERS.values():
        cell = make(Box((-9, -9), (9, 9)), (0, 0), others, 0.0)
        assert cell.diameter == pytest.approx(math.hypot(3, 2), rel=1e-14, abs=0.0)
        assert cell.circumradius == pytest.approx(math.hypot(3, 2) / 2, rel=1e-14, abs=0.0)


def test_a_dual_cell_without_information_is_everything():
    cell = dual_guaranteed_cell(BOX, POSITION, OTHERS, 9.0)
    assert not cell.empty
    assert cell.area == pytest.approx(12.0, rel=1e-14, abs=0.0)
    assert cell.diameter == pytest.approx(5.0, rel=1e-14, abs=0.0)
    assert cell.circumradius == pytest.approx(2.5, rel=1e-14, abs=0.0)
    assert sorted(cell.borders) == [-4, -3, -2, -1]


def test_radii_one_for_all_or_one_each():
    one, each = (guaranteed_cell(BOX, POSITION, OTHERS, r) for r in (0.1, [0.1] * 4))
    assert (one.corners == each.corners).all()
    assert one.radii.tolist() == [0.1] * 4
    with pytest.raises(ValueError, match="read-only"):
        one.radii[0] = 2.0
