"""Voronoi cells as values: what all of them have, and those with flat facets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from dwell._checks import check_agent
from dwell._types import Floats, Ints, Points, dots, lengths
from dwell.geometry.hull import closed_boundary
from dwell.geometry.validation import as_rows

SLACK = 1e-12  # of the cell's size: what rounding may put a point of the boundary outside by


class Measure(NamedTuple):
    """How large a region is, and where its middle lies from the agent."""

    volume: float
    middle: Points  # (n,)


@dataclass(frozen=True, eq=False)
class VoronoiCell:
    """The part of the workspace nearest to one agent, in any dimension and any workspace.

    `Tessellation.cells` contains them: `Cell` where all facets are flat, else `CurvedCell`.
    """

    agent: int  # whose cell it is
    position: Points  # (n,) of that agent
    offsets: Points  # (V, n) vertices relative to the agent, counter-clockwise in the plane; none
    # are listed of cells with a curved boundary above the plane
    borders: Ints  # (B,) what lies behind each piece of the boundary: an agent if >= 0

    @property
    def vertices(self) -> Points:
        """Vertices in the coordinates of the workspace, (V, n)."""
        return self.position + self.offsets

    def outline(self, per_turn: int = 360) -> Points:
        """Points along the boundary in the plane, in workspace coordinates: for drawing.

        Arcs are drawn with `per_turn` chords of a whole turn.
        """
        return self.vertices

    @property
    def neighbors(self) -> Ints:
        """The agents behind its borders, ascending; also behind borders that are mere points."""
        return np.unique(self.borders[self.borders >= 0])

    @property
    def border_sizes(self) -> Floats:
        """How large each border is, as a length; infinite where that is not known."""
        return np.full(len(self.borders), np.inf)

    @property
    def edge_lengths(self) -> Floats:
        """Length of the edge or chord that leaves each vertex, in the plane."""
        steps = np.roll(self.offsets, -1, axis=0) - self.offsets
        return np.hypot(steps[:, 0], steps[:, 1])

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

    @cached_property
    def _measure(self) -> Measure:
        if self.empty:
            return Measure(0.0, np.zeros(len(self.position)))
        return self._measured()

    def _measured(self) -> Measure:
        raise NotImplementedError

    def contains(self, points: object) -> np.ndarray:
        """Whether each point (k, n) lies in the cell, its boundary included (up to rounding)."""
        rows = as_rows(points, len(self.position))
        return np.zeros(len(rows), dtype=bool) if self.empty else self._holds(rows)

    def _holds(self, rows: Points) -> np.ndarray:
        raise NotImplementedError

    def edge_with(self, other: int) -> Points | None:
        """The edge shared with agent `other`, (2, 2) in workspace coordinates; None if none is."""
        k = self._border_with(other)
        return None if k is None else self.vertices[[k, (k + 1) % len(self.offsets)]]

    def _border_with(self, other: int) -> int | None:
        """Index of the border behind which agent `other` lies; None if there is none."""
        check_agent(other)
        places = np.flatnonzero(self.borders == other)
        return int(places[0]) if places.size else None


@final
@dataclass(frozen=True, eq=False)
class Cell(VoronoiCell):
    """A cell with flat facets, the convex hull of its vertices; none are left if it is empty.

    `borders[k]` says what lies behind the edge from vertex k to vertex k + 1: agent `borders[k]`
    if that is >= 0, else edge `-1 - borders[k]` of the workspace. On the line it is what lies
    behind vertex k, above the plane what lies behind `faces[k]`. Vertices at which more than three
    faces meet in space are several at one place.
    """

    faces: tuple[Ints, ...] | None = None  # above the plane: the vertices of each facet; in three
    # dimensions loops, counter-clockwise seen from outside
    seen: Ints | None = None  # in space: agents compared with, nearest first

    @property
    def border_sizes(self) -> Floats:
        """How large each border is, as a length: of an edge its own, of a face its width.

        On the line borders are points, and none is smaller than another.
        """
        n = self.offsets.shape[1]
        if n == 1:
            return np.full(len(self.borders), np.inf)
        if self.faces is None:
            return self.edge_lengths
        return np.array([width(self.offsets[face], n) for face in self.faces])

    @property
    def areas(self) -> Floats:
        """Area of each face in space, (F,)."""
        arms = [self.offsets[loop[1:]] - self.offsets[loop[0]] for loop in self._facets]
        return lengths(np.array([0.5 * np.cross(a[:-1], a[1:]).sum(axis=0) for a in arms]))

    def face_with(self, other: int) -> Points | None:
        """The face shared with agent `other`, (k, n) in workspace coordinates; None if none is."""
        k = self._border_with(other)
        return None if k is None else self.vertices[self._facets[k]]

    @property
    def _facets(self) -> Sequence[Ints]:
        """The vertices of each facet."""
        if self.faces is not None:
            return self.faces
        own = np.arange(len(self.offsets))
        return (
            [*own[:, None]] if len(self.position) == 1 else [*np.stack([own, np.roll(own, -1)]).T]
        )

    def _holds(self, rows: Points) -> np.ndarray:
        local = rows - self.position
        slack = SLACK * float(lengths(self.offsets).max())
        inside = np.ones(len(rows), dtype=bool)
        for normal, anchor in self._halfspaces:
            inside &= dots(local - anchor, normal) <= slack
        return inside

    @cached_property
    def _halfspaces(self) -> list[tuple[Points, Points]]:
        """Outward unit normals of the facets that are wide enough, and a point of each."""
        middle = self.offsets.mean(axis=0)
        least = SLACK * float(lengths(self.offsets - middle).max())
        corners = [self.offsets[facet] for facet in self._facets]
        found = [(_normal(own, middle, least), own.mean(axis=0)) for own in corners]
        return [(normal, anchor) for normal, anchor in found if normal is not None]

    def _measured(self) -> Measure:
        """Volume and middle by simplices from a point within."""
        n = len(self.position)
        apex = self.offsets.mean(axis=0)
        if n == 1:
            return Measure(float(np.ptp(self.offsets)), apex)
        arms = self.offsets[self._boundary()] - apex
        parts = np.linalg.det(arms) / math.factorial(n)
        volume = math.fsum(parts)
        if not volume > 0.0:  # so thin that nothing is left of it
            return Measure(0.0, apex)
        pull = parts[:, None] * arms.sum(axis=1) / (n + 1)
        return Measure(volume, apex + pull.sum(axis=0) / volume)

    def _boundary(self) -> Ints:
        """The boundary as simplices of vertices that face outward, (S, n)."""
        n = len(self.position)
        if n <= 3:  # each facet as a fan: an edge, or triangles that share a vertex
            facets = self._facets
            parts = [(f[0], *f[k : k + n - 1]) for f in facets for k in range(1, len(f) - n + 2)]
            return np.array(parts, dtype=np.int64).reshape(-1, n)
        found = closed_boundary(self.offsets)
        return np.zeros((0, n), dtype=np.int64) if found is None else found


def width(corners: Points, n: int) -> float:
    """The least extent of a face along itself: 0 if it is no more than an edge."""
    if len(corners) < n:
        return 0.0
    extents = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)
    return float(extents[n - 2])


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
