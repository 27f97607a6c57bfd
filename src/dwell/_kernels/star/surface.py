"""Points of a cell's boundary: facets as fans in their plane, the patch of the sphere as one too.

A piece c(t), t in [0, 1], spans a sector with the apex o of its fan, in a facet o + s (c - o). On
the sphere the apex is the pole P, and rays are great circles: at the angle psi = s Psi from P, with
Psi the angle between P and c. Directions are taken from the stereographic plane that touches the
sphere in P, where |zeta| = tan(Psi / 2).
"""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.double_double import cross_product, difference
from dwell._kernels.star.buffers import (
    ANGLE,
    CENTER,
    FACET,
    FAN,
    LEVEL,
    LOW,
    NORMAL,
    NORMAL_LOW,
    OFFSET,
    QUARTER,
    START,
    STEP,
    STRETCH,
    TILT,
)
from dwell._kernels.star.facets import outside_ball
from dwell._kernels.star.rules import COUNT, NODES, WEIGHTS
from dwell._kernels.star.vectors import (
    along,
    cross,
    dot,
    inverse_upper,
    less,
    put,
    row_of,
    upper,
    upper_of,
)

BAND = -1.0
SLIM = 1e-6  # squared sine between a segment and its distance below which digits are needed
THIN = 0.01  # height of a thin cell over the plane through the agent
STEEP = 0.9  # distance of such a plane from the center, at most
SAMPLES = 24  # points of an arc at which sectors are compared with a cap
CLEAR = 0.5  # the point opposite the pole lies so far outside the cell


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
    slope = angle * (1.0 - fall)
    d = along((slope * e[0], slope * e[1], slope * e[2]), -angle * sine, u)
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
def pole_of_patch(facets, g, facet, piece, pieces):
    """(pole of the patch, facet nearest to the center, whether the pole is opposite of no cell).

    The pole is the mean direction of the patch, a unit vector from the center of the ball.
    """
    n = (0.0, 0.0, 0.0)
    for i in range(pieces):
        angle = piece[i, ANGLE]
        if angle > 0.0:
            f = int(piece[i, FACET])
            normal = row_of(facet, f, NORMAL)
            lift = facet[f, OFFSET] + dot(normal, g)
            r = row_of(piece, i, STEP)
            c, _ = point_on_piece(i, 1.0, row_of(piece, i, START), piece)
            n = along(n, -lift, cross(normal, c))
            n = along(n, -angle * dot(r, r), normal)
    size = math.sqrt(dot(n, n))
    clear = -1.0
    nearest = 0
    for f in range(facets):
        normal = row_of(facet, f, NORMAL)
        lift = facet[f, OFFSET] + dot(normal, g)
        if size > 0.0:
            clear = max(clear, -dot(normal, n) / size - lift)
        if lift < facet[nearest, OFFSET] + dot(row_of(facet, nearest, NORMAL), g):
            nearest = f
    if clear < CLEAR:
        return row_of(facet, nearest, NORMAL), nearest, False
    return (n[0] / size, n[1] / size, n[2] / size), nearest, True


@inner
def thin_patch(facets, pieces, g, facet, piece):
    """(whether the cell is thin, pole): the pole is the normal of the facet nearest to the agent.

    Writes the heights of arcs over the plane through the agent across the pole: that of a facet
    nearly parallel to it comes from its offset, with all digits however thin the cell.
    """
    near = 0
    for f in range(1, facets):
        if facet[f, OFFSET] < facet[near, OFFSET]:
            near = f
    pole = row_of(facet, near, NORMAL)
    if facets < 2 or facet[near, OFFSET] > THIN or abs(dot(pole, g)) > STEEP:
        return False, pole
    opposite = False  # whether the point opposite the pole is outside the cell
    for f in range(facets):
        normal = row_of(facet, f, NORMAL)
        opposite = opposite or -dot(normal, along(pole, 1.0, g)) > facet[f, OFFSET]
    if not opposite:
        return False, pole
    for i in range(pieces):
        if piece[i, ANGLE] > 0.0:
            f = int(piece[i, FACET])
            normal = row_of(facet, f, NORMAL)
            side = 1.0 if dot(normal, pole) > 0.0 else -1.0
            tilt = along(pole, -side, normal)
            rest = along(row_of(facet, near, NORMAL_LOW), -side, row_of(facet, f, NORMAL_LOW))
            put(piece, i, TILT, along(tilt, 1.0, rest))
            piece[i, LEVEL] = side * facet[f, OFFSET]
            if abs(height_on_arc(i, row_of(piece, i, START), piece)) > THIN:
                return False, pole
    return True, pole


