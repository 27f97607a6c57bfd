"""Voronoi cells in balls and ellipsoids, as values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Points, dots
from dwell.geometry import Curved, VoronoiCell
from dwell.geometry.cell import SLACK, Measure

ARC = -1  # what `CurvedCell.borders` says of an arc


@final
@dataclass(frozen=True, eq=False)
class CurvedCell(VoronoiCell):
    """A Voronoi cell in a ball or an ellipsoid.

    In the plane the piece from corner k to corner k + 1 is straight if `borders[k]` >= 0, with that
    agent behind it, and an arc of the workspace's boundary if it is -1. Above the plane `borders`
    are the agents behind its flat facets. A cell without facets is empty, or all of the workspace.
    """

    normals: Points  # (m, n) from the agent to each of its neighbours
    workspace: Curved
    outside: bool  # whether it has no inside: its agent stands outside, behind others
    measure: Callable[[CurvedCell], Measure]

    @property
    def empty(self) -> bool:
        """Whether it has no inside."""
        return self.outside

    @property
    def whole(self) -> bool:
        """Whether it is all of the workspace."""
        return not self.empty and not len(self.borders)

    @property
    def border_sizes(self) -> np.ndarray:
        """Length of each edge, and of the chord of each arc; above the plane not computed."""
        return self.edge_lengths if len(self.position) == 2 else super().border_sizes

    def _measured(self) -> Measure:
        return self.measure(self)

    def _holds(self, rows: Points) -> np.ndarray:
        local = rows - self.position
        inside: np.ndarray = self.workspace.contains(rows)
        for normal in self.normals:
            square = float(dots(normal, normal))
            slack = SLACK * self.workspace.diameter * math.sqrt(square)
            inside &= dots(local, normal) <= 0.5 * square + slack
        return inside

    def outline(self, per_turn: int = 360) -> Points:
        """Points along the boundary, in workspace coordinates: for drawing, not for computing."""
        if self.whole:
            return self._arc(0.0, 2.0 * math.pi, per_turn)[:-1]
        center, matrix = self.workspace.root
        x, y = matrix @ (self.vertices - center).T  # where the ellipse is the unit circle
        angles, parts = np.arctan2(y, x), [np.empty((0, 2))]
        for k, label in enumerate(self.borders):
            parts.append(self.vertices[k : k + 1])
            if label == ARC:
                first, last = angles[[k, (k + 1) % len(angles)]]
                last += 2.0 * math.pi if last < first else 0.0
                parts.append(self._arc(first, last, per_turn)[1:-1])
        return np.concatenate(parts)

    def _arc(self, first: float, last: float, per_turn: int) -> Points:
        count = max(2, math.ceil(per_turn * (last - first) / (2.0 * math.pi)) + 1)
        angle = np.linspace(first, last, count)
        center, matrix = self.workspace.root
        arc: Points = center + np.linalg.solve(matrix, [np.cos(angle), np.sin(angle)]).T
        return arc
