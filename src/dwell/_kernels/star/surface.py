"""Nodes of a cell's boundary: of facets, and of the patch of the sphere.

A facet is a fan in its plane, and the patch is one too.

A piece c(t), t in [0, 1], spans a sector with the apex o of its fan, in a facet o + s (c - o). On
the sphere the apex is the pole P, and rays are great circles: at the angle psi = s Psi from P, with
Psi the angle between P and c. Directions are taken from the stereographic plane that touches the
sphere in P, where |zeta| = tan(Psi / 2). The boundary of a planar region is its pieces themselves.

The patch is a fan about a pole: the mean direction of the patch, if the point opposite to it is
clearly outside the cell. Caps beyond a plane that the cell lies below can be left out, and a thin
cell has its patch as a band beside the plane through its agent.
"""

import math
from typing import NamedTuple

from dwell._kernels._jit import inner
from dwell._kernels.common.algebra import (
    ZERO,
    along,
    cross,
    dot,
    less,
    put,
    row_of,
    scaled,
    transposed,
)
from dwell._kernels.common.arithmetic import cross_product, difference
from dwell._kernels.common.quadrature import COUNT, NODES, WEIGHTS
from dwell._kernels.star.buffers import (
    ANGLE,
    FAN,
    FIRST,
    LAST,
    LEVEL,
    LOW,
    NORMAL,
    NORMAL_LOW,
    OFFSET,
    OWNER,
    QUARTER,
    START,
    STEP,
    TILT,
)
from dwell._kernels.star.ring import outside_ball

EDGES, FLAT, PATCH, BAND = 0, 1, 2, 3  # BAND: the patch of a thin cell
SLIM = 1e-6  # squared sine between a segment and its distance below which digits are needed
THIN = 0.01  # height of a thin cell over the plane through the agent
STEEP = 0.9  # distance of such a plane from the center, at most
SAMPLES = 24  # points of an arc at which sectors are compared with a cap
OPPOSITE = 0.5  # how far outside the cell the point opposite the mean of a patch is, as a pole
CLEAR = 0.2  # how far outside the cell the middle of a cap is, as a pole
HIGHEST = 2.0  # rise of an exponent beyond the cell that is accepted
ON_FACET = 1e-12  # height of points that count as points of a facet


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
def sweep_of_segment(i, about, normal, piece):
    """Twice the area that segment i sweeps about a point in its plane, with all digits.

    0 for an arc.
    """
    if piece[i, ANGLE] > 0.0:
        return 0.0
    c, u = point_on_piece(i, 0.0, about, piece)
    sweep = dot(normal, cross(c, u))
    planar = normal[2] == 1.0
    if not planar and sweep * sweep > SLIM * dot(c, c) * dot(u, u):
        return sweep
    v = row_of(piece, i, QUARTER)
    xh, xl = difference(piece[i, START], about[0])
    yh, yl = difference(piece[i, START + 1], about[1])
    xl += piece[i, LOW]
    yl += piece[i, LOW + 1]
    xy, _ = cross_product(xh, xl, yh, yl, u[0], v[0], u[1], v[1])
    if planar:
        return xy
    zh, zl = difference(piece[i, START + 2], about[2])
    zl += piece[i, LOW + 2]
    yz, _ = cross_product(yh, yl, zh, zl, u[1], v[1], u[2], v[2])
    zx, _ = cross_product(zh, zl, xh, xl, u[2], v[2], u[0], v[0])
    return dot(normal, (yz, zx, xy))


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
        height = piece[i, LEVEL] + dot(row_of(piece, i, TILT), v)  # see thin_patch
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
    """`surface_nodes` of a facet, or of the edges of a planar region, where s is always 1."""
    t0, t1, s0, s1 = box
    edge = surface.kind == EDGES
    about = apex if edge else surface.apex
    size = t1 - t0
    if not edge:
        size *= surface.sign * (s1 - s0) * (surface.offset - dot(surface.normal, apex))
    from_apex = less(about, apex)
    sweep = sweep_of_segment(i, about, surface.normal, piece)
    count = 0
    for k in range(COUNT[nt]):
        c, slope = point_on_piece(i, t0 + (t1 - t0) * NODES[nt, k], about, piece)
        turn = dot(surface.normal, cross(c, slope)) if piece[i, ANGLE] > 0.0 else sweep
        turn *= size * WEIGHTS[nt, k]
        for h in range(1 if edge else COUNT[ns]):
            s = 1.0 if edge else s0 + (s1 - s0) * NODES[ns, h]
            flux = turn if edge else turn * WEIGHTS[ns, h] * s
            count = put_node(count, along(from_apex, s, c), flux, node)
    return count


