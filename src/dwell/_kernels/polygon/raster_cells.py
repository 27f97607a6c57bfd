"""Moments of parts of one cell of a raster: see raster.py.

A cell has four corner values, and the density in it is their bilinear interpolation; of a raster
that is constant per pixel they are equal. Six moments: 1, u, v, uu, uv, vv, about the pivot.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.quadrature import NODES, WEIGHTS

BITS = 5
TILE = 1 << BITS  # cells along a block, and along both sides of a tile
REST = TILE - 1
NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner
def clamped(x, low, high):
    """The number in [low, high] that is nearest to x."""
    return smaller(larger(x, low), high)


@inner
def value_at(values, j, i):
    """The value in row j and column i, which lies in a tile."""
    return np.float64(values[j >> BITS, i >> BITS, j & REST, i & REST])


@inner
def corner_values(raster, j, i):
    """The density at the corners of cell (j, i): lower left, lower right, upper left, upper right.

    Constant cells have the same value four times.
    """
    values = raster.values
    if raster.bilinear == 0:
        f = value_at(values, j, i)
        return f, f, f, f
    low, high = larger(j - 1, 0), smaller(j, raster.rows - 1)
    left, right = larger(i - 1, 0), smaller(i, raster.columns - 1)
    return (
        value_at(values, low, left),
        value_at(values, low, right),
        value_at(values, high, left),
        value_at(values, high, right),
    )


@inner
def plus_six(t, m):
    """The sum of six moments and six others."""
    return t[0] + m[0], t[1] + m[1], t[2] + m[2], t[3] + m[3], t[4] + m[4], t[5] + m[5]


@inner
def plus_point(t, w, u, v):
    """Add a weight at a point to six moments."""
    wu, wv = w * u, w * v
    return t[0] + w, t[1] + wu, t[2] + wv, t[3] + wu * u, t[4] + wu * v, t[5] + wv * v


@inner
def plus_product(t, s0, s1, s2, h0, h1, h2):
    """Add the product of moments along a row and moments across it."""
    return (
        t[0] + s0 * h0,
        t[1] + s1 * h0,
        t[2] + s0 * h1,
        t[3] + s2 * h0,
        t[4] + s1 * h1,
        t[5] + s0 * h2,
    )


@inner
def add_piece(f, bilinear, cell, v0, v1, l0, l1, r0, r1, t):
    """Add a trapezoid in a cell, from v0 to v1, left side from l0 to l1, right side r0 to r1.

    f: corner values; cell: where the cell's corner is, seen from the pivot. v, l and r are seen
    from that corner. Along u integrals are closed forms about the middle, along v Gauss rules.
    """
    cu, cv = cell
    dv, dl, dr = v1 - v0, l1 - l0, r1 - r0
    order = 3 if bilinear == 1 and (dl != 0.0 or dr != 0.0) else 2
    for k in range(order):
        s = NODES[order, k]
        y, left = v0 + s * dv, l0 + s * dl
        wide = (r0 + s * dr) - left
        x = left + 0.5 * wide
        w, square = WEIGHTS[order, k] * dv * wide, wide * wide * (1.0 / 12.0)
        g, tilt = w * f[0], 0.0
        if bilinear == 1:
            low, high = (1.0 - y) * f[0] + y * f[2], (1.0 - y) * f[1] + y * f[3]
            g, tilt = w * ((1.0 - x) * low + x * high), w * square * (high - low)
        u, v = cu + x, cv + y
        gu, gv = g * u + tilt, g * v
        t = (
            t[0] + g,
            t[1] + gu,
            t[2] + gv,
            t[3] + ((gu + tilt) * u + g * square),
            t[4] + gu * v,
            t[5] + gv * v,
        )
    return t


@inner
def add_crossed(f, bilinear, cell, box, s0, s1, is_left, a, b, t):
    """Add the part of a cell to the right (is_left) or to the left of a line that crosses it.

    box: (low, high, v0, v1), bounds of the cell in u, and of the slab in v, seen from the corner.
    The line runs from u = a at v0 to u = b at v1; it lies within the cell for shares s0 to s1 of
    the way.
    """
    low, high, v0, v1 = box
    dv = v1 - v0
    va, vb = v0 + s0 * dv, v0 + s1 * dv
    a, b = clamped(a, low, high), clamped(b, low, high)
    la, lb, ra, rb = (a, b, high, high) if is_left else (low, low, a, b)
    if s0 > 0.0 and ra > la:
        t = add_piece(f, bilinear, cell, v0, va, la, la, ra, ra, t)
    if s1 > s0:
        t = add_piece(f, bilinear, cell, va, vb, la, lb, ra, rb, t)
    if s1 < 1.0 and rb > lb:
        t = add_piece(f, bilinear, cell, vb, v1, lb, lb, rb, rb, t)
    return t


@inner
def shares_of(low, high, a, inverse):
    """The shares of the way at which a line enters and leaves [low, high]: from 0 to 1."""
    s, r = clamped((low - a) * inverse, 0.0, 1.0), clamped((high - a) * inverse, 0.0, 1.0)
    return smaller(s, r), larger(s, r)


@inner
def inverse_of(d):
    """1 / d; 0 for a line that is parallel to the columns."""
    return 1.0 / d if d != 0.0 else 0.0


@inner
def add_between(f, bilinear, cell, box, left, right, t):
    """Add the part of a cell between two lines, each given by u at both ends of the slab."""
    low, high, v0, v1 = box
    l0, l1 = left
    r0, r1 = right
    a, b = shares_of(low, high, l0, inverse_of(l1 - l0))
    c, d = shares_of(low, high, r0, inverse_of(r1 - r0))
    s0 = 0.0
    for k in range(5):  # the shares in order: of two sorted pairs
        if k == 0:
            s1 = smaller(a, c)
        elif k == 1:
            s1 = smaller(larger(a, c), smaller(b, d))
        elif k == 2:
            s1 = larger(larger(a, c), smaller(b, d))
        else:
            s1 = larger(b, d) if k == 3 else 1.0
        s1 = larger(s1, s0)
        if s1 > s0:
            la, lb = (
                clamped(l0 + s0 * (l1 - l0), low, high),
                clamped(l0 + s1 * (l1 - l0), low, high),
            )
            ra, rb = (
                clamped(r0 + s0 * (r1 - r0), low, high),
                clamped(r0 + s1 * (r1 - r0), low, high),
            )
            ra, rb = larger(ra, la), larger(rb, lb)
            if ra > la or rb > lb:
                va, vb = v0 + s0 * (v1 - v0), v0 + s1 * (v1 - v0)
                t = add_piece(f, bilinear, cell, va, vb, la, lb, ra, rb, t)
        s0 = s1
    return t
