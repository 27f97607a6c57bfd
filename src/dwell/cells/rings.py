"""Cells of planar agents as rings."""

from __future__ import annotations

from dwell._types import Floats, Points
from dwell.cells.backend import cells_of
from dwell.cells.polygon import CellSequence
from dwell.errors import AgentsError
from dwell.geometry import Workspace
from dwell.geometry.outlines import PER_TURN


def cell_rings(
    workspace: Workspace,
    positions: Points,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> list[Points] | None:
    """The cells of planar agents as rings; None where two agents coincide."""
    try:
        cells = cells_of(workspace, positions, radius=radius, weights=weights)
    except AgentsError:
        return None
    if isinstance(cells, CellSequence):
        return cells.rings()
    return [cell.outline(PER_TURN) for cell in cells if not cell.empty]
