"""Moments over guaranteed cells on the line and in space: see star.py for those in the plane."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dwell._kernels.quadrature import rule
from dwell._types import Floats, Points, dots, lengths
from dwell.cells.moments import Moments
from dwell.density.base import Density, general_terms_of
from dwell.geometry import StarInterval, StarSolid

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms

AGREEMENT = 1e-9  # of the mass: two rules that differ by less are believed
PIECES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # of an interval, rule after rule
PARTS = (1, 2, 3)  # of each box of directions, both ways, rule after rule
NODES = 12
RAYS = 7


def cell_moments(cell: StarInterval | StarSolid, density: Density) -> Moments:
    """Moments over one cell; see `star_moments`.

    On the line to rounding. In space uniform densities come to about 1e-11 of the mass, Gaussians
    and polynomials to about 1e-9.
    """
    if cell.empty:
        return nothing(cell.position, 0.0)
    terms = general_terms_of(density, len(cell.position))
    if isinstance(cell, StarInterval):
        return _interval(cell, density) if terms is None else _exact_interval(cell, terms)
    return _solid(cell, density) if terms is None else _exact_solid(cell, terms)


def nothing(position: Points, error: float) -> Moments:
    """The moments of an empty cell."""
    return Moments(0.0, -math.inf, position.copy(), np.zeros(len(position)), 0.0, error)


def _exact_interval(cell: StarInterval, terms: GeneralTerms) -> Moments:
    from dwell._kernels.line.moments import MEMORY, moments_of

    low, high = (float(v) for v in cell.offsets[:, 0])
    memory = np.empty((max(1, len(terms.weights)), MEMORY))
    log_scale, mass, e, second = moments_of(low, high, float(cell.position[0]), terms, memory)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    return scaled(cell.position, log_scale, mass, np.array([e]), second)


def _exact_solid(cell: StarSolid, terms: GeneralTerms) -> Moments:
    from dwell._kernels.shells.pair import moments_of

    shell, *found = cell.found()
    log_scale, mass, x, y, z, polar = moments_of(*found, cell.position, terms, shell)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    e = np.array([x, y, z]) / mass
    return scaled(cell.position, log_scale, mass, e, polar - mass * float(dots(e, e)))


def scaled(
    position: Points, log_scale: float, mass: float, offset: Points, second: float
) -> Moments:
    scale, log_mass = math.exp(log_scale), math.log(mass) + log_scale
    return Moments(mass * scale, log_mass, position + offset, offset, second * scale)


def _interval(cell: StarInterval, density: Density) -> Moments:
    """By Gauss rules on more and more pieces, for densities that only Python can evaluate."""
    low, high = cell.offsets[:, 0]
    nodes, weights = rule("legendre", NODES)

    def by(pieces: int) -> Floats:
        width = (high - low) / pieces
        z = (low + width * (np.arange(pieces)[:, None] + nodes)).reshape(-1, 1)
        share = np.tile(width * weights, pieces) * density.at(cell.position + z)
        return summed(share, z)

    return until_agreed(by, PIECES, cell.position, high - low)


def _solid(cell: StarSolid, density: Density) -> Moments:
    """The same in space, by rays."""
    from dwell._kernels.shells.pair import rays_of

    size = cell.rough_extent[0]  # before the cell itself is found: both use the same memory
    shell, demands, borders, _ = cell.found()
    nodes, weights = rule("legendre", NODES)

    def by(parts: int) -> Floats:
        count = rays_of(demands, borders, parts, RAYS, shell, np.empty((0, 5)))
        rays = np.empty((count, 5))
        rays_of(demands, borders, parts, RAYS, shell, rays)
        total = np.zeros(5)
        for few in np.array_split(rays, max(1, count // 20000)):
            r = few[:, 3:4] * nodes
            share = few[:, 4:5] * few[:, 3:4] * weights * r * r
            z = (r[..., None] * few[:, None, :3]).reshape(-1, 3)
            total += summed(share.reshape(-1) * density.at(cell.position + z), z)
        return total

    return until_agreed(by, PARTS, cell.position, size)


def summed(share: Floats, z: Points) -> Floats:
    """Mass, first moments and polar moment of weighted points."""
    return np.array([share.sum(), *(share[:, None] * z).sum(axis=0), (share * dots(z, z)).sum()])


def until_agreed(
    by: Callable[[int], Floats], ladder: tuple[int, ...], position: Points, size: float
) -> Moments:
    """Rules finer and finer until two of them agree; the mass's error is their difference."""
    found, error = by(ladder[0]), math.inf
    for step in ladder[1:]:
        before, found = found, by(step)
        change = np.abs(found - before) / size ** np.array([0] + [1] * len(position) + [2])
        error = float(change.sum() / found[0]) if found[0] > 0.0 else math.inf
        if error <= AGREEMENT or not found.any():
            break
    if not found[0] > 0.0:
        return nothing(position, 0.0 if not found.any() else math.inf)
    e = found[1:-1] / found[0]
    second = float(found[-1] - found[0] * lengths(e) ** 2)
    return Moments(float(found[0]), math.log(found[0]), position + e, e, second, error)
