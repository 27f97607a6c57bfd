"""Straight segments within a polygon with holes, given by its directed edges.

Each edge runs from (ax, ay) to (bx, by), with the interior on its left; `turning` says whether a
shortest path may turn at its first vertex. Distances up to `slack` count as contact: a segment may
touch the boundary and run along it.
"""

from dwell._kernels._jit import inner, njit


@inner
def is_near(x, y, ax, ay, bx, by, slack):
    """Whether a point is within `slack` of the segment from a to b."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    along = (x - ax) * dx + (y - ay) * dy
    t = 0.0 if along <= 0.0 or square == 0.0 else (1.0 if along >= square else along / square)
    gx, gy = ax + t * dx - x, ay + t * dy - y
    return gx * gx + gy * gy <= slack * slack


@inner
def holds(x, y, ax, ay, bx, by, slack):
    """Whether the polygon holds a point, its boundary included."""
    inside = False
    for k in range(ax.shape[0]):
        if is_near(x, y, ax[k], ay[k], bx[k], by[k], slack):
            return True
        if (ay[k] > y) != (by[k] > y):
            side = (bx[k] - ax[k]) * (y - ay[k]) - (x - ax[k]) * (by[k] - ay[k])
            if (side > 0.0) == (by[k] > ay[k]):
                inside = not inside
    return inside


@inner
def is_passed(k, px, py, dx, dy, begin, end, ax, ay, slack):
    """Whether the line from p along the unit vector d touches vertex k between two distances."""
    ux, uy = ax[k] - px, ay[k] - py
    return abs(dx * uy - dy * ux) <= slack and begin + slack < ux * dx + uy * dy < end - slack


@inner
def sees(px, py, qx, qy, ax, ay, bx, by, turning, slack):
    """Whether the segment from p to q lies in the polygon and passes no turning vertex on its way.

    A shortest path that passes a turning vertex has it among its vertices. Other vertices may be
    touched: the segment is then tested between each two of them.
    """
    dx, dy = qx - px, qy - py
    length = (dx * dx + dy * dy) ** 0.5
    if length <= slack:
        return True
    dx, dy = dx / length, dy / length
    for k in range(ax.shape[0]):
        if turning[k] and is_passed(k, px, py, dx, dy, 0.0, length, ax, ay, slack):
            return False
        ux, uy = ax[k] - px, ay[k] - py
        vx, vy = bx[k] - px, by[k] - py
        side_a = dx * uy - dy * ux
        side_b = dx * vy - dy * vx
        if abs(side_a) > slack and abs(side_b) > slack and (side_a > 0.0) != (side_b > 0.0):
            along = ux * dx + uy * dy
            t = side_a / (side_a - side_b)
            at = along + t * (vx * dx + vy * dy - along)
            if slack < at < length - slack:
                ex, ey = vx - ux, vy - uy
                edge = (ex * ex + ey * ey) ** 0.5
                start = ex * -uy + ey * ux
                end = ex * (qy - ay[k]) - ey * (qx - ax[k])
                if abs(start) > slack * edge and abs(end) > slack * edge:
                    return False
    begin = 0.0
    while begin < length:
        end = length
        for k in range(ax.shape[0]):
            if is_passed(k, px, py, dx, dy, begin, end, ax, ay, slack):
                end = (ax[k] - px) * dx + (ay[k] - py) * dy
        middle = 0.5 * (begin + end)
        if not holds(px + middle * dx, py + middle * dy, ax, ay, bx, by, slack):
            return False
        begin = end
    return True


@njit
def seen_from(px, py, x, y, ax, ay, bx, by, turning, slack, found):
    """Write to `found` the distance from p to each vertex it sees, and -1 for the others."""
    for k in range(x.shape[0]):
        gx, gy = x[k] - px, y[k] - py
        seen = sees(px, py, x[k], y[k], ax, ay, bx, by, turning, slack)
        found[k] = (gx * gx + gy * gy) ** 0.5 if seen else -1.0


@njit
def see_each_other(x, y, ax, ay, bx, by, turning, slack, found):
    """Write to `found`, (V, V), the distances of vertices that see each other; -1 for others."""
    for i in range(x.shape[0]):
        seen_from(x[i], y[i], x[:i], y[:i], ax, ay, bx, by, turning, slack, found[i, :i])
        found[i, i] = 0.0
        for k in range(i):
            found[k, i] = found[i, k]


@njit
def is_seen(px, py, qx, qy, ax, ay, bx, by, turning, slack):
    """Whether p and q see each other: see `sees`."""
    return sees(px, py, qx, qy, ax, ay, bx, by, turning, slack)


@njit
def are_held(x, y, ax, ay, bx, by, slack, found):
    """Write to `found` whether the polygon holds each point."""
    for k in range(x.shape[0]):
        found[k] = holds(x[k], y[k], ax, ay, bx, by, slack)
