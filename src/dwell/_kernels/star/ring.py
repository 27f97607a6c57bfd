"""The facets of a polyhedron in a ball: rings of segments and arcs. Tables: see buffers.py.

A careful vector is a pair of a vector and what it was rounded by.
"""

import math

from dwell._kernels._jit import inner
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
    solve_lower,
)
from dwell._kernels.common.arithmetic import add, difference, quotient, times
from dwell._kernels.star.buffers import (
    ANGLE,
    BEHIND,
    CENTER,
    ENDS,
    FAN,
    FIRST,
    LAST,
    LOW,
    NORMAL,
    NORMAL_LOW,
    OFFSET,
    OWNER,
    QUARTER,
    RADIUS,
    START,
    STEP,
    STRETCH,
)

WIDEST_ARC = 0.9  # radians of a piece
CLOSE = 1e-8  # share of an edge by which a point is moved onto the sphere, at most
BACKWARD = 1e-3  # of the cubed radius: how far edges without length may turn back by rounding
FULL = -1  # the buffers are too small for all pieces


@inner
def product(a, b):
    """a . b of two careful vectors, in double-double."""
    h = low = 0.0
    for k in range(3):
        ph, pl = times(a[0][k], a[1][k], b[0][k], b[1][k])
        h, low = add(h, low, ph, pl)
    return h, low


@inner
def plus(a, b):
    """a + b of two careful vectors."""
    xh, xl = add(a[0][0], a[1][0], b[0][0], b[1][0])
    yh, yl = add(a[0][1], a[1][1], b[0][1], b[1][1])
    zh, zl = add(a[0][2], a[1][2], b[0][2], b[1][2])
    return (xh, yh, zh), (xl, yl, zl)


@inner
def minus(a, b):
    """a - b of two careful vectors."""
    return plus(a, (scaled(-1.0, b[0]), scaled(-1.0, b[1])))


@inner
def mapped(w, a):
    """W a of a careful vector."""
    xh, xl = product(((w[0], w[1], w[2]), ZERO), a)
    yh, yl = product(((0.0, w[3], w[4]), ZERO), a)
    zh, zl = times(w[5], 0.0, a[0][2], a[1][2])
    return (xh, yh, zh), (xl, yl, zl)


@inner
def frame_at(place, center, w):
    """(ball, what its g was rounded by), g = W (place - center).

    A ball is (g, 1 - |g|**2 of that rounded g, what this was rounded by).
    """
    x, xl = difference(place[0], center[0])
    y, yl = difference(place[1], center[1])
    z, zl = difference(place[2], center[2])
    g, low = mapped(w, ((x, y, z), (xl, yl, zl)))
    ph, pl = product((g, ZERO), (g, ZERO))
    h, rest = add(1.0, 0.0, -ph, -pl)
    return (g, h, rest), low


@inner
def outside_ball(v, ball):
    """How far a point lies outside the ball: |v + g|**2 - 1."""
    return dot(v, v) + 2.0 * dot(ball[0], v) - ball[1]


@inner
def put_vertex(k, a, ball, vertex):
    """Write the careful vector a as vertex k, and how far outside the ball it is."""
    put(vertex, k, 0, a[0])
    put(vertex, k, 3, a[1])
    vertex[k, 6] = outside_ball(a[0], ball)


@inner
def rest_of_normal(n, d, w):
    """What n = W**-T d / |W**-T d| was rounded by."""
    xh, xl = quotient(d[0], 0.0, w[0], 0.0)
    ph, pl = product(((-w[1], 0.0, 1.0), ZERO), ((xh, 0.0, d[1]), (xl, 0.0, 0.0)))
    yh, yl = quotient(ph, pl, w[3], 0.0)
    ph, pl = product(((-w[2], -w[4], 1.0), ZERO), ((xh, yh, d[2]), (xl, yl, 0.0)))
    zh, zl = quotient(ph, pl, w[5], 0.0)
    a = ((xh, yh, zh), (xl, yl, zl))
    ph, pl = product(a, a)
    root = math.sqrt(ph)
    qh, ql = times(root, 0.0, root, 0.0)
    rest = add(ph, pl, -qh, -ql)[0] / (2.0 * root)
    xh, xl = quotient(xh, xl, root, rest)
    yh, yl = quotient(yh, yl, root, rest)
    zh, zl = quotient(zh, zl, root, rest)
    return (xh - n[0]) + xl, (yh - n[1]) + yl, (zh - n[2]) + zl


