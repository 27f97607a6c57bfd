"""Cells in space: measurements, cells and facets by the kernels of polyhedra."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells.facets import Borders, as_borders
from dwell.cells.measurement import Looks, in_blocks, looks_of
from dwell.cells.weighted_region import WeightedRegion
from dwell.geometry import Cell, Flat, Workspace, is_flat, polyhedra
from dwell.geometry.voronoi import first_coincidence

if TYPE_CHECKING:
    from dwell._kernels.space.memory import Grid, Solid

BLOCK = 128  # cells that a thread takes at a time: each takes tens of microseconds


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[Cell]:
    """The cells of `agents` (all, by default) among `positions`, (N, 3)."""
    return polyhedra.cells(_flat(workspace), positions, agents)


def looks(
    ground: WeightedRegion, places: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """Measure the cell of agent[k] in configuration row[k] of `places`, (rows, agents, 3).

    Where many cells of one configuration are measured, agents are sorted into bins first, so that
    the time per cell does not depend on the number of agents.
    """
    from dwell._kernels.space import look as kernel
    from dwell._kernels.space.rules import TOLERANCE

    row, agent = np.asarray(row, dtype=np.int64), np.asarray(agent, dtype=np.int64)
    solid = polyhedra.solid_of(_flat(ground.workspace))
    out = np.empty((len(row), kernel.COLUMNS))
    counts = np.bincount(row, minlength=len(places))
    crowded = polyhedra.pays(places.shape[1], counts)
    for r in np.flatnonzero(crowded):
        _in_one(ground, solid, places[r], np.flatnonzero(row == r), agent, out, threads)
    _one_by_one(ground, solid, places, np.flatnonzero(~crowded[row]), row, agent, out, threads)
    column, terms = np.ascontiguousarray(out.T), cast(Any, ground.terms)
    # Constants and polynomials are integrated to rounding, Gaussians to a proven bound.
    doubt = np.full(len(out), TOLERANCE) if len(terms.weights) else None
    error, second = column[kernel.EX : kernel.EZ + 1].T, column[kernel.SPREAD]
    polar, neighbors = column[kernel.POLAR], column[kernel.NEIGHBORS]
    return looks_of(column, kernel, error, polar, neighbors, second, doubt)


def _in_one(
    ground: WeightedRegion, solid: Solid, points: Points, picks: Ints, agent: Ints, out: Floats,
    threads: int | None,
) -> None:  # fmt: skip
    """Measurements `picks`, all in the configuration `points`; neighbours follow each other."""
    from dwell._kernels.space import doors
    from dwell._kernels.space.memory import make_memory

    grid = polyhedra.grid_of(points, looks=len(picks))
    number = polyhedra.numbers_in(grid)[agent[picks]]
    order = np.argsort(number, kind="stable")
    number, found = number[order], np.empty((len(picks), out.shape[1]))

    def work(lo: int, hi: int) -> None:
        memory = make_memory(len(points), solid)
        doors.look_many(lo, hi, number, solid, grid, ground.terms, found, memory)

    in_blocks(work, len(picks), threads, BLOCK)
    out[picks[order]] = found


def _one_by_one(
    ground: WeightedRegion, solid: Solid, places: Points, picks: Ints, row: Ints, agent: Ints,
    out: Floats, threads: int | None,
) -> None:  # fmt: skip
    """Measurements `picks`, each in a configuration of its own."""
    from dwell._kernels.space import doors
    from dwell._kernels.space.memory import make_memory

    if not len(picks):
        return
    x, y, z = (np.ascontiguousarray(places[..., k]) for k in range(3))
    rows, agents, found = row[picks], agent[picks], np.empty((len(picks), out.shape[1]))

    def work(lo: int, hi: int) -> None:
        memory = make_memory(x.shape[1], solid)
        grid = polyhedra.one_bin(places[0])
        terms = ground.terms
        doors.look_around(lo, hi, rows, agents, x, y, z, solid, grid, terms, found, memory)

    in_blocks(work, len(picks), threads, BLOCK)
    out[picks] = found


def borders(ground: WeightedRegion, positions: Points, *, agents: int | None = None) -> Borders:
    """All borders of the tessellation by `positions`, (N, 3); of its first `agents` cells only.

    They are faces.
    """
    from dwell._kernels.marks import COINCIDENT, NO_MASS
    from dwell._kernels.space import look as kernel

    points = np.ascontiguousarray(positions, dtype=np.float64)
    count = len(points) if agents is None else agents
    grid = polyhedra.grid_of(points, looks=count)
    found, rows = _border_rows(ground, grid, polyhedra.numbers_in(grid)[:count])
    if (found[:, kernel.STATUS] == COINCIDENT).any():
        raise first_coincidence(points)
    agent, other = (grid.order[rows[:, k].astype(np.int64)] for k in (0, 1))
    mass, log_scale = found[:, kernel.MASS], found[:, kernel.LOG_SCALE]
    error = found[:, kernel.EX : kernel.EZ + 1]
    empty = found[:, kernel.STATUS] == NO_MASS
    return as_borders(points, mass, log_scale, error, empty, (agent, other, rows[:, 2:]))


def _border_rows(ground: WeightedRegion, grid: Grid, numbers: Ints) -> tuple[Floats, Floats]:
    """What each agent sees, and its borders, by agents' numbers in the grid."""
    from dwell._kernels.space import doors
    from dwell._kernels.space.look import COLUMNS
    from dwell._kernels.space.memory import make_memory

    solid = polyhedra.solid_of(_flat(ground.workspace))
    memory = make_memory(len(grid.x), solid)
    room = 20 * len(numbers) + 16
    while True:
        found, rows = np.empty((len(numbers), COLUMNS)), np.empty((room, doors.BORDER_COLUMNS))
        filled = doors.borders_of(
            0, len(numbers), numbers, solid, grid, ground.terms, found, rows, memory
        )
        if filled != doors.FULL:
            return found, rows[:filled]
        room *= 2


def _flat(workspace: Workspace) -> Flat:
    assert is_flat(workspace)
    return workspace
