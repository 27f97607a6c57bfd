"""Workspaces and cells, as values."""

from typing import Any, TypeGuard

from dwell._compatibility import Feature, of_dimension
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

Flat = Interval | Polygon | Box | Polytope
Curved = Ball | Ellipsoid
Convex = Flat | Curved
Workspace = Convex | Region


def as_workspace(region: object) -> Workspace:
    """`region` if it is a workspace; else the polygon with these vertices."""
    return region if isinstance(region, Workspace) else Polygon(region)


def polygon_of(workspace: Workspace) -> Polygon:
    """Planar workspace as a polygon; of a region, its hull."""
    return workspace.hull.polygon


def interval_of(workspace: Workspace) -> Interval:
    """One-dimensional workspace as an interval, whatever its class."""
    return workspace.hull.interval


def is_flat(workspace: Convex) -> TypeGuard[Flat]:
    """Whether all facets are flat, so that it has vertices: true of a ball on the line."""
    return workspace.hull.flat


def is_polygonal(workspace: Convex) -> bool:
    """Whether it is a flat-sided part of the plane."""
    return is_flat(workspace) and is_planar(workspace)


def is_planar(workspace: Workspace) -> bool:
    """Whether it is a part of the plane."""
    return workspace.dimension == 2


def shape_of(workspace: Workspace) -> frozenset[Feature]:
    """The features of a workspace that decide what goes with it."""
    found = {of_dimension(workspace.dimension)}
    if not is_flat(workspace.hull):
        found.add(Feature.CURVED)
    if workspace.mask is not None:
        found.add(Feature.REGION)
    if workspace.stay:
        found.add(Feature.STAY)
    return frozenset(found)


def words_of(workspace: Workspace) -> dict[str, Any]:
    """The words of sentences about a workspace."""
    return {"workspace": type(workspace).__name__, "n": workspace.dimension}


__all__ = [
    "Ball",
    "Box",
    "Cell",
    "Convex",
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
    "is_planar",
    "is_polygonal",
    "polygon_of",
    "voronoi_cells",
]