@inner
def height_on_arc(i, v, piece):
    """Height of a point v of arc i over the plane through the agent: see thin_patch."""
    return piece[i, LEVEL] + dot(row_of(piece, i, TILT), v)


@inner
def band_nodes(i, box, nt, ns, pole, center, apex, piece, node):
    """Write the nodes between arc i of a thin cell and the plane through the agent.

    In surface_nodes sectors begin at the pole; here, along meridians, at that plane.
    """
    t0, t1, s0, s1 = box
    level = -dot(center, pole)
    zero = (0.0, 0.0, 0.0)
    count = 0
    for k in range(COUNT[nt]):
        v, slope = point_on_piece(i, t0 + (t1 - t0) * NODES[nt, k], zero, piece)
        height = height_on_arc(i, v, piece)
        y = less(v, center)
        y = along(y, -dot(y, pole), pole)
        turn = dot(pole, cross(y, slope)) / dot(y, y)
        turn *= (t1 - t0) * (s1 - s0) * WEIGHTS[nt, k] * height
        size = math.sqrt(dot(y, y))
        for h in range(COUNT[ns]):
            lift = level + (s0 + (s1 - s0) * NODES[ns, h]) * height
            out = math.sqrt((1.0 - lift) * (1.0 + lift)) / size
            on = along((out * y[0], out * y[1], out * y[2]), lift, pole)
            d = less(along(center, 1.0, on), apex)
            put(node, count, 0, d)
            node[count, 3] = turn * WEIGHTS[ns, h] * dot(d, on)
            count += 1
    return count


@inner
def on_sphere(v, g, sigma):
    """The point of the sphere next to v, with all digits if it is near the agent."""
    y = along(v, 1.0, g)
    return along(v, -0.5 * outside_ball(v, g, sigma) / dot(y, y), y)


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
def surface_nodes(i, box, nt, ns, surface, apex, piece, node):
    """Write the nodes of a box (t0, t1, s0, s1) of the sector of piece i; return how many.

    Rows of `node`: the place, seen from the apex, and the flux of the field v - apex through the
    surface there. `surface`: (whether it is the patch, sign of its pieces, normal or pole, offset,
    apex of the fan, radius of a disc about the pole that is left out: BAND for a thin cell, with
    the center of the ball in place of the apex).
    """
    on_sphere, sign, normal, offset, o, hole = surface
    if hole == BAND:
        return band_nodes(i, box, nt, ns, normal, o, apex, piece, node)
    t0, t1, s0, s1 = box
    size = sign * (t1 - t0) * (s1 - s0)
    from_apex = less(o, apex)
    if not on_sphere:
        size *= offset - dot(normal, apex)
    count = 0
    for k in range(COUNT[nt]):
        t = t0 + (t1 - t0) * NODES[nt, k]
        if on_sphere:
            c, slope = point_on_piece(i, t, o, piece)
            c, slope = stereographic(c, slope, normal)
            turn = dot(normal, cross(c, slope))
        else:
            c, turn = turn_at(i, t, o, normal, piece)
        turn *= size * WEIGHTS[nt, k]
        length = math.sqrt(dot(c, c))
        reach = 2.0 * math.atan(length)
        least = 0.0
        if on_sphere and length > 0.0:
            least = min(1.0, 2.0 * math.atan(hole) / reach)
            turn *= (1.0 - least) * reach / (length * length)
        for h in range(COUNT[ns]):
            s = least + (1.0 - least) * (s0 + (s1 - s0) * NODES[ns, h])
            flux = turn * WEIGHTS[ns, h]
            if on_sphere and length > 0.0:
                sine = math.sin(s * reach)
                half = math.sin(0.5 * s * reach)
                out = sine / length
                step = along((out * c[0], out * c[1], out * c[2]), -2.0 * half * half, normal)
                d = along(from_apex, 1.0, step)
                flux *= sine * dot(d, along(normal, 1.0, step))
            else:
                d = along(from_apex, s, c)
                flux *= s
            put(node, count, 0, d)
            node[count, 3] = flux
            count += 1
    return count


