"""Mass, centroid and second moment of a density over an interval, to rounding.

Every part of the density has its own mass, centroid and second moment, which are put together by
the theorem of parallel axes: nothing cancels.

A Gaussian is integrated outward from where it is largest, in panels on each of which it falls by no
more than exp(-8), until nothing more is left of it. Seen from there all terms are positive and
nothing cancels, however far out in a tail the interval lies.
"""

import math

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import difference, exponential, larger, product_error, smaller
from dwell._kernels.common.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS

DROP = 45.0  # exponents below the largest that are followed: exp(-45) is 3e-20
PANEL_DROP = 8.0
PANEL_WIDTH = 2.0  # in units of 1 / sqrt(rate)
SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
TOP, LOST, MASS, CENTROID, SECOND = range(5)  # columns of the memory, one row per Gaussian
MEMORY = 5


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


@inner
def polynomial_at(z, p, terms):
    """The constant and all monomials at z, seen from p."""
    total = terms.constant
    for k in range(terms.coefficients.shape[0]):
        v = terms.coefficients[k]
        x = (p - terms.origins[k, 0]) + z
        for _ in range(terms.powers[k, 0]):
            v *= x
        total += v
    return total


@inner
def nodes_needed(terms):
    """How many Gauss nodes make second moments of the polynomial part exact."""
    degree = 0
    for k in range(terms.powers.shape[0]):
        if terms.powers[k, 0] > degree:
            degree = terms.powers[k, 0]
    return (degree + 4) // 2


@inner
def smooth_part(a, b, p, terms, about):
    """Integrals of 1, z and (z - about)**2 times the polynomial part."""
    if terms.constant == 0.0 and terms.coefficients.shape[0] == 0:
        return 0.0, 0.0, 0.0
    n = nodes_needed(terms)
    m = 0.0
    f = 0.0
    g = 0.0
    for k in range(n):
        z = a + (b - a) * NODES[n, k]
        w = (b - a) * WEIGHTS[n, k] * polynomial_at(z, p, terms)
        m += w
        f += w * z
        g += w * (z - about) * (z - about)
    return m, f, g


@inner
def choose_log_scale(terms, memory):
    """0 where the density is within reach of doubles somewhere on the interval, else its log."""
    if terms.constant > 0.0 or terms.coefficients.shape[0] > 0 or terms.weights.shape[0] == 0:
        return 0.0
    top = -np.inf
    for k in range(terms.weights.shape[0]):
        top = larger(top, memory[k, TOP])
    return top if top < SAFE_EXPONENT else 0.0


@inner
def interval_moments(a, a_low, b, b_low, p, terms, memory):
    """(log_scale, mass, centroid seen from p, second moment about it) over p + [a, b].

    Mass and second moment come divided by exp(log_scale).
    """
    count = terms.weights.shape[0]
    for k in range(count):
        q = terms.forms[k, 0, 0]
        center, low = difference(terms.centers[k, 0], p)
        top, lost, m, c, g = gaussian_interval(
            a, a_low, b, b_low, center, low, q, terms.roots[k, 0, 0]
        )
        memory[k, TOP] = top
        memory[k, LOST] = lost
        memory[k, MASS] = m
        memory[k, CENTROID] = c
        memory[k, SECOND] = g
    log_scale = choose_log_scale(terms, memory)
    m, f, _ = smooth_part(a, b, p, terms, 0.0)
    for k in range(count):
        weight = terms.weights[k] * exponential(memory[k, TOP] - log_scale)
        weight *= exponential(memory[k, LOST])
        memory[k, MASS] *= weight
        memory[k, SECOND] *= weight
        m += memory[k, MASS]
        f += memory[k, MASS] * memory[k, CENTROID]
    if not m > 0.0:
        return log_scale, 0.0, 0.0, 0.0
    e = f / m
    _, _, second = smooth_part(a, b, p, terms, e)
    for k in range(count):
        shift = memory[k, CENTROID] - e
        second += memory[k, SECOND] + memory[k, MASS] * shift * shift
    return log_scale, m, e, second


@inner
def density_at(z, p, log_scale, terms):
    """The density at p + z, divided by exp(log_scale)."""
    total = polynomial_at(z, p, terms)
    for k in range(terms.weights.shape[0]):
        u = terms.roots[k, 0, 0] * (z - (terms.centers[k, 0] - p))
        total += terms.weights[k] * exponential(-u * u - log_scale)
    return total


@njit
def moments_of(a, b, p, terms, memory):
    """For Python: see `interval_moments`."""
    return interval_moments(a, 0.0, b, 0.0, p, terms, memory)
