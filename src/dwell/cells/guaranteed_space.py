"""Moments over guaranteed cells on the line and in space: see star.py for those in the plane."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dwell._kernels.common.quadrature import rule
from dwell._types import Floats, Points, dots, lengths
from dwell.cells.moments import Moments
from dwell.density.base import Density, general_terms_of
from dwell.geometry import StarInterval, StarRegion
from dwell.geometry.guaranteed_region import SPACE

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms

AGREEMENT = 1e-9  # of the mass: two rules that differ by less are believed
PIECES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # of an interval, rule after rule
PARTS = {2: (1, 2, 4, 8, 16, 32), 3: (1, 2, 3, 5)}  # of each sector, rule after rule
NODES = 12
AT_ONCE = 20000  # rays


def cell_moments(cell: StarInterval | StarRegion, density: Density) -> Moments:
    """Moments over one cell; see `star_moments`.

    On the line to rounding. In space uniform densities come to about 1e-11 of the mass, Gaussians
    and polynomials to about 1e-9.
    """
    if cell.empty:
        return nothing(cell.position, 0.0)
    if isinstance(cell, StarInterval):
        line = general_terms_of(density, 1)
        return _interval(cell, density) if line is None else _exact_interval(cell, line)
    terms = space_terms(density, len(cell.position))
    return _region(cell, density) if terms is None else _exact_region(cell, terms)


def space_terms(density: Density, dimension: int) -> GeneralTerms | None:
    """The density as arrays with three coordinates; in the plane the third one does not matter."""
    terms = general_terms_of(density, dimension)
    if terms is None or dimension == SPACE:
        return terms
    more = SPACE - dimension
    return terms._replace(
        powers=np.pad(terms.powers, ((0, 0), (0, more))),
        origins=np.pad(terms.origins, ((0, 0), (0, more))),
        centers=np.pad(terms.centers, ((0, 0), (0, more))),
        forms=np.pad(terms.forms, ((0, 0), (0, more), (0, more))),
        roots=np.pad(terms.roots, ((0, 0), (0, more), (0, more))),
    )


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


def _exact_region(cell: StarRegion, terms: GeneralTerms) -> Moments:
    log_scale, mass, x, y, z, polar, error = cell.moments(terms)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    e = np.array([x, y, z][: len(cell.position)]) / mass
    found = scaled(cell.position, log_scale, mass, e, polar - mass * float(dots(e, e)))
    return replace(found, error=error / mass)


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


def _region(cell: StarRegion, density: Density) -> Moments:
    """By points of the boundary and Gauss rules on the rays to them, more and more."""
    n = len(cell.position)
    nodes, weights = rule("legendre", NODES)

    def by(parts: int) -> Floats:
        table = cell.nodes(parts)
        total = np.zeros(n + 2)
        for few in np.array_split(table, 1 + len(table) // AT_ONCE):
            share = few[:, n:] * weights * nodes ** (n - 1)
            z = (nodes[:, None] * few[:, None, :n]).reshape(-1, n)
            total += summed(share.reshape(-1) * density.at(cell.position + z), z)
        return total

    return until_agreed(by, PARTS[n], cell.position, cell.rough_extent[0])


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
