"""Bounds on the centroid of an agent's cell when the other agents are known to lie in balls.

The guaranteed cell L holds the points certainly closest to the agent, the dual guaranteed cell U
the points possibly closest. The Voronoi cell V lies between the two, and so, for every density,

    |c_V - c_L| <= size(U) (1 - m_L / m_U),

where the size is the diameter or, a little larger, twice the circumradius: V is L and a part
outside it, of at most 1 - m_L / m_V of the mass, and both centroids lie in the convex hull of U.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._parameters import Word
from dwell._types import Floats, Ints, Points, dots, lengths
from dwell.cells.backend import pair_of
from dwell.cells.weighted_region import WeightedRegion

SIZES = Word({"circumradius": "twice its circumradius", "diameter": "its diameter"})
SIZE = "the size of the dual guaranteed cell in the bound on the centroid"


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
    pair = pair_of(ground, np.array(position), places[order], radii[order])
    if pair is None:
        return None
    return ball_of(tuple(map(float, pair.offset)), pair.size(bound), pair.share)


def nearest_first(position: Sequence[float] | Points, places: Points, radii: Floats) -> Ints:
    """An order of the other agents that does not depend on their numbers, for equal bits."""
    away = places - np.asarray(position)
    return np.lexsort((radii, *away.T[::-1], dots(away, away)))


def ball_of(middle: tuple[float, ...], size: float, share: float) -> CentroidBall:
    """The ball about `middle` for a dual cell of this size, of which the cell holds this share."""
    distance = float(lengths(np.array(middle)))
    return CentroidBall(middle, distance, size * (1.0 - share) if share < 1.0 else 0.0)
