"""Region: any part of the plane that polygons with holes bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np

from dwell._types import Floats, Ints, Points, in_short, lengths
from dwell.errors import WorkspaceError
from dwell.geometry.convex import Bounded, Polygon
from dwell.geometry.decomposition import moments_of, pieces_of
from dwell.geometry.rings import clean_rings, is_inside
from dwell.geometry.routes import Routes
from dwell.geometry.validation import as_rows, read_only

if TYPE_CHECKING:
    from dwell._kernels.polygon.pieces import Pieces

KEY = "workspace.parts"


class Part(NamedTuple):
    """A part of a region: one outer ring, and the holes in it."""

    outer: Points  # (k, 2), counter-clockwise
    holes: tuple[Points, ...] = ()  # (k, 2) each, clockwise


@final
@dataclass(frozen=True, eq=False, init=False)
class Region(Bounded):
    """A region of the plane that need not be convex: any number of parts, with holes.

    It is a mask: agents have the Voronoi cells of the convex hull, and may be anywhere in it; only
    what of a cell lies in the region counts. With `stay`, agents keep inside the region: the target
    is the nearest point of their part to the centroid, and they move along shortest paths.

    Parameters
    ----------
    parts : sequence
        Each part is a ring of vertices, (k, 2), or a mapping with the ring ``outer`` and a list
        ``holes`` of rings. One part may stand for a list.
    stay : bool
        Whether agents keep inside the region.

    Examples
    --------
    >>> import dwell
    >>> square, hole = [(0, 0), (4, 0), (4, 4), (0, 4)], [(1, 1), (3, 1), (3, 3), (1, 3)]
    >>> lake = dwell.Region({"outer": square, "holes": [hole]})
    >>> lake.area
    12.0
    >>> lake.covers([(0.5, 0.5), (2, 2)]).tolist()
    [True, False]
    """

    dimension = 2
    parts: tuple[Part, ...]
    stay: bool
    repairs: tuple[str, ...]

    def __init__(self, parts: object, *, stay: bool = False) -> None:
        rings, repairs = clean_rings(_listed(parts))
        found = tuple(
            Part(read_only(own[0]), tuple(read_only(hole) for hole in own[1:])) for own in rings
        )
        if not isinstance(stay, bool):
            raise WorkspaceError(
                f"stay is {in_short(stay)}; true or false is needed",
                code="workspace.stay",
                key="workspace.stay",
            )
        vars(self).update(parts=found, stay=stay, repairs=repairs)
        _ = self.pieces  # refuses rings that overlap

    @cached_property
    def rings(self) -> tuple[Points, ...]:
        """All rings, with the region on their left."""
        return tuple(ring for part in self.parts for ring in (part.outer, *part.holes))

    @cached_property
    def hull(self) -> Polygon:
        """The convex hull, in which cells are cut."""
        return Polygon.hull_of(np.concatenate([part.outer for part in self.parts]))

    @property
    def mask(self) -> Self:
        """The region itself: the density counts in it alone."""
        return self

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper corner of the bounding box."""
        return self.hull.bounds

    @property
    def diameter(self) -> float:
        """Largest distance between two of its points."""
        return self.hull.diameter

    @cached_property
    def volume(self) -> float:
        """Area of the region."""
        origin = self.parts[0].outer[0]
        return moments_of([ring - origin for ring in self.rings])[0]

    @cached_property
    def pieces(self) -> Pieces:
        """The region as trapezoids, for the kernels."""
        return pieces_of(self.rings)

    def covers(self, points: Points) -> np.ndarray:
        """Whether each point lies in the region itself, its boundary included."""
        from dwell._kernels.polygon.pieces import cover

        rows = as_rows(points, 2)
        found = np.empty(len(rows), dtype=bool)
        cover(*(np.ascontiguousarray(c) for c in rows.T), self.pieces, found)
        return found

    def has_hole_around(self, point: Points) -> bool:
        """Whether a point lies in a hole."""
        holes = (hole for part in self.parts for hole in part.holes)
        return any(is_inside(as_rows(point, 2), hole) for hole in holes)

    def nearest(self, points: Points) -> Points:
        """The nearest point of the convex hull to each point; of the region, with `stay`."""
        return self.nearest_inside(points) if self.stay else self.hull.nearest(points)

    def nearest_inside(self, points: Points) -> Points:
        """The nearest point of the region to each point."""
        from dwell._kernels.polygon.region_moments import nearest_of_each

        rows = as_rows(points, 2)
        x, y = (np.ascontiguousarray(c) for c in rows.T)
        way, corner = np.empty((len(rows), 2)), np.empty((2, 4))
        nearest_of_each(x, y, self.pieces, *corner, np.empty(4, dtype=np.int64), way)
        return rows + way

    @cached_property
    def routes(self) -> tuple[Routes, ...]:
        """Shortest paths within each part."""
        return tuple(Routes([part.outer, *part.holes]) for part in self.parts)

    def parts_at(self, positions: Points) -> Ints:
        """The number of the part that holds each position, or is nearest to it, (K,)."""
        lower, upper = self._boxes
        near = np.all((positions[:, None] >= lower) & (positions[:, None] <= upper), axis=2)
        found = np.full(len(positions), -1)
        for number in np.flatnonzero(near.any(axis=0)):
            some = np.flatnonzero(near[:, number] & (found < 0))
            found[some[self.routes[number].holds(positions[some])]] = number
        for k in np.flatnonzero(found < 0):
            found[k] = self._nearest_part(positions[k])
        return found

    def _nearest_part(self, position: Points) -> int:
        """The number of the part that is nearest to a position outside all of them."""
        lower, upper = self._boxes
        away = lengths(np.maximum(np.maximum(lower - position, position - upper), 0.0))
        least, nearest = np.inf, 0
        for k in np.argsort(away, kind="stable"):
            if away[k] > least:
                break
            gap = float(lengths(self.routes[k].nearest(position[None])[0] - position))
            if (gap, k) < (least, nearest):
                least, nearest = gap, int(k)
        return nearest

    @cached_property
    def _boxes(self) -> tuple[Points, Points]:
        """The corners of the boxes round all parts, (P, 2) each."""
        lower = np.array([routes.lower - routes.slack for routes in self.routes])
        return lower, np.array([routes.upper + routes.slack for routes in self.routes])

    def routes_at(self, position: Points) -> Routes:
        """Shortest paths within the part that holds a position, or is nearest to it."""
        return self.routes[int(self.parts_at(position[None])[0])]


