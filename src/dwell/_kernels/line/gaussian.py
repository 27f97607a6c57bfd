"""Moments of a Gaussian over an interval, to rounding, also where it is all but zero.

The integrand is followed outward from where it is largest, in panels on each of which it falls by
no more than exp(-8), until nothing more is left of it. Seen from there all terms are positive and
nothing cancels, however far out in a tail the interval lies.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential, larger, product_error, smaller
from dwell._kernels.common.quadrature import PANEL_NODES, PANEL_WEIGHTS
from dwell._kernels.line.cells import difference

DROP = 45.0  # exponents below the largest that are followed: exp(-45) is 3e-20
PANEL_DROP = 8.0
PANEL_WIDTH = 2.0  # in units of 1 / sqrt(rate)


@inner
def outward(s, near, reach):
    """Integrals of 1, t, t**2 times exp(-s t (2 near + s t)) for t from 0 to `reach`, near >= 0."""
    # The t at which the exponent has fallen by DROP; written so that it does not cancel.
    end = smaller(reach, DROP / (near + math.sqrt(near * near + DROP)) / s)
    m = 0.0
    f = 0.0
    g = 0.0
    t = 0.0
    while t < end:
        v = near + s * t
        step = smaller(PANEL_WIDTH, PANEL_DROP / (v + math.sqrt(v * v + PANEL_DROP))) / s
        if step >= 0.999 * (end - t):
            step = end - t
        if step <= 0.0:
            break
        for k in range(PANEL_NODES.shape[0]):
            z = t + step * PANEL_NODES[k]
            w = step * PANEL_WEIGHTS[k] * exponential(-s * z * (2.0 * near + s * z))
            m += w
            f += w * z
            g += w * z * z
        t = t + step if step < end - t else end
    return m, f, g


@inner
def exponent(q, d, low):
    """-q (d + low)**2, and what is lost by rounding it: exponents of hundreds need both."""
    square = d * d
    value = q * square
    lost = product_error(d, d, square) + 2.0 * d * low
    return -value, -(product_error(q, square, value) + q * lost)


@inner
def gaussian_interval(a, a_low, b, b_low, center, center_low, q, s):
    """(top, its rounding, mass, centroid, second moment about it) over [a, b].

    The Gaussian is exp(-q (z - center)**2), s = sqrt(q). Mass and second moment come divided by
    the exponential of both parts of the top. Numbers with `_low` are what the others lack.
    """
    if center <= a:
        d, low = difference(a, center)
        top, lost = exponent(q, d, low + (a_low - center_low))
        m, f, g = outward(s, s * d, b - a)
        return top, lost, m, a + f / m, larger(0.0, g - f / m * f)
    if center >= b:
        d, low = difference(center, b)
        top, lost = exponent(q, d, low + (center_low - b_low))
        m, f, g = outward(s, s * d, b - a)
        return top, lost, m, b - f / m, larger(0.0, g - f / m * f)
    m, f, g = outward(s, 0.0, b - center)
    n, e, h = outward(s, 0.0, center - a)
    m += n
    f -= e
    g += h
    return 0.0, 0.0, m, center + f / m, larger(0.0, g - f / m * f)
