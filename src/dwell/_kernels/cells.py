"""Voronoi cells in a convex polygon, cut by half-planes in the agent's own frame.

Labels: the edge that leaves vertex k lies on the workspace's edge m if label = -1 - m, and on the
bisector with agent q if label = q >= 0.
"""

from dwell._kernels._jit import inner, njit
from dwell._kernels.nearest import next_nearest, open_search

COINCIDENT = -1  # another agent stands at the same place


@inner
def cut(n, dx, dy, offset, q, x, y, label, x2, y2, label2, side):
    """Keep {z : z . d <= offset} of the polygon x, y; gives how many vertices it has then.

    Vertices on the line count as kept. Gives -1 if that is the whole polygon, untouched.
    """
    outside = 0
    for k in range(n):
        f = x[k] * dx + y[k] * dy - offset
        side[k] = f
        if f > 0.0:
            outside += 1
    if outside == 0:
        return -1
    if outside == n:
        return 0
    m = 0
    for k in range(n):
        j = k + 1 if k + 1 < n else 0
        f = side[k]
        g = side[j]
        if f <= 0.0:
            x2[m] = x[k]
            y2[m] = y[k]
            label2[m] = label[k]
            if g > 0.0 and f == 0.0:
                label2[m] = q  # leaves exactly at this vertex
            m += 1
        if (f < 0.0 and g > 0.0) or (f > 0.0 and g < 0.0):
            t = f / (f - g)
            x2[m] = x[k] + t * (x[j] - x[k])
            y2[m] = y[k] + t * (y[j] - y[k])
            label2[m] = q if g > 0.0 else label[k]
            m += 1
    for k in range(m):
        x[k] = x2[k]
        y[k] = y2[k]
        label[k] = label2[k]
    return m


@inner
def farthest(n, x, y):
    """Largest squared distance of a vertex from the agent."""
    r = 0.0
    for k in range(n):
        v = x[k] * x[k] + y[k] * y[k]
        if v > r:
            r = v
    return r


@njit
def voronoi_cell(p, px, py, xs, ys, wx, wy, s):
    """Cell of agent p at (px, py) among agents (xs, ys) in the polygon (wx, wy).

    Leaves vertices and labels in s.x, s.y, s.label and the agents looked at in s.seen. Gives
    (vertices, agents looked at, squared distance of the nearest agent); vertices is 0 for an empty
    cell and COINCIDENT when another agent stands at (px, py), then s.seen[0].
    """
    n = wx.shape[0]
    for k in range(n):
        s.x[k] = wx[k] - px
        s.y[k] = wy[k] - py
        s.label[k] = -1 - k
    reach = 4.0 * farthest(n, s.x, s.y)
    size = open_search(p, px, py, xs, ys, s.key, s.who, s.dx, s.dy)
    nearest = s.key[0] if size > 0 else -1.0
    looked = 0
    while size > 0 and n > 0 and s.key[0] <= reach:
        d2 = s.key[0]
        q = next_nearest(size, s.key, s.who, s.dx, s.dy)
        size -= 1
        s.seen[looked] = q
        looked += 1
        if d2 == 0.0:
            return COINCIDENT, looked, d2
        kept = cut(
            n, s.dx[q], s.dy[q], 0.5 * d2, q, s.x, s.y, s.label, s.x2, s.y2, s.label2, s.side
        )
        if kept >= 0:
            n = kept
            reach = 4.0 * farthest(n, s.x, s.y)
    if n < 3:  # a point or a segment has no inside
        n = 0
    return n, looked, nearest
