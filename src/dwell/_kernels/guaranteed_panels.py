"""Moments of a star-shaped cell by integrals along its boundary.

The boundary is cut into panels, each part of one curve z(w) = e (f - a s) + e' (b w) with
s = sqrt(1 + w**2): see guaranteed_envelope.py. Curves are analytic but for w = i and w = -i, so 16
nodes give all digits as long as a panel is short against its distance from there. Seen from the
agent, z x dz = b (f - a / s) dw is positive: sums of moments that grow from the agent outwards
(constants, polynomials) do not cancel.

Gaussians are taken about their peak instead, as in gaussian_edges.py: with y = C (z - c)

    mass    1/2 sum of F(|y|**2) y x dy,    F(x) = (1 - e**-x) / x,  or  -e**-x / x
    first  -1/2 sum of e**-|y|**2 (dy_2, -dy_1)

which takes one exponential per node, but cancels when the cell is small or thin against the hill.
How much is known from the sum of sizes; the caller then takes patches, guaranteed_patches.py.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import exponential, larger, smaller
from dwell._kernels.guaranteed_envelope import (
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
)
from dwell._kernels.moments import polynomial_at
from dwell._kernels.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS

REACH = 1.6  # (s0 + s1) / (w1 - w0) of a panel, at least: 2.85**-32 is 3e-15
AMPLIFICATION = 2000.0  # rounding errors may grow by this much
FAR = 2.0  # squared distance of the peak from which F(x) = -e**-x / x serves
SHIFTED = 300.0  # beyond, exponentials are taken relative to the largest one
SPAN = 9.0  # mean range of the exponent per panel
POLE = 8.0  # a pole of F at the panel's own length away counts as so much range
LOST = 80.0  # e-folds below the largest value: e**-80 is 1.8e-35
RISE = 200.0  # e-folds above the first guess of the largest value after which sums are rescaled
MAX_PIECES = 5000
TOO_LONG, GOOD, ANGLE_ONLY, NOTHING = range(4)
TINY = 1e-300
REFUSED = np.inf


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
    """Write one panel of curve k; gives how many there are."""
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
    """The w at which corner i of the ring lies on curve k."""
    across = curves[k, EX] * ring[i, UY] - curves[k, EY] * ring[i, UX]
    return across / (ring[i, VALUE] * curves[k, B])


@inner
def cut_into_panels(m, ring, arc, curves, panels, owner):
    """Panels of a ring of m arcs; gives how many."""
    count = 0
    for i in range(m):
        k = arc[i]
        w = place_along(i, k, ring, curves)
        end = place_along(i + 1 if i + 1 < m else 0, k, ring, curves)
        while w < end:
            stop = end
            if curves[k, A] != 0.0 and count + (m - i) < owner.shape[0]:  # leave room for the rest
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
def segment_gap(ax, ay, bx, by):
    """Squared distance of the segment from a to b from (0, 0)."""
    dx = bx - ax
    dy = by - ay
    d2 = dx * dx + dy * dy
    t = 0.0
    if d2 > 0.0:
        t = smaller(1.0, larger(0.0, -(ax * dx + ay * dy) / d2))
    zx = ax + t * dx
    zy = ay + t * dy
    return zx * zx + zy * zy


@inner
def nearest_to_peak(count, cx, cy, white, panels):
    """Squared distances from the peak, by the hill's own width: of the chords, of their ends."""
    c11, c12, c22 = white
    near = np.inf
    best = np.inf
    for i in range(count):
        ay = panels[i, Y0] - cy
        by = panels[i, Y1] - cy
        ax = c11 * (panels[i, X0] - cx) + c12 * ay
        bx = c11 * (panels[i, X1] - cx) + c12 * by
        ay *= c22
        by *= c22
        near = smaller(near, segment_gap(ax, ay, bx, by))
        best = smaller(best, ax * ax + ay * ay)
    return near, best


@inner
def lay_nodes(w0, length, curve, node):
    """|y|**2, y x dy, dy_1 and dy_2 at the 16 nodes of y = P + Q s + T w; curve = (P, Q, T)."""
    p1, p2, q1, q2, t1, t2 = curve
    square = node[16:32]
    turn = node[32:48]
    d1 = node[48:64]
    d2 = node[64:80]
    if q1 == 0.0 and q2 == 0.0:
        for k in range(16):
            w = w0 + length * PANEL_NODES[k]
            y1 = p1 + t1 * w
            y2 = p2 + t2 * w
            square[k] = y1 * y1 + y2 * y2
            turn[k] = p1 * t2 - p2 * t1
            d1[k] = t1
            d2[k] = t2
        return
    for k in range(16):
        w = w0 + length * PANEL_NODES[k]
        s = math.sqrt(1.0 + w * w)
        g = w / s
        y1 = p1 + (q1 * s + t1 * w)
        y2 = p2 + (q2 * s + t2 * w)
        e1 = q1 * g + t1
        e2 = q2 * g + t2
        square[k] = y1 * y1 + y2 * y2
        turn[k] = y1 * e2 - y2 * e1
        d1[k] = e1
        d2[k] = e2


