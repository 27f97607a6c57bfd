"""Moments of a Gaussian over a cell with arcs by integrals along its boundary.

As in guaranteed_contour.py, with y = C (z - c), Q = C'C:

    mass    1/2 sum of F(|y|**2) y x dy,    F(x) = (1 - e**-x) / x,  or  -e**-x / x
    first  -1/2 sum of e**-|y|**2 (dy_2, -dy_1)
    second  1/2 (mass 1 - sum of e**-|y|**2 y (dy_2, -dy_1)')

along edges and panels alike: see segments.py for how they run. One exponential per node, where
segments need a dozen. Terms have both signs; how much they cancel is known from their sizes, and
the caller falls back on positive parts when too much would be lost.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.arithmetic import exponential, larger, smaller
from dwell._kernels.curved.cells import ARC
from dwell._kernels.curved.ellipse import turned_right
from dwell._kernels.gaussian_edges import FAR, POLE, REFUSED, SPAN, TINY, TOO_SMALL
from dwell._kernels.guaranteed_contour import (
    ANGLE_ONLY,
    GOOD,
    LOST,
    NOTHING,
    TOO_LONG,
    added,
    exponentials,
    is_lost,
    segment_gap,
)
from dwell._kernels.quadrature import PANEL_NODES, PANEL_WEIGHTS

MAX_PIECES = 4000


@inner
def piece_in_hill(ax, ay, dx, dy, tau, cx, cy, white, w):
    """An edge or panel in the hill's coordinates: (middle of the chord, D, K D, tau)."""
    c11, c12, c22 = white
    mx = (ax + 0.5 * dx) - cx
    my = (ay + 0.5 * dy) - cy
    kx = ky = 0.0
    if tau > 0.0:
        kx, ky = turned_right(dx, dy, w)
    return (
        c11 * mx + c12 * my, c22 * my, c11 * dx + c12 * dy, c22 * dy, c11 * kx + c12 * ky, c22 * ky,
        tau,
    )  # fmt: skip


@inner
def place_on(piece, v):
    """The point of a piece at v."""
    p1, p2, d1, d2, k1, k2, tau = piece
    w = tau * v
    square = 1.0 + w * w
    t = 0.5 * v * (1.0 + tau * tau) / square
    h = 0.5 * tau * (1.0 - v) * (1.0 + v) / square
    return p1 + (t * d1 + h * k1), p2 + (t * d2 + h * k2)


@inner
def lay_nodes(v0, length, piece, node):
    """y, |y|**2, y x dy and dy at 16 nodes, into node[16:112]."""
    p1, p2, d1, d2, k1, k2, tau = piece
    bend = 1.0 + tau * tau
    square = node[16:32]
    turn = node[32:48]
    e1 = node[48:64]
    e2 = node[64:80]
    y1 = node[80:96]
    y2 = node[96:112]
    for i in range(16):
        v = v0 + length * PANEL_NODES[i]
        w = tau * v
        over = 1.0 / (1.0 + w * w)
        t = 0.5 * v * bend * over
        h = 0.5 * tau * (1.0 - v) * (1.0 + v) * over
        dt = 0.5 * bend * (1.0 - w * w) * over * over
        dh = -w * bend * over * over
        a = p1 + (t * d1 + h * k1)
        b = p2 + (t * d2 + h * k2)
        da = dt * d1 + dh * k1
        db = dt * d2 + dh * k2
        y1[i] = a
        y2[i] = b
        e1[i] = da
        e2[i] = db
        square[i] = a * a + b * b
        turn[i] = a * db - b * da


