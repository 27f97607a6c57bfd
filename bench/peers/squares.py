"""All cells of points in a square, by each system: areas and centroids under a uniform density."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Points = np.ndarray
Floats = np.ndarray
Cells = tuple[Floats, Points]  # areas (N,) and centroids (N, 2)


def by_shapely(points: Points, side: float) -> Cells:
    """voronoi_polygons, cut by the square."""
    import shapely

    walls = shapely.box(0.0, 0.0, side, side)
    sites = shapely.multipoints(points)
    parts = shapely.get_parts(shapely.voronoi_polygons(sites, extend_to=walls, ordered=True))
    cells = shapely.intersection(parts, walls)
    return shapely.area(cells), shapely.get_coordinates(shapely.centroid(cells))


def by_scipy(points: Points, side: float) -> Cells:
    """Voronoi of the points and their mirror images; the cells are then closed of themselves."""
    from scipy.spatial import Voronoi

    diagram = Voronoi(np.vstack([points, *_mirrored(points, side)]))
    rings = [diagram.regions[region] for region in diagram.point_region[: len(points)]]
    return _of_rings(diagram.vertices, rings)


def _mirrored(points: Points, side: float) -> list[Points]:
    across, along = np.array([-1.0, 1.0]), np.array([1.0, -1.0])
    far = 2.0 * side
    return [points * across, points * across + (far, 0.0), points * along,
            points * along + (0.0, far)]  # fmt: skip


def _of_rings(vertices: Points, rings: list[list[int]]) -> Cells:
    """Areas and centroids of all rings at once; SciPy's rings are in order, either way round."""
    sizes = np.fromiter(map(len, rings), dtype=np.int64, count=len(rings))
    begin = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    corner = vertices[np.concatenate([np.asarray(ring) for ring in rings])]
    after = np.roll(corner, -1, axis=0)
    after[begin + sizes - 1] = corner[begin]
    origin = corner[begin]
    a, b = (part - np.repeat(origin, sizes, axis=0) for part in (corner, after))
    twice = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    area = np.add.reduceat(twice, begin)
    first = np.add.reduceat(twice[:, None] * (a + b), begin)
    return np.abs(area) / 2.0, origin + first / (3.0 * area[:, None])


def by_geogram(points: Points, side: float) -> Cells:
    """Triangles of the cells in a square of two triangles, summed by NumPy."""
    import geogram

    corners = side * np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    halves = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.uint32)
    diagram = geogram.Voronoi(points, domain_vertices=corners, domain_simplices=halves)
    places, parts = np.asarray(diagram.q), np.asarray(diagram.t)
    owner, agents = np.asarray(diagram.tseed), len(points)
    a, b, c = (places[parts[:, k]] for k in range(3))
    u, v = b - a, c - a
    area = np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2.0
    middle = (a + b + c) / 3.0
    areas = np.bincount(owner, area, agents)
    first = [np.bincount(owner, area * middle[:, k], agents) for k in (0, 1)]
    return areas, np.column_stack(first) / areas[:, None]


def by_pyvoro2(points: Points, side: float) -> Cells:
    """Vertices of each cell as Voro++ gives them, summed by NumPy."""
    import pyvoro2.planar as planar

    box = planar.Box(((0.0, side), (0.0, side)))
    found: Any = planar.compute(
        points, domain=box, output="cells", return_adjacency=False, return_edges=False
    )
    cells = sorted(found, key=lambda cell: cell["id"])
    rings = [np.asarray(cell["vertices"], dtype=np.float64) for cell in cells]
    ordered = [_around(ring) for ring in rings]
    starts = np.cumsum([0, *map(len, rings)])
    indices = [list(start + order) for start, order in zip(starts, ordered, strict=False)]
    return _of_rings(np.vstack(rings), indices)


def _around(ring: Points) -> np.ndarray:
    """The order of a convex cell's corners around their mean."""
    gap = ring - ring.mean(axis=0)
    return np.argsort(np.arctan2(gap[:, 1], gap[:, 0]))


SYSTEMS: dict[str, Callable[[Points, float], Cells]] = {
    "shapely": by_shapely,
    "geogram": by_geogram,
    "SciPy": by_scipy,
    "pyvoro2": by_pyvoro2,
}
