"""Voronoi cells in a ball or an ellipsoid of space: boundaries, moments, facets, nodes."""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.space.careful import sharpen
from dwell._kernels.space.cells import list_loops, voronoi_cell
from dwell._kernels.star.buffers import ANGLE, FAN, FIRST, LAST, NORMAL, OFFSET, STRETCH
from dwell._kernels.star.facets import (
    FULL,
    close_facet,
    frame_at,
    map_vertices,
    plane_of_facet,
    put_pieces_of_arcs,
    ring_of_facet,
)
from dwell._kernels.star.gaussian import gaussian_over_facet, gaussian_over_surface
from dwell._kernels.star.nearest import nearest_in_cell, nearest_on_facet
from dwell._kernels.star.plain import add_shifted, plain_over_facet, plain_over_surface
from dwell._kernels.star.rules import COUNT, NODES, WEIGHTS
from dwell._kernels.star.surface import (
    BAND,
    meets_cap,
    on_sphere,
    pole_of_patch,
    put_box,
    put_equator,
    surface_nodes,
    thin_patch,
)
from dwell._kernels.star.total import (
    NO_MASS,
    NOTHING,
    exponent_frame,
    is_plain,
    joined,
    part_of,
    put_total,
    unscaled,
)
from dwell._kernels.star.vectors import (
    along,
    dot,
    inverse_upper,
    less,
    put,
    row_of,
    transposed,
    upper,
    upper_of,
)

ACCEPTED = 1e-8  # relative error of the mass of a Gaussian component; above it ...
TARGET = 1e-10  # ... boxes are halved until each has at most this share of the mass as its error,
# and constants and monomials get more nodes
HIGHEST = 2.0  # rise of an exponent beyond the cell that is accepted
CLEAR = 0.2  # how far outside the cell a point is clearly outside
ON_FACET = 1e-12  # height of points that count as points of a facet
CROWDED = -3  # status: the buffers are too small for the cell's boundary


@inner
def list_facets(loops, place, w, g, sigma, grid, s, b):
    """Write the facets of a polyhedron that lie in the ball; return (facets, pieces, whole).

    Pieces may be FULL. Without any, the cell is the whole ball or empty.
    """
    facets = pieces = 0
    whole = True
    for k in range(loops):
        q = s.face[k]
        if q < 0:
            continue  # of the box round the ball
        d = (grid.x[q] - place[0], grid.y[q] - place[1], grid.z[q] - place[2])
        if facets == b.facet.shape[0]:
            return facets, FULL, False
        meets = plane_of_facet(facets, d, w, g, sigma, b.facet)
        if b.facet[facets, OFFSET] + dot(row_of(b.facet, facets, NORMAL), g) < 0.0:
            whole = False
        if not meets:
            continue
        first = pieces
        pieces = ring_of_facet(facets, first, s.crossing[k], s.crossing[k + 1], s.gone, g, sigma, b)
        if pieces == FULL:
            return facets, FULL, False
        if pieces > first:
            close_facet(facets, first, pieces, q, b.facet, b.piece)
            facets += 1
    if pieces == 0 and whole:
        put_equator(g, b.facet, b.arc)
        pieces = put_pieces_of_arcs(1, 0, 0, (0.0, 0.0, -1.0), b.piece, b.arc)
    return facets, pieces, whole and facets == 0


@inner
def build_cell(p, solid, grid, frame, s, b):
    """The boundary of agent p's cell into b.

    Return (status, facets, pieces, whole, g, sigma, squared distance of the nearest agent, agents
    compared with, in s.seen).
    """
    w = upper_of(frame.root)
    place = (grid.x[p], grid.y[p], grid.z[p])
    g, sigma = frame_at(place, frame.center, w)
    n, compared, nearest = voronoi_cell(p, solid, grid, s)
    if n == COINCIDENT:
        return COINCIDENT, 0, 0, False, g, sigma, nearest, compared
    if n == 0:
        return NO_MASS, 0, 0, False, g, sigma, nearest, compared
    sharpen(n, p, solid, grid, s)
    loops = list_loops(n, s)
    map_vertices(n, w, g, sigma, s.x, s.y, s.z, s.low, b.vertex)
    facets, pieces, whole = list_facets(loops, place, w, g, sigma, grid, s, b)
    if pieces == FULL:
        return CROWDED, 0, 0, False, g, sigma, nearest, compared
    status = 0 if pieces > 0 else NO_MASS
    return status, facets, pieces, whole, g, sigma, nearest, compared


