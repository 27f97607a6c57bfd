"""Box: a rectangle with sides along the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats, Points
from dwell.errors import WorkspaceError
from dwell.geometry.polygon import Polygon
from dwell.geometry.ring import as_numbers


@final
@dataclass(frozen=True, eq=False, init=False)
class Box:
    """The rectangle between the corners `lower` and `upper`.

    >>> Box((0, 0), (2, 1)).area
    2.0
    """

    lower: tuple[float, float]
    upper: tuple[float, float]
    polygon: Polygon

    def __init__(self, lower: object, upper: object) -> None:
        low, high = _corner(lower, "lower"), _corner(upper, "upper")
        if not (low[0] < high[0] and low[1] < high[1]):
            raise WorkspaceError(
                f"a box needs lower < upper in every coordinate; lower is {list(low)} and "
                f"upper is {list(high)}",
                code="workspace.degenerate",
                key="workspace.upper",
            )
        corners = [low, (high[0], low[1]), high, (low[0], high[1])]
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "polygon", Polygon(corners))

    @property
    def dimension(self) -> int:
        """2."""
        return 2

    @property
    def vertices(self) -> Points:
        """Its corners, counter-clockwise from `lower`."""
        return self.polygon.vertices

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was put right; nothing, for a box."""
        return self.polygon.repairs

    @property
    def area(self) -> float:
        """Area."""
        return self.polygon.area

    @property
    def diameter(self) -> float:
        """Length of the diagonal."""
        return self.polygon.diameter

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper corner."""
        return self.polygon.bounds

    def outside_by(self, points: Points) -> Floats:
        """How far each point lies beyond the boundary (0 inside)."""
        return self.polygon.outside_by(points)

    def contains(self, points: Points) -> np.ndarray:
        """Whether each point lies in the box, its boundary included."""
        return self.polygon.contains(points)

    def nearest(self, points: Points) -> Points:
        """The nearest point of the box to each point."""
        return self.polygon.nearest(points)


def _corner(value: object, name: str) -> tuple[float, float]:
    try:
        corner = as_numbers(value)
    except (TypeError, ValueError, OverflowError):
        corner = np.empty(0)
    if corner.shape != (2,) or not np.isfinite(corner).all():
        raise WorkspaceError(
            f"the box's {name} corner is {value!r}; two finite numbers [x, y] are needed",
            code="workspace.shape",
            key=f"workspace.{name}",
        )
    return float(corner[0]), float(corner[1])
