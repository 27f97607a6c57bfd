"""Moments of exp(-(z - c)' Q (z - c)) over tetrahedra and triangles.

Over a piece the exponent is a linear function with range L plus a quadratic one with range Q, both
known beforehand; they say which rule integrates it to rules.TOLERANCE, proven, and a piece on which
no rule does is halved. All weights and values are positive, so nothing cancels, however thin the
piece or far the peak. Parts that weigh nothing beside the rest are dropped.

A row of `pending` is a corner o, the edges a, b, c from it (a, b for a triangle), and the measure:
six times the volume, or twice the area.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.space.rules import (
    BENDS,
    FEWEST,
    FIRST,
    FLAT_A,
    FLAT_B,
    FLAT_FIRST,
    FLAT_POINTS,
    FLAT_W,
    MOST,
    POINTS,
    TILTS,
    A,
    B,
    C,
    W,
)
from dwell._kernels.star.vectors import along, dot, less

NEGLIGIBLE = 46.0  # e-folds below the largest value: e**-46 is 1e-20
EASY = 0.125  # exponents up to here: a Taylor polynomial of degree 10 is exact to rounding


@inner
def form(q, x, y, z):
    """z' Q z; q = (Qxx, Qxy, Qxz, Qyy, Qyz, Qzz)."""
    return ((q[0] * x + 2.0 * (q[1] * y + q[2] * z)) * x + (q[3] * y + 2.0 * q[4] * z) * y) + q[
        5
    ] * z * z


@inner
def slopes(q, x, y, z):
    """-2 Q z: the gradient of the exponent at z."""
    return (
        -2.0 * (q[0] * x + q[1] * y + q[2] * z),
        -2.0 * (q[1] * x + q[3] * y + q[4] * z),
        -2.0 * (q[2] * x + q[4] * y + q[5] * z),
    )


@inner
def nodes_for(tilt, bend):
    """How many nodes per direction a piece needs; 0 when it must be halved."""
    j = 0
    while j < BENDS.shape[0] and bend > BENDS[j]:
        j += 1
    if j < BENDS.shape[0]:
        for i in range(TILTS.shape[0]):
            if tilt <= TILTS[i, j]:
                return FEWEST + i
    return 0


@inner
def values_at_nodes(points, steps, node):
    """Replace exponents y, halved `steps` times, by e**y - 1.

    Nothing but + and *: it compiles to vector code with the same bits everywhere. Squared back as
    e**2y - 1 = v (v + 2).
    """
    for k in range(points):
        y = node[k]
        p = y * (1.0 / 3628800.0) + 1.0 / 362880.0
        p = p * y + 1.0 / 40320.0
        p = p * y + 1.0 / 5040.0
        p = p * y + 1.0 / 720.0
        p = p * y + 1.0 / 120.0
        p = p * y + 1.0 / 24.0
        p = p * y + 1.0 / 6.0
        p = p * y + 0.5
        node[k] = y + y * y * p
    for _ in range(steps):
        for k in range(points):
            node[k] = node[k] * (node[k] + 2.0)


@inner
def halvings(span):
    """How often an exponent up to `span` must be halved to be easy."""
    steps = 0
    while span > EASY:
        span *= 0.5
        steps += 1
    return steps


@inner
def put(row, o, a, b, c, k, pending):
    """Write one piece on the pile."""
    for i in range(3):
        pending[row, i] = o[i]
        pending[row, 3 + i] = a[i]
        pending[row, 6 + i] = b[i]
        pending[row, 9 + i] = c[i]
    pending[row, 12] = k


@inner
def vector(row, first, pending):
    """Three numbers of a row."""
    return pending[row, first], pending[row, first + 1], pending[row, first + 2]


@inner
def half(u):
    """u / 2."""
    return 0.5 * u[0], 0.5 * u[1], 0.5 * u[2]


@inner
def middle(u, v):
    """(u + v) / 2."""
    return 0.5 * (u[0] + v[0]), 0.5 * (u[1] + v[1]), 0.5 * (u[2] + v[2])


