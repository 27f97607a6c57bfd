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
from dwell._kernels.polygon.guaranteed_contour import (
    LOST,
    exponentials,
    parts_of,
    place_on,
    whitened_curve,
)
from dwell._kernels.polygon.guaranteed_envelope import (
    FUNCTION,
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
    curve_of,
)
from dwell._kernels.polygon.polynomial import polynomial_at

# (s0 + s1) / (w1 - w0) of a panel, at least. The ellipse round the panel through w = i and w = -i
# then has half axes that sum to 2.85 half panels, and 16 nodes leave an error of 2.85**-32 = 3e-15
# of what the curve differs from a line.
REACH = 1.6
MOST = 12  # nodes along r
SPAN = 8.0  # range of the exponent in either direction, at most
NOTHING = (0.0, 0.0, 0.0, 0.0)  # moments of an empty set
RISE = 200.0  # e-folds above the first guess of the largest value after which sums are rescaled


@inner
def added(total, u, more):
    """total + u more, of four moments each."""
    return (
        total[0] + u * more[0],
        total[1] + u * more[1],
        total[2] + u * more[2],
        total[3] + u * more[3],
    )


@inner
def point_on(curve, w):
    """The point of a curve (e, f, a, b) at w."""
    ex, ey, f, a, b = curve
    along = f - a * math.sqrt(1.0 + w * w)
    across = b * w
    return ex * along - ey * across, ey * along + ex * across


@inner
def put_panel(m, k, w0, w1, curve, panels, owner):
    """Write one panel of curve k; return how many there are."""
    owner[m] = k
    panels[m, W0] = w0
    panels[m, W1] = w1
    panels[m, X0], panels[m, Y0] = point_on(curve, w0)
    panels[m, X1], panels[m, Y1] = point_on(curve, w1)
    return m + 1


@inner
def end_of_panel(w, end):
    """Where a panel of a hyperbola that begins at w ends: at `end`, or as far as 16 nodes serve.

    Halfway along the branch is the sinh of the mean of two areas.
    """
    s = math.sqrt(1.0 + w * w)
    t = math.sqrt(1.0 + end * end)
    while REACH * (end - w) > s + t:
        end = (w + end) / math.sqrt(2.0 * (1.0 + (s * t - w * end)))
        t = math.sqrt(1.0 + end * end)
    return end


@inner
def place_along(i, k, ring, curves):
    """The w at which vertex i of the ring lies on curve k."""
    ex, ey, _, _, b = curve_of(k, curves)
    return (ex * ring[i, UY] - ey * ring[i, UX]) / (ring[i, VALUE] * b)


@inner
def cut_into_panels(m, env):
    """Panels of the ring of m arcs; return how many."""
    ring, curves, owner = env.ring, env.curves, env.owner
    count = 0
    for i in range(m):
        k = int(ring[i, FUNCTION])
        w = place_along(i, k, ring, curves)
        end = place_along(i + 1 if i + 1 < m else 0, k, ring, curves)
        while w < end:
            stop = end
            if curves[k, A] != 0.0 and count + (m - i) < owner.shape[0]:  # keep space for the rest
                stop = end_of_panel(w, end)
            count = put_panel(count, k, w, stop, curve_of(k, curves), env.panels, owner)
            w = stop
    return count


@inner
def constant_moments(px, py, count, env):
    """(mass, first x, first y, polar) about (px, py) of the constant 1 over the cell.

    Along a ray of length |z| these are 1/2, z / 3 - p / 2 and |z - 4/3 p|**2 / 4 + |p|**2 / 18.
    """
    m = gx = gy = polar = 0.0
    for i in range(count):
        ex, ey, f, a, b = curve_of(env.owner[i], env.curves)
        w0 = env.panels[i, W0]
        length = env.panels[i, W1] - w0
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
def rays(curve, w0, w1, node):
    """Boundary points and weights (z x dz included) of 16 rays, into node[16:64]."""
    _, _, f, a, b = curve
    length = w1 - w0
    for i in range(16):
        w = w0 + length * PANEL_NODES[i]
        node[16 + i], node[32 + i] = point_on(curve, w)
        node[48 + i] = length * PANEL_WEIGHTS[i] * b * (f - a / math.sqrt(1.0 + w * w))


