"""Moments of whole cells of a raster, by sums over blocks and tiles: see raster.py."""

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import larger
from dwell._kernels.common.quadrature import NODES
from dwell._kernels.polygon.raster_cells import (
    BITS,
    NONE,
    REST,
    TILE,
    clamped,
    plus_product,
    plus_six,
    value_at,
)


@inner
def sums_of_values(values, row, first, last):
    """Sums of f, k f and k k f over values first to last - 1 of a row; k counts from the first."""
    s0 = s1 = s2 = k = 0.0
    for i in range(first, last):
        f = value_at(values, row, i)
        kf = k * f
        s0 += f
        s1 += kf
        s2 += k * kf
        k += 1.0
    return s0, s1, s2


@inner
def moments_of_line(values, bilinear, row, first, last):
    """Moments 1, u, uu of cells first to last - 1 of a row, at least one.

    u counts from the first cell's corner. Each inner node of bilinear cells has a hat function of
    width 2, both outer ones half of it.
    """
    if bilinear == 0:
        s0, s1, s2 = sums_of_values(values, row, first, last)
        return s0, s1 + 0.5 * s0, s2 + s1 + s0 / 3.0
    a, b = value_at(values, row, larger(first - 1, 0)), value_at(values, row, last - 1)
    s0, s1, s2 = sums_of_values(values, row, first, last - 1)
    n = float(last - first)
    return (
        s0 + 0.5 * (a + b),
        s1 + s0 + (a / 6.0 + b * (0.5 * n - 1.0 / 6.0)),
        s2 + 2.0 * s1 + s0 + s0 / 6.0 + (a / 12.0 + b * (n * (0.5 * n - 1.0 / 3.0) + 1.0 / 12.0)),
    )


@inner
def plus_moved(s, m, u):
    """Add the moments 1, u, uu about a point to others; u: of that point."""
    return s[0] + m[0], s[1] + (m[1] + u * m[0]), s[2] + (m[2] + u * (2.0 * m[1] + u * m[0]))


@inner
def add_singly(raster, row, first, last, frame, s):
    """Add the moments 1, u, uu of cells first to last - 1 of a row; there may be none."""
    if first >= last:
        return s
    found = moments_of_line(raster.values, raster.bilinear, row, first, last)
    return plus_moved(s, found, (first - frame[0]) - frame[1])


@inner
def add_run(raster, row, first, last, frame, s):
    """Add the moments 1, u, uu of whole cells of a row: blocks, and what is left of them singly.

    frame: the base, and the pivot's u from there: see `to_pixels`.
    """
    begin, end = -(-first // TILE), last // TILE
    if begin >= end:
        return add_singly(raster, row, first, last, frame, s)
    s = add_singly(raster, row, first, begin * TILE, frame, s)
    for b in range(begin, end):
        block = raster.blocks[row >> BITS, b, row & REST]
        s = plus_moved(s, block, (b * TILE - frame[0]) - frame[1])
    return add_singly(raster, row, end * TILE, last, frame, s)


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
def add_whole(raster, j, gaps, frame, cv, v0, v1, t):
    """Add the whole cells of row j between gaps[0] and gaps[1] and between gaps[2] and gaps[3]."""
    rows = 1 if raster.bilinear == 0 else 2
    for k in range(rows):
        row = clamped(j - raster.bilinear + k, 0, raster.rows - 1)
        s = add_run(raster, row, gaps[0], gaps[1], frame, (0.0, 0.0, 0.0))
        s = add_run(raster, row, gaps[2], gaps[3], frame, s)
        if s[0] == 0.0:
            continue
        if rows == 1:
            h, y = v1 - v0, cv + 0.5 * (v0 + v1)
            t = plus_product(t, s[0], s[1], s[2], h, h * y, h * (y * y + h * h / 12.0))
        else:
            h0, h1, h2 = heights(v0, v1, cv, k == 0)
            t = plus_product(t, s[0], s[1], s[2], h0, h1, h2)
    return t


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
            block[0], block[1], block[2] = moments_of_line(
                values, bilinear, j, b * TILE, (b + 1) * TILE
            )
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
