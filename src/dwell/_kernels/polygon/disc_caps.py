"""Moments of a density over the caps of a cell within a disc: see disc_clip.py.

Those of the polygon of edges and chords come from moments.py; those of the caps are added.

A cap is swept by z = (h + s w(t)) n + v(t) n', for t in [-T, T] and s in [0, 1]:

    v(t) = 2 r t / (1 + t**2)                                  place along the chord
    w(t) = 2 r (T**2 - t**2) / ((1 + t**2) (1 + T**2))         width of the cap there
    dz = w(t) 2 r (1 - t**2) / (1 + t**2)**2 ds dt

(n: unit vector from the agent through the middle of the chord, n' across it; h: distance of the
chord; T: tangent of a quarter of the arc's angle, at most tan(pi / 8).) Nothing cancels, all
weights are positive, and no transcendental function is needed. The poles at t = +-i are so far away
that 16 nodes integrate polynomials of low degree to rounding. A Gaussian whose exponent varies too
much over a cap takes rectangles in (t, s), halved until it does not; those that weigh nothing are
dropped.

With c half of the chord, a cap of area a has the first moment 2 c**3 / 3 along n, and the polar
moment r**2 a / 2 + c**3 h / 3: of a constant density only the area is integrated.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import (
    exponential,
    larger,
    small_exponential,
)
from dwell._kernels.common.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS
from dwell._kernels.polygon.disc_clip import ARC, clip_to_disc
from dwell._kernels.polygon.gaussian import NEGLIGIBLE, add_point, top_exponent
from dwell._kernels.polygon.moments import SAFE_EXPONENT, choose_log_scale, plus, polygon_moments
from dwell._kernels.polygon.polynomial import polynomial_at

LOW_DEGREE = 4  # of polynomials that one panel integrates over a quarter turn
SHORT = 0.4  # length of t that 8 nodes integrate, where the exponent hardly varies
ALONG = 5.0  # range of the exponent along a cap that 16 nodes integrate
# Ranges of the exponent across a cap, how much of them may be curved, and how many nodes they take;
# beyond the last, the cap is halved.
ACROSS = np.array([0.02, 0.15, 1.2, 3.0])
CURVED = np.array([1e-4, 4e-3, 0.15, 0.8])
COUNT = np.array([3, 4, 6, 8])
SHIFT = 300.0  # e-folds above the scale from which sums are scaled anew
# Where rows of 16 numbers, one for each node, begin in a buffer. With one array and fixed places
# the loops over them compile to vector code without tests for overlap.
WIDTH, PLACE, WEIGHT, M0, M1, M2, VALUE = range(0, 112, 16)


@inner
def fill_cap(nodes, t, length, r, top, node):
    """Widths, places and weights of 8 or 16 nodes of a cap, for `length` of t from `t` on."""
    x, w = (NODES[8], WEIGHTS[8]) if nodes == 8 else (PANEL_NODES, PANEL_WEIGHTS)
    scale = 2.0 * r / (1.0 + top * top)
    for k in range(nodes):
        u = t + length * x[k]
        q = 1.0 / (1.0 + u * u)
        v = scale * (top - u) * (top + u) * q
        node[WIDTH + k] = v
        node[PLACE + k] = 2.0 * r * u * q
        node[WEIGHT + k] = v * (2.0 * r * length) * w[k] * (1.0 - u) * (1.0 + u) * q * q


@inner
def sum_of(nodes, first, node):
    """The sum of a row of numbers, a multiple of four of them: see `sum_of_16`."""
    s0 = s1 = s2 = s3 = 0.0
    for k in range(first, first + nodes, 4):
        s0 += node[k]
        s1 += node[k + 1]
        s2 += node[k + 2]
        s3 += node[k + 3]
    return (s0 + s1) + (s2 + s3)


@inner
def sum_cap(nodes, h, node):
    """Mass, first moments along n and n', and polar moment, from the rows M0 to M2.

    These are the integrals of 1, s and s**2 times the density across the cap, at each node.
    """
    for k in range(nodes):
        width, place, weight = node[WIDTH + k], node[PLACE + k], node[WEIGHT + k]
        m0 = weight * node[M0 + k]
        m1 = weight * width * node[M1 + k]
        m2 = weight * width * width * node[M2 + k]
        node[M0 + k] = m0
        node[M1 + k] = h * m0 + m1
        node[M2 + k] = h * (h * m0 + 2.0 * m1) + (m2 + m0 * place * place)
        node[VALUE + k] = m0 * place
    mass, along = sum_of(nodes, M0, node), sum_of(nodes, M1, node)
    return mass, along, sum_of(nodes, VALUE, node), sum_of(nodes, M2, node)


@inner
def constant_cap(r, top, h, c):
    """Mass, first moments along n and n', and polar moment of a density of 1; c: half a chord."""
    square = top * top
    s0 = s1 = s2 = s3 = 0.0
    for k in range(8, 16, 4):  # those with t > 0: the rule is symmetric
        s0 += area_at(k, top, square)
        s1 += area_at(k + 1, top, square)
        s2 += area_at(k + 2, top, square)
        s3 += area_at(k + 3, top, square)
    area = 16.0 * r * r * top * ((s0 + s1) + (s2 + s3)) / (1.0 + square)
    cube = c * c * c
    return area, 2.0 / 3.0 * cube, 0.0, 0.5 * r * r * area + cube * h / 3.0


