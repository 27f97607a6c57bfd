"""Measurement of one cell in space: its moments, and its centroid relative to the agent."""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.space.cells import begin, voronoi_cell
from dwell._kernels.space.gaussian import exponent_on_triangle
from dwell._kernels.space.moments import list_triangles, volume_under, weigh

# Columns of a measurement; the status is 0, COINCIDENT or NO_MASS.
STATUS, EX, EY, EZ, LOG_SCALE, MASS, POLAR, SPREAD, NEIGHBORS, NEAREST = range(10)
COLUMNS = 10


@inner
def count_neighbors(count, face, plane):
    """How many other agents a cell borders on; triangles of a face follow one another."""
    neighbors = 0
    for t in range(count):
        if plane[face[t]] >= 0 and (t == 0 or face[t] != face[t - 1]):
            neighbors += 1
    return neighbors


@inner
def nearest_in_workspace(p, solid, grid, s):
    """Displacement from agent p to the nearest point of the workspace; zero inside it."""
    n = begin(
        grid.x[p], grid.y[p], grid.z[p], solid.x, solid.y, solid.z, solid.mate, solid.left,
        solid.label, s.x, s.y, s.z, s.mate, s.left, s.plane,
    )  # fmt: skip
    count = list_triangles(n, s.mate, s.left, s.mark, s.corner, s.face)
    inside = True
    best = -np.inf
    at = (0.0, 0.0, 0.0)
    q = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    for t in range(count):
        i = s.corner[t, 0]
        j = s.corner[t, 1]
        k = s.corner[t, 2]
        if volume_under(i, j, k, s.x, s.y, s.z) < 0.0:
            inside = False
        e, z = exponent_on_triangle(
            q, (s.x[i], s.y[i], s.z[i]), (s.x[j], s.y[j], s.z[j]), (s.x[k], s.y[k], s.z[k])
        )
        if e > best:
            best = e
            at = z
    if inside:
        return 0.0, 0.0, 0.0
    return at


@inner
def look(p, solid, grid, terms, s, out):
    """Fill `out` with the measurement of agent p (its number in the grid), by the columns above.

    The error E is centroid minus position; POLAR is the second moment about the position, SPREAD
    the one about the centroid. Masses and second moments come divided by exp(LOG_SCALE). Without
    mass the error leads to the nearest point of the workspace. NEAREST is a squared distance, -1
    for a single agent.
    """
    n, _, nearest, _ = voronoi_cell(p, solid, grid, s)
    tell(n, nearest, p, solid, grid, terms, s, out)


@inner
def tell(n, nearest, p, solid, grid, terms, s, out):
    """Fill `out` for a cell that was cut; n and `nearest` are its vertices and nearest distance."""
    out[:] = 0.0
    out[NEAREST] = nearest
    if n == COINCIDENT:
        out[STATUS] = COINCIDENT
        return
    if n > 0:
        log_scale, m, fx, fy, fz, spread, count = weigh(n, p, solid, grid, terms, s)
        out[NEIGHBORS] = count_neighbors(count, s.face, s.plane)
        if m > 0.0:
            ex = fx / m
            ey = fy / m
            ez = fz / m
            out[EX] = ex
            out[EY] = ey
            out[EZ] = ez
            out[LOG_SCALE] = log_scale
            out[MASS] = m
            out[POLAR] = spread + m * (ex * ex + ey * ey + ez * ez)
            out[SPREAD] = spread
            return
    out[STATUS] = NO_MASS
    out[EX], out[EY], out[EZ] = nearest_in_workspace(p, solid, grid, s)
