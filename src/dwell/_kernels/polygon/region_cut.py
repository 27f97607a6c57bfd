"""A region of the plane with any number of parts and holes, cut into trapezoids.

The region is given by the directed edges of its boundary, with the interior on their left. Boxes
are halved until few edges meet each. Within such a box horizontal lines through all vertices, and
through all points where edges cross the box's sides, leave slabs; in a slab edges follow one
another without crossing. So all pieces are trapezoids with horizontal sides, and lie near the part
of the boundary that they follow. The boxes form a tree, in preorder.

Lines that halve a box pass no vertex, and corners of boxes lie on no edge, by a clear margin:
whether a corner is inside the region then follows from the edges that cross the sides to it.
"""

from typing import Any, NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.polygon.pieces import DEEPEST

FEW = 8  # edges of a box that is not halved
TRIES = 24  # places of a line that halves a box
CLEAR = 1e-13  # of the terms of an orientation: less may be rounding
LEFT_SIDE, RIGHT_SIDE = -1, -2  # sides of a box, in place of edges

Y0, Y1, LEFT0, RIGHT0, LEFT1, RIGHT1 = range(6)  # columns of a piece


class Cutting(NamedTuple):
    """Buffers for the pieces of a region."""

    edge: np.ndarray  # lists of edges, one for each box still to be visited
    listed: np.ndarray  # the list of the present box
    box: np.ndarray  # (pending, 4) boxes still to be visited
    number: np.ndarray  # (pending, 4) first and last of their edges, depth, inside or not
    level: np.ndarray  # ordinates of the slabs of a box
    order: np.ndarray  # the edges across a slab, from left to right
    place: np.ndarray  # their places at half its height
    piece: np.ndarray  # (P, 6)
    side: np.ndarray  # (P, 2) edges left and right of each piece
    first: np.ndarray  # (M,) the first piece of each box
    depth: np.ndarray  # (M,) the level of each box
    filled: np.ndarray  # (2,) pieces and boxes


def make_cutting(edges: int, size: int) -> Cutting:
    """Buffers for so many edges and about `size` pieces."""
    whole: dict[str, Any] = {
        "edge": 8 * edges + size,
        "listed": edges,
        "order": edges,
        "first": size,
    }
    whole |= {"depth": size, "filled": 2, "side": (size, 2), "number": (2 * DEEPEST, 4)}
    real: dict[str, Any] = {
        "box": (2 * DEEPEST, 4),
        "level": 4 * edges + 4,
        "place": edges,
        "piece": (size, 6),
    }
    found: dict[str, Any] = {name: np.zeros(shape, dtype=np.int64) for name, shape in whole.items()}
    found |= {name: np.zeros(shape) for name, shape in real.items()}
    return Cutting(**found)


@inner
def orientation(px, py, ax, ay, bx, by):
    """Twice the area of the triangle a, b, p; 0 where rounding may have decided its sign."""
    one, other = (bx - ax) * (py - ay), (by - ay) * (px - ax)
    found = one - other
    return found if abs(found) > CLEAR * (abs(one) + abs(other)) else 0.0


@inner
def crosses_level(y, ay, by):
    """Whether an edge crosses the horizontal line at y, which passes no vertex."""
    return (ay > y) != (by > y)


@inner
def crossings_between(x0, x1, y, count, edges, upright, ax, ay, bx, by):
    """How many edges cross the segment from (x0, y) to (x1, y); -1 if rounding may decide.

    `upright` exchanges the coordinates.
    """
    found = 0
    for i in range(count):
        e = edges[i]
        px, py, qx, qy = ax[e], ay[e], bx[e], by[e]
        if upright:
            px, py, qx, qy = py, px, qy, qx
        if crosses_level(y, py, qy):
            before, after = orientation(x0, y, px, py, qx, qy), orientation(x1, y, px, py, qx, qy)
            if before == 0.0 or after == 0.0:
                return -1
            found += 1 if (before > 0.0) != (after > 0.0) else 0
    return found


@inner
def count_across(c, count, edges, a, b):
    """How many edges cross the line at coordinate c; -1 if it passes a vertex."""
    found = 0
    for i in range(count):
        e = edges[i]
        if a[e] == c or b[e] == c:
            return -1
        found += 1 if (a[e] > c) != (b[e] > c) else 0
    return found


