"""Workspaces and cells, as values."""

from typing import TypeGuard

from dwell.geometry.box import Box
from dwell.geometry.cell import Cell, VoronoiCell
from dwell.geometry.convex import Interval, Polygon
from dwell.geometry.ellipsoid import Ball, Ellipsoid
from dwell.geometry.guaranteed import (
    Star,
    StarCell,
    StarInterval,
    dual_guaranteed_cell,
    guaranteed_cell,
)
from dwell.geometry.guaranteed_region import StarRegion
from dwell.geometry.moving import MovingPolygon
from dwell.geometry.polytope import Polytope
from dwell.geometry.region import Part, Region
from dwell.geometry.voronoi import voronoi_cells

Flat = Interval | Polygon | Box | Polytope | Region
Curved = Ball | Ellipsoid
Workspace = Flat | Curved


def as_workspace(region: object) -> Workspace:
    """`region` if it is a workspace; else the polygon with these vertices."""
    return region if isinstance(region, Workspace) else Polygon(region)


def polygon_of(workspace: Workspace) -> Polygon:
    """Planar workspace as a polygon."""
    return workspace.polygon


def interval_of(workspace: Workspace) -> Interval:
    """One-dimensional workspace as an interval, whatever its class."""
    return workspace.interval


def is_flat(workspace: Workspace) -> TypeGuard[Flat]:
    """Whether all facets are flat, so that it has vertices: false of a ball on the line."""
    return isinstance(workspace, Flat)


__all__ = [
    "Ball",
    "Box",
    "Cell",
    "Curved",
    "Ellipsoid",
    "Flat",
    "Interval",
    "MovingPolygon",
    "Part",
    "Polygon",
    "Polytope",
    "Region",
    "Star",
    "StarCell",
    "StarInterval",
    "StarRegion",
    "VoronoiCell",
    "Workspace",
    "as_workspace",
    "dual_guaranteed_cell",
    "guaranteed_cell",
    "interval_of",
    "is_flat",
    "polygon_of",
    "voronoi_cells",
]
