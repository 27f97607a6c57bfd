"""Voronoi cells in discs and ellipses, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.geometry.cell_shape import SLACK, AnyCell, Measure
from dwell.geometry.limits import as_rows

TINY = np.finfo(float).tiny
ARC = -1  # what `CurvedCell.borders` says of an arc


class Ellipse(NamedTuple):
    """{z: |W (z - center)| <= 1} with W upper triangular."""

    x: float
    y: float
    w11: float
    w12: float
    w22: float


@final
@dataclass(frozen=True, eq=False)
class CurvedCell(AnyCell):
    """A Voronoi cell in a disc or an ellipse, in the frame of its own agent.

    The piece from corner k to corner k + 1 is straight if `borders[k]` >= 0, with that agent behind
    it, and an arc of the workspace's boundary if it is -1. A cell without corners is empty, or all
    of the workspace (`whole`).
    """

    agent: int
    position: Points  # (2,)
    offsets: Points  # (n, 2) corners relative to the agent, counter-clockwise
    borders: Ints  # (n,)
    seen: Ints  # agents compared with, nearest first
    whole: bool
    ellipse: Ellipse

    @property
    def empty(self) -> bool:
        """Whether the cell has no inside."""
        return len(self.offsets) == 0 and not self.whole

    @property
    def volume(self) -> float:
        """Its area; 0 if it is empty."""
        return self._measure.volume

    @property
    def centroid(self) -> Points:
        """Middle of its area, whatever the density, (2,); the agent's place if it is empty."""
        return self.position + self._measure.middle

    def contains(self, points: object) -> np.ndarray:
        """Whether each point (k, 2) lies in the cell, its boundary included (up to rounding)."""
        rows = as_rows(points, 2)
        if self.empty:
            return np.zeros(len(rows), dtype=bool)
        x, y, w11, w12, w22 = self.ellipse
        dx, dy = rows[:, 0] - x, rows[:, 1] - y
        inside: np.ndarray = np.hypot(w11 * dx + w12 * dy, w22 * dy) <= 1.0 + SLACK
        local = rows - self.position
        for k in np.flatnonzero(self.borders >= 0):
            a, b = self.offsets[[k, (k + 1) % len(self.offsets)]]
            step = (b - a) / max(math.hypot(*(b - a)), TINY)
            left = step[0] * (local[:, 1] - a[1]) - step[1] * (local[:, 0] - a[0])
            inside &= left >= -SLACK / w22
        return inside

    @cached_property
    def _measure(self) -> Measure:
        if self.empty:
            return Measure(0.0, np.zeros(2))
        area, first = _in_circle(self._round_corners, self.borders == ARC, self.whole)
        x, y, w11, w12, w22 = self.ellipse
        dy = first[1] / area / w22
        dx = (first[0] / area - w12 * dy) / w11
        middle = np.array([dx + (x - self.position[0]), dy + (y - self.position[1])])
        return Measure(area / (w11 * w22), middle)

    @property
    def _round_corners(self) -> Points:
        """Corners as seen where the ellipse is the unit circle, (n, 2)."""
        x, y, w11, w12, w22 = self.ellipse
        dx = self.offsets[:, 0] + (self.position[0] - x)
        dy = self.offsets[:, 1] + (self.position[1] - y)
        return np.column_stack([w11 * dx + w12 * dy, w22 * dy])

    @property
    def border_sizes(self) -> Floats:
        """Length of the chord of each piece; of an edge its own length."""
        steps = np.roll(self.offsets, -1, axis=0) - self.offsets
        return np.hypot(steps[:, 0], steps[:, 1])

    def edge_with(self, other: int) -> Points | None:
        """The edge shared with agent `other`, (2, 2) in workspace coordinates; None if none is."""
        k = self._border_with(other)
        if k is None:
            return None
        return self.position + self.offsets[[k, (k + 1) % len(self.offsets)]]

    def outline(self, per_turn: int = 360) -> Points:
        """Points along the boundary, in workspace coordinates: for drawing, not for computing."""
        if self.whole:
            return self.position + self._arc(0.0, 2.0 * math.pi, per_turn)[:-1]
        parts = []
        for k, label in enumerate(self.borders):
            parts.append(self.offsets[k : k + 1])
            if label == ARC:
                ends = self.offsets[[k, (k + 1) % len(self.offsets)]]
                first, last = (self._angle(end) for end in ends)
                last += 2.0 * math.pi if last < first else 0.0
                parts.append(self._arc(first, last, per_turn)[1:-1])
        outline: Points = self.position + np.concatenate([np.empty((0, 2)), *parts])
        return outline

    def _angle(self, offset: Points) -> float:
        """Where a boundary point lies on the circle that W makes of the ellipse."""
        x, y, w11, w12, w22 = self.ellipse
        dx, dy = offset[0] + (self.position[0] - x), offset[1] + (self.position[1] - y)
        return math.atan2(w22 * dy, w11 * dx + w12 * dy)

    def _arc(self, first: float, last: float, per_turn: int) -> Points:
        count = max(2, math.ceil(per_turn * (last - first) / (2.0 * math.pi)) + 1)
        angle = np.linspace(first, last, count)
        x, y, w11, w12, w22 = self.ellipse
        dy = np.sin(angle) / w22
        dx = (np.cos(angle) - w12 * dy) / w11
        return np.column_stack([dx + (x - self.position[0]), dy + (y - self.position[1])])


def _in_circle(corners: Points, arcs: np.ndarray, whole: bool) -> tuple[float, Points]:
    """Area and first moments of a convex region whose curved pieces are arcs of the unit circle."""
    if whole:
        return math.pi, np.zeros(2)
    after = np.roll(corners, -1, axis=0)
    cross = corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]
    areas, firsts = [*(0.5 * cross)], [*(cross[:, None] * (corners + after) / 6.0)]
    for (ax, ay), (bx, by) in zip(corners[arcs], after[arcs], strict=True):
        turn = math.atan2(by, bx) - math.atan2(ay, ax)
        turn += 2.0 * math.pi if turn <= 0.0 else 0.0
        half = math.atan2(ay, ax) + 0.5 * turn
        areas.append(0.5 * (turn - math.sin(turn)))  # between the arc and its chord
        pull = 2.0 / 3.0 * math.sin(0.5 * turn) ** 3
        firsts.append(pull * np.array([math.cos(half), math.sin(half)]))
    return math.fsum(areas), np.sum(firsts, axis=0)
