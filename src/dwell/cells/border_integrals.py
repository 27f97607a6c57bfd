"""Integrals over one cell and along its border, on the line and in the plane."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.cells.polygon_moments import polygon_moments
from dwell.cells.simplices import weigh_function
from dwell.density.base import Density, general_terms_of
from dwell.density.gaussian import Gaussian
from dwell.density.polynomial import Polynomial
from dwell.density.raster import Raster
from dwell.errors import DensityError
from dwell.geometry import Cell


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


class BorderIntegrals(NamedTuple):
    """What the rate of a centroid needs of one cell."""

    # The logarithm of the mass over a cell, and the centroid seen from its agent.
    weigh: Callable[[Cell, Density], tuple[float, Points]]
    # Moments over exp(log_mass) along all edges of a cell; on the line, at its two ends.
    edges: Callable[[Cell, Density, float], Edges]
    # The integral of a change, of either sign, times (z - about) over a cell.
    first_moment: Callable[[Cell, Polynomial | Raster, Points], Points]


def _log_mass(log_scale: float, mass: float) -> float:
    return math.log(mass) + log_scale if mass > 0.0 else -math.inf


# On the line.


def _weigh_interval(cell: Cell, density: Density) -> tuple[float, Points]:
    from dwell._kernels.line import cells as kernel

    if cell.empty:
        return -math.inf, np.zeros(1)
    general = general_terms_of(density, 1)
    if general is None:
        whole = weigh_function(density, cell.position, cell.offsets[None])
        return _log_mass(whole.log_scale, whole.mass), whole.error
    memory = np.empty((len(general.weights), kernel.MEMORY))
    ends = map(float, (*cell.offsets[:, 0], cell.position[0]))
    log_scale, mass, middle, _ = kernel.moments_of(*ends, general, memory)
    return _log_mass(log_scale, mass), np.array([middle])


def _ends_of_interval(cell: Cell, density: Density, log_mass: float) -> Edges:
    assert isinstance(density, Gaussian)
    z = cell.offsets
    away = (cell.position[0] - density.center[0]) + z[:, 0]
    log_values = math.log(density.weight) - density.matrix[0, 0] * away * away
    value = np.exp(log_values - log_mass)
    ends = np.array([[-1.0], [1.0]])
    return Edges(ends, value, value[:, None] * z, (value[:, None] * z * z)[:, :, None])


def _first_moment_of_interval(cell: Cell, change: Polynomial | Raster, about: Points) -> Points:
    assert isinstance(change, Polynomial)
    nodes, weights = np.polynomial.legendre.leggauss(change.degree // 2 + 2)
    low, high = cell.offsets[:, 0]
    z = low + 0.5 * (1.0 + nodes) * (high - low)
    values: Any = weights * (z - about[0]) * change.at((cell.position[0] + z)[:, None])
    return np.array([0.5 * (high - low) * math.fsum(values)])


ON_LINE = BorderIntegrals(_weigh_interval, _ends_of_interval, _first_moment_of_interval)


# In the plane.


def _weigh_polygon(cell: Cell, density: Density) -> tuple[float, Points]:
    if cell.empty:
        return -math.inf, np.zeros(2)
    terms = density.terms()
    if terms is None:
        found = polygon_moments(cell.offsets, cell.position, density)
        return found.log_mass, found.offset
    log_scale, mass, *first = _planar_moments(cell, terms, np.zeros(2))
    e = np.array(first) / mass if mass > 0.0 else np.zeros(2)
    return _log_mass(log_scale, mass), e


def _edges_of_polygon(cell: Cell, density: Density, log_mass: float) -> Edges:
    from dwell._kernels.polygon.region_moments import borders_of

    terms, z = density.terms(), cell.offsets
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


def _first_moment_of_polygon(cell: Cell, change: Polynomial | Raster, about: Points) -> Points:
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


IN_PLANE = BorderIntegrals(_weigh_polygon, _edges_of_polygon, _first_moment_of_polygon)
