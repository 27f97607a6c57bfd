"""What an agent on the line gets from one look."""

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.status import NO_MASS
from dwell._kernels.line.moments import interval_moments


@inner
def weigh(a, a_low, b, b_low, x, lower, upper, terms, memory):
    """(status, error, log_scale, mass, second moment about the centroid) of the agent at x.

    Its cell is [a, b] seen from it; see cells.py. The status is 0 or NO_MASS: then the agent is
    told the nearest point of the workspace.
    """
    log_scale = m = e = second = 0.0
    if a < b:
        log_scale, m, e, second = interval_moments(a, a_low, b, b_low, x, terms, memory)
    if m > 0.0:
        return 0, e, log_scale, m, second
    return NO_MASS, smaller(larger(x, lower), upper) - x, 0.0, 0.0, 0.0
