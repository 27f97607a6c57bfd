"""Power cells in the plane, within the discs of their agents or not: measurements and outlines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._kernels.common.cell_table import LOG_SCALE, PLANAR, STATUS
from dwell._types import Floats, Ints, Points, columns, dots, lengths
from dwell.cells.measurement import Loop, errors_in, in_blocks, one_per_thread
from dwell.cells.weighted_region import WeightedRegion, own_terms, weighted_region
from dwell.density.uniform import Uniform
from dwell.geometry import Cell, VoronoiCell, Workspace, polygon_of
from dwell.geometry.cell import Measure
from dwell.geometry.voronoi import first_coincidence

if TYPE_CHECKING:
    from dwell._kernels.polygon.buffers import Scratch
    from dwell._kernels.polygon.power_cell import Power

ARC = -(2**61)  # what `RangeCell.borders` says of an arc
STEEPEST, MOST_PANELS = 8.0, 256  # range of an exponent per panel of an arc; panels at most
SLACK = 1e-12  # of the radius: what rounding may put a point of the boundary outside by


@final
@dataclass(frozen=True, eq=False)
class RangeCell(VoronoiCell):
    """A cell that ends at a circle about its agent.

    The piece from vertex k to vertex k + 1 is an arc of at most a quarter turn where `arcs[k]` is
    true; else it is straight, and `borders[k]` says what lies behind it, as in a `Cell`.
    """

    radius: float

    @property
    def arcs(self) -> np.ndarray:
        """Whether the piece after each vertex is an arc, (V,)."""
        arcs: np.ndarray = self.borders == ARC
        return arcs

    @property
    def border_sizes(self) -> Floats:
        """Length of each edge, and of the chord of each arc."""
        return self.edge_lengths

    def outline(self, per_turn: int = 360) -> Points:
        """Points along the boundary, in workspace coordinates: for drawing, not for computing."""
        parts, angles = [np.empty((0, 2))], self._angles
        first = np.arctan2(self.offsets[:, 1], self.offsets[:, 0])
        for k, arc in enumerate(self.arcs):
            parts.append(self.vertices[k : k + 1])
            if arc:
                count = math.ceil(per_turn * angles[k] / (2.0 * math.pi)) + 1
                turn = first[k] + np.linspace(0.0, angles[k], max(2, count))[1:-1]
                circle = np.column_stack([np.cos(turn), np.sin(turn)])
                parts.append(self.position + self.radius * circle)
        return np.concatenate(parts)

    @property
    def _angles(self) -> Floats:
        """The angle of each arc; 0 of an edge."""
        half = np.minimum(0.5 * self.edge_lengths / self.radius, 1.0)
        angles: Floats = np.where(self.arcs, 2.0 * np.arcsin(half), 0.0)
        return angles

    def _measured(self) -> Measure:
        """Area and centroid by triangles from the agent, and by caps."""
        a, b = self.offsets, np.roll(self.offsets, -1, axis=0)
        areas = 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
        angle = self._angles
        caps = 0.5 * self.radius**2 * (angle - np.sin(angle))
        middle = a + b
        length = np.maximum(np.sqrt(dots(middle, middle)), 1e-300)
        pull = 2.0 / 3.0 * self.radius**3 * np.sin(0.5 * angle) ** 3 / length
        first = (areas[:, None] * middle / 3.0 + pull[:, None] * middle).sum(axis=0)
        volume = math.fsum([*areas, *caps])
        return Measure(volume, first / volume if volume > 0.0 else np.zeros(2))

    def _holds(self, rows: Points) -> np.ndarray:
        local = rows - self.position
        slack = SLACK * self.radius
        inside: np.ndarray = dots(local, local) <= (self.radius + slack) ** 2
        ends = np.roll(self.offsets, -1, axis=0)
        for k in np.flatnonzero(~self.arcs & (self.edge_lengths > slack)):
            dx, dy = ends[k] - self.offsets[k]
            height = (local - self.offsets[k]) @ (dy, -dx)
            inside &= height <= slack * math.hypot(dx, dy)
        return inside


def power_of(radius: Floats | None, weights: Floats | None) -> Power:
    """Radii or weights as the kernels take them."""
    from dwell._kernels.polygon.power_cell import Power

    if radius is not None:
        largest = float(radius.max())
        equal = bool((radius == largest).all())
        return Power(np.ascontiguousarray(radius), np.empty(0), largest, equal)
    weight = np.ascontiguousarray(weights, dtype=np.float64)
    return Power(np.full(len(weight), np.inf), weight, np.inf, False)


def scratch_for(
    agents: int,
    vertices: int,
    radius: float | None,
    make: Callable[[int, int], Scratch] | None = None,
) -> Scratch:
    """Buffers for cells of so many agents; with a radius, each edge of a cell may gain an arc."""
    most = vertices if radius is None else agents + 2 * vertices + 16
    if make is not None:
        return make(agents, most)
    from dwell._kernels.polygon.buffers import make_scratch

    return make_scratch(agents, most)


def power_cells(
    workspace: Workspace,
    positions: Points,
    agents: Iterable[int] | None = None,
    *,
    radius: Floats | None = None,
    weights: Floats | None = None,
) -> list[Cell] | list[RangeCell]:
    """The cells of `agents` (all, by default) among `positions`, (N, 2)."""
    from dwell._kernels.common.status import COINCIDENT

    who = np.arange(len(positions)) if agents is None else np.array([*agents], dtype=np.int64)
    ground = weighted_region(workspace, Uniform())
    table, found = power_outlines(ground, positions, power_of(radius, weights), who)
    if (table[:, STATUS] == COINCIDENT).any():
        raise first_coincidence(positions)
    own = [(int(p), positions[p], *cell) for p, cell in zip(who, found, strict=True)]
    if radius is None:
        return [Cell(*parts) for parts in own]
    return [RangeCell(*parts, float(radius[parts[0]])) for parts in own]


def power_loop(
    ground: WeightedRegion, now: float, cruise: float, row: Floats, radii: Floats
) -> Loop:
    """The event loop for agents with these radii that move as `row` says, from time `now` on."""
    from dwell._kernels.polygon.cell_list import make_bins, put_all
    from dwell._kernels.polygon.power_cell import (
        PowerBuffers,
        PowerDomain,
        make_rivals,
        run_power,
    )

    agents, vertices = len(row), polygon_of(ground.workspace).vertices
    bins, rivals = make_bins(agents), make_rivals(agents, len(vertices))
    put_all(now, cruise, row, bins, rivals)
    scratch = scratch_for(agents, len(vertices), float(radii.max()))
    x, y = columns(vertices)
    domain = PowerDomain(x, y, power_of(radii, None))
    return run_power, domain, PowerBuffers(bins, rivals, scratch)


def fill_table(
    ground: WeightedRegion,
    places: Points,
    row: Ints,
    agent: Ints,
    power: Power,
    threads: int | None,
    times: Floats,
) -> Floats:
    """The table of measurements of agent[k] in configuration row[k] of `places`, (R, N, 2).

    times: (R,) when each configuration is assumed, for densities that move.
    """

    out = np.empty((len(row), PLANAR))
    for r in np.unique(row):
        entry = np.flatnonzero(row == r)
        at = float(times[r])
        _fill(ground, places[r], entry, agent[entry], power, out, threads, None, at)
    return out


def arc_moments(
    ground: WeightedRegion,
    positions: Points,
    agent: Ints,
    first: Points,
    last: Points,
    table: Floats,
    radius: Floats,
) -> Floats:
    """Integrals of the density times (z - centroid) n' along the arcs of each cell, (N, 2, 2).

    Arcs of the cells of `agent`, (A,), lead from `first` to `last`, (A, 2); n is their normal.
    """
    from dwell._kernels.common.quadrature import PANEL_NODES, PANEL_WEIGHTS

    r, middle = radius[agent], 0.5 * (first + last)
    height = lengths(middle)
    axis, top = middle / height[:, None], 0.5 * lengths(last - first) / (r + height)
    side = np.column_stack([-axis[:, 1], axis[:, 0]])
    error = errors_in(table, 2)[agent]
    terms: Any = ground.terms
    far = lengths(terms.gaussians[:, None, 1:3] - positions[agent]) + r
    ranges = np.abs(terms.gaussians[:, 6:9]).sum(axis=1)[:, None] ** 2 * far * r
    panels = int(np.clip(np.ceil(ranges.max(initial=0.0) / STEEPEST), 1, MOST_PANELS))
    found = np.zeros((len(radius), 2, 2))
    for node, weight in zip(PANEL_NODES, PANEL_WEIGHTS, strict=True):
        for k in range(panels):
            t = top * (2.0 * (k + node) / panels - 1.0)
            q = r / (1.0 + t * t)
            z = (q * (1.0 - t * t))[:, None] * axis + (2.0 * q * t)[:, None] * side
            w = weight / panels * 4.0 * top * q * ground.density.at(positions[agent] + z)
            w = w / np.exp(table[agent, LOG_SCALE]) / r
            np.add.at(found, agent, w[:, None, None] * (z - error)[:, :, None] * z[:, None, :])
    return found


def power_outlines(
    ground: WeightedRegion, points: Points, power: Power, agents: Ints | None = None
) -> tuple[Floats, list[tuple[Points, Ints]]]:
    """The table of some agents' measurements, and vertices and labels of each cell."""

    who = np.arange(len(points)) if agents is None else agents
    out = np.empty((len(who), PLANAR))
    cells: list[tuple[Points, Ints]] = []
    _fill(ground, points, np.arange(len(who)), who, power, out, 1, cells)
    return out, cells