@inner
def rise(q, tilt, d):
    """How much the exponent may change along an edge d, tilt being its slope there."""
    return abs(dot(tilt, d)) + form(q, d[0], d[1], d[2])


@inner
def halve(row, top, q, tilt, o, a, b, c, k, flat, pending):
    """Halve the piece of `row` across the edge with the largest change; both halves stay on.

    Halving halves the measure exactly, so none is computed from nearly parallel edges.
    """
    k = 0.5 * k
    ab = rise(q, tilt, less(b, a))
    oa = rise(q, tilt, a)
    ob = rise(q, tilt, b)
    oc = ac = bc = -1.0
    if not flat:
        oc = rise(q, tilt, c)
        ac = rise(q, tilt, less(c, a))
        bc = rise(q, tilt, less(c, b))
    most = larger(larger(larger(oa, ob), larger(oc, ab)), larger(ac, bc))
    if ab == most:
        m = middle(a, b)
        put(row, o, a, m, c, k, pending)
        put(top, o, m, b, c, k, pending)
    elif ac == most:
        m = middle(a, c)
        put(row, o, a, b, m, k, pending)
        put(top, o, m, b, c, k, pending)
    elif bc == most:
        m = middle(b, c)
        put(row, o, a, b, m, k, pending)
        put(top, o, a, m, c, k, pending)
    else:
        if oa == most:
            m = half(a)
            put(row, o, m, b, c, k, pending)
        elif ob == most:
            m = half(b)
            put(row, o, a, m, c, k, pending)
        else:
            m = half(c)
            put(row, o, a, b, m, k, pending)
        # The far half: corner o + m, the edge that was halved again from there.
        put(top, along(o, 1.0, m), less(a, m), less(b, m), less(c, m), k, pending)


@inner
def join(total, m, fx, fy, fz, spread):
    """Add a part of mass m, first moments about the origin f and spread about its own centroid.

    total: mass, first moments, and spread (second moment about the centroid), as sums of positive
    terms: no difference of second moments about far places is formed.
    """
    if m == 0.0:
        return total
    if total[0] == 0.0:
        return m, fx, fy, fz, spread
    mass = total[0] + m
    dx = fx / m - total[1] / total[0]
    dy = fy / m - total[2] / total[0]
    dz = fz / m - total[3] / total[0]
    between = (dx * dx + dy * dy + dz * dz) * (total[0] * (m / mass))
    return (
        mass, total[1] + fx, total[2] + fy, total[3] + fz, total[4] + spread + between
    )  # fmt: skip


@inner
def about_own(g, m, fx, fy, fz, polar):
    """Moments about g as moments about the origin, with the spread: (m, f, spread)."""
    if m == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    spread = polar - (fx * fx + fy * fy + fz * fz) / m
    return m, m * g[0] + fx, m * g[1] + fy, m * g[2] + fz, spread


@inner
def tetrahedron_by_rule(n, g, tilt, q, a, b, c, weight, span, node):
    """Moments of weight * exp(tilt . (z - g) - (z - g)' Q (z - g)) over a tetrahedron.

    g: its centroid. a, b, c: its edges from the corner o. Gives (m, fx, fy, fz, spread).
    """
    first = FIRST[n]
    points = POINTS[n]
    steps = halvings(span)
    scale = 1.0
    for _ in range(steps):
        scale *= 0.5
    sx = 0.25 * (a[0] + b[0] + c[0])  # from o to the centroid
    sy = 0.25 * (a[1] + b[1] + c[1])
    sz = 0.25 * (a[2] + b[2] + c[2])
    for k in range(points):
        u = A[first + k]
        v = B[first + k]
        w = C[first + k]
        x = u * a[0] + v * b[0] + w * c[0] - sx
        y = u * a[1] + v * b[1] + w * c[1] - sy
        z = u * a[2] + v * b[2] + w * c[2] - sz
        node[k] = scale * ((tilt[0] * x + tilt[1] * y + tilt[2] * z) - form(q, x, y, z))
    values_at_nodes(points, steps, node)
    m = fx = fy = fz = polar = 0.0
    for k in range(points):
        u = A[first + k]
        v = B[first + k]
        w = C[first + k]
        x = u * a[0] + v * b[0] + w * c[0] - sx
        y = u * a[1] + v * b[1] + w * c[1] - sy
        z = u * a[2] + v * b[2] + w * c[2] - sz
        f = W[first + k] * (1.0 + node[k])
        m += f
        fx += f * x
        fy += f * y
        fz += f * z
        polar += f * (x * x + y * y + z * z)
    return about_own(g, weight * m, weight * fx, weight * fy, weight * fz, weight * polar)


