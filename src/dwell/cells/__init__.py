"""Voronoi cells of agents: construction, moments under a density, facets."""

from dwell.cells.guaranteed import star_moments
from dwell.cells.measurement import Moments
from dwell.cells.moments import moments
from dwell.cells.shares import power_weights
from dwell.cells.tessellation import Tessellation, tessellate

__all__ = ["Moments", "Tessellation", "moments", "power_weights", "star_moments", "tessellate"]
