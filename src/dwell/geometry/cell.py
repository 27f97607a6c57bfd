"""Cell: the part of the workspace nearest to one agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Ints, Points
from dwell.geometry.cell_shape import FlatCell


@final
@dataclass(frozen=True, eq=False)
class Cell(FlatCell):
    """A Voronoi cell in the frame of its own agent.

    `borders[k]` says what lies behind the edge from vertex k to vertex k + 1: agent `borders[k]`
    if that is >= 0, else edge `-1 - borders[k]` of the workspace. On the line it is what lies
    behind vertex k, above the plane what lies behind `faces[k]`.
    """

    agent: int
    position: Points  # (n,)
    offsets: Points  # (V, n) vertices relative to the agent, counter-clockwise in the plane;
    # V = 0: empty
    borders: Ints  # (n,)
    faces: tuple[Ints, ...] | None = None  # above the plane: the vertices of the facet
    # borders[k], in order around it in three dimensions

    @property
    def border_sizes(self) -> np.ndarray:
        """How large each border is, as a length: of an edge its own, of a face its width.

        On the line borders are points, and none is smaller than another.
        """
        n = self.offsets.shape[1]
        if n == 1:
            return np.full(len(self.borders), np.inf)
        if self.faces is None:
            return self.edge_lengths
        return np.array([_width(self.offsets[face], n) for face in self.faces])

    @property
    def edge_lengths(self) -> np.ndarray:
        """Length of the edge that leaves each vertex."""
        steps = np.roll(self.offsets, -1, axis=0) - self.offsets
        lengths: np.ndarray = np.hypot(steps[:, 0], steps[:, 1])
        return lengths

    def edge_with(self, other: int) -> Points | None:
        """The edge shared with agent `other`, (2, 2) in workspace coordinates; None if none is."""
        k = self._border_with(other)
        if k is None:
            return None
        return self.position + self.offsets[[k, (k + 1) % len(self.offsets)]]


def _width(corners: Points, n: int) -> float:
    """The least extent of a face along itself: 0 if it is no more than an edge."""
    if len(corners) < n:
        return 0.0
    extents = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)
    return float(extents[n - 2])
