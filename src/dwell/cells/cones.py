"""Voronoi cells in balls and ellipsoids, integrated by cones over their facets.

A cell is the union of cones from one apex over its flat facets and over its part of the curved
boundary: see dwell._kernels.star. Constants, polynomials and Gaussian components are integrated by
kernels, other densities by quadrature nodes handed to Python: see `adaptive`. In four and more
dimensions rays take the place of cones: see `rays`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np

from dwell._kernels.common.cell_table import (
    E0,
    E1,
    E2,
    MASS,
    MASS_ERROR,
    POLAR,
    SECOND,
    STATUS,
    WIDTH,
)
from dwell._types import Floats, Ints, Points, dots
from dwell.cells import rays
from dwell.cells.adaptive import Boxes, moments_of_function
from dwell.cells.curved import (
    ARC,
    BallCells,
    Configuration,
    DiscCells,
    built_by,
    space_terms,
    terms_of,
)
from dwell.cells.facets import Borders, as_borders
from dwell.cells.measurement import BLOCK, CellMeasurements, in_blocks, measurements_of, of_one
from dwell.cells.weighted_region import WeightedRegion, weighted_region
from dwell.density.uniform import Uniform
from dwell.geometry import Curved, VoronoiCell, Workspace
from dwell.geometry.cell import SLACK, Measure
from dwell.geometry.voronoi import coincident, first_coincidence

FEW = 32  # cells of space handed to a thread at a time
KINDS = {2: DiscCells, 3: BallCells}  # by dimension: what kernels build; rays elsewhere


@final
@dataclass(frozen=True, eq=False)
class CurvedCell(VoronoiCell):
    """A Voronoi cell in a ball or an ellipsoid.

    In the plane the piece from corner k to corner k + 1 is straight if `borders[k]` >= 0, with that
    agent behind it, and an arc of the workspace's boundary if it is -1. Above the plane `borders`
    are the agents behind its flat facets. A cell without facets is empty, or all of the workspace.
    """

    normals: Points  # (m, n) from the agent to each of its neighbours
    workspace: Curved
    outside: bool  # whether it has no inside: its agent stands outside, behind others

    @property
    def empty(self) -> bool:
        """Whether it has no inside."""
        return self.outside

    @property
    def whole(self) -> bool:
        """Whether it is all of the workspace."""
        return not self.empty and not len(self.borders)

    @property
    def border_sizes(self) -> np.ndarray:
        """Length of each edge, and of the chord of each arc; above the plane not computed."""
        return self.edge_lengths if len(self.position) == 2 else super().border_sizes

    def _measured(self) -> Measure:
        points = np.vstack([self.position, self.position + self.normals])
        ground = weighted_region(self.workspace, Uniform())
        seen = measure(ground, *of_one(points, np.zeros(1, dtype=np.int64)))
        mass = float(seen.mass[0])
        return Measure(mass, seen.error[0] if mass > 0.0 else np.zeros(ground.dimension))

    def _holds(self, rows: Points) -> np.ndarray:
        local = rows - self.position
        inside: np.ndarray = self.workspace.contains(rows)
        for normal in self.normals:
            square = float(dots(normal, normal))
            slack = SLACK * self.workspace.diameter * math.sqrt(square)
            inside &= dots(local, normal) <= 0.5 * square + slack
        return inside

    def outline(self, per_turn: int = 360) -> Points:
        """Points along the boundary, in workspace coordinates: for drawing, not for computing."""
        if self.whole:
            return self._arc(0.0, 2.0 * math.pi, per_turn)[:-1]
        center, matrix = self.workspace.root
        x, y = matrix @ (self.vertices - center).T  # where the ellipse is the unit circle
        angles, parts = np.arctan2(y, x), [np.empty((0, 2))]
        for k, label in enumerate(self.borders):
            parts.append(self.vertices[k : k + 1])
            if label == ARC:
                first, last = angles[[k, (k + 1) % len(angles)]]
                last += 2.0 * math.pi if last < first else 0.0
                parts.append(self._arc(first, last, per_turn)[1:-1])
        return np.concatenate(parts)

    def _arc(self, first: float, last: float, per_turn: int) -> Points:
        count = max(2, math.ceil(per_turn * (last - first) / (2.0 * math.pi)) + 1)
        angle = np.linspace(first, last, count)
        center, matrix = self.workspace.root
        arc: Points = center + np.linalg.solve(matrix, [np.cos(angle), np.sin(angle)]).T
        return arc


def measure(
    ground: WeightedRegion, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> CellMeasurements:
    """Moments of the cells of agent[k] in configuration row[k] of `positions` (R, N, n)."""
    kind = KINDS.get(ground.dimension)
    if kind is None:
        return rays.measure(ground, positions, row, agent)
    row, agent = np.asarray(row, dtype=np.int64), np.asarray(agent, dtype=np.int64)
    places = np.asarray(positions, dtype=np.float64)
    out = np.zeros((len(row), WIDTH))
    flat = kind is DiscCells
    known = terms_of(ground) is not None
    terms: Any = terms_of(ground) if known else space_terms(Uniform(), ground.dimension)
    order = np.arange(len(row)) if flat else np.argsort(row, kind="stable")
    shared = {} if flat else {r: Configuration(ground.workspace, places[r]) for r in set(row)}

    def work(lo: int, hi: int) -> None:
        for cells, some in _cells_of(ground, places, row, order[lo:hi], shared):
            out[some], _ = cells.measured(terms, row[some], agent[some])
            for k in some[out[some, STATUS] == 0.0] if not known else ():
                boxes = built_by(cells, int(row[k]), int(agent[k])).boxes(cells.frame)
                _put_function(ground, places[row[k], agent[k]], boxes, out[k])

    in_blocks(work, len(row), threads, BLOCK if flat else max(1, min(FEW, len(row) // 8)))
    return _as_measured(ground, places[row, agent], out)


def _cells_of(
    ground: WeightedRegion, places: Points, row: Ints, picks: Ints, shared: dict[int, Configuration]
) -> Iterator[tuple[DiscCells | BallCells, Ints]]:
    """Groups of measurements with the cells that they are about; in space by configuration."""
    if KINDS[ground.dimension] is DiscCells:
        if len(places):
            yield DiscCells(ground.workspace, places), picks
        return
    for some in np.split(picks, np.flatnonzero(np.diff(row[picks])) + 1):
        if len(some):
            yield BallCells(shared[row[some[0]]]), some


def _put_function(ground: WeightedRegion, place: Points, boxes: Boxes, row: Floats) -> None:
    """Replace the measurement of a uniform density by that of a function."""
    from dwell._kernels.common.status import NO_MASS

    mass, centroid, spread, error = moments_of_function(ground.density, place, boxes)
    row[STATUS] = 0.0 if mass > 0.0 else NO_MASS
    row[[E0, E1, E2]] = centroid
    row[MASS], row[SECOND] = mass, spread
    unsure = math.inf if error > 0.0 else 0.0
    row[MASS_ERROR] = error / mass if mass > 0.0 else unsure


def _as_measured(ground: WeightedRegion, places: Points, out: Floats) -> CellMeasurements:
    from dwell._kernels.common.status import NO_MASS

    empty, axes = out[:, STATUS] == NO_MASS, [E0, E1, E2][: ground.dimension]
    if empty.any():
        out[np.ix_(empty, axes)] = ground.workspace.nearest(places[empty]) - places[empty]
    square = (np.ascontiguousarray(out[:, axes]) ** 2).sum(axis=1)
    out[:, POLAR] = np.where(empty, 0.0, out[:, SECOND] + out[:, MASS] * square)
    return measurements_of(out, ground.dimension)


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[CurvedCell]:
    """The cells of `agents` (all, by default) among `positions` (N, n)."""
    from dwell._kernels.common.status import COINCIDENT

    points = np.ascontiguousarray(positions, dtype=np.float64)
    region, among = cast(Curved, workspace), _cells_among(workspace, points)
    found = []
    for p in map(int, range(len(points)) if agents is None else agents):
        status, offsets, borders, other = among.outline(p)
        if status == COINCIDENT:
            raise coincident(p, other, points[p])
        normals = points[borders[borders >= 0]] - points[p]
        cell = CurvedCell(p, points[p], offsets, borders, normals, region, status != 0.0)
        found.append(cell)
    return found


def _cells_among(workspace: Workspace, points: Points) -> DiscCells | BallCells | rays.RayCells:
    """The cells of one configuration."""
    kind = KINDS.get(points.shape[1])
    if kind is None:
        return rays.RayCells(workspace, points)
    if kind is DiscCells:
        return DiscCells(workspace, points[None])
    return BallCells(Configuration(workspace, points))


def borders(ground: WeightedRegion, positions: Points, *, agents: int | None = None) -> Borders:
    """All facets between the cells of `positions`, (N, n); of the first `agents` cells only."""
    points = np.ascontiguousarray(positions, dtype=np.float64)
    chosen = np.arange(len(points) if agents is None else agents)
    seen = measure(ground, *of_one(points, chosen), threads=None)
    if seen.coincident.any():
        raise first_coincidence(points)
    found, scales = _cells_among(ground.workspace, points), seen.log_scale
    rows = [row for p in chosen for row in found.facets(ground, int(p), float(scales[p]))]
    return as_borders(points, seen.mass, scales, seen.error, seen.empty, rows)
