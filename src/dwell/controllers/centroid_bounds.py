"""Bounds on the centroid of an agent's cell when the other agents are known to lie in balls.

The guaranteed cell L holds the points certainly closest to the agent, the dual guaranteed cell U
the points possibly closest. The Voronoi cell V lies between the two, and so, for every density,

    |c_V - c_L| <= size(U) (1 - m_L / m_U),

where the size is the diameter or, a little larger, twice the circumradius: V is L and a part
outside it, of at most 1 - m_L / m_V of the mass, and both centroids lie in the convex hull of U.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, columns, dots
from dwell.cells.guaranteed import CellPair, pair_of
from dwell.cells.weighted_region import WeightedRegion
from dwell.geometry import is_flat

BOUNDS = ("circumradius", "diameter")  # what the size of a cell is


@final
@dataclass(frozen=True, slots=True)
class CentroidBall:
    """A ball that contains the centroid of an agent's cell, relative to the agent's position."""

    middle: tuple[float, ...]  # centroid of the guaranteed cell, minus the agent's position
    distance: float  # of its middle
    radius: float

    @property
    def gap(self) -> float:
        """Distance of the agent from the ball; 0 inside."""
        return self.distance - self.radius if self.distance > self.radius else 0.0

    def towards(self, length: float) -> tuple[float, ...]:
        """A vector of this length that points to the middle."""
        if length == 0.0:
            return (0.0,) * len(self.middle)
        return tuple(length * (x / self.distance) for x in self.middle)


def velocity_to(ball: CentroidBall, speed: float, time: float) -> tuple[float, ...]:
    """The velocity that leads to the ball within `time`, or towards it at `speed`; 0 from inside.

    The position reached is the paper's tbb(p, speed * time, q, r). The nearest point of a ball lies
    on the line to its middle, and motion to it reduces the distance to every point of the ball.
    """
    return ball.towards(min(ball.gap / time, speed))


def centroid_ball(
    ground: WeightedRegion, position: tuple[float, ...], places: Points, radii: Floats, bound: str
) -> CentroidBall | None:
    """The ball that contains the centroid of the agent at `position`; None if there is none.

    The others are within radii[j] of places[j]. There is none when another agent may coincide with
    this one, when the guaranteed cell has no mass, and outside the workspace.
    """
    order = nearest_first(position, places, radii)
    places, radii = places[order], radii[order]
    if ground.terms is None or not is_polygonal(ground):
        pair = pair_of(ground, np.array(position), places, radii)
    else:
        pair = _pair_in_polygon(ground, position, places, radii)
    if pair is None:
        return None
    size = pair.diameter if bound == "diameter" else 2.0 * pair.circumradius
    return ball_of(tuple(map(float, pair.offset)), size, pair.share)


def _pair_in_polygon(
    ground: WeightedRegion, position: tuple[float, ...], places: Points, radii: Floats
) -> CellPair | None:
    from dwell._kernels.polygon.guaranteed import OK, guaranteed_pair

    count, (wx, wy) = len(places), polygon_of(ground)
    x, y, reach, envelope = working_memory(count, len(wx))
    x[:count], y[:count], reach[:count] = places[:, 0], places[:, 1], radii
    status, mass, cx, cy, clearance, dual_mass, _, _, diameter, circumradius = guaranteed_pair(
        *position, count, x, y, reach, wx, wy, ground.terms, envelope
    )
    if status != OK:
        return None
    return CellPair(mass / dual_mass, np.array([cx, cy]), clearance, diameter, circumradius)


def is_polygonal(ground: WeightedRegion) -> bool:
    """Whether the planar kernels apply; elsewhere `pair_of` does."""
    return ground.dimension == 2 and is_flat(ground.workspace)


def nearest_first(position: Sequence[float] | Points, places: Points, radii: Floats) -> Ints:
    """An order of the other agents that does not depend on their numbers, for equal bits."""
    away = places - np.asarray(position)
    return np.lexsort((radii, *away.T[::-1], dots(away, away)))


def ball_of(middle: tuple[float, ...], size: float, share: float) -> CentroidBall:
    """The ball about `middle` for a dual cell of this size, of which the cell holds this share."""
    square = middle[0] * middle[0]
    for x in middle[1:]:
        square = square + x * x
    return CentroidBall(middle, math.sqrt(square), size * (1.0 - share) if share < 1.0 else 0.0)


_LOCAL = threading.local()  # working memory, for each thread its own


def working_memory(others: int, vertices: int) -> tuple[Floats, Floats, Floats, Any]:
    """Arrays for the others' positions and radii, and for the kernel."""
    kept: tuple[Floats, Floats, Floats, Any] | None = getattr(_LOCAL, "kept", None)
    if kept is None or _LOCAL.vertices != vertices or len(kept[0]) < others:
        from dwell._kernels.polygon.guaranteed_envelope import make_envelope

        capacity = max(2 * others, 16)
        kept = (*np.empty((3, capacity)), make_envelope(capacity, vertices))
        _LOCAL.kept, _LOCAL.vertices = kept, vertices
    return kept


@lru_cache(maxsize=8)
def polygon_of(ground: WeightedRegion) -> tuple[Floats, Floats]:
    """x and y of the workspace's vertices, as the kernels take them."""
    x, y = columns(ground.workspace.vertices)
    return x, y
