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
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.density import space
from dwell.density.borders import Borders
from dwell.density.disc import curved_of
from dwell.density.ground import Ground
from dwell.density.looking import Looks
from dwell.density.tessellation import first_coincidence
from dwell.geometry import Box, Workspace, polyhedra
from dwell.geometry.voronoi import coincident

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms

MARGIN = 0.0625  # the box round the ellipsoid is larger by this share of its size


class Root(NamedTuple):
    """|W (z - center)| <= 1 with W upper triangular."""

    center: Points  # (n,)
    matrix: Floats  # (n, n)


@final
@dataclass(frozen=True, eq=False)
class BallCell:
    """A Voronoi cell in a ball or an ellipsoid: the points u, seen from the agent, that satisfy
    normals . u <= offsets, one row for each neighbour in `borders`, and lie in the workspace.
    """

    agent: int
    position: Points  # (n,)
    borders: Ints  # (m,) agents behind its flat faces; the rest of its boundary is the workspace's
    normals: Points  # (m, n) from the agent to the other
    gaps: Floats  # (m,) half their squared length
    seen: Ints  # agents looked at, nearest first
    workspace: Workspace

    def contains(self, points: Points) -> np.ndarray:
        """Whether each point (k, n), in workspace coordinates, lies in the cell."""
        local = np.asarray(points, dtype=np.float64) - self.position
        near: np.ndarray = (local @ self.normals.T <= self.gaps).all(axis=1)
        return near & self.workspace.contains(points)


def root_of(workspace: Workspace) -> Root:
    """The workspace as the kernels take it; exact but for a rounding of each entry."""
    curved = curved_of(workspace)
    rows = [
        [Fraction(float(v)) / Fraction(float(size)) for v in row]
        for row, size in zip(curved.axes, curved.semi_axes, strict=True)
    ]
    n = len(rows)
    form = [[sum(row[i] * row[j] for row in rows) for j in range(n)] for i in range(n)]
    matrix = np.zeros((n, n))
    for i in range(n):
        pivot = math.sqrt(float(form[i][i]))
        matrix[i, i] = pivot
        for j in range(i + 1, n):
            matrix[i, j] = float(form[i][j]) / pivot
        for k in range(i + 1, n):
            share = form[i][k] / form[i][i]
            form[k] = [form[k][j] - share * form[i][j] for j in range(n)]
    return Root(np.array(curved.center, dtype=np.float64), matrix)


def looks(
    ground: Ground, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """agent[k] looks in configuration row[k] of `positions` (R, N, n)."""
    if ground.dimension > 3 or ground.terms is None:
        raise NotImplementedError
    found = _Found(len(row))
    for r in np.unique(row):
        picks = np.flatnonzero(row == r)
        _look_in(ground, positions[r], picks, agent[picks], found, threads)
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
    ground: Ground, points: Points, picks: Ints, agents: Ints, found: _Found, threads: int | None
) -> None:
    """Looks `picks` of `agents`, all in one configuration."""
    root, box = root_of(ground.workspace), box_round(ground.workspace)
    points = np.ascontiguousarray(points, dtype=np.float64)
    found.nearest[picks] = nearest_others(points, agents)
    found.met[picks] = found.nearest[picks] == 0.0
    alone = ~found.met[picks]
    picks, agents = picks[alone], agents[alone]
    flat = []
    slicer = Slicer(root, ground.terms)
    for k, cell in zip(picks, polyhedra.cells(box, points, agents), strict=True):
        if len(cell.offsets) and _is_inside(root, cell):
            flat.append((k, cell.agent))
            continue
        faces = faces_of(cell)
        scale, values, shows = slicer.weigh(points[cell.agent], points[faces] - points[cell.agent])
        found.neighbors[k] = shows.sum()
        mass = values[0]
        if not mass > 0.0:
            place = points[cell.agent]
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


class Slicer:
    """Weighs cells one by one; holds the kernels' memory."""

    def __init__(self, root: Root, terms: Any) -> None:
        self.root, self.terms = root, terms
        w = root.matrix
        self.w = tuple(float(w[i, j]) for i in range(3) for j in range(i, 3))
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
        from dwell._kernels.curved.slices import MOST_PIECES
        from dwell._kernels.scratch import make_scratch

        if planes <= self.room:
            return
        self.room = 2 * planes + 16
        self.ring = make_ring(self.room)
        self.scratch = make_scratch(self.room, len(self.ring.x))
        self.breaks = np.zeros(20 * self.room + 64)
        self.pieces = np.zeros((MOST_PIECES + len(self.breaks), 9))


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


def seen_from(root: Root, place: Points) -> tuple[Floats, float]:
    """a = W (place - center), and 1 - |a|**2 of that very a, without cancellation."""
    gap = place - root.center
    a = np.array([math.fsum(root.matrix[i] * gap) for i in range(len(gap))])
    return a, float(1 - sum(Fraction(float(v)) ** 2 for v in a))


def box_round(workspace: Workspace) -> Box:
    """A box that clearly holds the workspace."""
    lower, upper = workspace.bounds
    margin = MARGIN * (upper - lower)
    return Box(lower - margin, upper + margin)


def nearest_others(points: Points, agents: Ints) -> Floats:
    """Distance of the nearest other agent, for each of `agents`; inf if there is none."""
    found = np.full(len(agents), np.inf)
    for k, p in enumerate(agents):
        gap = np.delete(points, p, axis=0) - points[p]
        if len(gap):
            found[k] = math.sqrt((gap * gap).sum(axis=1).min())
    return found


def faces_of(cell: polyhedra.SpaceCell) -> Ints:
    """The agents behind the faces of a polyhedron, each once."""
    return np.unique(cell.borders[cell.borders >= 0])


def _is_inside(root: Root, cell: polyhedra.SpaceCell) -> bool:
    """Whether a polyhedron lies in the ellipsoid; its corners will do."""
    local = (cell.offsets + (cell.position - root.center)) @ root.matrix.T
    return bool(((local * local).sum(axis=1) < 1.0).all())
