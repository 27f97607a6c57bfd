"""Outlines of planar regions, ready to be drawn; arcs as many short chords."""

from __future__ import annotations

from typing import Any

import numpy as np

from dwell._types import Floats, Points
from dwell.cells import cones, polygon
from dwell.errors import AgentsError
from dwell.geometry import Curved, Workspace, is_flat

PER_TURN = 720  # chords of a whole ellipse: in print, indistinguishable from an arc


def outline_of(workspace: Workspace) -> Points:
    """The boundary of a planar workspace as a closed ring, (k, 2)."""
    if not isinstance(workspace, Curved):
        return workspace.vertices
    angle = np.linspace(0.0, 2.0 * np.pi, PER_TURN, endpoint=False)
    return on_ellipsoid(workspace, np.column_stack([np.cos(angle), np.sin(angle)]))


def on_ellipsoid(workspace: Curved, directions: Points) -> Points:
    """Points of the boundary of a ball or an ellipsoid, from unit vectors (k, n)."""
    sizes: Floats = np.asarray(workspace.semi_axes)
    points: Points = np.asarray(workspace.center) + (directions * sizes) @ workspace.axes
    return points


def cell_rings(workspace: Workspace, positions: Points) -> list[Points] | None:
    """The Voronoi cells of planar agents as rings; None where two agents coincide."""
    try:
        if is_flat(workspace):
            flat = polygon.cells(workspace, positions)
            return [cell.vertices for cell in flat if len(cell.offsets)]
        curved: Any = cones.cells(workspace, positions)
        return [cell.outline(PER_TURN) for cell in curved if not cell.empty]
    except AgentsError:
        return None
