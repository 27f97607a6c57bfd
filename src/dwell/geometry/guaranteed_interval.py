"""Guaranteed and dual guaranteed cells on the line: intervals, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.geometry.guaranteed_base import GuaranteedBase
from dwell.geometry.region import Interval
from dwell.geometry.validation import as_place


@final
@dataclass(frozen=True, eq=False)
class StarInterval(GuaranteedBase):
    """The guaranteed cell of an agent on the line, or the dual one; see `StarCell`.

    An agent within R of the place q takes everything beyond the point at (|q - p| - R) / 2 towards
    it from the guaranteed cell, or at (|q - p| + R) / 2 from the dual one.
    """

    workspace: Interval

    @property
    def offsets(self) -> Points:
        """Both ends relative to the agent, (2, 1)."""
        return self._ends[0]

    @property
    def borders(self) -> Ints:
        """What bounds each end: another agent if >= 0, else end -1 - k of the workspace; (2,)."""
        return self._ends[1]

    def radius(self, directions: object) -> Floats:
        """How far the cell reaches from the agent in each direction, -1 or 1; 0 if it is empty."""
        ahead = np.asarray(directions, dtype=np.float64)
        if self.empty:
            return np.zeros(ahead.shape)
        low, high = self.offsets[:, 0]
        reach: Floats = np.where(ahead < 0.0, -low, high)
        return reach

    @property
    def volume(self) -> float:
        """Length."""
        return 0.0 if self.empty else float(self.offsets[1, 0] - self.offsets[0, 0])

    @property
    def _extent(self) -> tuple[float, float]:
        return self.volume, 0.5 * self.volume

    def distance_to_boundary(self, point: object) -> float:
        """How far `point` may move either way and stay in the cell; 0 if it is outside."""
        if self.empty:
            return 0.0
        place = float(as_place(point, "the point", 1)[0] - self.position[0])
        low, high = (float(v) for v in self.offsets[:, 0])
        return max(0.0, min(place - low, high - place))

    @property
    def _away(self) -> Floats:
        away: Floats = self.others[:, 0] - self.position[0]
        return away

    @cached_property
    def _ends(self) -> tuple[Points, Ints]:
        if self.empty:
            return np.empty((0, 1)), np.empty(0, dtype=np.int64)
        p, away, line = float(self.position[0]), self._away, self.workspace
        apart = np.abs(away) > self.radii  # others bound nothing, neither way
        reach = 0.5 * (np.abs(away) + (self.radii if self.dual else -self.radii))
        ends = [min(line.lower - p, 0.0), max(line.upper - p, 0.0)]
        labels = [-1, -2]
        for j in np.flatnonzero(apart):
            side = int(away[j] > 0.0)
            if reach[j] < abs(ends[side]):
                ends[side] = float(reach[j] if side else -reach[j])
                labels[side] = int(j)
        return np.array(ends)[:, None], np.array(labels)
