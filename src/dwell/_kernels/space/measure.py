"""Measurement of one cell in space: its moments, and its centroid relative to the agent.

Integrals over the facets between cells, from which derivatives of centroids follow, come in the
frame of the agent and divided by the same exp(log_scale) as the cell's mass.
"""

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.algebra import ZERO, along, dot, less
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.common.cell_table import (
    E0,
    E1,
    E2,
    LOG_SCALE,
    MASS,
    MASS_ERROR,
    NEAREST,
    NEIGHBORS,
    POLAR,
    SECOND,
    STATUS,
)
from dwell._kernels.common.quadrature import FLAT_FIRST, TOLERANCE, W
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.space.careful import sharp_area, sharpen
from dwell._kernels.space.cells import (
    begin,
    list_loops,
    list_triangles,
    position,
    triangle,
    voronoi_cell,
)
from dwell._kernels.space.gaussian import NO_MOMENTS, add_moments, gaussian_triangle, over
from dwell._kernels.space.moments import (
    component,
    degree_of,
    highest_on,
    integrate,
    plain_at,
    top_exponent,
)
from dwell._kernels.space.surface import ROUND, on_triangle

# Columns of a facet: whose, towards whom, and the moments 1, x, y, z, xx, xy, xz, yy, yz, zz.
AGENT, OTHER, M = range(3)
FACET_COLUMNS = M + 10
FULL = -1


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
    """Fill `out` with the measurement of agent p (its number in the grid): see cell_table.py.

    Constants and polynomials are integrated to rounding, Gaussians to a proven bound.
    """
    n, _, nearest = voronoi_cell(p, solid, grid, s)
    measure_cell(n, nearest, p, solid, grid, terms, s, out)


@inner
def measure_cell(n, nearest, p, solid, grid, terms, s, out):
    """Fill `out` for the cell with n vertices in s; `nearest`: squared distance of an agent."""
    out[:] = 0.0
    out[NEAREST] = nearest
    out[MASS_ERROR] = TOLERANCE if terms.weights.shape[0] > 0 else 0.0
    if n == COINCIDENT:
        out[STATUS] = COINCIDENT
        return
    if n > 0:
        log_scale, (m, f, spread), count = integrate(n, p, solid, grid, terms, s)
        out[NEIGHBORS] = count_neighbors(count, s.corner)
        if m > 0.0:
            e = over(f, m)
            out[E0], out[E1], out[E2] = e
            out[LOG_SCALE] = log_scale
            out[MASS] = m
            out[POLAR] = spread + m * dot(e, e)
            out[SECOND] = spread
            return
    out[STATUS] = NO_MASS
    count = list_triangles(begin(p, solid, grid, s), s)
    _, e = top_exponent(ZERO, ROUND, count, s)
    out[E0], out[E1], out[E2] = e


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


@inner
def plain_moments(first, last, place, terms, factor, s):
    """Return the moments of the constant and the monomials over triangles first to last - 1."""
    found = NO_MOMENTS
    n = (degree_of(terms.powers) + 4) // 2
    for t in range(first, last):
        a, b, c = triangle(t, s)
        u = less(b, a)
        v = less(c, a)
        k = factor * s.fan[t]
        for i in range(FLAT_FIRST[n], FLAT_FIRST[n + 1]):
            z = on_triangle(i, a, u, v)
            found = add_moments(found, k * W[i] * plain_at(along(place, 1.0, z), terms), z)
    return found


@inner
def integrate_facet(first, last, place, terms, log_scale, s, out):
    """Put the moments over triangles first to last - 1 into `out`; their areas go to s.fan."""
    out[:] = 0.0
    for t in range(first, last):
        s.fan[t] = sharp_area(t, s)
    if terms.constant != 0.0 or terms.coefficients.shape[0] > 0:
        found = plain_moments(first, last, place, terms, exponential(-log_scale), s)
        for i in range(10):
            out[i] = found[i]
    for g in range(terms.weights.shape[0]):
        center, q = component(g, place, terms)
        _, top, _ = highest_on(first, last, center, q, s)
        for t in range(first, last):
            a, b, c = triangle(t, s)
            k = terms.weights[g] * s.fan[t]
            gaussian_triangle(
                center, q, a, less(b, a), less(c, a), k, log_scale, top, s.node, s.pending, out
            )


@njit
def facets_of(lo, hi, agent, solid, grid, terms, cells, rows, s):
    """Measure the cells of agent[lo] to agent[hi - 1] into `cells`, and their facets into `rows`.

    Agents are numbers in the grid. Returns how many rows were filled, or FULL if there are too few.
    """
    filled = 0
    for k in range(lo, hi):
        p = agent[k]
        measure(p, solid, grid, terms, s, cells[k])
        n, _, _ = voronoi_cell(p, solid, grid, s)
        if n <= 0:
            continue
        # The cell once more, as measuring may have moved it. All vertices get more digits: where
        # two planes are nearly parallel, as of neighbours close together, faces depend on it.
        sharpen(n, p, solid, grid, s)
        count = list_triangles(n, s)
        first = 0
        while first < count:
            other = s.corner[first, 3]
            last = first + 1
            while last < count and s.corner[last, 3] == other:
                last += 1
            if other >= 0:
                if filled == rows.shape[0]:
                    return FULL
                rows[filled, AGENT] = p
                rows[filled, OTHER] = other
                place, log_scale, row = position(p, grid), cells[k, LOG_SCALE], rows[filled, M:]
                integrate_facet(first, last, place, terms, log_scale, s, row)
                filled += 1
            first = last
    return filled