@inner
def beside_cap(facets, q, uphill, g, facet):
    """The patch as a surface without the cap beyond the plane through q across `uphill`.

    The cell lies on the other side of that plane. The pole is opposite the cap, if that is not
    clearly outside the cell; else it is the middle of the cap, and sectors begin at its boundary.
    """
    size = math.sqrt(dot(uphill, uphill))
    top = (uphill[0] / size, uphill[1] / size, uphill[2] / size)
    pole = (-top[0], -top[1], -top[2])
    at = less(pole, g)
    outside = -1.0
    for f in range(facets):
        outside = max(outside, dot(row_of(facet, f, NORMAL), at) - facet[f, OFFSET])
    if outside < CLEAR:
        return True, -1.0, pole, 0.0, at, 0.0
    lift = min(1.0, dot(top, along(q, 1.0, g)))
    return True, -1.0, top, 0.0, less(top, g), math.sqrt((1.0 - lift) / (1.0 + lift))


@inner
def surface_of(k, facets, pieces, whole, g, sigma, b):
    """Surface k of a cell, its facets and then its patch: (whether there is one, pieces, surface).

    The patch is two hemispheres if the cell is the whole ball. `surface`: see surface_nodes.
    """
    if k < facets:
        normal = row_of(b.facet, k, NORMAL)
        surface = (False, 1.0, normal, b.facet[k, OFFSET], row_of(b.facet, k, FAN), 0.0)
        return True, int(b.facet[k, FIRST]), int(b.facet[k, LAST]), surface
    if whole:
        sign = 2.0 * k - 1.0
        pole = (0.0, 0.0, -sign)
        return True, 0, pieces, (True, sign, pole, 0.0, less(pole, g), 0.0)
    there = False
    for i in range(pieces):
        there = there or b.piece[i, ANGLE] > 0.0
    if k > facets or not there:
        return False, 0, 0, (True, 1.0, g, 0.0, g, 0.0)
    thin, pole = thin_patch(facets, pieces, g, b.facet, b.piece)
    if thin:
        return True, 0, pieces, (True, -1.0, pole, 0.0, (-g[0], -g[1], -g[2]), BAND)
    pole, nearest, clear = pole_of_patch(facets, g, b.facet, b.piece, pieces)
    if not clear:
        return True, 0, pieces, beside_cap(facets, row_of(b.facet, nearest, FAN), pole, g, b.facet)
    return True, 0, pieces, (True, -1.0, pole, 0.0, on_sphere(less(pole, g), g, sigma), 0.0)


@inner
def falling_patch(facets, first, last, surface, q, m, x, g, b):
    """The patch as a surface on whose rays from q a Gaussian component hardly rises.

    The cell lies below the plane through q across the gradient; beyond it the component is larger.
    If sectors of `surface` go there, the cap beyond a facet that q is on is left out, or that one.
    """
    down = transposed(m, x)
    size = math.sqrt(dot(down, down))
    if not size > 0.0:
        return surface
    top = (-down[0] / size, -down[1] / size, -down[2] / size)
    lift = dot(top, along(q, 1.0, g)) + 0.5 * HIGHEST / size
    if lift >= 1.0 or not meets_cap(first, last, surface, top, lift, b.piece):
        return surface
    for f in range(facets):
        normal = row_of(b.facet, f, NORMAL)
        if abs(b.facet[f, OFFSET] - dot(normal, q)) <= ON_FACET:
            other = beside_cap(facets, q, normal, g, b.facet)
            if not meets_cap(first, last, other, top, lift, b.piece):
                return other
    return beside_cap(facets, q, top, g, b.facet)