@inner
def exponentials(middle, square, node):
    """exp(middle - square) - 1 of 16 numbers within 10 or so of `middle`, into node[:16].

    A Taylor polynomial of the argument over 64, squared back as e**2y - 1 = v (v + 2).
    """
    for k in range(16):
        y = (middle - square[k]) * (1.0 / 64.0)
        p = y * (1.0 / 3628800.0) + 1.0 / 362880.0
        p = p * y + 1.0 / 40320.0
        p = p * y + 1.0 / 5040.0
        p = p * y + 1.0 / 720.0
        p = p * y + 1.0 / 120.0
        p = p * y + 1.0 / 24.0
        p = p * y + 1.0 / 6.0
        p = p * y + 0.5
        node[k] = y + y * y * p
    for _ in range(6):
        for k in range(16):
            node[k] = node[k] * (node[k] + 2.0)


@inner
def gaussian_panel(w0, length, curve, far, shift, node):
    """Integrals over one panel of F(|y|**2) y x dy, e dy_1 and e dy_2, e = exp(shift - |y|**2).

    Loops without branches or sums compile to vector code; sums keep a fixed order.
    """
    lay_nodes(w0, length, curve, node)
    square = node[16:32]
    turn = node[32:48]
    d1 = node[48:64]
    d2 = node[64:80]
    low = high = square[0]
    for k in range(16):
        low = smaller(low, square[k])
        high = larger(high, square[k])
    middle = 0.0
    level = 1.0
    if high > 1.0:  # about the middle: no digits lost in the tail
        middle = 0.5 * (low + high)
        level = exponential(shift - middle)
    exponentials(middle, square, node)
    if far:
        for k in range(16):
            e = PANEL_WEIGHTS[k] * (level * (1.0 + node[k]))
            turn[k] = -(e * turn[k]) / square[k]
            d1[k] *= e
            d2[k] *= e
    elif middle > 0.0:
        for k in range(16):
            e = PANEL_WEIGHTS[k] * (level * (1.0 + node[k]))
            turn[k] = (PANEL_WEIGHTS[k] - e) * turn[k] / (square[k] + TINY)
            d1[k] *= e
            d2[k] *= e
    else:
        for k in range(16):
            e = PANEL_WEIGHTS[k] * (1.0 + node[k])
            turn[k] = -PANEL_WEIGHTS[k] * node[k] * turn[k] / (square[k] + TINY)
            d1[k] *= e
            d2[k] *= e
    return length * added(turn), length * added(d1), length * added(d2)


@inner
def added(v):
    """Sum of 16 numbers, four at a time: the additions need not wait for one another."""
    s0 = s1 = s2 = s3 = 0.0
    for k in range(0, 16, 4):
        s0 += v[k]
        s1 += v[k + 1]
        s2 += v[k + 2]
        s3 += v[k + 3]
    return (s0 + s1) + (s2 + s3)


@inner
def whitened_curve(k, cx, cy, white, curves):
    """(P, Q, T) of curve k in the hill's coordinates."""
    c11, c12, c22 = white
    ex = curves[k, EX]
    ey = curves[k, EY]
    px = ex * curves[k, F] - cx
    py = ey * curves[k, F] - cy
    qx = -curves[k, A] * ex
    qy = -curves[k, A] * ey
    tx = -curves[k, B] * ey
    ty = curves[k, B] * ex
    return (
        c11 * px + c12 * py, c22 * py, c11 * qx + c12 * qy, c22 * qy, c11 * tx + c12 * ty, c22 * ty
    )  # fmt: skip


@inner
def place_on(curve, w):
    """The point of a whitened curve at w."""
    p1, p2, q1, q2, t1, t2 = curve
    s = math.sqrt(1.0 + w * w)
    return p1 + (q1 * s + t1 * w), p2 + (q2 * s + t2 * w)


@inner
def is_lost(gap, mx, my, ax, ay, bx, by, lost):
    """Whether the exponential counts for nothing all along a piece whose chord is `gap` away.

    The curve, with its middle at m, leaves the chord at most twice as far as its middle does.
    """
    if gap <= lost:
        return False
    mx -= 0.5 * (ax + bx)
    my -= 0.5 * (ay + by)
    nearest = math.sqrt(gap) - 2.0 * math.sqrt(mx * mx + my * my)
    return nearest > 0.0 and nearest * nearest > lost


