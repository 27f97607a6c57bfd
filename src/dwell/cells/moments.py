"""Mass, centroid and second moment of a density over one region."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dwell.cells.measurement import Moments
from dwell.cells.polygon_moments import exact_fan, polygon_moments
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
