"""Moments of exp(-(z - c)' Q (z - c)) over triangles, to machine precision, and over polygons.

**By triangles.** The triangle (o, o + a, o + b) is swept by z = o + s ((1 - u) a + u b), dz =
K s ds du with K = a x b, and integrated by a tensor Gauss-Legendre rule. All weights and values are
positive, so nothing cancels, however thin the triangle or far the peak; closed forms by Green's
theorem lose (peak width / triangle size)**2 digits instead. The exponent on the triangle is
quadratic and its range R is known beforehand, so the number of nodes is chosen from R alone; a
triangle whose R is too large for any rule is halved, and halves that weigh nothing are dropped.
Where the exponent is nearly linear, as on small cells of a wide component, a rule of degree 8 with
16 nodes does as well.

Letters: g = o - c; E = -g'Qg the exponent at o; l(d) = -2 g'Qd its slope; q(d) = d'Qd.
A row of `pending` is (ox, oy, ax, ay, bx, by, K).

**By edges.** In coordinates y = C (z - c) with Q = C'C the Gaussian is exp(-|y|**2), and the
divergence theorem turns its moments into integrals along edges, ten times cheaper:

    mass    1/2 sum h int F(h**2 + t**2) dt,   F(x) = (1 - e**-x) / x,  or  -e**-x / x
    first  -1/2 sum n E0                       E0 = int e**-(h**2 + t**2) dt
    second  1/2 (mass - sum n (h n E0 + t E1)) E1 = int t e**-(h**2 + t**2) dt

(h: distance of the edge's line from the peak, t: place along it, n: outward normal.) The second F
needs the peak outside and keeps the digits of far cells. Edge terms have both signs and cancel when
the cell is small, thin or far; how much is known from the sum of their sizes, and the caller falls
back on triangles when more than a few digits would go.

Panels of all edges are listed first and integrated together: one after the other, each would wait
for its own exponential, and the processor with it.
"""

import math

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import (
    exponential,
    larger,
    small_exponential,
    smaller,
    sum_of_16,
)
from dwell._kernels.common.quadrature import (
    PANEL_NODES,
    PANEL_WEIGHTS,
    POINTS,
    SYMMETRIC,
    TRIANGLE_R,
    TRIANGLE_U,
    TRIANGLE_W,
)
from dwell._kernels.polygon.buffers import MAX_PANELS

# Rule by range: a triangle with R <= RANGE[i] takes COUNT[i] nodes per direction, with the
# argument of the exponential halved HALVINGS[i] times first. See tests/kernels/test_moments.py.
RANGE = np.array([0.012, 0.07, 0.16, 0.27, 0.55, 1.1, 2.0, 3.0, 3.9])
COUNT = np.array([5, 6, 7, 7, 8, 9, 10, 11, 12, SYMMETRIC])
HALVINGS = np.array([0, 0, 0, 1, 2, 3, 4, 5, 5, 0])
GENTLE = 9  # the level of triangles on which the exponent is hardly curved
GENTLE_RANGE = 0.07  # of the exponent there,
GENTLE_CURVATURE = 5e-4  # ... and the part of its curvature in that
NEGLIGIBLE = 80.0  # e-folds below the largest value: e**-80 is 1.8e-35

AMPLIFICATION = 64.0  # rounding errors may grow by this much: about two digits of sixteen
FAR = 2.0  # squared distance of the peak from which F(x) = -e**-x / x serves
TOO_SMALL = 0.15  # radius of the cell over width of the Gaussian below which digits cancel
TOO_FAR = 300.0  # beyond, masses near the end of the doubles' range: not for this kernel
SPAN = 9.0  # mean range of the exponent per panel; 16 nodes integrate 10 to 1e-15, 12 to 1e-14
POLE = 8.0  # a pole of F at the panel's own length away counts as so much range
MAX_PIECES = 8  # of one edge
TINY = 1e-300  # keeps 0 / 0 away at the very peak, where h = 0 wipes the term out anyway
REFUSED = np.inf
H, T0, LENGTH, TX, TY, MIDDLE, LEVEL, SHIFT = range(8)  # columns of `panels`


@inner
def add_point(total, v, x, y):
    """Add a weight v at (x, y) to (mass, first x, first y, polar moment)."""
    m, fx, fy, polar = total
    return m + v, fx + v * x, fy + v * y, polar + v * (x * x + y * y)