@inner
def area_at(k, top, square):
    """The weighted integrand of the area at node k."""
    u = top * (2.0 * PANEL_NODES[k] - 1.0)
    v = u * u
    q = 1.0 / (1.0 + v)
    return PANEL_WEIGHTS[k] * (square - v) * (1.0 - v) * (q * q * q)


@inner
def polynomial_cap(c, x0, y0, cap, node):
    """Moments of the polynomial c, whose origin lies at (-x0, -y0)."""
    r, top, h, nx, ny = cap
    order = (c.shape[0] + 4) // 2
    panels = 1 if c.shape[0] - 1 <= LOW_DEGREE else 4
    length = 2.0 * top / panels
    total = (0.0, 0.0, 0.0, 0.0)
    for panel in range(panels):
        fill_cap(16, panel * length - top, length, r, top, node)
        for k in range(16):
            v = node[PLACE + k]
            for i in range(order):
                u = h + NODES[order, i] * node[WIDTH + k]
                zx, zy = u * nx - v * ny, u * ny + v * nx
                w = node[WEIGHT + k] * WEIGHTS[order, i] * polynomial_at(c, x0 + zx, y0 + zy)
                total = add_point(total, w, zx, zy)
    return total


@inner
def fill_gaussian(nodes, count, halvings, s0, ds, u0, v0, form, y1, y2, node):
    """Integrals of 1, s and s**2 times a Gaussian across the cap, at each node: rows M0 to M2.

    By `count` nodes in s, from s0 on over ds. The Gaussian is divided by its value at (u0, v0),
    where C (z - c) = (y1, y2).
    """
    k11, k12, k21, k22 = form
    scale = 1.0
    for _ in range(halvings):
        scale *= 0.5
    for k in range(nodes):
        node[M0 + k] = 0.0
        node[M1 + k] = 0.0
        node[M2 + k] = 0.0
    for i in range(count):
        s = s0 + ds * NODES[count, i]
        w = ds * WEIGHTS[count, i]
        for k in range(nodes):
            du = s * node[WIDTH + k] - u0
            dv = node[PLACE + k] - v0
            d1, d2 = k11 * du + k12 * dv, k21 * du + k22 * dv
            node[VALUE + k] = small_exponential(
                -scale * ((2.0 * y1 + d1) * d1 + (2.0 * y2 + d2) * d2)
            )
        for _ in range(halvings):
            for k in range(nodes):
                node[VALUE + k] = node[VALUE + k] * (node[VALUE + k] + 2.0)
        for k in range(nodes):
            f = w + w * node[VALUE + k]
            node[M0 + k] += f
            node[M1 + k] += s * f
            node[M2 + k] += s * s * f


