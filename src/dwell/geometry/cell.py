"""Cell: the part of the workspace nearest to one agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Ints, Points


@final
@dataclass(frozen=True, eq=False)
class Cell:
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
    seen: Ints  # agents looked at to make the cell, nearest first
    faces: tuple[Ints, ...] | None = None  # above the plane: the vertices of the wall behind
    # borders[k], in order around it in three dimensions

    @property
    def vertices(self) -> Points:
        """Vertices in the coordinates of the workspace, (n, 2)."""
        return self.position + self.offsets

    @property
    def border_sizes(self) -> np.ndarray:
        """How large each border is, as a length."""
        return self.edge_lengths

    @property
    def edge_lengths(self) -> np.ndarray:
        """Length of the edge that leaves each vertex."""
        steps = np.roll(self.offsets, -1, axis=0) - self.offsets
        lengths: np.ndarray = np.hypot(steps[:, 0], steps[:, 1])
        return lengths

    def edge_with(self, other: int) -> Points | None:
        """The edge shared with agent `other`, (2, 2) in workspace coordinates; None if none is."""
        places = np.flatnonzero(self.borders == other)
        if places.size == 0:
            return None
        k = int(places[0])
        return self.position + self.offsets[[k, (k + 1) % len(self.offsets)]]
