"""Interval: a compact piece of the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.limits import as_number, as_rows, refuse_range
from dwell.geometry.region import Region


@final
@dataclass(frozen=True, eq=False, init=False)
class Interval(Region):
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
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "repairs", ())

    @property
    def dimension(self) -> int:
        """1."""
        return 1

    @property
    def interval(self) -> Interval:
        """Itself."""
        return self

    @property
    def vertices(self) -> Points:
        """Both ends, (2, 1)."""
        return np.array([[self.lower], [self.upper]])

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

    @property
    def diameter(self) -> float:
        """Length."""
        return self.upper - self.lower

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Both ends, each of shape (1,)."""
        return np.array([self.lower]), np.array([self.upper])

    def nearest(self, points: Points) -> Points:
        """The nearest point of the interval to each point, (k, 1)."""
        nearest: Points = np.clip(as_rows(points, 1), self.lower, self.upper)
        return nearest