@inner
def meets_cap(first, last, surface, top, lift, piece):
    """Whether sectors of a patch meet the cap {y: top . y > lift} of the sphere."""
    _, _, pole, _, at, hole = surface
    level = dot(top, pole)
    for i in range(first, last):
        for k in range(SAMPLES + 1 if piece[i, ANGLE] > 0.0 else 0):
            c, slope = point_on_piece(i, k / SAMPLES, at, piece)
            zeta, _ = stereographic(c, slope, pole)
            length = math.sqrt(dot(zeta, zeta))
            if length > 0.0:
                end = 2.0 * math.atan(length)
                begin = min(end, 2.0 * math.atan(hole))
                climb = dot(top, zeta) / length
                psi = min(end, max(begin, math.atan2(climb, level)))
                if level * math.cos(psi) + climb * math.sin(psi) > lift:
                    return True
    return False


@inner
def put_equator(g, facet, arc):
    """Note a great circle, for a cell that is the whole ball, as facet 0 and arc 0."""
    put(facet, 0, NORMAL, (0.0, 0.0, -1.0))
    facet[0, OFFSET] = g[2]
    put(facet, 0, CENTER, (-g[0], -g[1], -g[2]))
    put(facet, 0, FAN, (-g[0], -g[1], -g[2]))
    put(arc, 0, 0, (1.0 - g[0], -g[1], -g[2]))
    put(arc, 0, 3, (0.0, 0.0, 0.0))
    put(arc, 0, 6, (1.0, 0.0, 0.0))
    arc[0, 9] = 2.0 * math.pi


@inner
def put_box(row, k, i, out):
    """Write the box of all of piece i of surface k: see boxes_of in ball.py."""
    out[row, 0] = k
    out[row, 1] = i
    for side in range(3):
        out[row, 2 + 2 * side] = 0.0
        out[row, 3 + 2 * side] = 1.0


@njit
def nodes_of_facet(n, f, boxes, frame, b, out):
    """Write the nodes of boxes of facet f of the cell in b to out[k], rows (z - position, weight).

    n: row of the rule each way; of boxes: see boxes_of in ball.py, s is not used.
    """
    inverse = inverse_upper(upper_of(frame.root))
    o = row_of(b.facet, f, FAN)
    normal = row_of(b.facet, f, NORMAL)
    stretch = b.facet[f, STRETCH] * inverse[0] * inverse[3] * inverse[5]
    m = COUNT[n]
    for row in range(boxes.shape[0]):
        t0 = boxes[row, 2]
        r0 = boxes[row, 6]
        size = (boxes[row, 3] - t0) * (boxes[row, 7] - r0) * stretch
        for k in range(m):
            t = t0 + (boxes[row, 3] - t0) * NODES[n, k]
            c, turn = turn_at(int(boxes[row, 1]), t, o, normal, b.piece)
            turn *= size * WEIGHTS[n, k]
            for h in range(m):
                r = r0 + (boxes[row, 7] - r0) * NODES[n, h]
                put(out[row], k * m + h, 0, upper(inverse, along(o, r, c)))
                out[row, k * m + h, 3] = turn * WEIGHTS[n, h] * r
