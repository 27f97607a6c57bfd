"""Moments of a density over a guaranteed cell or its dual."""

from __future__ import annotations

import math

import numpy as np

from dwell._kernels.common.quadrature import rule
from dwell._types import Floats
from dwell.cells.adaptive import Integral, error_of, integrate
from dwell.cells.guaranteed_space import cell_moments, nothing
from dwell.cells.moments import Moments
from dwell.density.base import Density, as_density
from dwell.geometry import Star, StarCell

NODES, LOBATTO = 12, 7  # each way, of the rules of Gauss and of Lobatto
RELATIVE = 1e-11  # error of the mass that is aimed at
MOST = 4_000  # patches


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
    from dwell.density.uniform import Uniform

    weight = Uniform() if density is None else as_density(density)
    if not isinstance(cell, StarCell):
        return cell_moments(cell, weight)
    if cell.empty:
        return nothing(cell.position, 0.0)
    return _exact(cell, weight) if weight.terms() is not None else _adaptive(cell, weight)


def _exact(cell: StarCell, density: Density) -> Moments:
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
    second = about(x, y)[4]
    scale = math.exp(log_scale)
    offset = np.array([x, y])
    log_mass = math.log(mass) + log_scale
    return Moments(mass * scale, log_mass, cell.position + offset, offset, second * scale)


def _adaptive(cell: StarCell, density: Density) -> Moments:
    found = _integrate(cell, density)
    mass, fx, fy, polar = (float(v) for v in found.values)
    if mass <= 0.0:
        return nothing(cell.position, math.inf if found.errors[0] > 0.0 else 0.0)
    offset = np.array([fx, fy]) / mass
    second = polar - mass * float(offset[0] * offset[0] + offset[1] * offset[1])
    error = float(found.errors[0]) / mass
    return Moments(mass, math.log(mass), cell.position + offset, offset, second, error)


def _integrate(cell: StarCell, density: Density) -> Integral:
    """Moments about the agent.

    A patch is (curve, w0, w1, r0, r1): the points r z(w), where z(w) runs along the boundary and r
    from the agent (0) to there (1).
    """
    curves, patches = _first_patches(cell)
    reach = float(np.abs(cell.offsets).max())
    return integrate(
        (patches,),
        lambda pieces: _estimates(cell, density, curves, pieces[0]),
        lambda pieces: (_halved(curves, pieces[0]),),
        np.array([1.0, reach, reach, reach * reach]),
        RELATIVE,
        MOST,
    )


def _first_patches(cell: StarCell) -> tuple[Floats, Floats]:
    """The curves' table and one patch per panel, quartered so as not to look too coarsely."""
    from dwell._kernels.polygon.guaranteed import panels_of
    from dwell._kernels.polygon.guaranteed_envelope import W0, W1, make_envelope

    env = make_envelope(len(cell.radii), len(cell.workspace.vertices))
    n = panels_of(*cell.kernel_arguments(), env)
    ends = np.zeros(n), np.ones(n)
    patches = np.column_stack([env.owner[:n], env.panels[:n, W0], env.panels[:n, W1], *ends])
    return env.curves, _halved(env.curves, _halved(env.curves, patches))


def _boundary(curves: Floats, owner: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
    """x, y and (z x dz / dw) of curve owner[k] at w[k, :]."""
    from dwell._kernels.polygon.guaranteed_envelope import EX, EY, A, B, F

    rows = curves[owner.astype(np.int64)][:, :, None]
    s = np.sqrt(1.0 + w * w)
    along, across = rows[:, F] - rows[:, A] * s, rows[:, B] * w
    x = rows[:, EX] * along - rows[:, EY] * across
    y = rows[:, EY] * along + rows[:, EX] * across
    return x, y, rows[:, B] * (rows[:, F] - rows[:, A] / s)


def _halved(curves: Floats, patches: Floats) -> Floats:
    """Each patch as two, across its longer direction."""
    x, y, _ = _boundary(curves, patches[:, 0], patches[:, 1:3])
    around = patches[:, 4] * np.hypot(x[:, 1] - x[:, 0], y[:, 1] - y[:, 0])
    along = (patches[:, 4] - patches[:, 3]) * np.hypot(x, y).max(axis=1)
    first = np.where(along > around, 3, 1)  # the column of the interval to halve
    rows = np.arange(len(patches))
    middle = 0.5 * (patches[rows, first] + patches[rows, first + 1])
    low, high = patches.copy(), patches.copy()
    low[rows, first + 1] = middle
    high[rows, first] = middle
    return np.concatenate([low, high])


Rule = tuple[Floats, Floats]  # nodes and weights on [0, 1]


def _estimates(
    cell: StarCell, density: Density, curves: Floats, patches: Floats
) -> tuple[Floats, Floats]:
    fine = _by_rule(cell, density, curves, patches, rule("legendre", NODES))
    other = _by_rule(cell, density, curves, patches, rule("lobatto", LOBATTO))
    return fine, error_of(fine, other)


def _by_rule(
    cell: StarCell, density: Density, curves: Floats, patches: Floats, rule: Rule
) -> Floats:
    """(patches, 4) moments about the agent by one rule in both directions."""
    nodes, weights = rule
    owner, w0, w1, r0, r1 = patches.T
    x, y, turn = _boundary(curves, owner, w0[:, None] + (w1 - w0)[:, None] * nodes)
    r = r0[:, None] + (r1 - r0)[:, None] * nodes
    zx, zy = r[:, :, None] * x[:, None, :], r[:, :, None] * y[:, None, :]
    points = cell.position + np.stack([zx, zy], axis=-1).reshape(-1, 2)
    value = density.at(points).reshape(zx.shape)
    value *= (r * weights * (r1 - r0)[:, None])[:, :, None]
    value *= (turn * weights * (w1 - w0)[:, None])[:, None, :]
    parts = (value, value * zx, value * zy, value * (zx * zx + zy * zy))
    return np.stack([part.sum(axis=(1, 2)) for part in parts], axis=1)
