"""Diameter and circumradius of a dual guaranteed cell; depth of a point in a guaranteed one."""

import math

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.polygon.guaranteed_workspace import edge_of

ROUND = 1e-14  # a circle is not enlarged for less than this share of its radius
CLOSE = 1e-9  # a Newton step this small, relative, leaves an error of its square
MAX_STEPS = 100


@inner
def widest_pair(n, x, y):
    """Two of n points as far apart as any: (i, j, squared distance)."""
    best = 0.0
    first = second = 0
    for i in range(n):
        for j in range(i):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            d2 = dx * dx + dy * dy
            if d2 > best:
                best = d2
                first = j
                second = i
    return first, second, best


@inner
def circle_of_two(i, j, x, y):
    """Smallest circle through two points: centre and squared radius."""
    cx = 0.5 * (x[i] + x[j])
    cy = 0.5 * (y[i] + y[j])
    return cx, cy, (x[i] - cx) * (x[i] - cx) + (y[i] - cy) * (y[i] - cy)


@inner
def circle_of_three(i, j, k, x, y):
    """Circle through three points; its squared radius is infinite when they are on one line."""
    ax = x[j] - x[i]
    ay = y[j] - y[i]
    bx = x[k] - x[i]
    by = y[k] - y[i]
    twice = 2.0 * (ax * by - ay * bx)
    if twice == 0.0:
        return 0.0, 0.0, np.inf
    a2 = ax * ax + ay * ay
    b2 = bx * bx + by * by
    cx = (by * a2 - ay * b2) / twice
    cy = (ax * b2 - bx * a2) / twice
    return x[i] + cx, y[i] + cy, cx * cx + cy * cy


@inner
def is_outside(k, circle, x, y):
    """Whether point k lies clearly outside a circle."""
    dx = x[k] - circle[0]
    dy = y[k] - circle[1]
    return dx * dx + dy * dy > circle[2] * (1.0 + ROUND)


@inner
def replaced(i, j, k, new, x, y):
    """Smallest circle round the points i, j, k (k < 0: none) and `new`, which lies on it.

    Returns (the two or three points on it, circle); the third point is -1 when two suffice.
    """
    bi = bj = bk = -1
    best = (0.0, 0.0, np.inf)
    for turn in range(3):
        s = i if turn == 0 else (j if turn == 1 else k)
        t = j if turn == 0 else (k if turn == 1 else i)
        u = k if turn == 0 else (i if turn == 1 else j)
        if s >= 0:
            circle = circle_of_two(s, new, x, y)
            if circle[2] < best[2] and holds_all(circle, i, j, k, x, y):
                best = circle
                bi, bj, bk = s, new, -1
        if s >= 0 and t >= 0:
            circle = circle_of_three(s, t, new, x, y)
            if circle[2] < best[2] and (u < 0 or not is_outside(u, circle, x, y)):
                best = circle
                bi, bj, bk = s, t, new
    return bi, bj, bk, best


@inner
def holds_all(circle, i, j, k, x, y):
    """Whether none of the points i, j, k lies outside."""
    if is_outside(i, circle, x, y) or is_outside(j, circle, x, y):
        return False
    return k < 0 or not is_outside(k, circle, x, y)


@inner
def farthest_from(cx, cy, n, x, y):
    """The point farthest from (cx, cy)."""
    best = -1.0
    far = 0
    for k in range(n):
        d2 = (x[k] - cx) * (x[k] - cx) + (y[k] - cy) * (y[k] - cy)
        if d2 > best:
            best = d2
            far = k
    return far


@inner
def smallest_circle(first, second, n, x, y):
    """Smallest circle round n points, two farthest apart of which are known: (x, y, radius**2).

    The circle grows: it starts from these two, and the point farthest outside comes to lie on it.
    Each step enlarges it, so no set of points comes back.
    """
    i = first
    j = second
    k = -1
    circle = circle_of_two(i, j, x, y)
    for _ in range(MAX_STEPS):
        far = farthest_from(circle[0], circle[1], n, x, y)
        if not is_outside(far, circle, x, y):
            break
        bi, bj, bk, more = replaced(i, j, k, far, x, y)
        if bi < 0 or not more[2] > circle[2]:
            break
        i, j, k, circle = bi, bj, bk, more
    return circle


@njit
def circle_round(n, x, y):
    """(diameter, circle's x, y and radius) of n points and the smallest circle round them."""
    i, j, widest = widest_pair(n, x, y)
    cx, cy, squared = smallest_circle(i, j, n, x, y)
    return math.sqrt(widest), cx, cy, math.sqrt(squared)


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
def agent_gap(sign, zx, zy, dx, dy, r, best):
    """Distance of z from agent j's curve if that is less than `best`; <= 0 outside the cell.

    The constraint changes at most twice as fast as z moves, which is enough to dismiss most agents.
    """
    own = math.sqrt(zx * zx + zy * zy)
    gx = zx - dx
    gy = zy - dy
    slack = 0.5 * (math.sqrt(gx * gx + gy * gy) - own - sign * r)
    if slack <= 0.0 or slack >= best:
        return smaller(slack, best)
    d = math.sqrt(dx * dx + dy * dy)
    f = 0.5 * d
    a = 0.5 * r
    b = math.sqrt(larger(0.0, (f - a) * (f + a)))
    x = (zx * dx + zy * dy) / d - f
    y = (dx * zy - dy * zx) / d
    return smaller(best, branch_distance(sign * a, b, f, x, y))


@inner
def gap_to_boundary(sign, zx, zy, px, py, n, qx, qy, radius, wx, wy):
    """Distance of z (relative to p) from the boundary of the cell; <= 0 outside it.

    The outside is the union of what each workspace edge and each agent takes away.
    """
    best = np.inf
    for k in range(wx.shape[0]):
        nx, ny, h = edge_of(k, px, py, wx, wy)
        best = smaller(best, h - (zx * nx + zy * ny))
    for j in range(n):
        dx = qx[j] - px
        dy = qy[j] - py
        r = radius[j]
        if dx * dx + dy * dy > r * r:
            best = agent_gap(sign, zx, zy, dx, dy, r, best)
        elif sign > 0.0:
            return -0.5 * (r - math.sqrt(dx * dx + dy * dy))
    return best
