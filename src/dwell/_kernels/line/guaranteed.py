"""Guaranteed and dual guaranteed cells on the line, and their moments."""

from dwell._kernels._jit import njit
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.line.moments import interval_moments

OK, EMPTY, OUTSIDE = 0, 1, 2
GUARANTEED, DUAL = 1.0, -1.0
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell


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
