"""Guaranteed and dual guaranteed cells with their moments: the input of a self-trigger.

The agent at p knows its own position, and of each other agent j that it is within R of q. The
guaranteed cell is certainly nearest to the agent; the dual guaranteed one may be nearest:

    {z: |z - p| + R <= |z - q| for all j},    {z: |z - p| <= |z - q| + R for all j},

both within the workspace. See guaranteed_envelope.py for how they are found.
"""

import math

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential, larger, range_of, smaller
from dwell._kernels.common.extent import circle_round, sheet_gap
from dwell._kernels.polygon.guaranteed_contour import AMPLIFICATION, TOO_FAR, gaussian_contour
from dwell._kernels.polygon.guaranteed_envelope import (
    BX,
    BY,
    DUAL,
    EX,
    EY,
    FUNCTION,
    GUARANTEED,
    A,
    B,
    C,
    F,
    insert,
    list_vertices,
    lowest,
    put_arc,
    ring_of,
    see_agents,
)  # fmt: skip
from dwell._kernels.polygon.guaranteed_grid import guaranteed_grid_moments
from dwell._kernels.polygon.guaranteed_moments import (
    NOTHING,
    added,
    constant_moments,
    cut_into_panels,
    gaussian_patches,
    polynomial_moments,
)

OK, EMPTY, OUTSIDE = 0, 1, 2
NEGLIGIBLE = 1e-40  # of the mass so far
NEAREST = 1e-12  # of the workspace's size: an edge counts as no nearer than this
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell
WIDE = 4.0  # half the side of the square that edges are cut from, in sizes of the workspace


@inner
def size_of(wx, wy):
    """Diagonal of the workspace's bounding box."""
    left, right = range_of(wx.shape[0], wx)
    low, high = range_of(wx.shape[0], wy)
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


@inner
def holds_point(m, x, y, ring, curves):
    """Whether the point (x, y) lies in the cell with a ring of m arcs."""
    r = math.sqrt(x * x + y * y)
    for i in range(m):
        k = int(ring[i, FUNCTION])
        if x * curves[k, BX] + y * curves[k, BY] + curves[k, C] * r > 1.0:
            return False
    return True


@inner
def joined(scale, total, more_scale, weight, more):
    """Add `weight` times some moments to `total`, each divided by the exponential of its scale."""
    more = added(NOTHING, weight, more)
    if more_scale > scale:
        scale, total, more_scale, more = more_scale, more, scale, total
    return scale, added(total, exponential(more_scale - scale), more)


@inner
def component_moments(m, rho, g, px, py, ox, oy, positive, count, env):
    """(log_scale, (mass, first x, first y, polar)) about (ox, oy) of one row of Terms.gaussians.

    By contour where that keeps its digits (then the polar moment is left out), else by patches.
    """
    cx = g[1] - px
    cy = g[2] - py
    white = (g[6], g[7], g[8])
    if not positive:
        inside = holds_point(m, cx, cy, env.ring, env.curves)
        grown, scale, mass, x, y = gaussian_contour(inside, rho, cx, cy, white, count, env)
        if grown <= AMPLIFICATION:
            return scale, (mass, x, y, 0.0)
    return gaussian_patches(cx, cy, (g[3], g[4], g[5]), white, ox, oy, count, env)


@inner
def least_drop(rho, g, px, py):
    """A lower bound on the e-folds between a Gaussian's peak and any point within rho of p."""
    x = g[6] * (px - g[1]) + g[7] * (py - g[2])
    y = g[8] * (py - g[2])
    gap = math.sqrt(x * x + y * y) - rho * math.sqrt(g[6] * g[6] + g[7] * g[7] + g[8] * g[8])
    return gap * gap if gap > 0.0 else 0.0


@inner
def ring_moments(m, px, py, terms, ox, oy, positive, env):
    """(log_scale, (mass, first x, first y, polar)) about (ox, oy) of the ring of m arcs in env.

    positive: sums of positive parts only, which takes longer, and polar moments as well; without,
    (ox, oy) must be (0, 0). Distant components come last, and only if they still count.
    """
    count = cut_into_panels(m, env)
    rho = 1.0 / lowest(m, env.ring)
    scale = -math.inf
    total = NOTHING
    if terms.constant > 0.0:
        more = constant_moments(ox, oy, count, env)
        scale, total = joined(scale, total, 0.0, terms.constant, more)
    for t in range(terms.polynomials.shape[0]):
        x0 = px - terms.origins[t, 0]
        y0 = py - terms.origins[t, 1]
        more = polynomial_moments(terms.polynomials[t], x0, y0, ox, oy, count, env)
        scale, total = joined(scale, total, 0.0, 1.0, more)
    components = terms.gaussians.shape[0]
    for k in range(2 * components):
        g = terms.gaussians[k % components]
        drop = least_drop(rho, g, px, py)
        most = g[0] * (4.0 * rho * rho) * exponential(smaller(0.0, -drop - scale))
        if (drop > TOO_FAR) == (k >= components) and most > NEGLIGIBLE * total[0]:
            drop, more = component_moments(m, rho, g, px, py, ox, oy, positive, count, env)
            scale, total = joined(scale, total, drop, g[0], more)
    return scale, total