@inner
def gaussian_tetrahedron(center, q, a, b, c, k, log_scale, log_top, node, pending, total):
    """Add exp(-(z - center)' Q (z - center) - log_scale) over (0, a, b, c) to `total`; see join.

    k: six times the volume, times a weight. `log_top`: an exponent that the cell reaches; parts far
    below it are dropped. Gives the new total.
    """
    zero = (0.0, 0.0, 0.0)
    put(0, zero, a, b, c, k, pending)
    size = 1
    while size > 0:
        row = size - 1
        o = vector(row, 0, pending)
        a = vector(row, 3, pending)
        b = vector(row, 6, pending)
        c = vector(row, 9, pending)
        k = pending[row, 12]
        s = (0.25 * (a[0] + b[0] + c[0]), 0.25 * (a[1] + b[1] + c[1]), 0.25 * (a[2] + b[2] + c[2]))
        g = along(o, 1.0, s)
        h = less(g, center)
        e = -form(q, h[0], h[1], h[2])
        tilt = slopes(q, h[0], h[1], h[2])
        da = less(a, s)
        db = less(b, s)
        dc = less(c, s)
        t0 = -dot(tilt, s)
        t1 = dot(tilt, da)
        t2 = dot(tilt, db)
        t3 = dot(tilt, dc)
        high = larger(larger(t0, t1), larger(t2, t3))
        if e + high < log_top - NEGLIGIBLE:  # the exponent is concave: a bound
            size -= 1
            continue
        low = smaller(smaller(t0, t1), smaller(t2, t3))
        bend = larger(form(q, s[0], s[1], s[2]), form(q, da[0], da[1], da[2]))
        bend = larger(bend, form(q, db[0], db[1], db[2]))
        bend = larger(bend, form(q, dc[0], dc[1], dc[2]))
        n = nodes_for(high - low, bend)
        if n == 0 and size >= pending.shape[0]:
            n = MOST
        if n > 0:
            size -= 1
            weight = k * exponential(e - log_scale)
            m, fx, fy, fz, spread = tetrahedron_by_rule(
                n, g, tilt, q, a, b, c, weight, larger(high, bend - low), node
            )
            total = join(total, m, fx, fy, fz, spread)
        else:
            halve(row, size, q, tilt, o, a, b, c, k, False, pending)
            size += 1
    return total


@inner
def triangle_by_rule(n, g, tilt, q, a, b, weight, span, node):
    """Moments 1, x, y, z, xx, xy, xz, yy, yz, zz about the origin over a triangle; see above."""
    first = FLAT_FIRST[n]
    points = FLAT_POINTS[n]
    steps = halvings(span)
    scale = 1.0
    for _ in range(steps):
        scale *= 0.5
    sx = (a[0] + b[0]) / 3.0
    sy = (a[1] + b[1]) / 3.0
    sz = (a[2] + b[2]) / 3.0
    for k in range(points):
        u = FLAT_A[first + k]
        v = FLAT_B[first + k]
        x = u * a[0] + v * b[0] - sx
        y = u * a[1] + v * b[1] - sy
        z = u * a[2] + v * b[2] - sz
        node[k] = scale * ((tilt[0] * x + tilt[1] * y + tilt[2] * z) - form(q, x, y, z))
    values_at_nodes(points, steps, node)
    m = mx = my = mz = xx = xy = xz = yy = yz = zz = 0.0
    for k in range(points):
        u = FLAT_A[first + k]
        v = FLAT_B[first + k]
        x = u * a[0] + v * b[0] - sx + g[0]
        y = u * a[1] + v * b[1] - sy + g[1]
        z = u * a[2] + v * b[2] - sz + g[2]
        f = weight * FLAT_W[first + k] * (1.0 + node[k])
        m += f
        mx += f * x
        my += f * y
        mz += f * z
        xx += f * x * x
        xy += f * x * y
        xz += f * x * z
        yy += f * y * y
        yz += f * y * z
        zz += f * z * z
    return m, mx, my, mz, xx, xy, xz, yy, yz, zz