@inner
def integrate_triangle(ox, oy, ax, ay, bx, by, level, lx, ly, q, px, py, node):
    """Mass, first moments and polar moment about (px, py) of one triangle of small range.

    Divided by K and by the density at o; (lx, ly) is the gradient of the exponent there. The loops
    hold nothing but + and *, so they compile to vector code with the same bits everywhere: the
    exponential is a Taylor polynomial of a halved argument, squared back as e**2y - 1 = v (v + 2).
    """
    qxx, qxy, qyy = q
    n = COUNT[level]
    u, r, w = TRIANGLE_U[n], TRIANGLE_R[n], TRIANGLE_W[n]
    cx, cy = bx - ax, by - ay
    scale = 1.0
    for _ in range(HALVINGS[level]):
        scale *= 0.5
    for k in range(POINTS[n]):
        dx = r[k] * (ax + u[k] * cx)
        dy = r[k] * (ay + u[k] * cy)
        y = scale * ((lx * dx + ly * dy) - ((qxx * dx + 2.0 * qxy * dy) * dx + qyy * dy * dy))
        node[k] = small_exponential(y)
    for _ in range(HALVINGS[level]):
        for k in range(POINTS[n]):
            node[k] = node[k] * (node[k] + 2.0)
    hx, hy = ox - px, oy - py
    total = (0.0, 0.0, 0.0, 0.0)
    for k in range(POINTS[n]):
        zx = hx + r[k] * (ax + u[k] * cx)
        zy = hy + r[k] * (ay + u[k] * cy)
        total = add_point(total, w[k] * (1.0 + node[k]), zx, zy)
    return total


@inner
def level_of(span, curvature):
    """The rule for a triangle of range `span`, `curvature` of it curved; -1: it must be halved.

    Powers of a curved exponent have twice the degree.
    """
    if span <= GENTLE_RANGE and curvature <= GENTLE_CURVATURE:
        return GENTLE
    for i in range(RANGE.shape[0]):
        if span <= RANGE[i]:
            return i
    return -1


@inner
def put(row, triangle, pending):
    """Write one triangle on the stack."""
    for i in range(7):
        pending[row, i] = triangle[i]


@inner
def halve(row, top, ox, oy, ax, ay, bx, by, k, ea, eb, ec, pending):
    """Halve the triangle of `row` across its side of largest range; both halves go on the stack.

    ea, eb, ec: ranges along o-a, o-b and a-b. Halving halves K exactly, so no area is recomputed
    from nearly parallel sides.
    """
    k = 0.5 * k
    if ec >= ea and ec >= eb:
        mx, my = 0.5 * (ax + bx), 0.5 * (ay + by)
        put(row, (ox, oy, ax, ay, mx, my, k), pending)
        put(top, (ox, oy, mx, my, bx, by, k), pending)
        return
    if ea >= eb:
        mx, my = 0.5 * ax, 0.5 * ay
        put(row, (ox, oy, mx, my, bx, by, k), pending)
    else:
        mx, my = 0.5 * bx, 0.5 * by
        put(row, (ox, oy, ax, ay, mx, my, k), pending)
    put(top, (ox + mx, oy + my, ax - mx, ay - my, bx - mx, by - my, k), pending)


@inner
def gaussian_triangle(cx, cy, q, ax, ay, bx, by, k, log_scale, log_top, px, py, node, pending):
    """Moments of exp(-(z - c)'Q(z - c) - log_scale) over the triangle (0, a, b), about (px, py).

    q = (Qxx, Qxy, Qyy); k = a x b; `log_top` is the largest exponent on the whole cell: parts far
    below it are dropped.
    """
    qxx, qxy, qyy = q
    m = fx = fy = polar = 0.0
    put(0, (0.0, 0.0, ax, ay, bx, by, k), pending)
    size = 1 if log_top > -np.inf else 0  # nothing of a peak that is out of all range
    while size > 0:
        row = size - 1
        t = pending[row]
        ox, oy, ax, ay, bx, by, k = t[0], t[1], t[2], t[3], t[4], t[5], t[6]
        gx, gy = ox - cx, oy - cy
        hx = qxx * gx + qxy * gy
        hy = qxy * gx + qyy * gy
        e = -(gx * hx + gy * hy)
        la = -2.0 * (hx * ax + hy * ay)
        lb = -2.0 * (hx * bx + hy * by)
        high = larger(0.0, larger(la, lb))
        if not e + high >= log_top - NEGLIGIBLE:  # the exponent is concave: a bound
            size -= 1
            continue
        dx, dy = bx - ax, by - ay
        qa = (qxx * ax + 2.0 * qxy * ay) * ax + qyy * ay * ay
        qb = (qxx * bx + 2.0 * qxy * by) * bx + qyy * by * by
        qc = (qxx * dx + 2.0 * qxy * dy) * dx + qyy * dy * dy
        low = smaller(0.0, smaller(la, lb))
        curvature = larger(qa, larger(qb, qc))
        level = level_of(high - low + curvature, curvature)
        if level >= 0 or size >= pending.shape[0]:
            weight = k * exponential(e - log_scale)
            dm, dfx, dfy, dpolar = integrate_triangle(
                ox, oy, ax, ay, bx, by, level, -2.0 * hx, -2.0 * hy, q, px, py, node
            )
            m += weight * dm
            fx += weight * dfx
            fy += weight * dfy
            polar += weight * dpolar
            size -= 1
        else:
            ea, eb, ec = abs(la) + qa, abs(lb) + qb, abs(lb - la) + qc
            halve(row, size, ox, oy, ax, ay, bx, by, k, ea, eb, ec, pending)
            size += 1
    return m, fx, fy, polar


