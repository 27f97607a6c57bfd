"""Moments over a cell of densities that are only Python functions.

The cones over the pieces of a cell's boundary are boxes in (t, s, r). Each is integrated by two
rules, Gauss and Lobatto: see `adaptive`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.adaptive import error_of, integrate
from dwell.density.base import Density

NODES = {2: 12, 3: 10}  # each way, by dimension
RELATIVE = {2: 1e-11, 3: 1e-9}  # error of the mass that is aimed at
MOST = {2: 4_000, 3: 400}  # boxes
COMPARED = 7  # nodes of the rule of Lobatto each way


class Boxes(NamedTuple):
    """The boxes of one cell, and its quadrature nodes."""

    table: Floats  # rows (surface, piece, ranges of t, s and r)
    # (boxes, rule, count) -> (boxes, nodes, 4) rows (place from the agent, weight), by the rule in
    # a row of dwell._kernels.star.rules, with `count` nodes each way
    nodes: Callable[[Floats, int, int], Floats]


class FunctionMoments(NamedTuple):
    """Moments of a function over a cell."""

    mass: float
    centroid: Points  # (3,) seen from the agent
    spread: float  # second moment about the centroid
    error: float  # bound on that of the mass


def moments_of_function(density: Density, place: Points, cell: Boxes) -> FunctionMoments:
    """Moments of a density over the cell of an agent at `place`."""
    n = len(place)
    found = integrate(
        (_halved(cell, cell.table, n),),
        lambda pieces: _estimates(density, place, cell, pieces[0]),
        lambda pieces: (_halved(cell, pieces[0], n),),
        np.ones(1),
        RELATIVE[n],
        MOST[n],
    )
    mass, error = float(found.values[0]), float(found.errors[0])
    if not mass > 0.0:
        return FunctionMoments(0.0, np.zeros(3), 0.0, error)
    middle = found.values[1:4] / mass
    spread = float(found.values[4] - mass * (middle @ middle))
    return FunctionMoments(mass, middle, max(0.0, spread), error)


def _estimates(
    density: Density, place: Points, cell: Boxes, boxes: Floats
) -> tuple[Floats, Floats]:
    """(boxes, 5) mass, first moments and polar moment about the agent; errors of the masses."""
    from dwell._kernels.star.rules import LOBATTO

    n = len(place)
    fine = _sums(density, place, cell.nodes(boxes, NODES[n], NODES[n]))
    rough = _sums(density, place, cell.nodes(boxes, LOBATTO, COMPARED))
    return fine, error_of(fine[:, :1], rough[:, :1])


def _sums(density: Density, place: Points, nodes: Floats) -> Floats:
    z = nodes[:, :, :3]
    points = place + z[:, :, : len(place)].reshape(-1, len(place))
    w = nodes[:, :, 3] * density.at(points).reshape(z.shape[:2])
    first = (w[:, :, None] * z).sum(axis=1)
    polar = (w * (z * z).sum(axis=2)).sum(axis=1)
    return np.column_stack([w.sum(axis=1), first, polar])


def _halved(cell: Boxes, boxes: Floats, n: int) -> Floats:
    """Each box as two, across the direction in which it is longest."""
    if not len(boxes):
        return boxes
    count = NODES[n]
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
