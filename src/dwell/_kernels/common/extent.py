"""Diameter and smallest ball of some points; distance of a point from the sheet of an agent.

For cells of polygons and, as they have a third coordinate, for all others.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.algebra import ZERO, along, cross, dot, less, row_of, scaled
from dwell._kernels.common.arithmetic import larger, smaller

ROUND_IN_PLANE = 1e-14  # a ball is not enlarged for less than this share of its squared radius
ROUND_IN_SPACE = 1e-13
# Which of the points on a ball stay on it when one more comes to lie on it; -1: none.
IN_PLANE = np.array(
    [(0, -1, -1), (0, 1, -1), (1, -1, -1), (1, 2, -1), (2, -1, -1), (2, 0, -1)]
)  # fmt: skip
IN_SPACE = np.array(
    [(0, -1, -1), (1, -1, -1), (0, 1, -1), (2, -1, -1), (0, 2, -1), (1, 2, -1), (0, 1, 2),
     (3, -1, -1), (0, 3, -1), (1, 3, -1), (0, 1, 3), (2, 3, -1), (0, 2, 3), (1, 2, 3)]
)  # fmt: skip
CLOSE = 1e-9  # a Newton step this small, relative, leaves an error of its square
MAX_STEPS = 100


class BallBuffers(NamedTuple):
    """Working memory for the smallest ball round some points."""

    on: np.ndarray  # (5,) points on it, and one more
    some: np.ndarray  # (5,) those of them that stay on the next one
    table: np.ndarray  # (3, 4) a system of equations


def make_ball_buffers() -> BallBuffers:
    """Working memory for `smallest_ball`."""
    return BallBuffers(np.zeros(5, np.int64), np.zeros(5, np.int64), np.zeros((3, 4)))


@inner
def squared_gap(u, k, points):
    """Squared distance of u from point k."""
    d = less(row_of(points, k, 0), u)
    return dot(d, d)


@inner
def widest_pair(n, points):
    """Two of n points as far apart as any: (i, j, squared distance)."""
    best = 0.0
    first = second = 0
    for i in range(n):
        for j in range(i):
            d2 = squared_gap(row_of(points, i, 0), j, points)
            if d2 > best:
                best, first, second = d2, j, i
    return first, second, best


@inner
def farthest_from(u, n, points):
    """The point farthest from u, and its squared distance."""
    best = -1.0
    far = 0
    for k in range(n):
        d2 = squared_gap(u, k, points)
        if d2 > best:
            best, far = d2, k
    return far, best


@inner
def circle_on(count, on, points):
    """`ball_on` in the plane, for two or three points."""
    o = row_of(points, on[0], 0)
    if count == 2:
        c = scaled(0.5, along(o, 1.0, row_of(points, on[1], 0)))
        d = less(o, c)
        return c, dot(d, d)
    a = less(row_of(points, on[1], 0), o)
    b = less(row_of(points, on[2], 0), o)
    twice = 2.0 * (a[0] * b[1] - a[1] * b[0])
    if twice == 0.0:
        return ZERO, np.inf
    a2 = dot(a, a)
    b2 = dot(b, b)
    c = ((b[1] * a2 - a[1] * b2) / twice, (a[0] * b2 - b[0] * a2) / twice, 0.0)
    return along(o, 1.0, c), dot(c, c)


@inner
def ball_on(count, on, points, table):
    """Smallest ball with `count` points (2, 3 or 4) on its surface: (center, squared radius).

    Its center is the first point plus a combination of the differences to the others; the squared
    radius is infinite where these are not independent. table: memory for a 3 x 4 system.
    """
    m = count - 1
    o = row_of(points, on[0], 0)
    for r in range(m):
        a = less(row_of(points, on[r + 1], 0), o)
        for s in range(m):
            table[r, s] = dot(a, less(row_of(points, on[s + 1], 0), o))
        table[r, 3] = 0.5 * table[r, r]
    for r in range(m):  # Gauss without pivots: the matrix is positive definite, or of no use
        if not table[r, r] > 0.0:
            return ZERO, np.inf
        for s in range(r + 1, m):
            part = table[s, r] / table[r, r]
            for c in range(r, m):
                table[s, c] -= part * table[r, c]
            table[s, 3] -= part * table[r, 3]
    d = ZERO
    for r in range(m - 1, -1, -1):
        for c in range(r + 1, m):
            table[r, 3] -= table[r, c] * table[c, 3]
        table[r, 3] /= table[r, r]
        d = along(d, table[r, 3], less(row_of(points, on[r + 1], 0), o))
    return along(o, 1.0, d), dot(d, d)


@inner
def enlarged(count, planar, points, memory):
    """Smallest ball round the points on[0..count] of the memory, the last of which lies on it.

    Gives (how many of them lie on it, ball); they come first in `on` then. 0: none was found.
    """
    on, some, table = memory
    best = (ZERO, np.inf)
    best_on = (0, 0, 0, 0)
    found = 0
    limit = 1.0 + (ROUND_IN_PLANE if planar else ROUND_IN_SPACE)
    for kept in IN_PLANE if planar else IN_SPACE:
        if max(kept[0], kept[1], kept[2]) >= count:
            continue
        size = 0
        while size < 3 and kept[size] >= 0:
            some[size] = on[kept[size]]
            size += 1
        some[size] = on[count]
        size += 1
        ball = circle_on(size, some, points) if planar else ball_on(size, some, points, table)
        holds = ball[1] < best[1]
        for k in range(count):
            if holds and k != kept[0] and k != kept[1] and k != kept[2]:
                holds = squared_gap(ball[0], on[k], points) <= ball[1] * limit
        if holds:
            best = ball
            found = size
            best_on = (some[0], some[1], some[2], some[3])
    for k in range(found):
        on[k] = best_on[k]
    return found, best


@inner
def smallest_ball(first, second, planar, n, points, memory):
    """Smallest ball round n points, two farthest apart of which are known: (center, radius**2).

    The ball grows: it starts from these two, and the point farthest outside comes to lie on it.
    Each step enlarges it, so no set of points comes back.
    """
    on = memory.on
    on[0] = first
    on[1] = second
    count = 2
    ball = circle_on(2, on, points) if planar else ball_on(2, on, points, memory.table)
    for _ in range(MAX_STEPS):
        far, d2 = farthest_from(ball[0], n, points)
        if d2 <= ball[1] * (1.0 + (ROUND_IN_PLANE if planar else ROUND_IN_SPACE)):
            break
        on[count] = far
        size, more = enlarged(count, planar, points, memory)
        if size == 0 or not more[1] > ball[1]:
            break
        count = size
        ball = more
    return ball


@njit
def circle_round(n, points, memory):
    """(diameter, circle's x, y and radius) of n points of the plane and the circle round them."""
    i, j, widest = widest_pair(n, points)
    center, squared = smallest_ball(i, j, True, n, points, memory)
    return math.sqrt(widest), center[0], center[1], math.sqrt(squared)


@inner
def branch_distance(a, b, f, x, y):
    """Distance of (x, y) from the branch (-a sqrt(1 + w**2), b w); f**2 = a**2 + b**2.

    For points on the side of the branch that holds its foot point: x <= 0 and inside the branch
    (a >= 0), or anywhere outside it (a <= 0). By symmetry y >= 0 and w >= 0. The foot is the last
    root of G(w) = f**2 w + a x w / sqrt(1 + w**2) - b y. Where a x <= 0, G is convex: Newton's
    method from the right never steps over the root. Else G rises and is concave: from the left.
    """
    y = abs(y)
    pull = -a * x
    w = 0.0
    if pull > 0.0:
        w = (pull + b * y) / (f * f)
    for _ in range(MAX_STEPS):
        s = math.sqrt(1.0 + w * w)
        slope = f * f - pull / (s * s * s)
        if slope <= 0.0:  # the root is threefold, and w has reached it
            break
        step = (f * f * w - pull * w / s - b * y) / slope
        w = larger(0.0, w - step)
        if abs(step) <= CLOSE * (1.0 + w):
            break
    s = math.sqrt(1.0 + w * w)
    dx = -a * s - x
    dy = b * w - y
    return math.sqrt(dx * dx + dy * dy)


@inner
def sheet_gap(sign, z, d, r, best):
    """Distance of z from the sheet of the agent near d, if less than `best`; <= 0 outside.

    The sheet is a hyperbola turned about the axis through p and d: a matter of one plane. The
    constraint changes at most twice as fast as z moves, which is enough to dismiss most agents.
    """
    away = less(z, d)
    slack = 0.5 * (math.sqrt(dot(away, away)) - math.sqrt(dot(z, z)) - sign * r)
    if slack <= 0.0 or slack >= best:
        return smaller(slack, best)
    apart = math.sqrt(dot(d, d))
    f = 0.5 * apart
    a = 0.5 * r
    b = math.sqrt(larger(0.0, (f - a) * (f + a)))
    c = cross(z, d)
    x = dot(z, d) / apart - f
    return smaller(best, branch_distance(sign * a, b, f, x, math.sqrt(dot(c, c)) / apart))