@inner
def top_exponent(n, cx, cy, q, x, y):
    """Largest value of -(z - c)'Q(z - c) on the polygon x, y, and z - c where it is taken."""
    qxx, qxy, qyy = q
    inside = True
    best = -np.inf
    best_x = best_y = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        ax, ay = x[i] - cx, y[i] - cy
        dx, dy = x[j] - x[i], y[j] - y[i]
        if dx * ay - dy * ax > 0.0:  # c is to the right of a counter-clockwise edge
            inside = False
        curvature = (qxx * dx + 2.0 * qxy * dy) * dx + qyy * dy * dy
        slope = (qxx * ax + qxy * ay) * dx + (qxy * ax + qyy * ay) * dy
        t = 0.0
        if curvature > 0.0:
            t = smaller(1.0, larger(0.0, -slope / curvature))
        zx, zy = ax + t * dx, ay + t * dy
        e = -((qxx * zx + 2.0 * qxy * zy) * zx + qyy * zy * zy)
        if e > best:
            best, best_x, best_y = e, zx, zy
    return (0.0, 0.0, 0.0) if inside else (best, best_x, best_y)


@inner
def segment_gap(ax, ay, bx, by):
    """Squared distance of the segment from a to b from (0, 0)."""
    dx, dy = bx - ax, by - ay
    d2 = dx * dx + dy * dy
    t = 0.0
    if d2 > 0.0:
        t = smaller(1.0, larger(0.0, -(ax * dx + ay * dy) / d2))
    zx, zy = ax + t * dx, ay + t * dy
    return zx * zx + zy * zy


@inner
def nearest_squared(n, x, y):
    """Squared distance of the polygon x, y from (0, 0); 0 if that lies inside."""
    best = np.inf
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        if (x[j] - x[i]) * y[i] - (y[j] - y[i]) * x[i] > 0.0:
            best = smaller(best, segment_gap(x[i], y[i], x[j], y[j]))
    return best if best < np.inf else 0.0


@inner
def put_panel(k, h, t0, length, tx, ty, panels):
    """Write row k: a panel [t0, t0 + length] of an edge with direction (tx, ty) at distance h."""
    h2, t1, tm = h * h, t0 + length, t0 + 0.5 * length
    panels[k, H] = h
    panels[k, T0] = t0
    panels[k, LENGTH] = length
    panels[k, TX] = tx
    panels[k, TY] = ty
    panels[k, MIDDLE] = 0.0
    if h2 + larger(t0 * t0, t1 * t1) > 1.0:
        panels[k, MIDDLE] = (
            h2 + tm * tm
        )  # the exponential is taken from here: its tail keeps digits


@inner
def fill_nodes(count, panels, value, ratio):
    """Weighted values of e**-x and of F, x = h**2 + t**2, at the nodes of each panel.

    Nothing but + - * / and no branch inside: vector code, in which all nodes are under way at once.
    Always 16 of them: the loop then needs no rest, and is faster than 8 were.
    """
    u, w = PANEL_NODES, PANEL_WEIGHTS
    for i in range(count):
        h2 = panels[i, H] * panels[i, H]
        t0, length = panels[i, T0], panels[i, LENGTH]
        middle, level, shift = panels[i, MIDDLE], panels[i, LEVEL], panels[i, SHIFT]
        for k in range(16):
            t = t0 + length * u[k]
            x = h2 + t * t
            y = (middle - x) * (1.0 / 64.0)  # at most 0.14, since SPAN is 9
            p = small_exponential(y)
            for _ in range(6):
                p = p * (p + 2.0)  # e**2y - 1 from e**y - 1
            value[i, k] = w[k] * (level + level * p)
            ratio[i, k] = w[k] * ((-shift - level * p) / (x + TINY))


@inner
def sum_along(v):
    """Sums of the numbers, each times the position of its node."""
    u = PANEL_NODES
    s0 = s1 = s2 = s3 = 0.0
    for k in range(0, 16, 4):
        s0 += v[k] * u[k]
        s1 += v[k + 1] * u[k + 1]
        s2 += v[k + 2] * u[k + 2]
        s3 += v[k + 3] * u[k + 3]
    return (s0 + s1) + (s2 + s3)


