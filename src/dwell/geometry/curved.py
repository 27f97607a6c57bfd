"""What regions with a curved boundary have in common: on the line they are intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from dwell._types import Floats, Ints, Points
from dwell.geometry.interval import Interval
from dwell.geometry.limits import missing

if TYPE_CHECKING:
    from dwell.geometry.polygon import Polygon


class CurvedRegion(ABC):
    """Parts of flat regions, which a ball or an ellipsoid has on the line alone."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many coordinates a point has."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """Length, area, volume, ..."""

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """One-dimensional workspace as an interval."""

    @property
    def polygon(self) -> Polygon:
        """None: its boundary is curved."""
        raise missing(self, self.dimension, "polygon")

    @property
    def vertices(self) -> Points:
        """None above the line: its boundary is curved."""
        return self._wall("vertices").vertices

    @property
    def normals(self) -> Points:
        """None above the line."""
        return self._wall("flat walls").normals

    @property
    def offsets(self) -> Floats:
        """None above the line."""
        return self._wall("flat walls").offsets

    @property
    def faces(self) -> tuple[Ints, ...]:
        """None above the line."""
        return self._wall("flat walls").faces

    def _wall(self, part: str) -> Interval:
        if self.dimension != 1:
            raise missing(self, self.dimension, part)
        return self.interval

    @property
    def area(self) -> float:
        """Area, in the plane."""
        if self.dimension != 2:
            raise missing(self, self.dimension, "area")
        return self.volume
