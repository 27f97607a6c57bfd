"""Moments of whole cells of a raster, by sums over blocks and tiles: see raster.py."""

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import clamped, larger, smaller
from dwell._kernels.common.quadrature import NODES
from dwell._kernels.polygon.raster_cells import (
    BITS,
    NONE,
    REST,
    TILE,
    plus_product,
    plus_six,
    value_at,
)

THIRD, SIXTH, TWELFTH = 1.0 / 3.0, 1.0 / 6.0, 1.0 / 12.0


@inner
def moments_of_line(bilinear, n, a, b, sums):
    """Moments 1, u, uu of n cells of a row, at least one; u counts from the first cell's corner.

    sums: of f, k f and k k f over cells, or over inner nodes of bilinear cells. Each of these nodes
    has a hat function of width 2, both outer ones, with values a and b, half of it.
    """
    s0, s1, s2 = sums
    if bilinear == 0:
        return s0, s1 + 0.5 * s0, s2 + s1 + s0 * THIRD
    c, d = 0.5 * n - SIXTH, n * (0.5 * n - THIRD) + TWELFTH
    return (
        s0 + 0.5 * (a + b),
        s1 + s0 + (a * SIXTH + b * c),
        s2 + 2.0 * s1 + s0 * (1.0 + SIXTH) + (a * TWELFTH + b * d),
    )


@inner
def moments_of_lines(values, bilinear, low, high, first, last):
    """Moments 1, u, uu of cells first to last - 1, at least one and in one tile, of two rows."""
    one = values[low >> BITS, first >> BITS, low & REST]
    other = values[high >> BITS, first >> BITS, high & REST]
    s0 = s1 = s2 = r0 = r1 = r2 = k = 0.0
    begin = first & REST
    for i in range(begin, begin + last - first - bilinear):
        f, g = np.float64(one[i]), np.float64(other[i])
        kf, kg = k * f, k * g
        s0 += f
        s1 += kf
        s2 += k * kf
        r0 += g
        r1 += kg
        r2 += k * kg
        k += 1.0
    before, n = larger(first - 1, 0), float(last - first)
    a, b = value_at(values, low, before), value_at(values, low, last - 1)
    c, d = value_at(values, high, before), value_at(values, high, last - 1)
    return (
        moments_of_line(bilinear, n, a, b, (s0, s1, s2)),
        moments_of_line(bilinear, n, c, d, (r0, r1, r2)),
    )


@inner
def plus_moved(s, m, u):
    """Add the moments 1, u, uu about a point to others; u: of that point."""
    return s[0] + m[0], s[1] + (m[1] + u * m[0]), s[2] + (m[2] + u * (2.0 * m[1] + u * m[0]))


@inner
def add_singly(raster, low, high, first, last, frame, s, r):
    """Add the moments 1, u, uu of cells first to last - 1 of two rows; there may be none."""
    if first >= last:
        return s, r
    one, other = moments_of_lines(raster.values, raster.bilinear, low, high, first, last)
    u = (first - frame[0]) - frame[1]
    return plus_moved(s, one, u), plus_moved(r, other, u)


@inner
def add_blocks(raster, low, high, first, last, frame, s, r):
    """Add the moments 1, u, uu of blocks first to last - 1 of two rows."""
    for b in range(first, last):
        u = (b * TILE - frame[0]) - frame[1]
        s = plus_moved(s, raster.blocks[low >> BITS, b, low & REST], u)
        r = plus_moved(r, raster.blocks[high >> BITS, b, high & REST], u)
    return s, r


@inner
def heights(v0, v1, cv, lower):
    """Moments 1, v, vv across a slab of the weight 1 - v (lower) or v, which are 1 at one row."""
    h0 = h1 = h2 = 0.0
    for k in range(2):
        y = v0 + NODES[2, k] * (v1 - v0)
        w = 0.5 * (v1 - v0) * (1.0 - y if lower else y)
        h0 += w
        h1 += w * (cv + y)
        h2 += w * (cv + y) * (cv + y)
    return h0, h1, h2


@inner
def add_whole(raster, j, inside, gap, frame, cv, v0, v1, t):
    """Add whole cells of row j, but for those in tiles gap[0] to gap[1] - 1; inside: first, last.

    frame: the base, and the pivot's u from there: see `to_pixels`.
    """
    low = clamped(j - raster.bilinear, 0, raster.rows - 1)
    high = clamped(j, 0, raster.rows - 1)
    first, last = inside
    begin, end = (first + REST) >> BITS, last >> BITS
    c, d = gap if gap[0] < gap[1] else (end, end)
    split = smaller(begin * TILE, last)
    s = r = (0.0, 0.0, 0.0)
    s, r = add_singly(raster, low, high, first, split, frame, s, r)
    s, r = add_blocks(raster, low, high, begin, c, frame, s, r)
    s, r = add_blocks(raster, low, high, d, end, frame, s, r)
    s, r = add_singly(raster, low, high, larger(split, end * TILE), last, frame, s, r)
    if raster.bilinear == 0:
        h, y = v1 - v0, cv + 0.5 * (v0 + v1)
        return plus_product(t, s[0], s[1], s[2], h, h * y, h * (y * y + h * h * TWELFTH))
    h0, h1, h2 = heights(v0, v1, cv, True)
    t = plus_product(t, s[0], s[1], s[2], h0, h1, h2)
    h0, h1, h2 = heights(v0, v1, cv, False)
    return plus_product(t, r[0], r[1], r[2], h0, h1, h2)


@inner
def moments_of_tiles(tiles, row, first, last, bu, bv, pivot):
    """Six moments of whole tiles of a row; bu, bv: the base, from which the pivot is seen."""
    t = NONE
    v = (row * TILE - bv) - pivot[1]
    for c in range(first, last):
        u = (c * TILE - bu) - pivot[0]
        m, mu, mv = tiles[row, c, 0], tiles[row, c, 1], tiles[row, c, 2]
        uu = tiles[row, c, 3] + u * (2.0 * mu + u * m)
        uv = tiles[row, c, 4] + (u * mv + v * (mu + u * m))
        vv = tiles[row, c, 5] + v * (2.0 * mv + v * m)
        t = plus_six(t, (m, mu + u * m, mv + v * m, uu, uv, vv))
    return t


@njit
def fill_blocks(values, rows, bilinear, blocks, tiles):
    """Fill the moments 1, u, uu of blocks and 1, u, v, uu, uv, vv of tiles, about their corners.

    The outermost cells of a bilinear raster count as if they were whole; no polygon takes them so.
    """
    for j in range(rows):
        for b in range(blocks.shape[1]):
            block = blocks[j >> BITS, b, j & REST]
            s, _ = moments_of_lines(values, bilinear, j, j, b * TILE, (b + 1) * TILE)
            block[0], block[1], block[2] = s
    for row in range(tiles.shape[0]):
        for b in range(tiles.shape[1]):
            t = NONE
            for k in range(TILE):
                for upper in range(2):
                    j = row * TILE + k
                    if bilinear == 1:
                        j = larger(j - 1 + upper, 0)
                    h0, h1, h2 = heights(0.0, 1.0, float(k), upper == 0)
                    s = blocks[j >> BITS, b, j & REST]
                    t = plus_product(t, s[0], s[1], s[2], h0, h1, h2)
            for c in range(6):
                tiles[row, b, c] = t[c]
