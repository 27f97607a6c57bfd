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
