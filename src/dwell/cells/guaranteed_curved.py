"""Moments over guaranteed cells in discs, ellipses, balls and ellipsoids."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dwell._kernels.quadrature import rule
from dwell._types import Floats, dots
from dwell.cells.guaranteed_space import NODES, nothing, scaled, summed, until_agreed
from dwell.cells.moments import Moments
from dwell.density.base import Density, general_terms_of
from dwell.geometry import StarRound
from dwell.geometry.star_round import SPACE

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms

PARTS = (1, 2, 4, 8, 16, 32)  # of each piece of a circle, rule after rule
PARTS_IN_SPACE = (1, 2)
AT_ONCE = 20000  # rays


def round_moments(cell: StarRound, density: Density) -> Moments:
    """Moments over one cell; see `star_moments`.

    In the plane to rounding. In space the error of the mass is an estimate, about 1e-6 of it.
    """
    if cell.empty:
        return nothing(cell.position, 0.0)
    terms = round_terms(density, cell.workspace.dimension)
    return _by_rays(cell, density) if terms is None else _by_kernel(cell, terms)


def round_terms(density: Density, dimension: int) -> GeneralTerms | None:
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


def _by_kernel(cell: StarRound, terms: GeneralTerms) -> Moments:
    log_scale, mass, x, y, z, polar, error = cell.moments(terms)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    n = cell.workspace.dimension
    e = np.array([x, y, z][:n]) / mass
    found = scaled(cell.position, log_scale, mass, e, polar - mass * float(dots(e, e)))
    return found if n == 2 else replace(found, error=error / mass)


def _by_rays(cell: StarRound, density: Density) -> Moments:
    """For densities that only Python can evaluate: more and more rays until two rules agree."""
    n = cell.workspace.dimension
    nodes, weights = rule("legendre", NODES)

    def by(parts: int) -> Floats:
        rays = cell.rays(parts)
        total = np.zeros(n + 2)
        for few in np.array_split(rays, 1 + len(rays) // AT_ONCE):
            r = few[:, 3:4] * nodes
            share = few[:, 4:5] * few[:, 3:4] * weights * r ** (n - 1)
            z = (r[..., None] * few[:, None, :n]).reshape(-1, n)
            total += summed(share.reshape(-1) * density.at(cell.position + z), z)
        return total

    return until_agreed(by, PARTS if n == 2 else PARTS_IN_SPACE, cell.position, cell.diameter)
