"""The time derivative of the centroid of a cell whose borders with other cells stay where they are.

With mass m, centroid c and the velocity v_b of the boundary of the workspace,

    m c' = int (z - c) phi' + int over the boundary of the workspace phi (z - c) (v_b . n).

A Gaussian that is carried by the field w(z) = u + B (z - center) and grows has, over the cell,

    int (z - c) phi' = int phi (w + (z - c) tr B) + growth int (z - c) phi - border (z - c)(w . n),

so that its mass and centroid, and its moments 1, z, z z' along the whole border are enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._compatibility import Feature, Need, refuse
from dwell._types import Floats, Points, lengths
from dwell.cells.backend import cells_of
from dwell.cells.moments import polygon_moments
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.base import Density, general_terms_of
from dwell.density.change import Added, Carried, changes_of
from dwell.density.gaussian import Gaussian
from dwell.density.polynomial import Polynomial
from dwell.density.raster import Raster
from dwell.errors import DensityError
from dwell.geometry import Cell, shape_of, words_of
from dwell.geometry.moving import MovingPolygon


@final
@dataclass(frozen=True, eq=False)
class Edges:
    """Moments of a density along the edges of a cell, seen from its agent and over its mass."""

    normal: Points  # (E, n) outward
    m0: Floats  # (E,)
    m1: Points  # (E, n)
    m2: Floats  # (E, n, n)

    def flux(self, level: Floats, slope: Points, about: Points) -> Points:
        """The integral of the density times (z - about)(level + slope . z), one row per edge."""
        through = level * self.m0 + (slope * self.m1).sum(axis=1)
        first = level[:, None] * self.m1 + (self.m2 * slope[:, None, :]).sum(axis=2)
        flux: Points = (first - about * through[:, None]).sum(axis=0)
        return flux


def centroid_rate(ground: WeightedRegion, positions: Points, agent: int, t: float) -> Points:
    """The derivative, from time t on, of the centroid of the cell of `agent`, (n,).

    ground : a region that may change over time.
    positions : (N, n); they count as fixed.
    """
    rate: Points = centroid_rates(ground, positions, t, [agent])[0]
    return rate


def centroid_rates(
    ground: WeightedRegion, positions: Points, t: float, agents: Sequence[int] | None = None
) -> Points:
    """The derivatives of the centroids of `agents` (all, by default), (K, n).

    0 for cells that weigh nothing.
    """
    features = shape_of(ground.workspace) | ({Feature.MOVING} if ground.moves else set())
    refuse(Need.FOLLOWING, features, **words_of(ground.workspace))
    who = range(len(positions)) if agents is None else agents
    n = ground.dimension
    changes = list(changes_of(ground.density, t))
    site = ground.boundary
    moving = None if site is None else _edge_rates(site, t)
    found = np.zeros((len(who), n))
    if not changes and (moving is None or not moving[1].any()):
        return found
    now = ground.at(t)
    cells: Sequence[Any] = cells_of(now.workspace, positions, who)
    for k, cell in enumerate(cells):
        found[k] = _rate(cell, now.density, changes, moving)
    return found


def _rate(
    cell: Cell,
    density: Density,
    changes: Sequence[Carried | Added],
    moving: tuple[Points, Points] | None,
) -> Points:
    n = len(cell.position)
    rate = np.zeros(n)
    log_mass, c = _weighed(cell, density)
    if not log_mass > -math.inf:
        return rate
    for part in changes:
        if isinstance(part, Carried):
            rate += _of_carried(cell, part, log_mass, c)
        else:
            rate += part.rate * _first_moment(cell, part.density, c) * math.exp(-log_mass)
    if moving is not None:
        rate += _of_boundary(cell, density, moving, log_mass, c)
    return rate


def _of_carried(cell: Cell, part: Carried, log_mass: float, c: Points) -> Points:
    own, center = _weighed(cell, part.density)
    share = math.exp(own - log_mass)
    b, away = part.stretch, np.array(part.density.center) - cell.position
    inside = part.velocity + (b * (center - away)).sum(axis=1)  # the mean of the field
    inside = inside + (float(np.trace(b)) + part.growth) * (center - c)
    edges = _edges(cell, part.density, log_mass)
    slope = (edges.normal[:, :, None] * b).sum(axis=1)
    level = (edges.normal * part.velocity).sum(axis=1) - (slope * away).sum(axis=1)
    rate: Points = share * inside - edges.flux(level, slope, c)
    return rate


def _of_boundary(
    cell: Cell, density: Density, moving: tuple[Points, Points], log_mass: float, c: Points
) -> Points:
    """Through edges of the workspace, whose velocity is linear along each of them."""
    corners, rates = moving
    edges = _edges(cell, density, log_mass)
    level, slope = np.zeros(len(edges.m0)), np.zeros_like(edges.m1)
    for k, label in enumerate(cell.borders):
        if label >= 0:
            continue
        a, b = -1 - label, -label % len(corners)
        along = corners[b] - corners[a]
        size = float(lengths(along))
        first, last = (float((rates[i] * edges.normal[k]).sum()) for i in (a, b))
        slope[k] = (last - first) / (size * size) * along
        level[k] = first + float((slope[k] * (cell.position - corners[a])).sum())
    return edges.flux(level, slope, c)


def _edge_rates(site: MovingPolygon, t: float) -> tuple[Points, Points]:
    """The vertices of a moving polygon in the order of its `Polygon`, and their velocities."""
    corners, raw = site.now(t).vertices, np.array(site.vertices.at(t))
    order = [int(np.argmin(lengths(raw - corner))) for corner in corners]
    return corners, site.rates(t)[order]


def _weighed(cell: Cell, density: Density) -> tuple[float, Points]:
    """The logarithm of the mass over a cell, and the centroid seen from its agent."""
    if cell.empty:
        return -math.inf, np.zeros(len(cell.position))
    if len(cell.position) == 2:
        terms = density.terms()
        if terms is None:
            found = polygon_moments(cell.offsets, cell.position, density)
            return found.log_mass, found.offset
        log_scale, mass, *first = _planar_moments(cell, terms, np.zeros(2))
        e = np.array(first) / mass if mass > 0.0 else np.zeros(2)
        return (math.log(mass) + log_scale if mass > 0.0 else -math.inf), e
    from dwell._kernels.line import cells as kernel
    from dwell.cells.simplices import weigh_function

    general = general_terms_of(density, 1)
    if general is None:
        whole = weigh_function(density, cell.position, cell.offsets[None])
        log_scale, mass, e = whole.log_scale, whole.mass, whole.error
    else:
        memory = np.empty((len(general.weights), kernel.MEMORY))
        ends = map(float, (*cell.offsets[:, 0], cell.position[0]))
        log_scale, mass, middle, _ = kernel.moments_of(*ends, general, memory)
        e = np.array([middle])
    return (math.log(mass) + log_scale if mass > 0.0 else -math.inf), e


def _edges(cell: Cell, density: Density, log_mass: float) -> Edges:
    """Moments over exp(log_mass) along all edges of a cell; on the line, at its two ends."""
    z = cell.offsets
    if len(cell.position) == 1:
        assert isinstance(density, Gaussian)
        away = (cell.position[0] - density.center[0]) + z[:, 0]
        log_values = math.log(density.weight) - density.matrix[0, 0] * away * away
        value = np.exp(log_values - log_mass)
        ends = np.array([[-1.0], [1.0]])
        return Edges(ends, value, value[:, None] * z, (value[:, None] * z * z)[:, :, None])
    from dwell._kernels.polygon.region_moments import borders_of

    terms = density.terms()
    if terms is None:
        raise DensityError(
            "the rate of a centroid in a workspace that moves is known for Gaussian, polynomial "
            "and uniform densities only; use a law without feed-forward",
            code="density.derivatives",
            key="controller.feedforward",
        )
    a, b = np.ascontiguousarray(z), np.roll(z, -1, axis=0)
    found = np.empty((len(z), 6))
    place, scale = np.array(cell.position, dtype=np.float64)[None], np.array([log_mass])
    borders_of(0, len(z), np.zeros(len(z), dtype=np.int64), a, b, place, scale, terms, found)
    step = b - a
    size = np.maximum(lengths(step), np.finfo(float).tiny)
    normal = np.column_stack([step[:, 1], -step[:, 0]]) / size[:, None]
    second = found[:, [3, 4, 4, 5]].reshape(-1, 2, 2)
    return Edges(normal, found[:, 0], found[:, 1:3], second)


def _first_moment(cell: Cell, change: Polynomial | Raster, about: Points) -> Points:
    """The integral of a raster, or a polynomial of either sign, times (z - about) over a cell."""
    if isinstance(change, Polynomial) and len(cell.position) == 1:
        nodes, weights = np.polynomial.legendre.leggauss(change.degree // 2 + 2)
        low, high = cell.offsets[:, 0]
        z = low + 0.5 * (1.0 + nodes) * (high - low)
        values: Any = weights * (z - about[0]) * change.at((cell.position[0] + z)[:, None])
        return np.array([0.5 * (high - low) * math.fsum(values)])
    _, _, fx, fy = _planar_moments(cell, change.terms(), about)
    return np.array([fx, fy])


def _planar_moments(cell: Cell, terms: Any, about: Points) -> tuple[float, float, float, float]:
    """Logarithm of the scale, mass, and first moments about a point, of a cell in the plane."""
    from dwell._kernels.polygon.buffers import make_scratch
    from dwell._kernels.polygon.entry_points import moments_of

    n = len(cell.offsets)
    scratch = make_scratch(1, n)
    scratch.x[:n], scratch.y[:n] = cell.offsets.T
    given = n, *map(float, cell.position), terms, *map(float, about)
    found: tuple[float, float, float, float] = moments_of(*given, False, scratch)[:4]
    return found
