"""Mass, first moments and polar second moment of a density over the polygon in s.x, s.y.

The polygon is split into triangles that share the apex (0, 0): the agent itself, which lies in its
own cell, so every triangle counts positively. An agent outside its cell gets another apex.
s.fan holds the cross products of neighbouring vertices, twice the areas of these triangles.
All moments are about a pivot (px, py) and come divided by exp(log_scale).

Moments of order 0 to 2 along the edges between cells, in the frame of the agent, are enough for the
Jacobian of the centroids and the Hessian of the cost. They come divided by the same exp(log_scale).
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner, spliced
from dwell._kernels.common.arithmetic import cross, exponential, larger, smaller
from dwell._kernels.common.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS
from dwell._kernels.polygon.gaussian import (
    AMPLIFICATION,
    SPAN,
    add_point,
    gaussian_by_edges,
    gaussian_triangle,
    top_exponent,
)
from dwell._kernels.polygon.halfplane_clip import farthest
from dwell._kernels.polygon.polynomial import polynomial_at
from dwell._kernels.polygon.raster import add_raster, add_raster_border, is_present

SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
DROPPED = 50.0  # parts of a component e**-50 below its largest value on an edge are left out


@inner
def exponent_range(n, cx, cy, q, xs, ys):
    """Smallest and largest exponent of a Gaussian over the polygon's vertices."""
    qxx, qxy, qyy = q
    low, high = np.inf, -np.inf
    for i in range(n):
        x, y = xs[i] - cx, ys[i] - cy
        e = -((qxx * x + 2.0 * qxy * y) * x + qyy * y * y)
        low, high = smaller(low, e), larger(high, e)
    return low, high


@spliced
def choose_log_scale(n, x0, y0, terms, x, y):
    """0 where the density is within reach of doubles somewhere on the polygon, else its log."""
    if terms.constant > 0.0 or terms.polynomials.shape[0] > 0 or is_present(terms.raster):
        return 0.0
    top = -np.inf
    for t in range(terms.gaussians.shape[0]):
        g = terms.gaussians[t]
        cx, cy, q = g[1] - x0, g[2] - y0, (g[3], g[4], g[5])
        _, high = exponent_range(n, cx, cy, q, x, y)
        if high > SAFE_EXPONENT:
            return 0.0
        top = larger(top, top_exponent(n, cx, cy, q, x, y)[0])
    return top if top < SAFE_EXPONENT else 0.0


@inner
def spread_fan(n, x, y, fan):
    """Write the cross products of neighbouring vertices into `fan`; return the least, or 0."""
    least = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        fan[i] = cross(x[i], y[i], x[j], y[j])
        least = smaller(least, fan[i])
    return least


@spliced
def move_apex(n, x, y):
    """Shift the polygon so that the mean of its vertices lies at (0, 0); return the shift."""
    ox = oy = 0.0
    for i in range(n):
        ox += x[i] / n
        oy += y[i] / n
    for i in range(n):
        x[i] -= ox
        y[i] -= oy
    return ox, oy


@spliced
def add_constant(level, n, px, py, x, y, fan, total):
    """Add the moments of a constant density to `total`, by triangles (0, a, b)."""
    m, fx, fy, polar = total
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        k = level * fan[i]
        ax, ay = x[i] - px, y[i] - py
        bx, by = x[j] - px, y[j] - py
        sx, sy = ax + bx - px, ay + by - py
        squares = ax * ax + ay * ay + bx * bx + by * by + px * px + py * py
        m += 0.5 * k
        fx += k * sx / 6.0
        fy += k * sy / 6.0
        polar += k * (squares + sx * sx + sy * sy) / 24.0
    return m, fx, fy, polar


@spliced
def add_polynomial(c, x0, y0, n, px, py, x, y, fan, total):
    """Add the moments of the polynomial c, whose origin lies at (-x0, -y0): exact by degree."""
    order = (c.shape[0] + 4) // 2
    for k in range(n):
        h = k + 1 if k + 1 < n else 0
        part = (0.0, 0.0, 0.0, 0.0)
        for i in range(order):
            dx = x[k] + NODES[order, i] * (x[h] - x[k])
            dy = y[k] + NODES[order, i] * (y[h] - y[k])
            for j in range(order):
                r = NODES[order, j]
                zx, zy = r * dx, r * dy
                v = fan[k] * WEIGHTS[order, i] * WEIGHTS[order, j] * r
                v *= polynomial_at(c, x0 + zx, y0 + zy)
                part = add_point(part, v, zx - px, zy - py)
        total = plus(total, 1.0, part)
    return total


@inner
def plus(total, w, part):
    """Add w times the moments `part` to others."""
    m, fx, fy, polar = part
    return total[0] + w * m, total[1] + w * fx, total[2] + w * fy, total[3] + w * polar


@spliced
def add_gaussian(g, x0, y0, n, log_scale, px, py, x, y, fan, node, pending, total):
    """Add the moments of g, a row of Terms.gaussians, by triangles."""
    cx, cy, q = g[1] - x0, g[2] - y0, (g[3], g[4], g[5])
    low, top = exponent_range(n, cx, cy, q, x, y)
    if low < -4.0:  # some triangle may need halving: know what may be dropped
        top, _, _ = top_exponent(n, cx, cy, q, x, y)
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        k = g[0] * fan[i]
        if k != 0.0:
            part = gaussian_triangle(
                cx, cy, q, x[i], y[i], x[j], y[j], k, log_scale, top, px, py, node, pending
            )
            total = plus(total, 1.0, part)
    return total


