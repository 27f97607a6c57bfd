"""Moments of a density over the part of a cell, or of a facet, that lies in a region.

The tree of the region's pieces (pieces.py) is visited from its root: boxes beyond the cell are left
out, and boxes within it need no clipping. Everything is in the frame of the agent. All parts count
positively, so nothing cancels.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner, njit
from dwell._kernels.common.arithmetic import larger, range_of, smaller
from dwell._kernels.polygon.disc_caps import lift, limited_moments
from dwell._kernels.polygon.disc_clip import ARC, is_cut
from dwell._kernels.polygon.gaussian import top_exponent
from dwell._kernels.polygon.halfplane_clip import cut, deepest, sides
from dwell._kernels.polygon.moments import integrate_border, plus, polygon_moments
from dwell._kernels.polygon.pieces import (
    MASS,
    MEAN_X,
    MEAN_Y,
    POLAR,
    X_HIGH,
    X_LOW,
    Y_HIGH,
    Y_LOW,
    add_moments,
)

BEYOND, WITHIN, ACROSS = range(3)  # where a box lies
ROUND = (1.0, 0.0, 1.0)  # the form of |z|**2


@inner
def is_confined(region):
    """Whether a density is confined to a region (not None)."""
    return region is not None


@inner
def list_halfplanes(n, x, y, label, a, b, offset):
    """Fill a, b, offset with normals and offsets of the straight edges; return how many."""
    m = 0
    for i in range(n):
        if label[i] == ARC:
            continue
        j = i + 1 if i + 1 < n else 0
        dx, dy = x[j] - x[i], y[j] - y[i]
        length = math.sqrt(dx * dx + dy * dy)
        if length > 0.0:
            a[m], b[m] = dy / length, -dx / length
            offset[m] = (x[i] * dy - y[i] * dx) / length
            m += 1
    return m


@inner
def extent_of(n, x, y, label, radius):
    """A box around a cell, (x low, y low, x high, y high); with arcs, the one around its disc."""
    for i in range(n):
        if label[i] == ARC:
            return -radius, -radius, radius, radius
    x0, x1 = range_of(n, x)
    y0, y1 = range_of(n, y)
    return x0, y0, x1, y1


@inner
def whole_extent(n, x, y, label, radius):
    """A box around a cell, whether there is a radius or not (None): see `extent_of`."""
    if radius is None:
        return extent_of(n, x, y, label, 0.0)
    return extent_of(n, x, y, label, radius)


@inner
def where_box(x0, y0, x1, y1, planes, normal_x, normal_y, offsets, extent, radius):
    """Where a box lies: BEYOND the cell, WITHIN it, or ACROSS its boundary."""
    if not (x0 <= extent[2] and x1 >= extent[0] and y0 <= extent[3] and y1 >= extent[1]):
        return BEYOND
    within = True
    for i in range(planes):
        a, b, offset = normal_x[i], normal_y[i], offsets[i]
        near_x, far_x = (x0, x1) if a > 0.0 else (x1, x0)
        near_y, far_y = (y0, y1) if b > 0.0 else (y1, y0)
        if a * near_x + b * near_y > offset:
            return BEYOND
        within = within and a * far_x + b * far_y <= offset
    if radius is None:
        return WITHIN if within else ACROSS
    wide, high = larger(abs(x0), abs(x1)), larger(abs(y0), abs(y1))
    within = within and wide * wide + high * high <= radius * radius
    return WITHIN if within else ACROSS


@inner
def load_piece(row, ox, oy, x, y, label):
    """Write the four vertices of a piece, whose origin is at (ox, oy)."""
    y0, y1 = row[0] + oy, row[1] + oy
    x[0], x[1], x[2], x[3] = row[2] + ox, row[3] + ox, row[5] + ox, row[4] + ox
    y[0], y[1], y[2], y[3] = y0, y0, y1, y1
    for i in range(4):
        label[i] = 0


@inlined
def clip_piece(planes, s):
    """Cut the piece in `s` by all half-planes of a cell, in s.dx, s.dy, s.key; its vertices."""
    n = 4
    for i in range(planes):
        outside = sides(n, s.dx[i], s.dy[i], s.key[i], s.x, s.y, s.side)
        if outside == n:
            return 0
        if outside > 0:
            k = deepest(n, s.side)
            n = cut(n, 0, k, s.side, s.x, s.y, s.label, s.x2, s.y2, s.label2)
            if n < 3:
                return 0
            for k in range(n):
                s.x[k] = s.x2[k]
                s.y[k] = s.y2[k]
                s.label[k] = 0
    return n


@inlined
def centred_moments(n, x0, y0, terms, s):
    """Moments of the polygon in `s` about a point inside: (that point, see `polygon_moments`).

    The point, in the frame of (x0, y0), is moved to where the sum with it is exact, so that no
    digits of the density's place are lost far from the origin.
    """
    mx = my = 0.0
    for i in range(n):
        mx += s.x[i] / n
        my += s.y[i] / n
    x1, y1 = x0 + mx, y0 + my
    mx, my = x1 - x0, y1 - y0
    for i in range(n):
        s.x[i] -= mx
        s.y[i] -= my
    scale, m, fx, fy, polar = polygon_moments(n, x1, y1, terms, 0.0, 0.0, False, s)
    return mx, my, scale, m, fx, fy, polar


@inner
def summed(total, part):
    """Two sets of moments together, each divided by the exponential of its first entry."""
    if not part[1] > 0.0:
        return total
    if not total[1] > 0.0:
        return part
    scale = larger(total[0], part[0])
    found = plus(lift(total, scale)[1:], 1.0, lift(part, scale)[1:])
    return scale, found[0], found[1], found[2], found[3]


@inlined
def region_moments(n, x0, y0, terms, region, radius, px, py, s):
    """Moments about (px, py) of the part of a cell in a region: see `polygon_moments`.

    The n vertices of the cell are in s.x, s.y; with a radius it ends at a disc about the agent,
    edges labelled ARC are chords of it, and (px, py) is (0, 0). The moments of a node are those of
    the density, if its mass is positive: see `weigh_nodes`.
    """
    planes = list_halfplanes(n, s.x, s.y, s.label, s.dx, s.dy, s.key)
    extent = whole_extent(n, s.x, s.y, s.label, radius)
    ox, oy = region.origin[0] - x0, region.origin[1] - y0
    total = (0.0, 0.0, 0.0, 0.0, 0.0)
    k = 0
    while k < region.skip.shape[0]:
        box = region.node[k]
        where = where_box(
            box[X_LOW] + ox, box[Y_LOW] + oy, box[X_HIGH] + ox, box[Y_HIGH] + oy, planes, s.dx,
            s.dy, s.key, extent, radius,
        )  # fmt: skip
        if where == BEYOND:
            k = region.skip[k]
            continue
        if where == WITHIN and box[MASS] > 0.0:
            m = box[MASS]
            fx, fy = box[MEAN_X] + ox - px, box[MEAN_Y] + oy - py
            polar = box[POLAR] + m * (fx * fx + fy * fy)
            total = summed(total, (0.0, m, m * fx, m * fy, polar))
            k = region.skip[k]
            continue
        if region.skip[k] == k + 1:
            for i in range(region.first[k], region.first[k + 1]):
                load_piece(region.piece[i], ox, oy, s.x, s.y, s.label)
                v = 4 if where == WITHIN else clip_piece(planes, s)
                if v == 0:
                    continue
                if is_cut(v, radius, s.x, s.y):
                    _, scale, m, fx, fy, polar = limited_moments(v, x0, y0, terms, radius, s)
                    total = summed(total, (scale, m, fx, fy, polar))
                else:
                    sx, sy, scale, m, fx, fy, polar = centred_moments(v, x0, y0, terms, s)
                    sx, sy = sx - px, sy - py
                    polar += 2.0 * (sx * fx + sy * fy) + m * (sx * sx + sy * sy)
                    total = summed(total, (scale, m, fx + m * sx, fy + m * sy, polar))
        k += 1
    return total


@njit
def weigh_nodes(terms, region, node, s):
    """Fill the moments of all nodes with those of a density, the last one first.

    The mass is -1 where the density is below the range of doubles on some piece.
    """
    ox, oy = region.origin[0], region.origin[1]
    for k in range(region.skip.shape[0] - 1, -1, -1):
        node[k, MASS] = node[k, MEAN_X] = node[k, MEAN_Y] = node[k, POLAR] = 0.0
        end, child = region.skip[k], k + 1
        while child < end and node[k, MASS] >= 0.0:
            if node[child, MASS] < 0.0:
                node[k, MASS] = -1.0
            else:
                n = node[child]
                add_moments(k, n[MASS], n[MEAN_X], n[MEAN_Y], n[POLAR], node)
            child = region.skip[child]
        if end > k + 1:
            continue
        for i in range(region.first[k], region.first[k + 1]):
            load_piece(region.piece[i], 0.0, 0.0, s.x, s.y, s.label)
            px, py, scale, m, fx, fy, polar = centred_moments(4, ox, oy, terms, s)
            if scale != 0.0 or node[k, MASS] < 0.0:
                node[k, MASS] = -1.0
            elif m > 0.0:
                fx, fy = fx / m, fy / m
                polar = larger(0.0, polar - m * (fx * fx + fy * fy))
                add_moments(k, m, px + fx, py + fy, polar, node)


@inner
def nearest_in_region(px, py, region, x, y, label):
    """From p to the nearest point of the region."""
    ox, oy = region.origin[0] - px, region.origin[1] - py
    best, ex, ey = -np.inf, 0.0, 0.0
    k = 0
    while k < region.skip.shape[0]:
        box = region.node[k]
        gx = larger(0.0, larger(box[X_LOW] + ox, -(box[X_HIGH] + ox)))
        gy = larger(0.0, larger(box[Y_LOW] + oy, -(box[Y_HIGH] + oy)))
        if -(gx * gx + gy * gy) <= best:
            k = region.skip[k]
            continue
        if region.skip[k] == k + 1:
            for i in range(region.first[k], region.first[k + 1]):
                load_piece(region.piece[i], ox, oy, x, y, label)
                near, dx, dy = top_exponent(4, 0.0, 0.0, ROUND, x, y)
                if near > best:
                    best, ex, ey = near, dx, dy
        k += 1
    return ex, ey


@njit
def nearest_of_each(x, y, region, vx, vy, label, out):
    """Write to `out`, (K, 2), the way from each point to the nearest point of the region."""
    for k in range(x.shape[0]):
        out[k, 0], out[k, 1] = nearest_in_region(x[k], y[k], region, vx, vy, label)


@inner
def share_within(ax, ay, bx, by, row, ox, oy):
    """The shares of the segment from a to b between which it lies in a piece.

    A piece holds its lower and its left side only, so that no part counts for two pieces.
    """
    y0, y1 = row[0] + oy, row[1] + oy
    begin, end = 0.0, 1.0
    for side in range(4):
        if side == 0:
            f, g, closed = y0 - ay, y0 - by, True
        elif side == 1:
            f, g, closed = ay - y1, by - y1, False
        elif side == 2:
            slope = row[4] - row[2]
            f = slope * (ay - y0) - (y1 - y0) * (ax - (row[2] + ox))
            g = slope * (by - y0) - (y1 - y0) * (bx - (row[2] + ox))
            closed = True
        else:
            slope = row[5] - row[3]
            f = (y1 - y0) * (ax - (row[3] + ox)) - slope * (ay - y0)
            g = (y1 - y0) * (bx - (row[3] + ox)) - slope * (by - y0)
            closed = False
        if f > 0.0 and g > 0.0:
            return 1.0, 0.0
        if f == 0.0 and g == 0.0 and not closed:
            return 1.0, 0.0
        if f > 0.0:
            begin = larger(begin, f / (f - g))
        elif g > 0.0:
            end = smaller(end, f / (f - g))
    return begin, end


@inner
def integrate_in_region(ax, ay, bx, by, x0, y0, log_scale, terms, region):
    """Moments along the part in the region of the segment from a to b: see `integrate_border`."""
    if region is None:
        return integrate_border(ax, ay, bx, by, x0, y0, log_scale, terms)
    ox, oy = region.origin[0] - x0, region.origin[1] - y0
    low_x, high_x, low_y, high_y = smaller(ax, bx), larger(ax, bx), smaller(ay, by), larger(ay, by)
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    k = 0
    while k < region.skip.shape[0]:
        box = region.node[k]
        apart = box[X_LOW] + ox > high_x or box[X_HIGH] + ox < low_x
        if apart or box[Y_LOW] + oy > high_y or box[Y_HIGH] + oy < low_y:
            k = region.skip[k]
            continue
        if region.skip[k] == k + 1:
            for i in range(region.first[k], region.first[k + 1]):
                begin, end = share_within(ax, ay, bx, by, region.piece[i], ox, oy)
                if begin < end:
                    cx, cy = ax + begin * (bx - ax), ay + begin * (by - ay)
                    dx, dy = ax + end * (bx - ax), ay + end * (by - ay)
                    part = integrate_border(cx, cy, dx, dy, x0, y0, log_scale, terms)
                    total = (
                        total[0] + part[0], total[1] + part[1], total[2] + part[2],
                        total[3] + part[3], total[4] + part[4], total[5] + part[5],
                    )  # fmt: skip
        k += 1
    return total


@njit
def borders_of(lo, hi, agent, a, b, position, log_scale, terms, moments):
    """Moments 1, x, y, xx, xy, yy of borders lo to hi - 1, from a to b in their agents' frames."""
    for k in range(lo, hi):
        p = agent[k]
        found = integrate_in_region(
            a[k, 0], a[k, 1], b[k, 0], b[k, 1], position[p, 0], position[p, 1], log_scale[p], terms,
            terms.region,
        )  # fmt: skip
        for i in range(6):
            moments[k, i] = found[i]
