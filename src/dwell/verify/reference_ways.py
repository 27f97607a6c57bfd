"""Shortest paths within a region once more, by NumPy, without the kernels and their tables.

A segment lies in the region if the middles of all stretches between its contacts with the outline
do. Paths are sought from corner to corner, the one with the shortest possible path first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.agents import Trajectory
from dwell.geometry import Region
from dwell.verify.finding import spread

CONTACT = 1.5e-12  # of the extent: stretches and depths that count as contact
ROUNDINGS = 64.0  # of the coordinates: likewise
STEP = 1e-6  # of the extent: how far along a stated way the rest is measured
TIED = 1e-9  # of the extent: by which several nearest points may differ in distance


class ReferenceWays:
    """Shortest paths within one part of a region, with its outer ring and its holes."""

    def __init__(self, rings: Sequence[Points]) -> None:
        self.origin = rings[0][0]
        local = [ring - self.origin for ring in rings]
        self._a = np.concatenate(local)
        self._b = np.concatenate([np.roll(ring, -1, axis=0) for ring in local])
        before = np.concatenate([np.roll(ring, 1, axis=0) for ring in local])
        self.extent = float(np.ptp(self._a, axis=0).max())
        size = float(np.abs(np.concatenate(rings)).max())
        self._contact = max(CONTACT * self.extent, ROUNDINGS * float(np.spacing(size)))
        turning = _cross(self._a - before, self._b - self._a) < 0.0
        self._corners = self._a[turning]
        self._beside = self._b[turning], before[turning]
        self._seen: dict[tuple[int, int], bool] = {}

    def distance(self, point: Points) -> float:
        """How far a point is outside; 0 within."""
        local = point - self.origin
        return 0.0 if self._is_inside(local) else float(lengths(self._feet(local) - local).min())

    def targets(self, point: Points) -> list[Points]:
        """The nearest points to a point: itself within, else all that are equally near."""
        local = point - self.origin
        if self._is_inside(local):
            return [point]
        feet = self._feet(local)
        far = lengths(feet - local)
        found: list[Points] = []
        for foot in feet[far <= far.min() + TIED * self.extent]:
            if all(float(lengths(foot - other)) > TIED * self.extent for other in found):
                found.append(foot)
        return [foot + self.origin for foot in found]

    def outside(self, begin: Points, end: Points) -> float:
        """How much of the segment between two points lies outside, as a length."""
        return self._outside(begin - self.origin, end - self.origin)

    def way(self, begin: Points, end: Points) -> Points | None:
        """A vector along the first stretch of the shortest path, as long as the path.

        None if there is no path.
        """
        p, q = begin - self.origin, end - self.origin
        if not self._outside(p, q) > 0.0:
            straight: Points = q - p
            return straight
        found = self._path(p, q)
        if found is None:
            return None
        whole, towards = found
        along: Points = towards - p
        first = float(lengths(along))
        return along * (whole / first if first > 0.0 else 1.0)

    def _path(self, p: Points, q: Points) -> tuple[float, Points] | None:
        """The length of the shortest path from p to q round corners, and its first corner."""
        count = len(self._corners)
        towards = lengths(self._corners - q)
        settled = np.zeros(count, dtype=bool)
        # What the path may be long; so far; the corner; the one before; the first of the path.
        pending = [(*more, -1, more[2]) for more in self._next(p, towards, settled)]
        heapq.heapify(pending)
        while pending:
            _, so_far, k, before, first = heapq.heappop(pending)
            if settled[k] or not self._sees(p, before, k):
                continue
            settled[k] = True
            here = self._corners[k]
            if not self._outside(here, q) > 0.0:
                return so_far + float(towards[k]), self._corners[first]
            for least, more, other in self._next(here, towards, settled, so_far):
                if more - so_far > self._contact:
                    near = before < 0 and so_far <= self._contact
                    heapq.heappush(pending, (least, more, other, k, other if near else first))
        return None

    def _next(
        self, here: Points, towards: Floats, settled: np.ndarray, so_far: float = 0.0
    ) -> list[tuple[float, float, int]]:
        """The corners at which a path from a point may turn, unless the outline is in between."""
        along = self._corners - here
        size = lengths(along)
        one, other = (_cross(along, beside - self._corners) for beside in self._beside)
        sure = 2.0 * self._contact
        apart = [sure * (lengths(beside - self._corners) + size) for beside in self._beside]
        blunt = (one > 0.0) != (other > 0.0)
        blunt &= (np.abs(one) > apart[0]) & (np.abs(other) > apart[1])
        some = np.flatnonzero(~blunt & ~settled)
        return [
            (so_far + float(size[k] + towards[k]), so_far + float(size[k]), int(k)) for k in some
        ]

    def _sees(self, p: Points, before: int, k: int) -> bool:
        if before < 0:
            return not self._outside(p, self._corners[k]) > 0.0
        pair = (min(before, k), max(before, k))
        if pair not in self._seen:
            ends = self._corners[before], self._corners[k]
            self._seen[pair] = not self._outside(*ends) > 0.0
        return self._seen[pair]

    def _outside(self, p: Points, q: Points) -> float:
        """The length of what of a segment is outside by more than a contact."""
        along = q - p
        size = float(lengths(along))
        if size <= self._contact:
            return 0.0
        pad = 2.0 * self._contact
        low, high = np.minimum(p, q) - pad, np.maximum(p, q) + pad
        near = (np.maximum(self._a, self._b) >= low) & (np.minimum(self._a, self._b) <= high)
        a, b = (end[near.all(axis=1)] for end in (self._a, self._b))
        edges, reach = b - a, a - p
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = _cross(along, edges)
            share, on_edge = _cross(reach, edges) / slope, _cross(reach, along) / slope
        crossed = (on_edge > -1e-9) & (on_edge < 1.0 + 1e-9) & (share > 0.0) & (share < 1.0)
        touched = np.abs(_cross(along, reach)) <= self._contact * size
        shares = np.concatenate([share[crossed], (reach[touched] @ along) / (size * size)])
        shares = np.sort(np.concatenate([[0.0, 1.0], shares[(shares > 0.0) & (shares < 1.0)]]))
        total = 0.0
        for begin, end in pairwise(shares):
            if (end - begin) * size > self._contact:
                middle = p + 0.5 * (begin + end) * along
                total += 0.0 if self._is_inside(middle) else float(end - begin) * size
        return total

    def _is_inside(self, point: Points) -> bool:
        """Whether a point lies in the part, or outside by no more than a contact."""
        a, b = self._a, self._b
        level = (a[:, 1] > point[1]) != (b[:, 1] > point[1])
        side = _cross(b[level] - a[level], point - a[level])
        passed = (side > 0.0) == (b[level, 1] > a[level, 1])
        if np.count_nonzero(passed) % 2:
            return True
        return float(lengths(self._feet(point) - point).min()) <= self._contact

    def _feet(self, point: Points) -> Points:
        """The nearest point of each edge."""
        along = self._b - self._a
        share = ((point - self._a) * along).sum(axis=1) / (along * along).sum(axis=1)
        found: Points = self._a + np.clip(share, 0.0, 1.0)[:, None] * along
        return found


def _cross(one: Points, other: Points) -> Floats:
    found: Floats = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
    return found


class RegionWays:
    """Shortest paths within each part of a region."""

    def __init__(self, region: Region) -> None:
        self._parts = [ReferenceWays([part.outer, *part.holes]) for part in region.parts]
        self._lower = np.array([part.outer.min(axis=0) for part in region.parts])
        self._upper = np.array([part.outer.max(axis=0) for part in region.parts])

    def part_of(self, position: Points) -> ReferenceWays:
        """The ways in the part that holds a position, or is nearest to it."""
        beside = (position >= self._lower) & (position <= self._upper)
        for k in np.flatnonzero(beside.all(axis=1)):
            if self._parts[k].distance(position) == 0.0:
                return self._parts[k]
        far = [part.distance(position) for part in self._parts]
        return self._parts[int(np.argmin(far))]

    def gap(self, position: Points, centroid: Points, error: Points) -> float:
        """How far a stated error is from that along the way to a centroid; both seen from there.

        Of several ways that are equally long, any may be the stated one.
        """
        part, gaps = self.part_of(position), list[float]()
        for target in part.targets(position + centroid):
            found = part.way(position, target)
            expected = target - position if found is None else found
            gaps.append(float(lengths(error - expected)))
            whole, stated = float(lengths(expected)), float(lengths(error))
            if gaps[-1] > TIED * part.extent >= abs(stated - whole):
                step = min(STEP * part.extent, 0.5 * stated)
                ahead = position + error * (step / stated)
                rest = None if part.outside(position, ahead) > 0.0 else part.way(ahead, target)
                if rest is not None and lengths(rest) + step - whole <= STEP * step:
                    gaps[-1] = abs(stated - whole)
        return min(gaps)


def lengths_outside(run: Trajectory, most: int | None) -> tuple[Floats, Ints, Ints]:
    """How much of the straight lines that agents went between samples is outside the region.

    Of at most so many lines, evenly spread, or of all; with the agent, and the row of the jump at
    the end of each line, -1 for the end of the run.
    """
    regions: dict[int, RegionWays] = {}
    last, arrivals = run.last.at(run.until), run.system.timeline.arrivals
    lines: list[tuple[int, int, float, Points, Points]] = []
    for q, rows in enumerate(run.rows):
        places = [run.start.segments.place[q], *run.table.positions[rows], last[q]]
        times = [0.0, *run.table.time[rows]]
        for k, begin in enumerate(times):
            if arrivals is None or arrivals[q] <= begin:
                row = int(rows[k]) if k < len(rows) else -1
                lines.append((q, row, begin, places[k], places[k + 1]))
    some = [lines[k] for k in spread(len(lines), most)]
    found = np.zeros(len(some))
    for k, (_, _, begin, one, other) in enumerate(some):
        region = run.system.ground_at(begin).mask
        if region is not None:
            if id(region) not in regions:
                regions[id(region)] = RegionWays(region)
            found[k] = regions[id(region)].part_of(one).outside(one, other)
    agents = np.array([line[0] for line in some], dtype=np.int64)
    return found, agents, np.array([line[1] for line in some], dtype=np.int64)
