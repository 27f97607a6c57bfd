"""Moments of a density over one cell or facet, and quadrature nodes of it."""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.space.moments import degree_of
from dwell._kernels.star.buffers import ANGLE, FAN, STRETCH, WEIGHED
from dwell._kernels.star.cones import (
    WHOLE,
    add_cone,
    along_ray,
    gaussian_over_surface,
    nearest_in_cell,
    nearest_on_facet,
)
from dwell._kernels.star.rules import COUNT, NODES, WEIGHTS
from dwell._kernels.star.surface import EDGES, FLAT, PATCH, falling_patch, surface_nodes, surface_of
from dwell._kernels.star.vectors import (
    ZERO,
    along,
    dot,
    inverse_upper,
    less,
    put,
    row_of,
    times_upper,
    upper,
    upper_of,
)

ON_EDGE = 10  # nodes on an arc of a planar region; of polynomials more, by their degree
ON_ARC = 12  # nodes on an arc in space
ON_PATCH = 13  # nodes from the pole of a patch to its boundary
NO_MASS = -2  # status: the cell is empty or has no mass
# Columns of a measurement; ERROR takes three.
STATUS, ERROR, LOG_SCALE, MASS, SPREAD, NEIGHBORS, NEAREST, MASS_ERROR = 0, 1, 4, 5, 6, 7, 8, 9
COLUMNS = 10
TRUNCATION = 1e-13  # of a Gaussian component: what lies beyond DEPTH along the rays
ROUNDING = 4e-16  # of all terms of a sum, without signs
SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
ACCEPTED = 1e-8  # relative error of the mass of a Gaussian component; above it ...
TARGET = 1e-10  # ... boxes are halved until each has at most this share of the mass as its error,
MORE = 7  # ... and constants and monomials get so many nodes more
# A part is (log_scale, mass, centroid, spread, error of the mass, amplification); `spread` is the
# second moment about the centroid.
NOTHING = (0.0, 0.0, ZERO, 0.0, 0.0, 1.0)


@inner
def part_of(log_scale, weight, sums, apex, inverse, error):
    """Sums about an apex as a part."""
    mass = sums[0]
    if not mass > 0.0:
        return 0.0, 0.0, ZERO, 0.0, weight * error, 1.0
    e = (sums[1] / mass, sums[2] / mass, sums[3] / mass)
    z = upper(inverse, e)
    a, b, c, d, f, h = inverse  # about the apex, in z: the trace of inverse S inverse'
    polar = a * a * sums[4] + (b * b + d * d) * sums[7] + (c * c + f * f + h * h) * sums[9]
    polar += 2.0 * (a * b * sums[5] + a * c * sums[6] + (b * c + d * f) * sums[8])
    spread = max(0.0, polar - mass * dot(z, z))
    grown = sums[WEIGHED] / mass
    return log_scale, weight * mass, along(apex, 1.0, e), weight * spread, weight * error, grown


@inner
def joined(a, b, inverse):
    """Two parts as one, added up without cancellation."""
    if not b[1] > 0.0:
        return a
    if not a[1] > 0.0:
        return b
    if a[0] < b[0]:
        a, b = b, a
    share = exponential(b[0] - a[0])
    more = share * b[1]
    mass = a[1] + more
    gap = less(b[2], a[2])
    z = upper(inverse, gap)
    spread = a[3] + share * b[3] + a[1] * (more / mass) * dot(z, z)
    grown = (a[5] * a[1] + b[5] * more) / mass
    return a[0], mass, along(a[2], more / mass, gap), spread, a[4] + share * b[4], grown


@inner
def unscaled(part):
    """The part with log_scale 0, where doubles can hold it."""
    scale = part[0]
    if scale == 0.0 or scale < SAFE_EXPONENT:
        return part
    u = exponential(scale)
    return 0.0, u * part[1], part[2], u * part[3], u * part[4], part[5]


@inner
def is_plain(terms):
    """Whether a density has a constant or monomials."""
    return terms.constant != 0.0 or terms.coefficients.shape[0] > 0


@inner
def apex_of(cell, facet):
    """A point of the cell: the agent's own, if it is in the ball."""
    if cell.only >= 0:
        return row_of(facet, cell.only, FAN)
    g, sigma, _ = cell.ball
    apex = (-g[0], -g[1], -g[2]) if cell.whole else ZERO
    if sigma <= 0.0 and not cell.whole:
        for f in range(cell.facets):
            apex = along(apex, 1.0 / cell.facets, row_of(facet, f, FAN))
    return apex


