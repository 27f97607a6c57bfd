"""Borders: what cells share (edges; faces in space), with the density's moments on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points


@final
@dataclass(frozen=True, eq=False)
class Borders:
    """One row per border and side: cell `agent` meets cell `other` there.

    Everything is in the frame of `agent`. The masses of the cells and the moments along the borders
    are divided by the same factor, cell by cell, so that those far out in a tail do not vanish.
    """

    masses: Floats  # (N,) divided by exp(log_scales)
    log_scales: Floats  # (N,)
    errors: Points  # (N, n) centroid minus position
    empty: np.ndarray  # (N,) whether the cell weighs nothing
    agent: Ints  # (B,)
    other: Ints  # (B,)
    gap: Points  # (B, n) from agent to other
    m0: Floats  # (B,) integral of the density along the border
    m1: Points  # (B, n) of the density times z
    m2: Floats  # (B, n, n) of the density times z z'
    arcs: Floats | None = None  # (N, n, n) with radii, along the circle: of the density times
    # (z - centroid) n', n the outward unit normal


Rows = list[tuple[int, int, Floats]]  # agent, other, moments 1, z, and the upper half of z z'


def as_borders(
    points: Points,
    masses: Floats,
    log_scales: Floats,
    errors: Points,
    empty: np.ndarray,
    facets: Rows | tuple[Ints, Ints, Floats],
    arcs: Floats | None = None,
) -> Borders:
    """Borders from rows, or from the columns of such rows as arrays."""
    n = points.shape[1]
    if isinstance(facets, list):
        ends = np.array([row[:2] for row in facets], dtype=np.int64).reshape(-1, 2)
        moments = np.array([row[2] for row in facets]).reshape(-1, 1 + n + n * (n + 1) // 2)
        facets = ends[:, 0], ends[:, 1], moments
    agent, other, moments = facets
    second = np.zeros((len(agent), n, n))
    for k, (i, j) in enumerate(zip(*np.triu_indices(n), strict=True)):
        second[:, i, j] = second[:, j, i] = moments[:, 1 + n + k]
    gap, first = points[other] - points[agent], moments[:, 1 : n + 1]
    cells = (masses, log_scales, errors, empty)
    return Borders(*cells, agent, other, gap, moments[:, 0], first, second, arcs)