@inner
def extent_of(t, dt, s, ds, r, top):
    """Where a rectangle in (t, s) lies in a cap, from its chord on.

    (u, v) of the middle, the vector from the middle of one end to that of the other, twice the
    distance of the middle from the line between these, and the width there.
    """
    m, b = t + 0.5 * dt, t + dt
    qt, qm, qb = 1.0 / (1.0 + t * t), 1.0 / (1.0 + m * m), 1.0 / (1.0 + b * b)
    scale = (s + 0.5 * ds) * 2.0 * r / (1.0 + top * top)
    ut, um, ub = (top - t) * (top + t) * qt, (top - m) * (top + m) * qm, (top - b) * (top + b) * qb
    vt, vm, vb = 2.0 * r * t * qt, 2.0 * r * m * qm, 2.0 * r * b * qb
    bow = (scale * (2.0 * um - ut - ub), 2.0 * vm - vt - vb)
    return scale * um, vm, scale * (ub - ut), vb - vt, bow, scale * um * ds / (s + 0.5 * ds)


@inner
def variation(y1, y2, a1, a2, b1, b2):
    """How much |y|**2 varies over a vector a about y, beside one b across it."""
    return 2.0 * abs(y1 * a1 + y2 * a2) + a1 * a1 + a2 * a2 + abs(a1 * b1 + a2 * b2)


@inner
def lift(total, scale):
    """`total`, which begins with its log_scale, for another scale."""
    f = exponential(total[0] - scale)
    return scale, f * total[1], f * total[2], f * total[3], f * total[4]


@inner
def add_piece(total, e, weight, nx, ny, part):
    """Add moments along and across an axis, times weight * exp(e), to a total with its scale."""
    if e > total[0] + SHIFT:
        total = lift(total, e if e < SAFE_EXPONENT else 0.0)
    w = weight * exponential(e - total[0]) if e != total[0] else weight
    m, along, across, polar = part
    fx, fy = along * nx - across * ny, along * ny + across * nx
    return (
        total[0], total[1] + w * m, total[2] + w * fx, total[3] + w * fy, total[4] + w * polar,
    )  # fmt: skip


@inner
def gaussian_cap(g, x0, y0, cap, n, x, y, node, pending, total):
    """Add the moments of g, a row of Terms.gaussians, over a cap to a total with its scale.

    Parts are dropped where g is far below its largest value on the polygon x, y.
    """
    r, top, h, nx, ny = cap
    k11, k12, k21, k22 = g[6] * nx + g[7] * ny, g[7] * nx - g[6] * ny, g[8] * ny, g[8] * nx
    cx, cy = g[1] - x0, g[2] - y0
    z1, z2 = k11 * h - (g[6] * cx + g[7] * cy), k21 * h - g[8] * cy
    pending[0, 0], pending[0, 1], pending[0, 2], pending[0, 3] = -top, 2.0 * top, 0.0, 1.0
    size = 1
    log_top = -np.inf
    while size > 0:
        size -= 1
        row = size
        t, dt, s, ds = pending[row, 0], pending[row, 1], pending[row, 2], pending[row, 3]
        u, v, du, dv, bow, w = extent_of(t, dt, s, ds, r, top)
        y1, y2 = z1 + k11 * u + k12 * v, z2 + k21 * u + k22 * v
        a1, a2 = k11 * du + k12 * dv, k21 * du + k22 * dv
        b1, b2 = k11 * w, k21 * w
        bent = y1 * (k11 * bow[0] + k12 * bow[1]) + y2 * (k21 * bow[0] + k22 * bow[1])
        along = variation(y1, y2, a1, a2, b1, b2) + 2.0 * abs(bent)
        across, curved = variation(y1, y2, b1, b2, a1, a2), b1 * b1 + b2 * b2
        e = -(y1 * y1 + y2 * y2)
        if e + along + across < log_top - NEGLIGIBLE:
            continue
        gentle = along <= ALONG and across <= ACROSS[3] and curved <= CURVED[3]
        if gentle or row + 2 > pending.shape[0]:
            level = halvings = 0
            while level < 3 and (across > ACROSS[level] or curved > CURVED[level]):
                level += 1
            spread = along + across
            while spread > 0.14 and halvings < 7:
                spread *= 0.5
                halvings += 1
            nodes = 8 if dt <= SHORT and along <= 1.0 else 16
            form = (k11, k12, k21, k22)
            fill_cap(nodes, t, dt, r, top, node)
            fill_gaussian(nodes, COUNT[level], halvings, s, ds, u, v, form, y1, y2, node)
            total = add_piece(total, e, g[0], nx, ny, sum_cap(nodes, h, node))
            continue
        if log_top == -np.inf:
            log_top, _, _ = top_exponent(n, cx, cy, (g[3], g[4], g[5]), x, y)
        half_t, half_s = (0.5 * dt, 0.0) if along * ACROSS[3] >= across * ALONG else (0.0, 0.5 * ds)
        for k in range(2):
            pending[row + k, 0], pending[row + k, 1] = t + k * half_t, dt - half_t
            pending[row + k, 2], pending[row + k, 3] = s + k * half_s, ds - half_s
        size += 2
    return total


