"""A camera far away: points of space on a sheet, without perspective, so lengths keep their scale.

Voronoi cells seen from one side never hide each other in a circle: the plane between two agents
has one on each side, so the one whose agent is nearer to the camera is never behind. Cells drawn
in the order of their agents, farthest first, are therefore in the right order, always.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.geometry import Flat, Workspace, is_flat
from dwell.plotting.maps import is_slim

AZIMUTH = -60.0
AZIMUTHS = (AZIMUTH, -40.0, -25.0, -75.0, 30.0, 55.0)  # alternatives
LARGE = 0.1  # of the boundary: facets that should not be seen edge-on
EDGE_ON = 0.15  # cosine between a facet's normal and the direction to the camera
ELEVATION = 22.0


@final
@dataclass(frozen=True, eq=False)
class Camera:
    """Directed at `middle`, from azimuth and elevation in degrees; `unit` is 1 on the sheet."""

    middle: Floats  # (3,)
    unit: Floats  # (3,) all the same, unless the workspace is too slim to be drawn to scale
    azimuth: float = AZIMUTH
    elevation: float = ELEVATION

    @cached_property
    def axes(self) -> Floats:
        """Unit vectors to the right, up, and towards the camera, one per row."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        ca, sa, ce, se = math.cos(a), math.sin(a), math.cos(e), math.sin(e)
        return np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])

    def on_sheet(self, points: Points) -> Points:
        """Points (..., 3) on the sheet, (..., 2)."""
        flat: Points = ((points - self.middle) / self.unit) @ self.axes[:2].T
        return flat

    def nearness(self, points: Points) -> Floats:
        """What orders agents from the farthest to the nearest, also where the picture is skew."""
        near: Floats = (points - self.middle) @ (self.axes[2] * self.unit)
        return near

    def faces_us(self, ring: Points) -> bool:
        """Whether a face, counter-clockwise seen from outside, is seen from outside."""
        arms = self.on_sheet(ring[1:]) - self.on_sheet(ring[:1])
        x, y = arms.T
        return bool((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() > 0.0)


def camera_for(
    workspace: Workspace, azimuth: float | None = None, elevation: float = ELEVATION
) -> Camera:
    """A camera directed at the middle of the workspace, with its longest side 1.

    From `AZIMUTH`, unless a large facet would be seen edge-on from there.
    """
    lower, upper = workspace.bounds
    size = upper - lower
    unit = size if is_slim(workspace) else np.full(3, size.max())
    middle = 0.5 * (lower + upper)
    if azimuth is None:
        azimuth = azimuth_for(workspace)
    return Camera(middle, unit, azimuth, elevation)


def azimuth_for(workspace: Workspace) -> float:
    """The first azimuth from which no large facet is seen edge-on."""
    if not is_flat(workspace):
        return AZIMUTH
    normals = _large_facets(workspace)
    seen = [float(np.abs(normals @ _towards(azimuth)).min(initial=1.0)) for azimuth in AZIMUTHS]
    good = [azimuth for azimuth, least in zip(AZIMUTHS, seen, strict=True) if least >= EDGE_ON]
    return good[0] if good else AZIMUTHS[int(np.argmax(seen))]


def _towards(azimuth: float) -> Floats:
    towards: Floats = Camera(np.zeros(3), np.ones(3), azimuth).axes[2]
    return towards


def _large_facets(workspace: Flat) -> Points:
    """Unit normals of the facets that are a good part of the boundary."""
    vertices = np.asarray(workspace.vertices)
    rings = [vertices[face] - vertices[face[0]] for face in workspace.faces]
    vectors = np.array([np.cross(ring[1:-1], ring[2:]).sum(axis=0) for ring in rings])
    areas = lengths(vectors)
    large = areas >= LARGE * areas.sum()
    found: Points = vectors[large] / areas[large, None]
    return found
