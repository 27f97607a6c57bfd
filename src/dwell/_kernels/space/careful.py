"""Vertices, volumes and areas of thin and small cells, computed with twice the digits.

The planes that meet in a vertex are known, so each vertex is computed again as their intersection,
in double-double arithmetic (numbers h + l), and with it what the moments need: the volumes under
the triangles of the faces.

A vector is (xh, xl, yh, yl, zh, zl), a plane its normal followed by its offset:
(ah, al, bh, bl, ch, cl, oh, ol) for a x + b y + c z = o in the agent's frame.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.arithmetic import add, cross_product, difference, larger, quotient, times
from dwell._kernels.space.cells import farthest, position

FLATTEST = 1e-14  # sine of the angle at which three planes meet: below, rounding decides where
FARTHEST = 1e-4  # of the cell's size: vertices that would move more are noise, and stay ...
GRAIN = 64.0 * np.finfo(float).eps  # ... if it is also more than so much of the workspace's size


@inner
def dot(u, v):
    """Return u . v."""
    ph, pl = times(u[0], u[1], v[0], v[1])
    qh, ql = times(u[2], u[3], v[2], v[3])
    rh, rl = times(u[4], u[5], v[4], v[5])
    sh, sl = add(ph, pl, qh, ql)
    return add(sh, sl, rh, rl)


@inner
def cross(u, v):
    """Return u x v."""
    xh, xl = cross_product(u[2], u[3], u[4], u[5], v[2], v[3], v[4], v[5])
    yh, yl = cross_product(u[4], u[5], u[0], u[1], v[4], v[5], v[0], v[1])
    zh, zl = cross_product(u[0], u[1], u[2], u[3], v[0], v[1], v[2], v[3])
    return xh, xl, yh, yl, zh, zl


@inner
def apart(a, b):
    """Return the vector from position a to position b."""
    xh, xl = difference(b[0], a[0])
    yh, yl = difference(b[1], a[1])
    zh, zl = difference(b[2], a[2])
    return xh, xl, yh, yl, zh, zl


@inner
def plane_of(face, p, plane, solid, grid):
    """Return the plane of a face: the bisector of p and another agent, or one of the workspace."""
    q = plane[face]
    place = position(p, grid)
    if q >= 0:
        gap = apart(place, position(q, grid))
        high, low = dot(gap, gap)
        return (*gap, 0.5 * high, 0.5 * low)
    a = position(solid.base[face, 0], solid)
    b = position(solid.base[face, 1], solid)
    normal = cross(apart(a, b), apart(a, position(solid.base[face, 2], solid)))
    return (*normal, *dot(normal, apart(place, a)))


@inner
def length(f):
    """Return the length of a plane's normal."""
    return math.sqrt(f[0] * f[0] + f[2] * f[2] + f[4] * f[4])


@inner
def intersection(f, g, h):
    """Return the intersection of three planes: (found, xh, xl, yh, yl, zh, zl)."""
    dh, dl = dot(f[:6], cross(g[:6], h[:6]))
    if not abs(dh) > FLATTEST * (length(f) * length(g) * length(h)):
        return False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    u = (f[6], f[7], g[6], g[7], h[6], h[7])
    a = (f[0], f[1], g[0], g[1], h[0], h[1])
    b = (f[2], f[3], g[2], g[3], h[2], h[3])
    c = (f[4], f[5], g[4], g[5], h[4], h[5])
    xh, xl = dot(u, cross(b, c))
    yh, yl = dot(a, cross(u, c))
    zh, zl = dot(a, cross(b, u))
    xh, xl = quotient(xh, xl, dh, dl)
    yh, yl = quotient(yh, yl, dh, dl)
    zh, zl = quotient(zh, zl, dh, dl)
    return True, xh, xl, yh, yl, zh, zl


@inner
def reach_of(p, solid, grid):
    """Return the squared distance of the farthest vertex of the workspace from agent p."""
    reach = 0.0
    for v in range(solid.x.shape[0]):
        dx, dy, dz = solid.x[v] - grid.x[p], solid.y[v] - grid.y[p], solid.z[v] - grid.z[p]
        reach = larger(reach, dx * dx + dy * dy + dz * dz)
    return reach


@inner
def sharpen(n, p, solid, grid, s):
    """Compute the n vertices of the cell in s again, as s.x + s.low[0] and so on.

    Those where planes are as good as parallel stay as they are.
    """
    x, y, z, low, left = s.x, s.y, s.z, s.low, s.left
    grain = GRAIN * GRAIN * reach_of(p, solid, grid)
    nearby = larger(FARTHEST * FARTHEST * farthest(n, x, y, z), grain)
    for v in range(n):
        f = plane_of(left[4 * v], p, s.plane, solid, grid)
        g = plane_of(left[4 * v + 1], p, s.plane, solid, grid)
        h = plane_of(left[4 * v + 2], p, s.plane, solid, grid)
        found, xh, xl, yh, yl, zh, zl = intersection(f, g, h)
        dx, dy, dz = xh - x[v], yh - y[v], zh - z[v]
        low[:, v] = 0.0
        if found and dx * dx + dy * dy + dz * dz <= nearby:
            x[v], y[v], z[v] = xh, yh, zh
            low[0, v], low[1, v], low[2, v] = xl, yl, zl


@inlined
def edge(a, b, s):
    """Return the vector from vertex a to vertex b, with all digits."""
    xh, xl = add(s.x[b], s.low[0, b], -s.x[a], -s.low[0, a])
    yh, yl = add(s.y[b], s.low[1, b], -s.y[a], -s.low[1, a])
    zh, zl = add(s.z[b], s.low[2, b], -s.z[a], -s.low[2, a])
    return xh, xl, yh, yl, zh, zl


@inlined
def normal_of(t, s):
    """Return the normal of triangle t with twice its area as length, with all digits."""
    a = s.corner[t, 0]
    return cross(edge(a, s.corner[t, 1], s), edge(a, s.corner[t, 2], s))


@inlined
def sharp_volume(t, s):
    """Return six times the volume under triangle t, from vertices with all digits."""
    a = s.corner[t, 0]
    apex = (s.x[a], s.low[0, a], s.y[a], s.low[1, a], s.z[a], s.low[2, a])
    return dot(apex, normal_of(t, s))[0]


@inlined
def sharp_area(t, s):
    """Return twice the area of triangle t, from vertices with all digits."""
    return length(normal_of(t, s))
