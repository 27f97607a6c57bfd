"""Polytope: a bounded intersection of half-spaces, in any dimension, and its nearest points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, as_numbers
from dwell.errors import WorkspaceError
from dwell.geometry.convex import ConvexRegion, Interval, Polygon
from dwell.geometry.halfspaces import KEY, corners_of, empty, unbounded, unit_halfspaces
from dwell.geometry.hull import Shell, distinct, framed, shell_of
from dwell.geometry.validation import (
    ROUNDING,
    as_rows,
    as_table,
    degenerate,
    read_only,
    repeats_removed,
)

DEPENDENT = 1e-20  # squared length of what is left of a unit normal that others span
# The hulls on the line and in the plane; above, those of Qhull.
LOW: Mapping[int, Callable[[Points], Interval | Polygon]] = {
    1: lambda points: Interval(points.min(), points.max()),
    2: Polygon.hull_of,
}


@final
@dataclass(frozen=True, eq=False, init=False)
class Polytope(ConvexRegion):
    """The convex hull of points, or an intersection of half-spaces.

    Vertices that are not corners of the hull, and redundant half-spaces, are left out and listed in
    `repairs`. Unbounded, empty and flat regions are refused.

    Parameters
    ----------
    vertices : array_like, optional
        Points whose hull is the region, (k, n).
    halfspaces : tuple of array_like, optional
        Rows and values of the inequalities ``rows @ z <= values``; give these or `vertices`.

    Examples
    --------
    >>> import dwell
    >>> round(dwell.Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]).volume * 6, 12)
    1.0
    >>> dwell.Polytope(halfspaces=([[-1, 0], [0, -1], [1, 1]], [0, 0, 1])).volume
    0.5
    """

    vertices: Points  # (V, n), read-only
    normals: Points  # (m, n) outward unit, read-only
    offsets: Floats  # (m,) normals . z <= offsets inside
    faces: tuple[Ints, ...]  # vertices of facet k; in three dimensions a loop seen from outside
    volume: float
    repairs: tuple[str, ...]

    def __init__(self, vertices: object = None, *, halfspaces: object = None) -> None:
        if (vertices is None) == (halfspaces is None):
            raise WorkspaceError(
                "a polytope needs either vertices or halfspaces, not both and not neither",
                code="workspace.shape",
                key="workspace.vertices",
            )
        if halfspaces is None:
            shell, repairs = _of_vertices(vertices)
        else:
            shell, repairs = _of_halfspaces(*_as_system(halfspaces))
        vars(self).update(**shell._asdict(), repairs=repairs)

    @classmethod
    def from_halfspaces(cls, rows: object, values: object) -> Polytope:
        """All z with rows z <= values."""
        return cls(halfspaces=(rows, values))

    def contains(self, points: Points) -> np.ndarray:
        """Whether each point lies in the polytope, its boundary included (up to rounding)."""
        rows = as_rows(points, self.dimension)
        reach = ROUNDING * self.diameter
        if self.hull is not self:
            return np.asarray(self.outside_by(rows) <= reach)
        middle, unit, gaps = self._frame
        height = unit * self._height((rows - middle) / unit, gaps)
        inside: np.ndarray = height <= 0.0
        unsure = (height > 0.0) & (height <= reach)  # the height is a lower bound of the distance
        inside[unsure] = self.outside_by(rows[unsure]) <= reach
        return inside

    def nearest(self, points: Points) -> Points:
        """The nearest point of the polytope to each point; the point itself if it is inside."""
        rows = as_rows(points, self.dimension)
        if self.hull is not self:
            return self.hull.nearest(rows)
        middle, unit, gaps = self._frame
        local = (rows - middle) / unit
        nearest = rows.copy()
        for k in np.flatnonzero(self._height(local, gaps) > 0.0):
            nearest[k] = middle + unit * project(local[k], self.normals, gaps)
        return nearest

    @cached_property
    def _frame(self) -> tuple[Points, float, Floats]:
        """Centre and unit of length of a frame near the origin, and the distances of the facets."""
        middle, unit, local = framed(self.vertices, "workspace.vertices")
        pairs = zip(self.normals, self.faces, strict=True)
        heights = [(local[face] * normal).sum(axis=1).max() for normal, face in pairs]
        return middle, unit, np.array(heights)

    def _height(self, local: Points, gaps: Floats) -> Floats:
        """How far each point is beyond the half-space it violates most, summed in order."""
        highest = np.full(len(local), -np.inf)
        for normal, gap in zip(self.normals, gaps, strict=True):
            height = np.full(len(local), -gap)
            for k in range(local.shape[1]):
                height = height + normal[k] * local[:, k]
            highest = np.maximum(highest, height)
        return highest


def project(point: Points, normals: Points, offsets: Floats) -> Points:
    """The nearest z to `point` with normals z <= offsets (unit normals; such z exist).

    Goldfarb and Idnani's dual active-set method: violated constraints enter one by one, the worst
    first, and those whose multiplier becomes negative leave. It ends after finitely many steps.
    """
    foot = point
    held: list[int] = []
    pull = np.zeros(0)
    slack = 4e-16 * (1.0 + float(np.abs(offsets).max(initial=0.0)) + float(np.abs(point).max()))
    for _ in range(20 * (len(offsets) + 1)):
        broken = normals @ foot - offsets
        broken[held] = -np.inf
        k = int(np.argmax(broken))
        if broken[k] <= slack:
            break
        foot, held, pull = _take_in(k, foot, held, pull, normals, offsets)
    # The nearest point on all of these planes at once; the second step mends the first.
    rows, foot = normals[held], point
    for _ in range(2):
        foot = foot - np.linalg.lstsq(rows, rows @ foot - offsets[held], rcond=1e-12)[0]
    return foot


def _take_in(
    k: int, z: Points, held: list[int], pull: Floats, normals: Points, offsets: Floats
) -> tuple[Points, list[int], Floats]:
    """Add constraint k to the active set, and drop those with negative multipliers."""
    own = 0.0
    while True:
        # The combination of the normals held that is nearest to this one.
        share = np.linalg.lstsq(normals[held].T, normals[k], rcond=1e-12)[0]
        step = normals[k] - share @ normals[held]
        square = float(step @ step)
        height = float(normals[k] @ z - offsets[k])
        full = height / square if square > DEPENDENT else np.inf
        limits = np.divide(pull, share, out=np.full(len(held), np.inf), where=share > 0.0)
        move = min(full, float(limits.min(initial=np.inf)))
        if not np.isfinite(move):  # constraints that contradict each other by rounding only
            return z, held, pull
        if square > DEPENDENT:
            z = z - move * step
        pull, own = pull - move * share, own + move
        if full <= move:
            return z, [*held, k], np.append(pull, own)
        first = int(np.argmin(limits))
        held, pull = held[:first] + held[first + 1 :], np.delete(pull, first)


def _of_vertices(vertices: object) -> tuple[Shell, tuple[str, ...]]:
    need = "a list of points with as many numbers each as the workspace has dimensions"
    points = as_table(vertices, "the workspace's vertices", need, "workspace.vertices")
    if not len(points):
        raise degenerate("it has no vertices", "workspace.vertices")
    repairs: list[str] = []
    kept = _without_repeats(points)
    if len(kept) < len(points):
        repairs.append(repeats_removed(len(points) - len(kept)))
    shell = _shell(kept)
    lost = len(kept) - len(shell.vertices)
    if lost:
        what = "vertex that is no corner" if lost == 1 else "vertices that are no corners"
        repairs.append(f"left out {lost} workspace {what} of the convex hull")
    return shell, tuple(repairs)


def _without_repeats(points: Points) -> Points:
    """Points without those that repeat another up to rounding."""
    spread = points.max(axis=0) - points.min(axis=0)
    size = float(np.sqrt((spread * spread).sum()))
    if not (0.0 < size < np.inf):
        return np.unique(points, axis=0)
    grain = 8.0 * np.finfo(float).eps * float(np.abs(points).max()) / size  # of the coordinates
    return distinct(points, (points - points.min(axis=0)) / size, max(ROUNDING, grain))


def _shell(points: Points) -> Shell:
    """The hull of distinct points: on the line, in the plane, or above it."""
    n = points.shape[1]
    if n not in LOW:
        return shell_of(points)
    if len(points) <= n:
        noun = "vertex" if n == 1 else "vertices"
        why = f"it has {len(points)} distinct {noun}; at least {n + 1} are needed"
        raise degenerate(why, "workspace.vertices")
    hull = LOW[n](points)
    return Shell(*(getattr(hull, part) for part in Shell._fields))


def _as_system(halfspaces: object) -> tuple[Points, Floats]:
    pair: Any = halfspaces
    try:
        rows, given = pair
    except (TypeError, ValueError):
        raise _bad_system("what came is no pair of both") from None
    rows = as_table(rows, "the rows of the workspace's half-spaces", "a list of normals", KEY)
    values = as_numbers(given)
    if values is None:
        raise _bad_system("the values cannot be read as numbers")
    if values.shape != (len(rows),):
        raise _bad_system(f"there are {len(rows)} rows and values of shape {values.shape}")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise WorkspaceError(
            f"the value of half-space {bad[0]} is {values[bad[0]]}; a finite number is needed",
            code="workspace.nonfinite",
            key=KEY,
        )
    return rows, values


def _bad_system(why: str) -> WorkspaceError:
    return WorkspaceError(
        "half-spaces are (rows, values), one value per row, for all z with rows z <= values; "
        f"{why}",
        code="workspace.shape",
        key=KEY,
    )


def _of_halfspaces(rows: Points, values: Floats) -> tuple[Shell, tuple[str, ...]]:
    n = rows.shape[1]
    corners = _ends(rows, values) if n == 1 else corners_of(rows, values)
    shell = _shell(_without_repeats(corners))
    owner = _owners(shell, rows, values)
    redundant = sorted(set(range(len(rows))) - set(owner.tolist()))
    repairs: tuple[str, ...] = ()
    if redundant:
        named = ", ".join(map(str, redundant[:8])) + (", ..." if len(redundant) > 8 else "")
        what = "half-space that cuts" if len(redundant) == 1 else "half-spaces that cut"
        repairs = (f"left out {len(redundant)} {what} nothing off the workspace: {named}",)
    if n in LOW or len(set(owner.tolist())) < len(owner):
        return shell, repairs
    order = np.argsort(owner)
    normals, offsets, _ = unit_halfspaces(rows[owner[order]], values[owner[order]])
    faces = tuple(shell.faces[k] for k in order)
    given = shell._replace(normals=read_only(normals), offsets=read_only(offsets), faces=faces)
    return given, repairs


def _owners(shell: Shell, rows: Points, values: Floats) -> Ints:
    """The half-space of each facet; the first, if one was given twice."""
    normals, offsets, kept = unit_halfspaces(rows, values)
    pick = []
    for face, normal in zip(shell.faces, shell.normals, strict=True):
        gaps = np.abs(shell.vertices[face] @ normals.T - offsets).max(axis=0)
        facing = (normals * normal).sum(axis=1) > 0.0
        pick.append(int(kept[np.argmin(np.where(facing, gaps, np.inf))]))
    return np.array(pick, dtype=np.int64)


def _ends(rows: Points, values: Floats) -> Points:
    """Both ends of {z: rows z <= values} on the line."""
    a = rows[:, 0]
    if ((a == 0.0) & (values < 0.0)).any():
        unit_halfspaces(rows, values)
    for sign in (1.0, -1.0):
        if not (sign * a > 0.0).any():
            raise unbounded(np.array([sign]))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ends = values / a
    high, low = np.where(a > 0.0, ends, np.inf), np.where(a < 0.0, ends, -np.inf)
    k, j = int(np.argmin(high)), int(np.argmax(low))
    if not high[k] > low[j]:
        if high[k] == low[j]:
            raise degenerate(f"half-spaces {k} and {j} leave one point", KEY)
        raise empty(f"half-spaces {k} and {j} contradict each other by {low[j] - high[k]:.3g}")
    return np.array([[low[j]], [high[k]]])
