"""A second opinion on one centroid: plain Python, its own cutting, its own quadrature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density, Gaussian, Mixture

NODES = 16
WIDTHS = 4.0  # of a hill: how large triangles at its foot may be to begin with
SETTLED = 1e-11  # of the cell's size: by how much one triangle may move the centroid when halved
MOST_TRIANGLES = 3000  # until a cell counts as too hard to tell
LIGHTEST = 1e-290  # mass below which digits are missing


def plain_centroid(
    vertices: Points, positions: Points, agent: int, density: Density
) -> Points | None:
    """Centroid of `agent`'s cell as seen from the agent.

    None if that cannot be told: the cell is empty, its weight below the range of doubles, or the
    density too rough to be integrated in a reasonable time.
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
    """By a high-order rule on triangles, halved until the centroid no longer moves."""
    triangles = _triangles(corners, [(place - own, steep) for place, steep in _hills(density)])
    values = _by_rule(triangles, own, density)
    reach = float(np.abs(corners).max())
    total, used = values.sum(axis=0), len(triangles)
    while True:
        if not total[0] > LIGHTEST:
            return None
        halves = _halved(triangles)
        finer = _by_rule(halves, own, density)
        change = finer[::2] + finer[1::2] - values
        total, used = total + change.sum(axis=0), used + len(halves)
        moved = np.abs(change[:, 1:]).max(axis=1) + reach * np.abs(change[:, 0])
        rough = moved > SETTLED * reach * total[0]
        if not rough.any():
            found: Points = total[1:] / total[0]
            return found
        if used > MOST_TRIANGLES:
            return None  # it would take too long to tell
        both = np.repeat(rough, 2)
        triangles, values = halves[both], finer[both]


def _by_rule(triangles: Points, own: Points, density: Density) -> Floats:
    """Mass and first moments of each triangle, (K, 3): a Gauss rule towards its first corner."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    u, w = 0.5 * (nodes + 1.0), 0.5 * weights
    s, t = (axis.reshape(1, -1, 1) for axis in np.meshgrid(u, u, indexing="ij"))
    a, b, c = (triangles[:, None, k] for k in range(3))
    z = a + s * ((1.0 - t) * (b - a) + t * (c - a))
    weighed = np.outer(w * u, w).ravel() * density.at(own + z.reshape(-1, 2)).reshape(z.shape[:2])
    moments = [weighed.sum(axis=1), *(weighed[..., None] * z).sum(axis=1).T]
    found: Floats = (np.array(moments) * np.abs(_turn(a[:, 0].T, b[:, 0].T, c[:, 0].T))).T
    return found


def _hills(density: Density) -> list[tuple[Points, float]]:
    """Where a density has its peaks, and how steep they are, as it says itself."""
    match density:
        case Gaussian(center=center, form=(qxx, qxy, qyy)):
            steepness = 0.5 * (qxx + qyy + math.hypot(qxx - qyy, 2.0 * qxy))
            return [(np.array(center), steepness)]
        case Mixture(parts=parts):
            return [hill for part in parts for hill in _hills(part)]
        case _:
            return []


def _triangles(corners: Points, hills: list[tuple[Points, float]]) -> Points:
    """The cell in triangles, (K, 3, 2), with small ones at or nearest to each hill.

    A rule that steps over a peak sees nothing of it, and so no reason to look closer.
    """
    places = [_nearest(corners, place) for place, _ in hills]
    first = places[0] if places else corners.mean(axis=0)
    fan = [(first, a, b) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    found = [np.array(one) for one in fan if _turn(*one) != 0.0]
    for place in places[1:]:
        found = [part for one in found for part in _split(one, place)]
    triangles = np.array(found).reshape(-1, 3, 2)
    for place, (top, steepness) in zip(places, hills, strict=True):
        away = math.hypot(*(place - top))
        width = 1.0 / max(math.sqrt(steepness), 2.0 * steepness * away)
        triangles = _graded(triangles, place, WIDTHS * width)
    return triangles


def _graded(triangles: Points, place: Points, size: float) -> Points:
    """The same with those that have a corner at `place` halved until they are no longer large."""
    while True:
        sides = triangles - np.roll(triangles, 1, axis=1)
        large = np.sqrt((sides**2).sum(axis=2)).max(axis=1) > size
        large &= (triangles == place).all(axis=2).any(axis=1)
        if not large.any() or len(triangles) > MOST_TRIANGLES:
            return triangles
        triangles = np.concatenate([triangles[~large], _halved(triangles[large])])


def _split(triangle: Points, place: Points) -> list[Points]:
    """A triangle that holds `place` in three parts that meet there; any other as it is."""
    a, b, c = triangle
    parts = [(place, a, b), (place, b, c), (place, c, a)]
    whole, turns = _turn(a, b, c), [_turn(*part) for part in parts]
    if any(turn * whole < 0.0 for turn in turns):
        return [triangle]
    return [np.array(part) for part, turn in zip(parts, turns, strict=True) if turn != 0.0]


def _turn(a: Any, b: Any, c: Any) -> Any:
    """Twice the area of each triangle, with the sign of the way round; coordinates come first."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _nearest(corners: Points, place: Points) -> Points:
    """The point of a convex polygon that is nearest to `place`."""
    after = np.roll(corners, -1, axis=0)
    if all(_turn(a, b, place) >= 0.0 for a, b in zip(corners, after, strict=True)):
        return place
    step = after - corners
    square = (step * step).sum(axis=1)
    along = ((place - corners) * step).sum(axis=1) / np.where(square > 0.0, square, 1.0)
    feet = corners + np.clip(along, 0.0, 1.0)[:, None] * step
    nearest: Points = feet[int(np.argmin(((feet - place) ** 2).sum(axis=1)))]
    return nearest


def _halved(triangles: Points) -> Points:
    """Each triangle in two, one after the other, (2 K, 3, 2): across its longest side."""
    sides = np.roll(triangles, -1, axis=1) - triangles
    first = np.argmax((sides**2).sum(axis=2), axis=1)[:, None]
    rows = np.arange(len(triangles))[:, None]
    p, q, r = (triangles[rows, (first + k) % 3] for k in range(3))
    middle = 0.5 * (p + q)
    halves = np.stack([np.hstack([p, middle, r]), np.hstack([q, r, middle])], axis=1)
    return halves.reshape(-1, 3, 2)
