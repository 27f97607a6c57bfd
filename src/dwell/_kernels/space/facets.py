"""Integrals over the facets between cells, from which derivatives of centroids follow.

In the frame of the agent, and divided by the same exp(log_scale) as the cell's mass.
"""

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.space.careful import sharp_area, sharpen
from dwell._kernels.space.cells import list_triangles, triangle, voronoi_cell
from dwell._kernels.space.gaussian import NO_MOMENTS, add_moments, gaussian_triangle
from dwell._kernels.space.measure import LOG_SCALE, measure
from dwell._kernels.space.moments import component, degree_of, highest_on, plain_at
from dwell._kernels.space.rules import FLAT_FIRST, W
from dwell._kernels.space.surface import on_triangle
from dwell._kernels.star.vectors import along, less

# Columns of a facet: whose, towards whom, and the moments 1, x, y, z, xx, xy, xz, yy, yz, zz.
AGENT, OTHER, M = range(3)
COLUMNS = M + 10
FULL = -1


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
        place = (grid.x[p], grid.y[p], grid.z[p])
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
                integrate_facet(first, last, place, terms, cells[k, LOG_SCALE], s, rows[filled, M:])
                filled += 1
            first = last
    return filled