@inner
def plain_over_surface(
    more, arcs_only, first, last, surface, apex, place, inverse, terms, piece, node, out
):  # fmt: skip
    """Add constant and monomials over the cones to pieces first to last - 1 to `out`.

    Return the mass of those of arcs; others are added unless `arcs_only`. With `more` nodes each
    way on them than usual.
    """
    half = degree_of(terms.powers) // 2
    dimension = 2 if surface.kind == EDGES else 3
    flat = surface.kind in (EDGES, FLAT)
    on_arc = (ON_EDGE if surface.kind == EDGES else ON_ARC) + half + more
    ns = half + 2 if flat else ON_PATCH + half + more
    curved = 0.0
    for i in range(first, last):
        arc = piece[i, ANGLE] > 0.0
        if not arc and (not flat or arcs_only):
            continue
        before = out[0]
        nt = on_arc if arc else half + 2
        for k in range(surface_nodes(i, WHOLE, nt, ns, surface, apex, piece, node)):
            d = row_of(node, k, 0)
            j = along_ray(d, apex, dimension, half + dimension, place, inverse, terms)
            add_cone(d, node[k, 3], j, out)
        if arc:
            curved += out[0] - before
    return curved


@inner
def plain_sums(more, cell, apex, place, inverse, terms, b):
    """Fill b.sums[0] with the sums of constant and monomials; return the error of the mass."""
    b.sums[:] = 0.0
    error = 0.0
    for k in range(cell.facets + 2):
        there, first, last, surface = surface_of(k, cell, b)
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
def gaussian_sums(allowed, cell, component, b):
    """Fill b.sums[0] with the sums of a Gaussian component; return the error of the mass."""
    q, m, x = component
    b.sums[:] = 0.0
    error = 0.0
    for k in range(cell.facets + 2):
        there, first, last, surface = surface_of(k, cell, b)
        if there:
            if surface.kind == PATCH and not cell.whole:
                surface = falling_patch(cell, surface, q, m, x, b)
            error += gaussian_over_surface(first, last, allowed, surface, component, b)
    return error


@inner
def component_at(t, cell, place, inverse, terms, b):
    """(q, M, b + M q) of Gaussian component t: it is exp(-|M v + b|**2), and largest at q."""
    root = upper_of(terms.roots[t])
    m = times_upper(root, inverse)
    base = upper(root, less(place, row_of(terms.centers, t, 0)))
    if cell.only >= 0:
        _, q = nearest_on_facet(cell.only, m, base, b.facet, b.piece)
    else:
        q = nearest_in_cell(cell, m, base, b.facet, b.piece)
    return q, m, along(base, 1.0, upper(m, q))


@inner
def cell_total(cell, place, inverse, terms, b):
    """Moments over the cell in b, as a part.

    Where an error comes out too large, once more with more nodes, or boxes halved by their errors.
    """
    total = NOTHING
    if is_plain(terms):
        apex = apex_of(cell, b.facet)
        error = plain_sums(0, cell, apex, place, inverse, terms, b)
        if error > TARGET * abs(b.sums[0, 0]):
            error = plain_sums(MORE, cell, apex, place, inverse, terms, b)
        total = part_of(0.0, 1.0, b.sums[0], apex, inverse, error)
    for t in range(terms.weights.shape[0]):
        component = component_at(t, cell, place, inverse, terms, b)
        q, _, x = component
        error = gaussian_sums(math.inf, cell, component, b)
        mass = abs(b.sums[0, 0])
        if error > ACCEPTED * mass:
            error = gaussian_sums(TARGET * mass, cell, component, b)
        part = part_of(-dot(x, x), terms.weights[t], b.sums[0], q, inverse, error)
        total = joined(total, part, inverse)
    return unscaled(total)


@inner
def volume_of(cell, inverse, facet):
    """What measures in v are multiplied by on the way back to z."""
    volume = inverse[0] * inverse[3] * inverse[5]
    return volume * facet[cell.only, STRETCH] if cell.only >= 0 else volume


