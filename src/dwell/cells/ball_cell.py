"""Voronoi cells in balls and ellipsoids above the plane, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast, final

import numpy as np

from dwell._types import Floats, Ints, Points, dots
from dwell.geometry import Curved, Workspace, whitened
from dwell.geometry.cell_shape import SLACK, AnyCell, Measure
from dwell.geometry.limits import as_rows
from dwell.geometry.whitened import Root, seen_from

__all__ = ["BallCell", "Root", "root_of", "seen_from"]


@final
@dataclass(frozen=True, eq=False)
class BallCell(AnyCell):
    """A Voronoi cell in a ball or an ellipsoid: the points u, seen from the agent, that satisfy
    normals . u <= offsets, one row for each neighbour in `borders`, and lie in the workspace.
    """

    agent: int
    position: Points  # (n,)
    borders: Ints  # (m,) agents behind its flat faces; the rest of its boundary is the workspace's
    normals: Points  # (m, n) from the agent to the other
    gaps: Floats  # (m,) half their squared length
    seen: Ints  # agents compared with, nearest first
    workspace: Workspace
    empty: bool = False  # whether it has no inside: its agent stands outside, behind others
    offsets: Points = field(init=False)  # corners: none are listed, (0, n)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", np.empty((0, len(self.position))))

    @property
    def volume(self) -> float:
        """Volume, to the stated tolerance in space and to about three digits above it."""
        return self._measure.volume

    @property
    def centroid(self) -> Points:
        """Middle of its volume, whatever the density, (n,); the agent's place if it is empty."""
        return self.position + self._measure.middle

    @cached_property
    def _measure(self) -> Measure:
        from dwell.cells.cones import measure_of  # which makes these cells

        return measure_of(self)

    @property
    def border_sizes(self) -> Floats:
        """No size is computed: faces without one are left out of `borders`."""
        return np.full(len(self.borders), np.inf)

    def contains(self, points: object) -> np.ndarray:
        """Whether each point (k, n) lies in the cell, its boundary included (up to rounding)."""
        rows = as_rows(points, len(self.position))
        if self.empty:
            return np.zeros(len(rows), dtype=bool)
        local = rows - self.position
        inside: np.ndarray = self.workspace.contains(rows)
        for normal, gap in zip(self.normals, self.gaps, strict=True):
            slack = SLACK * self.workspace.diameter * math.sqrt(2.0 * gap)
            inside &= dots(local, normal) <= gap + slack
        return inside


def root_of(workspace: Workspace) -> Root:
    """The matrix W of a ball or an ellipsoid {z: |W (z - center)| <= 1}, and its center."""
    return whitened.root_of(cast(Curved, workspace))


def is_empty(workspace: Workspace, points: Points, p: int, shows: np.ndarray) -> bool:
    """Whether a cell is empty; one without faces is that or all of the workspace."""
    if shows.any():
        return False
    gaps = points - np.array(cast(Curved, workspace).center)
    return int((gaps * gaps).sum(axis=1).argmin()) != p