def _listed(parts: object) -> list[tuple[object, ...]]:
    """The rings of each part, the outer one first."""
    if isinstance(parts, Mapping) or _is_ring(parts):
        parts = [parts]
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not parts:
        raise _unfit(parts)
    found: list[tuple[object, ...]] = []
    for part in parts:
        if isinstance(part, Part):
            found.append((part.outer, *part.holes))
        elif isinstance(part, Mapping):
            found.append(_rings_in(part))
        else:
            found.append((part,))
    return found


def _rings_in(part: Mapping[Any, Any]) -> tuple[object, ...]:
    """The rings of a part that is given as a mapping."""
    if "outer" not in part or set(part) - {"outer", "holes"}:
        raise _unfit(dict.fromkeys(part, "..."))
    holes = part.get("holes", ())
    if isinstance(holes, Mapping | str) or not hasattr(holes, "__iter__"):
        raise _unfit(part)
    return (part["outer"], *holes)


def _is_ring(parts: object) -> bool:
    """Whether something is a ring of points, not a list of rings."""
    try:
        return np.asarray(parts, dtype=np.float64).ndim == 2
    except (TypeError, ValueError, OverflowError):
        return False


def _unfit(parts: object) -> WorkspaceError:
    return WorkspaceError(
        f"the parts of a region are {in_short(parts, 63)}; a list is needed, "
        'each part a ring of vertices or {"outer": ring, "holes": [ring, ...]}',
        code="workspace.parts",
        key=KEY,
    )
