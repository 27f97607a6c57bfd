"""Measurement of one cell in space: its moments, and its centroid relative to the agent."""

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.space.careful import sharpen
from dwell._kernels.space.cells import begin, list_loops, list_triangles, voronoi_cell
from dwell._kernels.space.gaussian import ZERO, over
from dwell._kernels.space.moments import integrate, top_exponent
from dwell._kernels.star.vectors import dot

# Columns of a measurement; the status is 0, COINCIDENT or NO_MASS.
STATUS, EX, EY, EZ, LOG_SCALE, MASS, POLAR, SPREAD, NEIGHBORS, NEAREST = range(10)
COLUMNS = 10
ROUND = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)


@inner
def count_neighbors(count, corner):
    """Return how many other agents a cell borders on; triangles of a face follow one another."""
    neighbors = 0
    for t in range(count):
        if corner[t, 3] >= 0 and (t == 0 or corner[t, 3] != corner[t - 1, 3]):
            neighbors += 1
    return neighbors


@inner
def measure(p, solid, grid, terms, s, out):
    """Fill `out` with the measurement of agent p (its number in the grid), by the columns above.

    The error E is centroid minus position; POLAR is the second moment about the position, SPREAD
    the one about the centroid. Masses and second moments come divided by exp(LOG_SCALE). Without
    mass the error leads to the nearest point of the workspace. NEAREST is a squared distance, -1
    for a single agent.
    """
    n, _, nearest = voronoi_cell(p, solid, grid, s)
    measure_cell(n, nearest, p, solid, grid, terms, s, out)


@inner
def measure_cell(n, nearest, p, solid, grid, terms, s, out):
    """Fill `out` for the cell with n vertices in s; `nearest`: squared distance of an agent."""
    out[:] = 0.0
    out[NEAREST] = nearest
    if n == COINCIDENT:
        out[STATUS] = COINCIDENT
        return
    if n > 0:
        log_scale, (m, f, spread), count = integrate(n, p, solid, grid, terms, s)
        out[NEIGHBORS] = count_neighbors(count, s.corner)
        if m > 0.0:
            e = over(f, m)
            out[EX], out[EY], out[EZ] = e
            out[LOG_SCALE] = log_scale
            out[MASS] = m
            out[POLAR] = spread + m * dot(e, e)
            out[SPREAD] = spread
            return
    out[STATUS] = NO_MASS
    count = list_triangles(begin(p, solid, grid, s), s)
    _, e = top_exponent(ZERO, ROUND, count, s)
    out[EX], out[EY], out[EZ] = e


@njit
def cell_of(p, solid, grid, s):
    """Construct one Voronoi cell and list its faces: (vertices, agents compared with, faces)."""
    n, compared, _ = voronoi_cell(p, solid, grid, s)
    faces = 0
    if n > 0:
        sharpen(n, p, solid, grid, s)
        faces = list_loops(n, s)
    return n, compared, faces


@njit
def measure_many(lo, hi, agent, solid, grid, terms, out, s):
    """Measure the cells of agent[k] (numbers in the grid) into out[k], for k in lo..hi."""
    for k in range(lo, hi):
        measure(agent[k], solid, grid, terms, s, out[k])


@njit
def measure_rows(lo, hi, row, agent, x, y, z, solid, grid, terms, out, s):
    """Measure the cell of agent[k] in the configuration row[k] of x, y, z, for k in lo..hi.

    `grid` is any with a single bin for as many agents.
    """
    for k in range(lo, hi):
        r = row[k]
        for q in range(x.shape[1]):
            grid.x[q], grid.y[q], grid.z[q] = x[r, q], y[r, q], z[r, q]
        measure(agent[k], solid, grid, terms, s, out[k])
