"""Both cells of an agent, with their moments and sizes, outside polygons.

In polytopes of space, and in discs, ellipses, balls and ellipsoids; in the plane third coordinates
are 0. Uniform densities in polytopes are integrated along the borders of sheets, which is quicker
and exact to rounding; all others over the boundary of the cell.

Where gauge f = b t + c is the largest, t being the cosine of the angle with its own axis a, the
radial integrals of 1, z and |z|**2 are u-dependent parts times f**-3 / 3, f**-4 / 4 and f**-5 / 5.
With (t, phi) as coordinates on the sphere, Stokes' theorem turns the integral of any F(t) into one
of (int_t^1 F) dphi along the border, and that of F(t) times the part of u across the axis into one
of F(t) (u x a) dt. Both forms are smooth but for the far pole t = -1, where no gauge is positive.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.algebra import ZERO, along, cross, dot, less, put, row_of, scaled
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.common.quadrature import NODES, WEIGHTS
from dwell._kernels.star.arrangement import (
    BEYOND,
    BX,
    SHIFT,
    SLOPE,
    TOP,
    UX,
    E,
    F,
    M,
    borders_of,
    constraints_of,
)
from dwell._kernels.star.boundary_moments import boundary_moments
from dwell._kernels.star.extent import (
    ellipsoid_gap,
    extent,
    gap_to_boundary,
    hull_points,
    region_extent,
)
from dwell._kernels.star.sectors import sectors_of, sectors_of_borders
from dwell._kernels.star.sheets import (
    BORDER,
    CLEARANCE,
    CX,
    CY,
    LEAN,
    SHEET,
    W1,
    along_arc,
    boundary_nodes,
    flatter,
)

OK, EMPTY, OUTSIDE, TOO_SMALL = 0, 1, 2, 3
GUARANTEED, DUAL = 1.0, -1.0
COUNT = 12  # nodes on a piece of a border, of uniform densities
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
def side_terms(k, g, u, du, turn, gauge):
    """What one place of a border adds for the constraint k on its left, g = 1 / f there.

    turn: u x du. Gives (mass, first moments, polar), still to be divided.
    """
    axis = row_of(gauge, k, UX)
    t = dot(axis, u)
    h = 1.0 / gauge[k, TOP]
    # s_n = (int_t^1 f**-n) / (1 - t) = (g**(n-1) h + ... + g h**(n-1)) / (n - 1)
    gh = g * h
    s3 = 0.5 * gh * (g + h)
    s4 = gh * (g * g + gh + h * h) * (1.0 / 3.0)
    s5 = 0.25 * gh * (g + h) * (g * g + h * h)
    swept = dot(axis, turn) / (1.0 + t)  # (1 - t) dphi
    ahead = (s3 - gauge[k, SHIFT] * s4) / gauge[k, SLOPE] * swept
    first = along(scaled(ahead, axis), g * g * g * g * dot(axis, du), cross(u, axis))
    return s3 * swept, first, s5 * swept


@inner
def piece_terms(row, i, j, buffers):
    """What the piece of border of a sector adds, between the constraints i and j."""
    gauge, arc = buffers.gauge, buffers.arc
    e = int(row[BORDER])
    x, y, w = row[CX], row[CY], row[W1]
    p = along(scaled(x, row_of(arc, e, E)), y, row_of(arc, e, F))
    q = along(scaled(x, row_of(arc, e, F)), -y, row_of(arc, e, E))
    f0, f1, f2 = along_arc(flatter(e, gauge, buffers.owner), e, x, y, gauge, arc)
    total = (0.0, ZERO, 0.0)
    for s in range(COUNT):
        v = w * (2.0 * NODES[COUNT, s] - 1.0)
        d = 1.0 / (1.0 + v * v)
        cos = (1.0 - v * v) * d
        sin = 2.0 * v * d
        share = 2.0 * w * (2.0 * WEIGHTS[COUNT, s]) * d
        u = along(along(row_of(arc, e, M), cos, p), sin, q)
        du = along(scaled(cos, q), -sin, p)
        turn = cross(u, du)
        g = 1.0 / (f0 + cos * f1 + sin * f2)
        a = side_terms(i, g, u, du, turn, gauge)
        b = side_terms(j, g, u, du, turn, gauge)
        total = added(total, share, (a[0] - b[0], less(a[1], b[1]), a[2] - b[2]))
    return total


@inner
def added(total, share, terms):
    """total + share terms."""
    first = along(total[1], share, terms[1])
    return total[0] + share * terms[0], first, total[2] + share * terms[2]


@inner
def uniform_moments(sectors, buffers):
    """(mass, first moments, polar moment about the agent) of the cell with these sectors.

    Both sectors of a piece of border follow one another. Sums are taken border by border.
    """
    total = of_border = (0.0, ZERO, 0.0)
    for i in range(0, sectors, 2):
        row = buffers.sector[i]
        if i > 0 and row[BORDER] != buffers.sector[i - 1, BORDER]:
            total = added(total, 1.0, of_border)
            of_border = (0.0, ZERO, 0.0)
        sheets = int(row[SHEET]), int(buffers.sector[i + 1, SHEET])
        of_border = added(of_border, 1.0, piece_terms(row, sheets[0], sheets[1], buffers))
    mass, first, polar = added(total, 1.0, of_border)
    return mass / 3.0, scaled(0.25, first), polar / 5.0


@inner
def flatten(count, buffers):
    """Replace each sheet by the plane that touches it on its axis; the cell grows."""
    gauge = buffers.gauge
    for i in range(count):
        if buffers.label[i] >= 0:
            stretch = gauge[i, TOP] / gauge[i, SLOPE]
            put(gauge, i, BX, scaled(stretch, row_of(gauge, i, BX)))
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
    arcs, corners = borders_of(k, site.planar, buffers)
    return OK, k, arcs, corners


@inner
def weigh(count, sectors, p, site, terms, buffers):
    """(drop, mass, first moments, polar, error): all but the first times exp(drop)."""
    drop = mass = polar = error = 0.0
    first = ZERO
    plain = site.curved or terms.coefficients.shape[0] > 0
    if plain or terms.weights.shape[0] > 0:
        drop, mass, first, polar, error = boundary_moments(
            plain, count, sectors, site.planar, site.curved, (p[0], p[1], p[2]), terms, buffers
        )
    if terms.constant > 0.0 and not plain:
        w = terms.constant
        m, f, s = uniform_moments(sectors, buffers)
        mass, first, polar = mass + w * m, along(first, w, f), polar + w * s
    return drop, mass, first, polar, error


@inner
def sectors_for(count, arcs, site, terms, buffers):
    """The sectors of the boundary: of a uniform density in a polytope only those of borders."""
    if site.curved or terms.coefficients.shape[0] > 0 or terms.weights.shape[0] > 0:
        return sectors_of(site.planar, site.curved, count, arcs, buffers)
    return sectors_of_borders(False, False, arcs, buffers)


@inner
def size_of(count, sectors, corners, site, buffers):
    """(diameter, circumradius) of a cell with sheets that curve inwards, or a little more."""
    if not site.curved:
        return extent(corners, buffers.corner, buffers.ball)
    n = hull_points(site.planar, count, corners, sectors, buffers)
    return region_extent(site.planar, n, site.sizes, buffers)


@njit
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
def guaranteed_pair(terms, known, site, buffers):
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
    less_drop, m, f, _, off = weigh(k, sectors, p, site, terms, buffers)
    if buffers.flag[0] != 0:
        return TOO_SMALL, *none
    if not m > 0.0:
        return EMPTY, *none
    z = (f[0] / m, f[1] / m, f[2] / m)
    depth = gap(GUARANTEED, z, known, site)
    status, k, arcs, corners = arrange(DUAL, False, known, site, buffers)
    sectors = sectors_for(k, arcs, site, terms, buffers)
    diameter, circumradius = size_of(k, sectors, corners, site, buffers)
    drop, dual, _, _, more_off = weigh(k, sectors, p, site, terms, buffers)
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
def moments_of(sign, terms, known, site, buffers):
    """(log_scale, mass, first moments x, y, z, polar, error) of one cell.

    All but the first are divided by its exponential.
    """
    _, k, arcs, _ = arrange(sign, False, known, site, buffers)
    sectors = sectors_for(k, arcs, site, terms, buffers)
    drop, m, f, polar, error = weigh(k, sectors, known[0], site, terms, buffers)
    return -drop, m, f[0], f[1], f[2], polar, error


@njit
def outer_extent(sign, known, site, buffers):
    """(diameter, circumradius) of one cell, or a little more: with planes for convex sheets."""
    _, k, arcs, corners = arrange(sign, sign > 0.0, known, site, buffers)
    sectors = 0
    if site.curved:
        sectors = sectors_of(site.planar, True, k, arcs, buffers)
    return size_of(k, sectors, corners, site, buffers)


@njit
def sectors_in(sign, known, site, buffers):
    """How many sectors the boundary of one cell has, in buffers.sector."""
    _, k, arcs, _ = arrange(sign, False, known, site, buffers)
    return sectors_of(site.planar, site.curved, k, arcs, buffers)


@njit
def nodes_of(rule, boxes, site, buffers, out):
    """Points of the boundary with the flux of y through them, as rows (y, flux) of out[b].

    Box b is that part of sector boxes[b, 0] with t and s in the ranges boxes[b, 2:6].
    """
    node = buffers.node
    for b in range(boxes.shape[0]):
        box = (boxes[b, 2], boxes[b, 3], boxes[b, 4], boxes[b, 5])
        i = int(boxes[b, 0])
        for h in range(boundary_nodes(i, box, rule, rule, site.planar, site.curved, buffers, node)):
            y = row_of(node, h, 0)
            put(out[b], h, 0, y)
            out[b, h, 3] = dot(y, row_of(node, h, 3))
