"""Voronoi cells in balls and ellipsoids, integrated by cones over their facets.

A cell is the union of cones from one apex over its flat facets and over its part of the curved
boundary: see dwell._kernels.star. Constants, polynomials and Gaussian components are integrated by
kernels, other densities by quadrature nodes handed to Python: see `functions`. In four and more
dimensions rays take the place of cones: see `rays`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells import rays
from dwell.cells.ball import BallCells, Configuration
from dwell.cells.ball_cell import BallCell, root_of, seen_from
from dwell.cells.disc import DiscCells, general_terms_of
from dwell.cells.disc_cell import CurvedCell
from dwell.cells.facets import Borders, as_borders
from dwell.cells.functions import Boxes, moments_of_function
from dwell.cells.ground import Ground
from dwell.cells.measurement import BLOCK, Looks, in_blocks
from dwell.density.uniform import Uniform
from dwell.geometry import Workspace
from dwell.geometry.cell_shape import Measure
from dwell.geometry.voronoi import first_coincidence

FEW = 32  # cells of space handed to a thread at a time


def looks(
    ground: Ground, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """Moments of the cells of agent[k] in configuration row[k] of `positions` (R, N, n)."""
    if ground.dimension > 3:
        return rays.looks(ground, positions, row, agent)
    from dwell._kernels.star.total import COLUMNS

    row, agent = np.asarray(row, dtype=np.int64), np.asarray(agent, dtype=np.int64)
    places = np.asarray(positions, dtype=np.float64)
    out = np.zeros((len(row), COLUMNS))
    if ground.dimension == 2:
        _measure_in_plane(ground, places, row, agent, out, threads)
    else:
        _measure_in_space(ground, places, row, agent, out, threads)
    return _as_looks(ground, places[row, agent], out)


def _measure_in_plane(
    ground: Ground, places: Points, row: Ints, agent: Ints, out: Floats, threads: int | None
) -> None:
    from dwell._kernels.star.total import STATUS

    x, y = (np.ascontiguousarray(places[..., k]) for k in range(2))
    known = ground if ground.terms is not None else uniform_on(ground.workspace)
    terms = general_terms_of(known)

    def work(lo: int, hi: int) -> None:
        cells = DiscCells(ground.workspace, x, y)
        out[lo:hi] = cells.measured(terms, row[lo:hi], agent[lo:hi])
        if ground.terms is None:
            for k in range(lo, hi):
                if out[k, STATUS] == 0.0:
                    boxes = cells.boxes_of(int(row[k]), int(agent[k]))
                    _put_function(ground, places[row[k], agent[k]], boxes, out[k])

    in_blocks(work, len(row), threads, block=BLOCK)


def _measure_in_space(
    ground: Ground, places: Points, row: Ints, agent: Ints, out: Floats, threads: int | None
) -> None:
    from dwell._kernels.star.total import STATUS

    order = np.argsort(row, kind="stable")
    configurations = {int(r): Configuration(ground.workspace, places[r]) for r in np.unique(row)}
    known = ground if ground.terms is not None else uniform_on(ground.workspace)

    def work(lo: int, hi: int) -> None:
        picks = order[lo:hi]
        for some in np.split(picks, np.flatnonzero(np.diff(row[picks])) + 1):
            if not len(some):
                continue
            cells = BallCells(configurations[int(row[some[0]])])
            out[some] = cells.measured(known.terms, agent[some])
            if ground.terms is None:
                for k in some[out[some, STATUS] == 0.0]:
                    boxes = cells.boxes_of(int(agent[k]))
                    _put_function(ground, places[row[k], agent[k]], boxes, out[k])

    in_blocks(work, len(row), threads, block=max(1, min(FEW, len(row) // 8)))


def _put_function(ground: Ground, place: Points, boxes: Boxes, row: Floats) -> None:
    """Replace the measurement of a uniform density by that of a function."""
    from dwell._kernels.star import total as kernel

    found = moments_of_function(ground.density, place, boxes)
    row[kernel.STATUS] = 0.0 if found.mass > 0.0 else kernel.NO_MASS
    row[kernel.ERROR : kernel.ERROR + 3] = found.centroid
    row[kernel.MASS], row[kernel.SPREAD] = found.mass, found.spread
    unsure = math.inf if found.error > 0.0 else 0.0
    row[kernel.DOUBT] = found.error / found.mass if found.mass > 0.0 else unsure


def uniform_on(workspace: Workspace) -> Ground:
    """A uniform density on a workspace."""
    density = Uniform()
    plane = workspace.dimension == 2
    terms = density.terms() if plane else density.general_terms(workspace.dimension)
    return Ground(workspace, density, terms)


def _as_looks(ground: Ground, places: Points, out: Floats) -> Looks:
    from dwell._kernels.marks import COINCIDENT
    from dwell._kernels.star import total as kernel

    column = np.ascontiguousarray(out.T)
    error = np.ascontiguousarray(out[:, kernel.ERROR : kernel.ERROR + ground.dimension])
    empty = column[kernel.STATUS] == kernel.NO_MASS
    if empty.any():
        error[empty] = ground.workspace.nearest(places[empty]) - places[empty]
    mass, spread, squared = (column[k] for k in (kernel.MASS, kernel.SPREAD, kernel.NEAREST))
    return Looks(
        met=column[kernel.STATUS] == COINCIDENT,
        empty=empty,
        error=error,
        log_scale=column[kernel.LOG_SCALE],
        mass=mass,
        polar=np.where(empty, 0.0, spread + mass * (error * error).sum(axis=1)),
        neighbors=column[kernel.NEIGHBORS].astype(np.int64),
        nearest=np.sqrt(np.where(squared >= 0.0, squared, np.inf)),
        second=spread,
        doubt=column[kernel.DOUBT],
    )


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[CurvedCell] | list[BallCell]:
    """The cells of `agents` (all, by default) among `positions` (N, n)."""
    points = np.ascontiguousarray(positions, dtype=np.float64)
    chosen = np.arange(len(points)) if agents is None else np.array(list(agents), dtype=np.int64)
    if points.shape[1] > 3:
        return rays.cells(workspace, points, chosen)
    if points.shape[1] == 2:
        planar = _disc_cells(workspace, points)
        return [planar.cell(int(p)) for p in chosen]
    found = BallCells(Configuration(workspace, points))
    return [found.cell(int(p)) for p in chosen]


def _disc_cells(workspace: Workspace, points: Points) -> DiscCells:
    """The cells of one planar configuration."""
    x, y = (np.ascontiguousarray(points[None, :, k]) for k in range(2))
    return DiscCells(workspace, x, y)


def measure_of(cell: BallCell) -> Measure:
    """Volume and middle of a cell."""
    n = len(cell.position)
    if cell.empty:
        return Measure(0.0, np.zeros(n))
    if n > 3:
        root = root_of(cell.workspace)
        a, _ = seen_from(root, cell.position)
        found = rays.weigh(rays.Region(cell.normals, cell.gaps, root.matrix, a), 1.0, rays.PAIRS)
        return Measure(found.mass, found.first / found.mass if found.mass > 0.0 else np.zeros(n))
    points = np.vstack([cell.position, cell.position + cell.normals])
    seen = looks(uniform_on(cell.workspace), points[None], *np.zeros((2, 1), dtype=np.int64))
    return Measure(float(seen.mass[0]), seen.error[0] if seen.mass[0] > 0.0 else np.zeros(n))


def borders(ground: Ground, positions: Points, *, agents: int | None = None) -> Borders:
    """All facets between the cells of `positions`, (N, n); of the first `agents` cells only."""
    points = np.ascontiguousarray(positions, dtype=np.float64)
    chosen = np.arange(len(points) if agents is None else agents)
    seen = looks(ground, points[None], np.zeros_like(chosen), chosen, threads=None)
    if seen.met.any():
        raise first_coincidence(points)
    if ground.dimension > 3:
        return rays.borders(ground, points, seen)
    found: DiscCells | BallCells = (
        _disc_cells(ground.workspace, points)
        if ground.dimension == 2
        else BallCells(Configuration(ground.workspace, points))
    )
    scales = seen.log_scale
    rows = [row for p in chosen for row in found.facets(ground, int(p), float(scales[p]))]
    return as_borders(points, seen.mass, scales, seen.error, seen.empty, rows)
