"""Balls and ellipsoids: regions with a curved boundary, in any dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.convex import ConvexRegion, Interval
from dwell.geometry.rational import upper_root
from dwell.geometry.validation import (
    FLAT,
    as_number,
    as_rows,
    as_table,
    as_vector,
    need_dimension,
    read_only,
    refuse_lost,
    refuse_range,
)

SKEW = 1e-9  # what axes may differ from right angles by
EXACT = 2.0**-51  # per coordinate: what rounding alone leaves of lengths and right angles
MOST_STEPS = 200


class Root(NamedTuple):
    """|W (z - center)| <= 1 with W upper triangular: a curved region as the kernels take it."""

    center: Points  # (n,)
    matrix: Floats  # (n, n)

    def seen_from(self, place: Points) -> tuple[Floats, float]:
        """a = W (place - center), and 1 - |a|**2 of that very a, without cancellation."""
        gap = place - self.center
        a = np.array([math.fsum(row * gap) for row in self.matrix])
        return a, float(1 - sum(Fraction(float(v)) ** 2 for v in a))


class CurvedRegion(ConvexRegion):
    """A region with a curved boundary; on the line it has the properties of its interval."""

    center: tuple[float, ...]
    semi_axes: tuple[float, ...]
    axes: Floats  # (n, n) orthonormal rows

    @property
    def flat(self) -> bool:
        """Whether all facets are flat, as its ends are on the line."""
        return len(self.center) == 1

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.center)

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
        need_dimension(self, 1, part)
        return self.interval

    @property
    def volume(self) -> float:
        """Length, area, volume, ..."""
        return unit_ball(self.dimension) * math.prod(self.semi_axes)

    @property
    def diameter(self) -> float:
        """Twice the longest semi-axis."""
        return 2.0 * max(self.semi_axes)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper corner of the bounding box."""
        stretched = self.axes * np.array(self.semi_axes)[:, None]
        reach = np.sqrt((stretched * stretched).sum(axis=0))
        middle = np.array(self.center)
        return middle - reach, middle + reach

    def outside_by(self, points: Points) -> Floats:
        """How far each point lies beyond the boundary (0 inside), one row per point."""
        local, multiplier = self._solved(points)
        squares = np.array(self.semi_axes) ** 2
        gap = local * (multiplier[:, None] / (squares + multiplier[:, None]))
        return _lengths(gap)

    def nearest(self, points: Points) -> Points:
        """The nearest point of the region to each point; the point itself if it is inside."""
        local, multiplier = self._solved(points)
        squares = np.array(self.semi_axes) ** 2
        feet = local * (squares / (squares + multiplier[:, None]))
        nearest = as_rows(points, self.dimension).copy()
        outside = multiplier > 0.0
        nearest[outside] = np.array(self.center) + _turned(feet[outside], self.axes.T)
        return nearest

    def _solved(self, points: Points) -> tuple[Points, Floats]:
        """Points along the axes, and the multiplier t of each: foot_i = y_i a_i² / (a_i² + t)."""
        rows = as_rows(points, self.dimension)
        local = _turned(rows - self.center, self.axes)
        return local, secular_roots(local, np.array(self.semi_axes))

    @cached_property
    def root(self) -> Root:
        """The region as the kernels take it; exact but for roundings of each entry."""
        rows = [
            [Fraction(float(v)) / Fraction(size) for v in row]
            for row, size in zip(self.axes, self.semi_axes, strict=True)
        ]
        n = range(len(rows))
        form = [[sum((r[i] * r[j] for r in rows), Fraction(0)) for j in n] for i in n]
        return Root(read_only(np.array(self.center)), read_only(upper_root(form)))


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
        center, n = tuple(float(v) for v in middle), len(middle)
        vars(self).update(center=center, radius=size, semi_axes=(size,) * n, axes=np.eye(n))


@final
@dataclass(frozen=True, eq=False, init=False)
class Ellipsoid(CurvedRegion):
    """The points z with sum over i of (axes[i] . (z - center) / semi_axes[i])**2 <= 1.

    Parameters
    ----------
    center : sequence of float
        The centre, one number per dimension.
    semi_axes : sequence of float
        Lengths of the semi-axes, above 0.
    axes : array_like, optional
        Directions of the semi-axes, orthogonal, one per row; the coordinate axes if absent.

    Examples
    --------
    >>> import dwell
    >>> dwell.Ellipsoid((0, 0, 0), (3, 2, 1)).bounds[1].tolist()
    [3.0, 2.0, 1.0]
    """

    center: tuple[float, ...]
    semi_axes: tuple[float, ...]
    axes: Floats  # (n, n) orthonormal rows, read-only
    repairs: tuple[str, ...] = ()

    def __init__(self, center: object, semi_axes: object, axes: object = None) -> None:
        middle = as_vector(center, "the ellipsoid's center", "workspace.center")
        sizes = as_vector(semi_axes, "the list of the ellipsoid's semi-axes", "workspace.semi_axes")
        _check_sizes(sizes, middle)
        refuse_lost(middle, float(sizes.min()), "workspace.center")
        rows, repairs = _orthonormal(axes, len(middle))
        vars(self).update(
            center=tuple(float(v) for v in middle),
            semi_axes=tuple(float(v) for v in sizes),
            axes=read_only(rows),
            repairs=repairs,
        )

    @classmethod
    def from_matrix(cls, center: object, matrix: object) -> Ellipsoid:
        """The points z with (z - center)' matrix (z - center) <= 1."""
        n = as_vector(center, "the ellipsoid's center", "workspace.center").size
        need = f"a symmetric positive definite {n} x {n} matrix"
        m = as_table(matrix, "the ellipsoid's matrix", need, "workspace.matrix")
        if m.shape != (n, n) or not np.allclose(m, m.T, rtol=1e-12, atol=0.0):
            raise _refused_matrix(need)
        values, vectors = np.linalg.eigh(0.5 * (m + m.T))
        if not values[0] > 0.0:
            raise _refused_matrix(f"{need} (its smallest eigenvalue is {values[0]:.3g})")
        return cls(center, 1.0 / np.sqrt(values), vectors.T)


