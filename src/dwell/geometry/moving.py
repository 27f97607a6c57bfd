"""MovingPolygon: a convex polygon whose vertices are on keyframes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from dwell._types import Points, in_short
from dwell.errors import WorkspaceError
from dwell.geometry.convex import Polygon
from dwell.motion import Keyframes

Ring: TypeAlias = tuple[tuple[float, float], ...]


@final
@dataclass(frozen=True, eq=False)
class MovingPolygon:
    """A polygon whose vertices move on keyframes, strictly convex at all times.

    Parameters
    ----------
    vertices : Keyframes
        The corners in order along the boundary, (k, 2) at each keyframe.

    Examples
    --------
    >>> import dwell
    >>> square, wide = [(0, 0), (1, 0), (1, 1), (0, 1)], [(0, 0), (3, 0), (3, 1), (0, 1)]
    >>> dwell.MovingPolygon(dwell.Keyframes([0, 10], [square, wide])).now(5.0).area
    2.0
    """

    vertices: Keyframes

    def __post_init__(self) -> None:
        if not isinstance(self.vertices, Keyframes):
            raise WorkspaceError(
                f"the vertices of a moving polygon are {in_short(self.vertices)}; "
                "dwell.Keyframes(times, values) is needed, with all corners at each time; "
                "dwell.Polygon takes corners that stay",
                code="workspace.keyframes",
                key="workspace.vertices",
            )
        frames = np.array(self.vertices.values)
        if frames.ndim != 3 or frames.shape[1] < 3 or frames.shape[2] != 2:
            raise WorkspaceError(
                f"the vertices of a moving polygon have the shape {frames.shape}; (keyframes, "
                "corners, 2) with at least three corners is needed",
                code="workspace.shape",
                key="workspace.vertices",
            )
        _refuse_folds(self.vertices)

    dimension = 2
    stay = False  # agents keep inside no region

    @property
    def last(self) -> float:
        """The last time at which it is known."""
        return self.vertices.last

    @property
    def repairs(self) -> tuple[str, ...]:
        """None: what would need one is refused."""
        return ()

    def now(self, t: float) -> Polygon:
        """The polygon at time t."""
        return Polygon(self.vertices.at(t))

    def rates(self, t: float) -> Points:
        """The velocity of each vertex from t on, (k, 2)."""
        return np.array(self.vertices.rate(t))


def _refuse_folds(vertices: Keyframes) -> None:
    """Refuse vertices that are not those of a strictly convex polygon at some time.

    Between keyframes the cross product at a corner is a quadratic function of time; its smallest
    value, in rationals, must be positive. Where it is at all corners, the polygon stays simple: it
    turns once, as at the first keyframe.
    """
    times, frames = vertices.times, vertices.values
    for frame in frames:
        Polygon(frame)  # simple, and convex
    turn = 1 if _cross(frames[0], frames[0], 0) > 0 else -1
    for k in range(len(times)):
        ends = (k, k + 1) if vertices.between == "linear" and k + 1 < len(times) else (k, k)
        a, b = (frames[i] for i in ends)
        for corner in range(len(a)):
            first, last = (turn * _cross(f, f, corner) for f in (a, b))
            mixed = turn * (_cross(a, b, corner) + _cross(b, a, corner))
            share = _lowest(first, mixed, last)
            rest = 1 - share
            if rest * rest * first + rest * share * mixed + share * share * last <= 0:
                t = times[ends[0]] + float(share) * (times[ends[1]] - times[ends[0]])
                raise WorkspaceError(
                    f"the moving polygon is not strictly convex at vertex {corner} at t = {t:.6g}; "
                    "choose keyframes between which every corner keeps turning the same way",
                    code="workspace.convex",
                    key="workspace.vertices",
                )


def _cross(one: Ring, other: Ring, i: int) -> Fraction:
    """The cross product of the edge of one polygon before vertex i and the other's after it."""
    n = len(one)
    before = [Fraction(one[i][c]) - Fraction(one[i - 1][c]) for c in range(2)]
    after = [Fraction(other[(i + 1) % n][c]) - Fraction(other[i][c]) for c in range(2)]
    return before[0] * after[1] - before[1] * after[0]


def _lowest(first: Fraction, mixed: Fraction, last: Fraction) -> Fraction:
    """Where in [0, 1] (1-s)**2 first + s (1-s) mixed + s**2 last is lowest."""
    curve = first - mixed + last
    if curve > 0:
        s = (2 * first - mixed) / (2 * curve)
        if 0 < s < 1:
            return s
    return Fraction(0) if first <= last else Fraction(1)
