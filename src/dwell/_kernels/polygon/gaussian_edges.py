"""Moments of exp(-(z - c)' Q (z - c)) over a polygon by its edges alone.

In coordinates y = C (z - c) with Q = C'C the Gaussian is exp(-|y|**2), and the divergence theorem
turns its moments into integrals along edges, ten times cheaper than over triangles:

    mass    1/2 sum h int F(h**2 + t**2) dt,   F(x) = (1 - e**-x) / x,  or  -e**-x / x
    first  -1/2 sum n E0                       E0 = int e**-(h**2 + t**2) dt
    second  1/2 (mass - sum n (h n E0 + t E1)) E1 = int t e**-(h**2 + t**2) dt

(h: distance of the edge's line from the peak, t: place along it, n: outward normal.) The second F
needs the peak outside and keeps the digits of far cells. Edge terms have both signs and cancel when
the cell is small, thin or far; how much is known from the sum of their sizes, and the caller falls
back on triangles when more than a few digits would go. See gaussian.py.

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
from dwell._kernels.common.quadrature import PANEL_NODES, PANEL_WEIGHTS
from dwell._kernels.polygon.buffers import MAX_PANELS

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
def whiten(n, cx, cy, c11, c12, c22, x, y, x2, y2):
    """Put C (v - c) of every vertex into x2, y2."""
    for k in range(n):
        dx = x[k] - cx
        dy = y[k] - cy
        x2[k] = c11 * dx + c12 * dy
        y2[k] = c22 * dy


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
    h2 = h * h
    t1 = t0 + length
    tm = t0 + 0.5 * length
    middle = 0.0
    if h2 + larger(t0 * t0, t1 * t1) > 1.0:
        middle = h2 + tm * tm  # the exponential is taken from here: no digits lost in its tail
    panels[k, H] = h
    panels[k, T0] = t0
    panels[k, LENGTH] = length
    panels[k, TX] = tx
    panels[k, TY] = ty
    panels[k, MIDDLE] = middle


@inner
def set_levels(count, far, panels):
    """The exponential at the middle of each panel, and what is subtracted from it in F."""
    for k in range(count):
        level = exponential(-panels[k, MIDDLE])
        panels[k, LEVEL] = level
        panels[k, SHIFT] = level if far else level - 1.0


@inner
def fill_nodes(count, panels, value, ratio):
    """Weighted values of e**-x and of F, x = h**2 + t**2, at the nodes of each panel.

    Nothing but + - * / and no branch inside: vector code, in which all nodes are under way at once.
    Always 16 of them: the loop then needs no rest, and is faster than 8 were.
    """
    u = PANEL_NODES
    w = PANEL_WEIGHTS
    for i in range(count):
        h2 = panels[i, H] * panels[i, H]
        t0 = panels[i, T0]
        length = panels[i, LENGTH]
        middle = panels[i, MIDDLE]
        level = panels[i, LEVEL]
        shift = panels[i, SHIFT]
        for k in range(16):
            t = t0 + length * u[k]
            x = h2 + t * t
            y = (middle - x) * (1.0 / 64.0)  # at most 0.14, since SPAN is 9
            p = small_exponential(y)
            p = p * (p + 2.0)  # e**2y - 1 from e**y - 1, six times
            p = p * (p + 2.0)
            p = p * (p + 2.0)
            p = p * (p + 2.0)
            p = p * (p + 2.0)
            p = p * (p + 2.0)
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
    set_levels(count, far, panels)
    fill_nodes(count, panels, value, ratio)
    m, size_m, size_f, fx, fy, sxx, sxy, syy = total
    for k in range(count):
        h = panels[k, H]
        tx = panels[k, TX]
        ty = panels[k, TY]
        length = panels[k, LENGTH]
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
    whiten(n, cx, cy, c11, c12, c22, x, y, x2, y2)
    near = nearest_squared(n, x2, y2)
    if near > TOO_FAR:
        return REFUSED, 0.0, 0.0, 0.0, 0.0
    far = near > FAR
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    count = 0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        dx = x2[j] - x2[i]
        dy = y2[j] - y2[i]
        length = math.sqrt(dx * dx + dy * dy)
        if length == 0.0:
            continue
        inverse = 1.0 / length
        tx = dx * inverse
        ty = dy * inverse
        h = x2[i] * ty - y2[i] * tx
        t0 = x2[i] * tx + y2[i] * ty
        span = larger(abs(length * (2.0 * t0 + length)), length * length)
        if far:  # F has a pole near the peak: keep panels shorter than its distance
            span = larger(span, POLE * length * length / near)
        pieces = math.ceil(span / SPAN)
        if pieces > MAX_PIECES:
            return REFUSED, 0.0, 0.0, 0.0, 0.0
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
    k11 = 1.0 / c11
    k22 = 1.0 / c22
    k12 = -c12 * k11 * k22
    gx = k11 * fx + k12 * fy
    gy = k22 * fy
    spread = k11 * k11 * sxx + 2.0 * k11 * k12 * sxy + (k12 * k12 + k22 * k22) * syy
    polar = (cx * cx + cy * cy) * m + 2.0 * (cx * gx + cy * gy) + spread
    stretch = abs(k11) + abs(k12) + abs(k22)
    away = math.sqrt(cx * cx + cy * cy)
    grown = larger(size_m / m, (stretch * size_f + away * size_m) / (m * rho))
    # The polar moment only enters the cost: it may lose four times as much.
    loss = 0.25 * away * (2.0 * stretch * size_f + away * size_m) / (m * rho * rho)
    grown = larger(grown, loss)
    det = k11 * k22
    return grown, det * m, det * (cx * m + gx), det * (cy * m + gy), det * polar