@inner
def verdict(curve, w0, w1, ax, ay, bx, by, far, lost):
    """What to do with the piece from a to b: TOO_LONG, GOOD, ANGLE_ONLY or NOTHING.

    Beyond the squared distance `lost` from the peak the exponential counts for nothing.
    """
    mx, my = place_on(curve, 0.5 * (w0 + w1))
    dx = bx - ax
    dy = by - ay
    squared = dx * dx + dy * dy
    first = ax * ax + ay * ay
    middle = mx * mx + my * my
    last = bx * bx + by * by
    span = larger(abs(middle - first) + abs(last - middle), squared)
    if span <= SPAN and not far:
        return GOOD
    gap = segment_gap(ax, ay, bx, by)
    clear = POLE * squared <= SPAN * gap  # F has a pole at the peak: keep pieces shorter than that
    if (far or clear) and is_lost(gap, mx, my, ax, ay, bx, by, lost):
        return NOTHING if far else ANGLE_ONLY
    return GOOD if clear and span <= SPAN else TOO_LONG


@inner
def angle_panel(w0, length, curve, node):
    """Integral of y x dy / |y|**2 over one panel."""
    lay_nodes(w0, length, curve, node)
    square = node[16:32]
    turn = node[32:48]
    for k in range(16):
        turn[k] = PANEL_WEIGHTS[k] * turn[k] / square[k]
    return length * added(turn)


@inner
def end_of_piece(w, end, ax, ay, curve, far, lost):
    """Where a piece that begins at w, at (ax, ay), is to end: (w, place there, verdict)."""
    bx, by = place_on(curve, end)
    judged = verdict(curve, w, end, ax, ay, bx, by, far, lost)
    while judged == TOO_LONG:
        end = 0.5 * (w + end)
        bx, by = place_on(curve, end)
        judged = verdict(curve, w, end, ax, ay, bx, by, far, lost)
    return end, bx, by, judged


@inner
def gaussian_contour(inside, rho, cx, cy, white, count, panels, owner, curves, node):
    """(amplification, log_scale, mass, first x, first y) about (0, 0) of one hill of height 1.

    inside: whether its peak (cx, cy) lies in the cell; rho: the cell's largest radius; white: C11,
    C12 and C22. The result is good when the amplification is at most AMPLIFICATION.
    """
    near, best = nearest_to_peak(count, cx, cy, white, panels)
    far = not inside and near > FAR
    shift = best if far and best > SHIFTED else 0.0
    m = size_m = fx = fy = size_f = 0.0
    pieces = 0
    for i in range(count):
        curve = whitened_curve(owner[i], cx, cy, white, curves)
        w = panels[i, W0]
        x, y = place_on(curve, w)
        while w < panels[i, W1]:
            best = smaller(best, x * x + y * y)
            lost = best + LOST if far else LOST
            end, x, y, judged = end_of_piece(w, panels[i, W1], x, y, curve, far, lost)
            if shift > 0.0 and best < shift - RISE:
                scale = exponential(best - shift)
                shift = best
                m *= scale
                size_m *= scale
                fx *= scale
                fy *= scale
                size_f *= scale
            dm = d1 = d2 = 0.0
            if judged == GOOD:
                dm, d1, d2 = gaussian_panel(w, end - w, curve, far, shift, node)
            elif judged == ANGLE_ONLY:
                dm = angle_panel(w, end - w, curve, node)
            m += 0.5 * dm
            size_m += abs(0.5 * dm)
            fx -= 0.5 * d2
            fy += 0.5 * d1
            size_f += 0.5 * (abs(d1) + abs(d2))
            w = end
            pieces += 1
            if pieces > MAX_PIECES:
                return REFUSED, 0.0, 0.0, 0.0, 0.0
    if not m > 0.0:
        return REFUSED, 0.0, 0.0, 0.0, 0.0
    # Back to z = c + inverse(C) y.
    c11, c12, c22 = white
    k11 = 1.0 / c11
    k22 = 1.0 / c22
    k12 = -c12 * k11 * k22
    gx = k11 * fx + k12 * fy
    gy = k22 * fy
    stretch = abs(k11) + abs(k12) + abs(k22)
    away = math.sqrt(cx * cx + cy * cy)
    grown = larger(size_m / m, (stretch * size_f + away * size_m) / (m * rho))
    det = k11 * k22
    return grown, -shift, det * m, det * (cx * m + gx), det * (cy * m + gy)
