"""Straight segments within a polygon with holes, given by its directed edges.

Each edge runs from (ax, ay) to (bx, by), with the interior on its left. Distances up to `slack`
count as contact: a segment may touch the boundary and run along it.
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
def sees(px, py, qx, qy, ax, ay, bx, by, slack):
    """Whether the segment from p to q lies in the polygon and passes no vertex on its way.

    A shortest path that passes a vertex has it among its vertices.
    """
    dx, dy = qx - px, qy - py
    length = (dx * dx + dy * dy) ** 0.5
    if length <= slack:
        return True
    dx, dy = dx / length, dy / length
    for k in range(ax.shape[0]):
        ux, uy = ax[k] - px, ay[k] - py
        vx, vy = bx[k] - px, by[k] - py
        along = ux * dx + uy * dy
        side_a = dx * uy - dy * ux
        side_b = dx * vy - dy * vx
        if abs(side_a) <= slack:
            if slack < along < length - slack:
                return False
        elif abs(side_b) > slack and (side_a > 0.0) != (side_b > 0.0):
            t = side_a / (side_a - side_b)
            at = along + t * (vx * dx + vy * dy - along)
            if slack < at < length - slack:
                ex, ey = vx - ux, vy - uy
                edge = (ex * ex + ey * ey) ** 0.5
                start = ex * -uy + ey * ux
                end = ex * (qy - ay[k]) - ey * (qx - ax[k])
                if abs(start) > slack * edge and abs(end) > slack * edge:
                    return False
    return holds(px + 0.5 * length * dx, py + 0.5 * length * dy, ax, ay, bx, by, slack)


@njit
def seen_from(px, py, x, y, ax, ay, bx, by, slack, found):
    """Write to `found` the distance from p to each vertex it sees, and -1 for the others."""
    for k in range(x.shape[0]):
        gx, gy = x[k] - px, y[k] - py
        seen = sees(px, py, x[k], y[k], ax, ay, bx, by, slack)
        found[k] = (gx * gx + gy * gy) ** 0.5 if seen else -1.0


@njit
def see_each_other(x, y, ax, ay, bx, by, slack, found):
    """Write to `found`, (V, V), the distances of vertices that see each other; -1 for others."""
    for i in range(x.shape[0]):
        seen_from(x[i], y[i], x[:i], y[:i], ax, ay, bx, by, slack, found[i, :i])
        found[i, i] = 0.0
        for k in range(i):
            found[k, i] = found[i, k]


@njit
def is_seen(px, py, qx, qy, ax, ay, bx, by, slack):
    """Whether p and q see each other: see `sees`."""
    return sees(px, py, qx, qy, ax, ay, bx, by, slack)


@njit
def are_held(x, y, ax, ay, bx, by, slack, found):
    """Write to `found` whether the polygon holds each point."""
    for k in range(x.shape[0]):
        found[k] = holds(x[k], y[k], ax, ay, bx, by, slack)
