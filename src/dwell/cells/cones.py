"""Voronoi cells in balls and ellipsoids, integrated by cones over their facets.

A cell is the union of cones from one apex over its flat facets and over its patch of the sphere:
see dwell._kernels.star. Constants, polynomials and Gaussian components are integrated by kernels.
Functions are evaluated at quadrature nodes of two orders; where these differ, the cell is cut by a
plane through its middle. In four and more dimensions rays take the place of cones: see `rays`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells import rays
from dwell.cells.ball_cell import BallCell, as_borders, root_of, seen_from
from dwell.cells.parts import DEEPEST, moments_by_parts
from dwell.density.borders import Borders
from dwell.density.ground import Ground
from dwell.density.looking import Looks, in_blocks
from dwell.density.tessellation import first_coincidence
from dwell.density.uniform import Uniform
from dwell.geometry import Box, Workspace, polyhedra
from dwell.geometry.cell_shape import Measure
from dwell.geometry.voronoi import coincident

BLOCK = 32  # cells handed to a thread at a time
MARGIN = 0.0625  # the box round the ellipsoid is larger by this share of its size
USUAL = 96  # planes that there is room for, at first
ON_FACET = 14  # nodes each way on a facet, for functions
UPPER = np.triu_indices(3)
UNCUT = np.zeros((0, 4))  # half-spaces of a cell that is not cut into parts


def looks(
    ground: Ground, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """Moments of the cells of agent[k] in configuration row[k] of `positions` (R, N, n)."""
    if ground.dimension > 3:
        return rays.looks(ground, positions, row, agent)
    from dwell._kernels.star.ball import COLUMNS

    row, agent = np.asarray(row, dtype=np.int64), np.asarray(agent, dtype=np.int64)
    places = np.asarray(positions, dtype=np.float64)
    order, out = np.argsort(row, kind="stable"), np.zeros((len(row), COLUMNS))
    crowds = {int(r): Crowd(ground.workspace, places[r]) for r in np.unique(row)}

    def work(lo: int, hi: int) -> None:
        picks = order[lo:hi]
        for some in np.split(picks, np.flatnonzero(np.diff(row[picks])) + 1):
            if len(some):
                out[some] = _measured(ground, crowds[int(row[some[0]])], agent[some])

    in_blocks(work, len(row), threads, block=max(1, min(BLOCK, len(row) // 8)))
    return _as_looks(ground, places[row, agent], out)


class Crowd:
    """Agents at `points` in an ellipsoid, sorted by bins: what threads share."""

    def __init__(self, workspace: Workspace, points: Points) -> None:
        from dwell._kernels.star.buffers import Frame

        root = root_of(workspace)
        self.points = np.ascontiguousarray(points)
        self.frame = Frame(root.center, root.matrix)
        self.inverse = np.linalg.inv(root.matrix)
        self.solid = polyhedra.solid_of(box_round(workspace))
        self.grid = polyhedra.grid_of(self.points, looks=len(points))
        self.number = polyhedra.numbers_in(self.grid)


class Workbench:
    """The kernels of one thread, with their buffers, for the cells of a crowd."""

    def __init__(self, crowd: Crowd, planes: int = USUAL) -> None:
        from dwell._kernels.space.memory import make_memory
        from dwell._kernels.star.buffers import make_boundary

        self.crowd = crowd
        self.planes = min(planes, len(crowd.points)) + DEEPEST + 8
        self.memory = make_memory(len(crowd.points) + DEEPEST, crowd.solid)
        self.boundary = make_boundary(self.planes, len(self.memory.x))

    @property
    def given(self) -> tuple[Any, ...]:
        """What the kernels take before the half-spaces of a part."""
        return self.crowd.solid, self.crowd.grid, self.crowd.frame

    def larger(self) -> Workbench:
        """A workbench with more room."""
        return Workbench(self.crowd, 4 * self.planes)

    def measured(self, terms: Any, agents: Ints) -> Floats:
        """Rows of measurements: see dwell._kernels.star.ball."""
        from dwell._kernels.star.ball import COLUMNS, CROWDED, STATUS, measure_many

        out = np.zeros((len(agents), COLUMNS))
        measure_many(
            0, len(agents), self.crowd.number[agents], *self.given, UNCUT, terms, self.memory,
            self.boundary, out,
        )  # fmt: skip
        lacking = out[:, STATUS] == CROWDED
        if lacking.any():
            out[lacking] = self.larger().measured(terms, agents[lacking])
        return out

    def nodes(self, count: int, agent: int, parts: Floats) -> Floats:
        """Quadrature nodes of a cell as rows (place from the agent, weight)."""
        from dwell._kernels.star.ball import nodes_of_cell
        from dwell._kernels.star.facets import FULL

        out = np.empty((40 * count**3, 4))
        while True:
            filled = nodes_of_cell(
                count, self.crowd.number[agent], *self.given, parts, self.memory, self.boundary, out
            )
            if filled == FULL:
                return self.larger().nodes(count, agent, parts)
            if filled <= len(out):
                return out[:filled]
            out = np.empty((filled, 4))

    def facets(self, agent: int) -> tuple[int, Ints, Ints, Workbench]:
        """(status, agents behind its facets, agents compared with, the workbench that has it)."""
        from dwell._kernels.star.ball import CROWDED, facets_of
        from dwell._kernels.star.buffers import BEHIND

        status, count, compared = facets_of(
            self.crowd.number[agent], *self.given, UNCUT, self.memory, self.boundary
        )
        if status == CROWDED:
            return self.larger().facets(agent)
        behind = self.boundary.facet[:count, BEHIND].astype(np.int64)
        order = self.crowd.grid.order
        return status, order[behind], order[self.memory.seen[:compared]], self


def _measured(ground: Ground, crowd: Crowd, agents: Ints) -> Floats:
    """Rows of measurements of cells in one configuration."""
    from dwell._kernels.star import ball as kernel

    bench = Workbench(crowd)
    if ground.terms is not None:
        return bench.measured(ground.terms, agents)
    out = bench.measured(Uniform().general_terms(3), agents)
    for row, p in zip(out, agents, strict=True):
        if row[kernel.STATUS] == 0.0:
            part = moments_by_parts(ground.density, bench, int(p))
            row[kernel.STATUS] = 0.0 if part.mass > 0.0 else kernel.NO_MASS
            row[kernel.ERROR : kernel.ERROR + 3] = part.centroid
            row[kernel.MASS], row[kernel.SPREAD] = part.mass, part.spread
            unsure = math.inf if part.error > 0.0 else 0.0
            row[kernel.DOUBT] = part.error / part.mass if part.mass > 0.0 else unsure
    return out


def _as_looks(ground: Ground, places: Points, out: Floats) -> Looks:
    from dwell._kernels.space.cells import COINCIDENT
    from dwell._kernels.star import ball as kernel

    column = np.ascontiguousarray(out.T)
    error = np.ascontiguousarray(out[:, kernel.ERROR : kernel.ERROR + 3])
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
        polar=spread + mass * (error * error).sum(axis=1),
        neighbors=column[kernel.NEIGHBORS].astype(np.int64),
        nearest=np.sqrt(np.where(squared >= 0.0, squared, np.inf)),
        second=spread,
        doubt=column[kernel.DOUBT],
    )


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[BallCell]:
    """The cells of `agents` (all, by default) among `positions` (N, n)."""
    points = np.ascontiguousarray(positions, dtype=np.float64)
    chosen = np.arange(len(points)) if agents is None else np.array(list(agents), dtype=np.int64)
    if points.shape[1] > 3:
        return rays.cells(workspace, points, chosen)
    bench = Workbench(Crowd(workspace, points))
    return [_cell(workspace, points, int(p), bench) for p in chosen]


def _cell(workspace: Workspace, points: Points, p: int, bench: Workbench) -> BallCell:
    from dwell._kernels.space.cells import COINCIDENT

    status, behind, compared, _ = bench.facets(p)
    if status == COINCIDENT:
        raise coincident(p, int(compared[-1]), points[p])
    others = np.sort(behind)
    normals = points[others] - points[p]
    gaps = 0.5 * (normals * normals).sum(axis=1)
    return BallCell(p, points[p], others, normals, gaps, compared, workspace, status != 0)


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
    ground = Ground(cell.workspace, Uniform(), Uniform().general_terms(n))
    seen = looks(ground, points[None], *np.zeros((2, 1), dtype=np.int64))
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
    bench, rows = Workbench(Crowd(ground.workspace, points)), []
    for p in chosen:
        _, behind, _, full = bench.facets(int(p))
        for f, q in enumerate(behind):
            moments = _facet_moments(ground, full, f, points[p], float(seen.log_scale[p]))
            rows.append((int(p), int(q), moments))
    return as_borders(points, seen, rows)


def _facet_moments(
    ground: Ground, bench: Workbench, f: int, place: Points, log_scale: float
) -> Floats:
    """Moments 1, z and the upper half of z z' over facet f of the cell on the workbench."""
    from dwell._kernels.star import ball as kernel
    from dwell._kernels.star.buffers import FIRST, LAST

    inverse = bench.crowd.inverse
    upper = tuple(float(v) for v in inverse[UPPER])
    if ground.terms is None:
        first, last = bench.boundary.facet[f, FIRST], bench.boundary.facet[f, LAST]
        out = np.empty((int(last - first) * ON_FACET**2, 4))
        kernel.nodes_of_facet(ON_FACET, f, upper, bench.boundary, out)
        z = out[:, :3] @ inverse.T
        w = out[:, 3] * ground.density.at(place + z)
        m0, m1, m2 = w.sum(), w @ z, np.einsum("k,ki,kj->ij", w, z, z)
    else:
        sums = np.zeros(10)
        center = tuple(float(v) for v in place)
        kernel.facet_moments(f, center, log_scale, upper, ground.terms, bench.boundary, sums)
        m0, m1, m2 = sums[0], inverse @ sums[1:4], np.zeros((3, 3))
        m2[UPPER] = m2.T[UPPER] = sums[4:]
        m2 = inverse @ m2 @ inverse.T
    return np.concatenate([[m0], m1, m2[UPPER]])


def box_round(workspace: Workspace) -> Box:
    """A box that clearly holds the workspace."""
    lower, upper = workspace.bounds
    return _larger_box(tuple(lower.tolist()), tuple(upper.tolist()))


@lru_cache(maxsize=32)
def _larger_box(lower: tuple[float, ...], upper: tuple[float, ...]) -> Box:
    low, high = np.array(lower), np.array(upper)
    margin = MARGIN * (high - low)
    return Box(low - margin, high + margin)
