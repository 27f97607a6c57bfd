"""Both cells of an agent in space, with what they weigh: all that a trigger asks for."""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import exponential
from dwell._kernels.shells.arcs import borders_of
from dwell._kernels.shells.bundle import rays_into
from dwell._kernels.shells.contour import uniform_moments
from dwell._kernels.shells.demands import BEYOND, BX, BY, BZ, SHIFT, SLOPE, TOP, demands_of
from dwell._kernels.shells.extent import extent, farthest_from, gap_to_boundary
from dwell._kernels.shells.fans import drop_of, fan_moments, set_apices

OK, EMPTY, OUTSIDE, NO_ROOM = 0, 1, 2, 3
GUARANTEED, DUAL = 1.0, -1.0


@inner
def weighed(count, arcs, corners, p, drop, terms, shell):
    """(mass, first moments x, y, z, polar) of the cell in `shell`, times exp(drop)."""
    m = fx = fy = fz = polar = 0.0
    if terms.constant > 0.0:
        m, fx, fy, fz, polar = uniform_moments(arcs, shell)
        w = terms.constant
        m, fx, fy, fz, polar = w * m, w * fx, w * fy, w * fz, w * polar
    if terms.weights.shape[0] > 0 or terms.coefficients.shape[0] > 0:
        reach = math.sqrt(farthest_from(0.0, 0.0, 0.0, corners, shell.corner)[1])
        a, b, c, d, f = fan_moments(count, arcs, p, drop, m, reach, shell, terms)
        m, fx, fy, fz, polar = m + a, fx + b, fy + c, fz + d, polar + f
    return m, fx, fy, fz, polar


@inner
def raised(count, arcs, corners, p, terms, shell):
    """Prepare the fans of the cell in `shell`; gives the e-folds to raise Gaussians by."""
    if terms.weights.shape[0] == 0 and terms.coefficients.shape[0] == 0:
        return 0.0
    set_apices(count, arcs, shell)
    reach = math.sqrt(farthest_from(0.0, 0.0, 0.0, corners, shell.corner)[1])
    return drop_of(count, arcs, p, reach, shell, terms)


@njit
def guaranteed_pair(p, size, n, q, radius, normals, offsets, terms, shell):
    """Both cells of the agent at p (3,) among n others within radius[j] of q[j].

    Gives (status, mass, centroid x, y, z, distance of the centroid from the boundary) of the
    guaranteed cell, then (mass, diameter, circumradius) of the dual one. The centroid is relative
    to the agent; the two masses are divided by one common factor. size: of the workspace.
    status: OK; EMPTY when the guaranteed cell is empty or weighs nothing; OUTSIDE when the agent
    is outside the workspace; NO_ROOM when `shell` is too small. The rest is void then.
    """
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    k, met, nearest = demands_of(
        DUAL, p, size, n, q, radius, normals, offsets, shell.demand, shell.label
    )
    if nearest < -BEYOND * size:
        return OUTSIDE, *none
    if met:
        return EMPTY, *none
    arcs, corners = borders_of(k, shell)
    diameter, circumradius = extent(corners, shell.corner)
    drop = raised(k, arcs, corners, p, terms, shell)
    dual = weighed(k, arcs, corners, p, drop, terms, shell)[0]
    if shell.flag[0] != 0:
        return NO_ROOM, *none
    k, met, nearest = demands_of(
        GUARANTEED, p, size, n, q, radius, normals, offsets, shell.demand, shell.label
    )
    arcs, corners = borders_of(k, shell)
    less = raised(k, arcs, corners, p, terms, shell)
    m, fx, fy, fz, _ = weighed(k, arcs, corners, p, less, terms, shell)
    if shell.flag[0] != 0:
        return NO_ROOM, *none
    if not m > 0.0:
        return EMPTY, *none
    z = (fx / m, fy / m, fz / m)
    gap = gap_to_boundary(GUARANTEED, z, p, n, q, radius, normals, offsets)
    m *= exponential(drop - less)
    return OK, m, z[0], z[1], z[2], gap, dual, diameter, circumradius


@njit
def corners_of(sign, p, size, n, q, radius, normals, offsets, shell):
    """(demands, borders, corners) of one cell, in `shell`; 0, 0, 0 if it is empty or p outside."""
    k, met, nearest = demands_of(
        sign, p, size, n, q, radius, normals, offsets, shell.demand, shell.label
    )
    if nearest < -BEYOND * size or (met and sign > 0.0):
        return 0, 0, 0
    arcs, corners = borders_of(k, shell)
    return k, arcs, corners


@njit
def outer_corners(p, size, n, q, radius, normals, offsets, shell):
    """Corners of a polyhedron round a guaranteed cell: each sheet is replaced by its first plane.

    A sheet bends away from the plane through its point on the axis, towards the agent.
    """
    k, _, _ = demands_of(
        GUARANTEED, p, size, n, q, radius, normals, offsets, shell.demand, shell.label
    )
    demand = shell.demand
    for i in range(k):
        if shell.label[i] >= 0:
            stretch = demand[i, TOP] / demand[i, SLOPE]
            demand[i, BX] *= stretch
            demand[i, BY] *= stretch
            demand[i, BZ] *= stretch
            demand[i, SLOPE] = demand[i, TOP]
            demand[i, SHIFT] = 0.0
    return borders_of(k, shell)[1]


@njit
def moments_of(count, arcs, corners, p, terms, shell):
    """(log_scale, mass, first moments x, y, z, polar) of the cell left in `shell` by `corners_of`.

    All but the first are divided by its exponential.
    """
    drop = raised(count, arcs, corners, p, terms, shell)
    m, fx, fy, fz, polar = weighed(count, arcs, corners, p, drop, terms, shell)
    return -drop, m, fx, fy, fz, polar


@njit
def gap_of(sign, z, p, n, q, radius, normals, offsets):
    """Distance of z, relative to p, from the boundary of either cell; <= 0 outside it."""
    return gap_to_boundary(sign, (z[0], z[1], z[2]), p, n, q, radius, normals, offsets)


@njit
def extent_of(n, points):
    """(diameter, circumradius) of n points, rounded up."""
    return extent(n, points)


@njit
def rays_of(count, arcs, parts, rays, shell, out):
    """Rays through the cell left in `shell`: (u, reach, solid angle with its sign) into `out`.

    Each box of directions is cut into `parts` both ways, with `rays` rays across each. Gives how
    many rays there are; `out` may be too short, even empty.
    """
    set_apices(count, arcs, shell)
    return rays_into(arcs, parts, rays, shell, out)
