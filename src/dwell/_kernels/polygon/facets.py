"""Integrals along the edges between cells, from which derivatives of centroids follow.

In the frame of the agent, the moments of such an edge of
order 0 to 2 under the density are enough for the Jacobian of the centroids and the Hessian of the
cost. They come divided by the same exp(log_scale) as the cell's own mass.
"""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.common.quadrature import PANEL_NODES, PANEL_WEIGHTS
from dwell._kernels.polygon.moments import polynomial_at

SPAN = 9.0  # range of an exponent per panel: 16 nodes then integrate it to rounding
DROPPED = 50.0  # parts of a component e**-50 below its largest value on the edge are left out


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
    dx = bx - ax
    dy = by - ay
    length = math.sqrt(dx * dx + dy * dy)
    m = mx = my = mxx = mxy = myy = 0.0
    for t in range(-1, terms.gaussians.shape[0]):  # -1: everything but the components
        first = 0.0
        last = 1.0
        panels = 1
        p1 = p2 = d1 = d2 = 0.0
        factor = length
        if t < 0:
            if terms.constant == 0.0 and terms.polynomials.shape[0] == 0:
                continue
            factor = length * exponential(-log_scale)
        else:
            u = (x0 - terms.gaussians[t, 1]) + ax
            v = (y0 - terms.gaussians[t, 2]) + ay
            p1 = terms.gaussians[t, 6] * u + terms.gaussians[t, 7] * v
            p2 = terms.gaussians[t, 8] * v
            d1 = terms.gaussians[t, 6] * dx + terms.gaussians[t, 7] * dy
            d2 = terms.gaussians[t, 8] * dy
            square = d1 * d1 + d2 * d2
            tilt = p1 * d1 + p2 * d2
            top = smaller(1.0, larger(0.0, -tilt / square)) if square > 0.0 else 0.0
            slope = tilt + top * square
            first = larger(0.0, top - reach_of(larger(0.0, -slope), square))
            last = smaller(1.0, top + reach_of(larger(0.0, slope), square))
            steepest = larger(abs(tilt + first * square), abs(tilt + last * square))
            panels = int(2.0 * steepest * (last - first) / SPAN) + 1
            factor = length * terms.gaussians[t, 0]
        width = (last - first) / panels
        for k in range(panels):
            for i in range(PANEL_NODES.shape[0]):
                r = first + (k + PANEL_NODES[i]) * width
                x = ax + r * dx
                y = ay + r * dy
                if t < 0:
                    value = plain_at(x, y, x0, y0, terms)
                else:
                    w1 = p1 + r * d1
                    w2 = p2 + r * d2
                    value = exponential(-(w1 * w1 + w2 * w2) - log_scale)
                w = PANEL_WEIGHTS[i] * width * factor * value
                m += w
                mx += w * x
                my += w * y
                mxx += w * x * x
                mxy += w * x * y
                myy += w * y * y
    return m, mx, my, mxx, mxy, myy


@njit
def borders_of(lo, hi, agent, a, b, position, log_scale, terms, moments):
    """Moments 1, x, y, xx, xy, yy of borders lo to hi - 1, from a to b in their agents' frames."""
    for k in range(lo, hi):
        p = agent[k]
        m, mx, my, mxx, mxy, myy = integrate_border(
            a[k, 0], a[k, 1], b[k, 0], b[k, 1], position[p, 0], position[p, 1], log_scale[p], terms
        )
        moments[k, 0] = m
        moments[k, 1] = mx
        moments[k, 2] = my
        moments[k, 3] = mxx
        moments[k, 4] = mxy
        moments[k, 5] = myy
