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
from dwell._kernels.common.arithmetic import larger, range_of, smaller
from dwell._kernels.polygon.guaranteed_envelope import CHUNK, DX, DY, HALF, RADIUS


@inner
def lines_between(low, high, origin, step, count):
    """Indices of the grid lines between two coordinates, one wider against rounding."""
    first = math.floor((low - origin) / step) - 1
    last = math.ceil((high - origin) / step) + 1
    return larger(0, first), smaller(count - 1, last)


@inner
def belongs(zx, zy, p, xs, ys, candidates, seen):
    """Whether agent p is nearest to grid point z; ties go to the smaller position.

    Squared distances are computed alike for every agent, so exactly one owns each point. Only
    candidates of the cell can be nearer.
    """
    ax = zx - xs[p]
    ay = zy - ys[p]
    own = ax * ax + ay * ay
    for k in range(candidates):
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
def grid_moments(n, p, xs, ys, terms, candidates, s):
    """(mass, first x, first y, polar) about agent p of the grid points in its cell.

    Scans the bounding box of the polygon in s.x, s.y (one spacing wider, against rounding).
    """
    x0 = terms.frame[0]
    y0 = terms.frame[1]
    step = terms.frame[2]
    low, high = range_of(n, s.y)
    i0, i1 = lines_between(ys[p] + low, ys[p] + high, y0, step, terms.lattice.shape[0])
    low, high = range_of(n, s.x)
    j0, j1 = lines_between(xs[p] + low, xs[p] + high, x0, step, terms.lattice.shape[1])
    m = fx = fy = polar = 0.0
    for i in range(i0, i1 + 1):
        zy = y0 + i * step
        for j in range(j0, j1 + 1):
            w = terms.lattice[i, j]
            if w > 0.0:
                zx = x0 + j * step
                if belongs(zx, zy, p, xs, ys, candidates, s.seen):
                    dx = zx - xs[p]
                    dy = zy - ys[p]
                    m += w
                    fx += w * dx
                    fy += w * dy
                    polar += w * (dx * dx + dy * dy)
    return m, fx, fy, polar


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
def open_row(columns, left, step, y, x, distance, outside_g, outside_d):
    """Write the points of a row and their distances, before any constraint."""
    for k in range(columns):
        x[k] = left + k * step
        distance[k] = math.sqrt(x[k] * x[k] + y * y)
        outside_g[k] = -1.0
        outside_d[k] = -1.0


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
    x0 = frame[0]
    y0 = frame[1]
    step = frame[2]
    low, high = range_of(vertices, corner[:, 1])
    i0, i1 = lines_between(py + low, py + high, y0, step, lattice.shape[0])
    low, high = range_of(vertices, corner[:, 0])
    j0, j1 = lines_between(px + low, px + high, x0, step, lattice.shape[1])
    x = row[0]
    distance = row[1]
    outside_g = row[2]
    outside_d = row[3]
    total_g = (0.0, 0.0, 0.0, 0.0)
    total_d = (0.0, 0.0, 0.0, 0.0)
    for i in range(i0, i1 + 1):
        y = y0 + i * step - py
        for start in range(j0, j1 + 1, CHUNK):
            size = smaller(CHUNK, j1 + 1 - start)
            weights = lattice[i, start : start + size]
            open_row(size, x0 + start * step - px, step, y, x, distance, outside_g, outside_d)
            for j in range(n):
                if shows[j] > 0:
                    add_constraint(size, j, seen, x, y, distance, outside_g, outside_d)
            total_d = add_row(size, weights, y, x, outside_d, total_d)
            if both:
                total_g = add_row(size, weights, y, x, outside_g, total_g)
    return total_d, total_g
