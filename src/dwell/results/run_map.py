"""A small map of a run at its end, for notebooks."""

from __future__ import annotations

import numpy as np

from dwell.cells.small_map import small_map
from dwell.geometry import is_planar
from dwell.results.details import Details
from dwell.results.worlds import WorldAt

POINTS = 120  # of a path


def map_of(kept: Details) -> str:
    """Return the agents at the end with their cells and their paths as SVG.

    Cells of agents with different sensors overlap, and are left out.
    """
    if not is_planar(kept.system.workspace):
        return ""
    world = WorldAt.of(kept.system, kept.horizon)
    places = kept.at_the_end.positions[0][world.agents]
    ways = []
    if kept.table is not None:
        times = np.linspace(0.0, kept.horizon, POINTS)
        ways = list(kept.snapshots_at(times).positions[:, world.agents].swapaxes(0, 1))
    radii = kept.system.radii
    return small_map(
        world.workspace, places, ways, cells=not kept.system.sensors,
        radius=None if radii is None else radii[world.agents],
    )  # fmt: skip