@inner
def surface_nodes(i, box, nt, ns, surface, apex, piece, node):
    """Write the nodes of a box (t0, t1, s0, s1) of the sector of piece i; return how many.

    Rows of `node`: the place, seen from the apex, and the flux of the field v - apex through the
    surface there. On edges s is not used.
    """
    if surface.kind <= FLAT:
        return flat_nodes(i, box, nt, ns, surface, apex, piece, node)
    if surface.kind == BAND:
        return band_nodes(i, box, nt, ns, surface, apex, piece, node)
    return patch_nodes(i, box, nt, ns, surface, apex, piece, node)


@inner
def pole_of_patch(cell, facet, piece):
    """(pole of the patch, facet nearest to the center, whether the pole is opposite of no cell).

    The pole is the mean direction of the patch, a unit vector from the center of the ball.
    """
    g = cell.ball[0]
    n = ZERO
    for i in range(cell.pieces):
        angle = piece[i, ANGLE]
        if angle > 0.0:
            f = int(piece[i, OWNER])
            normal = row_of(facet, f, NORMAL)
            lift = facet[f, OFFSET] + dot(normal, g)
            r = row_of(piece, i, STEP)
            c, _ = point_on_piece(i, 1.0, row_of(piece, i, START), piece)
            n = along(n, -lift, cross(normal, c))
            n = along(n, -angle * dot(r, r), normal)
    size = math.sqrt(dot(n, n))
    clear = -1.0
    nearest = 0
    for f in range(cell.facets):
        normal = row_of(facet, f, NORMAL)
        lift = facet[f, OFFSET] + dot(normal, g)
        if size > 0.0:
            clear = max(clear, -dot(normal, n) / size - lift)
        if lift < facet[nearest, OFFSET] + dot(row_of(facet, nearest, NORMAL), g):
            nearest = f
    if clear < OPPOSITE:
        return row_of(facet, nearest, NORMAL), nearest, False
    return (n[0] / size, n[1] / size, n[2] / size), nearest, True


@inner
def thin_patch(cell, facet, piece):
    """(whether the cell is thin, pole): the pole is the normal of the facet nearest to the agent.

    Writes the heights of arcs over the plane through the agent across the pole: that of a facet
    nearly parallel to it comes from its offset, with all digits however thin the cell.
    """
    g = cell.ball[0]
    near = 0
    for f in range(1, cell.facets):
        if facet[f, OFFSET] < facet[near, OFFSET]:
            near = f
    pole = row_of(facet, near, NORMAL)
    if cell.facets < 2 or facet[near, OFFSET] > THIN or abs(dot(pole, g)) > STEEP:
        return False, pole
    opposite = False  # whether the point opposite the pole is outside the cell
    for f in range(cell.facets):
        normal = row_of(facet, f, NORMAL)
        opposite = opposite or -dot(normal, along(pole, 1.0, g)) > facet[f, OFFSET]
    if not opposite:
        return False, pole
    for i in range(cell.pieces):
        if piece[i, ANGLE] > 0.0:
            f = int(piece[i, OWNER])
            normal = row_of(facet, f, NORMAL)
            side = 1.0 if dot(normal, pole) > 0.0 else -1.0
            tilt = along(pole, -side, normal)
            rest = along(row_of(facet, near, NORMAL_LOW), -side, row_of(facet, f, NORMAL_LOW))
            tilt = along(tilt, 1.0, rest)
            put(piece, i, TILT, tilt)
            piece[i, LEVEL] = side * facet[f, OFFSET]
            if abs(piece[i, LEVEL] + dot(tilt, row_of(piece, i, START))) > THIN:
                return False, pole
    return True, pole


@inner
def meets_cap(cell, surface, top, lift, piece):
    """Whether sectors of a patch meet the cap {y: top . y > lift} of the sphere."""
    pole = surface.normal
    level = dot(top, pole)
    for i in range(cell.pieces):
        for k in range(SAMPLES + 1 if piece[i, ANGLE] > 0.0 else 0):
            c, slope = point_on_piece(i, k / SAMPLES, surface.apex, piece)
            zeta, _ = stereographic(c, slope, pole)
            length = math.sqrt(dot(zeta, zeta))
            if length > 0.0:
                end = 2.0 * math.atan(length)
                begin = min(end, 2.0 * math.atan(surface.hole))
                climb = dot(top, zeta) / length
                psi = min(end, max(begin, math.atan2(climb, level)))
                if level * math.cos(psi) + climb * math.sin(psi) > lift:
                    return True
    return False


