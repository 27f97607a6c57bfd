"""A region that is not convex, cut by a cell, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from dwell._types import Points


def _sides(vertices: Points) -> list[tuple[Points, Points]]:
    """The edges of a convex polygon around 0, counter-clockwise."""
    around = vertices[np.argsort(np.arctan2(vertices[:, 1], vertices[:, 0]))]
    return list(zip(around, np.roll(around, -1, axis=0), strict=True))


def outlines(vertices: Points, rings: Sequence[Points]) -> list[Points]:
    """The rings of a region, cut by a cell around 0; the cell itself without rings."""
    sides = _sides(vertices)
    if not rings:
        return [np.array([p for p, _ in sides])]
    found = []
    for ring in _near(vertices, rings):
        corners = list(ring)
        for p, q in sides:
            corners = _clipped(corners, p, q)
        found += [np.array(corners)] if len(corners) > 2 else []
    return found


def confined(vertices: Points, rings: Sequence[Points]) -> Points:
    """Triangles from 0 to all edges of a region, cut by a cell around 0; (K, 3, 2)."""
    sides = _sides(vertices)
    found = []
    for ring in _near(vertices, rings):
        for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            sign = float(a[0] * b[1] - a[1] * b[0])
            corners = [np.zeros(2), *((a, b) if sign > 0.0 else (b, a))]
            for p, q in sides:
                corners = _clipped(corners, p, q)
            fan = [np.array([corners[0], *pair]) for pair in pairwise(corners[1:])]
            found += fan if sign > 0.0 else [triangle[[0, 2, 1]] for triangle in fan]
    return np.array(found)


def _near(vertices: Points, rings: Sequence[Points]) -> list[Points]:
    """The rings whose boxes meet the box of a cell, cut by a box twice as large about its middle.

    All others have nothing in common with the cell: the triangles to their edges cancel in it.
    """
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    begins = np.cumsum([0, *map(len, rings[:-1])])
    corners = np.concatenate(rings)
    least, most = np.minimum.reduceat(corners, begins), np.maximum.reduceat(corners, begins)
    meet = ((least <= high) & (most >= low)).all(axis=1)
    reach = 0.5 * (high - low)
    return [_boxed(rings[k], low - reach, high + reach) for k in np.flatnonzero(meet)]


def _boxed(ring: Points, low: Points, high: Points) -> Points:
    """What of a ring is in a box, with edges on its sides; for rings with many vertices."""
    for axis in (0, 1):
        for sign, limit in ((1.0, low[axis]), (-1.0, -high[axis])):
            height = sign * ring[:, axis] - limit
            within = height > 0.0
            if within.all():
                continue
            before, lower = np.roll(ring, 1, axis=0), np.roll(height, 1)
            crossed = within != (lower > 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                cut = before + (lower / (lower - height))[:, None] * (ring - before)
            both = np.stack([cut, ring], axis=1).reshape(-1, 2)
            ring = both[np.stack([crossed, within], axis=1).ravel()]
    return ring


def _clipped(corners: list[Points], p: Points, q: Points) -> list[Points]:
    """The part of a polygon to the left of the line from p to q; convex, or with edges on it."""
    along = q - p
    heights = [float(along[0] * (z[1] - p[1]) - along[1] * (z[0] - p[0])) for z in corners]
    found = []
    for k, (z, height) in enumerate(zip(corners, heights, strict=True)):
        before, lower = corners[k - 1], heights[k - 1]
        if (height > 0.0) != (lower > 0.0):
            found.append(before + lower / (lower - height) * (z - before))
        if height > 0.0:
            found.append(z)
    return found
