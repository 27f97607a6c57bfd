"""Moments of exp(-(z - c)' Q (z - c)) over tetrahedra and triangles.

Over a piece the exponent is a linear function with range L plus a quadratic one with range Q, both
known beforehand; they say which rule integrates it to TOLERANCE, proven, and a piece on which
no rule does is halved. All weights and values are positive, so nothing cancels, however thin the
piece or far the peak. Parts that weigh nothing beside the rest are dropped.

A row of `pending` is a corner o, the edges a, b, c from it (for a triangle c = 0), and the measure:
six times the volume, or twice the area.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.algebra import ZERO, along, dot, less, put, row_of, scaled
from dwell._kernels.common.arithmetic import exponential, larger, small_exponential, smaller
from dwell._kernels.common.quadrature import FIRST, FLAT_FIRST, REACH, A, B, C, W

NEGLIGIBLE = 46.0  # e-folds below the largest value: e**-46 is 1e-20
EASY = 0.125  # exponents up to here: a Taylor polynomial of degree 10 is exact to rounding
NOTHING = (0.0, ZERO, 0.0)  # no mass: see `join`
NO_MOMENTS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inner
def form(q, v):
    """Return v' Q v; q = (Qxx, Qxy, Qxz, Qyy, Qyz, Qzz)."""
    x, y, z = v
    mixed = (q[0] * x + 2.0 * (q[1] * y + q[2] * z)) * x + (q[3] * y + 2.0 * q[4] * z) * y
    return mixed + q[5] * z * z


@inner
def slopes(q, v):
    """Return -2 Q v, the gradient of the exponent at v."""
    x, y, z = v
    return (
        -2.0 * (q[0] * x + q[1] * y + q[2] * z),
        -2.0 * (q[1] * x + q[3] * y + q[4] * z),
        -2.0 * (q[2] * x + q[4] * y + q[5] * z),
    )


@inner
def over(v, t):
    """Return v / t."""
    return v[0] / t, v[1] / t, v[2] / t


@inner
def sum_of(a, b, c):
    """Return a + b + c."""
    return a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]


@inner
def nodes_for(tilt, bend, reach):
    """Return how many nodes per direction a piece needs; 0 when it must be halved."""
    j = 1
    while j < reach.shape[1] and bend > reach[0, j]:
        j += 1
    if j < reach.shape[1]:
        for i in range(1, reach.shape[0]):
            if tilt <= reach[i, j]:
                return int(reach[i, 0])
    return 0


@inner
def at_node(i, a, b, c):
    """Return node i in the tetrahedron (0, a, b, c), or in the triangle (0, a, b) if c = 0."""
    return (
        A[i] * a[0] + B[i] * b[0] + C[i] * c[0],
        A[i] * a[1] + B[i] * b[1] + C[i] * c[1],
        A[i] * a[2] + B[i] * b[2] + C[i] * c[2],
    )


@inner
def values_at_nodes(first, last, tilt, q, s, a, b, c, span, node):
    """Fill `node` with exp(tilt . z - z' Q z) - 1 at nodes first to last - 1, seen from s.

    Exponents up to `span` are halved until they are easy. Nothing but + and *: it compiles to
    vector code with the same bits everywhere. Squared back as e**2y - 1 = v (v + 2).
    """
    steps, scale = 0, 1.0
    while span > EASY:
        span, scale, steps = 0.5 * span, 0.5 * scale, steps + 1
    for i in range(first, last):
        z = less(at_node(i, a, b, c), s)
        node[i - first] = scale * (dot(tilt, z) - form(q, z))
    points = last - first
    for k in range(points):
        node[k] = small_exponential(node[k])
    for _ in range(steps):
        for k in range(points):
            node[k] = node[k] * (node[k] + 2.0)


@inner
def put_piece(row, o, a, b, c, k, pending):
    """Write one piece to a row of `pending`."""
    put(pending, row, 0, o)
    put(pending, row, 3, a)
    put(pending, row, 6, b)
    put(pending, row, 9, c)
    pending[row, 12] = k


@inner
def piece(row, pending):
    """Return the corner and the three edges of a piece."""
    o, a = row_of(pending, row, 0), row_of(pending, row, 3)
    return o, a, row_of(pending, row, 6), row_of(pending, row, 9)


