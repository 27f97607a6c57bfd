"""The boundary of a convex hull as simplices that fit together, whatever lies in one plane.

Corners of a cell come in planes of many, which Qhull first merges and then splits again, each plane
by itself: the pieces need not meet edge to edge, and may overlap. So they are checked: the boundary
must be closed (every ridge between exactly two simplices) and have two sides. If it is not, points
are moved by a little more than rounding and Qhull runs again. Only the grouping of points is
taken from its result; with the points where they were, some simplices may then lie the wrong way
round, and their signs say so. A closed surface encloses the same signed volume however it is split.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dwell._types import Ints, Points

NUDGES = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  # of the size, in the equally spread frame


def closed_boundary(points: Points) -> Ints | None:
    """The hull of (k, n) points with an inside, n >= 2, as simplices (S, n) that face outward.

    None if Qhull cannot tell it.
    """
    from scipy.spatial import ConvexHull, QhullError

    spread = points - points.mean(axis=0)
    left, sizes, _ = np.linalg.svd(spread, full_matrices=False)
    if not sizes[-1] > 0.0:
        return None
    white = left * np.sqrt(len(points))
    chance = np.random.default_rng(0)
    for nudge in NUDGES:
        moved = white + nudge * chance.uniform(-1.0, 1.0, white.shape)
        try:
            hull: Any = ConvexHull(moved, qhull_options="" if nudge else "Qx")
        except QhullError:
            continue
        oriented = _oriented(hull.simplices.astype(np.int64))
        if oriented is not None:
            total = np.linalg.det(spread[oriented]).sum()
            return oriented if total > 0.0 else _flipped(oriented)
    return None


def _oriented(simplices: Ints) -> Ints | None:
    """The simplices, all facing one way; None if they do not close, or have one side only."""
    count, n = simplices.shape
    order = np.argsort(simplices, axis=1)
    ascending = np.take_along_axis(simplices, order, axis=1)
    # Ridge k lacks vertex k; in ascending order its sign is (-1)**k.
    ridges = np.concatenate([np.delete(ascending, k, axis=1) for k in range(n)])
    owner = np.tile(np.arange(count), n)
    side = np.repeat([1 - 2 * (k % 2) for k in range(n)], count)
    _, which, times = np.unique(ridges, axis=0, return_inverse=True, return_counts=True)
    if (times != 2).any():
        return None
    pairs = np.argsort(which.reshape(-1), kind="stable").reshape(-1, 2)
    sign = _signs(count, owner[pairs], -side[pairs[:, 0]] * side[pairs[:, 1]])
    if sign is None:
        return None
    return np.where((sign > 0)[:, None], ascending, _flipped(ascending))


def _signs(count: int, pairs: Ints, relation: Ints) -> Ints | None:
    """A sign for each simplex so that sign_i = relation * sign_j across each ridge."""
    sign = np.zeros(count, dtype=np.int64)
    sign[0] = 1
    while True:
        a, b = sign[pairs[:, 0]], sign[pairs[:, 1]]
        forth, back = (a != 0) & (b == 0), (a == 0) & (b != 0)
        if not (forth.any() or back.any()):
            break
        sign[pairs[forth, 1]] = relation[forth] * a[forth]
        sign[pairs[back, 0]] = relation[back] * b[back]
    if (sign == 0).any() or (sign[pairs[:, 0]] != relation * sign[pairs[:, 1]]).any():
        return None
    return sign


def _flipped(simplices: Ints) -> Ints:
    turned = simplices.copy()
    turned[:, [0, 1]] = turned[:, [1, 0]]
    return turned
