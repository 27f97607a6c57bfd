"""Ball: all points within one distance of a center."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Points
from dwell.errors import WorkspaceError
from dwell.geometry.curved import CurvedRegion
from dwell.geometry.interval import Interval
from dwell.geometry.limits import as_number, as_rows, as_vector, missing, refuse_lost, refuse_range


@final
@dataclass(frozen=True, eq=False, init=False)
class Ball(CurvedRegion):
    """The points within `radius` of `center`, in any dimension; a disc in the plane.

    Parameters
    ----------
    center : sequence of float
        The centre, one number per dimension.
    radius : float
        The radius, above 0.

    Examples
    --------
    >>> import dwell
    >>> dwell.Ball((0, 0, 0), 1).diameter
    2.0
    """

    center: tuple[float, ...]
    radius: float
    repairs: tuple[str, ...] = ()

    def __init__(self, center: object, radius: object) -> None:
        middle = as_vector(center, "the ball's center", "workspace.center")
        size = as_number(radius, "the ball's radius", "workspace.radius")
        if not size > 0.0:
            raise WorkspaceError(
                f"the ball's radius is {size:g}; a positive number is needed",
                code="workspace.degenerate",
                key="workspace.radius",
            )
        refuse_range(
            2.0 * size, float(np.abs(middle).max()) + size, middle.size, "workspace.radius"
        )
        refuse_lost(middle, size, "workspace.center")
        object.__setattr__(self, "center", tuple(float(v) for v in middle))
        object.__setattr__(self, "radius", size)
        object.__setattr__(self, "repairs", ())

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.center)

    @cached_property
    def interval(self) -> Interval:
        """One-dimensional ball as an interval."""
        if self.dimension != 1:
            raise missing(self, self.dimension, "interval")
        return Interval(self.center[0] - self.radius, self.center[0] + self.radius)

    @property
    def semi_axes(self) -> tuple[float, ...]:
        """The radius in every direction: what makes a ball an ellipsoid."""
        return (self.radius,) * self.dimension

    @property
    def axes(self) -> Floats:
        """The axes of the coordinates, one per row."""
        return np.eye(self.dimension)

    @property
    def volume(self) -> float:
        """Length, area, volume, ..."""
        return unit_ball(self.dimension) * self.radius**self.dimension

    @property
    def diameter(self) -> float:
        """Twice the radius."""
        return 2.0 * self.radius

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper corner of the bounding box."""
        middle = np.array(self.center)
        return middle - self.radius, middle + self.radius

    def outside_by(self, points: Points) -> Floats:
        """How far each point lies beyond the boundary (0 inside), one row per point."""
        gap = as_rows(points, self.dimension) - self.center
        distance: Floats = np.maximum(_lengths(gap) - self.radius, 0.0)
        return distance

    def nearest(self, points: Points) -> Points:
        """The nearest point of the ball to each point; the point itself if it is inside."""
        rows = as_rows(points, self.dimension)
        gap = rows - self.center
        distance = _lengths(gap)
        outside = distance > self.radius
        nearest = rows.copy()
        toward = gap[outside] / distance[outside, None]
        nearest[outside] = np.array(self.center) + self.radius * toward
        return nearest


def unit_ball(dimension: int) -> float:
    """Volume of the ball of radius 1: pi**(n / 2) / gamma(n / 2 + 1)."""
    volume = 2.0 if dimension % 2 else 1.0
    for k in range(3 if dimension % 2 else 2, dimension + 1, 2):
        volume *= 2.0 * math.pi / k
    return volume


def _lengths(rows: Points) -> Floats:
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)[:, None]
    lengths: Floats = largest * np.sqrt(((rows / unit) ** 2).sum(axis=1))
    return lengths
