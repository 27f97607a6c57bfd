"""A second opinion on one centroid: plain Python, its own cutting, its own quadrature."""

from __future__ import annotations

import numpy as np

from dwell._types import Points
from dwell.density import Density

NODES = 24
PIECES = 2  # halvings of every triangle before the rule is applied


def plain_centroid(
    vertices: Points, positions: Points, agent: int, density: Density
) -> Points | None:
    """Centroid of `agent`'s cell as seen from the agent; None if the cell is empty or its weight
    below doubles' range.
    """
    own = positions[agent]
    corners = [tuple(map(float, v)) for v in vertices - own]
    for other in np.delete(positions, agent, axis=0):
        corners = _nearer_half(corners, other - own)
        if len(corners) < 3:
            return None
    return _weighed(np.array(corners), own, density)


def _nearer_half(corners: list[tuple[float, ...]], other: Points) -> list[tuple[float, ...]]:
    """The part of a convex polygon that is nearer to (0, 0) than to `other`."""
    side = [float(other @ (np.array(c) - 0.5 * other)) for c in corners]
    kept: list[tuple[float, ...]] = []
    for k, here in enumerate(corners):
        after = corners[(k + 1) % len(corners)]
        f, g = side[k], side[(k + 1) % len(corners)]
        if f <= 0.0:
            kept.append(here)
        if (f < 0.0 < g) or (g < 0.0 < f):
            kept.append(tuple((g * a - f * b) / (g - f) for a, b in zip(here, after, strict=True)))
    return kept


def _weighed(corners: Points, own: Points, density: Density) -> Points | None:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    u, w = 0.5 * (nodes + 1.0), 0.5 * weights
    s, t = np.meshgrid(u, u, indexing="ij")
    share = np.outer(w * u, w)
    mass, first = 0.0, np.zeros(2)
    for a, b, c in _pieces(corners):
        area = abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
        z = a + s[..., None] * ((1.0 - t)[..., None] * (b - a) + t[..., None] * (c - a))
        values = share * area * density.at(own + z.reshape(-1, 2)).reshape(NODES, NODES)
        mass += values.sum()
        first += (values[..., None] * z).sum(axis=(0, 1))
    return first / mass if mass > 1e-290 else None


def _pieces(corners: Points) -> list[tuple[Points, Points, Points]]:
    middle = corners.mean(axis=0)
    after = np.roll(corners, -1, axis=0)
    triangles = [(middle, a, b) for a, b in zip(corners, after, strict=True)]
    for _ in range(PIECES):
        triangles = [
            part
            for a, b, c in triangles
            for m in [0.5 * (b + c)]
            for part in ((m, a, b), (m, c, a))
        ]
    return triangles
