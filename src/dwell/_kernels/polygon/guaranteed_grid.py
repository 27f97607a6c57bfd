"""Moments of a guaranteed cell and of its dual as sums over a grid of points.

Both are summed in one pass. With z seen from the agent, |z| + R <= |z - D| is z . D + R |z| <= A =
(|D|**2 - R**2) / 2, and the dual has -R for R: one square root per point serves all agents. For
R = 0 nothing but the grid point itself is rounded, so points halfway between two agents belong to
both kinds of cell.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import smaller
from dwell._kernels.polygon.grid_quadrature import lines_across
from dwell._kernels.polygon.guaranteed_envelope import CHUNK, DX, DY, HALF, RADIUS


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
