"""Cells on the line: the interval between an agent and its neighbours, and its measurement.

Everything is relative to the agent. Labels: 0 and more is an agent, -1 the lower end of the
workspace, -2 the upper end.
"""

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import difference, larger, smaller
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.line.moments import density_at, interval_moments

NONE = -1  # as a neighbour: there is none on that side
LOWER_END, UPPER_END = -1, -2
# Columns of the table of measurements. A and B are the ends of the cell, relative to the agent;
# behind them lie LABEL_A and LABEL_B, where the density is AT_A and AT_B, divided like the mass.
(
    STATUS, ERROR, LOG_SCALE, MASS, POLAR, SECOND, NEAREST, A, B, LABEL_A, LABEL_B, AT_A, AT_B,
) = range(13)  # fmt: skip
COLUMNS = 13


@njit
def scan(lo, hi, row, agent, x, left, right):
    """Find the nearest agent below agent[k] (or at its position) and the nearest above; k = lo..hi.

    For few measurements of a configuration; where they are many, sorting is quicker.
    """
    for k in range(lo, hi):
        xs = x[row[k]]
        p = agent[k]
        below = NONE
        above = NONE
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
    label_a = LOWER_END
    label_b = UPPER_END
    nearest = -1.0
    if left != NONE:
        gap, low = difference(xs[left], xs[p])
        nearest = gap * gap
        if 0.5 * gap > a:
            a = 0.5 * gap
            a_low = 0.5 * low
            label_a = left
    if right != NONE:
        gap, low = difference(xs[right], xs[p])
        if nearest < 0.0 or gap * gap < nearest:
            nearest = gap * gap
        if 0.5 * gap < b:
            b = 0.5 * gap
            b_low = 0.5 * low
            label_b = right
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


@njit
def measure_many(lo, hi, row, agent, x, left, right, lower, upper, terms, memory, out):
    """Measure the cells of agent[k] in configuration row[k] of x, between left[k] and right[k]."""
    for k in range(lo, hi):
        xs = x[row[k]]
        p = agent[k]
        a, a_low, b, b_low, label_a, label_b, nearest = interval(
            p, xs, left[k], right[k], lower, upper
        )
        for c in range(COLUMNS):
            out[k, c] = 0.0
        out[k, NEAREST] = nearest
        if nearest == 0.0:
            out[k, STATUS] = COINCIDENT
            continue
        out[k, LABEL_A] = label_a
        out[k, LABEL_B] = label_b
        if a < b:
            out[k, A] = a
            out[k, B] = b
        status, e, log_scale, m, second = integrate_cell(
            a, a_low, b, b_low, xs[p], lower, upper, terms, memory
        )
        out[k, STATUS] = status
        out[k, ERROR] = e
        if status != NO_MASS:
            out[k, LOG_SCALE] = log_scale
            out[k, MASS] = m
            out[k, SECOND] = second
            out[k, POLAR] = second + m * e * e
            out[k, AT_A] = density_at(a, xs[p], log_scale, terms)
            out[k, AT_B] = density_at(b, xs[p], log_scale, terms)
