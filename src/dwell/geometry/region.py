"""Properties that all workspaces share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Floats, Points
from dwell.geometry.limits import as_rows, missing
from dwell.geometry.ring import ROUNDING

if TYPE_CHECKING:
    from dwell.geometry.interval import Interval
    from dwell.geometry.polygon import Polygon


class Region:
    """A compact convex region; properties that its kind or dimension lacks raise an error."""

    if TYPE_CHECKING:

        @property
        def dimension(self) -> int: ...

        @property
        def volume(self) -> float: ...

        @property
        def diameter(self) -> float: ...

        def nearest(self, points: Points) -> Points: ...

    @property
    def polygon(self) -> Polygon:
        """The region as a polygon, in the plane."""
        raise missing(self, self.dimension, "polygon")

    @property
    def interval(self) -> Interval:
        """The region as an interval, on the line."""
        raise missing(self, self.dimension, "interval")

    @property
    def area(self) -> float:
        """Area, in the plane."""
        if self.dimension != 2:
            raise missing(self, self.dimension, "area")
        return self.volume

    def outside_by(self, points: Points) -> Floats:
        """How far each point lies beyond the boundary (0 inside), one row per point."""
        rows = as_rows(points, self.dimension)
        gaps = self.nearest(rows) - rows
        if self.dimension == 2:
            return np.asarray(np.hypot(gaps[:, 0], gaps[:, 1]))
        return np.asarray(np.sqrt((gaps * gaps).sum(axis=1)))

    def contains(self, points: Points) -> np.ndarray:
        """Whether each point lies in the region, its boundary included (up to rounding)."""
        return np.asarray(self.outside_by(points) <= ROUNDING * self.diameter)
