"""Voronoi cells in any dimension by half-space intersection (Qhull): for four and more.

Milliseconds per cell where the compiled cells of the line, the plane and space take microseconds,
and the number of corners grows quickly with n; it is meant for tens to hundreds of agents.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.errors import WorkspaceError
from dwell.geometry.box import Box
from dwell.geometry.convex import Interval, Polygon
from dwell.geometry.halfspaces import inscribed
from dwell.geometry.hull import closed_boundary, distinct, find_facets, independent
from dwell.geometry.polytope import Polytope
from dwell.geometry.validation import FLAT
from dwell.geometry.voronoi import coincident

Flat = Interval | Polygon | Box | Polytope

ROOMY = 1e-3  # of its reach: an agent nearer to a plane is not taken as the interior point
OUTSIDE = 1e-11  # of its reach: points outside a half-space by more are no corners
FIRM = 1e-10  # how far normals must be from depending on each other to hold a corner


class SimplicialCell(NamedTuple):
    """A cell as simplices that share an apex, seen from the agent.

    They face outward: where rounding turned a sliver inside out, its volume is negative, and
    integrals count it so.
    """

    apex: Points  # (n,) the agent itself, if it is in its cell
    vertices: Points  # (V, n)
    simplices: Ints  # (S, n) vertices of the part of the boundary that each simplex stands on
    behind: Ints  # (S,) what lies behind it: agents from 0 on, -1 - k for facet k of the workspace

    @property
    def corners(self) -> Floats:
        """(S, n + 1, n): the apex, then the vertices, of each simplex."""
        outer = self.vertices[self.simplices]
        apex = np.broadcast_to(self.apex, (len(outer), 1, len(self.apex)))
        return np.concatenate([apex, outer], axis=1)


def cell_pieces(workspace: Flat, points: Points, p: int) -> SimplicialCell:
    """The cell of agent p among `points` (N, n); without simplices if it is empty."""
    gaps = points - points[p]
    distance = np.sqrt((gaps * gaps).sum(axis=1))
    distance[p] = np.inf
    order = np.argsort(distance, kind="stable")[: len(points) - 1]
    if len(order) and distance[order[0]] == 0.0:
        raise coincident(p, int(order[0]), points[p])
    normals, offsets = _halfspaces_of(workspace, points[p])
    labels = -1 - np.arange(len(offsets))
    n, count = points.shape[1], min(10 * points.shape[1], len(order))
    while True:
        near = order[:count]
        pieces = intersect(
            np.vstack([gaps[near] / distance[near, None], normals]),
            np.concatenate([0.5 * distance[near], offsets]),
            np.concatenate([near, labels]),
        )
        if pieces is None:
            return SimplicialCell(
                np.zeros(n), np.zeros((0, n)), np.zeros((0, n), np.int64), labels[:0]
            )
        reach = float(np.sqrt((pieces.vertices**2).sum(axis=1).max()))
        # No agent farther than twice the farthest corner can cut the cell.
        needed = int(np.searchsorted(distance[order], 2.0 * reach, side="right"))
        if needed <= count:
            return pieces
        count = min(needed, 3 * count)


def _halfspaces_of(workspace: Flat, place: Points) -> tuple[Points, Floats]:
    """The workspace's half-spaces seen from `place`, each by one of its own corners."""
    normals = workspace.normals
    if isinstance(workspace, Box):
        lower, upper = workspace.bounds
        anchors = np.where(normals > 0.0, upper, lower)
    else:
        anchors = workspace.vertices[[face[0] for face in workspace.faces]]
    return normals, (normals * (anchors - place)).sum(axis=1)


def intersect(normals: Points, gaps: Floats, label: Ints) -> SimplicialCell | None:
    """The half-spaces normals . z <= gaps, intersected; None if that has no inside."""
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
    nearest = np.argmin(lift[boundary].max(axis=1), axis=1)  # the plane of each simplex
    return SimplicialCell(apex, vertices, boundary, label[nearest])


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
    found = find_facets(dual)
    many = [np.unique(found.simplices[group]) for group in found.groups if len(group) > 1]
    chosen = [own[independent(normals[own], n)] for own in many]
    rows = np.vstack([found.simplices, *chosen]) if chosen else found.simplices
    firm = np.linalg.svd(normals[rows], compute_uv=False)[:, -1] > FIRM
    rows = rows[firm]
    corners = np.linalg.solve(normals[rows], free[rows][:, :, None])[:, :, 0]
    reach = np.sqrt((corners**2).sum(axis=1))
    right = (corners @ normals.T - free).max(axis=1) <= OUTSIDE * reach
    return distinct(corners[right], corners[right] / np.abs(corners[right]).max(), FLAT)
