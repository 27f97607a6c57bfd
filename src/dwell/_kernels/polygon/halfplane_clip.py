"""Voronoi cells in a convex polygon, clipped by half-planes in the agent's own frame.

Labels: the edge that leaves vertex k lies on the workspace's edge m if label = -1 - m, and on the
bisector with agent q if label = q >= 0.

The other agents clip a cell in increasing distance. A few of them are sorted beforehand
(`sort_few`); many are put into a heap, from which one at a time is taken. The order does not depend
on which, ties included. key, who: squared distances and agents; dx, dy: displacement of each agent.
"""

from dwell._kernels._jit import inner, spliced
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.polygon.buffers import SORTED

# Squared distance over squared reach of a cell up to which others are candidates. Beyond 4 they do
# not touch it; a little farther, they also pass its vertices clearly (gift_wrap.py).
WITHIN = 4.004
CLOSER = 4.002  # a little less than WITHIN: the agents that were listed include these


@inner
def sides(n, dx, dy, offset, x, y, side):
    """Put z . d - offset of each vertex z into `side`; return how many exceed 0."""
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
    """Write the part of the polygon x, y with side <= 0 to x2, y2; return its vertex count.

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


@inner
def comes_before(i, j, key, who, dx, dy):
    """Whether heap entry i is taken before j: by distance, then by displacement.

    The rule for ties names no index, so that renumbering agents changes no bit of a cell.
    """
    if key[i] != key[j]:
        return key[i] < key[j]
    a = who[i]
    b = who[j]
    if dx[a] != dx[b]:
        return dx[a] < dx[b]
    return dy[a] < dy[b]


@inner
def sift_down(root, size, key, who, dx, dy):
    """Restore the heap order below `root`."""
    while True:
        child = 2 * root + 1
        if child >= size:
            return
        if child + 1 < size and comes_before(child + 1, child, key, who, dx, dy):
            child += 1
        if not comes_before(child, root, key, who, dx, dy):
            return
        key[child], key[root] = key[root], key[child]
        who[child], who[root] = who[root], who[child]
        root = child


@inner
def measure_distances(p, lo, hi, px, py, xs, ys, key, who, dx, dy):
    """List agents lo..hi but p, seen from (px, py); return how many there are."""
    size = 0
    for q in range(lo, hi):
        dx[q] = xs[q] - px
        dy[q] = ys[q] - py
        if q != p:
            key[size] = dx[q] * dx[q] + dy[q] * dy[q]
            who[size] = q
            size += 1
    return size


@inner
def sort_few(size, key, who, rank, far, sequence):
    """Sort a list by distance into far and sequence; return whether that could be done.

    It cannot where two are equally far. Each one's place is the number of those nearer than it:
    more comparisons than sorts make, but all at once, and nothing to be guessed wrong.
    """
    if size > SORTED:
        return False
    total = 0
    for i in range(size):
        here = key[i]
        nearer = 0
        for j in range(size):
            nearer += 1 if key[j] < here else 0
        rank[i] = nearer
        total += nearer
    if total != size * (size - 1) // 2:  # places would be 0, 1, 2, ...
        return False
    for i in range(size):
        far[rank[i]] = key[i]
        sequence[rank[i]] = who[i]
    return True


@inner
def whole_cell(px, py, wx, wy, s):
    """Begin the cell of an agent at (px, py) with the polygon (wx, wy); return its vertices."""
    n = wx.shape[0]
    for k in range(n):
        s.x[k] = wx[k] - px
        s.y[k] = wy[k] - py
        s.label[k] = -1 - k
    return n


@inner
def cut_cell(p, n, lo, hi, candidates, px, py, xs, ys, s):
    """Cut the cell with n vertices in s.x, s.y by agents lo..hi of (xs, ys), nearest first.

    All of them must be farther away than those it was cut by before. Leaves vertices and labels in
    s.x, s.y, s.label and the candidates in s.seen, after the `candidates` ones already there.
    Return (vertices, candidates, squared distance of the nearest of these agents); vertices is 0
    for an empty cell and COINCIDENT when another agent is at (px, py), the last in s.seen.
    """
    x, y, label = s.x, s.y, s.label
    x2, y2, label2 = s.x2, s.y2, s.label2
    reach = WITHIN * farthest(n, x, y)
    size = measure_distances(p, lo, hi, px, py, xs, ys, s.key, s.who, s.dx, s.dy)
    sorted_all = sort_few(size, s.key, s.who, s.rank, s.far, s.sequence)
    for root in range(-1 if sorted_all else size // 2 - 1, -1, -1):
        sift_down(root, size, s.key, s.who, s.dx, s.dy)
    nearest = -1.0
    if size > 0:
        nearest = s.far[0] if sorted_all else s.key[0]
    cuts = 0
    taken = 0
    while taken < size and n > 0:
        d2 = s.far[taken] if sorted_all else s.key[0]
        if d2 > reach:
            break
        q = s.sequence[taken] if sorted_all else s.who[0]
        taken += 1
        if not sorted_all:  # take it off the heap
            s.key[0] = s.key[size - taken]
            s.who[0] = s.who[size - taken]
            sift_down(0, size - taken, s.key, s.who, s.dx, s.dy)
        s.seen[candidates] = q
        candidates += 1
        if d2 == 0.0:
            return COINCIDENT, candidates, d2
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
        return 0, candidates, nearest
    if cuts % 2 == 1:
        for k in range(n):
            s.x[k] = x[k]
            s.y[k] = y[k]
            s.label[k] = label[k]
    return n, candidates, nearest


@spliced
def voronoi_cell(p, px, py, xs, ys, wx, wy, s):
    """Cell of agent p at (px, py) among agents (xs, ys) in the polygon (wx, wy): see cut_cell."""
    n = whole_cell(px, py, wx, wy, s)
    return cut_cell(p, n, 0, xs.shape[0], 0, px, py, xs, ys, s)
