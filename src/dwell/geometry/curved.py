"""Balls and ellipsoids have flat facets on the line alone."""

from __future__ import annotations

from dwell._types import Floats, Ints, Points
from dwell.geometry.interval import Interval
from dwell.geometry.limits import missing
from dwell.geometry.region import Region


class CurvedRegion(Region):
    """A region with a curved boundary; on the line it has the properties of its interval."""

    @property
    def vertices(self) -> Points:
        """Both ends, on the line."""
        return self._as_interval("vertices").vertices

    @property
    def normals(self) -> Points:
        """Outward direction at both ends, on the line."""
        return self._as_interval("flat walls").normals

    @property
    def offsets(self) -> Floats:
        """normals . x <= offsets inside, on the line."""
        return self._as_interval("flat walls").offsets

    @property
    def faces(self) -> tuple[Ints, ...]:
        """The vertex of each end, on the line."""
        return self._as_interval("flat walls").faces

    def _as_interval(self, part: str) -> Interval:
        if self.dimension != 1:
            raise missing(self, self.dimension, part)
        return self.interval
