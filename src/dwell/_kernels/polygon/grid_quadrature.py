"""Moments on a lattice of points, each belonging to its nearest agent: the way of many papers.

The centroid is then piecewise constant in the positions, which freezes cells; see the theory page.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller


@inner
def belongs(zx, zy, p, xs, ys, looked, seen):
    """Whether lattice point z is agent p's: nearest, ties to the smaller position.

    Squared distances are computed alike for every agent, so exactly one owns each point. Only
    candidates of the cell can be nearer.
    """
    ax = zx - xs[p]
    ay = zy - ys[p]
    own = ax * ax + ay * ay
    for k in range(looked):
        q = seen[k]
        bx = zx - xs[q]
        by = zy - ys[q]
        other = bx * bx + by * by
        if other < own:
            return False
        if other == own and (xs[q] < xs[p] or (xs[q] == xs[p] and ys[q] < ys[p])):
            return False
    return True


@inner
def lattice_moments(n, p, xs, ys, terms, looked, s):
    """(mass, first x, first y, polar) about agent p of the lattice points in its cell.

    Scans the bounding box of the polygon in s.x, s.y (one spacing wider, against rounding).
    """
    rows = terms.lattice.shape[0]
    columns = terms.lattice.shape[1]
    x0 = terms.frame[0]
    y0 = terms.frame[1]
    step = terms.frame[2]
    left = right = s.x[0]
    low = high = s.y[0]
    for k in range(n):
        left = smaller(left, s.x[k])
        right = larger(right, s.x[k])
        low = smaller(low, s.y[k])
        high = larger(high, s.y[k])
    i0 = larger(0, math.floor((ys[p] + low - y0) / step) - 1)
    i1 = smaller(rows - 1, math.ceil((ys[p] + high - y0) / step) + 1)
    j0 = larger(0, math.floor((xs[p] + left - x0) / step) - 1)
    j1 = smaller(columns - 1, math.ceil((xs[p] + right - x0) / step) + 1)
    m = fx = fy = polar = 0.0
    for i in range(i0, i1 + 1):
        zy = y0 + i * step
        for j in range(j0, j1 + 1):
            w = terms.lattice[i, j]
            if w > 0.0:
                zx = x0 + j * step
                if belongs(zx, zy, p, xs, ys, looked, s.seen):
                    dx = zx - xs[p]
                    dy = zy - ys[p]
                    m += w
                    fx += w * dx
                    fy += w * dy
                    polar += w * (dx * dx + dy * dy)
    return m, fx, fy, polar
