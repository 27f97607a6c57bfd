"""Moments over a cell of densities that are only Python functions.

The cones over the pieces of a cell's boundary are boxes in (t, s, r). Each is integrated by two
rules: Gauss, and Lobatto, whose outer nodes lie on the sides and so meet a jump that runs beside
them. Their difference, times a safety factor, is taken as the error of the first; the worst boxes
are halved until the sum of all errors is small. No finite number of nodes can exclude a spike
between them: a density with one is better given as a Gaussian.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from dwell._types import Floats, Points
from dwell.density.base import Density

NODES = {2: 12, 3: 10}  # each way, by dimension
RELATIVE = {2: 1e-11, 3: 1e-9}  # error of the mass that is aimed at
MOST = {2: 4_000, 3: 400}  # boxes
SAFETY = 8.0
COMPARED = 7  # nodes of the rule of Lobatto each way


class Boxes(Protocol):
    """Quadrature nodes of one cell."""

    def boxes(self) -> Floats:
        """The boxes of the whole cell, rows (surface, piece, ranges of t, s and r)."""

    def nodes(self, boxes: Floats, rule: int, count: int) -> Floats:
        """(boxes, nodes, 4) rows (place from the agent, weight).

        By the rule in a row of dwell._kernels.star.rules, with `count` nodes each way.
        """


class FunctionMoments(NamedTuple):
    """Moments of a function over a cell."""

    mass: float
    centroid: Points  # (3,) seen from the agent
    spread: float  # second moment about the centroid
    error: float  # bound on that of the mass


def moments_of_function(density: Density, place: Points, cell: Boxes) -> FunctionMoments:
    """Moments of a density over the cell of an agent at `place`."""
    n = len(place)
    boxes = _halved(cell, cell.boxes(), NODES[n], n)
    sums, errors = _estimates(density, place, cell, boxes)
    while True:
        mass = float(sums[:, 0].sum())
        if errors.sum() <= RELATIVE[n] * abs(mass) or len(boxes) >= MOST[n]:
            break
        worst = errors > 0.25 * errors.max()
        halves = _halved(cell, boxes[worst], NODES[n], n)
        more, more_errors = _estimates(density, place, cell, halves)
        boxes = np.concatenate([boxes[~worst], halves])
        sums = np.concatenate([sums[~worst], more])
        errors = np.concatenate([errors[~worst], more_errors])
    error = float(errors.sum())
    if not mass > 0.0:
        return FunctionMoments(0.0, np.zeros(3), 0.0, error)
    middle = sums[:, 1:4].sum(axis=0) / mass
    polar = sums[:, 4] - 2.0 * sums[:, 1:4] @ middle + sums[:, 0] * (middle @ middle)
    return FunctionMoments(mass, middle, max(0.0, float(polar.sum())), error)


def _estimates(
    density: Density, place: Points, cell: Boxes, boxes: Floats
) -> tuple[Floats, Floats]:
    """(boxes, 5) mass, first moments and polar moment about the agent; errors of the masses."""
    from dwell._kernels.star.rules import LOBATTO

    n = len(place)
    fine = _sums(density, place, cell.nodes(boxes, NODES[n], NODES[n]))
    rough = _sums(density, place, cell.nodes(boxes, LOBATTO, COMPARED))
    return fine, SAFETY * np.abs(fine[:, 0] - rough[:, 0]) + 1e-15 * np.abs(fine[:, 0])


def _sums(density: Density, place: Points, nodes: Floats) -> Floats:
    z = nodes[:, :, :3]
    points = place + z[:, :, : len(place)].reshape(-1, len(place))
    w = nodes[:, :, 3] * density.at(points).reshape(z.shape[:2])
    first = (w[:, :, None] * z).sum(axis=1)
    polar = (w * (z * z).sum(axis=2)).sum(axis=1)
    return np.column_stack([w.sum(axis=1), first, polar])


def _halved(cell: Boxes, boxes: Floats, count: int, n: int) -> Floats:
    """Each box as two, across the direction in which it is longest."""
    if not len(boxes):
        return boxes
    z = cell.nodes(boxes, count, count)[:, :, :3].reshape(len(boxes), *[count] * n, 3)
    spans = []
    for axis in range(1, n + 1):
        ends = np.take(z, -1, axis=axis) - np.take(z, 0, axis=axis)
        spans.append(np.sqrt((ends * ends).sum(axis=-1)).reshape(len(boxes), -1).max(axis=1))
    columns = np.array([2, 6] if n == 2 else [2, 4, 6])[np.argmax(spans, axis=0)]
    rows = np.arange(len(boxes))
    middle = 0.5 * (boxes[rows, columns] + boxes[rows, columns + 1])
    low, high = boxes.copy(), boxes.copy()
    low[rows, columns + 1] = middle
    high[rows, columns] = middle
    return np.concatenate([low, high])
