"""Guaranteed and dual guaranteed cells with what they weigh: all that a self-trigger asks for.

The agent at p knows its own place, and of each other agent j that it is within R of q. What is
certainly nearest to the agent is its guaranteed cell; what may be, the dual guaranteed one:

    {z: |z - p| + R <= |z - q| for all j},    {z: |z - p| <= |z - q| + R for all j},

both within the workspace. See guaranteed_envelope.py for how they are found.
"""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential, smaller
from dwell._kernels.polygon.guaranteed_contour import AMPLIFICATION, TOO_FAR, gaussian_contour
from dwell._kernels.polygon.guaranteed_envelope import (
    BX,
    BY,
    DUAL,
    GUARANTEED,
    C,
    Envelope,
    face_agents,
    lowest,
    make_envelope,
    ring_of,
    tell_corners,
)
from dwell._kernels.polygon.guaranteed_grid import lattice_pair
from dwell._kernels.polygon.guaranteed_panels import (
    constant_moments,
    cut_into_panels,
    polynomial_moments,
)
from dwell._kernels.polygon.guaranteed_patches import gaussian_patches
from dwell._kernels.polygon.guaranteed_shape import (
    extent,
    gap_to_boundary,
    smallest_circle,
    widest_pair,
)
from dwell._kernels.polygon.guaranteed_workspace import walls_around

__all__ = [
    "EMPTY",
    "OK",
    "OUTSIDE",
    "Envelope",
    "corners_of",
    "distance_in",
    "guaranteed_pair",
    "make_envelope",
]

OK, EMPTY, OUTSIDE = 0, 1, 2
NEGLIGIBLE = 1e-40  # of the mass so far


@inner
def holds_point(m, x, y, arc, curves):
    """Whether the point (x, y) lies in the cell with a ring of m arcs."""
    r = math.sqrt(x * x + y * y)
    for i in range(m):
        k = arc[i]
        if x * curves[k, BX] + y * curves[k, BY] + curves[k, C] * r > 1.0:
            return False
    return True


@inner
def joined(scale, total, more_scale, weight, m, x, y, polar):
    """Add `weight` times some moments to `total`, each divided by the exponential of its scale."""
    more = (weight * m, weight * x, weight * y, weight * polar)
    if more_scale > scale:
        scale, total, more_scale, more = more_scale, more, scale, total
    u = exponential(more_scale - scale)
    return scale, (
        total[0] + u * more[0],
        total[1] + u * more[1],
        total[2] + u * more[2],
        total[3] + u * more[3],
    )


@inner
def hill_moments(m, rho, g, px, py, ox, oy, positive, count, env):
    """(log_scale, mass, first x, first y, polar) about (ox, oy) of one row of Terms.gaussians.

    By contour where that keeps its digits (then the polar moment is left out), else by patches.
    """
    cx = g[1] - px
    cy = g[2] - py
    white = (g[6], g[7], g[8])
    if not positive:
        inside = holds_point(m, cx, cy, env.arc, env.curves)
        grown, scale, mass, x, y = gaussian_contour(
            inside, rho, cx, cy, white, count, env.panels, env.owner, env.curves, env.node
        )
        if grown <= AMPLIFICATION:
            return scale, mass, x, y, 0.0
    return gaussian_patches(
        cx, cy, (g[3], g[4], g[5]), white, ox, oy, count, env.panels, env.owner, env.curves,
        env.node, env.pending,
    )  # fmt: skip


@inner
def least_drop(rho, g, px, py):
    """At least so many e-folds lie between the top of a hill and any point within rho of p."""
    x = g[6] * (px - g[1]) + g[7] * (py - g[2])
    y = g[8] * (py - g[2])
    gap = math.sqrt(x * x + y * y) - rho * math.sqrt(g[6] * g[6] + g[7] * g[7] + g[8] * g[8])
    return gap * gap if gap > 0.0 else 0.0


@inner
def ring_moments(m, px, py, terms, ox, oy, positive, env):
    """(log_scale, (mass, first x, first y, polar)) about (ox, oy) of the ring of m arcs in env.

    positive: sums of positive parts only, which takes longer, and polar moments as well; without,
    (ox, oy) must be (0, 0). Hills far away come last, and only if they still count.
    """
    curves, panels, owner = env.curves, env.panels, env.owner
    count = cut_into_panels(m, env.ring, env.arc, curves, panels, owner)
    rho = 1.0 / lowest(m, env.ring)
    scale = -math.inf
    total = (0.0, 0.0, 0.0, 0.0)
    if terms.constant > 0.0:
        mass, x, y, polar = constant_moments(ox, oy, count, panels, owner, curves)
        scale, total = joined(scale, total, 0.0, terms.constant, mass, x, y, polar)
    for t in range(terms.polynomials.shape[0]):
        x0 = px - terms.origins[t, 0]
        y0 = py - terms.origins[t, 1]
        mass, x, y, polar = polynomial_moments(
            terms.polynomials[t], x0, y0, ox, oy, count, panels, owner, curves
        )
        scale, total = joined(scale, total, 0.0, 1.0, mass, x, y, polar)
    hills = terms.gaussians.shape[0]
    for k in range(2 * hills):
        g = terms.gaussians[k % hills]
        drop = least_drop(rho, g, px, py)
        most = g[0] * (4.0 * rho * rho) * exponential(smaller(0.0, -drop - scale))
        if (drop > TOO_FAR) == (k >= hills) and most > NEGLIGIBLE * total[0]:
            more, mass, x, y, polar = hill_moments(m, rho, g, px, py, ox, oy, positive, count, env)
            scale, total = joined(scale, total, more, g[0], mass, x, y, polar)
    return scale, total