@inner
def apex_of(facets, whole, g, sigma, facet):
    """A point of the cell: the agent's own, if it is in the ball."""
    if whole:
        return -g[0], -g[1], -g[2]
    apex = (0.0, 0.0, 0.0)
    if sigma > 0.0:
        return apex
    for f in range(facets):
        apex = along(apex, 1.0 / facets, row_of(facet, f, FAN))
    return apex


@inner
def plain_sums(more, facets, pieces, whole, g, sigma, apex, place, inverse, terms, b):
    """Fill b.sums[0] with the sums of constant and monomials; return the error of the mass."""
    b.sums[:] = 0.0
    error = 0.0
    for k in range(facets + 2):
        there, first, last, surface = surface_of(k, facets, pieces, whole, g, sigma, b)
        if there:
            error += plain_over_surface(
                more, False, first, last, surface, apex, place, inverse, terms, b.piece, b.node,
                b.sums[0],
            )  # fmt: skip
            error -= plain_over_surface(
                more - 2, True, first, last, surface, apex, place, inverse, terms, b.piece, b.node,
                b.sums[1],
            )  # fmt: skip
    return abs(error)


@inner
def plain_part(facets, pieces, whole, g, sigma, place, inverse, terms, b):
    """The constant and the monomials over a cell, as a part: see total.py."""
    apex = apex_of(facets, whole, g, sigma, b.facet)
    error = plain_sums(0, facets, pieces, whole, g, sigma, apex, place, inverse, terms, b)
    if error > TARGET * abs(b.sums[0, 0]):
        error = plain_sums(7, facets, pieces, whole, g, sigma, apex, place, inverse, terms, b)
    return part_of(0.0, 1.0, b.sums[0], apex, inverse, error)


@inner
def gaussian_sums(allowed, facets, pieces, whole, g, sigma, q, m, x, inverse, b):
    """Fill b.sums[0] with the sums of a Gaussian component; return the error of the mass."""
    b.sums[:] = 0.0
    error = 0.0
    for k in range(facets + 2):
        there, first, last, surface = surface_of(k, facets, pieces, whole, g, sigma, b)
        if there:
            if surface[0] and not whole and surface[5] != BAND:
                surface = falling_patch(facets, first, last, surface, q, m, x, g, b)
            error += gaussian_over_surface(
                first, last, allowed, surface, q, m, x, inverse, b.piece, b.box, b.node, b.sums[0],
                b.sums[1],
            )  # fmt: skip
    return error


@inner
def gaussian_part(t, facets, pieces, whole, g, sigma, place, inverse, terms, b):
    """Gaussian component t over a cell, as a part.

    Where the error comes out too large, once more with boxes halved by their errors.
    """
    m, base = exponent_frame(t, place, inverse, terms)
    q = nearest_in_cell(facets, m, base, g, b.facet, b.piece)
    x = along(base, 1.0, upper(m, q))
    error = gaussian_sums(math.inf, facets, pieces, whole, g, sigma, q, m, x, inverse, b)
    mass = abs(b.sums[0, 0])
    if error > ACCEPTED * mass:
        allowed = TARGET * mass
        error = gaussian_sums(allowed, facets, pieces, whole, g, sigma, q, m, x, inverse, b)
    return part_of(-dot(x, x), terms.weights[t], b.sums[0], q, inverse, error)


@njit
def measure_many(lo, hi, agent, solid, grid, frame, s, b, terms, out):
    """Measure the cells of agent[lo] to agent[hi - 1], numbers in the grid, into rows of `out`."""
    inverse = inverse_upper(upper_of(frame.root))
    volume = inverse[0] * inverse[3] * inverse[5]
    for k in range(lo, hi):
        p = agent[k]
        status, facets, pieces, whole, g, sigma, nearest, _ = build_cell(
            p, solid, grid, frame, s, b
        )
        place = (grid.x[p], grid.y[p], grid.z[p])
        total = NOTHING
        if status == 0 and is_plain(terms):
            total = plain_part(facets, pieces, whole, g, sigma, place, inverse, terms, b)
        for t in range(terms.weights.shape[0] if status == 0 else 0):
            part = gaussian_part(t, facets, pieces, whole, g, sigma, place, inverse, terms, b)
            total = joined(total, part, inverse)
        put_total(status, facets, nearest, unscaled(total), volume, inverse, terms, out[k])


