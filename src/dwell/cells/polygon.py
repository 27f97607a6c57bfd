"""Cells in a polygon: measurements and outlines by the planar kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from dwell._kernels.common.cell_table import LOG_SCALE, MASS, PLANAR, STATUS
from dwell._types import Floats, Ints, Points, columns
from dwell.cells.facets import Borders, as_borders
from dwell.cells.measurement import (
    BLOCK,
    CellMeasurements,
    Loop,
    errors_in,
    in_blocks,
    measurements_of,
    of_one,
    one_per_thread,
)
from dwell.cells.power import (
    ARC,
    arc_moments,
    fill_table,
    power_cells,
    power_loop,
    power_of,
    power_outlines,
    scratch_for,
)
from dwell.cells.ranges import wide_radius
from dwell.cells.weighted_region import WeightedRegion, own_terms, weighted_region
from dwell.density.uniform import Uniform
from dwell.errors import DensityError
from dwell.geometry import Cell, Polygon, VoronoiCell, Workspace, polygon_of, voronoi_cells
from dwell.geometry.voronoi import first_coincidence

if TYPE_CHECKING:
    from dwell._kernels.polygon.box_tree import Tree
    from dwell._kernels.polygon.cell_list import SquareBins

FIRST = np.zeros(1, dtype=np.int64)  # the row of a single configuration
BLOCKS = 64  # of cells at most: more would cost more than they balance


def cells(
    workspace: Workspace,
    positions: Points,
    agents: Iterable[int] | None = None,
    *,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> Sequence[VoronoiCell]:
    """The cells of `agents` (all, by default) among `positions`, (N, 2); of a region, of its hull.

    No density is integrated; only where agents are many or have radii do areas come along.
    """
    from dwell._kernels.common.status import COINCIDENT
    from dwell._kernels.polygon.cell_list import FEW

    polygon = polygon_of(workspace)
    if radius is not None or weights is not None:
        return power_cells(polygon, positions, agents, radius=radius, weights=weights)
    if agents is not None:
        return voronoi_cells(polygon, positions, agents)
    if len(positions) <= FEW:
        few = _outlines_of_few(polygon, positions, len(positions), sharp=False)
        if len(few) < len(positions):
            raise first_coincidence(positions)
        return few
    table, many = _outlines_of_many(weighted_region(polygon, Uniform()), positions, sharp=False)
    if (table[:, STATUS] == COINCIDENT).any():
        raise first_coincidence(positions)
    return many


@final
@dataclass(frozen=True, eq=False)
class CellSequence(Sequence[Cell]):
    """The cells of all agents as flat arrays; a `Cell` is made when it is read."""

    positions: Points  # (N, 2)
    first: Ints  # (N + 1,) the first vertex of each cell
    vertices: Points  # (V, 2) relative to their agents
    behind: Ints  # (V,) what lies behind the edge after each vertex: see `Cell.borders`

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> Cell: ...

    @overload
    def __getitem__(self, index: slice) -> list[Cell]: ...

    def __getitem__(self, index: int | slice) -> Cell | list[Cell]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        p = range(len(self))[index]
        part = slice(self.first[p], self.first[p + 1])
        return Cell(p, self.positions[p], self.vertices[part], self.behind[part])

    @cached_property
    def agent(self) -> Ints:
        """The agent whose cell has each vertex, (V,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def rings(self) -> list[Points]:
        """The vertices of each cell that is not empty, in workspace coordinates."""
        corners = self.positions[self.agent] + self.vertices
        return [corners[a:b] for a, b in pairwise(self.first.tolist()) if a < b]

    @cached_property
    def ends(self) -> Points:
        """The vertex at the end of the edge after each vertex, (V, 2)."""
        after = np.arange(1, len(self.vertices) + 1)
        full = np.diff(self.first) > 0
        after[self.first[1:][full] - 1] = self.first[:-1][full]
        return self.vertices[after]


def outlines(
    ground: WeightedRegion, points: Points, count: int | None = None, *, sharp: bool = False
) -> tuple[Floats, CellSequence]:
    """The table of samples of the first `count` agents (all, by default), and at least their cells.

    `sharp` computes ill-conditioned vertices with twice the digits.
    """
    from dwell._kernels.common.status import COINCIDENT
    from dwell._kernels.polygon.cell_list import FEW

    count = len(points) if count is None else count
    if len(points) > FEW:
        table, cells = _outlines_of_many(ground, points, sharp=sharp)
        return table[:count], cells
    table = _table_of(ground, *of_one(points, np.arange(count)), np.zeros(1), 1, None)
    if (table[:, STATUS] == COINCIDENT).any():
        raise first_coincidence(points)
    return table, _outlines_of_few(polygon_of(ground.workspace), points, count, sharp=sharp)


def _outlines_of_many(
    ground: WeightedRegion, points: Points, *, sharp: bool
) -> tuple[Floats, CellSequence]:
    """The table of all agents' samples, and their cells."""
    x, y = columns(points)
    out = np.empty((len(x), PLANAR))
    parts: dict[int, tuple[Any, ...]] = {}
    who = _measure_all(ground, x, y, out, np.empty(0), None, (sharp, parts))
    ordered = [parts[lo] for lo in sorted(parts)]
    vertex, behind = (np.concatenate([part[k] for part in ordered]) for k in range(2))
    label, count = (np.concatenate([part[k] for part in ordered]) for k in (2, 3))
    first = np.zeros(len(x) + 1, dtype=np.int64)
    counts = np.empty(len(x), dtype=np.int64)
    counts[who] = count
    np.cumsum(counts, out=first[1:])
    begins = np.cumsum(count) - count  # in the order of bins
    where = np.empty(len(x), dtype=np.int64)
    where[who] = begins
    order = np.repeat(where - first[:-1], counts) + np.arange(len(vertex))
    return out, CellSequence(points, first, vertex[order], _named(points, behind, label)[order])


def _outlines_of_few(polygon: Polygon, points: Points, count: int, *, sharp: bool) -> CellSequence:
    """The first `count` cells among few agents, found without neighbour search.

    Only those before the first agent that stands at the place of another one.
    """
    from dwell._kernels.polygon import entry_points as kernel
    from dwell._kernels.polygon.buffers import own_scratch

    (x, y), boundary = columns(points), columns(polygon.vertices)
    memory = own_scratch(len(x), len(boundary[0]))
    shapes = kernel.make_outlines(count, count * (len(x) + len(boundary[0])), sharp)
    made = kernel.outline_few(count, x, y, *boundary, shapes, memory)
    first = np.concatenate([[0], np.cumsum(shapes.sizes[:made])])
    vertices = shapes.vertex[: first[-1]], shapes.label[: first[-1]]
    return CellSequence(points[:made], first, *(part.copy() for part in vertices))


def _named(points: Points, behind: Points, label: Ints) -> Ints:
    """Labels of edges; UNNAMED ones are replaced by the agent at the position `behind`."""
    from dwell._kernels.polygon.entry_points import UNNAMED

    unnamed = np.flatnonzero(label == UNNAMED)
    if len(unnamed):
        pairs = points, behind[unnamed]
        keys, sought = (np.ascontiguousarray(p).view(np.complex128)[:, 0] for p in pairs)
        order = np.argsort(keys)
        label[unnamed] = order[np.searchsorted(keys, sought, sorter=order)]
    return label


def measure(
    ground: WeightedRegion,
    places: Points,
    row: Ints,
    agent: Ints,
    *,
    threads: int | None = 1,
    times: Floats | None = None,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> CellMeasurements:
    """Measure the cell of agent[k] in configuration row[k] of `places`, (rows, agents, 2).

    times : (rows,) when each configuration is assumed, for densities that move.
    """
    when = np.zeros(len(places)) if times is None else times
    wide = wide_radius(radius, ground.workspace)
    if weights is not None or (radius is not None and wide is None):
        table = fill_table(ground, places, row, agent, power_of(radius, weights), threads, when)
        return measurements_of(table, 2, None, threads)
    return measurements_of(
        _table_of(ground, places, row, agent, when, threads, wide), 2, None, threads
    )


def row_of(ground: WeightedRegion, positions: Points, agent: int, t: float) -> Floats:
    """The row of one cell in the table of `measure`."""
    from dwell._kernels.polygon import buffers, cell_list
    from dwell._kernels.polygon import entry_points as kernel

    boundary, count = ground.once(_boundary), len(positions)
    x, y = np.ascontiguousarray(positions.T)[:, None]
    which = FIRST, np.array([agent]), np.array([t])
    out = np.empty((1, PLANAR))
    memory = buffers.own_scratch(count, len(boundary[0]))
    measure = kernel.measure_few if count <= cell_list.FEW else kernel.measure_many
    measure(0, 1, *which, x, y, *boundary, own_terms(ground), None, out, memory)
    row: Floats = out[0]
    return row


def _table_of(
    ground: WeightedRegion,
    places: Points,
    row: Ints,
    agent: Ints,
    times: Floats,
    threads: int | None,
    radius: float | None,
) -> Floats:
    """The table of the cells of agent[k] in configuration row[k], ended by discs of one radius."""
    from dwell._kernels.polygon import buffers, cell_list
    from dwell._kernels.polygon import entry_points as kernel

    boundary, few = ground.once(_boundary), places.shape[1] <= cell_list.FEW
    x, y = np.ascontiguousarray(places.transpose(2, 0, 1))
    out = np.empty((len(row), PLANAR))

    def work(lo: int, hi: int) -> None:
        memory = scratch_for(x.shape[1], len(boundary[0]), radius, buffers.own_scratch)
        measure = kernel.measure_few if few else kernel.measure_many
        measure(lo, hi, row, agent, times, x, y, *boundary, own_terms(ground), radius, out, memory)

    if not few and _lists_all(row, agent, x.shape):
        agents, none = x.shape[1], np.empty(0)
        for r in range(len(x)):
            now, part = ground.at(times[r]), out[r * agents : (r + 1) * agents]
            _measure_all(now, x[r], y[r], part, none, threads, radius=radius)
    else:
        in_blocks(work, len(row), threads)
    return out


def _boundary(ground: WeightedRegion) -> tuple[Floats, ...]:
    """The vertices of the hull as columns."""
    return columns(ground.hull.vertices)


def loop(
    ground: WeightedRegion, now: float, cruise: float, row: Floats, radii: Floats | None
) -> Loop:
    """The event loop for agents that move as `row` says, from time `now` on."""
    from dwell._kernels.polygon.box_tree import MOVING, make_tree
    from dwell._kernels.polygon.cell_list import FEW, make_bins, make_near, put_all
    from dwell._kernels.polygon.engine import (
        MOST_ROWS,
        FewBuffers,
        PlanarBuffers,
        PolygonVertices,
        run_events,
        run_few,
    )

    agents, vertices = len(row), polygon_of(ground.workspace).vertices
    radius = wide_radius(radii, ground.workspace)
    if radii is not None and radius is None:
        return power_loop(ground, now, cruise, row, radii)
    scratch = scratch_for(agents, len(vertices), radius)
    x, y = columns(vertices)
    domain = PolygonVertices(x, y, radius)
    if agents <= FEW:
        return run_few, domain, FewBuffers(np.empty(agents), np.empty(agents), scratch)
    bins, near = make_bins(agents), make_near(agents)
    put_all(now, cruise, row, bins, near)
    plan = np.zeros((MOST_ROWS, 2), dtype=np.int64)
    return run_events, domain, PlanarBuffers(bins, make_tree(agents, MOVING), near, scratch, plan)


def measure_thoroughly(
    ground: WeightedRegion, points: Points, *, threads: int | None = 1
) -> CellMeasurements:
    """Measure all cells, second moments about their centroids included."""
    x, y = columns(points)
    out, second = np.empty((len(x), PLANAR)), np.empty(len(x))
    _measure_all(ground, x, y, out, second, threads)
    return measurements_of(out, 2, second, threads)


def _lists_all(row: Ints, agent: Ints, shape: tuple[int, ...]) -> bool:
    """Whether the rows list all agents of every configuration, in order."""
    if len(row) != shape[0] * shape[1]:
        return False
    rows, agents = row.reshape(shape), agent.reshape(shape)
    in_rows = (rows == np.arange(shape[0])[:, None]).all()
    return bool(in_rows and (agents == np.arange(shape[1])).all())


def _in_bins(x: Floats, y: Floats) -> tuple[SquareBins, tuple[Floats, Floats], Tree | None]:
    """Agents sorted into bins, their coordinates in that order, and a tree if a bin holds many.

    Its agents are then in the order of the tree, so that neighbours in the plane are near in
    memory. The tree counts agents in the order of bins.
    """
    from dwell._kernels.polygon.buffers import LINES
    from dwell._kernels.polygon.cell_list import in_order, make_bins, put_at_rest

    bins = make_bins(len(x))
    put_at_rest(x, y, bins)
    if np.diff(bins.first).max() <= LINES:
        return bins, (in_order(x, bins), in_order(y, bins)), None
    tree = _tree_of(x, y)
    put_at_rest(x[tree.who], y[tree.who], bins)
    bins.who[:] = tree.who[bins.who]
    tree.leaf[:] = tree.leaf[bins.who]
    place = np.empty_like(bins.who)
    place[bins.who] = np.arange(len(x))
    tree.who[:] = place[tree.who]
    return bins, (in_order(x, bins), in_order(y, bins)), tree


def _tree_of(x: Floats, y: Floats) -> Tree:
    """The tree of agents at rest at (x, y)."""
    from dwell._kernels.polygon.box_tree import AT_REST, build_at_rest, make_tree

    tree = make_tree(len(x), AT_REST)
    build_at_rest(x, y, tree)
    return tree


def _measure_all(
    ground: WeightedRegion,
    x: Floats,
    y: Floats,
    out: Floats,
    second: Floats,
    threads: int | None,
    drawn: tuple[bool, dict[int, tuple[Any, ...]]] | None = None,
    radius: float | None = None,
) -> Ints:
    """Measure every cell, each among the agents near it only; fills `out` and `second`.

    With `drawn`, also the outlines of cells: whether they are sharp, and a dictionary that receives
    them in parts, by the first cell of each. Returns the agents in the order of these parts.
    """
    from dwell._kernels.polygon import entry_points as kernel
    from dwell._kernels.polygon.box_tree import make_tree
    from dwell._kernels.polygon.cell_list import make_near

    boundary = columns(ground.hull.vertices)
    bins, places, tree = _in_bins(x, y)
    block = max(BLOCK, len(x) // BLOCKS)

    def make() -> tuple[Any, ...]:
        found, most = np.empty((block, PLANAR)), len(x) + len(boundary[0]) + 16
        shapes = None if drawn is None else kernel.make_outlines(block, most, drawn[0])
        return make_near(len(x)), found, shapes, scratch_for(len(x), len(boundary[0]), radius)

    own, building, unbuilt = one_per_thread(make), Lock(), make_tree(0, 1)

    def work(lo: int, hi: int) -> None:
        nonlocal tree
        near, found, shapes, memory = own()
        given = (*places, *boundary, ground.terms, radius, near)
        filled = (found, out, second, shapes, memory)
        while True:
            if shapes is not None:
                shapes.filled[:] = 0
            reached = kernel.measure_all(lo, hi, bins, tree or unbuilt, *given, *filled)
            if drawn is not None and shapes is not None:
                cells, vertices = shapes.filled
                kept = (shapes.vertex, shapes.behind, shapes.label)
                drawn[1][lo] = (*(a[:vertices].copy() for a in kept), shapes.sizes[:cells].copy())
            if reached == hi:
                return
            with building:
                if reached == lo and tree is None:
                    tree = _tree_of(*(place[: len(x)] for place in places))
            lo = reached

    in_blocks(work, len(x), threads, block)
    return bins.who


def borders(
    ground: WeightedRegion,
    positions: Points,
    *,
    agents: int | None = None,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> Borders:
    """All edges between the cells of `positions`, (N, 2); of the first `agents` cells only."""
    from dwell._kernels.common.status import COINCIDENT, NO_MASS
    from dwell._kernels.polygon.region_moments import borders_of

    terms: Any = ground.terms
    points = np.ascontiguousarray(positions, dtype=np.float64)
    count = len(points) if agents is None else agents
    if len(terms.lattice):
        raise DensityError(
            "on a grid of points centroids are piecewise constant and have no derivatives; "
            "integrate exactly",
            code="density.derivatives",
        )
    arcs = None
    if radius is None and weights is None:
        table, cells = outlines(ground, points, count, sharp=True)
    else:
        who = np.arange(count)
        table, parts = power_outlines(ground, points, power_of(radius, weights), who)
        first = np.cumsum([0, *(len(label) for _, label in parts)])
        vertices, behind = (np.concatenate([part[k] for part in parts]) for k in range(2))
        cells = CellSequence(points[:count], first, vertices, behind)
        if radius is not None:
            on = np.flatnonzero(cells.behind == ARC)
            ends = cells.vertices[on], cells.ends[on]
            arcs = arc_moments(ground, points, cells.agent[on], *ends, table, radius)[:count]
    if (table[:, STATUS] == COINCIDENT).any():
        raise first_coincidence(points)
    chosen = np.flatnonzero((cells.behind >= 0) & (cells.agent < count))
    agent, other = cells.agent[chosen], cells.behind[chosen]
    moments = np.empty((len(chosen), 6))
    ends = np.ascontiguousarray(cells.vertices[chosen]), np.ascontiguousarray(cells.ends[chosen])
    scales = np.ascontiguousarray(table[:, LOG_SCALE])

    def work(lo: int, hi: int) -> None:
        borders_of(lo, hi, agent, *ends, points, scales, terms, moments)

    in_blocks(work, len(chosen), None)
    errors, empty = errors_in(table, 2), table[:, STATUS] == NO_MASS
    facets = agent, other, moments
    return as_borders(points, table[:, MASS], scales, errors, empty, facets, arcs)
