"""Moments over a cell, or over one of its facets, by cones from an apex over its boundary.

Along the rays of a cone the integral of a constant is known, and that of monomials has a Gauss
rule. For a Gaussian component the apex is the point q of the region where it is largest. In
x = M v + b it is exp(-|x|**2), and along the ray from q to a point y, with d = M (y - q),

    exp(-|x(q)|**2) exp(-beta r - gamma r**2),    beta = 2 x(q) . d >= 0,    gamma = |d|**2 :

it falls all the way, so that all parts count positively and nothing is lost far out in a tail.
The boundary is halved until neighbouring rays differ little where the component still matters.
"""

import math
from typing import NamedTuple

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.algebra import (
    along,
    dot,
    row_of,
    upper,
)
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.common.density_terms import GeneralTerms
from dwell._kernels.common.quadrature import MESH, NODES, WEIGHTS
from dwell._kernels.space.moments import degree_of, power
from dwell._kernels.star.buffers import (
    ANGLE,
    SUMS,
    WEIGHED,
)
from dwell._kernels.star.surface import EDGES, FLAT, point_on_piece, surface_nodes, sweep_of_segment

WHOLE = (0.0, 1.0, 0.0, 1.0)  # all of a sector
ON_EDGE = 10  # nodes on an arc of a planar region; of polynomials more, by their degree
ON_ARC = 12  # nodes on an arc in space
ON_PATCH = 13  # nodes from the pole of a patch to its boundary
LEAST_ON_ARC, LEAST_ON_PATCH = 8, 10  # of Gaussian components
MATTERS = 8.0  # fall of the exponent up to which neighbouring rays are compared
MOST_HALVED = 200  # boxes of a sector that are halved since rules of two orders differ
FEWEST = 5  # nodes each way
MOST_SPARED = 4  # nodes each way that a box of little mass has fewer
ROUNDING = 1e-14  # heights below so much of their parts are 0
WIDEST = 4.0  # range of an exponent over a box, at most
DEPTH = 36.0  # exponents count down to -DEPTH along a ray, ...
DEEPER = 42.0  # ... in the plane, where rays cost little, to -DEEPER


class Integrand(NamedTuple):
    """What is integrated: the constant and the monomials of a density, or a Gaussian component."""

    plain: bool  # whether it is the former
    weight: float  # what the integral is to be multiplied by, and ...
    log_scale: float  # ... by the exponential of this
    apex: tuple[float, float, float]  # of all cones
    m: tuple[float, float, float, float, float, float]
    x: tuple[float, float, float]  # M apex + b
    place: tuple[float, float, float]  # of the agent
    inverse: tuple[float, float, float, float, float, float]  # W**-1
    terms: GeneralTerms


@inner
def nodes_for(extent, planar):
    """How many nodes an interval with this range of exponents needs."""
    return int(6.8 + (4.0 if planar else 3.2) * math.sqrt(extent))


@inner
def nodes_on_ray(depth, planar):
    """How many nodes a ray needs along which the exponent falls by `depth`, with r**4 on top."""
    return int((7.4 if planar else 6.4) + 2.5 * math.sqrt(depth))


@inner
def add_cone(d, f, j, out):
    """Add a cone to sums: d from the apex, f the flux, j integrals along d."""
    out[0] += f * j[0]
    out[WEIGHED] += abs(f * j[0])
    out[1] += f * j[1] * d[0]
    out[2] += f * j[1] * d[1]
    out[3] += f * j[1] * d[2]
    f *= j[2]
    out[4] += f * d[0] * d[0]
    out[5] += f * d[0] * d[1]
    out[6] += f * d[0] * d[2]
    out[7] += f * d[1] * d[1]
    out[8] += f * d[1] * d[2]
    out[9] += f * d[2] * d[2]


@inner
def monomials_at(x, y, z, terms):
    """The monomials of a density at a place."""
    value = 0.0
    for i in range(terms.coefficients.shape[0]):
        f = terms.coefficients[i] * power(x - terms.origins[i, 0], terms.powers[i, 0])
        f *= power(y - terms.origins[i, 1], terms.powers[i, 1])
        value += f * power(z - terms.origins[i, 2], terms.powers[i, 2])
    return value


