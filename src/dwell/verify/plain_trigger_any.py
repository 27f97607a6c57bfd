"""The second opinion on the self-trigger for the line and for space: NumPy alone.

On the line by the definition itself. In space along rays from the agent, as in the plane; corners
are found by trying all triples of walls and agents, distances from sheets by going along the
hyperbola that each of them is when cut through its axis. Good to about 1e-4 in space.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.controllers import SelfTriggered
from dwell.density import Density
from dwell.geometry import Workspace

TURNS = 240  # rays round the axis; half as many circles of them
NODES = 8
ALONG = 4001  # places on a hyperbola
ROUNDING = 1e-9


def plain_trigger_any(
    law: SelfTriggered,
    workspace: Workspace,
    density: Density,
    here: Points,
    target: Points,
    others: Points,
    elapsed: float,
) -> float:
    """h of an agent that is at `here`, heads for `target`, and saw `others` so long ago."""
    reach = law.v * elapsed * (2.0 if law.option("own") == "ball" else 1.0)
    away = others - here
    if len(away) and float(lengths(away).min()) <= reach:
        return math.inf
    gaps = workspace.offsets - dots(workspace.normals, here)
    rays, shares = _rays(len(here))
    ends = [_ends(rays, workspace.normals, gaps, away, sign * reach) for sign in (1.0, -1.0)]
    (mass, centroid), (dual_mass, _) = (_weighed(density, here, rays, shares, r) for r in ends)
    corners = _corners(workspace.normals, gaps, away, -reach)
    drift = law.option("factor") * _size(corners, law.option("bound")) * (1.0 - mass / dual_mass)
    left = target - here
    if law.option("second") == "sampled":
        room = _room(left, workspace.normals, gaps, away, reach)
        return float(max(drift - law.delta, -room))
    return float(drift - min(law.delta, _room(centroid, workspace.normals, gaps, away, reach)))


def _rays(dimension: int) -> tuple[Points, Floats]:
    """Directions, and the share of all directions that each stands for."""
    if dimension == 1:
        return np.array([[-1.0], [1.0]]), np.ones(2)
    cos, weight = np.polynomial.legendre.leggauss(TURNS // 2)
    angle = (np.arange(TURNS) + 0.5) * (2.0 * math.pi / TURNS)
    sin = np.sqrt(1.0 - cos * cos)
    x, y = np.outer(sin, np.cos(angle)), np.outer(sin, np.sin(angle))
    z = np.outer(cos, np.ones(TURNS))
    shares = np.repeat(weight * (2.0 * math.pi / TURNS), TURNS)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), shares


def _ends(rays: Points, normals: Points, gaps: Floats, away: Points, reach: float) -> Floats:
    """How far the cell goes in each direction; that of the dual one if reach < 0."""
    end = np.full(len(rays), np.inf)
    for normal, gap in zip(normals, gaps, strict=True):
        end = np.minimum(end, _ratio(max(float(gap), 0.0), dots(rays, normal)))
    for q in away:
        end = np.minimum(end, _ratio(float(dots(q, q)) - reach**2, 2.0 * (dots(rays, q) + reach)))
    return end


def _ratio(above: float, below: Floats) -> Floats:
    """above / below where below is positive, infinity elsewhere."""
    found: Floats = np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), np.inf)
    return found


def _weighed(
    density: Density, here: Points, rays: Points, shares: Floats, ends: Floats
) -> tuple[float, Points]:
    """Mass, and centroid as seen from `here`."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    r = 0.5 * (1.0 + nodes)[None, :] * ends[:, None]
    z = r[..., None] * rays[:, None, :]
    around = r ** (len(here) - 1)
    share = 0.5 * weights[None, :] * ends[:, None] * shares[:, None] * around
    values = share * density.at((here + z).reshape(-1, len(here))).reshape(r.shape)
    mass = float(values.sum())
    return mass, (values[..., None] * z).sum(axis=(0, 1)) / mass


def _corners(normals: Points, gaps: Floats, away: Points, reach: float) -> Points:
    """All corners of a cell: places that as many walls or sheets as dimensions have in common.

    Each of them says z . b + c |z| = 1: for every |z| a system of equations, and |z| must fit.
    """
    half = 0.5 * (dots(away, away) - reach * reach)
    walls = np.maximum(gaps, 1e-12 * float(np.abs(gaps).max()))
    b = np.vstack([normals / walls[:, None], away / half[:, None]])
    c = np.concatenate([np.zeros(len(walls)), reach / half])
    found = [np.zeros((0, b.shape[1]))]
    for few in combinations(range(len(b)), b.shape[1]):
        rows = list(few)
        if abs(np.linalg.det(b[rows])) > ROUNDING * np.prod(lengths(b[rows])):
            right = np.column_stack([np.ones(len(few)), c[rows]])
            found.append(_common(np.linalg.solve(b[rows], right)))
    z = np.concatenate(found)
    inside = (z @ b.T + lengths(z)[:, None] * c <= 1.0 + ROUNDING).all(axis=1)
    corners: Points = z[inside]
    return corners


def _common(solved: Floats) -> Points:
    """z = u - v r with |z| = r: up to two places."""
    u, v = solved[:, 0], solved[:, 1]
    a, h, g = float(dots(v, v)) - 1.0, float(dots(u, v)), float(dots(u, u))
    roots = np.roots([a, -2.0 * h, g]) if a != 0.0 else np.array([g / (2.0 * h)])
    real = np.real(roots[np.abs(np.imag(roots)) < 1e-12])
    return np.array([u - v * r for r in real if r > 0.0]).reshape(-1, len(u))


def _size(corners: Points, bound: str) -> float:
    """Diameter of some points, or twice the radius of the smallest ball round them."""
    if bound == "diameter":
        return float(lengths(corners[:, None] - corners[None]).max())
    middle = corners.mean(axis=0)
    for k in range(1, 20001):  # towards the farthest point, by less and less
        far = corners[np.argmax(lengths(corners - middle))]
        middle = middle + (far - middle) / (k + 1.0)
    return 2.0 * float(lengths(corners - middle).max())


def _room(z: Points, normals: Points, gaps: Floats, away: Points, reach: float) -> float:
    """How far z is inside the guaranteed cell; 0 or less outside."""
    room = float((gaps - dots(normals, z)).min())
    for q in away:
        slack = float(lengths(z - q) - lengths(z)) - reach
        if slack <= 0.0:
            return min(room, 0.5 * slack)
        room = min(room, _from_sheet(z, q, reach))
    return room


def _from_sheet(z: Points, q: Points, reach: float) -> float:
    """Distance of z from the sheet of q: in the plane of z and the axis, along the hyperbola."""
    apart = float(lengths(q))
    a, b = 0.5 * reach, 0.5 * math.sqrt(apart * apart - reach * reach)
    along = float(dots(z, q)) / apart - 0.5 * apart
    across = math.sqrt(max(0.0, float(dots(z, z)) - (along + 0.5 * apart) ** 2))
    if len(z) == 1:
        return -a - along
    low, high = -1.0, 2.0 * (abs(along) + across + apart) / b
    for _ in range(4):
        t = np.linspace(low, high, ALONG)
        gaps = np.hypot(-a * np.sqrt(1.0 + t * t) - along, b * t - across)
        best, step = int(np.argmin(gaps)), (high - low) / (ALONG - 1)
        low, high = float(t[best]) - 2.0 * step, float(t[best]) + 2.0 * step
    return float(gaps.min())
