"""Voronoi cells in a convex polyhedron."""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.space.clip import cut, sides
from dwell._kernels.space.search import open_shell, take_first

COINCIDENT = -1  # another agent stands at the same place


@inner
def farthest(n, x, y, z):
    """Largest squared distance of a vertex from the agent."""
    r = 0.0
    for v in range(n):
        d = x[v] * x[v] + y[v] * y[v] + z[v] * z[v]
        if d > r:
            r = d
    return r


@inner
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


@inner
def voronoi_cell(p, solid, grid, s):
    """Cell of agent p (its number in the grid).

    Leaves the polyhedron in s.x, s.y, s.z, s.mate, s.left, what is behind its faces in s.plane, and
    the agents looked at in s.seen. Gives (vertices, agents looked at, squared distance of the
    nearest agent, faces ever made); vertices is 0 for an empty cell and COINCIDENT when another
    agent stands at the same place, then s.seen[0].
    """
    px = grid.x[p]
    py = grid.y[p]
    pz = grid.z[p]
    n = begin(
        px, py, pz, solid.x, solid.y, solid.z, solid.mate, solid.left, solid.label,
        s.x, s.y, s.z, s.mate, s.left, s.plane,
    )  # fmt: skip
    faces = solid.label.shape[0]
    reach = 4.0 * farthest(n, s.x, s.y, s.z)
    looked = 0
    nearest = -1.0
    size = 0
    shell = 0
    safe = 0.0
    while n > 0:
        limit = reach if nearest >= 0.0 else np.inf  # the nearest one is wanted in any case
        while (size == 0 or s.key[0] > safe) and safe < limit:
            shell += 1
            size, safe = open_shell(
                shell, p, limit, size, grid.x, grid.y, grid.z, grid.start, grid.shape, grid.lower,
                grid.width, s.key, s.who,
            )  # fmt: skip
        if nearest < 0.0 and size > 0:
            nearest = s.key[0]
        if size == 0 or s.key[0] > reach:
            break
        d2 = s.key[0]
        q = take_first(size, s.key, s.who, grid.x, grid.y, grid.z)
        size -= 1
        s.seen[looked] = q
        looked += 1
        if d2 == 0.0:
            return COINCIDENT, looked, d2, faces
        dx = grid.x[q] - px
        dy = grid.y[q] - py
        dz = grid.z[q] - pz
        if sides(n, dx, dy, dz, 0.5 * d2, s.x, s.y, s.z, s.side) > 0:
            s.plane[faces] = q
            n = cut(
                n, faces, s.side, s.x, s.y, s.z, s.mate, s.left, s.mark, s.gone, s.crossing, s.born
            )
            faces += 1
            reach = 4.0 * farthest(n, s.x, s.y, s.z)
    return n, looked, nearest, faces