@inner
def plane_of_facet(f, d, w, ball, facet):
    """Write the plane halfway to d as facet f; return whether it meets the ball.

    STRETCH is what areas in it are multiplied by on the way back to z, but for det(W).
    """
    g, sigma, _ = ball
    n = solve_lower(w, d)
    size = math.sqrt(dot(n, n))
    n = (n[0] / size, n[1] / size, n[2] / size)
    o = 0.5 * dot(d, d) / size
    rise = dot(n, g)
    flat = along(g, -rise, n)
    square = sigma + dot(flat, flat) - o * (2.0 * rise + o)
    put(facet, f, NORMAL, n)
    put(facet, f, NORMAL_LOW, rest_of_normal(n, d, w))
    facet[f, OFFSET] = o
    put(facet, f, CENTER, less(scaled(o, n), flat))
    facet[f, RADIUS] = math.sqrt(square) if square > 0.0 else 0.0
    facet[f, STRETCH] = math.sqrt(dot(d, d)) / size
    return square > 0.0


@inner
def edge_in_ball(i, j, g, vertex):
    """The part of the edge between vertices i and j in the ball: (whether there is one, t0, t1).

    It runs from vertex i + t0 (j - i) on; with i < j, so that both facets get the same bits.
    """
    c = vertex[i, 6]
    inside = c <= 0.0
    other = vertex[j, 6] <= 0.0
    u = row_of(vertex, i, 0)
    d = less(row_of(vertex, j, 0), u)
    square = dot(d, d)
    if (inside and other) or not square > 0.0:
        return inside or other, 0.0, 1.0
    slope = dot(along(u, 1.0, g), d)
    s = slope * slope - square * c
    if not (inside or other) and not (s > 0.0 and slope < 0.0 and -slope < square):
        return False, 0.0, 0.0
    half = math.sqrt(s) if s > 0.0 else 0.0
    t0, t1 = 0.0, 1.0
    if not inside:
        t0 = min(1.0, c / (half - slope))
    if not other:
        t1 = min(1.0, (half - slope) / square if slope < 0.0 else -c / (half + slope))
    return True, t0, t1


@inner
def point_on_edge(i, j, t, ball, vertex):
    """The careful vector at t between vertices i and j: they themselves at 0 and 1, else a point of
    the sphere, with which short arcs keep their digits."""
    a = (row_of(vertex, i, 0), row_of(vertex, i, 3))
    b = (row_of(vertex, j, 0), row_of(vertex, j, 3))
    if t == 0.0:
        return a
    if t == 1.0:
        return b
    g, sigma, rest = ball
    d = less(b[0], a[0])
    v = plus(a, mapped((t, 0.0, 0.0, t, 0.0, t), minus(b, a)))
    for _ in range(2):  # Newton's method along the edge, for v . (v + 2 g) = 1 - |g|**2
        ph, pl = product(v, plus(v, (scaled(2.0, g), ZERO)))
        outside = add(ph, pl, -sigma, -rest)[0]
        slope = 2.0 * dot(along(v[0], 1.0, g), d)
        if not abs(outside) < CLOSE * abs(slope):
            break
        v = plus(v, (scaled(-outside / slope, d), ZERO))
    return v


@inner
def put_segment(m, a, b, corner, ends, piece):
    """Write the segment between two careful vectors as piece m.

    corner: the vertex at which its edge begins; ends: whether it ends on the circle.
    """
    put(piece, m, START, a[0])
    put(piece, m, LOW, a[1])
    step, rest = minus(b, a)
    put(piece, m, STEP, step)
    put(piece, m, QUARTER, rest)
    piece[m, ANGLE] = 0.0
    piece[m, OWNER] = corner
    piece[m, ENDS] = ends


@inner
def put_arc(k, a, b, normal, center, arc):
    """Note the arc from a to b about `center`, with its angle between -pi and pi; return k + 1."""
    r = along(less(a[0], center), 1.0, a[1])
    d = along(less(b[0], a[0]), 1.0, less(b[1], a[1]))
    put(arc, k, 0, a[0])
    put(arc, k, 3, a[1])
    put(arc, k, 6, r)
    arc[k, 9] = math.atan2(dot(normal, cross(r, d)), dot(r, r) + dot(r, d))
    return k + 1


@inner
def settle_arcs(count, first, m, normal, center, piece, arc):
    """Decide which of the arcs exceeds half a turn, if one does.

    All angles about the center make a full turn if it is in the facet, and none if it is not. An
    arc that is still negative has no length but for rounding.
    """
    least = 0
    for k in range(1, count):
        if arc[k, 9] < arc[least, 9]:
            least = k
    if count == 0 or arc[least, 9] >= 0.0:
        return
    total = 0.0
    inside = True
    for i in range(first, m):
        r = along(less(row_of(piece, i, START), center), 1.0, row_of(piece, i, LOW))
        d = row_of(piece, i, STEP)
        turn = dot(normal, cross(r, d))
        inside = inside and turn >= 0.0
        total += math.atan2(turn, dot(r, r) + dot(r, d))
    for k in range(count):
        total += arc[k, 9]
    if total < (math.pi if inside else -math.pi):
        arc[least, 9] += 2.0 * math.pi


