"""Workspaces and cells, as values."""

from dwell.geometry.box import Box
from dwell.geometry.cell import Cell
from dwell.geometry.guaranteed import StarCell, dual_guaranteed_cell, guaranteed_cell
from dwell.geometry.polygon import Polygon
from dwell.geometry.voronoi import voronoi_cells

Workspace = Polygon | Box


def as_workspace(region: object) -> Workspace:
    """`region` if it is a workspace; else the polygon with these vertices."""
    return region if isinstance(region, Polygon | Box) else Polygon(region)


def polygon_of(workspace: Workspace) -> Polygon:
    """The same region as a polygon."""
    return workspace.polygon if isinstance(workspace, Box) else workspace


__all__ = [
    "Box",
    "Cell",
    "Polygon",
    "StarCell",
    "Workspace",
    "as_workspace",
    "dual_guaranteed_cell",
    "guaranteed_cell",
    "polygon_of",
    "voronoi_cells",
]
