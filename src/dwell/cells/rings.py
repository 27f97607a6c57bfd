"""Cells of planar agents as rings."""

from __future__ import annotations

from typing import Any

from dwell._types import Floats, Points
from dwell.cells import cones, polygon
from dwell.cells.power import power_cells
from dwell.errors import AgentsError
from dwell.geometry import Workspace, is_flat
from dwell.geometry.outlines import PER_TURN


def cell_rings(
    workspace: Workspace,
    positions: Points,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> list[Points] | None:
    """The cells of planar agents as rings; None where two agents coincide."""
    try:
        if radius is not None:
            found: Any = power_cells(workspace, positions, radius=radius)
            return [cell.outline(PER_TURN) for cell in found if not cell.empty]
        if weights is not None:
            cut = power_cells(workspace, positions, weights=weights)
            return [cell.vertices for cell in cut if not cell.empty]
        if is_flat(workspace):
            flat = polygon.cells(workspace, positions)
            return [cell.vertices for cell in flat if len(cell.offsets)]
        curved: Any = cones.cells(workspace, positions)
        return [cell.outline(PER_TURN) for cell in curved if not cell.empty]
    except AgentsError:
        return None
