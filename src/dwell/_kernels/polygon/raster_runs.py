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
def add_singly(raster, row, first, last, u, s):
    """Add the moments 1, u, uu of cells first to last - 1 of a row; u: of the first cell."""
    s0 = s1 = s2 = 0.0
    for i in range(first, last):
        k = float(i - first)
        if raster.bilinear == 0:
            f = value_at(raster.values, row, i)
            s0 += f
            s1 += k * f
            s2 += k * k * f
        else:
            a = value_at(raster.values, row, i - 1)  # whole cells are never outermost
            b = value_at(raster.values, row, i)
            p0, p1 = 0.5 * (a + b), a / 6.0 + b / 3.0
            s0 += p0
            s1 += k * p0 + p1
            s2 += k * (k * p0 + 2.0 * p1) + (a / 12.0 + b / 4.0)
    if raster.bilinear == 0:
        s1, s2 = s1 + 0.5 * s0, s2 + s1 + s0 / 3.0
    return s[0] + s0, s[1] + (s1 + u * s0), s[2] + (s2 + u * (2.0 * s1 + u * s0))


@inner
def add_run(raster, row, first, last, offset, s):
    """Add the moments 1, u, uu of whole cells of a row: blocks, and what is left of them singly.

    offset: what u of cell 0 is, seen from the pivot.
    """
    if first >= last:
        return s
    begin, end = -(-first // TILE), last // TILE
    if begin >= end:
        return add_singly(raster, row, first, last, offset + first, s)
    s = add_singly(raster, row, first, begin * TILE, offset + first, s)
    for b in range(begin, end):
        u = offset + b * TILE
        block = raster.blocks[row >> BITS, b, row & REST]
        m0, m1, m2 = block[0], block[1], block[2]
        s = s[0] + m0, s[1] + (m1 + u * m0), s[2] + (m2 + u * (2.0 * m1 + u * m0))
    return add_singly(raster, row, end * TILE, last, offset + end * TILE, s)


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
def add_whole(raster, j, gaps, offset, cv, v0, v1, t):
    """Add the whole cells of row j between gaps[0] and gaps[1] and between gaps[2] and gaps[3]."""
    rows = 1 if raster.bilinear == 0 else 2
    for k in range(rows):
        row = clamped(j - raster.bilinear + k, 0, raster.rows - 1)
        s = add_run(raster, row, gaps[0], gaps[1], offset, (0.0, 0.0, 0.0))
        s = add_run(raster, row, gaps[2], gaps[3], offset, s)
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
def add_tiles(tiles, row, first, last, offset_u, offset_v, t):
    """Add whole tiles of a row of tiles; offsets: what u and v of cell 0 are, from the pivot."""
    v = offset_v + row * TILE
    for c in range(first, last):
        u = offset_u + c * TILE
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
            s0 = s1 = s2 = 0.0
            for k in range(TILE):
                i = b * TILE + k
                left, right = (i, i) if bilinear == 0 else (larger(i - 1, 0), i)
                f, g = value_at(values, j, left), value_at(values, j, right)
                p0, p1 = 0.5 * (f + g), f / 6.0 + g / 3.0
                s0 += p0
                s1 += k * p0 + p1
                s2 += k * (k * p0 + 2.0 * p1) + (f / 12.0 + g / 4.0)
            block = blocks[j >> BITS, b, j & REST]
            block[0], block[1], block[2] = s0, s1, s2
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