@inner
def line_of(box, upright, count, edges, ax, ay, bx, by):
    """(coordinate, edges across, crossings up to the new corner) of a line that halves a box.

    A vertical line, or with `upright` a horizontal one. Without such a line all edges are across.
    """
    low, high = (box[1], box[3]) if upright else (box[0], box[2])
    level = box[0] if upright else box[1]
    for k in range(TRIES):
        shift = 0.0123 * ((k + 1) // 2) * (1.0 if k % 2 else -1.0)
        c = low + (0.5 + shift) * (high - low)
        across = (
            count_across(c, count, edges, ay, by)
            if upright
            else count_across(c, count, edges, ax, bx)
        )
        if across >= 0 and low < c < high:
            passed = crossings_between(low, c, level, count, edges, upright, ax, ay, bx, by)
            if passed >= 0:
                return c, across, passed
    return 0.0, count, 0


@inner
def misses(e, x0, y0, x1, y1, ax, ay, bx, by):
    """Whether an edge does not meet a box."""
    if smaller(ax[e], bx[e]) > x1 or larger(ax[e], bx[e]) < x0:
        return True
    if smaller(ay[e], by[e]) > y1 or larger(ay[e], by[e]) < y0:
        return True
    a, b = (
        orientation(x0, y0, ax[e], ay[e], bx[e], by[e]),
        orientation(x1, y0, ax[e], ay[e], bx[e], by[e]),
    )
    c, d = (
        orientation(x0, y1, ax[e], ay[e], bx[e], by[e]),
        orientation(x1, y1, ax[e], ay[e], bx[e], by[e]),
    )
    return (a > 0.0 and b > 0.0 and c > 0.0 and d > 0.0) or (
        a < 0.0 and b < 0.0 and c < 0.0 and d < 0.0
    )


@inner
def put_box(top, at, x0, y0, x1, y1, depth, inside, count, ax, ay, bx, by, c):
    """Put a box on the pile, with those of the `count` listed edges that meet it.

    Its list begins at `at`; returns where the next one begins.
    """
    first = at
    for i in range(count):
        e = c.listed[i]
        if not misses(e, x0, y0, x1, y1, ax, ay, bx, by):
            c.edge[at] = e
            at += 1
    c.box[top, 0], c.box[top, 1], c.box[top, 2], c.box[top, 3] = x0, y0, x1, y1
    c.number[top, 0], c.number[top, 1] = first, at
    c.number[top, 2], c.number[top, 3] = depth, inside
    return at


@inner
def put_level(n, y, low, high, level):
    """Insert an ordinate between `low` and `high` in ascending order; return how many there are."""
    if not low < y < high:
        return n
    i = n
    while i > 0 and level[i - 1] > y:
        i -= 1
    if i > 0 and level[i - 1] == y:
        return n
    for k in range(n, i, -1):
        level[k] = level[k - 1]
    level[i] = y
    return n + 1


@inner
def other_at(x, ax, ay, bx, by):
    """The second coordinate of an edge where its first one is x."""
    return ay + (x - ax) * ((by - ay) / (bx - ax))


@inner
def abscissa(y, e, x0, x1, ax, ay, bx, by):
    """Where edge e, or a side of the box, is at the ordinate y; within the box."""
    if e == LEFT_SIDE:
        return x0
    if e == RIGHT_SIDE:
        return x1
    if y == ay[e]:
        x = ax[e]
    elif y == by[e]:
        x = bx[e]
    else:
        x = other_at(y, ay[e], ax[e], by[e], bx[e])
    return smaller(x1, larger(x0, x))


@inner
def levels_of(box, first, last, ax, ay, bx, by, c):
    """Fill c.level with the ordinates of a box's slabs; return how many there are."""
    x0, y0, x1, y1 = box[0], box[1], box[2], box[3]
    n = 0
    for i in range(first, last):
        e = c.edge[i]
        if x0 < ax[e] < x1:
            n = put_level(n, ay[e], y0, y1, c.level)
        if x0 < bx[e] < x1:
            n = put_level(n, by[e], y0, y1, c.level)
        for x in (x0, x1):
            if crosses_level(x, ax[e], bx[e]):
                n = put_level(n, other_at(x, ax[e], ay[e], bx[e], by[e]), y0, y1, c.level)
    for k in range(n, 0, -1):
        c.level[k] = c.level[k - 1]
    c.level[0] = y0
    c.level[n + 1] = y1
    return n + 2


@inner
def sort_across(low, high, first, last, box, ax, ay, bx, by, c):
    """List the edges across a slab, within the box, from left to right; return how many."""
    middle = 0.5 * (low + high)
    m = 0
    for i in range(first, last):
        e = c.edge[i]
        if crosses_level(middle, ay[e], by[e]):
            x = other_at(middle, ay[e], ax[e], by[e], bx[e])
            if not box[0] < x < box[2]:
                continue
            k = m
            while k > 0 and c.place[k - 1] > x:
                c.place[k], c.order[k] = c.place[k - 1], c.order[k - 1]
                k -= 1
            c.place[k], c.order[k] = x, e
            m += 1
    return m


@inner
def put_piece(low, high, left, right, below, box, ax, ay, bx, by, c):
    """Append the part of a slab between two edges, or extend the piece below it."""
    x0, x1 = box[0], box[2]
    l1, r1 = (
        abscissa(high, left, x0, x1, ax, ay, bx, by),
        abscissa(high, right, x0, x1, ax, ay, bx, by),
    )
    r1 = larger(l1, r1)
    for k in range(below, c.filled[0]):
        if c.side[k, 0] == left and c.side[k, 1] == right and c.piece[k, Y1] == low:
            c.piece[k, Y1], c.piece[k, LEFT1], c.piece[k, RIGHT1] = high, l1, r1
            return
    l0, r0 = (
        abscissa(low, left, x0, x1, ax, ay, bx, by),
        abscissa(low, right, x0, x1, ax, ay, bx, by),
    )
    r0 = larger(l0, r0)
    if r0 == l0 and r1 == l1:
        return
    k = c.filled[0]
    c.filled[0] = k + 1
    c.piece[k, Y0], c.piece[k, Y1] = low, high
    c.piece[k, LEFT0], c.piece[k, RIGHT0] = l0, r0
    c.piece[k, LEFT1], c.piece[k, RIGHT1] = l1, r1
    c.side[k, 0], c.side[k, 1] = left, right


@inner
def cut_box(box, first, last, inside, ax, ay, bx, by, c):
    """Append the pieces of a box; return whether there was space for them."""
    levels = levels_of(box, first, last, ax, ay, bx, by, c)
    begin = c.filled[0]
    for i in range(levels - 1):
        low, high = c.level[i], c.level[i + 1]
        m = sort_across(low, high, first, last, box, ax, ay, bx, by, c)
        if c.filled[0] + m + 2 > c.piece.shape[0]:
            return False
        within = inside
        if m > 0:  # an edge that leads up has the region on its left
            within = by[c.order[0]] > ay[c.order[0]]
        else:
            middle = 0.5 * (low + high)
            for k in range(first, last):
                e = c.edge[k]
                if crosses_level(box[0], ax[e], bx[e]):
                    y = other_at(box[0], ax[e], ay[e], bx[e], by[e])
                    within = within != (box[1] < y < middle)
        left = LEFT_SIDE
        for k in range(m):
            if within:
                put_piece(low, high, left, c.order[k], begin, box, ax, ay, bx, by, c)
            left = c.order[k]
            within = not within
        if within:
            put_piece(low, high, left, RIGHT_SIDE, begin, box, ax, ay, bx, by, c)
    return True


@njit
def cut_region(box, ax, ay, bx, by, c):
    """Fill c.piece, c.first and c.depth; return whether the buffers were large enough.

    box: around all edges, which do not touch it.
    """
    c.filled[0] = c.filled[1] = 0
    for e in range(ax.shape[0]):
        c.listed[e] = e
    put_box(0, 0, box[0], box[1], box[2], box[3], 0, 0, ax.shape[0], ax, ay, bx, by, c)
    top = 0
    while top >= 0:
        x0, y0, x1, y1 = c.box[top, 0], c.box[top, 1], c.box[top, 2], c.box[top, 3]
        first, last, depth, inside = (
            c.number[top, 0], c.number[top, 1], c.number[top, 2], c.number[top, 3],
        )  # fmt: skip
        present = c.box[top]
        count = last - first
        if c.filled[1] == c.first.shape[0] or last + 2 * count > c.edge.shape[0]:
            return False
        c.first[c.filled[1]], c.depth[c.filled[1]] = c.filled[0], depth
        c.filled[1] += 1
        halved = False
        if count > FEW and depth < DEEPEST - 1:
            for i in range(count):
                c.listed[i] = c.edge[first + i]
            upright = y1 - y0 > x1 - x0
            at, across, passed = line_of(present, upright, count, c.listed, ax, ay, bx, by)
            if 2 * across > count:
                other, fewer, beyond = line_of(
                    present, not upright, count, c.listed, ax, ay, bx, by
                )
                if fewer < across:
                    upright, at, across, passed = not upright, other, fewer, beyond
            halved = across < count
        if not halved:
            if not cut_box(present, first, last, inside == 1, ax, ay, bx, by, c):
                return False
            top -= 1
            continue
        beyond = (inside + passed) % 2
        nx, ny = (x0, at) if upright else (at, y0)
        mx, my = (x1, at) if upright else (at, y1)
        last = put_box(top, first, nx, ny, x1, y1, depth + 1, beyond, count, ax, ay, bx, by, c)
        put_box(top + 1, last, x0, y0, mx, my, depth + 1, inside, count, ax, ay, bx, by, c)
        top += 1
    return True
