"""Voronoi cells in a convex polygon, cut by half-planes in the agent's own frame.

Labels: the edge that leaves vertex k lies on the workspace's edge m if label = -1 - m, and on the
bisector with agent q if label = q >= 0.
"""

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.polygon.nearest_first import (
    measure_distances,
    next_nearest,
    open_heap,
    sort_few,
)

# Squared distance over squared reach of a cell up to which others are candidates. Beyond 4 they do
# not touch it; a little farther, they also pass its vertices clearly (gift_wrap.py).
WITHIN = 4.004
CLOSER = 4.002  # likewise, a little less: the agents that were listed include these


@inner
def sides(n, dx, dy, offset, x, y, side):
    """Put z . d - offset of each vertex z into `side`; gives how many exceed 0."""
    outside = 0
    for k in range(n):
        f = x[k] * dx + y[k] * dy - offset
        side[k] = f
        outside += 1 if f > 0.0 else 0
    return outside


@inner
def deepest(n, side):
    """The vertex that lies deepest inside."""
    lowest = 0
    for k in range(1, n):
        if side[k] < side[lowest]:
            lowest = k
    return lowest


@inner
def cut(n, q, k, side, x, y, label, x2, y2, label2):
    """Write the part of the polygon x, y with side <= 0 to x2, y2; gives its vertex count.

    Some vertices are outside; vertex k lies deepest inside. Those inside follow one another, as the
    polygon is convex: the copy starts where the boundary comes in, and ends with the new edge
    along the cutting line, labelled q. Vertices on the line are kept. Where many lines meet in a
    point, rounding may scatter signs there: only the run of vertices around k counts.
    """
    i = k - 1 if k > 0 else n - 1
    while side[i] <= 0.0:
        k = i
        i = k - 1 if k > 0 else n - 1
    m = 0
    if side[k] < 0.0:
        t = side[i] / (side[i] - side[k])
        x2[0] = x[i] + t * (x[k] - x[i])
        y2[0] = y[i] + t * (y[k] - y[i])
        label2[0] = label[i]
        m = 1
    while side[k] <= 0.0:
        x2[m] = x[k]
        y2[m] = y[k]
        label2[m] = label[k]
        m += 1
        i = k
        k = k + 1 if k + 1 < n else 0
    if side[i] == 0.0:
        label2[m - 1] = q  # the boundary leaves exactly at this vertex
        return m
    t = side[i] / (side[i] - side[k])
    x2[m] = x[i] + t * (x[k] - x[i])
    y2[m] = y[i] + t * (y[k] - y[i])
    label2[m] = q
    return m + 1


@inner
def farthest(n, x, y):
    """Largest squared distance of a vertex from the agent."""
    r = 0.0
    for k in range(n):
        v = x[k] * x[k] + y[k] * y[k]
        if v > r:
            r = v
    return r


@inlined
def whole_cell(px, py, wx, wy, s):
    """Begin a cell of an agent at (px, py) with all of the polygon (wx, wy); gives its vertices."""
    n = wx.shape[0]
    for k in range(n):
        s.x[k] = wx[k] - px
        s.y[k] = wy[k] - py
        s.label[k] = -1 - k
    return n


@inlined
def cut_cell(p, n, lo, hi, looked, px, py, xs, ys, s):
    """Cut the cell with n vertices in s.x, s.y by agents lo..hi of (xs, ys), nearest first.

    All of them must be farther away than those it was cut by before. Leaves vertices and labels in
    s.x, s.y, s.label and the candidates in s.seen, after the `looked` ones already there.
    Return (vertices, candidates, squared distance of the nearest of these agents); vertices is 0
    for an empty cell and COINCIDENT when another agent is at (px, py), the last in s.seen.
    """
    x, y, label = s.x, s.y, s.label
    x2, y2, label2 = s.x2, s.y2, s.label2
    reach = WITHIN * farthest(n, x, y)
    size = measure_distances(p, lo, hi, px, py, xs, ys, s.key, s.who, s.dx, s.dy)
    sorted_all = sort_few(size, s.key, s.who, s.rank, s.far, s.sequence)
    if not sorted_all:
        open_heap(size, s.key, s.who, s.dx, s.dy)
    nearest = -1.0
    if size > 0:
        nearest = s.far[0] if sorted_all else s.key[0]
    cuts = 0
    taken = 0
    while taken < size and n > 0:
        d2 = s.far[taken] if sorted_all else s.key[0]
        if d2 > reach:
            break
        if sorted_all:
            q = s.sequence[taken]
        else:
            q = next_nearest(size - taken, s.key, s.who, s.dx, s.dy)
        taken += 1
        s.seen[looked] = q
        looked += 1
        if d2 == 0.0:
            return COINCIDENT, looked, d2
        outside = sides(n, s.dx[q], s.dy[q], 0.5 * d2, x, y, s.side)
        if outside == 0:
            continue
        if outside == n:
            n = 0
        else:
            n = cut(n, q, deepest(n, s.side), s.side, x, y, label, x2, y2, label2)
            x, x2 = x2, x
            y, y2 = y2, y
            label, label2 = label2, label
            cuts += 1
            reach = WITHIN * farthest(n, x, y)
    if n < 3:  # a point or a segment has no inside
        return 0, looked, nearest
    if cuts % 2 == 1:
        for k in range(n):
            s.x[k] = x[k]
            s.y[k] = y[k]
            s.label[k] = label[k]
    return n, looked, nearest


@inlined
def voronoi_cell(p, px, py, xs, ys, wx, wy, s):
    """Cell of agent p at (px, py) among agents (xs, ys) in the polygon (wx, wy): see cut_cell."""
    n = whole_cell(px, py, wx, wy, s)
    return cut_cell(p, n, 0, xs.shape[0], 0, px, py, xs, ys, s)
