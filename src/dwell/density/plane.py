"""Cells in a polygon: looks and cells by the planar kernels."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dwell._types import Ints, Points, columns, dots, lengths
from dwell.density.borders import Borders
from dwell.density.ground import Ground
from dwell.density.looking import Looks, in_blocks
from dwell.density.moments import polygon_moments
from dwell.geometry import Cell, Workspace, polygon_of, voronoi_cells


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[Cell]:
    """The cells of `agents` (all, by default) among `positions`, (N, 2)."""
    return voronoi_cells(polygon_of(workspace), positions, agents)


def borders(ground: Ground, positions: Points, *, agents: int | None = None) -> Borders:
    """All borders of the tessellation by `positions`; of its first `agents` cells only."""
    from dwell.density import plane_borders  # which stands on tessellations, and they on this

    return plane_borders.borders(ground, positions, agents=agents)


def looks(
    ground: Ground, places: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """agent[k] looks in configuration row[k] of `places`, (rows, agents, 2)."""
    if ground.terms is None:
        return _by_quadrature(ground, places, row, agent)
    from dwell._kernels import doors
    from dwell._kernels.cells import COINCIDENT
    from dwell._kernels.look import NO_MASS
    from dwell._kernels.scratch import make_scratch

    walls = columns(ground.workspace.vertices)
    x, y = (np.ascontiguousarray(places[..., k]) for k in range(2))
    out = np.empty((len(row), doors.COLUMNS))

    def work(lo: int, hi: int) -> None:
        memory = make_scratch(x.shape[1], len(walls[0]))
        doors.look_many(lo, hi, row, agent, x, y, *walls, ground.terms, out, memory)

    in_blocks(work, len(row), threads)
    column = np.ascontiguousarray(out.T)
    squared = column[doors.NEAREST]
    return Looks(
        met=column[doors.STATUS] == COINCIDENT,
        empty=column[doors.STATUS] == NO_MASS,
        error=column[doors.ERROR_X : doors.ERROR_Y + 1].T,
        log_scale=column[doors.LOG_SCALE],
        mass=column[doors.MASS],
        polar=column[doors.POLAR],
        neighbors=column[doors.NEIGHBORS].astype(np.int64),
        nearest=np.sqrt(np.where(squared >= 0.0, squared, np.inf)),
    )


def _by_quadrature(ground: Ground, places: Points, row: Ints, agent: Ints) -> Looks:
    """The same, look by look, for densities that only Python can evaluate."""
    count = len(row)
    met, empty = np.zeros((2, count), dtype=bool)
    error = np.zeros((count, ground.dimension))
    mass, polar, second, doubt, nearest = np.zeros((5, count))
    neighbors = np.zeros(count, dtype=np.int64)
    for k, (r, p) in enumerate(zip(row, agent, strict=True)):
        points = np.ascontiguousarray(places[r])
        others = np.delete(points, p, axis=0) - points[p]
        nearest[k] = lengths(others).min() if len(others) else np.inf
        met[k] = nearest[k] == 0.0
        if met[k]:
            continue
        cell = voronoi_cells(polygon_of(ground.workspace), points, [int(p)])[0]
        neighbors[k] = (cell.borders >= 0).sum()
        if len(cell.offsets):
            found = polygon_moments(cell.offsets, cell.position, ground.density)
            mass[k], error[k], doubt[k] = found.mass, found.offset, found.error
            second[k] = found.second_moment
            polar[k] = second[k] + mass[k] * dots(error[k], error[k])
        empty[k] = not mass[k] > 0.0
        if empty[k]:
            error[k] = ground.workspace.nearest(points[p : p + 1])[0] - points[p]
    none = np.zeros(count)
    return Looks(met, empty, error, none, mass, polar, neighbors, nearest, second, doubt)
