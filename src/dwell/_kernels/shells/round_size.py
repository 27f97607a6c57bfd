"""How wide a dual guaranteed cell within a curved boundary is, and how deep a point lies in a cell.

Sheets of a dual cell curve inwards, so its hull is that of its corners and of its part of the
boundary. In the plane each arc of that is put between two corners of a polygon round it; in space
points of it lie so close together that little bulges out between them, which is allowed for.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.shells.extent import agent_gap, farthest_from, smallest_ball, widest_pair
from dwell._kernels.shells.latitudes import belt, set_latitude
from dwell._kernels.shells.panels import middle
from dwell._kernels.shells.rim import WALL, demand_at, ends_of, largest_at
from dwell._kernels.shells.turns import find_pieces, place_at

FINEST = math.cos(2.0 * math.pi / 256.0)  # of the angle between points on an arc in the plane
SPACING = 0.08  # between points of the boundary in space, in directions
BULGE = 0.01  # share of the size that they may leave out in a ball
ROUNDING = 1e-12
NEARLY = 1e-9
HOPS = 3
TURN_BACK = 100  # halvings of an interval


@inner
def put_point(n, x, y, z, rim):
    """Add a point, relative to the agent; gives how many there are."""
    if n >= rim.point.shape[0]:
        rim.flag[0] = 1
        return n
    rim.point[n, 0], rim.point[n, 1], rim.point[n, 2] = x, y, z
    return n + 1


@inner
def put_end(n, k, x, y, rim):
    """Add the point of owner k's boundary at a place of the circle."""
    frame = rim.frame
    r = 1.0 / demand_at(k, x, y, rim)
    return put_point(
        n,
        r * (frame[0, 0] + x * frame[1, 0] + y * frame[2, 0]),
        r * (frame[0, 1] + x * frame[1, 1] + y * frame[2, 1]),
        r * (frame[0, 2] + x * frame[1, 2] + y * frame[2, 2]),
        rim,
    )


@inner
def put_whitened(n, a, b, rim):
    """Add the point of the plane that W takes to (a, b), seen from the middle of the workspace."""
    wall = rim.wall
    b += wall[7]
    y = b / wall[3]
    return put_point(n, (a + wall[6] - wall[1] * y) / wall[0], y, 0.0, rim)


@inner
def whitened(x, y, rim):
    """Where W takes the boundary's point at a place of the circle, seen from the middle."""
    r = 1.0 / demand_at(WALL, x, y, rim)
    ring, wall = rim.ring, rim.wall
    a = r * (ring[0, 0] + ring[1, 0] * x + ring[2, 0] * y) - wall[6]
    b = r * (ring[0, 1] + ring[1, 1] * x + ring[2, 1] * y) - wall[7]
    length = math.sqrt(a * a + b * b)
    return a / length, b / length


@inner
def put_arc(n, x0, y0, x1, y1, rim):
    """Add corners of a polygon round an arc of the boundary; its ends are added elsewhere.

    W makes a circle of it, and tangents stay tangents.
    """
    a0, b0 = whitened(x0, y0, rim)
    a1, b1 = whitened(x1, y1, rim)
    c, s = a0 * a1 + b0 * b1, a0 * b1 - b0 * a1
    pieces = 1
    if s < 0.0 and c < FINEST:  # more than half a turn: an agent near the end of a thin ellipse
        c, s, pieces = -math.sqrt(0.5 * (1.0 + c)), math.sqrt(0.5 * (1.0 - c)), 2
    while c < FINEST:
        half = math.sqrt(0.5 * (1.0 + c))
        c, s = half, s / (2.0 * half) if half > 1e-8 else 1.0
        pieces *= 2
    half = math.sqrt(0.5 * (1.0 + c))
    ch, sh = half, s / (2.0 * half)
    a, b = a0, b0
    for _ in range(pieces):
        n = put_whitened(n, (a * ch - b * sh) / half, (b * ch + a * sh) / half, rim)
        a, b = a * c - b * s, b * c + a * s
    return n


@inner
def points_in_plane(count, p, terms, rim):
    """Points whose hull holds the cell in the plane, into rim.point; gives how many."""
    m, count = find_pieces(count, p, terms, np.inf, rim)
    n = 0
    for k in range(m):
        x0, y0, x1, y1, _ = ends_of(k, m, rim)
        owner, _ = largest_at(count, x0, y0, rim)
        n = put_end(n, owner, x0, y0, rim)
        if rim.owner[k] == WALL:
            n = put_end(n, WALL, x0, y0, rim)
            n = put_end(n, WALL, x1, y1, rim)
            n = put_arc(n, x0, y0, x1, y1, rim)
    return n


@inner
def points_on_circle(n, corners, count, p, terms, rim):
    """The same for one circle of latitude: ends and inside of the boundary's part, and corners."""
    m, _ = find_pieces(count, p, terms, np.inf, rim)
    s = math.sqrt(rim.frame[1, 0] ** 2 + rim.frame[1, 1] ** 2 + rim.frame[1, 2] ** 2)
    for k in range(m):
        x0, y0, x1, y1, _ = ends_of(k, m, rim)
        if rim.owner[k] == WALL:
            x, y, w = middle(x0, y0, x1, y1)
            steps = 1 + int(4.0 * w * s / SPACING)  # the angle is at most 4 w
            for i in range(steps + 1):
                px, py, _ = place_at(w * (2.0 * i / steps - 1.0), x, y)
                n = put_end(n, WALL, px, py, rim)
        elif corners and rim.owner[k] >= 0:
            n = put_end(n, rim.owner[k], x0, y0, rim)
            n = put_end(n, rim.owner[k], x1, y1, rim)
    return n


