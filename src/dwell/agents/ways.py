"""Ways of agents that keep inside a region that is not convex."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dwell._types import Points
from dwell.cells.measurement import CellMeasurements
from dwell.geometry import Workspace


def on_ways(workspace: Workspace, seen: CellMeasurements, positions: Points) -> CellMeasurements:
    """The measurements with errors along the ways of agents that keep inside a region.

    positions : (K, 2) of the agents that were measured. The target of an agent is the point of its
    part of the region that is nearest to the centroid. The error points along the first straight
    stretch of the shortest path to it, and is as long as that path.
    """
    mask = workspace.mask
    if mask is None or not mask.stay:
        return seen
    error, stretch = seen.error.copy(), np.full(len(positions), np.inf)
    some = np.flatnonzero(~seen.coincident & ((seen.mass > 0.0) | seen.empty))
    part = mask.parts_at(positions[some])
    for number in np.unique(part):
        own = some[part == number]
        error[own], stretch[own] = mask.routes[number].ways(positions[own], error[own])
    return replace(seen, error=error, stretch=stretch)
