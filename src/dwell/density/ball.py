"""Cells in balls and ellipsoids above the plane, with what they weigh.

In space a cell is cut into slices, each a planar curved cell that is integrated to rounding, so
that a single integral is left; it is halved until its error is below about 1e-12 of the mass (see
dwell._kernels.curved.slices), and `doubt` says what came out. Cells that do not reach the boundary
are polyhedra, and left to `dwell.density.space`. In four and more dimensions, and for densities
that only Python can evaluate, rays are shot from the agent: see `dwell.density.rays`; that gives
three or four digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.density import rays, space
from dwell.density.ball_cells import (
    BallCell,
    Root,
    as_borders,
    is_empty,
    nearest_others,
    root_of,
    seen_from,
)
from dwell.density.borders import Borders
from dwell.density.ground import Ground
from dwell.density.looking import Looks
from dwell.density.tessellation import first_coincidence
from dwell.geometry import Box, Workspace, polyhedra
from dwell.geometry.cell_shape import Measure

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms

MARGIN = 0.0625  # the box round the ellipsoid is larger by this share of its size


def looks(
    ground: Ground, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """agent[k] looks in configuration row[k] of `positions` (R, N, n)."""
    if ground.dimension > 3 or ground.terms is None:
        return rays.looks(ground, positions, row, agent)
    found = _Found(len(row))
    slicer, box = Slicer(root_of(ground.workspace), ground.terms), box_round(ground.workspace)
    order = np.argsort(row, kind="stable")
    for picks in np.split(order, np.flatnonzero(np.diff(row[order])) + 1):
        if len(picks):
            points = np.ascontiguousarray(positions[row[picks[0]]], dtype=np.float64)
            _look_in(ground, slicer, box, points, picks, agent[picks], found, threads)
    return found.as_looks()


class _Found:
    """Looks being filled in."""

    def __init__(self, count: int) -> None:
        self.met, self.empty = np.zeros((2, count), dtype=bool)
        self.error = np.zeros((count, 3))
        self.log_scale, self.mass, self.polar, self.second, self.doubt = np.zeros((5, count))
        self.neighbors = np.zeros(count, dtype=np.int64)
        self.nearest = np.full(count, np.inf)

    def as_looks(self) -> Looks:
        return Looks(
            self.met, self.empty, self.error, self.log_scale, self.mass, self.polar,
            self.neighbors, self.nearest, self.second, self.doubt,
        )  # fmt: skip


def _look_in(
    ground: Ground, slicer: Slicer, box: Box, points: Points, picks: Ints, agents: Ints,
    found: _Found, threads: int | None,
) -> None:  # fmt: skip
    """Looks `picks` of `agents`, all in one configuration."""
    found.nearest[picks] = nearest_others(points, agents)
    found.met[picks] = found.nearest[picks] == 0.0
    alone = ~found.met[picks]
    picks, agents = picks[alone], agents[alone]
    flat = []
    for k, cell in zip(picks, polyhedra.cells(box, points, agents), strict=True):
        if len(cell.offsets) and _is_inside(slicer.root, cell):
            flat.append((k, cell.agent))
            continue
        place, mass = points[cell.agent], 0.0
        if len(cell.offsets):
            scale, values, shows = slicer.weigh(place, points[faces_of(cell)] - place)
            found.neighbors[k], mass = shows.sum(), values[0]
        if not mass > 0.0:
            found.empty[k] = True
            found.error[k] = ground.workspace.nearest(place[None])[0] - place
            continue
        found.log_scale[k], found.mass[k], found.polar[k] = scale, mass, values[4]
        found.error[k] = values[1:4] / mass
        found.second[k] = values[4] - mass * float((found.error[k] ** 2).sum())
        found.doubt[k] = values[5] / mass
    if flat:
        where, who = (np.array(column, dtype=np.int64) for column in zip(*flat, strict=True))
        inner = Ground(box, ground.density, ground.terms)
        seen = space.looks(inner, points[None], np.zeros_like(who), who, threads=threads)
        for name in ("empty", "error", "log_scale", "mass", "polar", "neighbors", "second"):
            getattr(found, name)[where] = getattr(seen, name)
        if seen.doubt is not None:
            found.doubt[where] = seen.doubt


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[BallCell]:
    """The cells of `agents` (all, by default) among `positions` (N, n)."""
    points = np.ascontiguousarray(positions, dtype=np.float64)
    chosen = np.arange(len(points)) if agents is None else np.array(list(agents), dtype=np.int64)
    if points.shape[1] > 3:
        return rays.cells(workspace, points, chosen)
    root, box = root_of(workspace), box_round(workspace)
    found = []
    for cell in polyhedra.cells(box, points, chosen):
        place, faces = points[cell.agent], faces_of(cell)
        normals = points[faces] - place
        shows = faces_that_show(root, place, normals)
        planes = planes_of(normals[shows])
        empty = is_empty(workspace, points, cell.agent, shows)
        walls = (faces[shows], planes[:, :3], planes[:, 3])
        found.append(BallCell(cell.agent, place, *walls, cell.seen, workspace, empty))
    return found


def measure_of(cell: BallCell) -> Measure:
    """Volume and middle of a cell."""
    from dwell._kernels.general_terms import general_terms

    n, root = len(cell.position), root_of(cell.workspace)
    if cell.empty:
        return Measure(0.0, np.zeros(n))
    if n > 3:
        a, _ = seen_from(root, cell.position)
        found = rays.weigh(rays.Region(cell.normals, cell.gaps, root.matrix, a), 1.0, rays.PAIRS)
        volume, first = found.mass, found.first
    else:
        scale, values, _ = Slicer(root, general_terms(3, 1.0)).weigh(cell.position, cell.normals)
        volume, first = float(values[0]) * math.exp(scale), values[1:4] * math.exp(scale)
    return Measure(volume, first / volume) if volume > 0.0 else Measure(0.0, np.zeros(n))


def faces_that_show(root: Root, place: Points, normals: Points) -> np.ndarray:
    """Which of the bisectors have a share of the cell's boundary."""
    from dwell._kernels.curved.breaks import faces_shown

    shows = np.zeros(len(normals), dtype=np.bool_)
    a, sigma = seen_from(root, place)
    breaks = np.zeros(20 * len(normals) + 64)
    faces_shown(len(normals), planes_of(normals), upper_of(root), a, sigma, breaks, shows)
    return shows


