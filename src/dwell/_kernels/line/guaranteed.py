"""Guaranteed and dual guaranteed cells on the line, and their moments."""

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.line.moments import interval_moments

OK, EMPTY, OUTSIDE = 0, 1, 2
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell


@inner
def ends_of(sign, p, n, q, radius, lower, upper):
    """Ends of the cell relative to p (sign -1: guaranteed, 1: dual), and whether it is empty."""
    a = smaller(lower - p, 0.0)
    b = larger(upper - p, 0.0)
    empty = False
    for j in range(n):
        d = q[j] - p
        if abs(d) <= radius[j]:
            empty = True
        elif d > 0.0:
            b = smaller(b, 0.5 * (d + sign * radius[j]))
        else:
            a = larger(a, 0.5 * (d - sign * radius[j]))
    return a, b, empty


@njit
def guaranteed_pair(p, n, q, radius, lower, upper, terms, memory):
    """(status, share, centroid, depth, length) of the agent at p among n others within radius[j].

    share: mass of the guaranteed cell over that of the dual one. The centroid of the guaranteed
    cell is relative to the agent, depth its distance from that cell's ends; length: of the dual.
    """
    if larger(lower - p, p - upper) > BEYOND * (upper - lower):
        return OUTSIDE, 0.0, 0.0, 0.0, 0.0
    a, b, empty = ends_of(-1.0, p, n, q, radius, lower, upper)
    if empty:
        return EMPTY, 0.0, 0.0, 0.0, 0.0
    scale, mass, e, _ = interval_moments(a, 0.0, b, 0.0, p, terms, memory)
    if not mass > 0.0:
        return EMPTY, 0.0, 0.0, 0.0, 0.0
    depth = smaller(e - a, b - e)
    a, b, _ = ends_of(1.0, p, n, q, radius, lower, upper)
    more, dual, _, _ = interval_moments(a, 0.0, b, 0.0, p, terms, memory)
    return OK, mass / dual * exponential(scale - more), e, depth, b - a