@inner
def points_in_space(cuts, count, p, terms, axes, rim):
    """Points whose hull, a little larger, holds the cell in space; gives how many."""
    n = 0
    for k in range(cuts + 1):
        low, high = belt(k, cuts, rim)
        steps = 1 + int(belt_angle(low, high) / SPACING)
        for i in range(steps):
            t = low + (high - low) * i / steps
            set_latitude(t, axes, rim.frame)
            n = points_on_circle(n, i == 0, count, p, terms, rim)
    set_latitude(1.0, axes, rim.frame)
    return points_on_circle(n, True, count, p, terms, rim)


@inner
def belt_angle(low, high):
    """At least the angle between two heights, less than twice it."""
    s0 = math.sqrt(larger(0.0, (1.0 - low) * (1.0 + low)))
    s1 = math.sqrt(larger(0.0, (1.0 - high) * (1.0 + high)))
    chord = math.sqrt((high - low) * (high - low) + (s1 - s0) * (s1 - s0))
    return 1.5708 * chord


@inner
def put_wide_first(n, points):
    """Sort out points that belong to no widest pair, to the end; gives how many are left.

    Some width is known from a few hops to the farthest point; a pair as wide as that has both of
    its points so far from the middle that the farthest one there could make up the rest.
    """
    x = y = z = 0.0
    for k in range(n):
        x += points[k, 0] / n
        y += points[k, 1] / n
        z += points[k, 2] / n
    first, most = farthest_from(x, y, z, n, points)
    width = 0.0
    for _ in range(HOPS):
        o = points[first]
        first, square = farthest_from(o[0], o[1], o[2], n, points)
        width = larger(width, math.sqrt(square))
    least = (width - math.sqrt(most)) * (1.0 - NEARLY)
    kept = 0
    for k in range(n):
        a, b, c = points[k, 0], points[k, 1], points[k, 2]
        if (a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2 >= least * abs(least):
            for d in range(3):
                points[k, d] = points[kept, d]
            points[kept, 0], points[kept, 1], points[kept, 2] = a, b, c
            kept += 1
    return kept


@inner
def size_of(region, n, rim):
    """(diameter, circumradius), or a little more, from the points in rim."""
    if n == 0:
        return 0.0, 0.0
    i, j, widest = widest_pair(put_wide_first(n, rim.point), rim.point)
    if not widest > 0.0:
        return 0.0, 0.0
    ball = smallest_ball(i, j, n, rim.point)
    margin = 1.0 + ROUNDING
    if not region.planar:
        uneven = max(region.sizes) / min(region.sizes)
        margin += BULGE * uneven * uneven
    longest = max(region.sizes)  # no cell is larger than the workspace
    return (
        smaller(margin * math.sqrt(widest), 2.0 * longest),
        smaller(margin * math.sqrt(ball[3]), longest),
    )


@inner
def wall_gap(z, sizes, axes):
    """Distance from a point inside an ellipsoid, seen from its middle, to its boundary; <= 0 out.

    Along the axes the foot is a**2 y / (a**2 + t) with t <= 0 where sum (a y / (a**2 + t))**2 = 1;
    the smallest semi-axis gets what the others leave, so that the foot always lies on it.
    """
    y = np.empty(3)
    least = 0
    inside = 0.0
    for i in range(3):
        y[i] = abs(z[0] * axes[i, 0] + z[1] * axes[i, 1] + z[2] * axes[i, 2])
        inside += (y[i] / sizes[i]) * (y[i] / sizes[i])
        if sizes[i] < sizes[least]:
            least = i
    a = sizes[least]
    if sizes[0] == sizes[1] == sizes[2] or inside >= 1.0:
        return a * (1.0 - math.sqrt(inside))  # of a ball it is that; outside the sign will do
    low, high = -a * a, 0.0
    for _ in range(TURN_BACK):
        t = 0.5 * (low + high)
        total = 0.0
        for i in range(3):
            part = sizes[i] * y[i] / (sizes[i] * sizes[i] + t)
            total += part * part
        if total > 1.0:
            low = t
        else:
            high = t
    left = 1.0
    square = 0.0
    for i in range(3):
        if i != least:
            foot = sizes[i] * sizes[i] * y[i] / (sizes[i] * sizes[i] + high)
            if sizes[i] == a:  # another one as small: nothing to share, take it as it is
                foot = smaller(foot, sizes[i])
            left -= (foot / sizes[i]) * (foot / sizes[i])
            square += (foot - y[i]) * (foot - y[i])
    foot = a * math.sqrt(larger(0.0, left))
    square += (foot - y[least]) * (foot - y[least])
    return math.sqrt(square)


@inner
def gap_inside(sign, z, p, n, q, radius, center, sizes, axes):
    """Distance of z (relative to p) from the boundary of the cell; <= 0 outside it."""
    middle = (p[0] + z[0] - center[0], p[1] + z[1] - center[1], p[2] + z[2] - center[2])
    best = wall_gap(middle, sizes, axes)
    for j in range(n):
        d = (q[j, 0] - p[0], q[j, 1] - p[1], q[j, 2] - p[2])
        r = radius[j]
        apart = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        if apart > r:
            best = agent_gap(sign, z, d, r, best)
        elif sign > 0.0:
            return smaller(0.0, -0.5 * (r - apart))
    return best
