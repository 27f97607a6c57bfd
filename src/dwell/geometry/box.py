"""Box: a rectangle with sides along the axes, in any dimension."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from dwell._types import Floats, Ints, Points, as_numbers, finite_numbers, in_short
from dwell.errors import WorkspaceError
from dwell.geometry.convex import ConvexRegion
from dwell.geometry.validation import FLAT, as_rows, missing, read_only, refuse_range

MAX_CORNERS = 16  # dimensions beyond which 2**n corners are not listed


@final
@dataclass(frozen=True, eq=False, init=False)
class Box(ConvexRegion):
    """All points between two opposite corners: an interval, a rectangle, a cuboid, and so on.

    In the plane its facets are numbered as the edges of `polygon`; otherwise facet 2 i is the lower
    and facet 2 i + 1 the upper one along axis i.

    Parameters
    ----------
    lower, upper : sequence of float
        The corners; each coordinate of `lower` is less than that of `upper`.

    Examples
    --------
    >>> import dwell
    >>> dwell.Box((0, 0), (2, 1)).area
    2.0
    >>> dwell.Box((0, 0, 0), (2, 1, 3)).volume
    6.0
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    repairs: ClassVar[tuple[str, ...]] = ()  # nothing is ever put right

    def __init__(self, lower: object, upper: object) -> None:
        low, high = _corner(lower, "lower"), _corner(upper, "upper")
        if len(low) != len(high):
            raise WorkspaceError(
                f"the box's corners disagree: lower {in_short(list(low))} has {len(low)} "
                f"coordinates and upper {in_short(list(high))} has {len(high)}; give as many "
                "for both",
                code="workspace.shape",
                key="workspace.upper",
            )
        if not all(a < b for a, b in zip(low, high, strict=True)):
            raise WorkspaceError(
                f"a box needs lower < upper in every coordinate; lower is {list(low)} and "
                f"upper is {list(high)}",
                code="workspace.degenerate",
                key="workspace.upper",
            )
        vars(self).update(lower=low, upper=high)
        sides = self._sides
        farthest = max(abs(v) for v in (*low, *high))
        refuse_range(math.hypot(*sides), farthest, len(sides), "workspace.upper")
        if min(sides) <= FLAT * max(sides):
            raise WorkspaceError(
                f"the workspace has no inside: the box's sides are {sides}, so it is flat; give "
                "sides of similar lengths",
                code="workspace.degenerate",
                key="workspace.upper",
            )

    @property
    def _sides(self) -> list[float]:
        return [b - a for a, b in zip(self.lower, self.upper, strict=True)]

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.lower)

    @property
    def _planar(self) -> bool:
        """Whether it is a rectangle: it then has the bits of a polygon."""
        return self.dimension == 2

    @cached_property
    def vertices(self) -> Points:
        """Its corners: counter-clockwise from `lower` in the plane, else the last axis fastest."""
        if self.dimension > MAX_CORNERS:
            raise missing(self, self.dimension, "list of its corners: there are too many")
        corners = list(itertools.product(*zip(self.lower, self.upper, strict=True)))
        if self._planar:
            corners = [corners[k] for k in (0, 2, 3, 1)]
        return read_only(np.array(corners))

    @cached_property
    def normals(self) -> Points:
        """Outward unit normal of each facet, (2 n, n)."""
        if self._planar:
            return self.polygon.normals
        return read_only(np.kron(np.eye(self.dimension), [[-1.0], [1.0]]))

    @cached_property
    def offsets(self) -> Floats:
        """normals . x <= offsets inside, (2 n,)."""
        if self._planar:
            return self.polygon.offsets
        return read_only(np.column_stack([-np.array(self.lower), self.upper]).reshape(-1))

    @cached_property
    def faces(self) -> tuple[Ints, ...]:
        """Vertices of each facet; counter-clockwise from outside in three dimensions."""
        n = self.dimension
        if self._planar:
            return self.polygon.faces
        bits = np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1)[None, :] & 1
        found = [np.flatnonzero(bits[:, i] == side) for i in range(n) for side in (0, 1)]
        if n == 3:  # (0, 0), (0, 1), (1, 0), (1, 1) of the other two axes, turned to be a loop
            turned = [[0, 1, 3, 2], [0, 2, 3, 1], [0, 2, 3, 1], [0, 1, 3, 2]] * 2
            found = [face[order] for face, order in zip(found, turned, strict=False)]
        return tuple(read_only(face) for face in found)

    @cached_property
    def volume(self) -> float:
        """Length, area, volume, ..."""
        return self.polygon.area if self._planar else math.prod(self._sides)

    @cached_property
    def diameter(self) -> float:
        """Length of the diagonal."""
        if self._planar:
            return self.polygon.diameter
        return math.sqrt(math.fsum(side * side for side in self._sides))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper corner."""
        return np.array(self.lower), np.array(self.upper)

    def nearest(self, points: Points) -> Points:
        """The nearest point of the box to each point."""
        if self._planar:
            return self.polygon.nearest(points)
        return np.clip(as_rows(points, self.dimension), self.lower, self.upper)


def _corner(value: object, name: str) -> tuple[float, ...]:
    """A corner as numbers; on the line a plain number will do."""
    numbers = as_numbers(value)
    corner = np.atleast_1d([] if numbers is None else numbers)
    if corner.ndim != 1 or corner.size == 0 or not np.isfinite(corner).all():
        need = "a list of finite numbers, one per dimension, is needed"
        if corner.ndim == 1 and corner.size > 1:
            need = f"{finite_numbers(corner.size)} are needed"
        raise WorkspaceError(
            f"the box's {name} corner is {in_short(value)}; {need}",
            code="workspace.shape",
            key=f"workspace.{name}",
        )
    return tuple(float(v) for v in corner)
