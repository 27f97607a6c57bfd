"""The borders between demands, as arcs on the sphere of directions.

Demands i and j are equal on the circle u . (B_i - B_j) = c_j - c_i. On it each other demand leaves
one piece where it is the smaller one; what all of them leave are the borders of i and j. Every
border is found by itself, so nothing has to fit together but integrals along them. Places on a
circle are unit vectors (x, y) in its own plane, ordered without angles.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.shells.demands import SHIFT, SLOPE, UX, UY, UZ, value

# Columns of an arc: the circle is M + E cos + F sin; from (X0, Y0) counter-clockwise to (X1, Y1),
# SPAN quarter turns apart.
MX, MY, MZ, EX, EY, EZ, FX, FY, FZ, X0, Y0, X1, Y1, SPAN = range(14)
P0, PX0, PY0, P1, PX1, PY1 = range(6)  # columns of a piece: P orders places on the circle
TURN = 4.0  # of P


@inner
def order_of(x, y):
    """A number from 0 to 4 that rises with the angle of (x, y)."""
    p = y / (abs(x) + abs(y))
    if x < 0.0:
        return 2.0 - p
    return p if y >= 0.0 else 4.0 + p


@inner
def circle_between(i, j, demand, circle):
    """The circle on which demands i and j are equal, i being larger on its left; False if none."""
    ax = demand[i, SLOPE] * demand[i, UX] - demand[j, SLOPE] * demand[j, UX]
    ay = demand[i, SLOPE] * demand[i, UY] - demand[j, SLOPE] * demand[j, UY]
    az = demand[i, SLOPE] * demand[i, UZ] - demand[j, SLOPE] * demand[j, UZ]
    length = math.sqrt(ax * ax + ay * ay + az * az)
    gap = demand[j, SHIFT] - demand[i, SHIFT]
    if not abs(gap) < length:
        return False
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
    circle[MX] = h * ax
    circle[MY] = h * ay
    circle[MZ] = h * az
    circle[EX] = ex
    circle[EY] = ey
    circle[EZ] = ez
    circle[FX] = ay * ez - az * ey
    circle[FY] = az * ex - ax * ez
    circle[FZ] = ax * ey - ay * ex
    return True


@inner
def limit_by(i, k, demand, circle):
    """Where demand k is smaller than i on the circle: a cos + b sin >= c, as (a, b, c)."""
    gx = demand[i, SLOPE] * demand[i, UX] - demand[k, SLOPE] * demand[k, UX]
    gy = demand[i, SLOPE] * demand[i, UY] - demand[k, SLOPE] * demand[k, UY]
    gz = demand[i, SLOPE] * demand[i, UZ] - demand[k, SLOPE] * demand[k, UZ]
    a = circle[EX] * gx + circle[EY] * gy + circle[EZ] * gz
    b = circle[FX] * gx + circle[FY] * gy + circle[FZ] * gz
    c = demand[k, SHIFT] - demand[i, SHIFT]
    return a, b, c - (circle[MX] * gx + circle[MY] * gy + circle[MZ] * gz)


@inner
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
def common_pieces(count, k, x0, y0, x1, y1, pieces, third, more, more_third):
    """What `count` pieces have in common with the arc from (x0, y0) to (x1, y1), set by k."""
    low = order_of(x0, y0)
    high = order_of(x1, y1)
    if high <= low:
        high += TURN
    m = 0
    for s in range(count):
        for turn in range(-1, 2):
            a = low + turn * TURN
            b = high + turn * TURN
            if larger(a, pieces[s, P0]) < smaller(b, pieces[s, P1]) and m < more.shape[0]:
                first = a > pieces[s, P0]
                last = b < pieces[s, P1]
                m = put_piece(
                    m,
                    a if first else pieces[s, P0],
                    x0 if first else pieces[s, PX0],
                    y0 if first else pieces[s, PY0],
                    k if first else third[s, 0],
                    b if last else pieces[s, P1],
                    x1 if last else pieces[s, PX1],
                    y1 if last else pieces[s, PY1],
                    k if last else third[s, 1],
                    more,
                    more_third,
                )
    return m


@inner
def pieces_of(i, j, count, demand, circle, pieces, spare, third):
    """The pieces of the circle of i and j that no other of `count` demands takes.

    Gives (how many, which of the two memories holds them); -1: the whole circle.
    """
    m = -1
    side = 0
    for k in range(count):
        if k in (i, j):
            continue
        a, b, c = limit_by(i, k, demand, circle)
        r2 = a * a + b * b
        if c <= 0.0 and c * c >= r2:
            continue
        if c >= 0.0 and c * c >= r2:
            return 0, side
        root = math.sqrt(r2 - c * c)
        x0 = (a * c + b * root) / r2
        y0 = (b * c - a * root) / r2
        x1 = (a * c - b * root) / r2
        y1 = (b * c + a * root) / r2
        if m < 0:
            low = order_of(x0, y0)
            high = order_of(x1, y1)
            if high <= low:
                high += TURN
            m = put_piece(0, low, x0, y0, k, high, x1, y1, k, pieces, third[0])
        elif side == 0:
            m = common_pieces(m, k, x0, y0, x1, y1, pieces, third[0], spare, third[1])
            side = 1
        else:
            m = common_pieces(m, k, x0, y0, x1, y1, spare, third[1], pieces, third[0])
            side = 0
        if m == 0:
            return 0, side
    return m, side


@inner
def put_corner(n, i, j, k, x, y, circle, demand, corner):
    """Where demands i, j and k meet; the flattest of the three tells the distance best."""
    best = i
    if demand[j, SLOPE] < demand[best, SLOPE]:
        best = j
    if demand[k, SLOPE] < demand[best, SLOPE]:
        best = k
    ux = circle[MX] + x * circle[EX] + y * circle[FX]
    uy = circle[MY] + x * circle[EY] + y * circle[FY]
    uz = circle[MZ] + x * circle[EZ] + y * circle[FZ]
    f = value(best, ux, uy, uz, demand)
    corner[n, 0] = ux / f
    corner[n, 1] = uy / f
    corner[n, 2] = uz / f
    return n + 1


@inner
def put_arc(e, i, j, x0, y0, x1, y1, span, circle, arc, owner):
    """Note a border of i and j as number e."""
    for c in range(X0):
        arc[e, c] = circle[c]
    arc[e, X0] = x0
    arc[e, Y0] = y0
    arc[e, X1] = x1
    arc[e, Y1] = y1
    arc[e, SPAN] = span
    owner[e, 0] = i
    owner[e, 1] = j


@inner
def borders_of(count, shell):
    """All borders between `count` demands, and the corners at their ends: how many of each.

    Each corner comes up once per border that ends in it. Too little memory sets shell.flag.
    """
    demand, arc, owner, corner = shell.demand, shell.arc, shell.owner, shell.corner
    most = arc.shape[0] - 1  # the last row serves as the circle that is looked at
    circle = arc[most]
    shell.flag[0] = 0
    e = 0
    n = 0
    for i in range(count):
        for j in range(i):
            if not circle_between(i, j, demand, circle):
                continue
            m, side = pieces_of(
                i, j, count, demand, circle, shell.kept, shell.spare, shell.third
            )
            if m < 0:
                put_arc(e, i, j, 1.0, 0.0, 1.0, 0.0, TURN, circle, arc, owner)
                e += 1
                m = 0
            pieces = shell.kept if side == 0 else shell.spare
            for s in range(m):
                x0, y0, x1, y1 = pieces[s, PX0], pieces[s, PY0], pieces[s, PX1], pieces[s, PY1]
                put_arc(e, i, j, x0, y0, x1, y1, pieces[s, P1] - pieces[s, P0], circle, arc, owner)
                third = shell.third[side, s]
                n = put_corner(n, i, j, third[0], x0, y0, circle, demand, corner)
                n = put_corner(n, i, j, third[1], x1, y1, circle, demand, corner)
                e += 1
                if e >= most:
                    shell.flag[0] = 1
                    return e, n
            if e >= most:
                shell.flag[0] = 1
                return e, n
    return e, n