@inlined
def polygon_moments(n, x0, y0, terms, px, py, sharp, s):
    """Moments about (px, py) of the polygon with n vertices in the frame of (x0, y0).

    Returns (log_scale, mass, first x, first y, polar), the last four divided by exp(log_scale).
    `sharp` says that s.fan is filled, with more digits than the vertices have. May move the polygon
    in s.x, s.y to another apex: read the vertices before, not after.
    """
    constant = terms.constant
    polynomials = terms.polynomials.shape[0]
    components = terms.gaussians.shape[0]
    total = (0.0, 0.0, 0.0, 0.0)
    by_edges = px == 0.0 and py == 0.0 and not sharp
    rho = np.sqrt(farthest(n, s.x, s.y)) if by_edges and components > 0 else 0.0
    t = 0
    while by_edges and t < components:  # all components by edges, or none
        g = terms.gaussians[t]
        grown, m, fx, fy, polar = gaussian_by_edges(
            n, g[1] - x0, g[2] - y0, g[6], g[7], g[8], rho, s.x, s.y, s.x2, s.y2, s.panels,
            s.value, s.ratio,
        )  # fmt: skip
        total = plus(total, g[0], (m, fx, fy, polar))
        by_edges = grown <= AMPLIFICATION
        t += 1
    if by_edges and components > 0 and constant == 0.0 and polynomials == 0:
        total = add_raster(terms.raster, n, x0, y0, px, py, s.x, s.y, s.x2, s.y2, s.pieces, total)
        return 0.0, total[0], total[1], total[2], total[3]
    if not sharp and spread_fan(n, s.x, s.y, s.fan) < 0.0:
        ox, oy = move_apex(n, s.x, s.y)
        spread_fan(n, s.x, s.y, s.fan)
        x0, y0 = x0 + ox, y0 + oy
        px, py = px - ox, py - oy
        by_edges = False
    log_scale = 0.0
    if not by_edges:
        total = (0.0, 0.0, 0.0, 0.0)
        log_scale = choose_log_scale(n, x0, y0, terms, s.x, s.y)
        for t in range(components):
            total = add_gaussian(
                terms.gaussians[t], x0, y0, n, log_scale, px, py, s.x, s.y, s.fan, s.node,
                s.pending, total,
            )  # fmt: skip
    if constant > 0.0:
        total = add_constant(constant, n, px, py, s.x, s.y, s.fan, total)
    for t in range(polynomials):
        ax = x0 - terms.origins[t, 0]
        ay = y0 - terms.origins[t, 1]
        total = add_polynomial(terms.polynomials[t], ax, ay, n, px, py, s.x, s.y, s.fan, total)
    total = add_raster(terms.raster, n, x0, y0, px, py, s.x, s.y, s.x2, s.y2, s.pieces, total)
    return log_scale, total[0], total[1], total[2], total[3]


@inner
def plain_at(x, y, x0, y0, terms):
    """The constant and the polynomials at (x0 + x, y0 + y)."""
    value = terms.constant
    for t in range(terms.polynomials.shape[0]):
        dx = (x0 - terms.origins[t, 0]) + x
        dy = (y0 - terms.origins[t, 1]) + y
        value += polynomial_at(terms.polynomials[t], dx, dy)
    return value


@inner
def reach_of(slope, square):
    """How far on a parabola of this slope and curvature rises by DROPPED; both are at least 0."""
    steep = slope + math.sqrt(slope * slope + square * DROPPED)
    return DROPPED / steep if steep > 0.0 else 1.0


@inner
def integrate_border(ax, ay, bx, by, x0, y0, log_scale, terms):
    """Moments 1, x, y, xx, xy, yy of the density along the segment from a to b.

    Each component has panels of its own: its exponent is a parabola along the segment, so the part
    that matters, and its decay there, are known beforehand.
    """
    dx, dy = bx - ax, by - ay
    length = math.sqrt(dx * dx + dy * dy)
    m = mx = my = mxx = mxy = myy = 0.0
    for t in range(-1, terms.gaussians.shape[0]):  # -1: everything but the components
        first, last, panels = 0.0, 1.0, 1
        p1 = p2 = d1 = d2 = 0.0
        factor = length
        if t < 0:
            if terms.constant == 0.0 and terms.polynomials.shape[0] == 0:
                continue
            factor = length * exponential(-log_scale)
        else:
            g = terms.gaussians[t]
            u, v = (x0 - g[1]) + ax, (y0 - g[2]) + ay
            p1, p2 = g[6] * u + g[7] * v, g[8] * v
            d1, d2 = g[6] * dx + g[7] * dy, g[8] * dy
            square = d1 * d1 + d2 * d2
            tilt = p1 * d1 + p2 * d2
            top = smaller(1.0, larger(0.0, -tilt / square)) if square > 0.0 else 0.0
            slope = tilt + top * square
            first = larger(0.0, top - reach_of(larger(0.0, -slope), square))
            last = smaller(1.0, top + reach_of(larger(0.0, slope), square))
            steepest = larger(abs(tilt + first * square), abs(tilt + last * square))
            panels = int(2.0 * steepest * (last - first) / SPAN) + 1
            factor = length * g[0]
        width = (last - first) / panels
        for k in range(panels):
            for i in range(PANEL_NODES.shape[0]):
                r = first + (k + PANEL_NODES[i]) * width
                x, y = ax + r * dx, ay + r * dy
                if t < 0:
                    value = plain_at(x, y, x0, y0, terms)
                else:
                    w1, w2 = p1 + r * d1, p2 + r * d2
                    value = exponential(-(w1 * w1 + w2 * w2) - log_scale)
                w = PANEL_WEIGHTS[i] * width * factor * value
                m += w
                mx += w * x
                my += w * y
                mxx += w * x * x
                mxy += w * x * y
                myy += w * y * y
    return add_raster_border(terms.raster, ax, ay, bx, by, x0, y0, (m, mx, my, mxx, mxy, myy))