@inner
def gaussian_triangle(center, q, o, a, b, k, log_scale, log_top, node, pending, out):
    """Add the ten moments of exp(-(z - center)' Q (z - center) - log_scale) to `out`.

    Over the triangle (o, o + a, o + b); k is twice its area, times a weight.
    """
    zero = (0.0, 0.0, 0.0)
    put(0, o, a, b, zero, k, pending)
    size = 1
    while size > 0:
        row = size - 1
        o = vector(row, 0, pending)
        a = vector(row, 3, pending)
        b = vector(row, 6, pending)
        k = pending[row, 12]
        s = ((a[0] + b[0]) / 3.0, (a[1] + b[1]) / 3.0, (a[2] + b[2]) / 3.0)
        g = along(o, 1.0, s)
        h = less(g, center)
        e = -form(q, h[0], h[1], h[2])
        tilt = slopes(q, h[0], h[1], h[2])
        da = less(a, s)
        db = less(b, s)
        t0 = -dot(tilt, s)
        t1 = dot(tilt, da)
        t2 = dot(tilt, db)
        high = larger(t0, larger(t1, t2))
        if e + high < log_top - NEGLIGIBLE:
            size -= 1
            continue
        low = smaller(t0, smaller(t1, t2))
        bend = larger(form(q, s[0], s[1], s[2]), form(q, da[0], da[1], da[2]))
        bend = larger(bend, form(q, db[0], db[1], db[2]))
        n = nodes_for(high - low, bend)
        if n == 0 and size >= pending.shape[0]:
            n = MOST
        if n > 0:
            size -= 1
            weight = k * exponential(e - log_scale)
            found = triangle_by_rule(n, g, tilt, q, a, b, weight, larger(high, bend - low), node)
            for i in range(10):
                out[i] += found[i]
        else:
            halve(row, size, q, tilt, o, a, b, zero, k, True, pending)
            size += 1


@inner
def exponent_on_triangle(q, a, b, c):
    """Largest -z' Q z on the triangle of three corners, and where."""
    best = -np.inf
    at = a
    u = less(b, a)
    v = less(c, a)
    uu = form(q, u[0], u[1], u[2])
    vv = form(q, v[0], v[1], v[2])
    lu = slopes(q, u[0], u[1], u[2])
    lv = slopes(q, v[0], v[1], v[2])
    uv = -0.5 * dot(lu, v)
    ra = -0.5 * dot(lu, a)
    rb = -0.5 * dot(lv, a)
    det = uu * vv - uv * uv
    if det > 0.0:
        s = (uv * rb - vv * ra) / det
        t = (uv * ra - uu * rb) / det
        if s >= 0.0 and t >= 0.0 and s + t <= 1.0:
            z = (a[0] + s * u[0] + t * v[0], a[1] + s * u[1] + t * v[1], a[2] + s * u[2] + t * v[2])
            return -form(q, z[0], z[1], z[2]), z
    for side in range(3):
        o = a if side == 0 else (b if side == 1 else c)
        d = less(b, a) if side == 0 else (less(c, b) if side == 1 else less(a, c))
        bend = form(q, d[0], d[1], d[2])
        slope = dot(slopes(q, d[0], d[1], d[2]), o)
        t = 0.0
        if bend > 0.0:
            t = smaller(1.0, larger(0.0, 0.5 * slope / bend))
        z = (o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2])
        e = -form(q, z[0], z[1], z[2])
        if e > best:
            best = e
            at = z
    return best, at