@inner
def middle(u, v):
    """Return (u + v) / 2."""
    return 0.5 * (u[0] + v[0]), 0.5 * (u[1] + v[1]), 0.5 * (u[2] + v[2])


@inner
def rise(q, tilt, d):
    """Return how much the exponent may change along an edge d, tilt being its slope there."""
    return abs(dot(tilt, d)) + form(q, d)


@inner
def halve(row, top, q, tilt, flat, pending):
    """Halve the piece of `row` across the edge with the largest change; the halves replace it.

    Halving halves the measure exactly, so none is computed from nearly parallel edges.
    """
    o, a, b, c = piece(row, pending)
    k = 0.5 * pending[row, 12]
    oa, ob, ab = rise(q, tilt, a), rise(q, tilt, b), rise(q, tilt, less(b, a))
    oc = ac = bc = -1.0
    if not flat:
        oc = rise(q, tilt, c)
        ac = rise(q, tilt, less(c, a))
        bc = rise(q, tilt, less(c, b))
    most = larger(larger(larger(oa, ob), larger(oc, ab)), larger(ac, bc))
    if ab == most:
        m = middle(a, b)
        put_piece(row, o, a, m, c, k, pending)
        put_piece(top, o, m, b, c, k, pending)
    elif ac == most:
        m = middle(a, c)
        put_piece(row, o, a, b, m, k, pending)
        put_piece(top, o, m, b, c, k, pending)
    elif bc == most:
        m = middle(b, c)
        put_piece(row, o, a, b, m, k, pending)
        put_piece(top, o, a, m, c, k, pending)
    else:
        m = scaled(0.5, a if oa == most else (b if ob == most else c))
        put_piece(row, o, a, b, c, k, pending)
        put(pending, row, 3 if oa == most else (6 if ob == most else 9), m)
        # The far half: corner o + m, the edge that was halved again from there.
        far = c if flat else less(c, m)
        put_piece(top, along(o, 1.0, m), less(a, m), less(b, m), far, k, pending)


@inner
def next_piece(size, flat, stretch, q, center, least, reach, pending):
    """Drop or halve pieces until the last of `size` can be integrated.

    Pieces with exponents below `least` are dropped; `stretch` multiplies the ranges that a rule of
    the table `reach` must take. Returns (row of the piece, which is also how many are left; nodes,
    0 if none is left; exponent at its centroid; centroid; centroid seen from its corner; gradient
    of the exponent there; largest change of the exponent).
    """
    while size > 0:
        row = size - 1
        o, a, b, c = piece(row, pending)
        s = over(sum_of(a, b, c), 3.0) if flat else scaled(0.25, sum_of(a, b, c))
        g = along(o, 1.0, s)
        h = less(g, center)
        e = -form(q, h)
        tilt = slopes(q, h)
        da, db, dc = less(a, s), less(b, s), less(c, s)
        t0, t1, t2, t3 = -dot(tilt, s), dot(tilt, da), dot(tilt, db), dot(tilt, dc)
        high = larger(larger(t0, t1), larger(t2, t3))
        if not (e > -np.inf and e + high >= least):  # the exponent is concave: a bound
            size -= 1
            continue
        low = smaller(smaller(t0, t1), smaller(t2, t3))
        bend = larger(larger(form(q, s), form(q, da)), larger(form(q, db), form(q, dc)))
        n = nodes_for(stretch * (high - low), stretch * bend, reach)
        if n == 0 and size >= pending.shape[0]:
            n = int(reach[-1, 0])
        if n > 0:
            return row, n, e, g, s, tilt, larger(high, bend - low)
        halve(row, size, q, tilt, flat, pending)
        size += 1
    return 0, 0, 0.0, ZERO, ZERO, ZERO, 0.0


@inner
def join(total, part):
    """Add a part (mass, first moments about the origin, spread about its own centroid) to another.

    The spread (second moment about the centroid) of both is a sum of positive terms: no difference
    of second moments about far places is formed.
    """
    m, f, spread = part
    if m == 0.0:
        return total
    if total[0] == 0.0:
        return part
    mass = total[0] + m
    d = less(over(f, m), over(total[1], total[0]))
    between = dot(d, d) * (total[0] * (m / mass))
    return mass, along(total[1], 1.0, f), total[2] + spread + between


