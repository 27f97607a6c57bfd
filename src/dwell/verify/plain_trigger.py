"""A second opinion on the self-trigger: NumPy alone, by rays from the agent.

The boundary of a guaranteed cell is found along rays by the definition |z - p| + R <= |z - q|,
masses by sums over rays, distances from points of the outline. Good to about 1e-4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from dwell._types import Floats, Points
from dwell.controllers import SelfTriggered
from dwell.density import Density

RAYS = 2880
NODES = 24


def plain_trigger(
    law: SelfTriggered,
    vertices: Points,
    density: Density,
    here: Points,
    target: Points,
    others: Points,
    elapsed: float,
) -> float:
    """h of an agent that is at `here`, heads for `target`, and saw `others` so long ago."""
    reach = law.v * elapsed * (2.0 if law.option("own") == "ball" else 1.0)
    angles = (np.arange(RAYS, dtype=np.float64) + 0.5) * (2.0 * math.pi / RAYS)
    corners, away = vertices - here, others - here
    if len(away) and float((away * away).sum(axis=1).min()) <= reach * reach:
        return np.inf
    inner, _ = _radius(angles, corners, away, reach)
    outer, _ = _radius(angles, corners, away, -reach)
    mass, centroid = _weighed(density, here, angles, inner)
    dual_mass, _ = _weighed(density, here, angles, outer)
    drift = law.option("factor") * _size(_corners(corners, away, -reach), law.option("bound"))
    drift *= 1.0 - mass / dual_mass
    outline = _at(angles, inner)
    if law.option("second") == "sampled":
        left = target - here
        towards, _ = _radius(np.arctan2(left[1:], left[:1]), corners, away, reach)
        room = _distance(outline, left)
        return float(max(drift - law.delta, -room if np.hypot(*left) <= towards[0] else room))
    return float(drift - min(law.delta, _distance(outline, centroid)))


def _at(angles: Floats, radius: Floats) -> Points:
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])


def _distance(outline: Points, point: Points) -> float:
    """Distance of a point from a closed line."""
    step = np.roll(outline, -1, axis=0) - outline
    length = np.maximum((step * step).sum(axis=1), 1e-300)
    along = np.clip(((point - outline) * step).sum(axis=1) / length, 0.0, 1.0)
    return float(np.hypot(*(outline + along[:, None] * step - point).T).min())


def _radius(
    angles: Floats, corners: Points, away: Points, reach: float
) -> tuple[Floats, np.ndarray]:
    """How far the cell goes in each direction, and what ends it; of the dual one if reach < 0."""
    rays = _at(angles, np.ones(len(angles)))
    ends = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        normal = np.array([b[1] - a[1], a[0] - b[0]])
        ends.append(_ratio(max(float(normal @ a), 0.0), rays @ normal))
    for q in away:
        ends.append(_ratio(float(q @ q) - reach * reach, 2.0 * (rays @ q + reach)))
    table = np.array(ends)
    return table.min(axis=0), table.argmin(axis=0)


def _ratio(above: float, below: Floats) -> Floats:
    """above / below where below is positive, infinity elsewhere."""
    found: Floats = np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), np.inf)
    return found


def _corners(corners: Points, away: Points, reach: float) -> Points:
    """The corners of a cell: where what ends it changes, found by halving angles."""
    low = np.arange(RAYS, dtype=np.float64) * (2.0 * math.pi / RAYS)
    high = low + 2.0 * math.pi / RAYS
    first, last = (_radius(a, corners, away, reach)[1] for a in (low, high))
    low, high, first = low[first != last], high[first != last], first[first != last]
    for _ in range(50):
        middle = 0.5 * (low + high)
        same = _radius(middle, corners, away, reach)[1] == first
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return _at(low, _radius(low, corners, away, reach)[0])


def _weighed(
    density: Density, here: Points, angles: Floats, radius: Floats
) -> tuple[float, Points]:
    """Mass, and centroid as seen from `here`."""
    rays = _at(angles, np.ones(len(angles)))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    r = 0.5 * (1.0 + nodes)[None, :] * radius[:, None]
    z = here + r[..., None] * rays[:, None, :]
    share = 0.5 * weights[None, :] * radius[:, None] * r
    values = share * density.at(z.reshape(-1, 2)).reshape(r.shape)
    mass = float(values.sum())
    first = (values[..., None] * (r[..., None] * rays[:, None, :])).sum(axis=(0, 1))
    return mass, first / mass


def _size(corners: Points, bound: str) -> float:
    """Diameter of some points, or twice the radius of the smallest circle around them."""
    if bound == "diameter":
        gaps = corners[:, None, :] - corners[None, :, :]
        return float(np.hypot(gaps[..., 0], gaps[..., 1]).max())
    return 2.0 * min(
        radius
        for few in (*combinations(corners, 2), *combinations(corners, 3))
        for middle, radius in _circle(*few)
        if np.hypot(*(corners - middle).T).max() <= radius * (1.0 + 1e-9)
    )


def _circle(a: Points, b: Points, c: Points | None = None) -> Iterator[tuple[Points, float]]:
    """The circle with two points as a diameter, or through three; none through three in a row."""
    if c is None:
        yield 0.5 * (a + b), 0.5 * float(np.hypot(*(a - b)))
        return
    (px, py), (qx, qy) = b - a, c - a
    twice = 2.0 * (px * qy - py * qx)
    if twice != 0.0:
        p2, q2 = px * px + py * py, qx * qx + qy * qy
        offset = np.array([qy * p2 - py * q2, px * q2 - qx * p2]) / twice
        yield a + offset, float(np.hypot(*offset))
