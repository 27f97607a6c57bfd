"""Shortest paths within a polygon with holes."""

from __future__ import annotations

import heapq
import itertools

import numpy as np
import pytest
import shapely

from dwell._types import Points, lengths
from dwell.errors import WorkspaceError
from dwell.geometry.routes import Routes

U = np.array([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)], dtype=float)


def length_of(path: Points) -> float:
    return float(lengths(np.diff(path, axis=0)).sum())


def coast(rng: np.random.Generator, corners: int = 24) -> list[Points]:
    """An outline that is star-shaped about the origin, and two square holes."""
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, corners))
    angle = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False) + 0.1 * np.sin(angle)
    radius = rng.uniform(1.0, 2.0, corners)
    outer = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
    square = 0.15 * np.array([(-1, -1), (-1, 1), (1, 1), (1, -1)], dtype=float)
    return [outer, square + np.array([0.4, 0.1]), square - np.array([0.35, 0.2])]


def inner_points(rings: list[Points], rng: np.random.Generator, count: int) -> Points:
    site = shapely.Polygon(rings[0], rings[1:])
    found: list[Points] = []
    while len(found) < count:
        point = rng.uniform(-2.0, 2.0, 2)
        if site.contains(shapely.Point(point)):
            found.append(point)
    return np.array(found)


def by_shapely(rings: list[Points], begin: Points, end: Points) -> float:
    """The length of the shortest path, by Dijkstra's method over all vertices."""
    site = shapely.Polygon(rings[0], rings[1:]).buffer(1e-9)
    nodes = np.vstack([begin, end, *rings])
    far = [0.0] + [np.inf] * (len(nodes) - 1)
    pending = [(0.0, 0)]
    while pending:
        so_far, k = heapq.heappop(pending)
        if so_far > far[k]:
            continue
        for other in range(len(nodes)):
            ahead = so_far + float(lengths(nodes[other] - nodes[k]))
            if ahead < far[other] and site.covers(shapely.LineString([nodes[k], nodes[other]])):
                far[other] = ahead
                heapq.heappush(pending, (ahead, other))
    return far[1]


@pytest.mark.parametrize("moved", [0.0, 5e6])
def test_around_the_notch_of_a_u(moved: float) -> None:
    routes = Routes([U + moved])
    path = routes.path(np.array([0.5, 2.5]) + moved, np.array([2.5, 2.5]) + moved)
    assert (path - moved).tolist() == [[0.5, 2.5], [1.0, 1.0], [2.0, 1.0], [2.5, 2.5]]
    assert length_of(path) == pytest.approx(4.16227766016838, rel=1e-9)


def test_the_error_is_as_long_as_the_way() -> None:
    way = Routes([U]).way(np.array([0.5, 2.5]), np.array([2.0, 0.0]))
    assert lengths(way.error) == pytest.approx(4.16227766016838)
    assert way.stretch == pytest.approx(np.hypot(0.5, 1.5))
    np.testing.assert_allclose(way.error / lengths(way.error), np.array([0.5, -1.5]) / way.stretch)


def test_a_target_outside_becomes_the_nearest_point() -> None:
    position, centroid = np.array([1.5, 0.2]), np.array([1.5, 19 / 14])
    way = Routes([U]).way(position, centroid - position)
    np.testing.assert_allclose(position + way.error, (1.5, 1.0), atol=1e-15)


def test_from_a_corner_the_way_goes_on() -> None:
    way = Routes([U]).way(np.array([1.0, 1.0]), np.array([1.5, 1.5]))
    np.testing.assert_allclose(way.error[1], 0.0, atol=1e-15)
    assert way.stretch == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(6))
def test_lengths_are_those_of_an_independent_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rings = coast(rng)
    routes, points = Routes(rings), inner_points(rings, rng, 5)
    for begin, end in itertools.combinations(points, 2):
        path = routes.path(begin, end)
        assert length_of(path) == pytest.approx(by_shapely(rings, begin, end), rel=1e-8)
        site = shapely.Polygon(rings[0], rings[1:]).buffer(1e-9)
        assert site.covers(shapely.LineString(path))


def test_a_way_is_followed_to_its_end() -> None:
    rng = np.random.default_rng(3)
    rings = coast(rng)
    routes, (begin, end) = Routes(rings), inner_points(rings, rng, 2)
    place, left = begin, length_of(routes.path(begin, end))
    for _ in range(20):
        way = routes.way(place, end - place)
        assert lengths(way.error) == pytest.approx(left, abs=1e-12)
        if lengths(way.error) < 1e-12:
            break
        place = place + way.error * (way.stretch / lengths(way.error))
        left -= way.stretch
    assert left == pytest.approx(0.0, abs=1e-12)


def test_nearest_points_are_those_of_shapely() -> None:
    rng = np.random.default_rng(5)
    rings = coast(rng)
    routes, site = Routes(rings), shapely.Polygon(rings[0], rings[1:])
    points = rng.uniform(-3.0, 3.0, (200, 2))
    held = [site.covers(shapely.Point(point)) for point in points]
    assert routes.holds(points).tolist() == held
    gaps = lengths(routes.nearest(points) - points)
    np.testing.assert_allclose(gaps, [site.distance(shapely.Point(p)) for p in points], atol=1e-14)


def test_too_many_corners_are_refused() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 40_000, endpoint=False)
    radius = np.where(np.arange(40_000) % 2, 1.0, 1.1)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
    with pytest.raises(WorkspaceError, match=r"20000 corners.*simplify"):
        Routes([ring]).path(np.array([0.99, 0.0]), np.array([1.05, 0.001]) * 1.0)


def test_vertices_on_a_straight_side_do_not_block_it():
    """Far from the origin, vertices in the middle of a side lie on it only up to rounding."""
    turn = np.array([(np.cos(0.3), np.sin(0.3)), (-np.sin(0.3), np.cos(0.3))])
    side = [(x, 0.0) for x in np.linspace(0.0, 1000.0, 14)]
    ring = np.array([*side, (1000, 400), (600, 400), (600, 900), (0, 900)])
    ring = ring @ turn + np.array([512345.678, 5212345.678])
    routes = Routes([ring])
    for begin, end in itertools.permutations((0, 3, 8, 13), 2):
        straight = float(lengths(ring[end] - ring[begin]))
        assert length_of(routes.path(ring[begin], ring[end])) == pytest.approx(straight, rel=1e-12)


@pytest.mark.parametrize("gap", [1e-13, 1e-12, 1e-11, 1e-10, 1e-9])
def test_an_agent_close_to_a_blunt_corner_passes_it(gap):
    routes = Routes([np.array([(0, 0), (1, 0), (2, 0.1), (2, 1), (0, 1)], dtype=float)])
    begin, end = np.array([1.0 - gap, 0.0]), np.array([2.0, 0.1])
    assert length_of(routes.path(begin, end)) == pytest.approx(float(np.hypot(1.0, 0.1)), rel=1e-8)


def test_no_path_leaves_between_two_corners():
    """A line along two prongs of different widths touches corners and is outside between them."""
    ring = np.array([(0, 0), (10, 0), (10, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)], dtype=float)
    found = Routes([ring]).path(np.array([0.0, 3.0]), np.array([10.0, 3.0]))
    assert length_of(found) == pytest.approx(1.0 + np.sqrt(5.0) + np.sqrt(68.0), rel=1e-14)
