"""Adaptive quadrature: pieces of a region are halved until the sum of estimated errors is small.

An estimate is the difference of two rules times a safety factor: for smooth functions far too
large. One of the two has nodes on the sides of a piece wherever that is affordable, and so meets a
jump that runs beside them. No finite number of nodes can exclude a spike between them: a density
with one is better given as a Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.density.base import Density

SAFETY = 8.0  # times the difference of two rules
ROUNDING = 1e-15  # of a value
NODES = {2: 12, 3: 10}  # each way, by dimension
RELATIVE = {2: 1e-11, 3: 1e-9}  # error of the mass that is aimed at
MOST = {2: 4_000, 3: 400}  # boxes
COMPARED = 7  # nodes of the rule of Lobatto each way

Pieces = tuple[Floats, ...]  # arrays with a row for each piece


class Integral(NamedTuple):
    """Integrals of some functions, bounds on their errors, and the pieces they were taken over."""

    values: Floats  # (c,)
    errors: Floats  # (c,)
    converged: bool
    pieces: Pieces


def integrate(
    pieces: Pieces,
    estimate: Callable[[Pieces], tuple[Floats, Floats]],
    halve: Callable[[Pieces], Pieces],
    sizes: Floats,
    goal: float,
    most: int,
) -> Integral:
    """Halve the worst pieces until all errors are below `goal` or there are `most` pieces.

    `estimate` returns (pieces, c) integrals and (pieces, e) bounds on errors, `halve` twice as many
    pieces. Errors count relative to the integral of the first function, a mass, times `sizes` (e,):
    those of first moments may vanish.
    """
    values, errors = estimate(pieces)
    while True:
        total = values.sum(axis=0)
        scale = np.abs(total[0]) * sizes
        share = (errors / np.where(scale > 0.0, scale, 1.0)).max(axis=1)
        enough = bool(share.sum() <= goal)
        if enough or len(values) >= most:
            return Integral(total, errors.sum(axis=0), enough, pieces)
        worst = share > 0.25 * share.max()
        halves = halve(tuple(rows[worst] for rows in pieces))
        more, more_errors = estimate(halves)
        pieces = tuple(
            np.concatenate([rows[~worst], new]) for rows, new in zip(pieces, halves, strict=True)
        )
        values = np.concatenate([values[~worst], more])
        errors = np.concatenate([errors[~worst], more_errors])


def error_of(fine: Floats, other: Floats) -> Floats:
    """Bound on the errors of `fine`, integrals by one rule, given those by another."""
    found: Floats = SAFETY * np.abs(fine - other) + ROUNDING * np.abs(fine)
    return found


class Boxes(NamedTuple):
    """The cones over the pieces of a cell's boundary, boxes in (t, s, r); and their nodes."""

    table: Floats  # rows (surface, piece, ranges of t, s and r)
    # (boxes, rule, count) -> (boxes, nodes, 4) rows (place from the agent, weight), by the rule in
    # a row of dwell._kernels.star.rules, with `count` nodes each way
    nodes: Callable[[Floats, int, int], Floats]


def moments_of_function(
    density: Density, place: Points, cell: Boxes
) -> tuple[float, Points, float, float]:
    """Moments of a density over the cell of an agent at `place`, by Gauss and Lobatto rules.

    Mass, centroid (3,) seen from the agent, second moment about it, bound on the mass's error.
    """
    n = len(place)
    found = integrate(
        (halved(cell, cell.table, n),),
        lambda pieces: _estimates(density, place, cell, pieces[0]),
        lambda pieces: (halved(cell, pieces[0], n),),
        np.ones(1),
        RELATIVE[n],
        MOST[n],
    )
    mass, error = float(found.values[0]), float(found.errors[0])
    if not mass > 0.0:
        return 0.0, np.zeros(3), 0.0, error
    middle = found.values[1:4] / mass
    spread = float(found.values[4] - mass * (middle @ middle))
    return mass, middle, max(0.0, spread), error


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


def halved(cell: Boxes, boxes: Floats, n: int) -> Floats:
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
