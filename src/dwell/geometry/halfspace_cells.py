"""Voronoi cells in any dimension by half-space intersection (Qhull): for n >= 4.

Milliseconds per cell where the compiled cells of the line, the plane and space take microseconds,
and the number of corners grows quickly with n; it is meant for tens to hundreds of agents.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.box import Box
from dwell.geometry.cell import Cell
from dwell.geometry.halfspaces import inscribed
from dwell.geometry.hull import closed_boundary, distinct, find_walls, independent
from dwell.geometry.limits import FLAT
from dwell.geometry.polytope import Polytope
from dwell.geometry.region import Interval, Polygon
from dwell.geometry.voronoi import coincident

ROOMY = 1e-3  # of its reach: an agent nearer to a plane is not taken as the interior point
OUTSIDE = 1e-11  # of its reach: points outside a half-space by more are no corners
MOST_DIMENSIONS = 7  # among 20 agents a cell takes 1 s in six, 10 s in seven, minutes in eight
FIRM = 1e-10  # how far normals must be from depending on each other to hold a corner


class Pieces(NamedTuple):
    """A cell as simplices that share an apex, seen from the agent.

    They face outward: where rounding turned a sliver inside out, its volume is negative, and
    integrals count it so.
    """

    apex: Points  # (n,) the agent itself, if it is in its cell
    vertices: Points  # (V, n)
    simplices: Ints  # (S, n) vertices of the part of the boundary that each simplex stands on
    wall: Ints  # (S,) what lies behind it: agents from 0 on, -1 - k for facet k of the workspace
    seen: Ints  # agents compared with, nearest first
    nearest: float  # distance of the nearest other agent

    @property
    def corners(self) -> Floats:
        """(S, n + 1, n): the apex, then the vertices, of each simplex."""
        outer = self.vertices[self.simplices]
        apex = np.broadcast_to(self.apex, (len(outer), 1, len(self.apex)))
        return np.concatenate([apex, outer], axis=1)


class Walls(NamedTuple):
    """Half-spaces normals . z <= gaps, seen from an agent."""

    normals: Points  # (m, n) unit
    gaps: Floats  # (m,)
    label: Ints  # (m,)


def cells(
    workspace: Interval | Polygon | Box | Polytope,
    positions: Points,
    agents: Iterable[int] | None = None,
) -> list[Cell]:
    """The cells of `agents` (all, by default) among `positions`, (N, n)."""
    refuse_many_dimensions(workspace.dimension)
    points = np.ascontiguousarray(positions, dtype=np.float64)
    found = []
    for p in range(len(points)) if agents is None else agents:
        pieces = cell_pieces(workspace, points, int(p))
        if pieces.nearest == 0.0:
            raise coincident(int(p), int(pieces.seen[0]), points[p])
        found.append(_as_cell(int(p), points[p], pieces))
    return found


def refuse_many_dimensions(dimension: int) -> None:
    """Refuse cells that would not be there for minutes or hours, before any is begun."""
    if dimension > MOST_DIMENSIONS:
        raise WorkspaceError(
            f"the workspace has {dimension} dimensions and flat walls; cells in it have so many "
            f"corners that each would take minutes. Take at most {MOST_DIMENSIONS} dimensions, or "
            "a ball or an ellipsoid",
            code="workspace.dimension",
            key="workspace",
        )


def cell_pieces(workspace: Interval | Polygon | Box | Polytope, points: Points, p: int) -> Pieces:
    """The cell of agent p among `points` (N, n); without simplices if it is empty."""
    gaps = points - points[p]
    distance = np.sqrt((gaps * gaps).sum(axis=1))
    distance[p] = np.inf
    order = np.argsort(distance, kind="stable")[: len(points) - 1]
    nearest = float(distance[order[0]]) if len(order) else np.inf
    if nearest == 0.0:
        return _nothing(points.shape[1], order[:1], nearest)
    outer = walls_of(workspace, points[p])
    count = min(10 * points.shape[1], len(order))
    while True:
        near = order[:count]
        own = gaps[near] / distance[near, None]
        walls = Walls(
            np.vstack([own, outer.normals]),
            np.concatenate([0.5 * distance[near], outer.gaps]),
            np.concatenate([near, outer.label]),
        )
        pieces = intersect(walls)
        if pieces is None:
            return _nothing(points.shape[1], near, nearest)
        reach = float(np.sqrt((pieces.vertices**2).sum(axis=1).max()))
        # No agent farther than twice the farthest corner can cut the cell.
        needed = int(np.searchsorted(distance[order], 2.0 * reach, side="right"))
        if needed <= count:
            return pieces._replace(seen=near, nearest=nearest)
        count = min(needed, 3 * count)


def walls_of(workspace: Interval | Polygon | Box | Polytope, place: Points) -> Walls:
    """The workspace's half-spaces seen from `place`, each by one of its own corners."""
    if isinstance(workspace, Box) and workspace.dimension != 2:
        lower, upper = (corner - place for corner in workspace.bounds)
        gaps = np.column_stack([-lower, upper]).reshape(-1)
        normals: Points = workspace.normals
    else:
        normals = workspace.normals
        anchors = workspace.vertices[[face[0] for face in workspace.faces]]
        gaps = (normals * (anchors - place)).sum(axis=1)
    return Walls(normals, gaps, -1 - np.arange(len(gaps)))


