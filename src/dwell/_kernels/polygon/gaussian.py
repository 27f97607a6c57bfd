"""Moments of exp(-(z - c)' Q (z - c)) over a triangle, to machine precision.

The triangle (o, o + a, o + b) is swept by z = o + s ((1 - u) a + u b), dz = K s ds du with
K = a x b, and integrated by a tensor Gauss-Legendre rule. All weights and values are positive, so
nothing cancels, however thin the triangle or far the peak; closed forms by Green's theorem lose
(peak width / triangle size)**2 digits instead. The exponent on the triangle is quadratic and its
range R is known beforehand, so the number of nodes is chosen from R alone; a triangle whose R is
too large for any rule is halved, and halves that weigh nothing are dropped. Where the exponent is
nearly linear, as on small cells of a wide component, a rule of degree 8 with 16 nodes does as well.

Letters: g = o - c; E = -g'Qg the exponent at o; l(d) = -2 g'Qd its slope; q(d) = d'Qd.
A row of `pending` is (ox, oy, ax, ay, bx, by, K).
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential, larger, small_exponential, smaller
from dwell._kernels.common.quadrature import POINTS, SYMMETRIC, TRIANGLE_R, TRIANGLE_U, TRIANGLE_W

# Rule by range: a triangle with R <= RANGE[i] takes COUNT[i] nodes per direction, with the
# argument of the exponential halved HALVINGS[i] times first. See tests/kernels/test_moments.py.
RANGE = np.array([0.012, 0.07, 0.16, 0.27, 0.55, 1.1, 2.0, 3.0, 3.9])
COUNT = np.array([5, 6, 7, 7, 8, 9, 10, 11, 12, SYMMETRIC])
HALVINGS = np.array([0, 0, 0, 1, 2, 3, 4, 5, 5, 0])
GENTLE = 9  # the level of triangles on which the exponent is hardly curved
GENTLE_RANGE, GENTLE_CURVATURE = (
    0.07,
    5e-4,
)  # its whole range, and the part of its curvature in that
NEGLIGIBLE = 80.0  # e-folds below the largest value: e**-80 is 1.8e-35


@inner
def integrate_triangle(ox, oy, ax, ay, bx, by, weight, level, lx, ly, q, px, py, node):
    """Mass, first moments and polar moment about (px, py) of one triangle of small range.

    `weight` is K times the density at o; (lx, ly) the gradient of the exponent there. The loops
    hold nothing but + and *, so they compile to vector code with the same bits everywhere: the
    exponential is a Taylor polynomial of a halved argument, squared back as e**2y - 1 = v (v + 2).
    """
    qxx, qxy, qyy = q
    n = COUNT[level]
    u = TRIANGLE_U[n]
    r = TRIANGLE_R[n]
    w = TRIANGLE_W[n]
    cx = bx - ax
    cy = by - ay
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
    hx = ox - px
    hy = oy - py
    m = fx = fy = polar = 0.0
    for k in range(POINTS[n]):
        zx = hx + r[k] * (ax + u[k] * cx)
        zy = hy + r[k] * (ay + u[k] * cy)
        v = w[k] * (1.0 + node[k])
        m += v
        fx += v * zx
        fy += v * zy
        polar += v * (zx * zx + zy * zy)
    return weight * m, weight * fx, weight * fy, weight * polar


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
def halve(row, top, ox, oy, ax, ay, bx, by, k, ea, eb, ec, pending):
    """Halve the triangle of `row` across its side of largest range; both halves go on the stack.

    ea, eb, ec: ranges along o-a, o-b and a-b. Halving halves K exactly, so no area is recomputed
    from nearly parallel sides.
    """
    k = 0.5 * k
    if ec >= ea and ec >= eb:
        mx = 0.5 * (ax + bx)
        my = 0.5 * (ay + by)
        put(row, ox, oy, ax, ay, mx, my, k, pending)
        put(top, ox, oy, mx, my, bx, by, k, pending)
    elif ea >= eb:
        mx = 0.5 * ax
        my = 0.5 * ay
        put(row, ox, oy, mx, my, bx, by, k, pending)
        put(top, ox + mx, oy + my, ax - mx, ay - my, bx - mx, by - my, k, pending)
    else:
        mx = 0.5 * bx
        my = 0.5 * by
        put(row, ox, oy, ax, ay, mx, my, k, pending)
        put(top, ox + mx, oy + my, ax - mx, ay - my, bx - mx, by - my, k, pending)


@inner
def put(row, ox, oy, ax, ay, bx, by, k, pending):
    """Write one triangle on the stack."""
    pending[row, 0] = ox
    pending[row, 1] = oy
    pending[row, 2] = ax
    pending[row, 3] = ay
    pending[row, 4] = bx
    pending[row, 5] = by
    pending[row, 6] = k


@inner
def gaussian_triangle(cx, cy, q, ax, ay, bx, by, k, log_scale, log_top, px, py, node, pending):
    """Moments of exp(-(z - c)'Q(z - c) - log_scale) over the triangle (0, a, b), about (px, py).

    q = (Qxx, Qxy, Qyy); k = a x b; `log_top` is the largest exponent on the whole cell: parts far
    below it are dropped.
    """
    qxx, qxy, qyy = q
    m = fx = fy = polar = 0.0
    put(0, 0.0, 0.0, ax, ay, bx, by, k, pending)
    size = 1
    while size > 0:
        row = size - 1
        ox = pending[row, 0]
        oy = pending[row, 1]
        ax = pending[row, 2]
        ay = pending[row, 3]
        bx = pending[row, 4]
        by = pending[row, 5]
        k = pending[row, 6]
        gx = ox - cx
        gy = oy - cy
        hx = qxx * gx + qxy * gy
        hy = qxy * gx + qyy * gy
        e = -(gx * hx + gy * hy)
        la = -2.0 * (hx * ax + hy * ay)
        lb = -2.0 * (hx * bx + hy * by)
        qa = (qxx * ax + 2.0 * qxy * ay) * ax + qyy * ay * ay
        qb = (qxx * bx + 2.0 * qxy * by) * bx + qyy * by * by
        high = larger(0.0, larger(la, lb))
        if e + high < log_top - NEGLIGIBLE:  # the exponent is concave: a bound
            size -= 1
            continue
        dx = bx - ax
        dy = by - ay
        qc = (qxx * dx + 2.0 * qxy * dy) * dx + qyy * dy * dy
        low = smaller(0.0, smaller(la, lb))
        curvature = larger(qa, larger(qb, qc))
        level = level_of(high - low + curvature, curvature)
        if level >= 0 or size >= pending.shape[0]:
            weight = k * exponential(e - log_scale)
            dm, dfx, dfy, dpolar = integrate_triangle(
                ox, oy, ax, ay, bx, by, weight, level, -2.0 * hx, -2.0 * hy, q, px, py, node
            )
            m += dm
            fx += dfx
            fy += dfy
            polar += dpolar
            size -= 1
        else:
            ea = abs(la) + qa
            eb = abs(lb) + qb
            ec = abs(lb - la) + qc
            halve(row, size, ox, oy, ax, ay, bx, by, k, ea, eb, ec, pending)
            size += 1
    return m, fx, fy, polar


@inner
def top_exponent(n, cx, cy, q, x, y):
    """Largest value of -(z - c)'Q(z - c) on the polygon x, y."""
    qxx, qxy, qyy = q
    inside = True
    best = -np.inf
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        ax = x[i] - cx
        ay = y[i] - cy
        dx = x[j] - x[i]
        dy = y[j] - y[i]
        if dx * ay - dy * ax > 0.0:  # c is to the right of a counter-clockwise edge
            inside = False
        curvature = (qxx * dx + 2.0 * qxy * dy) * dx + qyy * dy * dy
        slope = (qxx * ax + qxy * ay) * dx + (qxy * ax + qyy * ay) * dy
        t = 0.0
        if curvature > 0.0:
            t = smaller(1.0, larger(0.0, -slope / curvature))
        zx = ax + t * dx
        zy = ay + t * dy
        best = larger(best, -((qxx * zx + 2.0 * qxy * zy) * zx + qyy * zy * zy))
    return 0.0 if inside else best
