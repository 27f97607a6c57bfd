"""Moments as sums over a grid of points.

Each point belongs to its nearest agent, as in many papers. The centroid is then piecewise constant
in the positions, which freezes cells; see the theory page.

A guaranteed cell and its dual are summed in one pass. With z seen from the agent, |z| + R <= |z -
D| is z . D + R |z| <= A = (|D|**2 - R**2) / 2, and the dual has -R for R: one square root per point
serves all agents. For R = 0 nothing but the grid point itself is rounded, so points halfway between
two agents belong to both kinds of cell.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import clamped, larger, range_of, smaller
from dwell._kernels.polygon.gaussian import add_point
from dwell._kernels.polygon.guaranteed_envelope import CHUNK, DX, DY, HALF, RADIUS


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


@inner
def add_constraint(columns, j, seen, x, y, distance, outside_g, outside_d):
    """Raise the constraint functions at each point of a row by those of agent j; > 0 is outside."""
    dx = seen[j, DX]
    offset = y * seen[j, DY] - seen[j, HALF]
    r = seen[j, RADIUS]
    for k in range(columns):
        plain = x[k] * dx + offset
        more = r * distance[k]
        g = plain + more
        d = plain - more
        outside_g[k] = g if g > outside_g[k] else outside_g[k]
        outside_d[k] = d if d > outside_d[k] else outside_d[k]


@inner
def add_row(columns, weights, y, x, worst, total):
    """Add the points of a row that are not outside.

    Four sums side by side, in a fixed order: the additions need not wait for one another.
    """
    for k in range(columns):
        worst[k] = weights[k] if worst[k] <= 0.0 else 0.0
    m0 = m1 = m2 = m3 = 0.0
    x0 = x1 = x2 = x3 = 0.0
    even = columns - columns % 4
    for k in range(0, even, 4):
        m0 += worst[k]
        m1 += worst[k + 1]
        m2 += worst[k + 2]
        m3 += worst[k + 3]
        x0 += worst[k] * x[k]
        x1 += worst[k + 1] * x[k + 1]
        x2 += worst[k + 2] * x[k + 2]
        x3 += worst[k + 3] * x[k + 3]
    for k in range(even, columns):
        m0 += worst[k]
        x0 += worst[k] * x[k]
    row = (m0 + m1) + (m2 + m3)
    m, gx, gy, _ = total
    return m + row, gx + ((x0 + x1) + (x2 + x3)), gy + row * y, 0.0


@inner
def guaranteed_grid_moments(px, py, n, vertices, both, lattice, frame, seen, shows, corner, row):
    """(mass, first x, first y, 0) of the points in the dual cell, and in the guaranteed one.

    corner: the dual's vertices; `shows` marks the agents that bound either cell. The guaranteed
    cell is only summed if `both`.
    """
    x0, y0, step = frame[0], frame[1], frame[2]
    i0, i1, j0, j1 = lines_across(vertices, px, py, corner[:, 0], corner[:, 1], lattice, frame)
    x, distance = row[0], row[1]
    outside_g, outside_d = row[2], row[3]
    total_g = total_d = (0.0, 0.0, 0.0, 0.0)
    for i in range(i0, i1 + 1):
        y = y0 + i * step - py
        for start in range(j0, j1 + 1, CHUNK):
            size = smaller(CHUNK, j1 + 1 - start)
            weights = lattice[i, start : start + size]
            left = x0 + start * step - px
            for k in range(size):
                x[k] = left + k * step
                distance[k] = math.sqrt(x[k] * x[k] + y * y)
                outside_g[k] = outside_d[k] = -1.0
            for j in range(n):
                if shows[j] > 0:
                    add_constraint(size, j, seen, x, y, distance, outside_g, outside_d)
            total_d = add_row(size, weights, y, x, outside_d, total_d)
            if both:
                total_g = add_row(size, weights, y, x, outside_g, total_g)
    return total_d, total_g
