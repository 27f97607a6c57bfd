"""Borders between cells in a polygon: edges, by the planar kernels."""

from __future__ import annotations

import math

import numpy as np

from dwell._kernels.quadrature import rule
from dwell._kernels.terms import Terms
from dwell._types import Floats, Points
from dwell.cells.facets import Borders
from dwell.cells.ground import Ground
from dwell.cells.measurement import in_blocks
from dwell.cells.moments import polygon_moments
from dwell.cells.polygon import outlines
from dwell.density.base import Density
from dwell.errors import DensityError
from dwell.geometry import Workspace, polygon_of, voronoi_cells
from dwell.geometry.voronoi import first_coincidence

NODES = 16
MOST_HALVINGS = 12
RELATIVE = 1e-11  # accuracy along a border for densities that only Python can evaluate


def borders(ground: Ground, positions: Points, *, agents: int | None = None) -> Borders:
    """All borders of the tessellation by `positions`, (N, 2); of its first `agents` cells only."""
    workspace, terms = ground.workspace, ground.terms
    points = np.ascontiguousarray(positions, dtype=np.float64)
    count = len(points) if agents is None else agents
    if terms is None:
        return _by_quadrature(workspace, points, ground.density, count)
    assert isinstance(terms, Terms)
    from dwell._kernels import doors
    from dwell._kernels.borders import borders_of
    from dwell._kernels.marks import COINCIDENT, NO_MASS
    from dwell._kernels.terms import is_exact

    if not is_exact(terms):
        raise DensityError(
            "on a grid of points centroids are piecewise constant and have no derivatives; "
            "integrate exactly",
            code="density.derivatives",
        )
    table, cells = outlines(ground, points, sharp=True)
    table = table[:count]
    if (table[:, doors.STATUS] == COINCIDENT).any():
        raise first_coincidence(points)
    chosen = np.flatnonzero((cells.behind >= 0) & (cells.agent < count))
    agent, other = cells.agent[chosen], cells.behind[chosen]
    moments = np.empty((len(chosen), 6))
    ends = np.ascontiguousarray(cells.vertices[chosen]), np.ascontiguousarray(cells.ends[chosen])
    scales = np.ascontiguousarray(table[:, doors.LOG_SCALE])

    def work(lo: int, hi: int) -> None:
        borders_of(lo, hi, agent, *ends, points, scales, terms, moments)

    in_blocks(work, len(chosen), None)
    return Borders(
        masses=table[:, doors.MASS],
        log_scales=scales,
        errors=table[:, doors.ERROR_X : doors.ERROR_Y + 1],
        empty=table[:, doors.STATUS] == NO_MASS,
        agent=agent,
        other=other,
        gap=points[other] - points[agent],
        m0=moments[:, 0],
        m1=moments[:, 1:3],
        m2=moments[:, [3, 4, 4, 5]].reshape(-1, 2, 2),
    )


def _by_quadrature(workspace: Workspace, points: Points, density: Density, count: int) -> Borders:
    """Integrals over facets of a density that only Python can evaluate."""
    cells = voronoi_cells(polygon_of(workspace), points, range(count))
    masses, errors = np.zeros(count), np.zeros((count, 2))
    rows = []
    for p, cell in enumerate(cells):
        if len(cell.offsets):
            found = polygon_moments(cell.offsets, cell.position, density)
            masses[p], errors[p] = found.mass, found.offset
        for k, other in enumerate(cell.borders):
            if other >= 0:
                a, b = cell.offsets[k], cell.offsets[(k + 1) % len(cell.offsets)]
                rows.append((p, int(other), a, b, moments_along(density, cell.position, a, b)))
    agent = np.array([row[0] for row in rows], dtype=np.int64)
    other = np.array([row[1] for row in rows], dtype=np.int64)
    moments = np.array([row[4] for row in rows]).reshape(-1, 6)
    return Borders(
        masses=masses,
        log_scales=np.zeros(count),
        errors=errors,
        empty=masses <= 0.0,
        agent=agent,
        other=other,
        gap=points[other] - points[agent],
        m0=moments[:, 0],
        m1=moments[:, 1:3],
        m2=moments[:, [3, 4, 4, 5]].reshape(-1, 2, 2),
    )


def moments_along(density: Density, origin: Points, a: Points, b: Points) -> Floats:
    """Moments 1, x, y, xx, xy, yy along a segment, halved until two rules agree."""
    far = max(math.hypot(*a), math.hypot(*b))
    size = np.array([1.0, far, far, far * far, far * far, far * far])  # of each, per weight
    before = _panels(density, origin, a, b, 1)
    for k in range(1, MOST_HALVINGS):
        now = _panels(density, origin, a, b, 2**k)
        if (np.abs(now - before) <= RELATIVE * now[0] * size).all():
            return now
        before = now
    return before


def _panels(density: Density, origin: Points, a: Points, b: Points, parts: int) -> Floats:
    nodes, weights = rule("legendre", NODES)
    r = ((np.arange(parts)[:, None] + nodes) / parts).ravel()
    z = a + r[:, None] * (b - a)
    length = math.hypot(*(b - a))
    w = np.tile(weights, parts) / parts * length * density.at(origin + z)
    x, y = z.T
    return np.array([(w * f).sum() for f in (1.0, x, y, x * x, x * y, y * y)])
