"""What an agent can tell of its own centroid when it knows the others only roughly.

It knows its own place, and of each other agent a ball in which that one is. Its guaranteed cell L
holds what is certainly nearest to it, its dual guaranteed cell U what may be. Its true cell V lies
between the two, and so, whatever the density,

    |c_V - c_L| <= size(U) (1 - m_L / m_U),

where the size is the diameter or, a little larger, twice the circumradius: V is L and a part
outside it, of at most 1 - m_L / m_V of the mass, and both centroids lie in the convex hull of U.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, columns
from dwell.density.ground import Ground
from dwell.density.star import star_moments
from dwell.errors import AgentsError
from dwell.geometry import dual_guaranteed_cell, guaranteed_cell

BOUNDS = ("circumradius", "diameter")  # what the size of a cell is


@final
@dataclass(frozen=True, slots=True)
class Ball:
    """Where the centroid of an agent's cell must be: in a ball, as seen from the agent."""

    x: float  # its middle, the centroid of the guaranteed cell, minus the agent's position
    y: float
    distance: float  # of its middle
    radius: float

    @property
    def gap(self) -> float:
        """Distance of the agent from the ball; 0 inside."""
        return self.distance - self.radius if self.distance > self.radius else 0.0

    def towards(self, length: float) -> tuple[float, float]:
        """A vector of this length that points to the middle."""
        if length == 0.0:
            return 0.0, 0.0
        return length * (self.x / self.distance), length * (self.y / self.distance)


def velocity_to(ball: Ball, speed: float, time: float) -> tuple[float, float]:
    """The velocity that leads to the ball within `time`, or towards it at `speed`; 0 from inside.

    The place reached is the paper's tbb(p, speed * time, q, r). From outside, the nearest point of
    a ball lies on the way to its middle, and going there brings the agent closer to every point of
    the ball.
    """
    return ball.towards(min(ball.gap / time, speed))


def centroid_ball(
    ground: Ground, position: tuple[float, float], places: Points, radii: Floats, bound: str
) -> Ball | None:
    """The ball that holds the centroid of the agent at `position`; None if nothing is known.

    The others are within radii[j] of places[j]. Nothing is known when another agent may stand at
    the same place, when the guaranteed cell weighs nothing, or outside the workspace.
    """
    if ground.terms is None:
        return _ball_by_quadrature(ground, position, places, radii, bound)
    from dwell._kernels.guaranteed import OK, guaranteed_pair

    count, (wx, wy) = len(places), walls_of(ground)
    x, y, reach, envelope = working_memory(count, len(wx))
    order = nearest_first(position, places, radii)
    x[:count], y[:count], reach[:count] = places[order, 0], places[order, 1], radii[order]
    status, mass, cx, cy, _, dual_mass, _, _, diameter, circumradius = guaranteed_pair(
        *position, count, x, y, reach, wx, wy, ground.terms, envelope
    )
    if status != OK:
        return None
    size = diameter if bound == "diameter" else 2.0 * circumradius
    return ball_of(cx, cy, size, mass / dual_mass)


def nearest_first(position: tuple[float, float], places: Points, radii: Floats) -> Ints:
    """An order of the others that does not depend on how they are numbered, for equal bits."""
    dx, dy = places[:, 0] - position[0], places[:, 1] - position[1]
    return np.lexsort((radii, dy, dx, dx * dx + dy * dy))


def ball_of(x: float, y: float, size: float, share: float) -> Ball:
    """The ball about (x, y) for a dual cell of this size, of which the cell holds this share."""
    return Ball(x, y, math.sqrt(x * x + y * y), size * (1.0 - share) if share < 1.0 else 0.0)


_LOCAL = threading.local()  # working memory, for each thread that simulates its own


def working_memory(others: int, vertices: int) -> tuple[Floats, Floats, Floats, Any]:
    """Room for the others' places and radii, and for the kernel."""
    kept: tuple[Floats, Floats, Floats, Any] | None = getattr(_LOCAL, "kept", None)
    if kept is None or _LOCAL.vertices != vertices or len(kept[0]) < others:
        from dwell._kernels.guaranteed import make_envelope

        room = max(2 * others, 16)
        kept = (np.empty(room), np.empty(room), np.empty(room), make_envelope(room, vertices))
        _LOCAL.kept, _LOCAL.vertices = kept, vertices
    return kept


@lru_cache(maxsize=8)
def walls_of(ground: Ground) -> tuple[Floats, Floats]:
    """x and y of the workspace's vertices, as the kernels take them."""
    x, y = columns(ground.workspace.vertices)
    return x, y


def _ball_by_quadrature(
    ground: Ground, position: tuple[float, float], places: Points, radii: Floats, bound: str
) -> Ball | None:
    """The same for densities that only Python can evaluate."""
    order = nearest_first(position, places, radii)
    known = (ground.workspace, position, places[order], radii[order])
    try:
        inner = star_moments(guaranteed_cell(*known), ground.density)
    except AgentsError:  # outside the workspace
        return None
    if inner.mass <= 0.0:
        return None
    dual = dual_guaranteed_cell(*known)
    size = dual.diameter if bound == "diameter" else 2.0 * dual.circumradius
    share = inner.mass / star_moments(dual, ground.density).mass
    return ball_of(float(inner.offset[0]), float(inner.offset[1]), size, share)