def borders(ground: Ground, positions: Points, *, agents: int | None = None) -> Borders:
    """All borders of the tessellation by `positions`, (N, n); of its first `agents` cells only.

    Faces between agents; the workspace's own boundary does not move with them.
    """
    points = np.ascontiguousarray(positions, dtype=np.float64)
    count = len(points) if agents is None else agents
    everybody = np.arange(count)
    seen = looks(ground, points[None], np.zeros_like(everybody), everybody)
    if seen.met.any():
        raise first_coincidence(points)
    if ground.dimension > 3 or ground.terms is None:
        return rays.borders(ground, points, seen)
    root, rows = root_of(ground.workspace), []
    for cell in cells(ground.workspace, points, everybody):
        faces = face_moments(root, ground.terms, cell, float(seen.log_scale[cell.agent]))
        rows += [(cell.agent, int(q), m) for q, m in zip(cell.borders, faces, strict=True)]
    return as_borders(points, seen, rows)


def face_moments(root: Root, terms: Any, cell: BallCell, log_scale: float) -> list[Floats]:
    """(10,) moments over each face: see dwell._kernels.curved.facets."""
    from dwell._kernels.curved.facets import MOMENTS, MOST_PIECES, facet_moments

    m = len(cell.borders)
    a, _ = seen_from(root, cell.position)
    breaks = np.zeros(m * m + 4 * m + 8)
    pieces, lines = np.zeros((MOST_PIECES + len(breaks), 13)), np.zeros((m + 1, 3))
    planes = planes_of(cell.normals)
    found = []
    for i in range(m):
        out = np.zeros(MOMENTS)
        facet_moments(
            i, m, planes, upper_of(root), a, cell.position, terms, log_scale, lines, breaks,
            pieces, out,
        )  # fmt: skip
        found.append(out)
    return found


