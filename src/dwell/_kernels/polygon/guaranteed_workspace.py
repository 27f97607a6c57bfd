"""The workspace as seen from an agent in it: the envelope of its edges alone.

See guaranteed_envelope.py. And the distance of a point from the boundary of a cell.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.extent import sheet_gap
from dwell._kernels.polygon.guaranteed_envelope import (
    BX,
    BY,
    EX,
    EY,
    A,
    B,
    C,
    F,
    insert,
    put_arc,
)

NEAREST = 1e-12  # of the workspace's size: an edge counts as no nearer than this
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell
WIDE = 4.0  # half the side of the square that edges are cut from, in sizes of the workspace


@inner
def size_of(wx, wy):
    """Diagonal of the workspace's bounding box."""
    left = right = wx[0]
    low = high = wy[0]
    for k in range(wx.shape[0]):
        left = smaller(left, wx[k])
        right = larger(right, wx[k])
        low = smaller(low, wy[k])
        high = larger(high, wy[k])
    return math.sqrt((right - left) * (right - left) + (high - low) * (high - low))


@inner
def edge_of(k, px, py, wx, wy):
    """Outward unit normal of edge k and the distance of (px, py) from it."""
    j = k + 1 if k + 1 < wx.shape[0] else 0
    tx = wx[j] - wx[k]
    ty = wy[j] - wy[k]
    length = math.sqrt(tx * tx + ty * ty)
    nx = ty / length
    ny = -tx / length
    return nx, ny, (wx[k] - px) * nx + (wy[k] - py) * ny


@inner
def edge_functions(px, py, size, wx, wy, curves):
    """Fill in the edges' functions; return the distance to the nearest edge, negative outside.

    Edges next to the agent are moved away a little.
    """
    nearest = np.inf
    for k in range(wx.shape[0]):
        nx, ny, h = edge_of(k, px, py, wx, wy)
        nearest = smaller(nearest, h)
        h = larger(h, NEAREST * size)
        curves[k, BX] = nx / h
        curves[k, BY] = ny / h
        curves[k, C] = 0.0
        curves[k, EX] = nx
        curves[k, EY] = ny
        curves[k, F] = h
        curves[k, A] = 0.0
        curves[k, B] = 1.0
    return nearest


@inner
def ring_of_vertices(px, py, wx, wy, curves, ring):
    """The workspace's envelope for an agent well inside: vertices, and feet of wide edges."""
    n = wx.shape[0]
    m = 0
    for k in range(n):
        j = k + 1 if k + 1 < n else 0
        ax = wx[k] - px
        ay = wy[k] - py
        r = math.sqrt(ax * ax + ay * ay)
        m = put_arc(m, ax / r, ay / r, 1.0 / r, k, ring)
        if ax * (wx[j] - px) + ay * (wy[j] - py) <= 0.0:
            m = put_arc(m, curves[k, EX], curves[k, EY], 1.0 / curves[k, F], k, ring)
    return m


@inner
def ring_of_square(first, size, curves, ring):
    """A large square as functions first, ..., first + 3, and its ring."""
    level = 1.0 / (WIDE * size)
    tilt = math.sqrt(0.5)
    bx, by = level, 0.0
    ux, uy = tilt, -tilt
    for k in range(4):
        curves[first + k, BX] = bx
        curves[first + k, BY] = by
        curves[first + k, C] = 0.0
        put_arc(k, ux, uy, tilt * level, first + k, ring)
        bx, by = -by, bx
        ux, uy = -uy, ux
    return 4


@inner
def workspace_ring(px, py, wx, wy, env):
    """Envelope of the workspace alone, into env.ring0; return its arcs, 0 if (px, py) is outside.

    For an agent on the boundary edges are put one by one into the ring of a large square.
    """
    curves, ring = env.curves, env.ring0
    size = size_of(wx, wy)
    nearest = edge_functions(px, py, size, wx, wy, curves)
    if nearest < -BEYOND * size:
        return 0
    if nearest > NEAREST * size:
        return ring_of_vertices(px, py, wx, wy, curves, ring)
    m = ring_of_square(curves.shape[0] - 4, size, curves, ring)
    for k in range(wx.shape[0]):
        m = insert(k, m, curves, ring, env.side, env.ring2)
    return m


@inner
def gap_to_boundary(sign, zx, zy, px, py, n, qx, qy, radius, wx, wy):
    """Distance of z (relative to p) from the boundary of the cell; <= 0 outside it.

    The outside is the union of what each workspace edge and each agent takes away.
    """
    best = np.inf
    z = (zx, zy, 0.0)
    for k in range(wx.shape[0]):
        nx, ny, h = edge_of(k, px, py, wx, wy)
        best = smaller(best, h - (zx * nx + zy * ny))
    for j in range(n):
        dx = qx[j] - px
        dy = qy[j] - py
        r = radius[j]
        if dx * dx + dy * dy > r * r:
            best = sheet_gap(sign, z, (dx, dy, 0.0), r, best)
        elif sign > 0.0:
            return -0.5 * (r - math.sqrt(dx * dx + dy * dy))
    return best
