"""Sums over the lattice points in a guaranteed cell and its dual, both in one sweep.

With z seen from the agent, |z| + R <= |z - D| is z . D + R |z| <= A = (|D|**2 - R**2) / 2, and the
dual has -R for R: one square root per point serves all agents. For R = 0 nothing but the lattice
point itself is rounded, so points halfway between two agents belong to both kinds of cell.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.polygon.guaranteed_envelope import CHUNK, DX, DY, HALF, RADIUS


@inner
def weigh_agent(columns, j, seen, x, y, distance, outside_g, outside_d):
    """Raise what is asked of each point of a row by what agent j asks; > 0 is outside."""
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
    """Points of a row, their distances, and nobody's demands yet."""
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
def first_and_last(low, high, origin, step, count):
    """Indices of the lattice lines between two coordinates, one wider against rounding."""
    first = math.floor((low - origin) / step) - 1
    last = math.ceil((high - origin) / step) + 1
    return larger(0, first), smaller(count - 1, last)


@inner
def range_of(n, x):
    """Least and largest of n numbers."""
    low = high = x[0]
    for k in range(n):
        low = smaller(low, x[k])
        high = larger(high, x[k])
    return low, high


@inner
def lattice_pair(px, py, n, corners, both, lattice, frame, seen, shows, cx, cy, row):
    """(mass, first x, first y, 0) of the points in the dual cell, the same in the guaranteed one.

    cx, cy: the dual's corners; `shows` tells who bounds either cell. The guaranteed cell is only
    summed if `both`.
    """
    x0 = frame[0]
    y0 = frame[1]
    step = frame[2]
    low, high = range_of(corners, cy)
    i0, i1 = first_and_last(py + low, py + high, y0, step, lattice.shape[0])
    low, high = range_of(corners, cx)
    j0, j1 = first_and_last(px + low, px + high, x0, step, lattice.shape[1])
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
                    weigh_agent(size, j, seen, x, y, distance, outside_g, outside_d)
            total_d = add_row(size, weights, y, x, outside_d, total_d)
            if both:
                total_g = add_row(size, weights, y, x, outside_g, total_g)
    return total_d, total_g