@inner
def add_point(moments, v, z):
    """Add a weight v at z to (mass, first moments, polar moment)."""
    m, f, polar = moments
    return m + v, along(f, v, z), polar + v * dot(z, z)


@inner
def about_own(g, k, moments):
    """Return k times moments about g as a part: see join."""
    m, polar = k * moments[0], k * moments[2]
    if m == 0.0:
        return NOTHING
    f = scaled(k, moments[1])
    return m, along(f, m, g), polar - dot(f, f) / m


@inner
def gaussian_tetrahedron(center, q, a, b, c, k, log_scale, log_top, node, pending, total):
    """Add exp(-(z - center)' Q (z - center) - log_scale) over (0, a, b, c) to `total`; see join.

    k: six times the volume, times a weight. `log_top`: an exponent that the cell reaches; parts far
    below it are dropped. Returns the new total.
    """
    put_piece(0, ZERO, a, b, c, k, pending)
    size = 1
    while True:
        size, n, e, g, s, tilt, span = next_piece(
            size, False, 1.0, q, center, log_top - NEGLIGIBLE, REACH, pending
        )
        if n == 0:
            return total
        _, a, b, c = piece(size, pending)
        first, last = FIRST[n], FIRST[n + 1]
        values_at_nodes(first, last, tilt, q, s, a, b, c, span, node)
        found = NOTHING
        for i in range(first, last):
            z = less(at_node(i, a, b, c), s)
            found = add_point(found, W[i] * (1.0 + node[i - first]), z)
        weight = pending[size, 12] * exponential(e - log_scale)
        total = join(total, about_own(g, weight, found))


@inner
def add_moments(m, f, v):
    """Add f times 1, x, y, z, xx, xy, xz, yy, yz, zz at a place to ten moments."""
    x, y, z = v
    fx, fy, fz = f * x, f * y, f * z
    return (
        m[0] + f, m[1] + fx, m[2] + fy, m[3] + fz, m[4] + fx * x, m[5] + fx * y, m[6] + fx * z,
        m[7] + fy * y, m[8] + fy * z, m[9] + fz * z,
    )  # fmt: skip


@inner
def gaussian_triangle(center, q, o, a, b, k, log_scale, log_top, node, pending, out):
    """Add the ten moments of exp(-(z - center)' Q (z - center) - log_scale) to `out`.

    Over the triangle (o, o + a, o + b); k is twice its area, times a weight.
    """
    put_piece(0, o, a, b, ZERO, k, pending)
    size = 1
    while True:
        size, n, e, g, s, tilt, span = next_piece(
            size, True, 1.0, q, center, log_top - NEGLIGIBLE, REACH, pending
        )
        if n == 0:
            return
        _, a, b, c = piece(size, pending)
        first, last = FLAT_FIRST[n], FLAT_FIRST[n + 1]
        values_at_nodes(first, last, tilt, q, s, a, b, c, span, node)
        weight = pending[size, 12] * exponential(e - log_scale)
        found = NO_MOMENTS
        for i in range(first, last):
            z = along(less(at_node(i, a, b, c), s), 1.0, g)
            found = add_moments(found, weight * W[i] * (1.0 + node[i - first]), z)
        for i in range(10):
            out[i] += found[i]


@inner
def exponent_on_triangle(q, a, b, c):
    """Return the largest -z' Q z on the triangle of three corners, and where."""
    u, v = less(b, a), less(c, a)
    uu, vv = form(q, u), form(q, v)
    lu = slopes(q, u)
    uv = -0.5 * dot(lu, v)
    ra = -0.5 * dot(lu, a)
    rb = -0.5 * dot(slopes(q, v), a)
    det = uu * vv - uv * uv
    if det > 0.0:
        s = (uv * rb - vv * ra) / det
        t = (uv * ra - uu * rb) / det
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            z = along(along(a, s, u), t, v)
            return -form(q, z), z
    best = -np.inf
    at = a
    for side in range(3):
        o = a if side == 0 else (b if side == 1 else c)
        d = u if side == 0 else (less(c, b) if side == 1 else less(a, c))
        bend = form(q, d)
        t = 0.0
        if bend > 0.0:
            t = smaller(1.0, larger(0.0, 0.5 * dot(slopes(q, d), o) / bend))
        z = along(o, t, d)
        e = -form(q, z)
        if e > best:
            best, at = e, z
    return best, at
