"""Convex solids to be drawn: cells in space, and workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from dwell._types import Points
from dwell.errors import AgentsError
from dwell.geometry import Curved, Polytope, Workspace
from dwell.geometry.polyhedra import Polyhedron, cells
from dwell.plotting.outlines import on_ellipsoid

ROUND = 400  # corners of the solid that stands for a ball in pictures


@final
@dataclass(frozen=True, eq=False)
class Face:
    """A flat piece of a solid's boundary, counter-clockwise seen from outside."""

    ring: Points  # (k, 3)
    smooth: bool  # part of a curved boundary, whose seams are not shown


def solid_cells(workspace: Workspace, positions: Points) -> list[list[Face]] | None:
    """The faces of every agent's cell; None where two agents coincide."""
    curved = isinstance(workspace, Curved)
    try:
        found = cells(polyhedron_of(workspace), positions)
    except AgentsError:
        return None
    return [
        [
            Face(cell.vertices[loop], smooth=curved and int(border) < 0)
            for loop, border in zip(cell.faces or (), cell.borders, strict=True)
        ]
        for cell in found
    ]


def polyhedron_of(workspace: Workspace) -> Polyhedron:
    """The workspace with flat faces: a curved one with so many that it appears round."""
    if isinstance(workspace, Curved):
        return _rounded(workspace)
    return workspace


@lru_cache(maxsize=8)
def _rounded(workspace: Curved) -> Polyhedron:
    """Corners spread evenly over the boundary along a spiral."""
    k = np.arange(ROUND) + 0.5
    height = 1.0 - 2.0 * k / ROUND
    angle = k * np.pi * (3.0 - np.sqrt(5.0))
    wide = np.sqrt(1.0 - height * height)
    sphere = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), height])
    return Polytope(vertices=on_ellipsoid(workspace, sphere))