@inner
def cap_moments(n, x0, y0, terms, r, x, y, label, node, pending):
    """(log_scale, mass, first moments, polar moment) of all caps: see `polygon_moments`."""
    total = (choose_log_scale(n, x0, y0, terms, x, y), 0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        if label[i] != ARC:
            continue
        j = i + 1 if i + 1 < n else 0
        mx, my = 0.5 * (x[i] + x[j]), 0.5 * (y[i] + y[j])
        dx, dy = 0.5 * (x[j] - x[i]), 0.5 * (y[j] - y[i])
        h, c = math.sqrt(mx * mx + my * my), math.sqrt(dx * dx + dy * dy)
        inverse = 1.0 / (h * (r + h))
        nx, ny = mx * (r + h) * inverse, my * (r + h) * inverse
        cap = (r, c * h * inverse, h, nx, ny)
        if terms.constant > 0.0:
            total = add_piece(total, 0.0, terms.constant, nx, ny, constant_cap(r, cap[1], h, c))
        for k in range(terms.polynomials.shape[0]):
            ax, ay = x0 - terms.origins[k, 0], y0 - terms.origins[k, 1]
            part = polynomial_cap(terms.polynomials[k], ax, ay, cap, node)
            total = add_piece(total, 0.0, 1.0, 1.0, 0.0, part)
        for k in range(terms.gaussians.shape[0]):
            g = terms.gaussians[k]
            total = gaussian_cap(g, x0, y0, cap, n, x, y, node, pending, total)
    return total


@inner
def joined(polygon, caps):
    """The moments of a polygon and of its caps together: see `polygon_moments`."""
    scale = larger(polygon[0], caps[0])
    if scale != 0.0:
        polygon, caps = lift(polygon, scale), lift(caps, scale)
    found = plus(polygon[1:], 1.0, caps[1:])
    return scale, found[0], found[1], found[2], found[3]


@inner
def limited_moments(n, x0, y0, terms, r, s):
    """Moments of the polygon in `s` within a disc of radius r that cuts it: see `polygon_moments`.

    Returns the vertices of what is left, too. Nothing is computed without a radius (None).
    """
    if r is None:
        return n, 0.0, 0.0, 0.0, 0.0, 0.0
    n = clip_to_disc(n, r, s)
    caps = cap_moments(n, x0, y0, terms, r, s.x, s.y, s.label, s.node, s.pending)
    polygon = polygon_moments(n, x0, y0, terms, 0.0, 0.0, False, s)
    scale, m, fx, fy, polar = joined(polygon, caps)
    return n, scale, m, fx, fy, polar
