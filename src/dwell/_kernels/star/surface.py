"""Nodes of a cell's boundary: of facets, and of the patch of the sphere.

A facet is a fan in its plane, and the patch is one too.

A piece c(t), t in [0, 1], spans a sector with the apex o of its fan, in a facet o + s (c - o). On
the sphere the apex is the pole P, and rays are great circles: at the angle psi = s Psi from P, with
Psi the angle between P and c. Directions are taken from the stereographic plane that touches the
sphere in P, where |zeta| = tan(Psi / 2). The boundary of a planar region is its pieces themselves.

A Gaussian is exp(-|x|**2) in x = M v + b, with M upper triangular: over a facet or a cell it is
largest at the point nearest to its peak.
"""

import math
from typing import NamedTuple

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import cross_product, difference
from dwell._kernels.star.buffers import (
    ANGLE,
    CENTER,
    FIRST,
    LAST,
    LEVEL,
    LOW,
    NORMAL,
    OFFSET,
    QUARTER,
    RADIUS,
    START,
    STEP,
    TILT,
)
from dwell._kernels.star.rules import COUNT, NODES, WEIGHTS
from dwell._kernels.star.vectors import (
    ZERO,
    along,
    cross,
    dot,
    less,
    put,
    row_of,
    scaled,
    solve_lower,
    solve_upper,
    transposed,
    upper,
)

EDGES, FLAT, PATCH, BAND = 0, 1, 2, 3  # BAND: the patch of a thin cell
INTERVALS = 4  # intervals of an arc in which the nearest point is sought
HALVINGS = 30
ROUNDS = 40  # of Newton's method
SLIM = 1e-6  # squared sine between a segment and its distance below which digits are needed


class Surface(NamedTuple):
    """A part of a boundary: the edges of a planar region, a facet, or the patch of the sphere."""

    kind: int
    sign: float  # of its pieces
    normal: tuple[float, float, float]  # of the plane; of a patch its pole
    offset: float
    apex: tuple[float, float, float]  # of the fan; of a band the center of the ball
    hole: float  # radius of a disc about the pole, in the stereographic plane, that is left out


@inner
def point_on_piece(i, t, about, piece):
    """(c(t) - about, its derivative) of piece i."""
    a = along(less(row_of(piece, i, START), about), 1.0, row_of(piece, i, LOW))
    u = row_of(piece, i, STEP)
    angle = piece[i, ANGLE]
    if angle == 0.0:
        return along(a, t, u), u
    e = row_of(piece, i, QUARTER)
    sine = math.sin(t * angle)
    half = math.sin(0.5 * t * angle)
    fall = 2.0 * half * half
    d = along(scaled(angle * (1.0 - fall), e), -angle * sine, u)
    return along(along(a, sine, e), -fall, u), d


@inner
def turn_at(i, t, about, normal, piece):
    """(c(t) - about, twice the area per t that it sweeps) of piece i, in a plane with `about`.

    That of a segment has all digits, also where the area is that of a sliver.
    """
    c, slope = point_on_piece(i, t, about, piece)
    turn = dot(normal, cross(c, slope))
    wide = normal[2] != 1.0 and turn * turn > SLIM * dot(c, c) * dot(slope, slope)
    if wide or piece[i, ANGLE] > 0.0:
        return c, turn
    xh, xl = difference(piece[i, START], about[0])
    yh, yl = difference(piece[i, START + 1], about[1])
    zh, zl = difference(piece[i, START + 2], about[2])
    xl += piece[i, LOW]
    yl += piece[i, LOW + 1]
    zl += piece[i, LOW + 2]
    u = row_of(piece, i, STEP)
    v = row_of(piece, i, QUARTER)
    yz, _ = cross_product(yh, yl, zh, zl, u[1], v[1], u[2], v[2])
    zx, _ = cross_product(zh, zl, xh, xl, u[2], v[2], u[0], v[0])
    xy, _ = cross_product(xh, xl, yh, yl, u[0], v[0], u[1], v[1])
    return c, dot(normal, (yz, zx, xy))


@inner
def stereographic(c, d, pole):
    """(zeta, its derivative) of a point c, seen from the pole, that moves by d."""
    lift = dot(c, pole)
    size = 2.0 + lift
    zeta = along(c, -lift, pole)
    zeta = (zeta[0] / size, zeta[1] / size, zeta[2] / size)
    climb = dot(d, pole)
    slope = along(along(d, -climb, pole), -climb, zeta)
    return zeta, (slope[0] / size, slope[1] / size, slope[2] / size)


@inner
def height_on_arc(i, v, piece):
    """Height of a point v of arc i over the plane through the agent: see thin_patch."""
    return piece[i, LEVEL] + dot(row_of(piece, i, TILT), v)


@inner
def put_node(count, d, flux, node):
    """Write node number `count`: its place, seen from the apex, and its flux; return count + 1."""
    put(node, count, 0, d)
    node[count, 3] = flux
    return count + 1


@inner
def band_nodes(i, box, nt, ns, surface, apex, piece, node):
    """`surface_nodes` between arc i of a thin cell and the plane through the agent.

    Sectors of other patches begin at the pole; here, along meridians, at that plane.
    """
    t0, t1, s0, s1 = box
    pole, center = surface.normal, surface.apex
    level = -dot(center, pole)
    count = 0
    for k in range(COUNT[nt]):
        v, slope = point_on_piece(i, t0 + (t1 - t0) * NODES[nt, k], ZERO, piece)
        height = height_on_arc(i, v, piece)
        y = less(v, center)
        y = along(y, -dot(y, pole), pole)
        turn = dot(pole, cross(y, slope)) / dot(y, y)
        turn *= (t1 - t0) * (s1 - s0) * WEIGHTS[nt, k] * height
        size = math.sqrt(dot(y, y))
        for h in range(COUNT[ns]):
            lift = level + (s0 + (s1 - s0) * NODES[ns, h]) * height
            out = math.sqrt((1.0 - lift) * (1.0 + lift)) / size
            on = along(scaled(out, y), lift, pole)
            d = less(along(center, 1.0, on), apex)
            count = put_node(count, d, turn * WEIGHTS[ns, h] * dot(d, on), node)
    return count


