"""Workspaces and cells, as values."""

from dwell.geometry.box import Box
from dwell.geometry.cell import Cell
from dwell.geometry.polygon import Polygon
from dwell.geometry.voronoi import voronoi_cells

Workspace = Polygon | Box

__all__ = ["Box", "Cell", "Polygon", "Workspace", "voronoi_cells"]
