"""Ground: a workspace and what matters in it, ready for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from dwell.cells.grid import lattice_terms
from dwell.density.base import Density, refuse_dimension
from dwell.errors import DensityError
from dwell.geometry import Workspace, is_flat

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms, Terms


@final
@dataclass(frozen=True, eq=False, slots=True)
class Ground:
    """What every agent knows from the beginning: the workspace and how much each place matters."""

    workspace: Workspace
    density: Density
    terms: Terms | GeneralTerms | None  # for the kernels; None if only Python can evaluate it

    @property
    def dimension(self) -> int:
        """Of the workspace."""
        return self.workspace.dimension


def ground_of(workspace: Workspace, density: Density, spacing: float | None = None) -> Ground:
    """`density` on `workspace`, integrated exactly or on a grid of points with this spacing."""
    refuse_dimension(density, workspace.dimension)
    if spacing is not None:
        _refuse_grid(workspace)
        return Ground(workspace, density, lattice_terms(density, workspace, spacing))
    if workspace.dimension == 2:
        return Ground(workspace, density, density.terms())
    general = getattr(density, "general_terms", None)
    terms = None if general is None else general(workspace.dimension)
    return Ground(workspace, density, terms)


def _refuse_grid(workspace: Workspace) -> None:
    if workspace.dimension != 2 or not is_flat(workspace):
        raise DensityError(
            f"a {type(workspace).__name__} in {workspace.dimension} dimensions cannot be "
            "integrated on a grid of points, only a polygon; integrate exactly",
            code="integration.dimension",
            key="run.integration",
        )
