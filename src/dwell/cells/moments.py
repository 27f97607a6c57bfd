"""Mass, centroid and second moment of a density over one region."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.measurement import Moments
from dwell.density.base import Density, as_density
from dwell.geometry import Workspace, as_workspace, is_polygonal, polygon_of

THIN = 0.01  # area over squared diameter below which rounding of the corners matters


def moments(region: Workspace | object, density: Density | object = None) -> Moments:
    """Mass, centroid and second moments of a density over a region.

    Parameters
    ----------
    region : workspace or array_like
        Any workspace, or the vertices of a convex polygon.
    density : density or callable, optional
        The weight of points; uniform by default.

    Returns
    -------
    Moments
        `mass`, `centroid`, second moments, and `error`, the relative error of the mass.

    Examples
    --------
    >>> import dwell
    >>> dwell.moments([(0, 0), (2, 0), (2, 1), (0, 1)]).centroid.tolist()
    [1.0, 0.5]
    """
    from dwell.density.support import check_density, rounding_of, rounding_of_sides
    from dwell.density.uniform import Uniform

    workspace = as_workspace(region)
    weight = Uniform() if density is None else as_density(density)
    check_density(weight, workspace)
    if workspace.mask is not None or not is_polygonal(workspace.hull):
        return _of_only_agent(workspace, weight)
    polygon = polygon_of(workspace)
    origin = polygon.vertices[0]
    offsets = polygon.vertices - origin
    thin = polygon.area < THIN * polygon.diameter**2
    fan = exact_fan(polygon.vertices) if thin else None
    found = polygon_moments(offsets, origin, weight, fan)
    error = math.inf
    if found.log_mass > -math.inf:
        rounding = rounding_of(weight, workspace, origin[None], np.array([found.log_mass]))
        error = max(found.error, float(rounding[0]))
        square = np.array([(offsets**2).sum(axis=1).max()])
        sides = rounding_of_sides(weight, np.array([polygon.area]), square)
        error = max(error, float(sides[0]))
    return replace(found, error=error)


def _of_only_agent(workspace: Workspace, density: Density) -> Moments:
    """All of a workspace is the cell of an agent that is alone in it."""
    from dwell.cells.tessellation import tessellation_of
    from dwell.cells.weighted_region import weighted_region

    lower, upper = workspace.bounds
    middle = workspace.nearest((lower + 0.5 * (upper - lower))[None])
    found = tessellation_of(weighted_region(workspace, density), middle)
    mass, log_mass = float(found.masses[0]), float(found.log_masses[0])
    second, error = float(found.second_moments[0]), float(found.mass_errors[0])
    return Moments(mass, log_mass, found.centroids[0], found.errors[0], second, error)


def exact_fan(vertices: Points) -> Floats:
    """Cross products of neighbouring corners seen from the first one, without rounding.

    Corners of a needle seen from one of them are rounded by more than its width allows.
    """
    points = [(Fraction(float(x)), Fraction(float(y))) for x, y in vertices]
    ox, oy = points[0]
    local = [(x - ox, y - oy) for x, y in points]
    after = [*local[1:], local[0]]
    return np.array([float(a * d - b * c) for (a, b), (c, d) in zip(local, after, strict=True)])


def polygon_moments(
    offsets: Points, origin: Points, density: Density, fan: Floats | None = None
) -> Moments:
    """Moments over the convex polygon `origin + offsets`.

    `fan` are the cross products of neighbouring offsets, if they are known with more digits.
    """
    from dwell._kernels.polygon.buffers import make_scratch
    from dwell._kernels.polygon.entry_points import moments_of

    terms, n = density.terms(), len(offsets)
    if terms is None:
        return _adaptive(offsets, origin, density)
    scratch = make_scratch(1, n)

    def about(x: float, y: float) -> tuple[float, float, float, float, float]:
        scratch.x[:n], scratch.y[:n] = offsets.T
        if fan is not None:
            scratch.fan[:n] = fan
        found: tuple[float, float, float, float, float] = moments_of(
            n, *map(float, origin), terms, x, y, fan is not None, scratch
        )
        return found

    _, mass, fx, fy, _ = about(0.0, 0.0)
    if mass <= 0.0:
        return _weightless(offsets, origin)
    ex, ey = fx / mass, fy / mass
    log_scale, _, _, _, second = about(ex, ey)
    scale = math.exp(log_scale)
    e = np.array([ex, ey])
    return Moments(mass * scale, math.log(mass) + log_scale, origin + e, e, second * scale)


def _weightless(offsets: Points, origin: Points) -> Moments:
    middle = offsets.mean(axis=0)
    return Moments(0.0, -math.inf, origin + middle, middle, 0.0)


def _adaptive(offsets: Points, origin: Points, density: Density) -> Moments:
    from dwell.cells.simplices import polygon_pieces, weigh

    found = weigh(density, None, origin, polygon_pieces(offsets, np.arange(len(offsets))))
    if not found.mass > 0.0:
        return replace(_weightless(offsets, origin), error=found.doubt)
    e = found.error
    return Moments(found.mass, math.log(found.mass), origin + e, e, found.second, found.doubt)
