"""Where a density meets a workspace: is it positive enough to divide by?"""

from __future__ import annotations

import numpy as np

from dwell._types import Points
from dwell.density.base import Density
from dwell.errors import DensityError
from dwell.geometry import Workspace

SAMPLES = 65  # lattice points per side of the bounding box


def check_density(density: Density, workspace: Workspace) -> None:
    """Refuse a density that is negative, not finite, or zero all over `workspace`.

    Looks at a lattice of points and the corners; Gaussians and constants are positive by
    construction, so only polynomials and Python functions can fail.
    """
    points = _probes(workspace)
    with np.errstate(all="ignore"):
        values = density.at(points)
    for bad, code, need in (
        (~np.isfinite(values), "density.nonfinite", "it must be a finite number everywhere"),
        (values < 0.0, "density.negative", "it must not be negative anywhere in the workspace"),
    ):
        if bad.any():
            k = int(np.argmin(np.where(bad, values, np.inf))) if code.endswith("negative") else 0
            k = k if code.endswith("negative") else int(np.argmax(bad))
            raise DensityError(
                f"the density is {values[k]:g} at {points[k].tolist()}; {need}",
                code=code,
                key="density",
            )
    if not (values > 0.0).any() and density.terms() is None:
        raise DensityError(
            "the density is zero at every place looked at in the workspace; agents could not tell "
            "where to go: give some part of the workspace a positive weight",
            code="density.zero",
            key="density",
        )


def _probes(workspace: Workspace) -> Points:
    lower, upper = workspace.bounds
    x, y = (np.linspace(a, b, SAMPLES) for a, b in zip(lower, upper, strict=True))
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    inside = points[workspace.contains(points)]
    middle = workspace.vertices.mean(axis=0, keepdims=True)
    return np.vstack([workspace.vertices, middle, inside])
