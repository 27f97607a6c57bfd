"""Where Python enters: many looks at once."""

from dwell._kernels._jit import njit
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.line.cell_measurement import weigh
from dwell._kernels.line.cells import interval
from dwell._kernels.line.moments import density_at

# Columns of what `look_many` gives. A and B are the ends of the cell, seen from the agent; behind
# them lie LABEL_A and LABEL_B, where the density is AT_A and AT_B, divided like the mass.
(
    STATUS, ERROR, LOG_SCALE, MASS, POLAR, SECOND, NEAREST, A, B, LABEL_A, LABEL_B, AT_A, AT_B,
) = range(13)  # fmt: skip
COLUMNS = 13


@njit
def look_many(lo, hi, row, agent, x, left, right, lower, upper, terms, memory, out):
    """Looks lo..hi: agent[k] looks in configuration row[k] of x, between left[k] and right[k]."""
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
        status, e, log_scale, m, second = weigh(
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
