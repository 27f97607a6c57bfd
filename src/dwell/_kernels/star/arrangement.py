"""The reciprocal radius (gauge) of a cell in each direction from its agent.

In direction u (a unit vector) the cell reaches as far as 1 / f(u), where f is the largest of the
constraints u . B + c: a flat side of the workspace in the distance g with outward normal n has
B = n / g and c = 0, an agent somewhere within R of the place D (seen from the agent) has
B = D / half and c = R / half for the guaranteed cell or -R / half for the dual one, with
half = (|D|**2 - R**2) / 2.

The borders between constraints are arcs on the sphere of directions: i and j are equal on the
circle u . (B_i - B_j) = c_j - c_i. On it each other one leaves a piece where it is the smaller one;
what all of them leave are the borders of i and j. Every border is found by itself, so nothing has
to fit together but integrals along them. Places on a circle are unit vectors (x, y) in its own
plane, ordered without angles.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.algebra import (
    ZERO,
    across,
    along,
    cross,
    dot,
    less,
    put,
    row_of,
    scaled,
)
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.star.buffers import CONSTRAINT_COLUMNS

NEAREST = 1e-10  # of the workspace's size: a side counts as no nearer than this
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell

# Columns of a constraint: B = (BX, BY, BZ) is SLOPE times the unit vector (UX, UY, UZ); c is
# SHIFT, and TOP the largest value.
BX, BY, BZ, SHIFT, UX, UY, UZ, SLOPE, TOP = range(9)

# Borders that three constraints have in common could be given to all of them or to none. Each is
# therefore moved a little, by its own amount, well above rounding: dual cells become larger by
# it and guaranteed ones smaller.
NUDGE = 2e-13
GOLDEN = 0.6180339887498949

# Columns of an arc: the circle is M + E cos + F sin; from (X0, Y0) counter-clockwise to (X1, Y1),
# SPAN quarter turns apart.
M, E, F, X0, Y0, X1, Y1, SPAN = 0, 3, 6, 9, 10, 11, 12, 13
# A piece of a circle has two ends (P, x, y, who set it), in columns BEGIN and END of a table; P
# orders places on the circle.
BEGIN, END = 0, 4
TURN = 4.0  # of P


@inner
def put_constraint(k, u, slope, shift, label, gauge, labels):
    """Insert a constraint among k others, the largest first; return k + 1, or k if it was there."""
    top = slope + shift
    m = k
    while m > 0 and gauge[m - 1, TOP] < top:
        m -= 1
    for i in range(m - 1, -1, -1):  # one constraint twice would count twice
        if gauge[i, TOP] != top:
            break
        if row_of(gauge, i, UX) == u and gauge[i, SLOPE] == slope:
            return k
    for i in range(k, m, -1):
        for c in range(CONSTRAINT_COLUMNS):
            gauge[i, c] = gauge[i - 1, c]
        labels[i] = labels[i - 1]
    put(gauge, m, BX, scaled(slope, u))
    put(gauge, m, UX, u)
    gauge[m, SLOPE] = slope
    gauge[m, SHIFT] = shift
    gauge[m, TOP] = top
    labels[m] = label
    return k + 1


@inner
def constraints_of(sign, p, size, n, q, radius, normals, offsets, gauge, labels):
    """All constraints on the cell at p: (how many, whether an agent may be at p, gap to the sides).

    sign: 1 for the guaranteed cell, -1 for the dual one. The gap is negative outside.
    """
    k = 0
    nearest = np.inf
    for w in range(offsets.shape[0]):
        u = row_of(normals, w, 0)
        gap = offsets[w] - dot(u, p)
        nearest = smaller(gap, nearest)
        k = put_constraint(k, u, 1.0 / larger(gap, NEAREST * size), 0.0, -1 - w, gauge, labels)
    coincident = False
    for j in range(n):
        away = less(row_of(q, j, 0), p)
        d = math.sqrt(dot(away, away))
        half = 0.5 * (d - radius[j]) * (d + radius[j])
        if half > 0.0:
            u = (away[0] / d, away[1] / d, away[2] / d)
            k = put_constraint(k, u, d / half, sign * radius[j] / half, j, gauge, labels)
        else:
            coincident = True
    part = 0.5
    for i in range(k):
        part += GOLDEN
        if part >= 1.0:
            part -= 1.0
        gauge[i, SHIFT] += sign * NUDGE * (0.5 + part) * gauge[i, SLOPE]
        gauge[i, TOP] = gauge[i, SLOPE] + gauge[i, SHIFT]
    return k, coincident, nearest


@inner
def value(k, u, gauge):
    """Constraint k in direction u."""
    return dot(u, row_of(gauge, k, BX)) + gauge[k, SHIFT]


@inlined
def order_of(x, y):
    """A number from 0 to 4 that rises with the angle of (x, y), by 1 for each quarter turn."""
    p = y / (abs(x) + abs(y))
    if x < 0.0:
        return 2.0 - p
    return p if y >= 0.0 else 4.0 + p


@inlined
def circle_between(i, j, gauge):
    """The circle on which constraints i and j are equal, i being larger on its left.

    As (whether there is one, M, E, F).
    """
    axis = less(row_of(gauge, i, BX), row_of(gauge, j, BX))
    square = dot(axis, axis)
    gap = gauge[j, SHIFT] - gauge[i, SHIFT]
    if not gap * gap < square:
        return False, ZERO, ZERO, ZERO
    length = math.sqrt(square)
    axis = (axis[0] / length, axis[1] / length, axis[2] / length)
    h = gap / length
    e = across(axis)
    e = scaled(math.sqrt((1.0 - h) * (1.0 + h)) / math.sqrt(dot(e, e)), e)
    return True, scaled(h, axis), e, cross(axis, e)


@inlined
def limit_by(i, k, gauge, circle):
    """Where constraint k is smaller than i on the circle: a cos + b sin >= c, as (a, b, c)."""
    _, m, e, f = circle
    g = less(row_of(gauge, i, BX), row_of(gauge, k, BX))
    c = gauge[k, SHIFT] - gauge[i, SHIFT]
    return dot(e, g), dot(f, g), c - dot(m, g)


@inner
def put_piece(m, begin, end, pieces):
    """Add a piece of the circle as number m."""
    for k in range(4):
        pieces[m, BEGIN + k] = begin[k]
        pieces[m, END + k] = end[k]
    return m + 1


@inner
def end_of(s, k, pieces):
    """One end of piece s."""
    return pieces[s, k], pieces[s, k + 1], pieces[s, k + 2], pieces[s, k + 3]


@inner
def common_pieces(count, low, high, pieces, more):
    """What `count` pieces have in common with the arc from `low` to `high`."""
    m = 0
    for s in range(count):
        begin, end = end_of(s, BEGIN, pieces), end_of(s, END, pieces)
        a = low[0]  # moved by turns to lie behind the beginning
        while a < begin[0]:
            a += TURN
        while a >= begin[0] + TURN:
            a -= TURN
        b = a + (high[0] - low[0])
        first = (a, low[1], low[2], low[3])
        last = (b, high[1], high[2], high[3])
        early = (b - TURN, high[1], high[2], high[3])
        # The arc may end after the beginning, and begin again before the end.
        if early[0] > begin[0]:
            m = put_piece(m, begin, early if early[0] < end[0] else end, more)
        if a < end[0]:
            m = put_piece(m, first, last if b < end[0] else end, more)
    return m


@inlined
def pieces_of(i, j, count, gauge, circle, pieces):
    """The pieces of the circle of i and j that no other of `count` constraints takes.

    Gives (how many, which of the two memories holds them, who took the last one); -1: the whole
    circle is left.
    """
    m = -1
    side = 0
    for k in range(count):
        if k in (i, j):
            continue
        a, b, c = limit_by(i, k, gauge, circle)
        r2 = a * a + b * b
        if c * c >= r2:
            if c > 0.0 or c == 0.0 < r2:
                return 0, side, k
            continue
        root = math.sqrt(r2 - c * c)
        part = 1.0 / r2
        x0 = (a * c + b * root) * part
        y0 = (b * c - a * root) * part
        x1 = (a * c - b * root) * part
        y1 = (b * c + a * root) * part
        low = order_of(x0, y0)
        high = order_of(x1, y1)
        if high <= low:
            high += TURN
        begin, end = (low, x0, y0, float(k)), (high, x1, y1, float(k))
        if m < 0:
            m = put_piece(0, begin, end, pieces[0])
        else:
            m = common_pieces(m, begin, end, pieces[side], pieces[1 - side])
            side = 1 - side
        if m == 0:
            return 0, side, k
    return m, side, -1


@inner
def put_corner(n, i, j, k, x, y, circle, gauge, corner):
    """Where constraints i, j and k meet; the flattest of the three tells the distance best."""
    best = i
    if gauge[j, SLOPE] < gauge[best, SLOPE]:
        best = j
    if gauge[k, SLOPE] < gauge[best, SLOPE]:
        best = k
    _, m, e, f = circle
    u = along(along(m, x, e), y, f)
    reach = value(best, u, gauge)
    put(corner, n, 0, (u[0] / reach, u[1] / reach, u[2] / reach))
    return n + 1


@inner
def put_arc(e, i, j, ends, circle, arc, owner):
    """Note a border of i and j as number e; ends: x and y of both, quarter turns between."""
    put(arc, e, M, circle[1])
    put(arc, e, E, circle[2])
    put(arc, e, F, circle[3])
    for k in range(5):
        arc[e, X0 + k] = ends[k]
    owner[e, 0] = i
    owner[e, 1] = j
    return e + 1


@inner
def put_pieces(m, side, i, j, e, n, circle, buffers):
    """Note m pieces as borders of i and j, with their corners; gives (borders, corners)."""
    pieces = buffers.pieces[side]
    for s in range(m):
        if e >= buffers.arc.shape[0]:
            buffers.flag[0] = 1
            break
        p0, x0, y0, before = end_of(s, BEGIN, pieces)
        p1, x1, y1, after = end_of(s, END, pieces)
        e = put_arc(e, i, j, (x0, y0, x1, y1, p1 - p0), circle, buffers.arc, buffers.owner)
        n = put_corner(n, i, j, int(before), x0, y0, circle, buffers.gauge, buffers.corner)
        n = put_corner(n, i, j, int(after), x1, y1, circle, buffers.gauge, buffers.corner)
    if m < 0 and e < buffers.arc.shape[0]:
        e = put_arc(e, i, j, (1.0, 0.0, 1.0, 0.0, TURN), circle, buffers.arc, buffers.owner)
    return e, n


@inner
def borders_of(count, planar, buffers):
    """All borders between `count` constraints, and the corners at their ends: how many of each.

    Each corner comes up once per border that ends in it. In the plane borders are the pieces of the
    circle of directions where a constraint is the largest, which is both owners of the piece. Too
    little memory sets buffers.flag.
    """
    buffers.flag[0] = 0
    e = 0
    n = 0
    around = (True, ZERO, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    for i in range(count):
        killer = -1  # who hid the border with the last j often hides that with the next as well
        for j in range(i, i + 1) if planar else range(i):
            circle = around if planar else circle_between(i, j, buffers.gauge)
            if not circle[0]:
                continue
            if killer >= 0 and killer != j:
                a, b, c = limit_by(i, killer, buffers.gauge, circle)
                if c >= 0.0 and c * c >= a * a + b * b:
                    continue
            m, side, killer = pieces_of(i, j, count, buffers.gauge, circle, buffers.pieces)
            if m != 0:
                e, n = put_pieces(m, side, i, j, e, n, circle, buffers)
    return e, n
