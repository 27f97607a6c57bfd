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
from dwell._kernels.space.moments import power
from dwell._kernels.star.buffers import (
    ANGLE,
    CENTER,
    FIRST,
    LAST,
    NORMAL,
    OFFSET,
    RADIUS,
    START,
    STEP,
    SUMS,
    WEIGHED,
)
from dwell._kernels.star.roots import narrowed, secant
from dwell._kernels.star.rules import (
    DEEPER,
    DEPTH,
    MESH,
    MORE_NODES,
    NODES,
    WEIGHTS,
    WIDEST,
    nodes_for,
    nodes_on_ray,
)
from dwell._kernels.star.surface import EDGES, FLAT, point_on_piece, surface_nodes, turn_at
from dwell._kernels.star.vectors import (
    ZERO,
    along,
    cross,
    dot,
    less,
    row_of,
    scaled,
    solve_lower,
    solve_upper,
    transposed,
    upper,
)

WHOLE = (0.0, 1.0, 0.0, 1.0)  # all of a sector
LEAST_ON_ARC, LEAST_ON_PATCH = 8, 10  # of Gaussian components
MATTERS = 8.0  # fall of the exponent up to which neighbouring rays are compared
MOST_HALVED = 200  # boxes of a sector that are halved since rules of two orders differ
FEWEST = 5  # nodes each way
MOST_SPARED = 4  # nodes each way that a box of little mass has fewer
ROUNDING = 1e-14  # heights below so much of their parts are 0
INTERVALS = 4  # intervals of an arc in which the nearest point is sought
STEPS = 10  # of the Illinois method
ROUNDS = 40  # of Newton's method


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
def square_on_piece(i, t, m, b, piece):
    """(|x|**2, half its derivative, v) at c(t) of piece i, with x = M v + b."""
    v, d = point_on_piece(i, t, ZERO, piece)
    x = along(b, 1.0, upper(m, v))
    return dot(x, x), dot(x, upper(m, d)), v


@inner
def nearest_on_piece(i, m, b, piece):
    """(squared distance, v) of the point of piece i that is nearest to the peak."""
    parts = INTERVALS if piece[i, ANGLE] > 0.0 else 1
    best = math.inf
    at = 0
    for k in range(parts + 1):
        square, _, _ = square_on_piece(i, k / parts, m, b, piece)
        if square < best:
            best = square
            at = k
    low = max(at - 1, 0) / parts
    high = min(at + 1, parts) / parts
    under = square_on_piece(i, low, m, b, piece)[1]
    over = square_on_piece(i, high, m, b, piece)[1]
    t = at / parts
    if under < 0.0 < over:
        bracket = (low, high, under, over, 0)
        for _ in range(1 if parts == 1 else STEPS):
            t = secant(bracket)
            slope = square_on_piece(i, t, m, b, piece)[1]
            if slope == 0.0 or not low < t < high:
                break
            bracket = narrowed(bracket, t, slope)
    square, _, v = square_on_piece(i, t, m, b, piece)
    return square, v


@inner
def nearest_on_facet(f, m, b, facet, piece):
    """(squared distance, v) of the point of facet f that is nearest to the peak."""
    normal = row_of(facet, f, NORMAL)
    tilted = solve_lower(m, normal)
    height = (facet[f, OFFSET] + dot(tilted, b)) / dot(tilted, tilted)
    x = scaled(height, tilted)
    v = solve_upper(m, less(x, b))
    r = less(v, row_of(facet, f, CENTER))
    inside = dot(r, r) <= facet[f, RADIUS] * facet[f, RADIUS]
    first = int(facet[f, FIRST])
    last = int(facet[f, LAST])
    for i in range(first, last):
        if piece[i, ANGLE] == 0.0 and inside:
            arm = less(v, row_of(piece, i, START))
            inside = dot(normal, cross(row_of(piece, i, STEP), arm)) >= 0.0
    if inside:
        return dot(x, x), v
    best = math.inf
    for i in range(first, last):
        square, at = nearest_on_piece(i, m, b, piece)
        if square < best:
            best = square
            v = at
    return best, v


@inner
def nearest_in_ball(m, b, g):
    """The point v of the ball that is nearest to the peak: Newton's method for its multiplier."""
    y = along(solve_upper(m, scaled(-1.0, b)), 1.0, g)
    if dot(y, y) <= 1.0:
        return less(y, g)
    q = (
        m[0] * m[0], m[0] * m[1], m[0] * m[2], m[1] * m[1] + m[3] * m[3],
        m[1] * m[2] + m[3] * m[4], m[2] * m[2] + m[4] * m[4] + m[5] * m[5],
    )  # fmt: skip
    right = transposed(m, upper(m, y))
    push = 0.0
    for _ in range(ROUNDS):  # of 1 / |y| - 1, which is concave: no step goes too far
        root = cholesky(q[0] + push, q[1], q[2], q[3] + push, q[4], q[5] + push)
        y = solve_upper(root, solve_lower(root, right))
        size = math.sqrt(dot(y, y))
        slope = solve_lower(root, y)
        step = (size - 1.0) * size * size / dot(slope, slope)
        push += step
        if not step > 1e-15 * push:
            break
    return less((y[0] / size, y[1] / size, y[2] / size), g)


@inner
def cholesky(a, b, c, d, e, f):
    """The upper triangular R with R'R = ((a, b, c), (b, d, e), (c, e, f))."""
    r0 = math.sqrt(a)
    r1 = b / r0
    r2 = c / r0
    r3 = math.sqrt(max(d - r1 * r1, 1e-300))
    r4 = (e - r1 * r2) / r3
    return r0, r1, r2, r3, r4, math.sqrt(max(f - r2 * r2 - r4 * r4, 1e-300))


@inner
def nearest_in_cell(cell, m, b, facet, piece):
    """The point v of the cell that is nearest to the peak."""
    v = nearest_in_ball(m, b, cell.ball[0])
    inside = True
    for f in range(cell.facets):
        inside = inside and dot(row_of(facet, f, NORMAL), v) <= facet[f, OFFSET]
    if inside:
        return v
    best = math.inf
    for f in range(cell.facets):
        square, at = nearest_on_facet(f, m, b, facet, piece)
        if square < best:
            best = square
            v = at
    return v


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
    nt = nodes_for(along_t)
    ns = nodes_for(across)
    nr = nodes_on_ray(depth)
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