@inner
def along_ray(d, apex, dimension, radial, place, inverse, terms):
    """Integrals of the density times r**(n - 1), r**n, r**(n + 1) from `apex` to apex + d."""
    level = terms.constant
    j0 = level / dimension
    j1 = level / (dimension + 1.0)
    j2 = level / (dimension + 2.0)
    if terms.coefficients.shape[0] > 0:
        for k in range(radial):
            r = NODES[radial, k]
            z = upper(inverse, along(apex, r, d))
            value = monomials_at(place[0] + z[0], place[1] + z[1], place[2] + z[2], terms)
            value *= WEIGHTS[radial, k] * (r if dimension == 2 else r * r)
            j0 += value
            j1 += value * r
            j2 += value * r * r
    return j0, j1, j2


@inner
def falls(d, m, b):
    """(beta, gamma) of the ray d."""
    x = upper(m, d)
    return 2.0 * dot(b, x), dot(x, x)


@inner
def length_of_fall(beta, gamma, depth):
    """How far along a ray the exponent falls by `depth`; 1 if that is not on it."""
    if beta + gamma <= depth:
        return 1.0
    return 2.0 * depth / (beta + math.sqrt(beta * beta + 4.0 * depth * gamma))


@inner
def ray_integrals(beta, gamma, planar, n):
    """Integrals of r**(k - 1), r**k, r**(k + 1) times the component on a ray in k dimensions."""
    end = length_of_fall(beta, gamma, DEEPER if planar else DEPTH)
    j0 = j1 = j2 = 0.0
    for k in range(n):
        r = end * NODES[n, k]
        value = WEIGHTS[n, k] * r * exponential(-r * (beta + r * gamma))
        if not planar:
            value *= r
        j0 += value
        value *= r
        j1 += value
        j2 += value * r
    return end * j0, end * j1, end * j2


@inner
def ranges_of(count, columns, m, b, node):
    """(range along t, range along s, depth) over a mesh of 3 rows in t and `columns` in s.

    Ranges are those of the exponent where it has fallen by about MATTERS. `node` holds the rays.
    """
    r = 1.0
    depth = 0.0
    for k in range(count):
        beta, gamma = falls(row_of(node, k, 0), m, b)
        node[k, 0] = beta
        node[k, 1] = gamma
        r = min(r, length_of_fall(beta, gamma, MATTERS))
        depth = max(depth, beta + gamma)
    for k in range(count):
        node[k, 2] = r * (node[k, 0] + r * node[k, 1])
    along_t = across = 0.0
    for k in range(columns):
        middle = node[k + columns, 2]
        rise = abs(middle - node[k, 2]) + abs(node[k + 2 * columns, 2] - middle)
        along_t = max(along_t, rise)
        if columns > 1:
            middle = node[3 * k + 1, 2]
            rise = abs(middle - node[3 * k, 2]) + abs(node[3 * k + 2, 2] - middle)
            across = max(across, rise)
    return along_t, across, min(depth, DEPTH if columns > 1 else DEEPER)


@inner
def nodes_to_spare(node, whole):
    """How many nodes fewer a box needs that is small: its mesh in `node` tells its mass."""
    part = 0.0
    for k in range(9):
        end = length_of_fall(node[k, 0], node[k, 1], 1.5)
        part += abs(node[k, 3]) * end * end * end / 3.0
    spare = 0
    least = 1e-2 * whole
    while spare < MOST_SPARED and part <= least:
        spare += 1
        least *= 1e-2
    return spare


@inner
def nodes_of_box(arc, box, ranges, surface, node, whole):
    """How many nodes a box needs along t, s and the rays; its mesh is in `node`."""
    along_t, across, depth = ranges
    planar = surface.kind == EDGES
    nt = nodes_for(along_t, planar)
    ns = nodes_for(across, planar)
    nr = nodes_on_ray(depth, planar)
    if arc:
        nt = max(nt, LEAST_ON_ARC)
    if planar:
        return nt, ns, nr
    if surface.kind != FLAT:
        ns = max(ns, LEAST_ON_PATCH if box[3] - box[2] == 1.0 else LEAST_ON_ARC)
    spare = nodes_to_spare(node, whole)
    return max(nt - spare, FEWEST), max(ns - spare, FEWEST), max(nr - spare, FEWEST)


