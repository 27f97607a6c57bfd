"""Polygon: a compact convex region of the plane."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.geometry.limits import as_rows, read_only
from dwell.geometry.region import Region
from dwell.geometry.ring import as_points, clean_ring, signed_area


@final
@dataclass(frozen=True, eq=False, init=False)
class Polygon(Region):
    """A convex polygon.

    Vertices may come in either direction, with the first repeated at the end or with vertices on
    straight edges: such input is repaired and listed in `repairs`. Anything that is not the
    boundary of a convex region is refused.

    Parameters
    ----------
    vertices : array_like
        The corners in order along the boundary, (k, 2).

    Examples
    --------
    >>> import dwell
    >>> dwell.Polygon([(0, 0), (0, 1), (1, 1), (1, 0)]).area
    1.0
    """

    vertices: Points  # (n, 2), counter-clockwise, strictly convex, read-only
    repairs: tuple[str, ...] = field(init=False, default=())

    def __init__(self, vertices: object) -> None:
        ring, repairs = clean_ring(as_points(vertices))
        ring = np.ascontiguousarray(ring)
        ring.setflags(write=False)
        object.__setattr__(self, "vertices", ring)
        object.__setattr__(self, "repairs", repairs)

    @classmethod
    def hull_of(cls, points: object) -> Polygon:
        """The convex hull of `points` (Andrew's monotone chain)."""
        rows = sorted({(float(x), float(y)) for x, y in as_points(points)})
        lower, upper = _chain(rows), _chain(rows[::-1])
        return cls(lower[:-1] + upper[:-1])

    @property
    def dimension(self) -> int:
        """2."""
        return 2

    @cached_property
    def area(self) -> float:
        """Area."""
        return signed_area(self.vertices)

    @cached_property
    def diameter(self) -> float:
        """Largest distance between two of its points."""
        v = self.vertices
        if len(v) > 2000:  # the box's diagonal: at most a factor sqrt(2) too large
            return float(np.hypot(*(v.max(axis=0) - v.min(axis=0))))
        return float(max(np.hypot(*(v - p).T).max() for p in v))

    @property
    def polygon(self) -> Polygon:
        """Itself."""
        return self

    @property
    def volume(self) -> float:
        """Area, under the name it has in any dimension."""
        return self.area

    @cached_property
    def normals(self) -> Points:
        """Outward unit normal of each edge, (n, 2); edge k leaves vertex k."""
        edge = np.roll(self.vertices, -1, axis=0) - self.vertices
        length = np.hypot(edge[:, 0], edge[:, 1])
        return read_only(np.column_stack([edge[:, 1], -edge[:, 0]]) / length[:, None])

    @cached_property
    def offsets(self) -> Floats:
        """normals . x <= offsets inside, (n,)."""
        return read_only((self.normals * self.vertices).sum(axis=1))

    @property
    def faces(self) -> tuple[Ints, ...]:
        """Both vertices of each edge."""
        n = len(self.vertices)
        return tuple(np.array([k, (k + 1) % n]) for k in range(n))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper corner of the bounding box."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def nearest(self, points: Points) -> Points:
        """The nearest point of the polygon to each point; the point itself if it is inside."""
        points = as_rows(points, 2)
        best = points.copy()
        outside = ~self._holds(points)
        if outside.any():
            best[outside] = self._on_boundary(points[outside])
        return best

    def _holds(self, points: Points) -> np.ndarray:
        """Whether each point lies to the left of all edges, or on them."""
        inside = np.ones(len(points), dtype=bool)
        for corner, direction in zip(self.vertices, self._edges, strict=True):
            across = direction[0] * (points[:, 1] - corner[1])
            inside &= across - direction[1] * (points[:, 0] - corner[0]) >= 0.0
        return inside

    def _on_boundary(self, points: Points) -> Points:
        """The nearest point of the boundary to each point."""
        best = points.copy()
        best_distance = np.full(len(points), np.inf)
        for corner, direction in zip(self.vertices, self._edges, strict=True):
            offset = points - corner
            # Not `@`: what a matrix product rounds to depends on the processor.
            forward = offset[:, 0] * direction[0] + offset[:, 1] * direction[1]
            length = direction[0] * direction[0] + direction[1] * direction[1]
            along = np.clip(forward / length, 0.0, 1.0)
            foot = corner + along[:, None] * direction
            distance = np.hypot(*(foot - points).T)
            closer = distance < best_distance
            best[closer], best_distance[closer] = foot[closer], distance[closer]
        return best

    @property
    def _edges(self) -> Points:
        edges: Points = np.roll(self.vertices, -1, axis=0) - self.vertices
        return edges


def _chain(rows: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The lower hull of points sorted by x."""
    hull: list[tuple[float, float]] = []
    for p in rows:
        while len(hull) >= 2 and _turn(hull[-2], hull[-1], p) <= 0.0:
            hull.pop()
        hull.append(p)
    return hull


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