@inner
def patch_nodes(i, box, nt, ns, surface, apex, piece, node):
    """`surface_nodes` of the patch of the sphere."""
    t0, t1, s0, s1 = box
    pole = surface.normal
    size = surface.sign * (t1 - t0) * (s1 - s0)
    from_apex = less(surface.apex, apex)
    count = 0
    for k in range(COUNT[nt]):
        c, slope = point_on_piece(i, t0 + (t1 - t0) * NODES[nt, k], surface.apex, piece)
        c, slope = stereographic(c, slope, pole)
        turn = dot(pole, cross(c, slope)) * size * WEIGHTS[nt, k]
        length = math.sqrt(dot(c, c))
        reach = 2.0 * math.atan(length)
        least = stretch = 0.0
        if length > 0.0:
            least = min(1.0, 2.0 * math.atan(surface.hole) / reach)
            turn *= (1.0 - least) * reach / (length * length)
            stretch = 1.0 / length
        for h in range(COUNT[ns]):
            psi = reach * (least + (1.0 - least) * (s0 + (s1 - s0) * NODES[ns, h]))
            sine = math.sin(psi)
            half = math.sin(0.5 * psi)
            step = along(scaled(sine * stretch, c), -2.0 * half * half, pole)
            d = along(from_apex, 1.0, step)
            flux = turn * WEIGHTS[ns, h] * sine * dot(d, along(pole, 1.0, step))
            count = put_node(count, d, flux, node)
    return count


@inner
def flat_nodes(i, box, nt, ns, surface, apex, piece, node):
    """`surface_nodes` of a facet."""
    t0, t1, s0, s1 = box
    size = surface.sign * (t1 - t0) * (s1 - s0) * (surface.offset - dot(surface.normal, apex))
    from_apex = less(surface.apex, apex)
    count = 0
    for k in range(COUNT[nt]):
        c, turn = turn_at(i, t0 + (t1 - t0) * NODES[nt, k], surface.apex, surface.normal, piece)
        turn *= size * WEIGHTS[nt, k]
        for h in range(COUNT[ns]):
            s = s0 + (s1 - s0) * NODES[ns, h]
            count = put_node(count, along(from_apex, s, c), turn * WEIGHTS[ns, h] * s, node)
    return count


@inner
def edge_nodes(i, box, nt, surface, apex, piece, node):
    """`surface_nodes` of the edges of a planar region."""
    t0, t1, _, _ = box
    count = 0
    for k in range(COUNT[nt]):
        d, turn = turn_at(i, t0 + (t1 - t0) * NODES[nt, k], apex, surface.normal, piece)
        count = put_node(count, d, WEIGHTS[nt, k] * (t1 - t0) * turn, node)
    return count


@inner
def surface_nodes(i, box, nt, ns, surface, apex, piece, node):
    """Write the nodes of a box (t0, t1, s0, s1) of the sector of piece i; return how many.

    Rows of `node`: the place, seen from the apex, and the flux of the field v - apex through the
    surface there. On edges s is not used.
    """
    if surface.kind == EDGES:
        return edge_nodes(i, box, nt, surface, apex, piece, node)
    if surface.kind == FLAT:
        return flat_nodes(i, box, nt, ns, surface, apex, piece, node)
    if surface.kind == BAND:
        return band_nodes(i, box, nt, ns, surface, apex, piece, node)
    return patch_nodes(i, box, nt, ns, surface, apex, piece, node)


@inner
def nearest_on_piece(i, m, b, piece):
    """(squared distance, v) of the point of piece i that is nearest to the peak."""
    a = row_of(piece, i, START)
    x = along(b, 1.0, upper(m, a))
    u = upper(m, row_of(piece, i, STEP))
    angle = piece[i, ANGLE]
    if angle == 0.0:
        square = dot(u, u)
        t = -dot(x, u) / square if square > 0.0 else 0.0
        t = min(1.0, max(0.0, t))
        x = along(x, t, u)
        return dot(x, x), along(a, t, row_of(piece, i, STEP))
    e = upper(m, row_of(piece, i, QUARTER))
    base = less(x, u)  # the circle is base + cos u + sin e
    best = dot(x, x)
    at = 0
    for k in range(1, INTERVALS + 1):
        y = on_circle(base, u, e, angle * k / INTERVALS)
        if dot(y, y) < best:
            best = dot(y, y)
            at = k
    low = angle * max(at - 1, 0) / INTERVALS
    high = angle * min(at + 1, INTERVALS) / INTERVALS
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        y = on_circle(base, u, e, middle)
        slope = on_circle(ZERO, e, scaled(-1.0, u), middle)
        if dot(y, slope) > 0.0:
            high = middle
        else:
            low = middle
    y = on_circle(base, u, e, 0.5 * (low + high))
    v, _ = point_on_piece(i, 0.5 * (low + high) / angle, ZERO, piece)
    return dot(y, y), v


@inner
def on_circle(base, u, e, turn):
    """base + cos(turn) u + sin(turn) e."""
    return along(along(base, math.cos(turn), u), math.sin(turn), e)


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
