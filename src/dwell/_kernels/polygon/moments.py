"""Mass, first moments and polar second moment of a density over the polygon in s.x, s.y.

The polygon is split into triangles that share the apex (0, 0): the agent itself, which lies in its
own cell, so every triangle counts positively. An agent outside its cell gets another apex.
s.fan holds the cross products of neighbouring vertices, twice the areas of these triangles.
All moments are about a pivot (px, py) and come divided by exp(log_scale).
"""

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.arithmetic import cross, larger, smaller
from dwell._kernels.common.quadrature import NODES, WEIGHTS
from dwell._kernels.polygon.gaussian import gaussian_triangle, top_exponent
from dwell._kernels.polygon.gaussian_edges import AMPLIFICATION, gaussian_by_edges
from dwell._kernels.polygon.halfplane_clip import farthest

SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708


@inner
def polynomial_at(c, x, y):
    """sum c[i, j] x**i y**j by Horner's rule."""
    d = c.shape[0]
    v = 0.0
    for i in range(d - 1, -1, -1):
        w = 0.0
        for j in range(d - 1 - i, -1, -1):
            w = w * y + c[i, j]
        v = v * x + w
    return v


@inner
def polynomial_triangle(c, x0, y0, ax, ay, bx, by, k, px, py):
    """Moments of the polynomial c in (z + (x0, y0)) over (0, a, b): exact by degree."""
    n = (c.shape[0] + 4) // 2
    m = fx = fy = polar = 0.0
    for i in range(n):
        dx = ax + NODES[n, i] * (bx - ax)
        dy = ay + NODES[n, i] * (by - ay)
        for j in range(n):
            r = NODES[n, j]
            zx = r * dx
            zy = r * dy
            v = k * WEIGHTS[n, i] * WEIGHTS[n, j] * r * polynomial_at(c, x0 + zx, y0 + zy)
            zx -= px
            zy -= py
            m += v
            fx += v * zx
            fy += v * zy
            polar += v * (zx * zx + zy * zy)
    return m, fx, fy, polar


@inner
def exponent_range(n, cx, cy, q, xs, ys):
    """Smallest and largest exponent of a Gaussian over the polygon's vertices."""
    qxx, qxy, qyy = q
    low = np.inf
    high = -np.inf
    for i in range(n):
        x = xs[i] - cx
        y = ys[i] - cy
        e = -((qxx * x + 2.0 * qxy * y) * x + qyy * y * y)
        low = smaller(low, e)
        high = larger(high, e)
    return low, high


@inner
def choose_log_scale(n, x0, y0, terms, x, y):
    """0 where the density is within reach of doubles somewhere on the polygon, else its log."""
    if terms.constant > 0.0 or terms.polynomials.shape[0] > 0:
        return 0.0
    top = -np.inf
    for t in range(terms.gaussians.shape[0]):
        cx = terms.gaussians[t, 1]
        cy = terms.gaussians[t, 2]
        q = (terms.gaussians[t, 3], terms.gaussians[t, 4], terms.gaussians[t, 5])
        _, high = exponent_range(n, cx - x0, cy - y0, q, x, y)
        if high > SAFE_EXPONENT:
            return 0.0
        top = larger(top, top_exponent(n, cx - x0, cy - y0, q, x, y))
    return top if top < SAFE_EXPONENT else 0.0


@inner
def spread_fan(n, x, y, fan):
    """Write the cross products of neighbouring vertices into `fan`."""
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        fan[i] = cross(x[i], y[i], x[j], y[j])


@inner
def has_negative(n, fan):
    """Whether the apex lies outside the polygon."""
    for i in range(n):
        if fan[i] < 0.0:
            return True
    return False


@inner
def move_apex(n, x, y):
    """Shift the polygon so that the mean of its vertices lies at (0, 0); return the shift."""
    ox = 0.0
    oy = 0.0
    for i in range(n):
        ox += x[i] / n
        oy += y[i] / n
    for i in range(n):
        x[i] -= ox
        y[i] -= oy
    return ox, oy


@inner
def add_constant(level, n, px, py, x, y, fan, total):
    """Add the moments of a constant density to `total`, by triangles (0, a, b)."""
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        k = level * fan[i]
        ax = x[i] - px
        ay = y[i] - py
        bx = x[j] - px
        by = y[j] - py
        sx = ax + bx - px
        sy = ay + by - py
        squares = ax * ax + ay * ay + bx * bx + by * by + px * px + py * py
        polar = k * (squares + sx * sx + sy * sy) / 24.0
        total = (
            total[0] + 0.5 * k,
            total[1] + k * sx / 6.0,
            total[2] + k * sy / 6.0,
            total[3] + polar,
        )
    return total


@inner
def add_polynomial(c, x0, y0, n, px, py, x, y, fan, total):
    """Add the moments of a polynomial whose origin lies at (-x0, -y0)."""
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        m, fx, fy, polar = polynomial_triangle(c, x0, y0, x[i], y[i], x[j], y[j], fan[i], px, py)
        total = (total[0] + m, total[1] + fx, total[2] + fy, total[3] + polar)
    return total


@inner
def add_gaussian(g, t, x0, y0, n, log_scale, px, py, x, y, fan, node, pending, total):
    """Add the moments of row t of Terms.gaussians by triangles."""
    cx = g[t, 1] - x0
    cy = g[t, 2] - y0
    q = (g[t, 3], g[t, 4], g[t, 5])
    low, top = exponent_range(n, cx, cy, q, x, y)
    if low < -4.0:  # some triangle may need halving: know what may be dropped
        top = top_exponent(n, cx, cy, q, x, y)
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        k = g[t, 0] * fan[i]
        if k != 0.0:
            ax = x[i]
            ay = y[i]
            bx = x[j]
            by = y[j]
            m, fx, fy, polar = gaussian_triangle(
                cx, cy, q, ax, ay, bx, by, k, log_scale, top, px, py, node, pending
            )
            total = (total[0] + m, total[1] + fx, total[2] + fy, total[3] + polar)
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
        w = g[0]
        total = (total[0] + w * m, total[1] + w * fx, total[2] + w * fy, total[3] + w * polar)
        by_edges = grown <= AMPLIFICATION
        t += 1
    if by_edges and components > 0 and constant == 0.0 and polynomials == 0:
        return 0.0, total[0], total[1], total[2], total[3]
    if not sharp:
        spread_fan(n, s.x, s.y, s.fan)
        if has_negative(n, s.fan):
            ox, oy = move_apex(n, s.x, s.y)
            spread_fan(n, s.x, s.y, s.fan)
            x0 += ox
            y0 += oy
            px -= ox
            py -= oy
            by_edges = False
    log_scale = 0.0
    if not by_edges:
        total = (0.0, 0.0, 0.0, 0.0)
        log_scale = choose_log_scale(n, x0, y0, terms, s.x, s.y)
        for t in range(components):
            total = add_gaussian(
                terms.gaussians, t, x0, y0, n, log_scale, px, py, s.x, s.y, s.fan, s.node,
                s.pending, total,
            )  # fmt: skip
    if constant > 0.0:
        total = add_constant(constant, n, px, py, s.x, s.y, s.fan, total)
    for t in range(polynomials):
        ax = x0 - terms.origins[t, 0]
        ay = y0 - terms.origins[t, 1]
        total = add_polynomial(terms.polynomials[t], ax, ay, n, px, py, s.x, s.y, s.fan, total)
    return log_scale, total[0], total[1], total[2], total[3]
