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
from functools import lru_cache
from itertools import pairwise
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
from dwell.density.looking import Looks, in_blocks
from dwell.density.tessellation import first_coincidence
from dwell.geometry import Box, Workspace, polyhedra
from dwell.geometry.cell_shape import Measure

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms

BLOCK = 32  # looks handed to a thread at a time: each takes about a millisecond
MARGIN = 0.0625  # the box round the ellipsoid is larger by this share of its size


def looks(
    ground: Ground, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """agent[k] looks in configuration row[k] of `positions` (R, N, n)."""
    if ground.dimension > 3 or ground.terms is None:
        return rays.looks(ground, positions, row, agent)
    found = _Found(len(row))
    row, agent = np.asarray(row, dtype=np.int64), np.asarray(agent, dtype=np.int64)
    crowd = _Crowd(ground.workspace, np.asarray(positions, dtype=np.float64), row)
    order = np.argsort(row, kind="stable")

    def work(lo: int, hi: int) -> None:
        _look_some(ground, crowd, order[lo:hi], row, agent, found)

    in_blocks(work, len(row), threads, block=max(1, min(BLOCK, len(row) // 8)))
    _look_within(ground, crowd, row, agent, found, threads)
    return found.as_looks()


class _Crowd:
    """Configurations in an ellipsoid, with what threads share and none of them changes."""

    def __init__(self, workspace: Workspace, positions: Points, row: Ints) -> None:
        self.root, self.box = root_of(workspace), box_round(workspace)
        self.solid = polyhedra.solid_of(self.box)
        self.positions = positions
        self.looks = np.bincount(row, minlength=len(positions))
        self.grids: dict[int, Any] = {}

    def grid(self, row: int) -> Any:
        """The agents of a configuration in bins; two threads may both make the same."""
        if row not in self.grids:
            points = np.ascontiguousarray(self.positions[row])
            self.grids[row] = polyhedra.grid_of(points, looks=int(self.looks[row]))
        return self.grids[row]


class _Found:
    """Looks being filled in."""

    def __init__(self, count: int) -> None:
        self.met, self.empty, self.within = np.zeros((3, count), dtype=bool)
        self.error = np.zeros((count, 3))
        self.log_scale, self.mass, self.polar, self.second, self.doubt = np.zeros((5, count))
        self.neighbors = np.zeros(count, dtype=np.int64)
        self.nearest = np.full(count, np.inf)

    def as_looks(self) -> Looks:
        return Looks(
            self.met, self.empty, self.error, self.log_scale, self.mass, self.polar,
            self.neighbors, self.nearest, self.second, self.doubt,
        )  # fmt: skip


def _look_some(
    ground: Ground, crowd: _Crowd, picks: Ints, row: Ints, agent: Ints, found: _Found
) -> None:
    """Looks `picks`, sorted by configuration, on one thread; those of polyhedra are but noted."""
    cut, places, others = [], [], []
    memory = _polyhedron_memory(crowd)
    for some in np.split(picks, np.flatnonzero(np.diff(row[picks])) + 1):
        if not len(some):
            continue
        points = crowd.positions[row[some[0]]]
        found.nearest[some] = nearest_others(points, agent[some])
        found.met[some] = found.nearest[some] == 0.0
        grid = crowd.grid(int(row[some[0]]))
        number = polyhedra.numbers_in(grid)
        for k in some[~found.met[some]]:
            place = points[agent[k]]
            borders, found.within[k] = _outline(crowd, grid, number[agent[k]], place, memory)
            if borders is None:
                _put_nothing(ground, place, k, found)
            elif not found.within[k]:
                cut.append(k)
                places.append(place)
                others.append(points[borders] - place)
    slicer = Slicer(crowd.root, ground.terms)
    scales, values, shows = slicer.weigh(np.array(places).reshape(-1, 3), others)
    for k, place, scale, value, shown in zip(cut, places, scales, values, shows, strict=True):
        mass = value[0]
        found.neighbors[k] = shown.sum()
        if not mass > 0.0:
            _put_nothing(ground, place, k, found)
            continue
        error = value[1:4] / mass
        found.log_scale[k], found.mass[k], found.polar[k] = scale, mass, value[4]
        found.error[k] = error
        found.second[k] = value[4] - mass * float((error**2).sum())
        found.doubt[k] = value[5] / mass


def _put_nothing(ground: Ground, place: Points, k: int, found: _Found) -> None:
    """A cell that weighs nothing: its agent is to go into the workspace."""
    found.empty[k] = True
    found.error[k] = ground.workspace.nearest(place[None])[0] - place


def _polyhedron_memory(crowd: _Crowd) -> Any:
    from dwell._kernels.space.memory import make_memory

    return make_memory(crowd.positions.shape[1], crowd.solid)


def _outline(
    crowd: _Crowd, grid: Any, number: int, place: Points, memory: Any
) -> tuple[Ints | None, bool]:
    """Who borders on a cell in the box, None if it is empty; whether it lies in the ellipsoid."""
    from dwell._kernels.space.doors import cell_of

    corners, _, faces = cell_of(number, crowd.solid, grid, memory)
    if corners <= 0:
        return None, False
    labels = memory.face[:faces]
    local = np.stack([memory.x[:corners], memory.y[:corners], memory.z[:corners]])
    local = crowd.root.matrix @ (local + (place - crowd.root.center)[:, None])
    within = bool(((local * local).sum(axis=0) < 1.0).all())
    return np.unique(grid.order[labels[labels >= 0]]), within


def _look_within(
    ground: Ground, crowd: _Crowd, row: Ints, agent: Ints, found: _Found, threads: int | None
) -> None:
    """Looks whose cells do not reach the boundary: they are polyhedra."""
    where = np.flatnonzero(found.within)
    if not len(where):
        return
    inner = Ground(crowd.box, ground.density, ground.terms)
    seen = space.looks(inner, crowd.positions, row[where], agent[where], threads=threads)
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
        slicer = Slicer(root, general_terms(3, 1.0))
        (scale,), (values,), _ = slicer.weigh(cell.position[None], [cell.normals])
        volume, first = float(values[0]) * math.exp(scale), values[1:4] * math.exp(scale)
    return Measure(volume, first / volume) if volume > 0.0 else Measure(0.0, np.zeros(n))


def faces_that_show(root: Root, place: Points, normals: Points) -> np.ndarray:
    """Which of the bisectors have a share of the cell's boundary."""
    from dwell._kernels.curved.breaks import faces_shown

    shows = np.zeros(len(normals), dtype=np.bool_)
    planes, breaks = planes_of(normals), np.zeros(20 * len(normals) + 64)
    faces_shown(len(normals), planes, upper_of(root), root.center, place, breaks, shows)
    return shows


def borders(ground: Ground, positions: Points, *, agents: int | None = None) -> Borders:
    """All borders of the tessellation by `positions`, (N, n); of its first `agents` cells only.

    Faces between agents; the workspace's own boundary does not move with them.
    """
    points = np.ascontiguousarray(positions, dtype=np.float64)
    count = len(points) if agents is None else agents
    everybody = np.arange(count)
    seen = looks(ground, points[None], np.zeros_like(everybody), everybody, threads=None)
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
    from dwell._kernels.curved.facet_hills import HILL_BREAKS
    from dwell._kernels.curved.facets import MOMENTS, MOST_PIECES, facet_moments

    m = len(cell.borders)
    a, _ = seen_from(root, cell.position)
    breaks = np.zeros(m * m + 4 * m + 8 + HILL_BREAKS * len(terms.weights))
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
    """Weighs cells; holds the kernels' memory, so that each thread needs its own."""

    def __init__(self, root: Root, terms: Any) -> None:
        self.root, self.terms = root, terms
        self.w = upper_of(root)
        self.group, self.flat = _flat_terms(terms)

    def weigh(
        self, places: Points, normals: list[Points]
    ) -> tuple[Floats, Floats, list[np.ndarray]]:
        """Of cells of agents at `places`, with others at `normals` from them:

        log_scales, rows (mass, first moments, polar, error of the mass), and which faces show.
        """
        from dwell._kernels.curved.cells import make_ring
        from dwell._kernels.curved.slices import MOST_PIECES
        from dwell._kernels.curved.solids import room_for_breaks, weigh_many
        from dwell._kernels.scratch import make_scratch

        counts = [len(rows) for rows in normals]
        most = max(counts, default=0)
        first = np.cumsum([0, *counts])
        planes = planes_of(np.concatenate([*normals, np.zeros((0, 3))]))
        out, scales = np.zeros((len(counts), 6)), np.zeros(len(counts))
        shows = np.zeros(len(planes), dtype=np.bool_)
        ring = make_ring(most)
        scratch = make_scratch(most, len(ring.x))
        breaks = np.zeros(room_for_breaks(most, len(self.terms.weights)))
        pieces = np.zeros((MOST_PIECES + len(breaks), 9))
        weigh_many(
            0, len(counts), first, planes, self.w, self.root.center, places, self.terms,
            self.group, self.flat, breaks, shows, pieces, out, scales, scratch, ring,
        )  # fmt: skip
        return scales, out, [shows[i:j] for i, j in pairwise(first)]


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
    return _larger_box(tuple(lower.tolist()), tuple(upper.tolist()))


@lru_cache(maxsize=32)
def _larger_box(lower: tuple[float, ...], upper: tuple[float, ...]) -> Box:
    low, high = np.array(lower), np.array(upper)
    margin = MARGIN * (high - low)
    return Box(low - margin, high + margin)


def faces_of(cell: polyhedra.SpaceCell) -> Ints:
    """The agents behind the faces of a polyhedron, each once."""
    return np.unique(cell.borders[cell.borders >= 0])
