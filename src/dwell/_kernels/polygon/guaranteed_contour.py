"""Moments of Gaussians over a star-shaped cell by integrals along its boundary.

About the peak, as in gaussian.py: with y = C (z - c), Q = C'C,

    mass    1/2 sum of F(|y|**2) y x dy,    F(x) = (1 - e**-x) / x,  or  -e**-x / x
    first  -1/2 sum of e**-|y|**2 (dy_2, -dy_1)

along the panels of guaranteed_moments.py, cut further where the exponent changes fast. That takes
one exponential per node. The second F needs the peak outside and keeps the digits of far cells.
Terms have both signs and cancel when the cell is small or thin against the Gaussian, or far from
it; how much is known from the sum of their sizes, and the caller then takes guaranteed_moments.py.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import (
    exponential,
    larger,
    range_of,
    small_exponential,
    smaller,
    sum_of_16,
)
from dwell._kernels.common.quadrature import PANEL_NODES, PANEL_WEIGHTS
from dwell._kernels.polygon.gaussian import segment_gap
from dwell._kernels.polygon.guaranteed_envelope import W0, W1, X0, X1, Y0, Y1, curve_of

AMPLIFICATION = 4000.0  # rounding errors may grow by this much: 1e-12, and in practice a tenth
FAR = 2.0  # squared distance of the peak from which F(x) = -e**-x / x serves
TOO_FAR = 600.0  # beyond, masses near the end of the doubles' range: not for contours
SPAN = 9.0  # range of the exponent per piece; 16 nodes integrate 10 to 1e-15
POLE = 8.0  # a pole of F at the piece's own length away counts as so much range
LOST = 50.0  # e-folds below the largest value: e**-50 is 2e-22
MAX_PIECES = 5000
TOO_LONG, GOOD, ANGLE_ONLY, NOTHING = range(4)  # verdicts on a piece
TINY = 1e-300  # keeps 0 / 0 away at the very peak, where y x dy = 0 wipes the term out anyway
REFUSED = np.inf


@inner
def nearest_to_peak(count, cx, cy, white, panels):
    """Squared distances from the peak in units of its width: of the chords, of their ends."""
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
    straight = q1 == 0.0 and q2 == 0.0
    square, turn, d1, d2 = parts_of(node)
    for k in range(16):
        w = w0 + length * PANEL_NODES[k]
        s = math.sqrt(1.0 + w * w)
        g = w / s
        y1 = p1 + (q1 * s + t1 * w)
        y2 = p2 + (q2 * s + t2 * w)
        e1 = q1 * g + t1
        e2 = q2 * g + t2
        square[k] = y1 * y1 + y2 * y2
        turn[k] = p1 * t2 - p2 * t1 if straight else y1 * e2 - y2 * e1
        d1[k] = e1
        d2[k] = e2


@inner
def parts_of(node):
    """Memory for four kinds of numbers at 16 nodes each."""
    return node[16:32], node[32:48], node[48:64], node[64:80]


@inner
def exponentials(middle, square, node):
    """exp(middle - square) - 1 of 16 numbers within 10 or so of `middle`, into node[:16].

    A Taylor polynomial of the argument over 64, squared back as e**2y - 1 = v (v + 2).
    """
    for k in range(16):
        node[k] = small_exponential((middle - square[k]) * (1.0 / 64.0))
    for _ in range(6):
        for k in range(16):
            node[k] = node[k] * (node[k] + 2.0)


@inner
def gaussian_panel(w0, length, curve, far, node):
    """Integrals over one panel of F(|y|**2) y x dy, e dy_1 and e dy_2, e = exp(-|y|**2).

    Loops without branches or sums compile to vector code; sums keep a fixed order.
    """
    lay_nodes(w0, length, curve, node)
    square, turn, d1, d2 = parts_of(node)
    low, high = range_of(16, square)
    middle = 0.0
    level = 1.0
    if high > 1.0:  # about the middle: no digits lost in the tail
        middle = 0.5 * (low + high)
        level = exponential(-middle)
    exponentials(middle, square, node)
    for k in range(16):
        e = PANEL_WEIGHTS[k] * (level * (1.0 + node[k]))
        d1[k] *= e
        d2[k] *= e
        if far:
            turn[k] = -(e * turn[k]) / square[k]
        elif middle > 0.0:
            turn[k] = (PANEL_WEIGHTS[k] - e) * turn[k] / (square[k] + TINY)
        else:
            turn[k] = -PANEL_WEIGHTS[k] * node[k] * turn[k] / (square[k] + TINY)
    return length * sum_of_16(turn), length * sum_of_16(d1), length * sum_of_16(d2)


@inner
def whitened_curve(curve, cx, cy, white):
    """(P, Q, T) of a curve (e, f, a, b) in the Gaussian's coordinates."""
    c11, c12, c22 = white
    ex, ey, f, a, b = curve
    px = ex * f - cx
    py = ey * f - cy
    qx = -a * ex
    qy = -a * ey
    tx = -b * ey
    ty = b * ex
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
    square, turn, _, _ = parts_of(node)
    for k in range(16):
        turn[k] = PANEL_WEIGHTS[k] * turn[k] / square[k]
    return length * sum_of_16(turn)


@inner
def end_of_piece(w, end, ax, ay, curve, far, lost):
    """Where a piece that begins at w, at (ax, ay), is to end: (w, place there, verdict)."""
    while True:
        bx, by = place_on(curve, end)
        judged = verdict(curve, w, end, ax, ay, bx, by, far, lost)
        if judged != TOO_LONG:
            return end, bx, by, judged
        end = 0.5 * (w + end)


@inner
def gaussian_contour(inside, rho, cx, cy, white, count, env):
    """(amplification, log_scale, mass, first x, first y) about (0, 0) of one Gaussian of height 1.

    inside: whether its peak (cx, cy) lies in the cell; rho: the cell's largest radius; white: C11,
    C12 and C22. The result is good when the amplification is at most AMPLIFICATION.
    """
    panels, node = env.panels, env.node
    near, best = nearest_to_peak(count, cx, cy, white, panels)
    far = not inside and near > FAR
    if far and near > TOO_FAR:
        return REFUSED, 0.0, 0.0, 0.0, 0.0
    m = size_m = fx = fy = size_f = 0.0
    pieces = 0
    for i in range(count):
        curve = whitened_curve(curve_of(env.owner[i], env.curves), cx, cy, white)
        w = panels[i, W0]
        x, y = place_on(curve, w)
        while w < panels[i, W1]:
            best = smaller(best, x * x + y * y)
            lost = best + LOST if far else LOST
            end, x, y, judged = end_of_piece(w, panels[i, W1], x, y, curve, far, lost)
            dm = d1 = d2 = 0.0
            if judged == GOOD:
                dm, d1, d2 = gaussian_panel(w, end - w, curve, far, node)
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
    scale = 0.0
    if far:
        scale = -near
        grown *= near  # exponents are rounded, too
        det *= exponential(near)
    return grown, scale, det * m, det * (cx * m + gx), det * (cy * m + gy)
