"""Voronoi cells in a convex polyhedron."""

import numpy as np

from dwell._kernels._jit import inlined
from dwell._kernels.common.arithmetic import larger
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.space.clip import cut, sides
from dwell._kernels.space.search import open_shell, sort_next


@inlined
def farthest(n, x, y, z):
    """Largest squared distance of a vertex from the agent."""
    r = 0.0
    t = 0.0
    for v in range(0, n - 1, 2):  # two at a time: neither waits for the other
        w = v + 1
        r = larger(r, x[v] * x[v] + y[v] * y[v] + z[v] * z[v])
        t = larger(t, x[w] * x[w] + y[w] * y[w] + z[w] * z[w])
    if n % 2 == 1:
        w = n - 1
        t = larger(t, x[w] * x[w] + y[w] * y[w] + z[w] * z[w])
    return larger(r, t)


@inlined
def begin(px, py, pz, wx, wy, wz, wall_mate, wall_left, label, x, y, z, mate, left, plane):
    """Load the workspace, seen from (px, py, pz); gives its vertex count."""
    n = wx.shape[0]
    for v in range(n):
        x[v] = wx[v] - px
        y[v] = wy[v] - py
        z[v] = wz[v] - pz
    for h in range(4 * n):
        mate[h] = wall_mate[h]
        left[h] = wall_left[h]
    for f in range(label.shape[0]):
        plane[f] = label[f]
    return n


@inlined
def voronoi_cell(p, solid, grid, s):
    """Cell of agent p (its number in the grid).

    Leaves the polyhedron in s.x, s.y, s.z, s.mate, s.left, what is behind its faces in s.plane, and
    the candidates in s.seen. Return (vertices, candidates, squared distance of the nearest
    agent, faces ever made); vertices is 0 for an empty cell and COINCIDENT when another
    agent is at the same position, then s.seen[0].
    """
    xs, ys, zs = grid.x, grid.y, grid.z
    start, shape, lower, width = grid.start, grid.shape, grid.lower, grid.width
    x, y, z, side, mate, left, plane = s.x, s.y, s.z, s.side, s.mate, s.left, s.plane
    mark, gone, crossing, born, seen = s.mark, s.gone, s.crossing, s.born, s.seen
    key, who, ends = s.key, s.who, s.ends
    px = xs[p]
    py = ys[p]
    pz = zs[p]
    n = begin(
        px, py, pz, solid.x, solid.y, solid.z, solid.mate, solid.left, solid.label, x, y, z, mate,
        left, plane,
    )  # fmt: skip
    faces = solid.label.shape[0]
    reach = 4.0 * farthest(n, x, y, z)
    looked = 0
    nearest = -1.0
    first = ready = size = depth = 0  # agents to come: first to size - 1, sorted up to ready
    tail = key.shape[0]
    shell = 0
    safe = 0.0
    while n > 0:
        limit = reach if nearest >= 0.0 else np.inf  # the nearest one is wanted in any case
        while True:
            if first == ready and first < size:
                ready, depth = sort_next(first, depth, ends, key, who, xs, ys, zs)
            if first < size or safe >= limit:
                break
            shell += 1
            size, tail, safe = open_shell(
                shell, p, limit, size, tail, xs, ys, zs, start, shape, lower, width, key, who
            )
            ends[0] = size
            depth = 1
            ready = first
        if first == size:
            break
        d2 = key[first]
        q = who[first]
        first += 1
        if nearest < 0.0:
            nearest = d2
        if d2 > reach:
            break
        seen[looked] = q
        looked += 1
        if d2 == 0.0:
            return COINCIDENT, looked, d2, faces
        dx = xs[q] - px
        dy = ys[q] - py
        dz = zs[q] - pz
        outside, inside = sides(n, dx, dy, dz, 0.5 * d2, x, y, z, side)
        if outside > 0:
            plane[faces] = q
            n = cut(
                n, outside, inside, faces, side, x, y, z, mate, left, mark, gone, crossing, born
            )
            faces += 1
            reach = 4.0 * farthest(n, x, y, z)
    return n, looked, nearest, faces
