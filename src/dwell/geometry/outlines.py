"""Outlines of planar workspaces."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Points
from dwell.geometry import Convex, Curved, Workspace

PER_TURN = 720  # chords of a whole ellipse: in print, indistinguishable from an arc


def boundary_rings(workspace: Workspace) -> list[Points]:
    """The boundary of a planar workspace as closed rings, (k, 2) each: those of holes as well."""
    return [outline_of(workspace.hull)] if workspace.mask is None else list(workspace.mask.rings)


def outline_of(workspace: Convex) -> Points:
    """The boundary of a convex planar workspace as a closed ring, (k, 2)."""
    if not isinstance(workspace, Curved):
        return workspace.vertices
    angle = np.linspace(0.0, 2.0 * np.pi, PER_TURN, endpoint=False)
    return on_ellipsoid(workspace, np.column_stack([np.cos(angle), np.sin(angle)]))


def on_ellipsoid(workspace: Curved, directions: Points) -> Points:
    """Points of the boundary of a ball or an ellipsoid, from unit vectors (k, n)."""
    sizes: Floats = np.asarray(workspace.semi_axes)
    points: Points = np.asarray(workspace.center) + (directions * sizes) @ workspace.axes
    return points
