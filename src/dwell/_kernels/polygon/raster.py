"""Moments of a raster over a convex polygon, and along a segment.

Pixel units: u counts columns, v rows, from the corner of the first value. A raster that is constant
per pixel has cells [i, i + 1] x [j, j + 1]. One that is bilinear between pixel centres is shifted
by half a pixel, so that node (j, i) lies at whole numbers; nodes beyond the outermost centres
repeat them, and outermost cells count half.

The polygon is cut into slabs at rows of cells and at its vertices: trapezoids with two level sides.
In a slab, cells that its left or right side crosses are integrated singly, PIECES parts of cells at
once (Gauss rules that are exact for their degree); those between are whole, and their sums come
from blocks of TILE cells of a row, about the block's corner. Where the polygon spans TILE rows,
whole tiles of TILE x TILE cells add their six moments. Every mass is a sum of products of positive
numbers: nothing is subtracted. The cost is proportional to the number of cells that the outline
crosses.

u and v are taken relative to the corner of the agent's cell, so that they are as small as the
polygon. Whole cells are summed slab by slab, then in bands, then together, and pieces likewise by
buffers: few roundings reach a sum. Six moments: 1, u, v, uu, uv, vv, about the pivot.

Between two frames of a raster that changes over time, moments are weighted sums of theirs.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import clamped, larger, range_of, smaller
from dwell._kernels.common.density_terms import RasterTerms
from dwell._kernels.common.quadrature import NODES, WEIGHTS
from dwell._kernels.polygon.raster_cells import (
    BITS,
    NONE,
    REST,
    TILE,
    add_between,
    add_pieces,
    add_side,
    corner_values,
    ends_of_cell,
    plus_point,
    plus_six,
)
from dwell._kernels.polygon.raster_runs import add_whole, moments_of_tiles

BAND = 8  # rows that are summed apart from others
ROUNDING = 4e-16  # of a place in pixels, relative to the size of the grid


@inner
def is_present(raster):
    """Whether there is a raster: not None."""
    return raster is not None


@inner
def one_frame(raster, k):
    """Frame k of a raster."""
    return RasterTerms(
        raster.values[k], raster.rows, raster.columns, raster.bilinear, raster.scale, raster.place,
        raster.blocks[k], raster.tiles[k], raster.frame,
    )  # fmt: skip


@inner
def frame_weight(raster, k):
    """The number and the weight of the present frame (k = 0) or of the one after it (k = 1)."""
    number = math.floor(raster.frame[0])
    share = raster.frame[0] - number
    return int(number) + k, (1.0 - share if k == 0 else share)


@inner
def add_slab(raster, height, base, pivot, v0, v1, left, right, gap, count, pieces, t):
    """Add the slab of a row from v0 to v1, seen from that row, between two lines.

    height: the row, and its v seen from the pivot; left, right: u of a line at both ends. gap:
    first and last of the tiles that are added already. Columns are counted from `base` on. Returns
    the number of pieces in the buffer, and the moments.
    """
    bilinear = raster.bilinear
    begin, end = -base, raster.columns + bilinear - base  # all columns
    l0, l1 = left
    r0, r1 = right
    first = math.floor(clamped(smaller(l0, l1), begin, end))
    last = math.ceil(clamped(larger(r0, r1), begin, end))
    whole = larger(math.ceil(clamped(larger(l0, l1), begin, end)), begin + bilinear)
    until = smaller(math.floor(clamped(smaller(r0, r1), begin, end)), end - bilinear)
    if gap[0] < gap[1]:
        whole, until = smaller(whole, gap[0] * TILE - base), larger(until, gap[1] * TILE - base)
    row, cv = height
    if whole < until:
        count, t = add_side(
            raster, row, first, whole, base, pivot[0], cv, v0, v1, l0, l1, True, count, pieces, t
        )
        count, t = add_side(
            raster, row, until, last, base, pivot[0], cv, v0, v1, r0, r1, False, count, pieces, t
        )
        inside, frame = (whole + base, until + base), (base, pivot[0])
        return count, add_whole(raster, row, inside, gap, frame, cv, v0, v1, t)
    for i in range(first, last):
        f, cell = corner_values(raster, row, i + base), (i - pivot[0], cv)
        low, high = ends_of_cell(raster, i + base)
        box, lines = (low, high, v0, v1), (l0 - i, l1 - i, r0 - i, r1 - i)
        count, t = add_between(f, cell, box, lines, count, pieces, t)
    return count, t


@inner
def on_side(side, level, u, v):
    """u at the height `level` of a side, which rises: see `next_side`."""
    a, b, slope = side
    if level >= v[b]:
        return u[b]
    if level <= v[a]:
        return u[a]
    return clamped(u[a] + (level - v[a]) * slope, smaller(u[a], u[b]), larger(u[a], u[b]))


@inner
def next_side(n, side, step, level, top, u, v):
    """The side of a chain that passes the height `level`, from a side on upwards.

    A side is (lower vertex, upper vertex, change of u by v). step: 1 or n - 1, from one vertex of
    the chain to the next; top: the largest height.
    """
    a, b, slope = side
    while v[b] <= level and v[b] < top:
        a = b
        b = b + step
        b = b - n if b >= n else b
        slope = (u[b] - u[a]) / (v[b] - v[a]) if v[b] > v[a] else 0.0
    return a, b, slope


@inner
def overhang(n, u, low, high, slack):
    """By how much numbers must move to lie in [low, high]; 0 where that is more than rounding."""
    least, most = range_of(n, u)
    if low - slack <= least < low:
        return low - least
    return high - most if high < most <= high + slack else 0.0


@inner
def to_pixels(n, raster, x0, y0, x, y, u, v):
    """Write the polygon in pixel units into u, v, counter-clockwise; return its base and agent.

    The base is the corner of the agent's cell, which u and v are relative to; the agent's place
    likewise. A polygon that sticks out of the grid by rounding only moves inside as a whole.
    """
    place, half = raster.place, 0.5 * raster.bilinear
    gx, gy = x0 - place[0], y0 - place[1]
    au = place[2] * gx + place[3] * gy + half
    av = place[4] * gx + place[5] * gy + half
    bu, bv = math.floor(au), math.floor(av)
    au, av = au - bu, av - bv
    turned = place[10] < 0.0
    for k in range(n):
        i = n - 1 - k if turned else k
        u[i] = au + (place[2] * x[k] + place[3] * y[k])
        v[i] = av + (place[4] * x[k] + place[5] * y[k])
    slack = ROUNDING * (raster.columns + raster.rows)
    du = overhang(n, u, half - bu, raster.columns + half - bu, slack)
    dv = overhang(n, v, half - bv, raster.rows + half - bv, slack)
    for k in range(n):
        u[k] += du
        v[k] += dv
    return bu, bv, au + du, av + dv


@inner
def pixel_moments(n, raster, bu, bv, pivot, u, v, pieces):
    """Six moments, in pixel units, of the polygon in u, v: see `to_pixels`."""
    rows, columns, bilinear = raster.rows, raster.columns, raster.bilinear
    half = 0.5 * bilinear
    low = high = 0
    for k in range(n):
        low = k if v[k] < v[low] else low
        high = k if v[k] > v[high] else high
    peak = v[high]
    now, top = larger(v[low], half - bv), smaller(peak, rows + half - bv)
    t = band = NONE
    lefts, rights = (low, low, 0.0), (low, low, 0.0)
    gap, count = (0, 0), 0
    covered = -math.inf
    while now < top:
        lefts = next_side(n, lefts, n - 1, now, peak, u, v)
        rights = next_side(n, rights, 1, now, peak, u, v)
        j = math.floor(now)
        if j >= covered:
            gap = (0, 0)
        left, right = on_side(lefts, now, u, v), on_side(rights, now, u, v)
        after = j + TILE
        if now == j and (j + bv) % BAND == 0:
            t, band = plus_six(t, band), NONE
        full = now == j and (j + bv) & REST == 0 and after <= top
        if full and j + bv >= bilinear and after + bv <= rows:
            far_left = on_side(next_side(n, lefts, n - 1, after, peak, u, v), after, u, v)
            far_right = on_side(next_side(n, rights, 1, after, peak, u, v), after, u, v)
            begin = math.ceil(clamped(larger(left, far_left), bilinear - bu, columns - bu))
            end = math.floor(clamped(smaller(right, far_right), bilinear - bu, columns - bu))
            first, last = (begin + bu + REST) >> BITS, (end + bu) >> BITS
            if first < last:
                gap, covered = (first, last), after
                tiles = moments_of_tiles(raster.tiles, (j + bv) >> BITS, first, last, bu, bv, pivot)
                band = plus_six(band, tiles)
        then = smaller(smaller(j + 1.0, top), smaller(v[lefts[1]], v[rights[1]]))
        if not then > now:  # so far from the grid that doubles do not tell its rows apart
            break
        lines = (left, on_side(lefts, then, u, v)), (right, on_side(rights, then, u, v))
        row = (j + bv, j - pivot[1])
        count, band = add_slab(
            raster, row, bu, pivot, now - j, then - j, lines[0], lines[1], gap, count, pieces, band
        )
        now = then
    return plus_six(t, add_pieces(count, pieces, band))


@inner
def add_raster(raster, n, x0, y0, px, py, x, y, u, v, pieces, total):
    """Add the moments of a raster (None: nothing) about (px, py) to `total`: see moments.py.

    u, v: working memory for n numbers each.
    """
    if raster is None:
        return total
    place = raster.place
    bu, bv, au, av = to_pixels(n, raster, x0, y0, x, y, u, v)
    pivot = au + (place[2] * px + place[3] * py), av + (place[4] * px + place[5] * py)
    xu, xv, yu, yv = place[6], place[7], place[8], place[9]
    for k in range(2):
        number, weight = frame_weight(raster, k)
        if weight == 0.0:
            continue
        area = weight * raster.scale * abs(place[10])
        m, mu, mv, uu, uv, vv = pixel_moments(
            n, one_frame(raster, number), bu, bv, pivot, u, v, pieces
        )
        polar = (xu * xu + yu * yu) * uu + 2.0 * (xu * xv + yu * yv) * uv + (xv * xv + yv * yv) * vv
        total = (
            total[0] + area * m,
            total[1] + area * (xu * mu + xv * mv),
            total[2] + area * (yu * mu + yv * mv),
            total[3] + area * polar,
        )
    return total


@inner
def part_within(a, d, low, high, first, last):
    """The part of the shares [first, last] of a way from a by d that lies in [low, high]."""
    if d == 0.0:
        return (first, last) if low <= a <= high else (1.0, 0.0)
    s, r = (low - a) / d, (high - a) / d
    return larger(first, smaller(s, r)), smaller(last, larger(s, r))


@inner
def next_line(a, d, s):
    """The share of the way from a by d at which it next passes a whole number, after share s."""
    if d == 0.0:
        return math.inf
    u = a + s * d
    k = math.floor(u) + 1.0 if d > 0.0 else math.ceil(u) - 1.0
    found = (k - a) / d
    if found <= s:  # rounding: u is a little short of the number where the way is already
        found = (k + (1.0 if d > 0.0 else -1.0) - a) / d
    return found


@inner
def value_in_cell(raster, u, v, i, j):
    """The density at (u, v), which lies in cell (j, i)."""
    x, y = clamped(u - i, 0.0, 1.0), clamped(v - j, 0.0, 1.0)
    value = 0.0
    for k in range(2):
        number, weight = frame_weight(raster, k)
        if weight == 0.0:
            continue
        f = corner_values(one_frame(raster, number), j, i)
        low, high = (1.0 - y) * f[0] + y * f[2], (1.0 - y) * f[1] + y * f[3]
        value += weight * ((1.0 - x) * low + x * high)
    return value


@inner
def add_raster_border(raster, ax, ay, bx, by, x0, y0, found):
    """Add moments 1, x, y, xx, xy, yy of a raster (None: nothing) along the segment from a to b.

    It is cut where it passes from cell to cell; a segment along a side of pixels takes the values
    that `at` has there, those of the pixels above or to the right.
    """
    if raster is None:
        return found
    place, rows, columns = raster.place, raster.rows, raster.columns
    half = 0.5 * raster.bilinear
    gx, gy = (x0 - place[0]) + ax, (y0 - place[1]) + ay
    dx, dy = bx - ax, by - ay
    length = math.sqrt(dx * dx + dy * dy)
    u, v = place[2] * gx + place[3] * gy + half, place[4] * gx + place[5] * gy + half
    du, dv = place[2] * dx + place[3] * dy, place[4] * dx + place[5] * dy
    s, last = part_within(u, du, half, columns + half, 0.0, 1.0)
    s, last = part_within(v, dv, half, rows + half, s, last)
    while s < last:
        then = smaller(last, smaller(next_line(u, du, s), next_line(v, dv, s)))
        if not then > s:  # as in `pixel_moments`
            break
        middle = 0.5 * (s + then)
        i = clamped(math.floor(u + middle * du), 0, columns - 1 + raster.bilinear)
        j = clamped(math.floor(v + middle * dv), 0, rows - 1 + raster.bilinear)
        for k in range(3):
            r = s + NODES[3, k] * (then - s)
            value = value_in_cell(raster, u + r * du, v + r * dv, i, j)
            w = WEIGHTS[3, k] * (then - s) * length * raster.scale * value
            found = plus_point(found, w, ax + r * dx, ay + r * dy)
        s = then
    return found
