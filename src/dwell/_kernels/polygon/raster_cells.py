"""Moments of parts of one cell of a raster: see raster.py.

A cell has four corner values, and the density in it is their bilinear interpolation; of a raster
that is constant per pixel they are equal. Six moments: 1, u, v, uu, uv, vv, about the pivot.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import clamped, larger, smaller
from dwell._kernels.common.quadrature import NODES, WEIGHTS
from dwell._kernels.polygon.buffers import NUMBERS, PIECES

BITS = 5
TILE = 1 << BITS  # cells along a block, and along both sides of a tile
REST = TILE - 1
NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
UPRIGHT = 1e300  # change of v by u of a line that is parallel to the columns
# Where the numbers of pieces begin in their buffer: values at the corners of their cells, places of
# these cells, heights, left and right ends there, and six moments.
F00, F10, F01, F11, U, V, V0, V1, L0, L1, R0, R1, M, MU, MV, UU, UV, VV = range(
    0, NUMBERS * PIECES, PIECES
)


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
def ends_of_cell(raster, i):
    """Where cells of column i begin and end, seen from their corner: outermost ones count half."""
    half = 0.5 * raster.bilinear
    last = raster.columns + raster.bilinear - 1
    return (half if i == 0 else 0.0), (1.0 - half if i == last else 1.0)


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
def fill_moments(count, pieces):
    """Fill the six moments of trapezoids: closed forms along u, Gauss rules along v.

    Without branches, for vector code.
    """
    for k in range(count):
        m = mu = mv = uu = uv = vv = 0.0
        v0, l0, r0 = pieces[V0 + k], pieces[L0 + k], pieces[R0 + k]
        dv, dl, dr = pieces[V1 + k] - v0, pieces[L1 + k] - l0, pieces[R1 + k] - r0
        for i in range(3):
            y, left = v0 + NODES[3, i] * dv, l0 + NODES[3, i] * dl
            wide = (r0 + NODES[3, i] * dr) - left
            x, square = left + 0.5 * wide, wide * wide * (1.0 / 12.0)
            low = (1.0 - y) * pieces[F00 + k] + y * pieces[F01 + k]
            high = (1.0 - y) * pieces[F10 + k] + y * pieces[F11 + k]
            w = WEIGHTS[3, i] * dv * wide
            g, tilt = w * ((1.0 - x) * low + x * high), w * square * (high - low)
            u, v = pieces[U + k] + x, pieces[V + k] + y
            gu, gv = g * u + tilt, g * v
            m += g
            mu += gu
            mv += gv
            uu += (gu + tilt) * u + g * square
            uv += gu * v
            vv += gv * v
        pieces[M + k] = m
        pieces[MU + k] = mu
        pieces[MV + k] = mv
        pieces[UU + k] = uu
        pieces[UV + k] = uv
        pieces[VV + k] = vv


@inner
def add_pieces(count, pieces, t):
    """Add the moments of the first `count` pieces."""
    fill_moments(count, pieces)
    s = NONE
    for k in range(count):
        p = pieces[k:]
        s = plus_six(s, (p[M], p[MU], p[MV], p[UU], p[UV], p[VV]))
    return plus_six(t, s)


@inner
def put_piece(k, f, cell, v0, v1, l0, l1, r0, r1, pieces, t):
    """Append a trapezoid in a cell, from v0 to v1, left side from l0 to l1, right side r0 to r1.

    f: corner values; cell: where the cell's corner is, seen from the pivot. v, l and r are seen
    from that corner. Returns the number of pieces, which was k, and the moments t, to which a full
    buffer is added.
    """
    if k == PIECES:
        k, t = 0, add_pieces(k, pieces, t)
    pieces[F00 + k], pieces[F10 + k], pieces[F01 + k], pieces[F11 + k] = f
    pieces[U + k], pieces[V + k] = cell
    pieces[V0 + k], pieces[V1 + k] = v0, v1
    pieces[L0 + k], pieces[L1 + k] = l0, l1
    pieces[R0 + k], pieces[R1 + k] = r0, r1
    return k + 1, t


@inner
def add_side(raster, row, first, last, base, pivot, cv, v0, v1, a, b, is_left, count, pieces, t):
    """Add what lies right (is_left) or left of a line, of cells first to last - 1 of a row.

    The line runs from u = a at v0 to u = b at v1. In each cell a trapezoid lies beside the line,
    and below or above that a rectangle as wide as the cell.
    """
    rising = b >= a
    inverse = (v1 - v0) / (b - a) if b != a else UPRIGHT
    before = is_left == rising
    for i in range(first, last):
        f, cell = corner_values(raster, row, i + base), (i - pivot, cv)
        low, high = ends_of_cell(raster, i + base)
        c, d = a - i, b - i
        near, far = (low, high) if rising else (high, low)
        va = clamped(v0 + (near - c) * inverse, v0, v1)
        vb = clamped(v0 + (far - c) * inverse, va, v1)
        c, d = clamped(c, low, high), clamped(d, low, high)
        la, lb, ra, rb = (c, d, high, high) if is_left else (low, low, c, d)
        count, t = put_piece(count, f, cell, va, vb, la, lb, ra, rb, pieces, t)
        s0, s1 = (v0, va) if before else (vb, v1)
        if s1 > s0:
            count, t = put_piece(count, f, cell, s0, s1, low, low, high, high, pieces, t)
    return count, t


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
def add_between(f, cell, box, lines, count, pieces, t):
    """Add the part of a cell between two lines, each given by u at both ends of the slab."""
    low, high, v0, v1 = box
    l0, l1, r0, r1 = lines
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
                count, t = put_piece(count, f, cell, va, vb, la, lb, ra, rb, pieces, t)
        s0 = s1
    return count, t
