"""Moments of a density over a guaranteed cell or its dual."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dwell._kernels.common.quadrature import rule
from dwell._types import Floats, Points, dots, lengths
from dwell.cells.adaptive import Boxes, halved, moments_of_function
from dwell.cells.curved import space_terms
from dwell.cells.moments import Moments
from dwell.density.base import Density, as_density, general_terms_of
from dwell.density.uniform import Uniform
from dwell.geometry import Star, StarCell, StarInterval, StarRegion

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms

AGREEMENT = 1e-9  # of the mass: two rules that differ by less are believed
PIECES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)  # of an interval, rule after rule
PARTS = {2: (1, 2, 4, 8, 16, 32), 3: (1, 2, 3, 5)}  # of each sector, rule after rule
NODES = 12
AT_ONCE = 20000  # rays


def star_moments(cell: Star, density: Density | object = None) -> Moments:
    """Mass, centroid and second moment of `density` (uniform by default) over `cell`.

    The offset is that of the centroid from the cell's agent. Densities that have terms are
    integrated to within rounding on the line and in polygons, elsewhere with an estimate of the
    mass's relative error (about 1e-8, in balls and ellipsoids of space 1e-6). Any other function is
    integrated adaptively, also with an estimate.

    >>> from dwell.geometry import Box, guaranteed_cell
    >>> cell = guaranteed_cell(Box((0, 0), (2, 1)), (0.5, 0.5), [(1.5, 0.5)], 0.0)
    >>> round(star_moments(cell).mass, 12)
    1.0
    """
    weight = Uniform() if density is None else as_density(density)
    if cell.empty:
        return nothing(cell.position, 0.0)
    if isinstance(cell, StarCell):
        return _in_polygon(cell, weight) if weight.terms() is not None else _boxed(cell, weight)
    if isinstance(cell, StarInterval):
        line = general_terms_of(weight, 1)
        return _by_pieces(cell, weight) if line is None else _on_line(cell, line)
    terms = space_terms(weight, len(cell.position))
    return _by_parts(cell, weight) if terms is None else _in_region(cell, terms)


def nothing(position: Points, error: float) -> Moments:
    """The moments of an empty cell."""
    return Moments(0.0, -math.inf, position.copy(), np.zeros(len(position)), 0.0, error)


def _scaled(
    position: Points, log_scale: float, mass: float, offset: Points, second: float
) -> Moments:
    scale, log_mass = math.exp(log_scale), math.log(mass) + log_scale
    return Moments(mass * scale, log_mass, position + offset, offset, second * scale)


def _in_polygon(cell: StarCell, density: Density) -> Moments:
    from dwell._kernels.polygon.guaranteed import star_moments_of
    from dwell._kernels.polygon.guaranteed_envelope import make_envelope

    env = make_envelope(len(cell.radii), len(cell.workspace.vertices))
    terms = density.terms()

    def about(x: float, y: float) -> tuple[float, float, float, float, float]:
        found: tuple[float, float, float, float, float] = star_moments_of(
            *cell.kernel_arguments(), terms, x, y, env
        )
        return found

    log_scale, mass, fx, fy, _ = about(0.0, 0.0)
    if mass <= 0.0:
        return nothing(cell.position, 0.0)
    x, y = fx / mass, fy / mass
    return _scaled(cell.position, log_scale, mass, np.array([x, y]), about(x, y)[4])


def _boxed(cell: StarCell, density: Density) -> Moments:
    """By boxes (t, r): points r z(t) of a piece of the boundary from the agent (0) to there (1)."""
    from dwell._kernels.polygon.guaranteed import panels_of
    from dwell._kernels.polygon.guaranteed_envelope import W0, W1, make_envelope
    from dwell._kernels.star.rules import NODES as AT
    from dwell._kernels.star.rules import WEIGHTS

    env = make_envelope(len(cell.radii), len(cell.workspace.vertices))
    n = panels_of(*cell.kernel_arguments(), env)
    table = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], (n, 1))
    table[:, 0] = env.owner[:n]
    table[:, 2:4] = env.panels[:n, [W0, W1]]

    def nodes(boxes: Floats, rule: int, count: int) -> Floats:
        at, weights = AT[rule, :count], WEIGHTS[rule, :count]
        w0, w1, r0, r1 = (boxes[:, k, None] for k in (2, 3, 6, 7))
        x, y, turn = _boundary(env.curves, boxes[:, 0], w0 + (w1 - w0) * at)
        r = r0 + (r1 - r0) * at
        out = np.zeros((len(boxes), count, count, 4))
        out[..., 0] = x[:, :, None] * r[:, None]
        out[..., 1] = y[:, :, None] * r[:, None]
        out[..., 3] = (turn * weights * (w1 - w0))[:, :, None]
        out[..., 3] *= (r * weights * (r1 - r0))[:, None]
        return out.reshape(len(boxes), -1, 4)

    boxes = Boxes(table, nodes)
    boxes = boxes._replace(table=halved(boxes, table, 2))
    mass, offset, second, error = moments_of_function(density, cell.position, boxes)
    if mass <= 0.0:
        return nothing(cell.position, math.inf if error > 0.0 else 0.0)
    return replace(_scaled(cell.position, 0.0, mass, offset[:2], second), error=error / mass)


def _boundary(curves: Floats, owner: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
    """x, y and (z x dz / dw) of curve owner[k] at w[k, :]."""
    from dwell._kernels.polygon.guaranteed_envelope import EX, EY, A, B, F

    rows = curves[owner.astype(np.int64)][:, :, None]
    s = np.sqrt(1.0 + w * w)
    along, across = rows[:, F] - rows[:, A] * s, rows[:, B] * w
    x = rows[:, EX] * along - rows[:, EY] * across
    y = rows[:, EY] * along + rows[:, EX] * across
    return x, y, rows[:, B] * (rows[:, F] - rows[:, A] / s)


def _on_line(cell: StarInterval, terms: GeneralTerms) -> Moments:
    from dwell._kernels.line.moments import MEMORY, moments_of

    low, high = (float(v) for v in cell.offsets[:, 0])
    memory = np.empty((max(1, len(terms.weights)), MEMORY))
    log_scale, mass, e, second = moments_of(low, high, float(cell.position[0]), terms, memory)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    return _scaled(cell.position, log_scale, mass, np.array([e]), second)


def _in_region(cell: StarRegion, terms: GeneralTerms) -> Moments:
    log_scale, mass, x, y, z, polar, error = cell.moments(terms)
    if not mass > 0.0:
        return nothing(cell.position, 0.0)
    e = np.array([x, y, z][: len(cell.position)]) / mass
    found = _scaled(cell.position, log_scale, mass, e, polar - mass * float(dots(e, e)))
    return replace(found, error=error / mass)


def _by_pieces(cell: StarInterval, density: Density) -> Moments:
    """By Gauss rules on more and more pieces, for densities that only Python can evaluate."""
    low, high = cell.offsets[:, 0]
    nodes, weights = rule("legendre", NODES)

    def by(pieces: int) -> Floats:
        width = (high - low) / pieces
        z = (low + width * (np.arange(pieces)[:, None] + nodes)).reshape(-1, 1)
        share = np.tile(width * weights, pieces) * density.at(cell.position + z)
        return _summed(share, z)

    return _until_agreed(by, PIECES, cell.position, high - low)


def _by_parts(cell: StarRegion, density: Density) -> Moments:
    """By points of the boundary and Gauss rules on the rays to them, more and more."""
    n = len(cell.position)
    nodes, weights = rule("legendre", NODES)

    def by(parts: int) -> Floats:
        table = cell.nodes(parts)
        total = np.zeros(n + 2)
        for few in np.array_split(table, 1 + len(table) // AT_ONCE):
            share = few[:, n:] * weights * nodes ** (n - 1)
            z = (nodes[:, None] * few[:, None, :n]).reshape(-1, n)
            total += _summed(share.reshape(-1) * density.at(cell.position + z), z)
        return total

    return _until_agreed(by, PARTS[n], cell.position, cell.rough_extent[0])


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
