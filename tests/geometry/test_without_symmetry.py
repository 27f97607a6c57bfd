"""Workspaces without symmetry against plain searches: nearest points, parts, faces, motion."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dwell import (
    Ball,
    Box,
    Ellipsoid,
    Interval,
    MovingPolygon,
    Polygon,
    Polytope,
    Region,
)
from dwell.errors import WorkspaceError
from dwell.geometry.outlines import outline_of
from dwell.motion import Keyframes

TURN = [[0.8, 0.6], [-0.6, 0.8]]
SPIN = [[2 / 3, 2 / 3, 1 / 3], [-2 / 3, 1 / 3, 2 / 3], [1 / 3, -2 / 3, 2 / 3]]
CORNERS = [(7, 3, 1), (9, 3, 1.5), (7, 6, 1), (7.5, 3.5, 5), (8.5, 5.5, 4)]
CONVEX: dict[str, Any] = {
    "interval": Interval(1.0, 3.5),
    "polygon": Polygon([(7, 3), (11, 4), (10, 8), (6.5, 6)]),
    "clockwise": Polygon([(6.5, 6), (10, 8), (11, 4), (7, 3)]),
    "box": Box((7, 3), (9, 8)),
    "bar": Box((7, 3, 1), (8, 5, 4.5)),
    "tesseract": Box((0, 1, 2, 3), (1, 3, 5, 7)),
    "solid": Polytope(CORNERS),
    "disc": Ball((7, 3), 1.5),
    "ball": Ball((7, 3, 1), 1.5),
    "ellipse": Ellipsoid((7, 3), (2.0, 0.5), TURN),
    "ellipsoid": Ellipsoid((7, 3, 1), (2.0, 1.0, 0.4), SPIN),
}


def inside(site: Any, points: np.ndarray) -> np.ndarray:
    """Whether points are in a convex workspace, by its definition."""
    if isinstance(site, Ball | Ellipsoid):
        local = (points - np.array(site.center)) @ np.array(site.axes).T
        found: np.ndarray = ((local / np.array(site.semi_axes)) ** 2).sum(axis=1) <= 1.0 + 1e-12
        return found
    return (points @ site.normals.T <= site.offsets + 1e-9).all(axis=1)


@pytest.mark.parametrize("name", CONVEX)
def test_bounds_volume_and_nearest_points(name: str) -> None:
    site = CONVEX[name]
    lower, upper = (np.array(end) for end in site.bounds)
    rng = np.random.default_rng(3)
    points = lower + (upper - lower) * rng.random((40_000, len(lower)))
    within = inside(site, points)
    share = within.mean() * float((upper - lower).prod())
    assert share == pytest.approx(site.volume, rel=0.04)
    kept = points[within]
    np.testing.assert_allclose([kept.min(axis=0), kept.max(axis=0)], [lower, upper], atol=0.7)
    around = lower + (upper - lower) * (3.0 * rng.random((60, len(lower))) - 1.0)
    nearest = site.nearest(around)
    assert inside(site, nearest).all()
    own = inside(site, around)
    np.testing.assert_allclose(nearest[own], around[own], atol=1e-12)
    for point, found in zip(around, nearest, strict=True):
        gap = np.linalg.norm(found - point)
        assert gap <= np.linalg.norm(kept - point, axis=1).min() + 1e-9
        # From the nearest point of a convex set, all of it lies behind.
        assert ((kept - found) @ (point - found)).max() <= 1e-6 * (1.0 + gap)
    far = np.linalg.norm(kept[:300, None] - kept[None, :300], axis=2).max()
    assert far <= site.diameter + 1e-9


@pytest.mark.parametrize("name", ["polygon", "clockwise", "box", "bar", "solid", "interval"])
def test_faces_lie_on_their_planes_and_turn_outward(name: str) -> None:
    site = CONVEX[name]
    corners = np.array(site.vertices)
    every = [np.linalg.norm(a - b) for a, b in itertools.combinations(corners, 2)]
    assert site.diameter == pytest.approx(max(every))
    middle = corners.mean(axis=0)
    assert len(site.faces) == len(site.normals) == len(site.offsets)
    for face, normal, offset in zip(site.faces, site.normals, site.offsets, strict=True):
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        np.testing.assert_allclose(corners[face] @ normal, offset)
        assert middle @ normal < offset
        if site.dimension == 3:
            ring = corners[face]
            turn = np.cross(ring[1] - ring[0], ring[2] - ring[1])
            assert turn @ normal > 0.0  # counter-clockwise from outside
    if site.dimension == 2:
        x, y = corners.T
        assert (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() > 0.0
    if name == "solid":
        rows = Polytope.from_halfspaces(3.0 * site.normals, 3.0 * site.offsets)
        assert rows.volume == pytest.approx(site.volume)
        np.testing.assert_allclose(
            sorted(map(tuple, rows.vertices.round(9))), sorted(map(tuple, corners.round(9)))
        )


def test_outlines_of_turned_ellipses() -> None:
    site = CONVEX["ellipse"]
    ring = outline_of(site)
    local = (ring - np.array(site.center)) @ np.array(TURN).T / np.array([2.0, 0.5])
    np.testing.assert_allclose((local**2).sum(axis=1), 1.0)
    np.testing.assert_allclose([ring.min(axis=0), ring.max(axis=0)], site.bounds, atol=1e-4)
    tip = np.array([7, 3]) + 2.0 * np.array(TURN[0])
    assert np.linalg.norm(ring - tip, axis=1).min() < 1e-9


# Regions: an L with a hole, and two islands, of which the smaller one comes first.

ISLANDS = [
    [(9, 0), (10, 0), (10, 1)],
    {
        "outer": [(0, 0), (6, 0), (6, 2), (3, 2), (3, 5), (0, 5)],
        "holes": [[(1, 1), (1, 3), (2, 3), (2, 1)], [(4, 0.5), (5, 0.5), (5, 1.5)]],
    },
    [(8, 4), (11, 4), (11, 6), (9, 5), (8, 6)],
]
RINGS = [
    [ISLANDS[0]],
    [ISLANDS[1]["outer"], *ISLANDS[1]["holes"]],
    [ISLANDS[2]],
]


def part_of(point: Any) -> int:
    """The part that a point lies in, by crossings of a ray; -1 for none."""
    for number, rings in enumerate(RINGS):
        crossings = 0
        for ring in rings:
            for (ax, ay), (bx, by) in zip(ring, [*ring[1:], ring[0]], strict=True):
                if (ay > point[1]) != (by > point[1]):
                    crossings += point[0] < ax + (point[1] - ay) / (by - ay) * (bx - ax)
        if crossings % 2:
            return number
    return -1


def boundary_of(number: int) -> np.ndarray:
    """Many points along the rings of a part."""
    steps = np.linspace(0.0, 1.0, 401)[:, None]
    return np.vstack([
        (1 - steps) * np.array(a, float) + steps * np.array(b, float)
        for ring in RINGS[number]
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize("stay", [False, True])
def test_regions_of_several_parts(stay: bool) -> None:
    site = Region(ISLANDS, stay=stay)
    area = 0.5 + (12 + 9 - 2 - 0.5) + (6 - 1.5)
    assert site.area == site.volume == pytest.approx(area)
    assert site.hull.area > site.area
    points = np.random.default_rng(5).uniform((-1, -1), (12, 7), (400, 2))
    parts = np.array([part_of(point) for point in points])
    assert site.covers(points).tolist() == (parts >= 0).tolist()
    assert min(np.bincount(parts + 1)) > 2
    edges = [boundary_of(number) for number in range(3)]
    nearest, numbers = site.nearest_inside(points), site.parts_at(points)
    for point, part, found, number in zip(points, parts, nearest, numbers, strict=True):
        gaps = [np.linalg.norm(edge - point, axis=1).min() for edge in edges]
        if part >= 0:
            np.testing.assert_allclose(found, point)
            assert number == part
            continue
        assert np.linalg.norm(found - point) == pytest.approx(min(gaps), abs=5e-3)
        first, second = sorted(gaps)[:2]
        if second - first > 0.02:
            assert number == np.argmin(gaps)
            assert site.routes_at(point) is site.routes[number]
        hole = any(part_of_ring(point, ring) for ring in ISLANDS[1]["holes"])
        assert site.has_hole_around(point) is hole
    kept = site.nearest(points)
    np.testing.assert_allclose(kept, nearest if stay else site.hull.nearest(points))
    for ring in site.rings:
        x, y = ring.T
        turn = (x * np.roll(y, -1) - y * np.roll(x, -1)).sum()
        outer = any(ring is part.outer for part in site.parts)
        assert bool(turn > 0.0) is outer  # the region on the left
    assert [len(part.holes) for part in site.parts] == [0, 2, 0]


def part_of_ring(point: Any, ring: Any) -> bool:
    crossings = 0
    for (ax, ay), (bx, by) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (ay > point[1]) != (by > point[1]):
            crossings += point[0] < ax + (point[1] - ay) / (by - ay) * (bx - ax)
    return bool(crossings % 2)


# Boundaries that move.

FIRST, LAST = [(0, 0), (4, 0), (3, 3)], [(2, 0), (8, 1), (3, 5)]


def test_a_boundary_between_its_keyframes() -> None:
    for between in ("linear", "step"):
        site = MovingPolygon(Keyframes([1.0, 3.0], [FIRST, LAST], between, "hold"))
        for t, share in ((0.0, 0.0), (1.0, 0.0), (1.5, 0.25), (3.0, 1.0), (7.0, 1.0)):
            part = share if between == "linear" or share == 1.0 else 0.0
            exact = (1 - part) * np.array(FIRST) + part * np.array(LAST)
            np.testing.assert_allclose(site.now(t).vertices, exact)
        rate = 0.5 * np.subtract(LAST, FIRST) if between == "linear" else 0.0
        np.testing.assert_allclose(site.rates(2.0), np.broadcast_to(rate, (3, 2)))
        np.testing.assert_allclose(site.rates(3.0), np.zeros((3, 2)))


def test_folds_between_keyframes_are_refused() -> None:
    square = [(0, 0), (4, 0), (4, 4), (0, 4)]
    turned = [square[2], square[3], square[0], square[1]]  # all meet in the middle
    dented = [(0, 0), (4, 0), (1, 1), (0, 4)]
    MovingPolygon(Keyframes([0.0, 1.0], [square[::-1], [(0, 5), (4, 5), (4, 0), (0, 0)]]))
    MovingPolygon(Keyframes([0.0, 1.0], [square, turned], "step"))
    for frames in ([square, turned], [square, square[::-1]], [square, dented], [dented, square]):
        with pytest.raises(WorkspaceError):
            MovingPolygon(Keyframes([0.0, 1.0], frames))
    with pytest.raises(WorkspaceError):
        MovingPolygon(Keyframes([0.0, 1.0, 2.0], [square, square, turned]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box((0, 0), (1, 0)),
        lambda: Box((0, 0), (1, 1, 1)),
        lambda: Box((0, 0), (1, 1e-12)),
        lambda: Interval(1.0, 1.0),
        lambda: Ball((0, 0), 0.0),
        lambda: Ellipsoid((0, 0), (1.0, -1.0)),
        lambda: Ellipsoid((0, 0), (1.0, 2.0), [[1, 0], [0.5, 1]]),
        lambda: Polygon([(0, 0), (4, 0), (1, 1), (0, 4)]),
        lambda: Polygon([(0, 0), (4, 0)]),
        lambda: Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]),
        lambda: Polytope.from_halfspaces([[1, 0], [0, 1], [-1, 0]], [1, 1, 1]),
        lambda: Polytope.from_halfspaces([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, -2, 1, 1]),
        lambda: Region([[(0, 0), (4, 0), (4, 4)], [(1, 0.5), (5, 0.5), (5, 3)]]),
        lambda: Region([{"outer": [(0, 0), (4, 0), (4, 4)], "hole": []}]),
        lambda: Region([[(0, 0), (1, 0), (1, 1)]], stay=1),
    ],
)
def test_what_is_no_workspace_is_refused(make: Any) -> None:
    with pytest.raises(WorkspaceError):
        make()