@inner
def add_panels(count, far, panels, value, ratio, total):
    """Add what these panels give to (mass, size of it, size of first, first, second moments)."""
    for k in range(count):
        level = exponential(-panels[k, MIDDLE])
        panels[k, LEVEL] = level
        panels[k, SHIFT] = level if far else level - 1.0
    fill_nodes(count, panels, value, ratio)
    m, size_m, size_f, fx, fy, sxx, sxy, syy = total
    for k in range(count):
        h, length = panels[k, H], panels[k, LENGTH]
        tx, ty = panels[k, TX], panels[k, TY]
        plain = sum_of_16(value[k])
        f = length * sum_of_16(ratio[k])
        e0 = length * plain
        e1 = length * (panels[k, T0] * plain + length * sum_along(value[k]))
        m += 0.5 * h * f
        size_m += abs(0.5 * h * f)
        size_f += 0.5 * e0
        fx -= 0.5 * ty * e0
        fy += 0.5 * tx * e0
        vx = h * ty * e0 + tx * e1
        vy = -h * tx * e0 + ty * e1
        sxx -= 0.5 * ty * vx
        sxy += 0.5 * tx * vx
        syy += 0.5 * tx * vy
    return m, size_m, size_f, fx, fy, sxx, sxy, syy


@njit
def gaussian_by_edges(n, cx, cy, c11, c12, c22, rho, x, y, x2, y2, panels, value, ratio):
    """(amplification, mass, first x, first y, polar) about (0, 0) of the polygon x, y.

    (cx, cy): the peak; rho: distance of the farthest vertex, the scale of the cell; the rest:
    working memory. The result is good when the amplification is at most AMPLIFICATION.
    """
    if larger(c11, c22) * rho < TOO_SMALL:
        return REFUSED, 0.0, 0.0, 0.0, 0.0
    for k in range(n):  # C (v - c) of every vertex v
        dx, dy = x[k] - cx, y[k] - cy
        x2[k], y2[k] = c11 * dx + c12 * dy, c22 * dy
    near = nearest_squared(n, x2, y2)
    if not near <= TOO_FAR:
        return REFUSED, 0.0, 0.0, 0.0, 0.0
    far = near > FAR
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    count = 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        dx, dy = x2[j] - x2[i], y2[j] - y2[i]
        length = math.sqrt(dx * dx + dy * dy)
        if length == 0.0:
            continue
        inverse = 1.0 / length
        tx, ty = dx * inverse, dy * inverse
        h, t0 = x2[i] * ty - y2[i] * tx, x2[i] * tx + y2[i] * ty
        span = larger(abs(length * (2.0 * t0 + length)), length * length)
        if far:  # F has a pole near the peak: keep panels shorter than its distance
            span = larger(span, POLE * length * length / near)
        if not span / SPAN <= MAX_PIECES:
            return REFUSED, 0.0, 0.0, 0.0, 0.0
        pieces = math.ceil(span / SPAN)
        piece = length / pieces
        for k in range(pieces):
            if count == MAX_PANELS:
                total = add_panels(count, far, panels, value, ratio, total)
                count = 0
            put_panel(count, h, t0 + k * piece, piece, tx, ty, panels)
            count += 1
    total = add_panels(count, far, panels, value, ratio, total)
    m, size_m, size_f, fx, fy, sxx, sxy, syy = total
    if m <= 0.0:
        return REFUSED, 0.0, 0.0, 0.0, 0.0
    sxx += 0.5 * m
    syy += 0.5 * m
    # Back to z = c + inverse(C) y.
    k11, k22 = 1.0 / c11, 1.0 / c22
    k12 = -c12 * k11 * k22
    gx, gy = k11 * fx + k12 * fy, k22 * fy
    spread = k11 * k11 * sxx + 2.0 * k11 * k12 * sxy + (k12 * k12 + k22 * k22) * syy
    polar = (cx * cx + cy * cy) * m + 2.0 * (cx * gx + cy * gy) + spread
    stretch = abs(k11) + abs(k12) + abs(k22)
    away = math.sqrt(cx * cx + cy * cy)
    grown = larger(size_m / m, (stretch * size_f + away * size_m) / (m * rho))
    # The polar moment only enters the cost: it may lose four times as much.
    loss = 0.25 * away * (2.0 * stretch * size_f + away * size_m) / (m * rho * rho)
    det = k11 * k22
    return larger(grown, loss), det * m, det * (cx * m + gx), det * (cy * m + gy), det * polar