@inner
def measure(status, cell, neighbors, nearest, place, frame, terms, b, out):
    """Write the measurement of the cell in b, by the columns above.

    ERROR is centroid minus position, SPREAD the second moment about the centroid, NEAREST a squared
    distance, -1 without others; mass and spread come divided by exp(LOG_SCALE).
    """
    out[:] = 0.0
    out[STATUS] = status
    out[NEIGHBORS] = neighbors
    out[NEAREST] = nearest
    if status != 0:
        return
    inverse = inverse_upper(upper_of(frame.matrix))
    volume = volume_of(cell, inverse, b.facet)
    scale, mass, centroid, spread, error, grown = cell_total(cell, place, inverse, terms, b)
    if not mass * volume > 0.0:
        out[STATUS] = NO_MASS
        return
    e = upper(inverse, centroid)
    out[ERROR] = e[0]
    out[ERROR + 1] = e[1]
    out[ERROR + 2] = e[2]
    out[LOG_SCALE] = scale
    out[MASS] = mass * volume
    out[SPREAD] = spread * volume
    out[MASS_ERROR] = error / mass + ROUNDING * grown
    if terms.weights.shape[0] > 0:
        out[MASS_ERROR] += TRUNCATION


@inner
def add_shifted(factor, o, sums, out):
    """Add `factor` times the sums about o to `out`, about the origin."""
    m = factor * sums[0]
    d = (factor * sums[1], factor * sums[2], factor * sums[3])
    out[0] += m
    k = 4
    for i in range(3):
        out[1 + i] += d[i] + m * o[i]
        for j in range(i, 3):
            out[k] += factor * sums[k] + d[i] * o[j] + d[j] * o[i] + m * o[i] * o[j]
            k += 1


@njit
def facet_moments(cell, place, log_scale, frame, terms, b, out):
    """Moments 1, v and v v' over one facet, `cell`, about the agent, into out[:10].

    Divided by exp(log_scale); lengths are those of v, but measures those of z.
    """
    inverse = inverse_upper(upper_of(frame.matrix))
    out[:] = 0.0
    if is_plain(terms):
        apex = apex_of(cell, b.facet)
        plain_sums(0, cell, apex, place, inverse, terms, b)
        add_shifted(exponential(-log_scale), apex, b.sums[0], out)
    for t in range(terms.weights.shape[0]):
        component = component_at(t, cell, place, inverse, terms, b)
        q, _, x = component
        gaussian_sums(math.inf, cell, component, b)
        add_shifted(terms.weights[t] * exponential(-dot(x, x) - log_scale), q, b.sums[0], out)
    stretch = volume_of(cell, inverse, b.facet)
    for k in range(10):
        out[k] *= stretch


@njit
def boxes_of(cell, b, out):
    """Write a box for each piece of each surface of a cell; return how many there are.

    Rows: surface and piece, then ranges of t, s and the share r of the ray from the apex.
    """
    filled = 0
    for k in range(cell.facets + 2):
        there, first, last, surface = surface_of(k, cell, b)
        for i in range(first, last if there else first):
            if surface.kind <= FLAT or b.piece[i, ANGLE] > 0.0:
                out[filled, 0] = k
                out[filled, 1] = i
                for side in range(3):
                    out[filled, 2 + 2 * side] = 0.0
                    out[filled, 3 + 2 * side] = 1.0
                filled += 1
    return filled


@njit
def nodes_of_boxes(n, cell, boxes, frame, b, out):
    """Write the nodes of each box of a cell to out[k], rows (z - position, weight).

    n: row of the rule each way.
    """
    inverse = inverse_upper(upper_of(frame.matrix))
    volume = volume_of(cell, inverse, b.facet)
    apex = apex_of(cell, b.facet)
    for k in range(cell.facets + 2):
        there, _, _, surface = surface_of(k, cell, b)
        for row in range(boxes.shape[0]):
            if there and int(boxes[row, 0]) == k:
                fill_box(n, boxes[row], surface, apex, volume, inverse, b, out[row])


@inner
def fill_box(n, box, surface, apex, volume, inverse, b, out):
    """Write the nodes of one box: see nodes_of_boxes."""
    sides = (box[2], box[3], box[4], box[5])
    m = COUNT[n]
    for h in range(surface_nodes(int(box[1]), sides, n, n, surface, apex, b.piece, b.node)):
        d = row_of(b.node, h, 0)
        for k in range(m):
            r = box[6] + (box[7] - box[6]) * NODES[n, k]
            put(out, h * m + k, 0, upper(inverse, along(apex, r, d)))
            weight = volume * b.node[h, 3] * WEIGHTS[n, k] * (box[7] - box[6]) * r
            out[h * m + k, 3] = weight if surface.kind == EDGES else weight * r
