"""The borders between constraints, as arcs on the sphere of directions.

Constraints i and j are equal on the circle u . (B_i - B_j) = c_j - c_i. On it each other one
leaves a piece where it is the smaller one; what all of them leave are the borders of i and j. Every
border is found by itself, so nothing has to fit together but integrals along them. Places on a
circle are unit vectors (x, y) in its own plane, ordered without angles.
"""

import math

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.arithmetic import smaller
from dwell._kernels.star.gauge import BX, BY, BZ, SHIFT, SLOPE, value

# Columns of an arc: the circle is M + E cos + F sin; from (X0, Y0) counter-clockwise to (X1, Y1),
# SPAN quarter turns apart.
MX, MY, MZ, EX, EY, EZ, FX, FY, FZ, X0, Y0, X1, Y1, SPAN = range(14)
P0, PX0, PY0, P1, PX1, PY1 = range(6)  # columns of a piece: P orders places on the circle
TURN = 4.0  # of P


@inlined
def order_of(x, y):
    """A number from 0 to 4 that rises with the angle of (x, y), by 1 for each quarter turn."""
    p = y / (abs(x) + abs(y))
    if x < 0.0:
        return 2.0 - p
    return p if y >= 0.0 else 4.0 + p


@inlined
def circle_between(i, j, gauge):
    """The circle on which constraints i and j are equal, i being larger on its left, as a tuple.

    Its first number says whether there is one; then M, E and F.
    """
    ax = gauge[i, BX] - gauge[j, BX]
    ay = gauge[i, BY] - gauge[j, BY]
    az = gauge[i, BZ] - gauge[j, BZ]
    square = ax * ax + ay * ay + az * az
    gap = gauge[j, SHIFT] - gauge[i, SHIFT]
    if not gap * gap < square:
        return False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    length = math.sqrt(square)
    ax /= length
    ay /= length
    az /= length
    h = gap / length
    r = math.sqrt((1.0 - h) * (1.0 + h))
    if abs(ax) <= abs(ay) and abs(ax) <= abs(az):
        ex, ey, ez = 0.0, az, -ay
    elif abs(ay) <= abs(az):
        ex, ey, ez = -az, 0.0, ax
    else:
        ex, ey, ez = ay, -ax, 0.0
    stretch = r / math.sqrt(ex * ex + ey * ey + ez * ez)
    ex *= stretch
    ey *= stretch
    ez *= stretch
    fx = ay * ez - az * ey
    fy = az * ex - ax * ez
    fz = ax * ey - ay * ex
    return True, h * ax, h * ay, h * az, ex, ey, ez, fx, fy, fz


@inlined
def limit_by(i, k, gauge, circle):
    """Where constraint k is smaller than i on the circle: a cos + b sin >= c, as (a, b, c)."""
    _, mx, my, mz, ex, ey, ez, fx, fy, fz = circle
    gx = gauge[i, BX] - gauge[k, BX]
    gy = gauge[i, BY] - gauge[k, BY]
    gz = gauge[i, BZ] - gauge[k, BZ]
    a = ex * gx + ey * gy + ez * gz
    b = fx * gx + fy * gy + fz * gz
    c = gauge[k, SHIFT] - gauge[i, SHIFT]
    return a, b, c - (mx * gx + my * gy + mz * gz)


@inlined
def put_piece(m, low, x0, y0, l0, high, x1, y1, l1, pieces, third):
    """Add a piece of the circle as number m."""
    pieces[m, P0] = low
    pieces[m, PX0] = x0
    pieces[m, PY0] = y0
    pieces[m, P1] = high
    pieces[m, PX1] = x1
    pieces[m, PY1] = y1
    third[m, 0] = l0
    third[m, 1] = l1
    return m + 1


@inner
def common_pieces(count, k, low, x0, y0, high, x1, y1, pieces, third, more, more_third):
    """What `count` pieces have in common with the arc from (x0, y0) to (x1, y1), set by k."""
    m = 0
    for s in range(count):
        start = pieces[s, P0]
        end = pieces[s, P1]
        a = low  # moved by turns to lie behind the start
        while a < start:
            a += TURN
        while a >= start + TURN:
            a -= TURN
        b = a + (high - low)
        if b - TURN > start:
            ends = b - TURN < end
            m = put_piece(
                m, start, pieces[s, PX0], pieces[s, PY0], third[s, 0],
                smaller(b - TURN, end),
                x1 if ends else pieces[s, PX1],
                y1 if ends else pieces[s, PY1],
                k if ends else third[s, 1],
                more, more_third,
            )  # fmt: skip
        if a < end:
            ends = b < end
            m = put_piece(
                m, a, x0, y0, k,
                smaller(b, end),
                x1 if ends else pieces[s, PX1],
                y1 if ends else pieces[s, PY1],
                k if ends else third[s, 1],
                more, more_third,
            )  # fmt: skip
    return m


