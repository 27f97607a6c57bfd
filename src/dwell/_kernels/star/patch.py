"""Which fan covers a cell's part of the sphere: its patch.

The pole of the fan is the mean direction of the patch, if the point opposite to it is clearly
outside the cell. Caps beyond a plane that the cell lies below can be left out, and a thin cell has
its patch as a band beside the plane through its agent.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.star.buffers import (
    ANGLE,
    CENTER,
    FAN,
    FIRST,
    LAST,
    LEVEL,
    NORMAL,
    NORMAL_LOW,
    OFFSET,
    OWNER,
    START,
    STEP,
    TILT,
)
from dwell._kernels.star.ring import outside_ball, put_circle, put_pieces_of_arcs
from dwell._kernels.star.surface import (
    BAND,
    EDGES,
    FLAT,
    PATCH,
    Surface,
    height_on_arc,
    point_on_piece,
    stereographic,
)
from dwell._kernels.star.vectors import (
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

THIN = 0.01  # height of a thin cell over the plane through the agent
STEEP = 0.9  # distance of such a plane from the center, at most
SAMPLES = 24  # points of an arc at which sectors are compared with a cap
OPPOSITE = 0.5  # how far outside the cell the point opposite the mean of a patch is, as a pole
CLEAR = 0.2  # how far outside the cell the middle of a cap is, as a pole
HIGHEST = 2.0  # rise of an exponent beyond the cell that is accepted
ON_FACET = 1e-12  # height of points that count as points of a facet


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
            put(piece, i, TILT, along(tilt, 1.0, rest))
            piece[i, LEVEL] = side * facet[f, OFFSET]
            if abs(height_on_arc(i, row_of(piece, i, START), piece)) > THIN:
                return False, pole
    return True, pole


@inner
def on_sphere(v, ball):
    """The point of the sphere next to v, with all digits if it is near the agent."""
    y = along(v, 1.0, ball[0])
    return along(v, -0.5 * outside_ball(v, ball) / dot(y, y), y)


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
    apex = on_sphere(less(pole, g), cell.ball)
    return True, 0, cell.pieces, Surface(PATCH, -1.0, pole, 0.0, apex, 0.0)


@inner
def put_equator(g, b):
    """Write the pieces of a great circle, for a cell that is the whole ball; return how many."""
    down, center = (0.0, 0.0, -1.0), scaled(-1.0, g)
    put(b.facet, 0, NORMAL, down)
    b.facet[0, OFFSET] = g[2]
    put(b.facet, 0, CENTER, center)
    put(b.facet, 0, FAN, center)
    put_circle(down, center, 1.0, b.arc)
    return put_pieces_of_arcs(1, 0, 0, down, b.piece, b.arc)
