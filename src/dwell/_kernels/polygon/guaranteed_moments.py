"""Moments over a guaranteed cell from its boundary in panels, by sums of positive terms.

Each panel is part of one curve z(w) = e (f - a s) + e' (b w) with s = sqrt(1 + w**2): see
guaranteed_envelope.py. Curves are analytic but for w = i and w = -i, so 16 nodes give all digits as
long as a panel is short against its distance from there. Seen from the agent,
z x dz = b (f - a / s) dw is positive: moments that are summed from the agent outwards never cancel.

For a Gaussian, each panel joined to the agent is a curved triangle z = r z(w), 0 <= r <= 1. Patches
[w0, w1] x [r0, r1] of it with too much range of the exponent are halved; those without weight are
dropped. That is slower than guaranteed_contour.py, and serves where sums along the boundary cancel.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential, larger, range_of, smaller
from dwell._kernels.common.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS
from dwell._kernels.polygon.gaussian import COUNT, RANGE
from dwell._kernels.polygon.guaranteed_contour import LOST, exponentials, place_on, whitened_curve
from dwell._kernels.polygon.guaranteed_envelope import (
    EX,
    EY,
    UX,
    UY,
    VALUE,
    W0,
    W1,
    X0,
    X1,
    Y0,
    Y1,
    A,
    B,
    F,
)  # fmt: skip
from dwell._kernels.polygon.moments import polynomial_at

# (s0 + s1) / (w1 - w0) of a panel, at least. The ellipse round the panel through w = i and w = -i
# then has half axes that sum to 2.85 half panels, and 16 nodes leave an error of 2.85**-32 = 3e-15
# of what the curve differs from a line.
REACH = 1.6
MOST = 12  # nodes along r
SPAN = 8.0  # range of the exponent in either direction, at most
RISE = 200.0  # e-folds above the first guess of the largest value after which sums are rescaled


@inner
def middle_of(w0, w1, s0, s1):
    """The w halfway along the branch: sinh of the mean of two areas."""
    return (w0 + w1) / math.sqrt(2.0 * (1.0 + (s0 * s1 - w0 * w1)))


@inner
def point_on(k, w, curves):
    """The point of curve k at w."""
    along = curves[k, F] - curves[k, A] * math.sqrt(1.0 + w * w)
    across = curves[k, B] * w
    x = curves[k, EX] * along - curves[k, EY] * across
    return x, curves[k, EY] * along + curves[k, EX] * across


@inner
def put_panel(m, k, w0, w1, curves, panels, owner):
    """Write one panel of curve k; return how many there are."""
    owner[m] = k
    panels[m, W0] = w0
    panels[m, W1] = w1
    panels[m, X0], panels[m, Y0] = point_on(k, w0, curves)
    panels[m, X1], panels[m, Y1] = point_on(k, w1, curves)
    return m + 1


@inner
def end_of_panel(w, end):
    """Where a panel of a hyperbola that begins at w ends: at `end`, or as far as 16 nodes serve."""
    s = math.sqrt(1.0 + w * w)
    t = math.sqrt(1.0 + end * end)
    while REACH * (end - w) > s + t:
        end = middle_of(w, end, s, t)
        t = math.sqrt(1.0 + end * end)
    return end


@inner
def place_along(i, k, ring, curves):
    """The w at which vertex i of the ring lies on curve k."""
    across = curves[k, EX] * ring[i, UY] - curves[k, EY] * ring[i, UX]
    return across / (ring[i, VALUE] * curves[k, B])


@inner
def cut_into_panels(m, ring, arc, curves, panels, owner):
    """Panels of a ring of m arcs; return how many."""
    count = 0
    for i in range(m):
        k = arc[i]
        w = place_along(i, k, ring, curves)
        end = place_along(i + 1 if i + 1 < m else 0, k, ring, curves)
        while w < end:
            stop = end
            if curves[k, A] != 0.0 and count + (m - i) < owner.shape[0]:  # keep space for the rest
                stop = end_of_panel(w, end)
            count = put_panel(count, k, w, stop, curves, panels, owner)
            w = stop
    return count


@inner
def constant_moments(px, py, count, panels, owner, curves):
    """(mass, first x, first y, polar) about (px, py) of the constant 1 over the cell.

    Along a ray of length |z| these are 1/2, z / 3 - p / 2 and |z - 4/3 p|**2 / 4 + |p|**2 / 18.
    """
    m = gx = gy = polar = 0.0
    for i in range(count):
        k = owner[i]
        ex = curves[k, EX]
        ey = curves[k, EY]
        f = curves[k, F]
        a = curves[k, A]
        b = curves[k, B]
        w0 = panels[i, W0]
        length = panels[i, W1] - w0
        forward = 4.0 / 3.0 * (px * ex + py * ey)
        left = 4.0 / 3.0 * (py * ex - px * ey)
        sm = sx = sy = sp = 0.0
        for q in range(16):
            w = w0 + length * PANEL_NODES[q]
            s = math.sqrt(1.0 + w * w)
            v = PANEL_WEIGHTS[q] * (f - a / s)
            x = f - a * s
            y = b * w
            sm += v
            sx += v * x
            sy += v * y
            sp += v * ((x - forward) * (x - forward) + (y - left) * (y - left))
        scale = length * b
        m += 0.5 * (scale * sm)
        gx += scale * ((ex * sx - ey * sy) / 3.0 - 0.5 * px * sm)
        gy += scale * ((ey * sx + ex * sy) / 3.0 - 0.5 * py * sm)
        polar += scale * (0.25 * sp + (px * px + py * py) / 18.0 * sm)
    return m, gx, gy, polar


@inner
def polynomial_moments(c, x0, y0, px, py, count, panels, owner, curves):
    """(mass, first x, first y, polar) about (px, py) of the polynomial c in z + (x0, y0).

    Along each ray the rule is exact by degree.
    """
    n = (c.shape[0] + 4) // 2
    m = gx = gy = polar = 0.0
    for i in range(count):
        k = owner[i]
        length = panels[i, W1] - panels[i, W0]
        for q in range(16):
            w = panels[i, W0] + length * PANEL_NODES[q]
            turn = curves[k, F] - curves[k, A] / math.sqrt(1.0 + w * w)
            v = length * PANEL_WEIGHTS[q] * curves[k, B] * turn
            zx, zy = point_on(k, w, curves)
            for j in range(n):
                r = NODES[n, j]
                x = r * zx
                y = r * zy
                u = v * WEIGHTS[n, j] * r * polynomial_at(c, x0 + x, y0 + y)
                x -= px
                y -= py
                m += u
                gx += u * x
                gy += u * y
                polar += u * (x * x + y * y)
    return m, gx, gy, polar


@inner
def ray_ends(qx, qy, zx, zy, r0, r1, ox, oy):
    """The ray from q + r0 z to q + r1 z: |y|**2 at its ends, and the lesser of (y - o) . o."""
    ax = qx + r0 * zx
    ay = qy + r0 * zy
    bx = qx + r1 * zx
    by = qy + r1 * zy
    slope = smaller((ax - ox) * ox + (ay - oy) * oy, (bx - ox) * ox + (by - oy) * oy)
    return ax * ax + ay * ay, bx * bx + by * by, slope


@inner
def patch_shape(curve, qx, qy, w0, w1, r0, r1):
    """How a patch lies, seen from the peak: (attained, bound, range along r, range along w).

    (qx, qy) is the agent. attained: |y|**2 at some point; bound: it is nowhere less, being convex
    and so nowhere below its tangent plane at a point o in the middle. The outer side may bulge a
    little beyond the three points tested.
    """
    ax, ay = place_on(curve, w0)
    mx, my = place_on(curve, 0.5 * (w0 + w1))
    bx, by = place_on(curve, w1)
    ax -= qx
    ay -= qy
    mx -= qx
    my -= qy
    bx -= qx
    by -= qy
    ox = qx + 0.5 * (r0 + r1) * mx
    oy = qy + 0.5 * (r0 + r1) * my
    middle = ox * ox + oy * oy
    near_a, far_a, slope_a = ray_ends(qx, qy, ax, ay, r0, r1, ox, oy)
    near_m, far_m, slope_m = ray_ends(qx, qy, mx, my, r0, r1, ox, oy)
    near_b, far_b, slope_b = ray_ends(qx, qy, bx, by, r0, r1, ox, oy)
    attained = smaller(smaller(near_a, smaller(near_m, near_b)), smaller(far_a, far_b))
    attained = smaller(attained, smaller(far_m, middle))
    longest = larger(ax * ax + ay * ay, larger(mx * mx + my * my, bx * bx + by * by))
    along_r = larger(abs(far_a - near_a), larger(abs(far_m - near_m), abs(far_b - near_b)))
    along_r += (r1 - r0) * (r1 - r0) * longest
    dx = r1 * (bx - ax)
    dy = r1 * (by - ay)
    ex = r1 * (mx - 0.5 * (ax + bx))
    ey = r1 * (my - 0.5 * (ay + by))
    sag = math.sqrt(ex * ex + ey * ey)
    across = abs(far_m - far_a) + abs(far_b - far_m) + dx * dx + dy * dy + 4.0 * sag * sag
    slope = smaller(slope_a, smaller(slope_m, slope_b))
    return attained, middle + 2.0 * slope - math.sqrt(middle) * sag, along_r, across


@inner
def rays(k, w0, w1, curves, node):
    """Boundary points and weights (z x dz included) of 16 rays, into node[16:64]."""
    length = w1 - w0
    ex = curves[k, EX]
    ey = curves[k, EY]
    f = curves[k, F]
    a = curves[k, A]
    b = curves[k, B]
    for i in range(16):
        w = w0 + length * PANEL_NODES[i]
        s = math.sqrt(1.0 + w * w)
        along = f - a * s
        across = b * w
        node[16 + i] = ex * along - ey * across
        node[32 + i] = ey * along + ex * across
        node[48 + i] = length * PANEL_WEIGHTS[i] * b * (f - a / s)


@inner
def integrate_patch(k, w0, w1, r0, r1, n, cx, cy, q, shift, px, py, curves, node):
    """Moments of exp(shift - (z - c)' Q (z - c)) over one patch of curve k, n nodes along r.

    Each exponential is taken relative to its ray's middle; loops as in gaussian.py.
    """
    qxx, qxy, qyy = q
    rays(k, w0, w1, curves, node)
    zx = node[16:32]
    zy = node[32:48]
    turn = node[48:64]
    value = node[64:80]
    m = gx = gy = polar = 0.0
    for j in range(n):
        r = r0 + (r1 - r0) * NODES[n, j]
        for i in range(16):
            x = r * zx[i] - cx
            y = r * zy[i] - cy
            value[i] = (qxx * x + 2.0 * qxy * y) * x + qyy * y * y
        low, high = range_of(16, value)
        middle = 0.5 * (low + high)
        weight = (r1 - r0) * WEIGHTS[n, j] * r * exponential(shift - middle)
        exponentials(middle, value, node)
        for i in range(16):
            u = weight * turn[i] * (1.0 + node[i])
            x = r * zx[i] - px
            y = r * zy[i] - py
            m += u
            gx += u * x
            gy += u * y
            polar += u * (x * x + y * y)
    return m, gx, gy, polar


@inner
def nodes_for(span):
    """Nodes along r for a patch with this range of the exponent there."""
    for i in range(RANGE.shape[0]):
        if span <= RANGE[i]:
            return COUNT[i]
    return MOST


@inner
def put_patch(top, w0, w1, r0, r1, pending):
    """Write one patch on the stack."""
    pending[top, 0] = w0
    pending[top, 1] = w1
    pending[top, 2] = r0
    pending[top, 3] = r1


@inner
def least_exponent(count, cx, cy, q, panels):
    """Least exponent (z - c)' Q (z - c) at the agent and at the panels' ends."""
    qxx, qxy, qyy = q
    best = (qxx * cx + 2.0 * qxy * cy) * cx + qyy * cy * cy
    for i in range(count):
        x = panels[i, X0] - cx
        y = panels[i, Y0] - cy
        best = smaller(best, (qxx * x + 2.0 * qxy * y) * x + qyy * y * y)
    return best


@inner
def halve_patch(top, size, along_r, pending):
    """Halve the patch on top of the stack, along r or along w; return the new size of the stack."""
    w0 = pending[top, 0]
    w1 = pending[top, 1]
    r0 = pending[top, 2]
    r1 = pending[top, 3]
    if along_r:
        middle = 0.5 * (r0 + r1)
        put_patch(top, w0, w1, r0, middle, pending)
        put_patch(size, w0, w1, middle, r1, pending)
    else:
        middle = 0.5 * (w0 + w1)
        put_patch(top, w0, middle, r0, r1, pending)
        put_patch(size, middle, w1, r0, r1, pending)
    return size + 1


@inner
def gaussian_patches(cx, cy, q, white, px, py, count, panels, owner, curves, node, pending):
    """(log_scale, mass, first x, first y, polar) about (px, py) of one Gaussian of height 1.

    (cx, cy): its centre; q = (Qxx, Qxy, Qyy); white = (C11, C12, C22).
    """
    shift = least_exponent(count, cx, cy, q, panels)
    best = shift
    qx = -(white[0] * cx + white[1] * cy)
    qy = -(white[2] * cy)
    m = gx = gy = polar = 0.0
    for i in range(count):
        k = owner[i]
        curve = whitened_curve(k, cx, cy, white, curves)
        put_patch(0, panels[i, W0], panels[i, W1], 0.0, 1.0, pending)
        size = 1
        while size > 0:
            top = size - 1
            w0 = pending[top, 0]
            w1 = pending[top, 1]
            r0 = pending[top, 2]
            r1 = pending[top, 3]
            low, bound, along_r, across = patch_shape(curve, qx, qy, w0, w1, r0, r1)
            best = smaller(best, low)
            if bound > best + LOST:
                size -= 1
            elif larger(along_r, across) > SPAN and size < pending.shape[0]:
                size = halve_patch(top, size, along_r > across, pending)
            else:
                if low < shift - RISE:
                    scale = exponential(low - shift)
                    m *= scale
                    gx *= scale
                    gy *= scale
                    polar *= scale
                    shift = low
                n = nodes_for(along_r)
                dm, dx, dy, dp = integrate_patch(
                    k, w0, w1, r0, r1, n, cx, cy, q, shift, px, py, curves, node
                )
                m += dm
                gx += dx
                gy += dy
                polar += dp
                size -= 1
    return -shift, m, gx, gy, polar
