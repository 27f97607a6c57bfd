"""A workspace together with a density on it, as the kernels use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from dwell._kernels.common.density_terms import GeneralTerms, Terms
from dwell.cells.grid import lattice_terms
from dwell.density.base import Density, refuse_dimension, terms_of
from dwell.errors import DensityError
from dwell.geometry import Workspace, is_flat


@final
@dataclass(frozen=True, eq=False, slots=True)
class WeightedRegion:
    """A workspace and its density."""

    workspace: Workspace
    density: Density
    terms: Terms | GeneralTerms | None  # for the kernels; None if only Python can evaluate it

    @property
    def dimension(self) -> int:
        """Of the workspace."""
        return self.workspace.dimension


def weighted_region(
    workspace: Workspace, density: Density, spacing: float | None = None
) -> WeightedRegion:
    """Return `density` on `workspace`, integrated exactly or on a grid with this spacing."""
    refuse_dimension(density, workspace.dimension)
    if spacing is None:
        terms = terms_of(density, workspace.dimension)
        return WeightedRegion(workspace, density, terms)
    if workspace.dimension != 2 or not is_flat(workspace):
        raise DensityError(
            f"a {type(workspace).__name__} in {workspace.dimension} dimensions cannot be "
            "integrated on a grid of points, only a polygon; integrate exactly",
            code="integration.dimension",
            key="run.integration",
        )
    return WeightedRegion(workspace, density, lattice_terms(density, workspace, spacing))
