"""Shortest paths within a polygon with holes, by its visibility graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dwell._types import Floats, Points, columns, lengths
from dwell.errors import WorkspaceError

if TYPE_CHECKING:
    from dwell._kernels.polygon.visibility import Corners, Outline, Search

SLACK = 1e-12  # of the extent: distances that count as contact
ROUNDINGS = 16.0  # of the coordinates: likewise
MOST_CORNERS = 16_000  # around which paths may turn: which see each other has their square in bytes
CELLS = 1.5  # of a grid, along each side, over the square root of the number of edges
MOST_CELLS = 1024  # along each side


class Way(NamedTuple):
    """The way of an agent to its target."""

    error: Points  # (2,) along the first straight stretch, as long as the whole way
    stretch: float  # the length of that stretch; 0 if there is no way


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
        self._before = before - self.origin
        self.lower, self.upper = corners.min(axis=0), corners.max(axis=0)
        one, other = self._corners - self._before, self._ends - self._corners
        self._turning = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0] < 0.0
        self._turns = self._corners[self._turning]

    @cached_property
    def _outline(self) -> Outline:
        """The edges, listed by the cells of a grid."""
        from dwell._kernels.polygon.visibility import Outline, count_cells, list_cells

        side = int(np.clip(np.ceil(CELLS * np.sqrt(len(self._corners))), 1, MOST_CELLS))
        low, high = self.lower - self.origin, self.upper - self.origin
        wide, tall = (float(length) / side for length in high - low)
        (ax, ay), (bx, by) = columns(self._corners), columns(self._ends)
        cells, rows = np.zeros(side * side + 1, dtype=np.int64), np.zeros(side + 1, dtype=np.int64)
        none = np.empty(0, dtype=np.int64)
        empty = Outline(
            ax, ay, bx, by, self._turning, self.slack, float(low[0]), float(low[1]), wide, tall,
            side, side, cells, none, rows, none,
        )  # fmt: skip
        count_cells(empty, cells, rows)
        cells, rows = np.cumsum(cells), np.cumsum(rows)
        lists = np.empty(cells[-1], dtype=np.int64), np.empty(rows[-1], dtype=np.int64)
        found = empty._replace(begins=cells, edges=lists[0], row_begins=rows, row_edges=lists[1])
        list_cells(found, cells.copy(), rows.copy())
        return found

    @cached_property
    def _corner_list(self) -> Corners:
        """The corners at which paths may turn."""
        from dwell._kernels.polygon.visibility import Corners

        count = len(self._turns)
        if count > MOST_CORNERS:
            raise WorkspaceError(
                f"the region has {count} corners around which a path may turn; at most "
                f"{MOST_CORNERS} are possible where agents stay in it; simplify its outline, or "
                "leave out stay",
                code="workspace.stay",
                key="workspace.stay",
            )
        (x, y), (next_x, next_y), (last_x, last_y) = (
            columns(points)
            for points in (
                self._turns, self._ends[self._turning], self._before[self._turning]
            )
        )  # fmt: skip
        known = np.zeros((count, count), dtype=np.uint8)
        return Corners(x, y, next_x, next_y, last_x, last_y, known)

    @property
    def turns(self) -> int:
        """How many corners there are around which a path may turn."""
        return len(self._turns)

    @property
    def size(self) -> int:
        """The bytes in which it is kept which corners see each other, once all are known."""
        return len(self._turns) ** 2

    @property
    def _search(self) -> Search:
        """Working memory of a search."""
        from dwell._kernels.polygon.visibility import Search

        count = len(self._turns)
        before, settled = np.empty(count, dtype=np.int64), np.empty(count, dtype=bool)
        return Search(np.empty(count), np.empty(count), before, settled)

    def holds(self, points: Points) -> np.ndarray:
        """Whether each point lies in the part, its boundary included."""
        from dwell._kernels.polygon.visibility import are_held

        found = np.empty(len(points), dtype=bool)
        are_held(self._outline, *columns(points - self.origin), found)
        return found

    def nearest(self, points: Points) -> Points:
        """The nearest point of the part to each point; the point itself if it is inside.

        Of several nearest ones, that with the least displacement.
        """
        from dwell._kernels.polygon.visibility import find_nearest

        away = np.empty((len(points), 2))
        find_nearest(self._outline, *columns(points - self.origin), away)
        return points + away

    def path(self, begin: Points, end: Points) -> Points | None:
        """The vertices of the shortest path between two points of the part, (k, 2).

        None where all passages are narrower than rounding.
        """
        from dwell._kernels.polygon.visibility import find_path

        found = np.empty(len(self._turns), dtype=np.int64)
        p, q = begin - self.origin, end - self.origin
        count = find_path(self._outline, self._corner_list, self._search, *p, *q, found)
        if count < 0:
            return None
        corners = self._turns[found[:count][::-1]] + self.origin
        kept = corners[lengths(corners - begin) > self.slack]
        return np.vstack([begin, kept, end])

    def ways(self, positions: Points, errors: Points) -> tuple[Points, Floats]:
        """The ways from positions to the points of the part nearest to positions + errors.

        Errors along the first straight stretch of each way, as long as all of it, (K, 2), and the
        length of that stretch, (K,). Where there is no way the stretch is 0: the agent stands, and
        its error is the straight one.
        """
        from dwell._kernels.polygon.visibility import find_ways

        error, stretch = np.array(errors, dtype=np.float64), np.empty(len(positions))
        places = columns(positions - self.origin)
        find_ways(self._outline, self._corner_list, self._search, *places, error, stretch)
        return error, stretch

    def way(self, position: Points, error: Points) -> Way:
        """The way from a position to the point of the part that is nearest to position + error."""
        errors, stretches = self.ways(position[None], error[None])
        return Way(errors[0], float(stretches[0]))