@inner
def put_pieces_of_arcs(count, m, f, normal, piece, arc):
    """Cut arcs into pieces from row m on; return the number of rows, or FULL."""
    for k in range(count):
        angle = arc[k, 9]
        if not angle > 0.0:
            continue
        parts = int(angle / WIDEST_ARC) + 1
        r = row_of(arc, k, 6)
        e = cross(normal, r)
        a = row_of(arc, k, 0)
        for i in range(parts):
            if m == piece.shape[0]:
                return FULL
            turn = angle * i / parts
            sine = math.sin(turn)
            cosine = math.cos(turn)
            half = math.sin(0.5 * turn)
            start = along(along(a, sine, e), -2.0 * half * half, r)
            put(piece, m, START, start)
            put(piece, m, LOW, row_of(arc, k, 3) if i == 0 else ZERO)
            put(piece, m, STEP, along(scaled(cosine, r), sine, e))
            put(piece, m, QUARTER, along(scaled(cosine, e), -sine, r))
            piece[m, ANGLE] = angle / parts
            piece[m, OWNER] = f
            m += 1
    return m


@inner
def put_circle(normal, center, radius, arc):
    """Note a whole circle as arc 0."""
    e = across(normal)
    r = scaled(radius / math.sqrt(dot(e, e)), e)
    put(arc, 0, 0, along(center, 1.0, r))
    put(arc, 0, 3, ZERO)
    put(arc, 0, 6, r)
    arc[0, 9] = 2.0 * math.pi


@inner
def holds_circle(first, last, loop, normal, center, radius, vertex):
    """Whether a polygon that no edge of meets the ball holds the whole circle."""
    area = 0.0
    u = less(row_of(vertex, loop[last - 1], 0), center)
    for i in range(first, last):
        v = less(row_of(vertex, loop[i], 0), center)
        turn = dot(normal, cross(u, v))
        if turn < -BACKWARD * radius * radius * radius:
            return False
        area += 0.5 * turn
        u = v
    return area >= radius * radius


@inner
def ring_of_facet(f, m, first, last, loop, ball, b):
    """Write the pieces of facet f, from row m on; return the number of rows, or FULL.

    Its polygon has the vertices loop[first] to loop[last - 1], counter-clockwise.
    """
    vertex, facet, piece, arc = b.vertex, b.facet, b.piece, b.arc
    normal = row_of(facet, f, NORMAL)
    center = row_of(facet, f, CENTER)
    start = m
    arcs = 0
    entered = left = False
    entry = exit_ = (ZERO, ZERO)
    i = loop[last - 1]
    for at in range(first, last):
        j = loop[at]
        low, high = min(i, j), max(i, j)
        meets, t0, t1 = edge_in_ball(low, high, ball[0], vertex)
        if meets:
            if m == piece.shape[0]:
                return FULL
            p = point_on_edge(low, high, t0 if i < j else t1, ball, vertex)
            q = point_on_edge(low, high, t1 if i < j else t0, ball, vertex)
            if vertex[i, 6] > 0.0 and left:
                arcs = put_arc(arcs, exit_, p, normal, center, arc)
            elif vertex[i, 6] > 0.0 and not entered:
                entered, entry = True, p
            left = vertex[j, 6] > 0.0
            put_segment(m, p, q, i, left, piece)
            m += 1
            if left:
                exit_ = q
        i = j
    if left and entered:
        arcs = put_arc(arcs, exit_, entry, normal, center, arc)
    if m == start:
        if not holds_circle(first, last, loop, normal, center, facet[f, RADIUS], vertex):
            return m
        put_circle(normal, center, facet[f, RADIUS], arc)
        arcs = 1
    settle_arcs(arcs, start, m, normal, center, piece, arc)
    return put_pieces_of_arcs(arcs, m, f, normal, piece, arc)


@inner
def close_facet(f, first, last, behind, facet, piece):
    """Note the pieces of facet f, and the mean of their starts as the apex of its fan."""
    facet[f, BEHIND] = behind
    facet[f, FIRST] = first
    facet[f, LAST] = last
    o = ZERO
    for i in range(first, last):
        o = along(o, 1.0 / (last - first), row_of(piece, i, START))
    put(facet, f, FAN, o)