class Slicer:
    """Weighs cells one by one; holds the kernels' memory."""

    def __init__(self, root: Root, terms: Any) -> None:
        self.root, self.terms = root, terms
        self.w = upper_of(root)
        self.group, self.flat = _flat_terms(terms)
        self.room = -1

    def weigh(self, place: Points, normals: Points) -> tuple[float, Floats, np.ndarray]:
        """(log_scale, (mass, first moments, polar, error of the mass), which faces show)."""
        from dwell._kernels.curved.slices import cell_moments

        m = len(normals)
        self._make_room(m)
        out, shows = np.zeros(6), np.zeros(m, dtype=np.bool_)
        a, sigma = seen_from(self.root, place)
        scale = cell_moments(
            m, planes_of(normals), self.w, a, sigma, place, self.terms, self.group, self.flat,
            self.breaks, shows, self.pieces, out, self.scratch, self.ring,
        )  # fmt: skip
        return float(scale), out, shows

    def _make_room(self, planes: int) -> None:
        from dwell._kernels.curved.cells import make_ring
        from dwell._kernels.curved.slices import MOST_PIECES, WIDTHS
        from dwell._kernels.scratch import make_scratch

        if planes <= self.room:
            return
        self.room = 2 * planes + 16
        self.ring = make_ring(self.room)
        self.scratch = make_scratch(self.room, len(self.ring.x))
        hills = len(WIDTHS) * len(self.terms.weights)
        self.breaks = np.zeros(20 * self.room + 64 + hills)
        self.pieces = np.zeros((MOST_PIECES + len(self.breaks), 9))


def upper_of(root: Root) -> tuple[float, ...]:
    """W of space as the kernels take it, row by row."""
    return tuple(float(root.matrix[i, j]) for i in range(3) for j in range(i, 3))


def _flat_terms(terms: GeneralTerms) -> tuple[Ints, Any]:
    """Room for the density in a slice, and which of its polynomials each monomial goes to."""
    from dwell._kernels.terms import plain_terms

    columns = terms.origins[:, :2]
    origins, group = np.unique(columns, axis=0, return_inverse=True)
    degree = int(terms.powers[:, :2].sum(axis=1).max()) if len(terms.powers) else 0
    tables = np.zeros((len(origins), degree + 1, degree + 1))
    hills = np.zeros((len(terms.weights), 9))
    flat = plain_terms(terms.constant, tables, np.zeros((len(origins), 2)), hills)
    return group.reshape(-1).astype(np.int64), flat


def planes_of(normals: Points) -> Floats:
    """Rows (normal, offset) of the bisectors with agents at `normals`, seen from the agent."""
    half = 0.5 * (normals * normals).sum(axis=1)
    return np.column_stack([normals, half]) if len(normals) else np.zeros((0, 4))


def box_round(workspace: Workspace) -> Box:
    """A box that clearly holds the workspace."""
    lower, upper = workspace.bounds
    margin = MARGIN * (upper - lower)
    return Box(lower - margin, upper + margin)


def faces_of(cell: polyhedra.SpaceCell) -> Ints:
    """The agents behind the faces of a polyhedron, each once."""
    return np.unique(cell.borders[cell.borders >= 0])


def _is_inside(root: Root, cell: polyhedra.SpaceCell) -> bool:
    """Whether a polyhedron lies in the ellipsoid; its corners will do."""
    local = (cell.offsets + (cell.position - root.center)) @ root.matrix.T
    return bool(((local * local).sum(axis=1) < 1.0).all())