@inner
def hill_panel(v0, length, piece, far, shift, node):
    """Integrals over one piece of F y x dy, e dy_1, e dy_2, e y_1 dy_2, e y_2 dy_2, e y_2 dy_1.

    e = exp(shift - |y|**2). Loops without branches or sums compile to vector code.
    """
    lay_nodes(v0, length, piece, node)
    square = node[16:32]
    turn = node[32:48]
    e1 = node[48:64]
    e2 = node[64:80]
    y1 = node[80:96]
    y2 = node[96:112]
    low = high = square[0]
    for k in range(16):
        low = smaller(low, square[k])
        high = larger(high, square[k])
    middle = 0.0
    level = exponential(shift) if far else 1.0
    if far or high > 1.0:  # about the middle: no digits lost in the tail
        middle = 0.5 * (low + high)
        level = exponential(shift - middle)
    exponentials(middle, square, node)
    if far:
        for k in range(16):
            e = PANEL_WEIGHTS[k] * (level * (1.0 + node[k]))
            turn[k] = -(e * turn[k]) / square[k]
            node[k] = e
    elif middle > 0.0:
        for k in range(16):
            e = PANEL_WEIGHTS[k] * (level * (1.0 + node[k]))
            turn[k] = (PANEL_WEIGHTS[k] - e) * turn[k] / (square[k] + TINY)
            node[k] = e
    else:
        for k in range(16):
            turn[k] = -PANEL_WEIGHTS[k] * node[k] * turn[k] / (square[k] + TINY)
            node[k] = PANEL_WEIGHTS[k] * (1.0 + node[k])
    m = length * added(turn)
    for k in range(16):
        e1[k] *= node[k]
        e2[k] *= node[k]
        turn[k] = y1[k] * e2[k]
        square[k] = y2[k] * e2[k]
        y2[k] *= e1[k]
    return (
        m, length * added(e1), length * added(e2), length * added(turn), length * added(square),
        length * added(y2),
    )  # fmt: skip


@inner
def angle_panel(v0, length, piece, node):
    """Integral of y x dy / |y|**2 over one piece."""
    lay_nodes(v0, length, piece, node)
    square = node[16:32]
    turn = node[32:48]
    for k in range(16):
        turn[k] = PANEL_WEIGHTS[k] * turn[k] / square[k]
    return length * added(turn)


@inner
def verdict(piece, v0, v1, ax, ay, bx, by, far, lost):
    """What to do with the part from a to b: as in guaranteed_contour.py."""
    mx, my = place_on(piece, 0.5 * (v0 + v1))
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
    clear = POLE * squared <= SPAN * gap
    if (far or clear) and is_lost(gap, mx, my, ax, ay, bx, by, lost):
        return NOTHING if far else ANGLE_ONLY
    return GOOD if clear and span <= SPAN else TOO_LONG


@inner
def end_of_part(v, end, ax, ay, piece, far, lost):
    """Where the part of a piece that begins at v, at a, is to end: (v, place there, verdict)."""
    bx, by = place_on(piece, end)
    judged = verdict(piece, v, end, ax, ay, bx, by, far, lost)
    while judged == TOO_LONG:
        end = 0.5 * (v + end)
        bx, by = place_on(piece, end)
        judged = verdict(piece, v, end, ax, ay, bx, by, far, lost)
    return end, bx, by, judged


@inlined
def piece_at(k, m, cx, cy, white, w, r):
    """Edge or panel k of a ring, in the hill's coordinates."""
    if r.label[k] == ARC:
        return piece_in_hill(r.x[k], r.y[k], r.dx[k], r.dy[k], r.tau[k], cx, cy, white, w)
    j = k + 1 if k + 1 < m else 0
    dx = r.x[j] - r.x[k]
    dy = r.y[j] - r.y[k]
    return piece_in_hill(r.x[k], r.y[k], dx, dy, 0.0, cx, cy, white, w)


