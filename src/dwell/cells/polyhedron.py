"""Measurements and facets of cells in space, by the kernels of polyhedra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dwell._kernels.common.cell_table import LOG_SCALE, MASS, STATUS, WIDTH
from dwell._types import Floats, Ints, Points
from dwell.cells.facets import Borders, as_borders
from dwell.cells.measurement import CellMeasurements, Loop, errors_in, in_blocks, measurements_of
from dwell.cells.weighted_region import WeightedRegion
from dwell.geometry import Flat
from dwell.geometry.polyhedra import grid_of, numbers_in, pays, solid_of
from dwell.geometry.voronoi import first_coincidence

if TYPE_CHECKING:
    from dwell._kernels.space.memory import BinGrid

BLOCK = 128  # cells that a thread takes at a time: each takes tens of microseconds


def measure(
    ground: WeightedRegion, places: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> CellMeasurements:
    """Measure the cell of agent[k] in configuration row[k] of `places`, (rows, agents, 3).

    Where many cells of one configuration are measured, agents are sorted into bins first, so that
    the time per cell does not depend on the number of agents.
    """
    from dwell._kernels.space import measure as kernel
    from dwell._kernels.space.memory import make_memory

    row, agent = np.asarray(row, dtype=np.int64), np.asarray(agent, dtype=np.int64)
    solid, terms = solid_of(cast(Flat, ground.workspace)), cast(Any, ground.terms)
    out = np.empty((len(row), WIDTH))

    def fill(picks: Ints, measure: Any, grid: BinGrid | None, *which: Floats | Ints) -> None:
        found = np.empty((len(picks), WIDTH))

        def work(lo: int, hi: int) -> None:
            # One bin, overwritten with each row, unless they are sorted.
            own = grid_of(places[0], measurements=1) if grid is None else grid
            memory = make_memory(places.shape[1], solid)
            measure(lo, hi, *which, solid, own, terms, found, memory)

        in_blocks(work, len(picks), threads, BLOCK)
        out[picks] = found

    crowded = pays(places.shape[1], np.bincount(row, minlength=len(places)))
    for r in np.flatnonzero(crowded):
        picks = np.flatnonzero(row == r)
        grid = grid_of(places[r], measurements=len(picks))
        number = numbers_in(grid)[agent[picks]]
        order = np.argsort(number, kind="stable")  # neighbours follow each other
        fill(picks[order], kernel.measure_many, grid, number[order])
    picks = np.flatnonzero(~crowded[row])
    if len(picks):
        coordinates = (np.ascontiguousarray(places[..., k]) for k in range(3))
        fill(picks, kernel.measure_rows, None, row[picks], agent[picks], *coordinates)
    return measurements_of(out, 3)


def loop(
    ground: WeightedRegion, now: float, cruise: float, row: Floats, radii: Floats | None
) -> Loop:
    """The event loop for agents that move as `row` says, from time `now` on."""
    from dwell._kernels.space.engine import SpaceMemory, run_events
    from dwell._kernels.space.memory import make_memory
    from dwell._kernels.space.neighbors import FEW, make_grid, put_all

    assert radii is None
    agents, solid = len(row), solid_of(cast(Flat, ground.workspace))
    grid = make_grid(agents, agents > FEW)
    put_all(now, cruise, row, grid)
    return run_events, solid, SpaceMemory(grid, make_memory(agents, solid), np.empty(WIDTH))


def borders(ground: WeightedRegion, positions: Points, *, agents: int | None = None) -> Borders:
    """Integrate over the facets of the cells of `positions`, (N, 3), or of the first `agents`."""
    from dwell._kernels.common.status import COINCIDENT, NO_MASS
    from dwell._kernels.space import measure as kernel
    from dwell._kernels.space.memory import make_memory

    points = np.ascontiguousarray(positions, dtype=np.float64)
    count = len(points) if agents is None else agents
    solid, grid = solid_of(cast(Flat, ground.workspace)), grid_of(points, measurements=count)
    numbers, memory = numbers_in(grid)[:count], make_memory(len(points), solid)
    found, most = np.empty((count, WIDTH)), 20 * count + 16
    filled = kernel.FULL
    while filled == kernel.FULL:
        rows = np.empty((most, kernel.FACET_COLUMNS))
        filled = kernel.facets_of(0, count, numbers, solid, grid, ground.terms, found, rows, memory)
        most *= 2
    status = found[:, STATUS]
    if (status == COINCIDENT).any():
        raise first_coincidence(points)
    rows = rows[:filled]
    agent, other = grid.order[rows[:, : kernel.M].astype(np.int64)].T
    mass, log_scale = found[:, MASS], found[:, LOG_SCALE]
    error, shared = errors_in(found, 3), (agent, other, rows[:, kernel.M :])
    return as_borders(points, mass, log_scale, error, status == NO_MASS, shared)
