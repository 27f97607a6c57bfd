"""A region that is not convex, cut by a cell, by NumPy."""

from __future__ import annotations

from collections.abc import Sequence

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
        corners = ring
        for p, q in sides:
            corners = _clipped(corners, p, q)
        found += [corners] if len(corners) > 2 else []
    return found


def confined(vertices: Points, rings: Sequence[Points]) -> Points:
    """Triangles from 0 to all edges of a region, cut by a cell around 0; (K, 3, 2).

    Those that lead clockwise count negatively.
    """
    found = [np.empty((0, 3, 2))]
    for ring in outlines(vertices, rings):
        ends = np.roll(ring, -1, axis=0)
        found.append(np.stack([np.zeros_like(ring), ring, ends], axis=1))
    triangles = np.concatenate(found)
    first, second = triangles[:, 1], triangles[:, 2]
    wide = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0] != 0.0
    kept: Points = triangles[wide]
    return kept


def _near(vertices: Points, rings: Sequence[Points]) -> list[Points]:
    """The rings whose boxes meet the box of a cell; all others have nothing in common with it."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    begins = np.cumsum([0, *map(len, rings[:-1])])
    corners = np.concatenate(rings)
    least, most = np.minimum.reduceat(corners, begins), np.maximum.reduceat(corners, begins)
    meet = ((least <= high) & (most >= low)).all(axis=1)
    return [rings[int(k)] for k in np.flatnonzero(meet)]


def _clipped(corners: Points, p: Points, q: Points) -> Points:
    """The part of a polygon to the left of the line from p to q; convex, or with edges on it."""
    if not len(corners):
        return corners
    along = q - p
    heights = along[0] * (corners[:, 1] - p[1]) - along[1] * (corners[:, 0] - p[0])
    before, lower = np.roll(corners, 1, axis=0), np.roll(heights, 1)
    kept, crossing = heights > 0.0, (heights > 0.0) != (lower > 0.0)
    share = np.where(crossing, lower, 0.0) / np.where(crossing, lower - heights, 1.0)
    cuts = before + share[:, None] * (corners - before)
    both = np.stack([cuts, corners], axis=1).reshape(-1, 2)
    found: Points = both[np.stack([crossing, kept], axis=1).ravel()]
    return found
