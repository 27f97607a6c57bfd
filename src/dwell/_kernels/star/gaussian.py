"""Moments of a Gaussian component over a cell, or over one of its facets.

The apex of the cones is the point q of the region where the component is largest. In x = M v + b it
is exp(-|x|**2), and along the ray from q to a point y of the boundary, with d = M (y - q),

    exp(-|x(q)|**2) exp(-beta r - gamma r**2),    beta = 2 x(q) . d >= 0,    gamma = |d|**2 :

it falls all the way, so that all parts count positively and nothing is lost far out in a tail.
The boundary is halved until neighbouring rays differ little where the component still matters.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.star.buffers import ANGLE, FIRST, LAST, NORMAL
from dwell._kernels.star.plain import add_cone, add_flat_cone
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
from dwell._kernels.star.surface import point_on_piece, surface_nodes, turn_at
from dwell._kernels.star.vectors import dot, put, row_of, upper

MATTERS = 8.0  # fall of the exponent up to which neighbouring rays are compared
ON_ARC = 8  # nodes on an arc, at least
ON_PATCH = 10  # nodes from the pole of a patch to its boundary, at least
MOST_HALVED = 200  # boxes of a sector that are halved since rules of two orders differ
FEWEST = 5  # nodes each way
ROUNDING = 1e-14  # heights below so much of their parts are 0


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
def ray_integrals(beta, gamma, dimension, n):
    """Integrals of r**(k - 1), r**k, r**(k + 1) times the component along a ray, k: dimension."""
    end = length_of_fall(beta, gamma, DEEPER if dimension == 2 else DEPTH)
    j0 = j1 = j2 = 0.0
    for k in range(n):
        r = end * NODES[n, k]
        value = WEIGHTS[n, k] * r * exponential(-r * (beta + r * gamma))
        if dimension == 3:
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
def integrate_box(i, box, n, surface, q, m, b, inverse, piece, node, out):
    """Add the cones from q over a box of piece i, with n nodes each way; return the mass."""
    before = out[0]
    for k in range(surface_nodes(i, box, n[0], n[1], surface, q, piece, node)):
        d = row_of(node, k, 0)
        beta, gamma = falls(d, m, b)
        add_cone(d, node[k, 3], ray_integrals(beta, gamma, 3, n[2]), inverse, out)
    return out[0] - before


@inner
def gaussian_over_sector(
    i, allowed, surface, q, m, b, inverse, piece, stack, node, out, coarse
):  # fmt: skip
    """Add the cones from q over the sector of piece i to `out`; return the error of the mass.

    Boxes with errors above `allowed` are halved.
    """
    halved = 0
    stack[0, 0] = stack[0, 2] = 0.0
    stack[0, 1] = stack[0, 3] = 1.0
    size = 1
    error = 0.0
    while size > 0:
        box = (stack[size - 1, 0], stack[size - 1, 1], stack[size - 1, 2], stack[size - 1, 3])
        count = surface_nodes(i, box, MESH, MESH, surface, q, piece, node)
        along_t, across, depth = ranges_of(count, 3, m, b, node)
        if max(along_t, across) > WIDEST and size < stack.shape[0]:
            halve(size, 0 if along_t > across else 2, stack)
            size += 1
            continue
        spare = nodes_to_spare(node, out[0])
        nt = nodes_for(along_t)
        ns = nodes_for(across)
        if piece[i, ANGLE] > 0.0:
            nt = max(nt, ON_ARC)
        if surface[0]:
            ns = max(ns, ON_PATCH if box[3] - box[2] == 1.0 else ON_ARC)
        nr = max(radial_nodes_for(depth) - spare, FEWEST)
        n = (max(nt - spare, FEWEST), max(ns - spare, FEWEST), nr)
        before = sums_of(out)
        fine = integrate_box(i, box, n, surface, q, m, b, inverse, piece, node, out)
        n = (n[0] - 2, n[1] - 2, n[2] - 2)
        off = abs(fine - integrate_box(i, box, n, surface, q, m, b, inverse, piece, node, coarse))
        if off > allowed and halved < MOST_HALVED and size < stack.shape[0]:
            restore(before, out)
            halve(size, 0 if box[1] - box[0] >= box[3] - box[2] else 2, stack)
            size += 1
            halved += 1
            continue
        size -= 1
        error += off
    return error


@inner
def halve(size, column, stack):
    """Replace the last of `size` boxes by two halves, across t (column 0) or s (column 2)."""
    middle = 0.5 * (stack[size - 1, column] + stack[size - 1, column + 1])
    for k in range(4):
        stack[size, k] = stack[size - 1, k]
    stack[size - 1, column] = middle
    stack[size, column + 1] = middle


@inner
def sums_of(out):
    """The sums over a cell, to be restored."""
    return out[0], out[1], out[2], out[3], out[4], out[5]


@inner
def restore(before, out):
    """Set the sums over a cell back."""
    for k in range(6):
        out[k] = before[k]


@inner
def gaussian_over_surface(
    first, last, allowed, surface, q, m, b, inverse, piece, stack, node, out, coarse
):  # fmt: skip
    """Add the cones from q over pieces first to last - 1 to `out`; return the error of the mass."""
    on_sphere, _, normal, offset, _, _ = surface
    height = offset - dot(normal, q)
    if not on_sphere and height <= ROUNDING * (abs(offset) + math.sqrt(dot(q, q))):
        return 0.0
    error = 0.0
    for i in range(first, last):
        if not on_sphere or piece[i, ANGLE] > 0.0:
            error += gaussian_over_sector(
                i, allowed, surface, q, m, b, inverse, piece, stack, node, out, coarse
            )
    return error


@inner
def integrate_interval(i, t0, t1, nt, nr, normal, q, m, b, piece, out):
    """Add the cones from q over a part of piece i to the sums over a facet; return the mass."""
    before = out[0]
    for k in range(nt):
        d, turn = turn_at(i, t0 + (t1 - t0) * NODES[nt, k], q, normal, piece)
        flux = WEIGHTS[nt, k] * (t1 - t0) * turn
        beta, gamma = falls(d, m, b)
        add_flat_cone(d, flux, ray_integrals(beta, gamma, 2, nr), out)
    return out[0] - before


@inner
def gaussian_over_facet(f, q, m, b, facet, piece, stack, node, out, coarse):
    """Add the component over facet f, about q, to `out`; return the error of the mass."""
    normal = row_of(facet, f, NORMAL)
    error = 0.0
    for i in range(int(facet[f, FIRST]), int(facet[f, LAST])):
        d, turn = turn_at(i, 0.5, q, normal, piece)
        if piece[i, ANGLE] == 0.0 and abs(turn) <= ROUNDING * dot(d, d):
            continue  # q is on this edge
        stack[0, 0] = 0.0
        stack[0, 1] = 1.0
        size = 1
        while size > 0:
            t0 = stack[size - 1, 0]
            t1 = stack[size - 1, 1]
            for k in range(3):
                d, _ = point_on_piece(i, t0 + 0.5 * (t1 - t0) * k, q, piece)
                put(node, k, 0, d)
            extent, _, depth = ranges_of(3, 1, m, b, node)
            if extent > WIDEST and size < stack.shape[0]:
                middle = 0.5 * (t0 + t1)
                stack[size - 1, 0] = middle
                stack[size, 0] = t0
                stack[size, 1] = middle
                size += 1
                continue
            size -= 1
            nt = nodes_for(extent) + (2 if extent > 0.5 * WIDEST else 0)
            nr = radial_nodes_for(depth) + (MORE_NODES if depth == DEPTH else 0)
            if piece[i, ANGLE] > 0.0:
                nt = max(nt, ON_ARC)
            fine = integrate_interval(i, t0, t1, nt, nr, normal, q, m, b, piece, out)
            rough = integrate_interval(i, t0, t1, nt - 2, nr - 2, normal, q, m, b, piece, coarse)
            error += abs(fine - rough)
    return error
