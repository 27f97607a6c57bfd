"""A second opinion on centroids in any dimension: points are counted to the nearest agent.

The cell is never made, and the density is only evaluated. Sets of points that fill the workspace
evenly are shifted at random, each by itself, so that their mean is right on average, and their
spread is the accuracy: errors come in standard errors. They are no match for the digits of a
quadrature; they find cells that are wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density
from dwell.geometry import Workspace

SETS = 32  # each shifted by itself
POINTS = 8192  # of the box round the workspace, in each set
FEWEST = 40  # points of equal weight in a cell, per set: fewer do not determine their own spread
SHIFTS = 77  # seed of the shifts: so that a check is reproducible
TOO_FAR = 10.0  # standard errors: by chance once in 1e10 with so many sets


class CountedOffset(NamedTuple):
    """How far a centroid is from the one by counting, and how sharp counting is."""

    apart: float  # in standard errors, beyond the error that the cell measurement states
    sharp: float  # the smallest error that would have been found, a length


class Counting:
    """Points spread over a workspace, each with its weight."""

    def __init__(self, workspace: Workspace, density: Density) -> None:
        lower, upper = workspace.bounds
        shares = _evenly_spread(workspace.dimension)
        places = lower + shares.reshape(-1, workspace.dimension) * (upper - lower)
        which = np.repeat(np.arange(SETS), POINTS)
        if workspace.mask is not None:
            inside = _inside_rings(places, workspace.mask.rings)
        else:
            inside = workspace.contains(places)
        self.places: Points = places[inside]
        self.which = which[inside]
        self.weights: Floats = np.asarray(density.at(self.places), dtype=np.float64)

    def compare(
        self,
        positions: Points,
        agent: int,
        error: Points,
        doubt: float,
        radius: Floats | None = None,
    ) -> CountedOffset | None:
        """How the points judge a centroid `error` away from its agent; None if they are few.

        The mass has a stated relative error, and the centroid may be off by that share of the
        cell's size. With the `radius` of each agent, points belong to the agent whose disc holds
        them most deeply.
        """
        if radius is None:
            own = self._cell(positions, agent)
        else:
            own = self._cell_within(positions, agent, radius)
        weights = self.weights[own]
        if not weights.sum() ** 2 >= FEWEST * SETS * (weights * weights).sum() > 0.0:
            return None
        local = self.places[own] - positions[agent] - error
        mass = np.bincount(self.which[own], weights, SETS).mean()
        # Right on average if and only if the centroid is right: no quotient of random numbers.
        pull = np.stack([np.bincount(self.which[own], weights * z, SETS) for z in local.T])
        middle, spread = pull.mean(axis=1), pull.std(axis=1, ddof=1) / np.sqrt(SETS)
        allowed = 2.0 * doubt * mass * float(np.abs(local).max())
        beyond = np.maximum(np.abs(middle) - allowed, 0.0)
        apart = float((beyond / np.where(spread > 0.0, spread, np.inf)).max())
        return CountedOffset(apart, float((TOO_FAR * spread.max() + allowed) / mass))

    def _cell_within(self, positions: Points, agent: int, radius: Floats) -> np.ndarray:
        """Which points of the agent's disc have the least power distance from it."""
        distance = ((self.places - positions[agent]) ** 2).sum(axis=1)
        own = np.flatnonzero(distance <= radius[agent] ** 2)
        for q in range(len(positions)):
            if q != agent:
                other = ((self.places[own] - positions[q]) ** 2).sum(axis=1)
                ahead = (radius[agent] - radius[q]) * (radius[agent] + radius[q])
                own = own[distance[own] - other <= ahead]  # no difference of large squares
        return own

    def _cell(self, positions: Points, agent: int) -> np.ndarray:
        """Which points are nearer to the agent than to any other; the nearest others first."""
        apart = ((positions - positions[agent]) ** 2).sum(axis=1)
        own = np.arange(len(self.places))
        distance = ((self.places - positions[agent]) ** 2).sum(axis=1)
        for q in np.argsort(apart, kind="stable"):
            if q == agent:
                continue
            if len(own) and apart[q] > 4.0 * distance[own].max():
                break  # twice as far as the farthest point left: no agent beyond is nearer
            other = ((self.places[own] - positions[q]) ** 2).sum(axis=1)
            own = own[distance[own] <= other]
        return own


def _inside_rings(points: Points, rings: Sequence[Points]) -> np.ndarray:
    """Whether an odd number of edges lies to the right of each point."""
    order = np.argsort(points[:, 1], kind="stable")
    x, y = points[order].T
    odd = np.zeros(len(points), dtype=bool)
    for ring in rings:
        for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            low, high = (a, b) if a[1] <= b[1] else (b, a)
            some = slice(*np.searchsorted(y, [low[1], high[1]]))
            rise = (high[0] - low[0]) * (y[some] - low[1])
            odd[some] ^= (x[some] - low[0]) * (high[1] - low[1]) < rise
    found = np.empty_like(odd)
    found[order] = odd
    return found


def _evenly_spread(n: int) -> Floats:
    """(SETS, POINTS, n) in the unit cube: multiples of one irrational step, each set shifted."""
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (n + 1))  # the root of x**(n + 1) = x + 1
    step = root ** -np.arange(1.0, n + 1.0)
    shifts = np.random.default_rng(SHIFTS).random((SETS, 1, n))
    return (shifts + np.arange(POINTS)[:, None] * step) % 1.0