@njit
def facets_of(p, solid, grid, frame, s, b):
    """Write the boundary of a cell to b: (status, facets, agents compared with)."""
    status, facets, _, _, _, _, _, compared = build_cell(p, solid, grid, frame, s, b)
    return status, facets, compared


@njit
def facet_moments(f, place, log_scale, inverse, terms, b, out):
    """Moments 1, z and z z' over facet f of the cell in b, about the agent, into out[:10].

    Divided by exp(log_scale); lengths are those of v, but measures those of z.
    """
    out[:] = 0.0
    if is_plain(terms):
        b.sums[0, :] = 0.0
        plain_over_facet(f, 0, place, inverse, terms, b.facet, b.piece, b.sums[0])
        add_shifted(exponential(-log_scale), row_of(b.facet, f, FAN), b.sums[0], out)
    for t in range(terms.weights.shape[0]):
        m, base = exponent_frame(t, place, inverse, terms)
        _, q = nearest_on_facet(f, m, base, b.facet, b.piece)
        x = along(base, 1.0, upper(m, q))
        b.sums[0, :] = 0.0
        gaussian_over_facet(f, q, m, x, b.facet, b.piece, b.box, b.node, b.sums[0], b.sums[1])
        factor = terms.weights[t] * exponential(-dot(x, x) - log_scale)
        add_shifted(factor, q, b.sums[0], out)
    stretch = b.facet[f, STRETCH] * inverse[0] * inverse[3] * inverse[5]
    for k in range(10):
        out[k] *= stretch


@njit
def boxes_of(p, solid, grid, frame, s, b, out):
    """Write a box for each piece of each surface of a cell; return how many there are, or FULL.

    Rows: surface and piece, then ranges of t, s and the share r of the ray from the apex.
    """
    status, facets, pieces, whole, g, sigma, _, _ = build_cell(p, solid, grid, frame, s, b)
    if status == CROWDED:
        return FULL
    filled = 0
    for k in range(facets + 2):
        there, first, last, surface = surface_of(k, facets, pieces, whole, g, sigma, b)
        for i in range(first, last if there else first):
            if not surface[0] or b.piece[i, ANGLE] > 0.0:
                if filled < out.shape[0]:
                    put_box(filled, k, i, out)
                filled += 1
    return filled


@njit
def nodes_of_boxes(n, p, boxes, solid, grid, frame, s, b, out):
    """Write the nodes of each box of a cell to out[k], rows (z - position, weight).

    n: row of the rule each way.
    """
    _, facets, pieces, whole, g, sigma, _, _ = build_cell(p, solid, grid, frame, s, b)
    inverse = inverse_upper(upper_of(frame.root))
    volume = inverse[0] * inverse[3] * inverse[5]
    apex = apex_of(facets, whole, g, sigma, b.facet)
    for k in range(facets + 2):
        there, _, _, surface = surface_of(k, facets, pieces, whole, g, sigma, b)
        for row in range(boxes.shape[0]):
            if there and int(boxes[row, 0]) == k:
                fill_box(n, boxes[row], surface, apex, volume, inverse, b, out[row])


@inner
def fill_box(n, box, surface, apex, volume, inverse, b, out):
    """Write the nodes of one box: see nodes_of_boxes."""
    sides = (box[2], box[3], box[4], box[5])
    count = surface_nodes(int(box[1]), sides, n, n, surface, apex, b.piece, b.node)
    for h in range(count):
        d = row_of(b.node, h, 0)
        m = COUNT[n]
        for k in range(m):
            r = box[6] + (box[7] - box[6]) * NODES[n, k]
            put(out, h * m + k, 0, upper(inverse, along(apex, r, d)))
            weight = volume * b.node[h, 3] * WEIGHTS[n, k] * (box[7] - box[6])
            out[h * m + k, 3] = weight * r * r
