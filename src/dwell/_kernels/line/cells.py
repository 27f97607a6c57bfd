"""Cells on the line, Voronoi and guaranteed: moments of a density over an interval, to rounding.

The cell is the interval between an agent and its neighbours, relative to the agent. Labels: 0 and
more is an agent, -1 the lower end of the workspace, -2 the upper end, -3 the end of the agent's
range.

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
from dwell._kernels.common.cell_table import (
    E0,
    LOG_SCALE,
    MASS,
    NEAREST,
    NEIGHBORS,
    POLAR,
    SECOND,
    STATUS,
    WIDTH,
)
from dwell._kernels.common.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS
from dwell._kernels.common.status import COINCIDENT, NO_MASS

DROP = 45.0  # exponents below the largest that are followed: exp(-45) is 3e-20
PANEL_DROP = 8.0
PANEL_WIDTH = 2.0  # in units of 1 / sqrt(rate)
SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
MEMORY = 5  # columns of the memory, one row per Gaussian: what `gaussian_interval` returns
WEIGHT, PLACE, SPREAD = 2, 3, 4  # ... of which these are mass, centroid and second moment
NONE = -1  # as a neighbour: there is none on that side
LOWER_END, UPPER_END = -1, -2
RANGE_END = -3  # as a label: the end of an agent's own range
# Further columns of the table of measurements. A and B are the ends of the cell, relative to the
# agent; behind them lie LABEL_A and LABEL_B, where the density is AT_A and AT_B, divided like the
# mass.
A, B, LABEL_A, LABEL_B, AT_A, AT_B = range(WIDTH, WIDTH + 6)
COLUMNS = WIDTH + 6

OK, EMPTY, OUTSIDE = 0, 1, 2  # of guaranteed cells
GUARANTEED, DUAL = 1.0, -1.0
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell


@inner
def outward(s, near, reach):
    """Integrals of 1, t, t**2 times exp(-s t (2 near + s t)) for t from 0 to `reach`, near >= 0."""
    # The t at which the exponent has fallen by DROP; written so that it does not cancel.
    end = smaller(reach, DROP / (near + math.sqrt(near * near + DROP)) / s)
    m = f = g = t = 0.0
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
    top = lost = 0.0
    if center <= a:
        d, low = difference(a, center)
        top, lost = exponent(q, d, low + (a_low - center_low))
        m, f, g = outward(s, s * d, b - a)
        centroid = a + f / m
    elif center >= b:
        d, low = difference(center, b)
        top, lost = exponent(q, d, low + (center_low - b_low))
        m, f, g = outward(s, s * d, b - a)
        centroid = b - f / m
    else:
        m, f, g = outward(s, 0.0, b - center)
        n, e, h = outward(s, 0.0, center - a)
        m, f, g = m + n, f - e, g + h
        centroid = center + f / m
    return top, lost, m, centroid, larger(0.0, g - f / m * f)


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
def smooth_part(a, b, p, terms, about):
    """Integrals of 1, z and (z - about)**2 times the polynomial part, exactly."""
    if terms.constant == 0.0 and terms.coefficients.shape[0] == 0:
        return 0.0, 0.0, 0.0
    degree = 0
    for k in range(terms.powers.shape[0]):
        degree = larger(degree, terms.powers[k, 0])
    n = (degree + 4) // 2
    m = f = g = 0.0
    for k in range(n):
        z = a + (b - a) * NODES[n, k]
        w = (b - a) * WEIGHTS[n, k] * polynomial_at(z, p, terms)
        m += w
        f += w * z
        g += w * (z - about) * (z - about)
    return m, f, g


@inner
def interval_moments(a, a_low, b, b_low, p, terms, memory):
    """(log_scale, mass, centroid seen from p, second moment about it) over p + [a, b].

    Mass and second moment come divided by exp(log_scale), which is 1 where the density is within
    reach of doubles somewhere on the interval.
    """
    count = terms.weights.shape[0]
    top = -np.inf
    for k in range(count):
        center, low = difference(terms.centers[k, 0], p)
        q, s = terms.forms[k, 0, 0], terms.roots[k, 0, 0]
        found = gaussian_interval(a, a_low, b, b_low, center, low, q, s)
        top = larger(top, found[0])
        for i in range(MEMORY):
            memory[k, i] = found[i]
    plain = terms.constant > 0.0 or terms.coefficients.shape[0] > 0
    log_scale = top if count > 0 and top < SAFE_EXPONENT and not plain else 0.0
    m, f, _ = smooth_part(a, b, p, terms, 0.0)
    for k in range(count):
        weight = (
            terms.weights[k] * exponential(memory[k, 0] - log_scale) * exponential(memory[k, 1])
        )
        memory[k, WEIGHT] *= weight
        memory[k, SPREAD] *= weight
        m += memory[k, WEIGHT]
        f += memory[k, WEIGHT] * memory[k, PLACE]
    if not m > 0.0:
        return log_scale, 0.0, 0.0, 0.0
    e = f / m
    _, _, second = smooth_part(a, b, p, terms, e)
    for k in range(count):
        shift = memory[k, PLACE] - e
        second += memory[k, SPREAD] + memory[k, WEIGHT] * shift * shift
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


@njit
def scan(lo, hi, row, agent, x, left, right):
    """Find the nearest agent below agent[k] (or at its position) and the nearest above; k = lo..hi.

    For few measurements of a configuration; where they are many, sorting is quicker.
    """
    for k in range(lo, hi):
        xs = x[row[k]]
        p = agent[k]
        below = above = NONE
        for q in range(xs.shape[0]):
            if q == p:
                continue
            if xs[q] <= xs[p]:
                if below == NONE or xs[q] > xs[below]:
                    below = q
            elif above == NONE or xs[q] < xs[above]:
                above = q
        left[k] = below
        right[k] = above


@inner
def interval(p, xs, left, right, lower, upper):
    """(a, its rounding, b, its rounding, label at a, label at b, squared distance of the nearest).

    The cell of agent p is [a, b] relative to it; it is empty unless a < b. The distance is -1 if
    there is no other agent, and 0 where another agent is at the same position.
    """
    a, a_low = difference(lower, xs[p])
    b, b_low = difference(upper, xs[p])
    label_a, label_b, nearest = LOWER_END, UPPER_END, -1.0
    if left != NONE:
        gap, low = difference(xs[left], xs[p])
        nearest = gap * gap
        if 0.5 * gap > a:
            a, a_low, label_a = 0.5 * gap, 0.5 * low, left
    if right != NONE:
        gap, low = difference(xs[right], xs[p])
        if nearest < 0.0 or gap * gap < nearest:
            nearest = gap * gap
        if 0.5 * gap < b:
            b, b_low, label_b = 0.5 * gap, 0.5 * low, right
    return a, a_low, b, b_low, label_a, label_b, nearest


@inner
def power_interval(p, xs, radius, weight, lower, upper):
    """The power cell of agent p, within its radius: see `interval`.

    The weights are the squares of the radii; others are given where all radii are infinite.
    """
    a, a_low, b, b_low, label_a, label_b, nearest = interval(p, xs, NONE, NONE, lower, upper)
    for q in range(xs.shape[0]):
        if q == p:
            continue
        gap, low = difference(xs[q], xs[p])
        nearest = gap * gap if nearest < 0.0 or gap * gap < nearest else nearest
        if gap == 0.0:
            continue
        if weight.shape[0] > 0:
            more = weight[p] - weight[q]
        else:
            more = (radius[p] - radius[q]) * (radius[p] + radius[q])
        end, low = 0.5 * (gap + more / gap), 0.5 * low if more == 0.0 else 0.0
        if gap < 0.0 and end > a:
            a, a_low, label_a = end, low, q
        if gap > 0.0 and end < b:
            b, b_low, label_b = end, low, q
    if -radius[p] > a:
        a, a_low, label_a = -radius[p], 0.0, RANGE_END
    if radius[p] < b:
        b, b_low, label_b = radius[p], 0.0, RANGE_END
    return a, a_low, b, b_low, label_a, label_b, nearest


@inner
def integrate_cell(a, a_low, b, b_low, x, lower, upper, terms, memory):
    """(status, error, log_scale, mass, second moment about the centroid) of the agent at x.

    Its cell is [a, b] relative to it. The status is 0 or NO_MASS: the error then leads to the
    nearest point of the workspace.
    """
    log_scale = m = e = second = 0.0
    if a < b:
        log_scale, m, e, second = interval_moments(a, a_low, b, b_low, x, terms, memory)
    if m > 0.0:
        return 0, e, log_scale, m, second
    return NO_MASS, smaller(larger(x, lower), upper) - x, 0.0, 0.0, 0.0


@inner
def put_row(k, x, ends, lower, upper, terms, memory, out):
    """Measure the cell with these ends of the agent at x into row k of `out`."""
    a, a_low, b, b_low, label_a, label_b, nearest = ends
    out[k, :] = 0.0
    out[k, NEAREST] = nearest
    if nearest == 0.0:
        out[k, STATUS] = COINCIDENT
        return
    out[k, LABEL_A], out[k, LABEL_B] = label_a, label_b
    if a < b:
        out[k, A], out[k, B] = a, b
        out[k, NEIGHBORS] = (label_a >= 0) + (label_b >= 0)
    status, e, log_scale, m, second = integrate_cell(
        a, a_low, b, b_low, x, lower, upper, terms, memory
    )
    out[k, STATUS], out[k, E0] = status, e
    if status != NO_MASS:
        out[k, LOG_SCALE], out[k, MASS], out[k, SECOND] = log_scale, m, second
        out[k, POLAR] = second + m * e * e
        out[k, AT_A] = density_at(a, x, log_scale, terms)
        out[k, AT_B] = density_at(b, x, log_scale, terms)


@njit
def measure_many(lo, hi, row, agent, x, left, right, lower, upper, terms, memory, out):
    """Measure the cells of agent[k] in configuration row[k] of x, between left[k] and right[k]."""
    for k in range(lo, hi):
        xs = x[row[k]]
        ends = interval(agent[k], xs, left[k], right[k], lower, upper)
        put_row(k, xs[agent[k]], ends, lower, upper, terms, memory, out)


@njit
def measure_power(lo, hi, row, agent, x, radius, weight, lower, upper, terms, memory, out):
    """Measure the power cells of agent[k] in configuration row[k] of x."""
    for k in range(lo, hi):
        xs = x[row[k]]
        ends = power_interval(agent[k], xs, radius, weight, lower, upper)
        put_row(k, xs[agent[k]], ends, lower, upper, terms, memory, out)


@njit
def ends_of(sign, p, n, q, radius, lower, upper):
    """Ends of one cell relative to p, what bounds each, and whether an agent may be at p.

    Bounded by agent j, or by end -1 - k of the workspace.
    """
    a = smaller(lower - p, 0.0)
    b = larger(upper - p, 0.0)
    below, above = -1, -2
    occupied = False
    for j in range(n):
        d = q[j] - p
        reach = 0.5 * (abs(d) - sign * radius[j])
        if abs(d) <= radius[j]:
            occupied = True
        elif d > 0.0 and reach < b:
            b, above = reach, j
        elif d < 0.0 and -reach > a:
            a, below = -reach, j
    return (a, b), (below, above), occupied


@njit
def guaranteed_pair(p, n, q, radius, lower, upper, terms, memory):
    """(status, share, centroid, depth, length) of the agent at p among n others within radius[j].

    share: mass of the guaranteed cell over that of the dual one. The centroid of the guaranteed
    cell is relative to the agent, depth its distance from that cell's ends; length: of the dual.
    """
    if larger(lower - p, p - upper) > BEYOND * (upper - lower):
        return OUTSIDE, 0.0, 0.0, 0.0, 0.0
    (a, b), _, occupied = ends_of(GUARANTEED, p, n, q, radius, lower, upper)
    if occupied:
        return EMPTY, 0.0, 0.0, 0.0, 0.0
    scale, mass, e, _ = interval_moments(a, 0.0, b, 0.0, p, terms, memory)
    if not mass > 0.0:
        return EMPTY, 0.0, 0.0, 0.0, 0.0
    depth = smaller(e - a, b - e)
    (a, b), _, _ = ends_of(DUAL, p, n, q, radius, lower, upper)
    more, dual, _, _ = interval_moments(a, 0.0, b, 0.0, p, terms, memory)
    return OK, mass / dual * exponential(scale - more), e, depth, b - a