@inner
def polynomial_moments(c, x0, y0, px, py, count, env):
    """(mass, first x, first y, polar) about (px, py) of the polynomial c in z + (x0, y0).

    Along each ray the rule is exact by degree.
    """
    n = (c.shape[0] + 4) // 2
    node = env.node
    m = gx = gy = polar = 0.0
    for i in range(count):
        rays(curve_of(env.owner[i], env.curves), env.panels[i, W0], env.panels[i, W1], node)
        for q in range(16):
            for j in range(n):
                r = NODES[n, j]
                x = r * node[16 + q]
                y = r * node[32 + q]
                u = node[48 + q] * WEIGHTS[n, j] * r * polynomial_at(c, x0 + x, y0 + y)
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
def patch_shape(curve, qx, qy, patch):
    """How a patch lies, seen from the peak: (attained, bound, range along r, range along w).

    (qx, qy) is the agent. attained: |y|**2 at some point; bound: it is nowhere less, being convex
    and so nowhere below its tangent plane at a point o in the middle. The outer side may bulge a
    little beyond the three points tested.
    """
    w0, w1, r0, r1 = patch
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
def integrate_patch(curve, patch, n, cx, cy, q, shift, px, py, node):
    """Moments of exp(shift - (z - c)' Q (z - c)) over one patch of a curve, n nodes along r.

    Each exponential is taken relative to its ray's middle; loops as in gaussian.py.
    """
    qxx, qxy, qyy = q
    w0, w1, r0, r1 = patch
    rays(curve, w0, w1, node)
    zx, zy, turn, value = parts_of(node)
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
def halve_patch(size, column, pending):
    """Replace the last of `size` patches by two halves, along w (column 0) or r (column 2)."""
    top = size - 1
    middle = 0.5 * (pending[top, column] + pending[top, column + 1])
    for k in range(4):
        pending[size, k] = pending[top, k]
    pending[top, column + 1] = middle
    pending[size, column] = middle


@inner
def gaussian_patches(cx, cy, q, white, px, py, count, env):
    """(log_scale, (mass, first x, first y, polar)) about (px, py) of one Gaussian of height 1.

    (cx, cy): its centre; q = (Qxx, Qxy, Qyy); white = (C11, C12, C22).
    """
    panels, pending = env.panels, env.pending
    shift = least_exponent(count, cx, cy, q, panels)
    best = shift
    qx = -(white[0] * cx + white[1] * cy)
    qy = -(white[2] * cy)
    total = NOTHING
    for i in range(count):
        curve = curve_of(env.owner[i], env.curves)
        seen = whitened_curve(curve, cx, cy, white)
        pending[0] = panels[i, W0], panels[i, W1], 0.0, 1.0
        size = 1
        while size > 0:
            patch = (
                pending[size - 1, 0],
                pending[size - 1, 1],
                pending[size - 1, 2],
                pending[size - 1, 3],
            )
            low, bound, along_r, across = patch_shape(seen, qx, qy, patch)
            best = smaller(best, low)
            if bound > best + LOST:
                size -= 1
            elif larger(along_r, across) > SPAN and size < pending.shape[0]:
                halve_patch(size, 2 if along_r > across else 0, pending)
                size += 1
            else:
                if low < shift - RISE:
                    total = added(NOTHING, exponential(low - shift), total)
                    shift = low
                n = nodes_for(along_r)
                more = integrate_patch(curve, patch, n, cx, cy, q, shift, px, py, env.node)
                total = added(total, 1.0, more)
                size -= 1
    return -shift, total