@inner
def nodes_of_polynomial(arc, surface, f):
    """How many nodes a box needs along t, s and the rays for the constant and the monomials."""
    half = degree_of(f.terms.powers) // 2
    planar = surface.kind == EDGES
    nt = ns = half + 2
    if arc:
        nt = half + (ON_EDGE if planar else ON_ARC)
    if surface.kind not in (EDGES, FLAT):
        ns = half + ON_PATCH
    return nt, ns, half + (2 if planar else 3)


@inlined
def integrate_box(i, box, n, surface, f, piece, node, out):
    """Set `out` to the cones over a box of piece i, with n nodes each way."""
    planar = surface.kind == EDGES
    out[:] = 0.0
    for k in range(surface_nodes(i, box, n[0], n[1], surface, f.apex, piece, node)):
        d = row_of(node, k, 0)
        if f.plain:
            j = along_ray(d, f.apex, 2 if planar else 3, n[2], f.place, f.inverse, f.terms)
        else:
            beta, gamma = falls(d, f.m, f.x)
            j = ray_integrals(beta, gamma, planar, n[2])
        add_cone(d, node[k, 3], j, out)


@inner
def halve(size, column, stack):
    """Replace the last of `size` boxes by two halves, across t (column 0) or s (column 2)."""
    middle = 0.5 * (stack[size - 1, column] + stack[size - 1, column + 1])
    for k in range(4):
        stack[size, k] = stack[size - 1, k]
    stack[size - 1, column] = middle
    stack[size, column + 1] = middle


@inlined
def over_sector(i, allowed, surface, f, piece, stack, node, sums):
    """Add the cones over the sector of piece i to sums[0]; return the error of the mass.

    Boxes with errors above `allowed` are halved.
    """
    columns = 1 if surface.kind == EDGES else 3
    arc = piece[i, ANGLE] > 0.0
    halved = 0
    for k in range(4):
        stack[0, k] = WHOLE[k]
    size = 1
    error = 0.0
    while size > 0:
        box = (stack[size - 1, 0], stack[size - 1, 1], stack[size - 1, 2], stack[size - 1, 3])
        if f.plain:
            n = nodes_of_polynomial(arc, surface, f)
        else:
            count = surface_nodes(i, box, MESH, MESH, surface, f.apex, piece, node)
            ranges = ranges_of(count, columns, f.m, f.x, node)
            if max(ranges[0], ranges[1]) > WIDEST and size < stack.shape[0]:
                halve(size, 0 if ranges[0] > ranges[1] else 2, stack)
                size += 1
                continue
            n = nodes_of_box(arc, box, ranges, surface, node, sums[0, 0])
        rules = 1 if f.plain and not arc else 2  # polynomials on straight pieces are exact
        for k in range(rules):
            integrate_box(i, box, n, surface, f, piece, node, sums[1 + k])
            radial = n[2] if f.plain else n[2] - 2
            n = (n[0] - 2, n[1] if f.plain and surface.kind == FLAT else n[1] - 2, radial)
        off = abs(sums[1, 0] - sums[2, 0]) if rules > 1 else 0.0
        if off > allowed and halved < MOST_HALVED and size < stack.shape[0]:
            across = columns > 1 and box[3] - box[2] > box[1] - box[0]
            halve(size, 2 if across else 0, stack)
            size += 1
            halved += 1
            continue
        for k in range(SUMS):
            sums[0, k] += sums[1, k]
        size -= 1
        error += off
    return error


@inlined
def over_surface(first, last, allowed, surface, f, b):
    """Add the cones over pieces first to last - 1 to b.sums[0]; return the mass's error."""
    flat = surface.kind == FLAT
    height = surface.offset - dot(surface.normal, f.apex)
    if flat and height <= ROUNDING * (abs(surface.offset) + math.sqrt(dot(f.apex, f.apex))):
        return 0.0
    error = 0.0
    for i in range(first, last):
        arc = b.piece[i, ANGLE] > 0.0
        if surface.kind == EDGES and not (arc or f.plain):
            d, _ = point_on_piece(i, 0.5, f.apex, b.piece)
            sweep = sweep_of_segment(i, f.apex, surface.normal, b.piece)
            if abs(sweep) <= ROUNDING * dot(d, d):
                continue  # the apex is on this edge
        if arc or flat or surface.kind == EDGES:
            error += over_sector(i, allowed, surface, f, b.piece, b.box, b.node, b.sums)
    return error
