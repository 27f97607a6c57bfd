"""What all workspaces share; intervals of the line and convex polygons of the plane."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, cast, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.validation import (
    ROUNDING,
    as_number,
    as_points,
    as_rows,
    clean_ring,
    missing,
    need_dimension,
    read_only,
    refuse_range,
    signed_area,
)

if TYPE_CHECKING:
    from dwell.geometry import Convex

MANY = 2000  # vertices beyond which the diameter is that of the bounding box


class Bounded:
    """What all workspaces share, convex or not."""

    stay: bool = False  # whether agents keep inside a region that is not convex

    if TYPE_CHECKING:

        @property
        def dimension(self) -> int: ...

        @property
        def diameter(self) -> float: ...

        @property
        def volume(self) -> float: ...

        def nearest(self, points: Points) -> Points: ...

    @property
    def area(self) -> float:
        """Area, in the plane."""
        need_dimension(self, 2, "area")
        return self.volume

    def outside_by(self, points: Points) -> Floats:
        """How far each point lies beyond the boundary (0 inside), one row per point."""
        rows = as_rows(points, self.dimension)
        return _lengths(self.nearest(rows) - rows)

    def contains(self, points: Points) -> np.ndarray:
        """Whether each point lies inside, the boundary included (up to rounding)."""
        return np.asarray(self.outside_by(points) <= ROUNDING * self.diameter)

    def covers(self, points: Points) -> np.ndarray:
        """Whether each point lies inside, the boundary included, without a tolerance."""
        return np.asarray(self.outside_by(points) == 0.0)


class ConvexRegion(Bounded):
    """A compact convex region; properties that its kind or dimension lacks raise an error."""

    if TYPE_CHECKING:

        @property
        def vertices(self) -> Points: ...

    mask: None = None  # what confines the density: see `Region`

    @property
    def flat(self) -> bool:
        """Whether all facets are flat."""
        return True

    @property
    def hull(self) -> Convex:
        """The region as cells are cut in it: an interval or a polygon, if it is one."""
        if self.flat and self.dimension == 1:
            return self.interval
        if self.flat and self.dimension == 2:
            return self.polygon
        return cast("Convex", self)

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return int(self.vertices.shape[1])

    @cached_property
    def diameter(self) -> float:
        """Largest distance between two of its points."""
        v = self.vertices
        if len(v) > MANY:  # the box's diagonal: at most a factor sqrt(n) too large
            return float(_lengths(np.ptp(v, axis=0)[None])[0])
        return float(max(_lengths(v - p).max() for p in v))

    @cached_property
    def polygon(self) -> Polygon:
        """The region as a polygon, in the plane."""
        need_dimension(self, 2, "polygon")
        if not self.flat:
            raise missing(self, self.dimension, "polygon")
        return self if isinstance(self, Polygon) else Polygon(self.vertices)

    @cached_property
    def interval(self) -> Interval:
        """The region as an interval, on the line."""
        need_dimension(self, 1, "interval")
        return self if isinstance(self, Interval) else Interval(*self.bounds)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper corner of the bounding box."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)


def _lengths(rows: Points) -> Floats:
    """The length of each row, by `hypot` in the plane."""
    found = np.hypot(*rows.T) if rows.shape[1] == 2 else np.sqrt((rows * rows).sum(axis=1))
    return np.asarray(found)


@final
@dataclass(frozen=True, eq=False, init=False)
class Interval(ConvexRegion):
    """The numbers from `lower` to `upper`: a workspace of dimension 1.

    Facet 0 is its lower end, facet 1 its upper end.

    Parameters
    ----------
    lower, upper : float
        The ends, in this order.

    Examples
    --------
    >>> import dwell
    >>> dwell.Interval(0, 2).volume
    2.0
    """

    lower: float
    upper: float
    repairs: tuple[str, ...] = ()

    def __init__(self, lower: object, upper: object) -> None:
        low = as_number(lower, "the interval's lower end", "workspace.lower")
        high = as_number(upper, "the interval's upper end", "workspace.upper")
        if not low < high:
            raise WorkspaceError(
                f"an interval needs lower < upper; lower is {low:g} and upper is {high:g}",
                code="workspace.degenerate",
                key="workspace.upper",
            )
        refuse_range(high - low, max(abs(low), abs(high)), 1, "workspace.upper")
        vars(self).update(lower=low, upper=high)

    @cached_property
    def vertices(self) -> Points:
        """Both ends, (2, 1)."""
        return read_only(np.array([[self.lower], [self.upper]]))

    @property
    def hull(self) -> Interval:
        """The interval itself."""
        return self

    @property
    def normals(self) -> Points:
        """Outward direction at each end, (2, 1)."""
        return np.array([[-1.0], [1.0]])

    @property
    def offsets(self) -> Floats:
        """normals . x <= offsets inside, (2,)."""
        return np.array([-self.lower, self.upper])

    @property
    def faces(self) -> tuple[Ints, ...]:
        """The vertex of each facet."""
        return (np.array([0]), np.array([1]))

    @property
    def volume(self) -> float:
        """Length."""
        return self.upper - self.lower

    def nearest(self, points: Points) -> Points:
        """The nearest point of the interval to each point, (k, 1)."""
        return np.clip(as_rows(points, 1), self.lower, self.upper)


@final
@dataclass(frozen=True, eq=False, init=False)
class Polygon(ConvexRegion):
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
        vars(self).update(vertices=read_only(ring), repairs=repairs)

    @classmethod
    def hull_of(cls, points: object) -> Polygon:
        """The convex hull of `points` (Andrew's monotone chain)."""
        rows = sorted({(float(x), float(y)) for x, y in as_points(points)})
        lower, upper = _chain(rows), _chain(rows[::-1])
        return cls(lower[:-1] + upper[:-1])

    @property
    def hull(self) -> Polygon:
        """The polygon itself."""
        return self

    @cached_property
    def volume(self) -> float:
        """Area, under the name it has in any dimension."""
        return signed_area(self.vertices)

    @cached_property
    def normals(self) -> Points:
        """Outward unit normal of each edge, (n, 2); edge k leaves vertex k."""
        x, y = self._edges.T
        return read_only(np.column_stack([y, -x]) / np.hypot(x, y)[:, None])

    @cached_property
    def offsets(self) -> Floats:
        """normals . x <= offsets inside, (n,)."""
        return read_only((self.normals * self.vertices).sum(axis=1))

    @property
    def faces(self) -> tuple[Ints, ...]:
        """Both vertices of each edge."""
        n = len(self.vertices)
        return tuple(np.array([k, (k + 1) % n]) for k in range(n))

    def nearest(self, points: Points) -> Points:
        """The nearest point of the polygon to each point; the point itself if it is inside."""
        points = as_rows(points, 2)
        best = points.copy()
        outside = ~self.holds(points)
        if outside.any():
            best[outside] = self._on_boundary(points[outside])
        return best

    def holds(self, points: Points) -> np.ndarray:
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

    @cached_property
    def _edges(self) -> Points:
        return np.roll(self.vertices, -1, axis=0) - self.vertices


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