@inner
def mark_shown(m, n, edges, env):
    """Mark those of n agents that bound the cell, besides those marked before."""
    for i in range(m):
        j = int(env.ring[i, FUNCTION]) - edges
        if 0 <= j < n:
            env.shows[j] = 1


@njit
def guaranteed_pair(px, py, n, qx, qy, radius, wx, wy, terms, env):
    """Both cells of the agent at (px, py) among n others within radius[j] of (qx[j], qy[j]).

    Returns (status, mass, centroid x, centroid y, distance of the centroid from the boundary) of
    the guaranteed cell, then (mass, centroid x, centroid y, diameter, circumradius) of the dual
    one. Centroids are relative to the agent. The two masses are divided by one common factor.
    status: OK; EMPTY when the guaranteed cell is empty or without mass (the dual is still right);
    OUTSIDE when the agent is outside the workspace (the rest is then 0).
    """
    edges = wx.shape[0]
    m0 = workspace_ring(px, py, wx, wy, env)
    occupied = see_agents(px, py, n, qx, qy, radius, env.seen)
    if m0 == 0:
        return OUTSIDE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    on_grid = terms.lattice.shape[0] > 0
    scale = scale_d = 0.0
    total = total_d = NOTHING
    diameter = circumradius = 0.0
    vertices = 0
    env.shows[:n] = 0
    for turn in range(1 if occupied else 2):  # the dual first: its vertices bound the grid
        m = ring_of(DUAL if turn == 0 else GUARANTEED, m0, n, edges, env)
        if turn == 0:
            vertices = list_vertices(m, edges, env)
            diameter, _, _, circumradius = circle_round(vertices, env.corner, env.ball)
        if on_grid:
            mark_shown(m, n, edges, env)
        else:
            scale, total = ring_moments(m, px, py, terms, 0.0, 0.0, False, env)
        if turn == 0:
            scale_d, total_d = scale, total
    if on_grid:
        total_d, total = guaranteed_grid_moments(
            px, py, n, vertices, not occupied, terms.lattice, terms.frame, env.seen, env.shows,
            env.corner, env.row,
        )  # fmt: skip
    md = total_d[0]
    dx = dy = 0.0
    if md > 0.0:
        dx = total_d[1] / md
        dy = total_d[2] / md
    if occupied or not total[0] > 0.0:
        return EMPTY, 0.0, 0.0, 0.0, 0.0, md, dx, dy, diameter, circumradius
    mg = total[0] * exponential(scale - scale_d)
    gx = total[1] / total[0]
    gy = total[2] / total[0]
    gap = gap_to_boundary(GUARANTEED, gx, gy, px, py, n, qx, qy, radius, wx, wy)
    return OK, mg, gx, gy, gap, md, dx, dy, diameter, circumradius


@inner
def one_ring(dual, px, py, n, qx, qy, radius, wx, wy, env):
    """The ring of one cell alone; return its arcs, 0 for an empty cell or p outside."""
    m = workspace_ring(px, py, wx, wy, env)
    occupied = see_agents(px, py, n, qx, qy, radius, env.seen)
    if m == 0 or (occupied and not dual):
        return 0
    return ring_of(DUAL if dual else GUARANTEED, m, n, wx.shape[0], env)


@njit
def corners_of(dual, px, py, n, qx, qy, radius, wx, wy, env):
    """Vertices of one cell, dual or guaranteed, into env.corner and env.label; return how many.

    Counter-clockwise and relative to the agent; the piece after vertex k lies on the curve of agent
    label[k] if that is >= 0, else on workspace edge -1 - label[k]. 0: the cell is empty, or p is
    outside.
    """
    m = one_ring(dual, px, py, n, qx, qy, radius, wx, wy, env)
    return list_vertices(m, wx.shape[0], env)


@njit
def star_moments_of(dual, px, py, n, qx, qy, radius, wx, wy, terms, ox, oy, env):
    """(log_scale, mass, first x, first y, polar) of one cell about (ox, oy), relative to p.

    For densities that are integrated exactly. Slower than `guaranteed_pair`, but all parts of the
    sums are positive. The last four are divided by exp(log_scale); all are 0 for an empty cell.
    """
    m = one_ring(dual, px, py, n, qx, qy, radius, wx, wy, env)
    if m == 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    scale, total = ring_moments(m, px, py, terms, ox, oy, True, env)
    return scale, total[0], total[1], total[2], total[3]


@njit
def panels_of(dual, px, py, n, qx, qy, radius, wx, wy, env):
    """The boundary in panels, into env.panels, env.owner, env.curves; return how many."""
    m = one_ring(dual, px, py, n, qx, qy, radius, wx, wy, env)
    return cut_into_panels(m, env)


@njit
def gap_of(dual, x, y, px, py, n, qx, qy, radius, wx, wy):
    """Distance of a point, relative to p, from the boundary of either cell; <= 0 outside it."""
    sign = DUAL if dual else GUARANTEED
    return gap_to_boundary(sign, x, y, px, py, n, qx, qy, radius, wx, wy)
