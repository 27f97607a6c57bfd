"""Moments as sums over a grid of points.

Each point belongs to its nearest agent, as in many papers. The centroid is then piecewise constant
in the positions, which freezes cells; see the theory page.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import clamped, larger, range_of, smaller
from dwell._kernels.polygon.gaussian import add_point


@inner
def lines_between(low, high, origin, step, count):
    """Indices of the grid lines between two coordinates, one wider against rounding."""
    first = math.floor(clamped((low - origin) / step, 0.0, count)) - 1
    last = math.ceil(clamped((high - origin) / step, -2.0, count - 1.0)) + 1
    return larger(0, first), smaller(count - 1, last)


@inner
def lines_across(n, px, py, x, y, lattice, frame):
    """First and last row, then column, of the grid across the polygon x, y seen from (px, py)."""
    low, high = range_of(n, y)
    i0, i1 = lines_between(py + low, py + high, frame[1], frame[2], lattice.shape[0])
    low, high = range_of(n, x)
    j0, j1 = lines_between(px + low, px + high, frame[0], frame[2], lattice.shape[1])
    return i0, i1, j0, j1


@inner
def belongs(zx, zy, p, xs, ys, candidates, seen):
    """Whether agent p is nearest to grid point z; ties go to the smaller position.

    Squared distances are computed alike for every agent, so exactly one owns each point. Only
    candidates of the cell can be nearer.
    """
    ax, ay = zx - xs[p], zy - ys[p]
    own = ax * ax + ay * ay
    for k in range(candidates):
        q = seen[k]
        bx, by = zx - xs[q], zy - ys[q]
        other = bx * bx + by * by
        if other < own:
            return False
        if other == own and (xs[q] < xs[p] or (xs[q] == xs[p] and ys[q] < ys[p])):
            return False
    return True


@inner
def grid_moments(n, p, xs, ys, terms, candidates, s):
    """(mass, first x, first y, polar) about agent p of the grid points in its cell.

    Scans the bounding box of the polygon in s.x, s.y (one spacing wider, against rounding).
    """
    x0, y0, step = terms.frame[0], terms.frame[1], terms.frame[2]
    i0, i1, j0, j1 = lines_across(n, xs[p], ys[p], s.x, s.y, terms.lattice, terms.frame)
    total = (0.0, 0.0, 0.0, 0.0)
    for i in range(i0, i1 + 1):
        zy = y0 + i * step
        for j in range(j0, j1 + 1):
            w = terms.lattice[i, j]
            if w > 0.0:
                zx = x0 + j * step
                if belongs(zx, zy, p, xs, ys, candidates, s.seen):
                    total = add_point(total, w, zx - xs[p], zy - ys[p])
    return total