def intersect(walls: Walls) -> Pieces | None:
    """The intersection of half-spaces; None if that has no inside."""
    normals, gaps, label = walls
    n = normals.shape[1]
    apex, center, radius = _interior(normals, gaps)
    if not radius > 0.0:
        return None
    free = gaps - normals @ center
    dual = normals * (radius / np.maximum(free, radius))[:, None]
    try:
        vertices = center + _dual_corners(dual, normals, free)
    except WorkspaceError:  # so flat that its corners cannot be separated
        return None
    boundary = closed_boundary(vertices) if len(vertices) > n else None
    if boundary is None:
        return None
    lift = np.abs(vertices @ normals.T - gaps)
    behind = label[_lowest(lift, boundary)]
    none = np.zeros(0, dtype=np.int64)
    return Pieces(apex, vertices, boundary, behind, none, np.inf)


def _lowest(lift: Floats, simplices: Ints) -> Ints:
    """For each simplex the plane that all its corners are nearest to."""
    worst = lift[simplices[:, 0]]
    for k in range(1, simplices.shape[1]):
        worst = np.maximum(worst, lift[simplices[:, k]])
    return np.asarray(np.argmin(worst, axis=1), dtype=np.int64)


def _interior(normals: Points, gaps: Floats) -> tuple[Points, Points, float]:
    """(apex, a point well inside, its distance from the planes)."""
    origin = np.zeros(normals.shape[1])
    least = float(gaps.min())
    reach = float(np.median(np.abs(gaps)))
    if least > ROOMY * reach:
        return origin, origin, least
    ball = inscribed(normals, gaps)
    scale = float(np.abs(ball.center).max()) + reach
    radius = ball.radius if ball.radius > FLAT * scale else 0.0
    return (origin if least >= 0.0 else ball.center), ball.center, radius


def _dual_corners(dual: Points, normals: Points, free: Floats) -> Points:
    """Corners: points where n planes meet, one for each facet of the hull of the dual points.

    Planes that meet n by n and those that meet by more are both tried; what lies outside none is a
    corner, however it was found.
    """
    n = normals.shape[1]
    walls = find_walls(dual)
    many = [np.unique(walls.simplices[group]) for group in walls.groups if len(group) > 1]
    chosen = [own[independent(normals[own], n)] for own in many]
    rows = np.vstack([walls.simplices, *chosen]) if chosen else walls.simplices
    firm = np.linalg.svd(normals[rows], compute_uv=False)[:, -1] > FIRM
    rows = rows[firm]
    corners = np.linalg.solve(normals[rows], free[rows][:, :, None])[:, :, 0]
    reach = np.sqrt((corners**2).sum(axis=1))
    right = (corners @ normals.T - free).max(axis=1) <= OUTSIDE * reach
    return distinct(corners[right], corners[right] / np.abs(corners[right]).max(), FLAT)


def _nothing(n: int, seen: Ints, nearest: float) -> Pieces:
    none = np.zeros(0, dtype=np.int64)
    return Pieces(
        np.zeros(n), np.zeros((0, n)), np.zeros((0, n), dtype=np.int64), none, seen, nearest
    )


def _as_cell(p: int, place: Points, pieces: Pieces) -> Cell:
    behind = np.unique(pieces.wall)
    faces = tuple(np.unique(pieces.simplices[pieces.wall == label]) for label in behind)
    return Cell(p, place, pieces.vertices, behind, faces)
