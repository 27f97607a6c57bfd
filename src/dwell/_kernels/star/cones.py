"""Moments over a cell, or over one of its facets, by cones from an apex over its boundary.

Along the rays of a cone the integral of a constant is known, and that of monomials has a Gauss
rule. For a Gaussian component the apex is the point q of the region where it is largest. In
x = M v + b it is exp(-|x|**2), and along the ray from q to a point y, with d = M (y - q),

    exp(-|x(q)|**2) exp(-beta r - gamma r**2),    beta = 2 x(q) . d >= 0,    gamma = |d|**2 :

it falls all the way, so that all parts count positively and nothing is lost far out in a tail.
The boundary is halved until neighbouring rays differ little where the component still matters.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.space.moments import degree_of, power
from dwell._kernels.star.buffers import ANGLE, SUMS, WEIGHED
from dwell._kernels.star.rules import (
    DEEPER,
    DEPTH,
    MESH,
    MORE_NODES,
    NODES,
    WEIGHTS,
    WIDEST,
    nodes_for,
    radial_nodes_for,
)
from dwell._kernels.star.surface import EDGES, FLAT, surface_nodes, turn_at
from dwell._kernels.star.vectors import along, dot, row_of, upper

WHOLE = (0.0, 1.0, 0.0, 1.0)  # all of a sector
ON_EDGE = 10  # nodes on an arc of a planar region; of polynomials more, by their degree
ON_ARC = 12  # nodes on an arc in space
ON_PATCH = 13  # nodes from the pole of a patch to its boundary
LEAST_ON_ARC, LEAST_ON_PATCH = 8, 10  # of Gaussian components
MATTERS = 8.0  # fall of the exponent up to which neighbouring rays are compared
MOST_HALVED = 200  # boxes of a sector that are halved since rules of two orders differ
FEWEST = 5  # nodes each way
ROUNDING = 1e-14  # heights below so much of their parts are 0


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
    return along_t, across, min(depth, DEPTH)


@inner
def nodes_to_spare(node, whole):
    """How many nodes fewer a box needs that is small: its mesh in `node` tells its mass."""
    part = 0.0
    for k in range(9):
        end = length_of_fall(node[k, 0], node[k, 1], 1.5)
        part += abs(node[k, 3]) * end * end * end / 3.0
    if not whole > 0.0 or part > 1e-2 * whole:
        return 0
    if part > 1e-4 * whole:
        return 1
    if part > 1e-6 * whole:
        return 2
    return 3 if part > 1e-9 * whole else 4


@inner
def nodes_of_box(arc, box, ranges, surface, node, whole):
    """How many nodes a box needs along t, s and the rays; its mesh is in `node`."""
    along_t, across, depth = ranges
    nt = nodes_for(along_t)
    ns = nodes_for(across)
    nr = radial_nodes_for(depth)
    if surface.kind == EDGES:
        nt += 2 if along_t > 0.5 * WIDEST else 0
        nr += MORE_NODES if depth == DEPTH else 0
        return max(nt, LEAST_ON_ARC) if arc else nt, ns, nr
    if arc:
        nt = max(nt, LEAST_ON_ARC)
    if surface.kind != FLAT:
        ns = max(ns, LEAST_ON_PATCH if box[3] - box[2] == 1.0 else LEAST_ON_ARC)
    spare = nodes_to_spare(node, whole)
    return max(nt - spare, FEWEST), max(ns - spare, FEWEST), max(nr - spare, FEWEST)


@inner
def integrate_box(i, box, n, surface, component, piece, node, out):
    """Set `out` to the cones from q over a box of piece i, with n nodes each way."""
    q, m, b = component
    out[:] = 0.0
    for k in range(surface_nodes(i, box, n[0], n[1], surface, q, piece, node)):
        d = row_of(node, k, 0)
        beta, gamma = falls(d, m, b)
        add_cone(d, node[k, 3], ray_integrals(beta, gamma, surface.kind == EDGES, n[2]), out)


@inner
def halve(size, column, stack):
    """Replace the last of `size` boxes by two halves, across t (column 0) or s (column 2)."""
    middle = 0.5 * (stack[size - 1, column] + stack[size - 1, column + 1])
    for k in range(4):
        stack[size, k] = stack[size - 1, k]
    stack[size - 1, column] = middle
    stack[size, column + 1] = middle


@inner
def gaussian_over_sector(i, allowed, surface, component, piece, stack, node, sums):
    """Add the cones from q over the sector of piece i to sums[0]; return the error of the mass.

    Boxes with errors above `allowed` are halved.
    """
    q, m, b = component
    columns = 1 if surface.kind == EDGES else 3
    halved = 0
    for k in range(4):
        stack[0, k] = WHOLE[k]
    size = 1
    error = 0.0
    while size > 0:
        box = (stack[size - 1, 0], stack[size - 1, 1], stack[size - 1, 2], stack[size - 1, 3])
        count = surface_nodes(i, box, MESH, MESH, surface, q, piece, node)
        ranges = ranges_of(count, columns, m, b, node)
        if max(ranges[0], ranges[1]) > WIDEST and size < stack.shape[0]:
            halve(size, 0 if ranges[0] > ranges[1] else 2, stack)
            size += 1
            continue
        n = nodes_of_box(piece[i, ANGLE] > 0.0, box, ranges, surface, node, sums[0, 0])
        integrate_box(i, box, n, surface, component, piece, node, sums[1])
        n = (n[0] - 2, n[1] - 2, n[2] - 2)
        integrate_box(i, box, n, surface, component, piece, node, sums[2])
        off = abs(sums[1, 0] - sums[2, 0])
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


@inner
def gaussian_over_surface(first, last, allowed, surface, component, b):
    """Add the cones from q over pieces first to last - 1 to b.sums[0]; return the mass's error."""
    q = component[0]
    flat = surface.kind == FLAT
    height = surface.offset - dot(surface.normal, q)
    if flat and height <= ROUNDING * (abs(surface.offset) + math.sqrt(dot(q, q))):
        return 0.0
    error = 0.0
    for i in range(first, last):
        arc = b.piece[i, ANGLE] > 0.0
        if surface.kind == EDGES and not arc:
            d, turn = turn_at(i, 0.5, q, surface.normal, b.piece)
            if abs(turn) <= ROUNDING * dot(d, d):
                continue  # q is on this edge
        if arc or flat or surface.kind == EDGES:
            error += gaussian_over_sector(
                i, allowed, surface, component, b.piece, b.box, b.node, b.sums
            )
    return error
