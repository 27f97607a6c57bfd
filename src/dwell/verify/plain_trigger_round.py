"""The second opinion on the self-trigger in discs, ellipses, balls and ellipsoids: NumPy alone.

Cells along rays from the agent by their definitions, masses by sums over rays, sizes and distances
from points of the outline. Good to about 1e-4 in the plane and 1e-3 in space.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from dwell._types import Floats, Ints, Points, dots, lengths
from dwell.controllers import SelfTriggered
from dwell.density import Density
from dwell.geometry import Curved
from dwell.verify.plain_trigger_any import _from_sheet, _ratio, _rays, _size, _weighed

RAYS = 2880  # in the plane
MOST_POINTS = 720  # of an outline whose width is measured
AROUND = 40000  # places on the boundary of the workspace
ZOOMS = 25


def wider(workspace: Curved) -> float:
    """By how much a law may take dual cells to be larger than they are, and so look earlier.

    In the plane arcs are put into polygons. In space the boundary is known by points, and what may
    bulge out between them is more for thin ellipsoids; points of the outline here are as coarse.
    """
    uneven = max(workspace.semi_axes) / min(workspace.semi_axes)
    return 2e-4 if workspace.dimension == 2 else 0.02 * uneven * uneven


def plain_trigger_round(
    law: SelfTriggered,
    workspace: Curved,
    density: Density,
    here: Points,
    target: Points,
    others: Points,
    elapsed: float,
    enlarged: float = 0.0,
) -> float:
    """h of an agent that is at `here`, heads for `target`, and saw `others` so long ago.

    enlarged: the share by which the dual cell counts as larger than it is.
    """
    reach = law.v * elapsed * (2.0 if law.option("own") == "ball" else 1.0)
    away = others - here
    if len(away) and float(lengths(away).min()) <= reach:
        return math.inf
    rays, shares = _directions(len(here))
    inner, outer = (_ends(rays, workspace, here, away, sign * reach) for sign in (1.0, -1.0))
    mass, centroid = _weighed(density, here, rays, shares, inner)
    dual_mass, _ = _weighed(density, here, rays, shares, outer)
    size = _width(rays, outer, workspace, here, away, reach, law.option("bound"))
    drift = law.option("factor") * size * (1.0 + enlarged) * (1.0 - mass / dual_mass)
    if law.option("second") == "sampled":
        return float(max(drift - law.delta, -_room(target - here, workspace, here, away, reach)))
    return float(drift - min(law.delta, _room(centroid, workspace, here, away, reach)))


def _directions(dimension: int) -> tuple[Points, Floats]:
    """Directions, and the angle that each stands for."""
    if dimension == 3:
        return _rays(3)
    angles = (np.arange(RAYS) + 0.5) * (2.0 * math.pi / RAYS)
    return np.column_stack([np.cos(angles), np.sin(angles)]), np.full(RAYS, 2.0 * math.pi / RAYS)


def _unit(workspace: Curved, vectors: Points) -> Points:
    """Vectors in the frame in which the workspace is the unit ball."""
    turned: Points = vectors @ np.asarray(workspace.axes).T / np.array(workspace.semi_axes)
    return turned


def _ends(rays: Points, workspace: Curved, here: Points, away: Points, reach: float) -> Floats:
    """How far the cell goes in each direction; that of the dual one if reach < 0."""
    u, z = _unit(workspace, rays), _unit(workspace, here - np.array(workspace.center))
    a, b, c = dots(u, u), dots(u, z), min(float(dots(z, z)) - 1.0, 0.0)
    end: Floats = (np.sqrt(b * b - a * c) - b) / a
    for q in away:
        end = np.minimum(end, _ratio(float(dots(q, q)) - reach**2, 2.0 * (dots(rays, q) + reach)))
    return end


def _width(
    rays: Points,
    ends: Floats,
    workspace: Curved,
    here: Points,
    away: Points,
    reach: float,
    bound: str,
) -> float:
    """Size of the dual cell from points of its outline; corners, which rays miss, are sought."""
    edge = ends[:, None] * rays
    middle = edge.mean(axis=0)
    some = edge[:: max(1, len(edge) // MOST_POINTS) | 1]
    apart = lengths(some[:, None] - some[None])
    pair = some[list(np.unravel_index(np.argmax(apart), apart.shape))]
    around = np.array(list(product((-1.0, 0.0, 1.0), repeat=len(here))))
    seats = np.vstack([pair, edge[np.argmax(edge @ around.T, axis=0)]])
    if len(here) == 2:
        seats = np.vstack([seats, edge[_peaks(lengths(edge - middle))]])
    found = [_farther(seat, middle, workspace, here, away, reach) for seat in seats]
    return _size(np.vstack([some, found]), bound)


def _peaks(far: Floats) -> Ints:
    """Where a closed row of numbers is larger than on both sides."""
    return np.flatnonzero((far >= np.roll(far, 1)) & (far >= np.roll(far, -1)))


def _farther(
    seat: Points, middle: Points, workspace: Curved, here: Points, away: Points, reach: float
) -> Points:
    """A point of the dual cell's outline near `seat`, as far from the middle as it gets."""
    rng = np.random.default_rng(1)
    spread = 0.1
    for _ in range(ZOOMS):
        rays = seat / lengths(seat) + spread * rng.normal(size=(60, len(seat)))
        rays = rays / lengths(rays)[:, None]
        points = _ends(rays, workspace, here, away, -reach)[:, None] * rays
        best = points[int(np.argmax(lengths(points - middle)))]
        if lengths(best - middle) > lengths(seat - middle):
            seat = best
        spread *= 0.6
    return seat


def _room(z: Points, workspace: Curved, here: Points, away: Points, reach: float) -> float:
    """How far z is inside the guaranteed cell; 0 or less outside."""
    room = _from_boundary(workspace, here + z)
    for q in away:
        slack = float(lengths(z - q) - lengths(z)) - reach
        if slack <= 0.0:
            return min(room, 0.5 * slack)
        room = min(room, _from_sheet(z, q, reach))
    return room


def _from_boundary(workspace: Curved, place: Points) -> float:
    """Distance of a place inside from the workspace's boundary: points all over it, then nearer."""
    inside = _unit(workspace, place - np.array(workspace.center))
    if float(dots(inside, inside)) >= 1.0:
        return 0.0
    rng = np.random.default_rng(0)
    spot = rng.normal(size=(AROUND, len(place)))
    spread = 1.0
    best, room = spot[0], math.inf
    for _ in range(ZOOMS):
        spot = spot / lengths(spot)[:, None]
        points = (spot * np.array(workspace.semi_axes)) @ np.asarray(workspace.axes)
        gaps = lengths(points + np.array(workspace.center) - place)
        k = int(np.argmin(gaps))
        if gaps[k] < room:
            best, room = spot[k], float(gaps[k])
        spread *= 0.5
        spot = best + 0.1 * spread * rng.normal(size=(400, len(place)))
    return room