@inner
def beside_cap(cell, q, uphill, facet):
    """The patch as a surface without the cap beyond the plane through q across `uphill`.

    The cell lies on the other side of that plane. The pole is opposite the cap, if that is not
    clearly outside the cell; else it is the middle of the cap, and sectors begin at its boundary.
    """
    g = cell.ball[0]
    top = scaled(1.0 / math.sqrt(dot(uphill, uphill)), uphill)
    pole = scaled(-1.0, top)
    at = less(pole, g)
    outside = -1.0
    for f in range(cell.facets):
        outside = max(outside, dot(row_of(facet, f, NORMAL), at) - facet[f, OFFSET])
    if outside < CLEAR:
        return Surface(PATCH, -1.0, pole, 0.0, at, 0.0)
    lift = min(1.0, dot(top, along(q, 1.0, g)))
    hole = math.sqrt((1.0 - lift) / (1.0 + lift))
    return Surface(PATCH, -1.0, top, 0.0, less(top, g), hole)


@inner
def falling_patch(cell, surface, q, m, x, b):
    """The patch as a surface on whose rays from q a Gaussian component hardly rises.

    The cell lies below the plane through q across the gradient; beyond it the component is larger.
    If sectors of `surface` go there, the cap beyond a facet that q is on is left out, or that one.
    """
    down = transposed(m, x)
    size = math.sqrt(dot(down, down))
    if not size > 0.0:
        return surface
    top = scaled(-1.0 / size, down)
    lift = dot(top, along(q, 1.0, cell.ball[0])) + 0.5 * HIGHEST / size
    if lift >= 1.0 or not meets_cap(cell, surface, top, lift, b.piece):
        return surface
    for f in range(cell.facets):
        normal = row_of(b.facet, f, NORMAL)
        if abs(b.facet[f, OFFSET] - dot(normal, q)) <= ON_FACET:
            other = beside_cap(cell, q, normal, b.facet)
            if not meets_cap(cell, other, top, lift, b.piece):
                return other
    return beside_cap(cell, q, top, b.facet)


@inner
def surface_of(k, cell, b):
    """(whether there is a surface k of a cell, its pieces from first to last - 1, surface).

    Those of a cell are its facets and then its patch, which is two hemispheres if the cell is the
    whole ball; a planar region has its edges alone.
    """
    g = cell.ball[0]
    f = cell.only if cell.only >= 0 else k
    if k == 0 if cell.only >= 0 else k < cell.facets:
        kind = EDGES if cell.only >= 0 else FLAT
        normal = row_of(b.facet, f, NORMAL)
        surface = Surface(kind, 1.0, normal, b.facet[f, OFFSET], row_of(b.facet, f, FAN), 0.0)
        return True, int(b.facet[f, FIRST]), int(b.facet[f, LAST]), surface
    if cell.whole:
        sign = 2.0 * k - 1.0
        pole = (0.0, 0.0, -sign)
        return True, 0, cell.pieces, Surface(PATCH, sign, pole, 0.0, less(pole, g), 0.0)
    there = False
    for i in range(cell.pieces):
        there = there or b.piece[i, ANGLE] > 0.0
    if cell.only >= 0 or k > cell.facets or not there:
        return False, 0, 0, Surface(PATCH, 1.0, g, 0.0, g, 0.0)
    thin, pole = thin_patch(cell, b.facet, b.piece)
    if thin:
        return True, 0, cell.pieces, Surface(BAND, -1.0, pole, 0.0, scaled(-1.0, g), 0.0)
    pole, nearest, clear = pole_of_patch(cell, b.facet, b.piece)
    if not clear:
        other = beside_cap(cell, row_of(b.facet, nearest, FAN), pole, b.facet)
        return True, 0, cell.pieces, other
    apex = less(pole, g)  # and on the sphere with all digits, also if it is near the agent
    y = along(apex, 1.0, g)
    apex = along(apex, -0.5 * outside_ball(apex, cell.ball) / dot(y, y), y)
    return True, 0, cell.pieces, Surface(PATCH, -1.0, pole, 0.0, apex, 0.0)
