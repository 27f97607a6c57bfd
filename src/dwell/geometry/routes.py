"""Shortest paths within a polygon with holes, by its visibility graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.errors import WorkspaceError

SLACK = 1e-12  # of the extent: distances that count as contact
ROUNDINGS = 16.0  # of the coordinates: likewise
MOST_CORNERS = 2000  # around which paths may turn: a visibility graph has their square in entries


class Way(NamedTuple):
    """The way of an agent to its target."""

    error: Points  # (2,) along the first straight stretch, as long as the whole way
    stretch: float  # the length of that stretch


class Routes:
    """Shortest paths between points of one part of a region.

    Parameters
    ----------
    rings : sequence of (k, 2) arrays
        The outer ring, counter-clockwise, and the holes, clockwise.
    """

    def __init__(self, rings: Sequence[Points]) -> None:
        corners, ends, before = (
            np.concatenate([np.roll(ring, -shift, axis=0) for ring in rings])
            for shift in (0, 1, -1)
        )
        self.origin = corners[0].copy()
        extent = float(np.ptp(corners, axis=0).max())
        size = float(np.abs(corners).max())
        self.slack = max(SLACK * extent, ROUNDINGS * float(np.spacing(size)))
        self._corners, self._ends = corners - self.origin, ends - self.origin
        one, other = self._corners - (before - self.origin), self._ends - self._corners
        turning = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0] < 0.0
        self._turns = self._corners[turning]
        self._edges = tuple(np.ascontiguousarray(c) for c in (*self._corners.T, *self._ends.T))
        self._outline = (*self._edges, turning, self.slack)
        self._xy = tuple(np.ascontiguousarray(c) for c in self._turns.T)

    def holds(self, points: Points) -> np.ndarray:
        """Whether each point lies in the part, its boundary included."""
        from dwell._kernels.polygon.visibility import are_held

        x, y = (np.ascontiguousarray(c) for c in (points - self.origin).T)
        found = np.empty(len(x), dtype=bool)
        are_held(x, y, *self._edges, self.slack, found)
        return found

    def nearest(self, points: Points) -> Points:
        """The nearest point of the part to each point; the point itself if it is inside."""
        found = np.array(points, dtype=np.float64)
        for k in np.flatnonzero(~self.holds(found)):
            found[k] = self._on_boundary(found[k] - self.origin) + self.origin
        return found

    def _on_boundary(self, point: Points) -> Points:
        """The nearest point of the boundary; of several, the one with the least displacement."""
        along = self._ends - self._corners
        offset = point - self._corners
        length = (along * along).sum(axis=1)
        share = np.clip((offset * along).sum(axis=1) / length, 0.0, 1.0)
        feet = self._corners + share[:, None] * along
        gap = feet - point
        far = lengths(gap)
        near = np.flatnonzero(far <= far.min() + self.slack)
        first = near[np.lexsort((gap[near, 1], gap[near, 0]))[0]]
        return np.asarray(feet[first])

    @cached_property
    def _table(self) -> tuple[Floats, Ints]:
        """Distances between all corners at which paths may turn, and the corners before."""
        from scipy.sparse.csgraph import shortest_path

        from dwell._kernels.polygon.visibility import see_each_other

        count = len(self._turns)
        if count > MOST_CORNERS:
            raise WorkspaceError(
                f"the region has {count} corners around which a path may turn; at most "
                f"{MOST_CORNERS} are possible where agents stay in it; simplify its outline, or "
                "leave out stay",
                code="workspace.stay",
                key="workspace.stay",
            )
        seen = np.empty((count, count))
        see_each_other(*self._xy, *self._outline, seen)
        graph = np.where(seen > 0.0, seen, 0.0)  # 0: no edge
        far, before = shortest_path(graph, directed=False, return_predecessors=True)
        return far, before

    def path(self, begin: Points, end: Points) -> Points:
        """The vertices of the shortest path between two points of the part, (k, 2)."""
        from dwell._kernels.polygon.visibility import is_seen, seen_from

        p, q = begin - self.origin, end - self.origin
        if is_seen(*p, *q, *self._outline):
            return np.array([begin, end])
        first, last = np.empty((2, len(self._turns)))
        for place, found in ((p, first), (q, last)):
            seen_from(*place, *self._xy, *self._outline, found)
        far, before = self._table
        starts, stops = np.flatnonzero(first >= 0.0), np.flatnonzero(last >= 0.0)
        total = first[starts, None] + far[np.ix_(starts, stops)] + last[stops]
        if not np.isfinite(total).any():  # a gap narrower than rounding
            return np.array([begin, begin])
        i, k = np.unravel_index(np.argmin(total), total.shape)
        way = [int(stops[k])]
        while way[-1] != starts[i]:
            way.append(int(before[starts[i], way[-1]]))
        corners = self._turns[way[::-1]] + self.origin
        kept = corners[lengths(corners - begin) > self.slack]
        return np.vstack([begin, kept, end])

    def way(self, position: Points, error: Points) -> Way:
        """The way from a position to the point of the part that is nearest to position + error."""
        target = position + error
        if not self.holds(target[None])[0]:
            target = self.nearest(target[None])[0]
            error = target - position
        begin = position if self.holds(position[None])[0] else self.nearest(position[None])[0]
        path = self.path(begin, target)
        if len(path) == 2:
            return Way(error, float(lengths(error)))
        stretches = np.diff(np.vstack([position, path[1:]]), axis=0)
        sizes = lengths(stretches)
        return Way(stretches[0] * (sizes.sum() / sizes[0]), float(sizes[0]))