def _fill(
    ground: WeightedRegion,
    points: Points,
    entry: Ints,
    agent: Ints,
    power: Power,
    out: Floats,
    threads: int | None,
    cells: list[tuple[Points, Ints]] | None,
    time: float = 0.0,
) -> None:
    """Measure cells of one configuration into rows `entry` of `out`; append them to `cells`."""
    from dwell._kernels.polygon.cell_list import make_bins, put_at_rest
    from dwell._kernels.polygon.entry_points import make_outlines
    from dwell._kernels.polygon.power_cell import make_rivals, measure_power

    x, y = columns(points)
    boundary = columns(ground.hull.vertices)
    agents, vertices = len(x), len(boundary[0])
    bins = make_bins(agents)
    put_at_rest(x, y, bins)
    size = 2 * (agents + vertices) + 32
    buffers = one_per_thread(
        lambda: (
            own_terms(ground),
            make_rivals(agents, vertices),
            scratch_for(agents, vertices, power.largest),
        )
    )

    def work(lo: int, hi: int) -> None:
        terms, rivals, scratch = buffers()
        given = (time, entry, agent, bins, x, y, *boundary, terms, power, rivals, out)
        if cells is None:
            measure_power(lo, hi, *given, None, scratch)
            return
        while lo < hi:
            shapes = make_outlines(hi - lo, size, False)
            lo = measure_power(lo, hi, *given, shapes, scratch)
            first = 0
            for count in shapes.sizes[: shapes.filled[0]]:
                part = slice(first, first + count)
                cells.append((shapes.vertex[part].copy(), shapes.label[part].copy()))
                first += count

    in_blocks(work, len(entry), threads)