@inlined
def nearest_to_peak(m, cx, cy, white, w, r):
    """(whether the peak is inside, squared distance of the boundary or less, of some point)."""
    inside = True
    near = np.inf
    best = np.inf
    for k in range(m):
        piece = piece_at(k, m, cx, cy, white, w, r)
        ax, ay = place_on(piece, -1.0)
        mx, my = place_on(piece, 0.0)
        bx, by = place_on(piece, 1.0)
        best = smaller(best, smaller(ax * ax + ay * ay, mx * mx + my * my))
        # The panel lies between its chord and a parallel through twice its height.
        hx = 2.0 * (mx - 0.5 * (ax + bx))
        hy = 2.0 * (my - 0.5 * (ay + by))
        gap = segment_gap(ax, ay, bx, by)
        if piece[6] > 0.0:
            gap = smaller(gap, segment_gap(ax + hx, ay + hy, bx + hx, by + hy))
            gap = smaller(gap, segment_gap(ax, ay, ax + hx, ay + hy))
            gap = smaller(gap, segment_gap(bx, by, bx + hx, by + hy))
        near = smaller(near, gap)
        # Outside for certain only beyond the tangent at the middle of the panel.
        if (bx - ax) * (0.0 - my) - (by - ay) * (0.0 - mx) < 0.0:
            inside = False
    return inside, near, best


@inlined
def hill_by_contour(m, rho, g, t, x0, y0, w, s, r):
    """(amplification, log_scale, mass, first x, first y, polar) of row t of Terms.gaussians.

    About (0, 0), over the ring of m edges and panels in r; rho: distance of its farthest corner.
    """
    cx = g[t, 1] - x0
    cy = g[t, 2] - y0
    white = (g[t, 6], g[t, 7], g[t, 8])
    if larger(white[0], white[2]) * rho < TOO_SMALL:
        return REFUSED, 0.0, 0.0, 0.0, 0.0, 0.0
    inside, near, best = nearest_to_peak(m, cx, cy, white, w, r)
    far = not inside and near > FAR
    shift = near if far else 0.0
    mass = size_m = size_f = f1 = f2 = s11 = s12 = s22 = 0.0
    parts = 0
    for k in range(m):
        piece = piece_at(k, m, cx, cy, white, w, r)
        v = -1.0
        x, y = place_on(piece, v)
        while v < 1.0:
            best = smaller(best, x * x + y * y)
            lost = best + LOST if far else LOST
            end, x, y, judged = end_of_part(v, 1.0, x, y, piece, far, lost)
            dm = a1 = a2 = b1 = b2 = b3 = 0.0
            if judged == GOOD:
                dm, a1, a2, b1, b2, b3 = hill_panel(v, end - v, piece, far, shift, s.node)
            elif judged == ANGLE_ONLY:
                dm = angle_panel(v, end - v, piece, s.node)
            mass += 0.5 * dm
            size_m += abs(0.5 * dm)
            f1 -= 0.5 * a2
            f2 += 0.5 * a1
            size_f += 0.5 * (abs(a1) + abs(a2))
            s11 -= 0.5 * b1
            s12 -= 0.5 * b2
            s22 += 0.5 * b3
            v = end
            parts += 1
            if parts > MAX_PIECES:
                return REFUSED, 0.0, 0.0, 0.0, 0.0, 0.0
    if not mass > 0.0:
        return REFUSED, 0.0, 0.0, 0.0, 0.0, 0.0
    s11 += 0.5 * mass
    s22 += 0.5 * mass
    # Back to z = c + inverse(C) y.
    k11 = 1.0 / white[0]
    k22 = 1.0 / white[2]
    k12 = -white[1] * k11 * k22
    gx = k11 * f1 + k12 * f2
    gy = k22 * f2
    spread = k11 * k11 * s11 + 2.0 * k11 * k12 * s12 + (k12 * k12 + k22 * k22) * s22
    polar = (cx * cx + cy * cy) * mass + 2.0 * (cx * gx + cy * gy) + spread
    stretch = abs(k11) + abs(k12) + abs(k22)
    away = math.sqrt(cx * cx + cy * cy)
    grown = larger(size_m / mass, (stretch * size_f + away * size_m) / (mass * rho))
    loss = 0.25 * away * (2.0 * stretch * size_f + away * size_m) / (mass * rho * rho)
    grown = larger(grown, loss)
    det = g[t, 0] * k11 * k22
    return (
        grown, -shift, det * mass, det * (cx * mass + gx), det * (cy * mass + gy), det * polar
    )  # fmt: skip