def secular_roots(local: Points, sizes: Floats) -> Floats:
    """The t >= 0 with sum of (a y / (a² + t))² = 1 for each row y; 0 for rows inside.

    The sum is convex and falls with t, so Newton's steps from the left never overshoot. They are
    taken on 1 - 1 / sqrt(sum), which is nearly straight: a few will do, however far the point.
    """
    unit = sizes.max()
    a, y = sizes / unit, np.abs(local) / unit
    todo = np.flatnonzero(_lengths(y / a) > 1.0)
    t = np.zeros(len(y))
    t[todo] = np.maximum((a * (y[todo] - a)).max(axis=1), 0.0)  # each term must stay below 1
    for _ in range(MOST_STEPS):
        if not todo.size:
            break
        ratio = a * y[todo] / (a * a + t[todo, None])
        total = (ratio * ratio).sum(axis=1)
        slope = (ratio * ratio / (a * a + t[todo, None])).sum(axis=1)
        step = np.maximum(total * (np.sqrt(total) - 1.0) / slope, 0.0)
        following = t[todo] + step
        moving = following > t[todo] * (1.0 + 1e-15)
        t[todo] = following
        todo = todo[moving]
    roots: Floats = t * unit * unit
    return roots


def _turned(rows: Points, axes: Floats) -> Points:
    """Coordinates of rows along the rows of `axes`, summed in order: the same bits everywhere."""
    turned = np.zeros_like(rows)
    for k in range(rows.shape[1]):
        turned += rows[:, k : k + 1] * axes[:, k]
    return turned


def _check_sizes(sizes: Floats, middle: Floats) -> None:
    if len(sizes) != len(middle):
        raise WorkspaceError(
            f"the ellipsoid has a center of {len(middle)} coordinates and {len(sizes)} semi-axes; "
            "give as many of both",
            code="workspace.shape",
            key="workspace.semi_axes",
        )
    if not (sizes > 0.0).all():
        raise WorkspaceError(
            f"the ellipsoid's semi-axes are {sizes.tolist()}; positive lengths are needed",
            code="workspace.degenerate",
            key="workspace.semi_axes",
        )
    longest = float(sizes.max())
    refuse_range(
        2.0 * longest, float(np.abs(middle).max()) + longest, sizes.size, "workspace.semi_axes"
    )
    if sizes.min() <= FLAT * longest:
        raise WorkspaceError(
            f"the workspace has no inside: the ellipsoid's semi-axes are {sizes.tolist()}, so it "
            "is flat; give semi-axes of similar lengths",
            code="workspace.degenerate",
            key="workspace.semi_axes",
        )


def _orthonormal(axes: object, n: int) -> tuple[Floats, tuple[str, ...]]:
    """`axes` as orthonormal rows, with what was put right."""
    if axes is None:
        return np.eye(n), ()
    need = f"{n} rows of {n} numbers at right angles to each other"
    rows = as_table(axes, "the ellipsoid's axes", need, "workspace.axes")
    if rows.shape != (n, n):
        raise _refused_axes(need, f"they have shape {rows.shape}")
    # What came from here before is taken as it is: written down and read again, it is the same.
    if np.abs((rows[:, None, :] * rows[None, :, :]).sum(axis=2) - np.eye(n)).max() <= EXACT * n:
        return rows, ()
    lengths = np.sqrt((rows * rows).sum(axis=1))
    if not (lengths > 0.0).all():
        raise _refused_axes(need, "one of them is zero")
    unit = rows / lengths[:, None]
    gram = (unit[:, None, :] * unit[None, :, :]).sum(axis=2) - np.eye(n)
    if np.abs(gram).max() > SKEW:
        raise _refused_axes(need, f"two of them have the cosine {np.abs(gram).max():.3g}")
    for _ in range(2):  # Newton's iteration for the nearest orthonormal rows
        gram = (unit[:, None, :] * unit[None, :, :]).sum(axis=2)
        unit = 1.5 * unit - 0.5 * (gram[:, :, None] * unit[None, :, :]).sum(axis=1)
    if np.abs(unit - rows).max() <= 1e-12:
        return unit, ()
    return unit, ("made the ellipsoid's axes unit vectors at right angles",)


def _refused_axes(need: str, why: str) -> WorkspaceError:
    return WorkspaceError(
        f"the ellipsoid's axes must be {need}; {why}", code="workspace.axes", key="workspace.axes"
    )


def _refused_matrix(need: str) -> WorkspaceError:
    return WorkspaceError(
        f"the ellipsoid's matrix must be {need}", code="workspace.shape", key="workspace.matrix"
    )


def unit_ball(dimension: int) -> float:
    """Volume of the ball of radius 1: pi**(n / 2) / gamma(n / 2 + 1)."""
    volume = 2.0 if dimension % 2 else 1.0
    for k in range(3 if dimension % 2 else 2, dimension + 1, 2):
        volume *= 2.0 * math.pi / k
    return volume


def _lengths(rows: Points) -> Floats:
    """The length of each row, also where its square is beyond all numbers."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)[:, None]
    lengths: Floats = largest * np.sqrt(((rows / unit) ** 2).sum(axis=1))
    return lengths