@inner
def mark_shown(m, n, walls, arc, shows):
    """Note which of n agents bound the cell, besides those noted before."""
    for i in range(m):
        if walls <= arc[i] < walls + n:
            shows[arc[i] - walls] = 1


@inner
def look_around(px, py, n, qx, qy, radius, wx, wy, env):
    """Walls and agents seen from (px, py): (arcs of the walls, 0 outside; whether one is met)."""
    m = walls_around(px, py, wx, wy, env.curves, env.ring0, env.arc0, env.side, env.ring2, env.arc2)
    return m, face_agents(px, py, n, qx, qy, radius, env.seen)


@inner
def ring_in(dual, m, n, walls, env):
    """The ring of one cell, in env; m: arcs of the walls alone."""
    return ring_of(
        DUAL if dual else GUARANTEED, m, n, walls, env.seen, env.curves, env.ring0, env.arc0,
        env.side, env.ring, env.arc, env.ring2, env.arc2,
    )  # fmt: skip


@njit
def guaranteed_pair(px, py, n, qx, qy, radius, wx, wy, terms, env):
    """Both cells of the agent at (px, py) among n others within radius[j] of (qx[j], qy[j]).

    Gives (status, mass, centroid x, centroid y, distance of the centroid from the boundary) of the
    guaranteed cell, then (mass, centroid x, centroid y, diameter, circumradius) of the dual one.
    Centroids are relative to the agent. The two masses are divided by one common factor.
    status: OK; EMPTY when the guaranteed cell is empty or weighs nothing (the dual is still right);
    OUTSIDE when the agent is outside the workspace (the rest is then 0).
    """
    walls = wx.shape[0]
    m0, met = look_around(px, py, n, qx, qy, radius, wx, wy, env)
    if m0 == 0:
        return OUTSIDE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    on_lattice = terms.lattice.shape[0] > 0
    scale = scale_d = 0.0
    total = total_d = (0.0, 0.0, 0.0, 0.0)
    diameter = circumradius = 0.0
    corners = 0
    env.shows[:n] = 0
    for turn in range(1 if met else 2):  # the dual first: its corners bound the lattice
        m = ring_in(turn == 0, m0, n, walls, env)
        if turn == 0:
            corners = tell_corners(m, walls, env.ring, env.arc, env.x, env.y, env.label)
            diameter, circumradius = extent(corners, env.x, env.y)
        if on_lattice:
            mark_shown(m, n, walls, env.arc, env.shows)
        else:
            scale, total = ring_moments(m, px, py, terms, 0.0, 0.0, False, env)
        if turn == 0:
            scale_d, total_d = scale, total
    if on_lattice:
        total_d, total = lattice_pair(
            px, py, n, corners, not met, terms.lattice, terms.frame, env.seen, env.shows,
            env.x, env.y, env.row,
        )  # fmt: skip

    md = total_d[0]
    dx = dy = 0.0
    if md > 0.0:
        dx = total_d[1] / md
        dy = total_d[2] / md
    if met or not total[0] > 0.0:
        return EMPTY, 0.0, 0.0, 0.0, 0.0, md, dx, dy, diameter, circumradius
    mg = total[0] * exponential(scale - scale_d)
    gx = total[1] / total[0]
    gy = total[2] / total[0]
    gap = gap_to_boundary(GUARANTEED, gx, gy, px, py, n, qx, qy, radius, wx, wy)
    return OK, mg, gx, gy, gap, md, dx, dy, diameter, circumradius


@inner
def one_ring(dual, px, py, n, qx, qy, radius, wx, wy, env):
    """The ring of one cell, from scratch; gives its arcs, 0 for an empty cell or p outside."""
    m, met = look_around(px, py, n, qx, qy, radius, wx, wy, env)
    if m == 0 or (met and not dual):
        return 0
    return ring_in(dual, m, n, wx.shape[0], env)


@njit
def corners_of(dual, px, py, n, qx, qy, radius, wx, wy, env):
    """Corners of one cell, dual or guaranteed, into env.x, env.y, env.label; gives how many.

    Counter-clockwise and relative to the agent; the piece after corner k lies on the curve of agent
    label[k] if that is >= 0, else on wall -1 - label[k]. 0: the cell is empty, or p is outside.
    """
    m = one_ring(dual, px, py, n, qx, qy, radius, wx, wy, env)
    return tell_corners(m, wx.shape[0], env.ring, env.arc, env.x, env.y, env.label)


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
    """The boundary in panels, into env.panels, env.owner, env.curves; gives how many."""
    m = one_ring(dual, px, py, n, qx, qy, radius, wx, wy, env)
    return cut_into_panels(m, env.ring, env.arc, env.curves, env.panels, env.owner)


@njit
def gap_of(dual, x, y, px, py, n, qx, qy, radius, wx, wy):
    """Distance of a point, relative to p, from the boundary of either cell; <= 0 outside it."""
    sign = DUAL if dual else GUARANTEED
    return gap_to_boundary(sign, x, y, px, py, n, qx, qy, radius, wx, wy)


@njit
def circle_round(n, x, y):
    """(diameter, circle's x, y and radius) of n points and the smallest circle round them."""
    i, j, widest = widest_pair(n, x, y)
    cx, cy, squared = smallest_circle(i, j, n, x, y)
    return math.sqrt(widest), cx, cy, math.sqrt(squared)


@njit
def distance_in(point_x, point_y, px, py, n, qx, qy, radius, wx, wy):
    """Distance of a point, relative to p, from the guaranteed cell's boundary; <= 0 outside it."""
    return gap_to_boundary(GUARANTEED, point_x, point_y, px, py, n, qx, qy, radius, wx, wy)
