"""How strongly one agent's centroid follows the agents: what it can work out from one look."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats, Points
from dwell.density.base import Density
from dwell.density.borders import Borders, borders
from dwell.geometry import Workspace


@final
@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Norms of the derivatives of an agent's tracking error e = c - x."""

    own: float  # |dc/dx - 1| with respect to its own position
    others: float  # sum of |dc/dx_q| over its neighbours


def sensitivity(
    workspace: Workspace, position: Points, neighbors: Points, density: Density
) -> Sensitivity:
    """Of the agent at `position` whose Voronoi neighbours stand at `neighbors`, (K, n)."""
    places = np.vstack([position, neighbors])
    return of_agent(borders(workspace, places, density, agents=1), 0)


def of_agent(found: Borders, agent: int) -> Sensitivity:
    """The same from borders that are known."""
    rows = np.flatnonzero(found.agent == agent)
    error, mass = found.errors[agent], float(found.masses[agent])
    own, others = -np.eye(len(error)), 0.0
    for k in rows:
        scale = 1.0 / (mass * math.hypot(*found.gap[k]))
        outward = found.m2[k] - _outer(error, found.m1[k])
        shifted = found.m1[k] - error * found.m0[k]
        own = own + scale * outward
        others += norm(scale * (_outer(shifted, found.gap[k]) - outward))
    return Sensitivity(norm(own), others)


def norm(block: Floats) -> float:
    """Spectral norm of a square matrix; in the plane in closed form (the same bits everywhere)."""
    if len(block) != 2:
        return float(np.linalg.norm(block, 2))
    (a, b), (c, d) = block.tolist()
    square, det = a * a + b * b + c * c + d * d, a * d - b * c
    return math.sqrt(0.5 * (square + math.sqrt(max(square * square - 4.0 * det * det, 0.0))))


def _outer(a: Points, b: Points) -> Floats:
    product: Floats = a[:, None] * b[None, :]
    return product
