"""Derivative of one agent's centroid with respect to all positions, from one measurement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.cells.backend import borders
from dwell.cells.facets import Borders
from dwell.density.base import Density
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
    own, _, towards = own_blocks(workspace, position, neighbors, density)
    others = 0.0
    for block in towards:
        others += norm(block)
    return Sensitivity(norm(own - np.eye(len(position))), others)


def own_blocks(
    workspace: Workspace, position: Points, neighbors: Points, density: Density
) -> tuple[Floats, Ints, Floats]:
    """Derivatives of the centroid of the agent at `position`.

    With respect to its own position, (n, n); and for each of its borders the neighbour beyond, a
    row of `neighbors`, (B,), and the derivative with respect to that, (B, n, n).
    """
    found = borders(workspace, np.vstack([position, neighbors]), density, agents=1)
    own, towards = centroid_blocks(found)
    return own[0], found.other - 1, towards


def centroid_blocks(found: Borders) -> tuple[Floats, Floats]:
    """Derivatives of the centroids: with respect to the own position, (N, n, n), and of the agent
    on this side of each border with respect to the one beyond it, (B, n, n).
    """
    error, mass = found.errors[found.agent], found.masses[found.agent]
    # Moments of (z - c)(x_q - z)' and (z - c) z' in the frame of the agent, whose position is 0.
    shifted = found.m1 - error * found.m0[:, None]
    outward = found.m2 - outer(error, found.m1)
    scale = (1.0 / (mass * lengths(found.gap)))[:, None, None]
    axes = found.errors.shape[1]
    own = np.zeros((len(found.masses), axes, axes))
    np.add.at(own, found.agent, scale * outward)
    if found.arcs is not None:
        own += found.arcs / np.where(found.empty, np.inf, found.masses)[:, None, None]
    return own, scale * (outer(shifted, found.gap) - outward)


def norm(block: Floats) -> float:
    """Spectral norm of a square matrix; in the plane in closed form (the same bits everywhere)."""
    if len(block) != 2:
        return float(np.linalg.norm(block, 2))
    (a, b), (c, d) = block.tolist()
    square, det = a * a + b * b + c * c + d * d, a * d - b * c
    return math.sqrt(0.5 * (square + math.sqrt(max(square * square - 4.0 * det * det, 0.0))))


def outer(a: Points, b: Points) -> Floats:
    """a b' of each pair of vectors, (..., n, n)."""
    product: Floats = a[..., :, None] * b[..., None, :]
    return product
