"""Properties of every Voronoi cell, and their computation for cells with flat facets."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from dwell._checks import check_agent
from dwell._types import Floats, Ints, Points, dots, lengths
from dwell.geometry.boundary import closed_boundary
from dwell.geometry.limits import as_rows

SLACK = 1e-12  # of the cell's size: what rounding may put a point of the boundary outside by


@runtime_checkable
class VoronoiCell(Protocol):
    """The part of the workspace nearest to one agent, in any dimension and any workspace.

    What `Tessellation.cells` holds. Kinds of cells know more: corners in order, faces, arcs.
    """

    @property
    def agent(self) -> int:
        """Whose cell it is."""

    @property
    def position(self) -> Points:
        """Where that agent stands, (n,)."""

    @property
    def borders(self) -> Ints:
        """What lies behind each piece of the boundary: an agent if >= 0, else the workspace's."""

    @property
    def border_sizes(self) -> Floats:
        """How large each of these pieces is, as a length; infinite where that is not known."""

    @property
    def neighbors(self) -> Ints:
        """The agents behind its borders, ascending; also behind borders that are mere points."""

    @property
    def offsets(self) -> Points:
        """Corners relative to the agent, (V, n); cells with a curved boundary may have none."""

    @property
    def vertices(self) -> Points:
        """Corners in the coordinates of the workspace, (V, n)."""

    @property
    def empty(self) -> bool:
        """Whether it has no inside: its agent stands outside, behind others."""

    @property
    def volume(self) -> float:
        """Length, area, volume, ...; 0 if it is empty."""

    @property
    def centroid(self) -> Points:
        """Middle of its volume, whatever the density, (n,); the agent's place if it is empty."""

    def contains(self, points: object) -> np.ndarray:
        """Whether each point (k, n) lies in the cell, its boundary included (up to rounding)."""


class Measure(NamedTuple):
    """How large a region is, and where its middle lies from the agent."""

    volume: float
    middle: Points  # (n,)


class AnyCell:
    """What follows from the parts of any cell."""

    position: Points
    offsets: Points
    borders: Ints

    @property
    def vertices(self) -> Points:
        """Vertices in the coordinates of the workspace, (V, n)."""
        return self.position + self.offsets

    @property
    def neighbors(self) -> Ints:
        """The agents behind its borders, ascending; also behind borders that are mere points."""
        found: Ints = np.unique(self.borders[self.borders >= 0])
        return found

    def _border_with(self, other: int) -> int | None:
        """Index of the border behind which agent `other` lies; None if there is none."""
        check_agent(other)
        places = np.flatnonzero(self.borders == other)
        return int(places[0]) if places.size else None


class FlatCell(AnyCell):
    """A cell with flat facets: the convex hull of its vertices."""

    faces: tuple[Ints, ...] | None

    @property
    def empty(self) -> bool:
        """Whether it has no inside: its agent stands outside, behind others."""
        return len(self.offsets) == 0

    @property
    def volume(self) -> float:
        """Length, area, volume, ...; 0 if it is empty."""
        return self._measure.volume

    @property
    def centroid(self) -> Points:
        """Middle of its volume, whatever the density, (n,); the agent's place if it is empty."""
        return self.position + self._measure.middle

    def contains(self, points: object) -> np.ndarray:
        """Whether each point (k, n) lies in the cell, its boundary included (up to rounding)."""
        rows = as_rows(points, len(self.position))
        if self.empty:
            return np.zeros(len(rows), dtype=bool)
        normals, anchors = self._walls
        local = rows - self.position
        slack = SLACK * float(lengths(self.offsets).max())
        inside = np.ones(len(rows), dtype=bool)
        for normal, anchor in zip(normals, anchors, strict=True):
            inside &= dots(local - anchor, normal) <= slack
        return inside

    @cached_property
    def _measure(self) -> Measure:
        if self.empty:
            return Measure(0.0, np.zeros(len(self.position)))
        return measure_of(self.offsets, boundary_of(self.offsets, self.faces))

    @cached_property
    def _walls(self) -> tuple[Points, Points]:
        """Outward unit normals of the facets, and a point of each."""
        middle = self.offsets.mean(axis=0)
        size = float(lengths(self.offsets - middle).max())
        found = [
            (normal, corners.mean(axis=0))
            for corners in _corners_of_walls(self.offsets, self.faces)
            if (normal := _normal(corners, middle, SLACK * size)) is not None
        ]
        normals, anchors = zip(*found, strict=True)
        return np.array(normals), np.array(anchors)


def boundary_of(offsets: Points, faces: tuple[Ints, ...] | None) -> Ints:
    """The boundary of a cell as simplices of corners, (S, n), facing outward above the line."""
    n = offsets.shape[1]
    if n == 1:
        return np.array([[0], [1]])
    if n == 2:
        first = np.arange(len(offsets))
        return np.column_stack([first, np.roll(first, -1)])
    if n == 3 and faces is not None:
        fans = [[(f[0], a, b) for a, b in pairwise(f[1:])] for f in faces]
        return np.array([one for fan in fans for one in fan], dtype=np.int64).reshape(-1, 3)
    found = closed_boundary(offsets)
    return np.zeros((0, n), dtype=np.int64) if found is None else found


def measure_of(offsets: Points, boundary: Ints) -> Measure:
    """Volume and middle of the region with these corners: simplices from a point within."""
    n = offsets.shape[1]
    apex = offsets.mean(axis=0)
    if n == 1:
        return Measure(float(np.ptp(offsets)), apex)
    arms = offsets[boundary] - apex
    parts = np.linalg.det(arms) / math.factorial(n)
    volume = math.fsum(parts)
    if not volume > 0.0:  # so thin that nothing is left of it
        return Measure(0.0, apex)
    pull = parts[:, None] * arms.sum(axis=1) / (n + 1)
    return Measure(volume, apex + pull.sum(axis=0) / volume)


def _corners_of_walls(offsets: Points, faces: tuple[Ints, ...] | None) -> list[Points]:
    n = offsets.shape[1]
    if n == 1:
        return [offsets[:1], offsets[1:]]
    if faces is None:
        ends = np.roll(offsets, -1, axis=0)
        return [np.array(pair) for pair in zip(offsets, ends, strict=True)]
    return [offsets[face] for face in faces]


def _normal(corners: Points, middle: Points, least: float) -> Points | None:
    """The outward unit normal of a face; None if it is narrower than `least`, and so has none."""
    center = corners.mean(axis=0)
    n = len(middle)
    if n == 1:
        return np.where(center > middle, 1.0, -1.0)
    _, sizes, rows = np.linalg.svd(corners - center)
    if not sizes[n - 2] > least:
        return None
    normal: Points = rows[-1]
    return normal if float(dots(normal, center - middle)) > 0.0 else -normal