@inlined
def is_hidden(i, k, gauge, circle):
    """Whether constraint k is larger than i all along the circle."""
    a, b, c = limit_by(i, k, gauge, circle)
    return c >= 0.0 and c * c >= a * a + b * b


@inlined
def pieces_of(i, j, count, gauge, circle, pieces, spare, third):
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
        if m < 0:
            m = put_piece(0, low, x0, y0, k, high, x1, y1, k, pieces, third[0])
        elif side == 0:
            m = common_pieces(m, k, low, x0, y0, high, x1, y1, pieces, third[0], spare, third[1])
            side = 1
        else:
            m = common_pieces(m, k, low, x0, y0, high, x1, y1, spare, third[1], pieces, third[0])
            side = 0
        if m == 0:
            return 0, side, k
    return m, side, -1


@inner
def put_corner(n, i, j, k, x, y, circle, gauge, corner):
    """Where constraints i, j and k meet; the flattest of the three tells the distance best."""
    _, mx, my, mz, ex, ey, ez, fx, fy, fz = circle
    best = i
    if gauge[j, SLOPE] < gauge[best, SLOPE]:
        best = j
    if gauge[k, SLOPE] < gauge[best, SLOPE]:
        best = k
    ux = mx + x * ex + y * fx
    uy = my + x * ey + y * fy
    uz = mz + x * ez + y * fz
    f = value(best, ux, uy, uz, gauge)
    corner[n, 0] = ux / f
    corner[n, 1] = uy / f
    corner[n, 2] = uz / f
    return n + 1


@inner
def put_arc(e, i, j, x0, y0, x1, y1, span, circle, arc, owner):
    """Note a border of i and j as number e."""
    _, mx, my, mz, ex, ey, ez, fx, fy, fz = circle
    arc[e, MX] = mx
    arc[e, MY] = my
    arc[e, MZ] = mz
    arc[e, EX] = ex
    arc[e, EY] = ey
    arc[e, EZ] = ez
    arc[e, FX] = fx
    arc[e, FY] = fy
    arc[e, FZ] = fz
    arc[e, X0] = x0
    arc[e, Y0] = y0
    arc[e, X1] = x1
    arc[e, Y1] = y1
    arc[e, SPAN] = span
    owner[e, 0] = i
    owner[e, 1] = j
    return e + 1


@inner
def put_pieces(m, side, i, j, e, n, circle, buffers):
    """Note m pieces as borders of i and j, with their corners; gives (borders, corners)."""
    pieces = buffers.kept if side == 0 else buffers.spare
    third = buffers.third[side]
    for s in range(m):
        x0, y0, x1, y1 = pieces[s, PX0], pieces[s, PY0], pieces[s, PX1], pieces[s, PY1]
        if e >= buffers.arc.shape[0]:
            buffers.flag[0] = 1
            break
        span = pieces[s, P1] - pieces[s, P0]
        e = put_arc(e, i, j, x0, y0, x1, y1, span, circle, buffers.arc, buffers.owner)
        n = put_corner(n, i, j, third[s, 0], x0, y0, circle, buffers.gauge, buffers.corner)
        n = put_corner(n, i, j, third[s, 1], x1, y1, circle, buffers.gauge, buffers.corner)
    if m < 0 and e < buffers.arc.shape[0]:
        e = put_arc(e, i, j, 1.0, 0.0, 1.0, 0.0, TURN, circle, buffers.arc, buffers.owner)
    return e, n


@inner
def borders_of(count, buffers):
    """All borders between `count` constraints, and the corners at their ends: how many of each.

    Each corner comes up once per border that ends in it. Too little memory sets buffers.flag.
    """
    buffers.flag[0] = 0
    e = 0
    n = 0
    for i in range(count):
        killer = -1  # who hid the border with the last j often hides that with the next as well
        for j in range(i):
            circle = circle_between(i, j, buffers.gauge)
            if not circle[0]:
                continue
            if killer >= 0 and killer != j and is_hidden(i, killer, buffers.gauge, circle):
                continue
            m, side, killer = pieces_of(
                i, j, count, buffers.gauge, circle, buffers.kept, buffers.spare, buffers.third
            )
            if m != 0:
                e, n = put_pieces(m, side, i, j, e, n, circle, buffers)
    return e, n


@inner
def borders_in_plane(count, buffers):
    """The pieces of the circle of directions where each constraint is the largest, as `borders_of`.

    Both owners of such a piece are its gauge; its corners are those of the cell.
    """
    buffers.flag[0] = 0
    circle = (True, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    e = 0
    n = 0
    for i in range(count):
        m, side, _ = pieces_of(
            i, i, count, buffers.gauge, circle, buffers.kept, buffers.spare, buffers.third
        )
        if m != 0:
            e, n = put_pieces(m, side, i, i, e, n, circle, buffers)
    return e, n
