"""Moments over guaranteed cells on the line and in space, and what a trigger asks of both cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.density.base import Density, general_terms_of
from dwell.density.ground import Ground
from dwell.density.moments import Moments
from dwell.errors import AgentsError
from dwell.geometry import (
    StarInterval,
    StarSolid,
    dual_guaranteed_cell,
    guaranteed_cell,
    is_flat,
)
from dwell.geometry.star_solid import in_shell, walls_of

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms
    from dwell._kernels.shells.demands import Shell

AGREEMENT = 1e-9  # of the mass: two rules that differ by less are believed
PIECES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # of an interval, rule after rule
PARTS = (1, 2, 4)  # of each box of directions, both ways, rule after rule
NODES = 12
RAYS = 7


class Pair(NamedTuple):
    """What an agent can tell of its cell when it knows the others only roughly."""

    share: float  # mass of the guaranteed cell over that of the dual one
    offset: Points  # (n,) centroid of the guaranteed cell, seen from the agent
    room: float  # its distance from that cell's boundary
    diameter: float  # of the dual cell, or a little more
    circumradius: float  # the same


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


def pair_of(ground: Ground, position: Points, places: Points, radii: Floats) -> Pair | None:
    """Both cells of the agent at `position`, on the line or in space; None if nothing is known.

    The others are within radii[j] of places[j]. Nothing is known when another agent may stand at
    the same place, when the guaranteed cell weighs nothing, or outside the workspace.
    """
    if ground.dimension == 3 and ground.terms is not None and is_flat(ground.workspace):
        return _solid_pair(ground, position, places, radii)
    known = (ground.workspace, position, places, radii)
    try:
        inner = guaranteed_cell(*known)
    except AgentsError:  # outside the workspace
        return None
    outer = dual_guaranteed_cell(*known)
    assert isinstance(inner, StarInterval | StarSolid)
    assert isinstance(outer, StarInterval | StarSolid)
    if inner.empty:
        return None
    less, more = cell_moments(inner, ground.density), cell_moments(outer, ground.density)
    if not less.log_mass > -math.inf:
        return None
    room = inner.distance_to_boundary(less.centroid)
    share = math.exp(min(0.0, less.log_mass - more.log_mass))
    return Pair(share, less.offset, room, outer.diameter, outer.circumradius)


def _solid_pair(ground: Ground, position: Points, places: Points, radii: Floats) -> Pair | None:
    from dwell._kernels.shells.pair import OK, guaranteed_pair

    normals, offsets, size = walls_of(ground.workspace)
    p, q = (np.ascontiguousarray(v, dtype=np.float64) for v in (position, places))

    def both(shell: Shell) -> tuple[float, ...]:
        found: tuple[float, ...] = guaranteed_pair(
            p, size, len(q), q, radii, normals, offsets, ground.terms, shell
        )
        return found

    status, mass, x, y, z, room, dual, *sizes = in_shell(both, len(q), len(offsets))
    if status != OK:
        return None
    return Pair(min(1.0, mass / dual), np.array([x, y, z]), room, sizes[0], sizes[1])


def _exact_interval(cell: StarInterval, terms: GeneralTerms) -> Moments:
    from dwell._kernels.line.moments import MEMORY, moments_of

    low, high = (float(v) for v in cell.offsets[:, 0])
    memory = np.empty((max(1, len(terms.weights)), MEMORY))
    log_scale, mass, e, second = moments_of(low, high, float(cell.position[0]), terms, memory)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    return _scaled(cell.position, log_scale, mass, np.array([e]), second)


def _exact_solid(cell: StarSolid, terms: GeneralTerms) -> Moments:
    from dwell._kernels.shells.pair import moments_of

    shell, *found = cell.found()
    log_scale, mass, x, y, z, polar = moments_of(*found, cell.position, terms, shell)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    e = np.array([x, y, z]) / mass
    return _scaled(cell.position, log_scale, mass, e, polar - mass * float(dots(e, e)))


def _scaled(
    position: Points, log_scale: float, mass: float, offset: Points, second: float
) -> Moments:
    scale, log_mass = math.exp(log_scale), math.log(mass) + log_scale
    return Moments(mass * scale, log_mass, position + offset, offset, second * scale)


def _interval(cell: StarInterval, density: Density) -> Moments:
    """By Gauss rules on more and more pieces, for densities that only Python can evaluate."""
    low, high = cell.offsets[:, 0]
    nodes, weights = _gauss(NODES)

    def by(pieces: int) -> Floats:
        width = (high - low) / pieces
        z = (low + width * (np.arange(pieces)[:, None] + nodes)).reshape(-1, 1)
        share = np.tile(width * weights, pieces) * density.at(cell.position + z)
        return _summed(share, z)

    return _until_agreed(by, PIECES, cell.position, high - low)


def _solid(cell: StarSolid, density: Density) -> Moments:
    """The same in space, by rays."""
    from dwell._kernels.shells.pair import rays_of

    shell, demands, borders, _ = cell.found()
    nodes, weights = _gauss(NODES)

    def by(parts: int) -> Floats:
        count = rays_of(demands, borders, parts, RAYS, shell, np.empty((0, 5)))
        rays = np.empty((count, 5))
        rays_of(demands, borders, parts, RAYS, shell, rays)
        total = np.zeros(5)
        for few in np.array_split(rays, max(1, count // 20000)):
            r = few[:, 3:4] * nodes
            share = few[:, 4:5] * few[:, 3:4] * weights * r * r
            z = (r[..., None] * few[:, None, :3]).reshape(-1, 3)
            total += _summed(share.reshape(-1) * density.at(cell.position + z), z)
        return total

    return _until_agreed(by, PARTS, cell.position, cell.diameter)


def _summed(share: Floats, z: Points) -> Floats:
    """Mass, first moments and polar moment of weighted points."""
    return np.array([share.sum(), *(share[:, None] * z).sum(axis=0), (share * dots(z, z)).sum()])


def _until_agreed(
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


def _gauss(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(count)
    return 0.5 * (1.0 + x), 0.5 * w
