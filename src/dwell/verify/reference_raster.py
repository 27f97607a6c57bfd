"""Moments of a raster over a polygon by NumPy, pixel by pixel, without the kernels.

The polygon need not be convex, and a clockwise one counts negatively. Pixels that its outline does
not meet are summed; the others are clipped one after another, divided into triangles and
integrated by a product of Gauss rules. Sums are those of `math.fsum`.
"""

from __future__ import annotations

import math

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Raster
from dwell.density.raster import cut_off

MOST_CLIPPED = 4000  # pixels on the outline, beyond which a cell takes too long
MOST_PIXELS = 4_000_000  # in the rectangle round a cell


def raster_reference(
    raster: Raster, place: Points, vertices: Points
) -> tuple[float, Points] | None:
    """Mass and first moments about `place` of the polygon with vertices `place + vertices`.

    None if too many pixels are involved.
    """
    shift = 0.5 if raster.interpolation == "bilinear" else 0.0
    ring = raster.to_pixels(place + vertices) + shift
    if raster.place[10] < 0.0:
        ring = ring[::-1]
    most = np.array(raster.values.shape[::-1])
    for axis in (0, 1):
        ring = cut_off(ring, axis, shift, 1.0)
        ring = cut_off(ring, axis, most[axis] + shift, -1.0)
    if len(ring) < 3:
        return 0.0, np.zeros(2)
    first = np.floor(ring.min(axis=0)).astype(np.int64)
    count = np.ceil(ring.max(axis=0)).astype(np.int64) - first
    if count.prod() > MOST_PIXELS:
        return None
    middle = raster.to_pixels(np.asarray(place)[None])[0] + shift
    whole, turns, cut = _sorted_pixels(ring, first, count)
    if len(cut) > MOST_CLIPPED:
        return None
    points, weights = _unit_nodes()
    values = _values(raster, whole[:, None, :], points[None])
    parts = [_summed(whole[:, None, :] + points - middle, turns[:, None] * values * weights)]
    for pixel in cut:
        piece = ring
        for axis in (0, 1):
            piece = cut_off(piece, axis, float(pixel[axis]), 1.0)
            piece = cut_off(piece, axis, float(pixel[axis] + 1), -1.0)
        if len(piece) > 2:
            nodes, areas = _nodes(piece - pixel)
            parts.append(_summed(pixel + nodes - middle, areas * _values(raster, pixel, nodes)))
    mass, u, v = (math.fsum(column) for column in zip(*parts, strict=True))
    scale = raster.scale * abs(float(raster.place[10]))
    xu, xv, yu, yv = raster.place[6:10]
    return scale * mass, scale * np.array([xu * u + xv * v, yu * u + yv * v])


def _sorted_pixels(ring: Points, first: Points, count: Points) -> tuple[Points, Floats, Points]:
    """Pixels inside a polygon, how often it goes round each, and those that its outline may meet.

    A pixel that no edge meets lies inside as its middle does.
    """
    columns, rows = (np.arange(n) for n in count)
    grid = first + np.stack(np.meshgrid(columns, rows), axis=-1).reshape(-1, 2)
    turns, crossed = np.zeros(len(grid)), np.zeros(len(grid), dtype=bool)
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        normal = np.array([a[1] - b[1], b[0] - a[0]])  # to the left
        low, high = np.minimum(a, b), np.maximum(a, b)
        near = ((grid + 1.0 >= low) & (grid <= high)).all(axis=1)
        depth = (grid[near] - a) @ normal
        least, most = np.minimum(normal, 0.0).sum(), np.maximum(normal, 0.0).sum()
        crossed[near] |= (depth + least <= 0.0) & (depth + most >= 0.0)
        level = (grid[:, 1] + 0.5 >= low[1]) & (grid[:, 1] + 0.5 < high[1])
        left = (grid[level] + 0.5 - a) @ normal * (1.0 if b[1] > a[1] else -1.0) > 0.0
        turns[level] += left * (1.0 if b[1] > a[1] else -1.0)
    inside = ~crossed & (turns != 0.0)
    return grid[inside], turns[inside], grid[crossed]


def _unit_nodes() -> tuple[Points, Floats]:
    """Nodes and weights of a product of two Gauss rules over the unit square."""
    x = np.array([0.5 - math.sqrt(1.0 / 12.0), 0.5 + math.sqrt(1.0 / 12.0)])
    return np.array([(a, b) for a in x for b in x]), np.full(4, 0.25)


def _nodes(ring: Points) -> tuple[Points, Floats]:
    """Nodes and weights over a polygon, by triangles from its first vertex, signed."""
    x, w = np.polynomial.legendre.leggauss(3)
    r, s = (array.ravel() for array in np.meshgrid(0.5 * (x + 1.0), 0.5 * (x + 1.0)))
    weights = 0.25 * np.outer(w, w).ravel() * r
    a, b = ring[1:-1] - ring[0], ring[2:] - ring[0]
    twice = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    points = (r * (1.0 - s))[None, :, None] * a[:, None] + (r * s)[None, :, None] * b[:, None]
    return (ring[0] + points).reshape(-1, 2), (twice[:, None] * weights).ravel()


def _values(raster: Raster, pixels: Points, nodes: Points) -> Floats:
    """The raster's values at nodes in pixels, seen from their corners; of cells if bilinear."""
    rows, columns = raster.grid.shape
    i, j = pixels[..., 0], pixels[..., 1]
    x, y = nodes[..., 0], nodes[..., 1]
    if raster.interpolation == "constant":
        same: Floats = raster.grid[j, i] + 0.0 * x
        return same
    left, right = np.clip(i - 1, 0, columns - 1), np.clip(i, 0, columns - 1)
    low, high = np.clip(j - 1, 0, rows - 1), np.clip(j, 0, rows - 1)
    f = raster.grid
    lower = (1.0 - x) * f[low, left] + x * f[low, right]
    upper = (1.0 - x) * f[high, left] + x * f[high, right]
    found: Floats = (1.0 - y) * lower + y * upper
    return found


def _summed(offsets: Points, weights: Floats) -> tuple[float, float, float]:
    u, v = offsets[..., 0], offsets[..., 1]
    return float(weights.sum()), float((weights * u).sum()), float((weights * v).sum())
