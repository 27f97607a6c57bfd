"""How wide a dual guaranteed cell is, and how deep a point lies in a guaranteed one.

Sheets and edges of a dual cell curve inwards: the tangents of each lie in the cell. So its hull is
that of its corners, which tell the diameter and the smallest ball.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import smaller
from dwell._kernels.polygon.guaranteed_shape import branch_distance

ROUND = 1e-13  # a ball is not enlarged for less than this share of its squared radius
MAX_STEPS = 200
MARGIN = 1.0 + 1e-12  # corners are known to rounding only; sizes must not come out too small


class BallBuffers(NamedTuple):
    """Working memory for the smallest ball round some points."""

    on: np.ndarray  # (8,) points on it
    some: np.ndarray  # (8,)
    table: np.ndarray  # (3, 4) a system of equations


def make_ball_buffers() -> BallBuffers:
    """Working memory for `extent`."""
    return BallBuffers(np.empty(8, np.int64), np.empty(8, np.int64), np.empty((3, 4)))


@inner
def squared_gap(a, b):
    """Squared distance of two points."""
    x = a[0] - b[0]
    y = a[1] - b[1]
    z = a[2] - b[2]
    return x * x + y * y + z * z


@inner
def widest_pair(n, points):
    """Two of n points as far apart as any: (i, j, squared distance)."""
    best = 0.0
    first = second = 0
    for i in range(n):
        for j in range(i):
            d2 = squared_gap(points[i], points[j])
            if d2 > best:
                best = d2
                first = j
                second = i
    return first, second, best


@inner
def farthest_from(x, y, z, n, points):
    """The point farthest from (x, y, z), and its squared distance."""
    best = -1.0
    far = 0
    for k in range(n):
        a = points[k, 0] - x
        b = points[k, 1] - y
        c = points[k, 2] - z
        d2 = a * a + b * b + c * c
        if d2 > best:
            best = d2
            far = k
    return far, best


@inner
def ball_on(count, on, points, table):
    """Smallest ball with `count` points (2, 3 or 4) on its surface: (x, y, z, squared radius).

    Its centre is the first point plus a combination of the differences to the others; the squared
    radius is infinite where these are not independent. table: memory for a 3 x 4 system.
    """
    m = count - 1
    o = points[on[0]]
    for r in range(m):
        a = points[on[r + 1]]
        for s in range(m):
            b = points[on[s + 1]]
            table[r, s] = (
                (a[0] - o[0]) * (b[0] - o[0])
                + (a[1] - o[1]) * (b[1] - o[1])
                + (a[2] - o[2]) * (b[2] - o[2])
            )
        table[r, 3] = 0.5 * table[r, r]
    for r in range(m):  # Gauss without pivots: the matrix is positive definite, or of no use
        if not table[r, r] > 0.0:
            return 0.0, 0.0, 0.0, np.inf
        for s in range(r + 1, m):
            part = table[s, r] / table[r, r]
            for c in range(r, m):
                table[s, c] -= part * table[r, c]
            table[s, 3] -= part * table[r, 3]
    x = y = z = 0.0
    for r in range(m - 1, -1, -1):
        for c in range(r + 1, m):
            table[r, 3] -= table[r, c] * table[c, 3]
        table[r, 3] /= table[r, r]
        a = points[on[r + 1]]
        x += table[r, 3] * (a[0] - o[0])
        y += table[r, 3] * (a[1] - o[1])
        z += table[r, 3] * (a[2] - o[2])
    return o[0] + x, o[1] + y, o[2] + z, x * x + y * y + z * z


@inner
def holds(count, on, ball, points):
    """Whether none of the points lies clearly outside the ball."""
    for k in range(count):
        x = points[on[k], 0] - ball[0]
        y = points[on[k], 1] - ball[1]
        z = points[on[k], 2] - ball[2]
        if x * x + y * y + z * z > ball[3] * (1.0 + ROUND):
            return False
    return True


@inner
def enlarged(count, on, points, some, table):
    """Smallest ball round the points on[0..count], the last of which lies on it.

    Gives (how many of them lie on it, ball); they come first in `on` then. 0: none was found.
    """
    best = (0.0, 0.0, 0.0, np.inf)
    chosen = 0
    for mask in range(1, 2**count):
        size = 0
        for k in range(count):
            if mask >> k & 1:
                some[size] = on[k]
                size += 1
        if size > 3:
            continue
        some[size] = on[count]
        ball = ball_on(size + 1, some, points, table)
        if ball[3] < best[3] and holds(count + 1, on, ball, points):
            best = ball
            chosen = mask
    if chosen == 0:
        return 0, best
    size = 0
    for k in range(count):
        if chosen >> k & 1:
            on[size] = on[k]
            size += 1
    on[size] = on[count]
    return size + 1, best


@inner
def smallest_ball(first, second, n, points, buffers):
    """A ball round n points, the smallest up to rounding: (x, y, z, squared radius).

    It grows: it starts from the two points farthest apart, and the point farthest outside
    comes to lie on it. The radius is the distance of the farthest point: it holds all of them.
    """
    on, some, table = buffers.on, buffers.some, buffers.table
    on[0] = first
    on[1] = second
    count = 2
    ball = ball_on(2, on, points, table)
    for _ in range(MAX_STEPS):
        far, d2 = farthest_from(ball[0], ball[1], ball[2], n, points)
        if d2 <= ball[3] * (1.0 + ROUND):
            break
        on[count] = far
        size, more = enlarged(count, on, points, some, table)
        if size == 0 or not more[3] > ball[3]:
            break
        count = size
        ball = more
    far, d2 = farthest_from(ball[0], ball[1], ball[2], n, points)
    return ball[0], ball[1], ball[2], d2


@inner
def extent(n, points, buffers):
    """(diameter, radius of the smallest ball) of n points, rounded up."""
    if n == 0:
        return 0.0, 0.0
    i, j, widest = widest_pair(n, points)
    if not widest > 0.0:
        return 0.0, 0.0
    ball = smallest_ball(i, j, n, points, buffers)
    return MARGIN * math.sqrt(widest), MARGIN * math.sqrt(ball[3])


@inner
def agent_gap(sign, z, d, r, best):
    """Distance of z from the sheet of the agent near d, if less than `best`; <= 0 outside.

    The sheet is a hyperbola turned about the axis through the agent and d: a matter of one plane.
    The constraint changes at most twice as fast as z moves, which is enough to dismiss most.
    """
    own2 = z[0] * z[0] + z[1] * z[1] + z[2] * z[2]
    far2 = squared_gap(z, d)
    slack = 0.5 * (math.sqrt(far2) - math.sqrt(own2) - sign * r)
    if slack <= 0.0 or slack >= best:
        return smaller(slack, best)
    apart = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    ux, uy, uz = d[0] / apart, d[1] / apart, d[2] / apart
    f = 0.5 * apart
    a = 0.5 * r
    b = math.sqrt((f - a) * (f + a))
    x = z[0] * ux + z[1] * uy + z[2] * uz
    cx = z[1] * uz - z[2] * uy
    cy = z[2] * ux - z[0] * uz
    cz = z[0] * uy - z[1] * ux
    y = math.sqrt(cx * cx + cy * cy + cz * cz)
    return smaller(best, branch_distance(sign * a, b, f, x - f, y))


@inner
def gap_to_boundary(sign, z, p, n, q, radius, normals, offsets):
    """Distance of z (relative to p) from the boundary of the cell; <= 0 outside it.

    The outside is a union, of what each flat side and each agent takes away: the nearest of these.
    """
    best = np.inf
    for w in range(offsets.shape[0]):
        x, y, c = normals[w]
        gap = offsets[w] - (x * p[0] + y * p[1] + c * p[2])
        best = smaller(best, gap - (z[0] * x + z[1] * y + z[2] * c))
    for j in range(n):
        d = (q[j, 0] - p[0], q[j, 1] - p[1], q[j, 2] - p[2])
        r = radius[j]
        apart = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        if apart > r:
            best = agent_gap(sign, z, d, r, best)
        elif sign > 0.0:
            return smaller(0.0, -0.5 * (r - apart))
    return best
