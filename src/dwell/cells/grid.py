"""Integration on a grid of points: the density's weight at each point of a lattice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Points
from dwell.density.base import Density
from dwell.errors import DensityError
from dwell.geometry import Workspace, polygon_of

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import Terms

MAX_POINTS = 50_000_000


def lattice_axes(workspace: Workspace, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the lattice: centres of squares of side `spacing` from the lower corner on."""
    lower, upper = workspace.bounds
    with np.errstate(over="ignore"):
        sides = np.floor((upper - lower) / spacing) + 1.0
        total = float(sides.prod())
    if total > MAX_POINTS:
        raise DensityError(
            f"a grid of spacing {spacing:g} has {total:.3g} points; at most {MAX_POINTS} "
            f"are handled: use a spacing of {np.sqrt(workspace.area / MAX_POINTS):.2g} or more",
            code="integration.spacing",
            key="run.integration.spacing",
        )
    counts = sides.astype(np.int64)
    x = lower[0] + 0.5 * spacing + spacing * np.arange(counts[0])
    y = lower[1] + 0.5 * spacing + spacing * np.arange(counts[1])
    return x, y


def lattice_terms(density: Density, workspace: Workspace, spacing: float) -> Terms:
    """Terms whose moments are sums over the lattice points in the workspace."""
    from dwell._kernels.common.density_terms import Terms

    x, y = lattice_axes(workspace, spacing)
    points: Points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    mask = workspace.mask
    inside = polygon_of(workspace).holds(points) if mask is None else mask.covers(points)
    weights = np.zeros(len(points))
    if inside.any():
        weights[inside] = density.at(points[inside]) * spacing**2
    if not (weights > 0.0).any():
        raise DensityError(
            f"no point of the grid of spacing {spacing:g} carries weight in a workspace "
            f"{workspace.diameter:g} across; use a smaller spacing",
            code="integration.spacing",
            key="run.integration.spacing",
        )
    return Terms(
        lattice=np.ascontiguousarray(weights.reshape(len(y), len(x))),
        frame=np.array([x[0], y[0], spacing]),
    )
