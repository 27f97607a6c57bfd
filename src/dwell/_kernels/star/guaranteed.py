"""Both cells of an agent, with their moments and sizes, outside polygons.

In polytopes of space, and in discs, ellipses, balls and ellipsoids; in the plane third coordinates
are 0. Uniform densities in polytopes are integrated along the borders of sheets, which is quicker
and exact to rounding; all others over the boundary of the cell.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.star.arrangement import borders_in_plane, borders_of
from dwell._kernels.star.boundary_moments import boundary_moments, put_nodes
from dwell._kernels.star.extent import extent, gap_to_boundary
from dwell._kernels.star.gauge import BEYOND, BX, BY, BZ, SHIFT, SLOPE, TOP, constraints_of
from dwell._kernels.star.region_extent import ellipsoid_gap, hull_points, region_extent
from dwell._kernels.star.sectors import (
    sectors_of,
)
from dwell._kernels.star.sheets import (
    CLEARANCE,
    LEAN,
)
from dwell._kernels.star.stokes import uniform_moments
from dwell._kernels.star.vectors import along, less

OK, EMPTY, OUTSIDE, TOO_SMALL = 0, 1, 2, 3
GUARANTEED, DUAL = 1.0, -1.0
NEAREST = 1e-10  # of 1 - |W (p - center)|**2: an agent counts as no nearer to a curved boundary


class Enclosure(NamedTuple):
    """A workspace: between planes normals . z <= offsets, and |W (z - center)| <= 1 if curved."""

    planar: bool
    curved: bool
    size: float
    normals: np.ndarray  # (w, 3) of a curved one: of a box that holds it with some margin
    offsets: np.ndarray  # (w,)
    root: np.ndarray  # (6,) the upper triangle of W
    center: np.ndarray  # (3,)
    sizes: np.ndarray  # (3,) semi-axes
    axes: np.ndarray  # (3, 3) their directions, one per row


@inner
def flatten(count, buffers):
    """Replace each sheet by the plane that touches it on its axis; the cell grows."""
    gauge = buffers.gauge
    for i in range(count):
        if buffers.label[i] >= 0:
            stretch = gauge[i, TOP] / gauge[i, SLOPE]
            gauge[i, BX] *= stretch
            gauge[i, BY] *= stretch
            gauge[i, BZ] *= stretch
            gauge[i, SLOPE] = gauge[i, TOP]
            gauge[i, SHIFT] = 0.0


@inner
def arrange(sign, flat, known, site, buffers):
    """(status, sheets, borders, corners) of one cell, in `buffers`.

    known: (p, L, 1 - |L|**2, n, q, R), with L = W (center - p). flat: with planes for sheets.
    """
    p, lean, clearance, n, q, radius = known
    k, coincident, nearest = constraints_of(
        sign, p, site.size, n, q, radius, site.normals, site.offsets, buffers.gauge, buffers.label
    )
    if nearest < -BEYOND * site.size or (site.curved and clearance < -BEYOND):
        return OUTSIDE, 0, 0, 0
    if coincident and sign > 0.0:
        return EMPTY, 0, 0, 0
    if flat:
        flatten(k, buffers)
    for i in range(6):
        buffers.region[i] = site.root[i]
    for i in range(3):
        buffers.region[LEAN + i] = lean[i]
    buffers.region[CLEARANCE] = larger(clearance, NEAREST)
    arcs, corners = borders_in_plane(k, buffers) if site.planar else borders_of(k, buffers)
    return OK, k, arcs, corners


@inner
def weigh(count, arcs, sectors, p, site, terms, buffers):
    """(drop, mass, first moments x, y, z, polar, error): all but the first times exp(drop)."""
    drop = m = fx = fy = fz = polar = error = 0.0
    monomials = terms.coefficients.shape[0] > 0
    plain = site.curved or monomials
    if plain or terms.weights.shape[0] > 0:
        drop, m, fx, fy, fz, polar, error = boundary_moments(
            plain, count, sectors, site.planar, site.curved, (p[0], p[1], p[2]), terms, buffers
        )
    if terms.constant > 0.0 and not plain:
        w = terms.constant
        a, b, c, d, f = uniform_moments(arcs, buffers)
        m, fx, fy, fz, polar = m + w * a, fx + w * b, fy + w * c, fz + w * d, polar + w * f
    return drop, m, fx, fy, fz, polar, error


@inner
def sectors_for(count, arcs, site, terms, buffers):
    """The sectors of the boundary if anything is integrated over them, else 0."""
    if site.curved or terms.coefficients.shape[0] > 0 or terms.weights.shape[0] > 0:
        return sectors_of(site.planar, site.curved, count, arcs, buffers)
    return 0


@inner
def size_of(count, sectors, corners, site, buffers):
    """(diameter, circumradius) of a cell with sheets that curve inwards, or a little more."""
    if not site.curved:
        return extent(corners, buffers.corner, buffers.ball)
    n = hull_points(site.planar, count, corners, sectors, buffers)
    return region_extent(site.planar, n, site.sizes, buffers)


@inner
def gap(sign, z, known, site):
    """Distance of z, relative to the agent, from the boundary of a cell; <= 0 outside it."""
    p, _, _, n, q, radius = known
    best = gap_to_boundary(sign, z, p, n, q, radius, site.normals, site.offsets)
    if site.curved:
        place = less(
            along(z, 1.0, (p[0], p[1], p[2])), (site.center[0], site.center[1], site.center[2])
        )
        best = smaller(best, ellipsoid_gap(place, site.sizes, site.axes))
    return best


@njit
def guaranteed_pair(known, site, terms, buffers):
    """Both cells of the agent at p (3,) among n others within R[j] of q[j].

    known: (p, L, 1 - |L|**2, n, q, R), with L = W (center - p). Return (status, mass, centroid x,
    y, z, distance of the centroid from the boundary) of the guaranteed cell, then (mass, diameter,
    circumradius) of the dual one, then an estimate of the relative error of both masses together.
    The centroid is relative to the agent; the two masses are divided by one common factor.
    status: OK; EMPTY when the guaranteed cell is empty or weighs nothing; OUTSIDE when the agent
    is outside the workspace; TOO_SMALL when `buffers` is too small. The rest is void then.
    """
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    p = known[0]
    status, k, arcs, corners = arrange(GUARANTEED, False, known, site, buffers)
    if status != OK:
        return status, *none
    sectors = sectors_for(k, arcs, site, terms, buffers)
    less_drop, m, fx, fy, fz, _, off = weigh(k, arcs, sectors, p, site, terms, buffers)
    if buffers.flag[0] != 0:
        return TOO_SMALL, *none
    if not m > 0.0:
        return EMPTY, *none
    z = (fx / m, fy / m, fz / m)
    depth = gap(GUARANTEED, z, known, site)
    status, k, arcs, corners = arrange(DUAL, False, known, site, buffers)
    sectors = sectors_for(k, arcs, site, terms, buffers)
    diameter, circumradius = size_of(k, sectors, corners, site, buffers)
    drop, dual, _, _, _, _, more_off = weigh(k, arcs, sectors, p, site, terms, buffers)
    if buffers.flag[0] != 0:
        return TOO_SMALL, *none
    error = off / m + more_off / dual
    m *= exponential(drop - less_drop)
    return OK, m, z[0], z[1], z[2], depth, dual, diameter, circumradius, error


@njit
def corners_of(sign, known, site, buffers):
    """How many corners one cell has, in buffers.corner; 0 if it is empty or p outside."""
    return arrange(sign, False, known, site, buffers)[3]


@njit
def moments_of(sign, known, site, terms, buffers):
    """(log_scale, mass, first moments x, y, z, polar, error) of one cell.

    All but the first are divided by its exponential.
    """
    _, k, arcs, _ = arrange(sign, False, known, site, buffers)
    sectors = sectors_for(k, arcs, site, terms, buffers)
    drop, m, fx, fy, fz, polar, error = weigh(k, arcs, sectors, known[0], site, terms, buffers)
    return -drop, m, fx, fy, fz, polar, error


@njit
def outer_extent(sign, known, site, buffers):
    """(diameter, circumradius) of one cell, or a little more: with planes for convex sheets."""
    _, k, arcs, corners = arrange(sign, sign > 0.0, known, site, buffers)
    sectors = 0
    if site.curved:
        sectors = sectors_of(site.planar, True, k, arcs, buffers)
    return size_of(k, sectors, corners, site, buffers)


@njit
def gap_of(sign, z, known, site):
    """Distance of z, relative to p, from the boundary of either cell; <= 0 outside it."""
    return gap(sign, (z[0], z[1], z[2]), known, site)


@njit
def extent_of(n, points, buffers):
    """(diameter, circumradius) of n points, rounded up."""
    return extent(n, points, buffers)


@njit
def nodes_of(parts, sign, known, site, buffers, table):
    """Points of the boundary with the flux of y through them: how many; see `put_nodes`."""
    _, k, arcs, _ = arrange(sign, False, known, site, buffers)
    sectors = sectors_of(site.planar, site.curved, k, arcs, buffers)
    return put_nodes(parts, sectors, site.planar, site.curved, buffers, table)
