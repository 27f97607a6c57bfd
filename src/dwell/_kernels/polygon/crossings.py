"""Pairs of edges of rings that may have a point in common."""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import clamped, larger, smaller
from dwell._kernels.polygon.region_cut import orientation


@inner
def place_in(v, low, side, count):
    """The row or column of a grid that holds the coordinate v."""
    return math.floor(clamped((v - low) / side, 0.0, count - 1.0))


@inner
def may_touch(i, j, ax, ay, bx, by):
    """Whether edges i and j may have a point in common: False only if they clearly have none."""
    if smaller(ax[i], bx[i]) > larger(ax[j], bx[j]) or smaller(ax[j], bx[j]) > larger(ax[i], bx[i]):
        return False
    if smaller(ay[i], by[i]) > larger(ay[j], by[j]) or smaller(ay[j], by[j]) > larger(ay[i], by[i]):
        return False
    a = orientation(ax[j], ay[j], ax[i], ay[i], bx[i], by[i])
    b = orientation(bx[j], by[j], ax[i], ay[i], bx[i], by[i])
    if (a > 0.0 and b > 0.0) or (a < 0.0 and b < 0.0):
        return False
    c = orientation(ax[i], ay[i], ax[j], ay[j], bx[j], by[j])
    d = orientation(bx[i], by[i], ax[j], ay[j], bx[j], by[j])
    return not ((c > 0.0 and d > 0.0) or (c < 0.0 and d < 0.0))


@inner
def bins_of(e, ax, ay, bx, by, frame, columns, rows):
    """First and last column, first and last row of the bins that the box of an edge meets."""
    left = place_in(smaller(ax[e], bx[e]), frame[0], frame[2], columns)
    right = place_in(larger(ax[e], bx[e]), frame[0], frame[2], columns)
    low = place_in(smaller(ay[e], by[e]), frame[1], frame[3], rows)
    high = place_in(larger(ay[e], by[e]), frame[1], frame[3], rows)
    return left, right, low, high


@njit
def count_in_bins(ax, ay, bx, by, frame, columns, rows, first):
    """Count the edges whose box meets each bin of a grid into first[1:]; return how many in all."""
    total = 0
    for e in range(ax.shape[0]):
        left, right, low, high = bins_of(e, ax, ay, bx, by, frame, columns, rows)
        for r in range(low, high + 1):
            for c in range(left, right + 1):
                first[r * columns + c + 1] += 1
                total += 1
    for k in range(rows * columns):
        first[k + 1] += first[k]
    return total


@njit
def find_pairs(ax, ay, bx, by, after, frame, columns, rows, first, filled, member, pair):
    """Fill `pair` with edges that may have a point in common; return how many, -1 if too many.

    after: the next edge of the same ring, which shares a vertex; such pairs are left out.
    """
    found = 0
    for e in range(ax.shape[0]):
        left, right, low, high = bins_of(e, ax, ay, bx, by, frame, columns, rows)
        for r in range(low, high + 1):
            for c in range(left, right + 1):
                b = r * columns + c
                for k in range(first[b], first[b] + filled[b]):
                    other = member[k]
                    if after[e] == other or after[other] == e:
                        continue
                    if may_touch(e, other, ax, ay, bx, by):
                        if found == pair.shape[0]:
                            return -1
                        pair[found, 0], pair[found, 1] = other, e
                        found += 1
                member[first[b] + filled[b]] = e
                filled[b] += 1
    return found
