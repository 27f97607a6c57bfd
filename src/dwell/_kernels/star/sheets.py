"""The boundary of a guaranteed cell, or of a dual one, as points with vector areas.

Coordinates are relative to the agent. A sheet u . B + c is, with beta = |B|, D = beta**2 - c**2 and
S = sqrt(1 + D |X|**2), the graph z = (beta - c S) / D over the plane X across its axis, with the
vector area axis + (c / S) X per dX: smooth everywhere. Its part of the boundary is a fan in that
plane, from one apex to its borders with other sheets.

In a curved workspace |W y - L| <= 1 borders are cut where they leave it, and so is each fan. What
lies on the boundary of the workspace itself is a fan on the unit sphere, in stereographic
coordinates about a pole. In the plane boundaries are curves, and there is no fan.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.algebra import (
    ZERO,
    across,
    along,
    cross,
    dot,
    less,
    narrowed,
    put,
    row_of,
    scaled,
    secant,
    solve_upper,
    transposed,
    upper,
)
from dwell._kernels.common.quadrature import COUNT, NODES, WEIGHTS
from dwell._kernels.star.arrangement import BX, SHIFT, SLOPE, UX, E, F, M

# Columns of a sector: its kind, its border, its sheet, a sign, and the part of the border from W0
# to W1 about (CX, CY): see sectors.py.
KIND, BORDER, SHEET, SIGN, CX, CY, W0, W1 = range(8)
ON_SHEET, ON_WORKSPACE, WITHOUT_BORDER = 0.0, 1.0, 2.0  # kinds
# Columns of a frame: two directions across the axis, the apex of the fan, how many points it is
# the mean of (0: the sheet has no part in the boundary).
E1, E2, APEX, POINTS = 0, 3, 6, 8
LEAN, CLEARANCE, POLE = 6, 9, 10  # L, 1 - |L|**2, the pole; W comes first
ON = 1e-13  # of off_region: on the boundary
STEPS = 80  # of a search for a root


@inner
def off_region(y, region):
    """|W y - L|**2 - 1: negative inside the workspace."""
    v = upper(region, y)
    return dot(v, v) - 2.0 * dot(v, row_of_region(LEAN, region)) - region[CLEARANCE]


@inner
def row_of_region(k, region):
    """The vector that begins in column k."""
    return region[k], region[k + 1], region[k + 2]


@inner
def region_gauge(u, region):
    """1 / distance of the boundary of the workspace in the direction u."""
    v = upper(region, u)
    a = dot(v, v)
    b = dot(v, row_of_region(LEAN, region))
    root = math.sqrt(b * b + a * region[CLEARANCE])
    return a / (b + root) if b > 0.0 else (root - b) / region[CLEARANCE]


@inner
def set_frames(count, gauge, frame):
    """Two directions across the axis of each of `count` sheets."""
    for k in range(count):
        u = row_of(gauge, k, UX)
        e = across(u)
        size = math.sqrt(dot(e, e))
        e = (e[0] / size, e[1] / size, e[2] / size)
        put(frame, k, E1, e)
        put(frame, k, E2, cross(u, e))
        put(frame, k, APEX, ZERO)


@inner
def on_sheet(k, a, b, gauge, frame):
    """The point of sheet k over X = (a, b), and its vector area per dX."""
    beta = gauge[k, SLOPE]
    c = gauge[k, SHIFT]
    x2 = a * a + b * b
    d = (beta - c) * (beta + c)
    s = math.sqrt(1.0 + d * x2)
    z = (1.0 - c * c * x2) / (beta + c * s) if c > 0.0 else (beta - c * s) / d
    axis = row_of(gauge, k, UX)
    x = along(scaled(a, row_of(frame, k, E1)), b, row_of(frame, k, E2))
    return along(x, z, axis), along(axis, c / s, x)


@inner
def slopes_on_sheet(k, normal, buffers):
    """Derivatives of W y along X, for a point of sheet k with this vector area."""
    axis = row_of(buffers.gauge, k, UX)
    e1 = row_of(buffers.frame, k, E1)
    e2 = row_of(buffers.frame, k, E2)
    return (
        upper(buffers.region, along(e1, -dot(normal, e1), axis)),
        upper(buffers.region, along(e2, -dot(normal, e2), axis)),
    )


@inner
def turned(cx, cy, w):
    """(cos, sin) of the angle at w, the place (cx, cy) turned by it, and the angle per w."""
    d = 1.0 / (1.0 + w * w)
    cos = (1.0 - w * w) * d
    sin = 2.0 * w * d
    return (cos, sin), (cos * cx - sin * cy, sin * cx + cos * cy), 2.0 * d


@inner
def along_arc(k, e, x, y, gauge, arc):
    """Constraint k on arc e as f0 + f1 cos + f2 sin, angles from its place (x, y)."""
    u = row_of(gauge, k, BX)
    g0 = dot(row_of(arc, e, M), u) + gauge[k, SHIFT]
    g1 = dot(row_of(arc, e, E), u)
    g2 = dot(row_of(arc, e, F), u)
    return g0, x * g1 + y * g2, x * g2 - y * g1


@inner
def flatter(e, gauge, owner):
    """The flatter of the two sheets of border e."""
    i, j = owner[e, 0], owner[e, 1]
    return i if gauge[i, SLOPE] < gauge[j, SLOPE] else j


@inner
def border_point(row, w, buffers):
    """The point of the cell's boundary at w of the border of a sector, and its derivative."""
    e = int(row[BORDER])
    arc = buffers.arc
    low = flatter(e, buffers.gauge, buffers.owner)
    f0, f1, f2 = along_arc(low, e, row[CX], row[CY], buffers.gauge, arc)
    (cos, sin), (c, s), turn = turned(row[CX], row[CY], w)
    u = along(along(row_of(arc, e, M), c, row_of(arc, e, E)), s, row_of(arc, e, F))
    du = along(scaled(-s, row_of(arc, e, E)), c, row_of(arc, e, F))
    f = f0 + cos * f1 + sin * f2
    y = (u[0] / f, u[1] / f, u[2] / f)
    return y, scaled(turn / f, along(du, sin * f1 - cos * f2, y))


@inner
def over_plane(k, y, frame):
    """X of a point, in the plane across the axis of sheet k."""
    return dot(y, row_of(frame, k, E1)), dot(y, row_of(frame, k, E2))


@inner
def reach_of(k, a0, b0, a1, b1, curved, buffers):
    """How far a ray of the fan from (a0, b0) by (a1, b1) stays in the workspace; at most 1."""
    if not curved:
        return 1.0
    region, gauge, frame = buffers.region, buffers.gauge, buffers.frame
    over = off_region(on_sheet(k, a0 + a1, b0 + b1, gauge, frame)[0], region)
    if over <= 0.0:
        return 1.0
    under = off_region(on_sheet(k, a0, b0, gauge, frame)[0], region)
    if under >= 0.0:
        return 0.0
    bracket = (0.0, 1.0, under, over, 0)
    s = 0.0
    for _ in range(STEPS):
        before = s
        s = secant(bracket)
        if not bracket[0] < s < bracket[1] or abs(s - before) <= 2e-16 * s:
            break
        y, _ = on_sheet(k, a0 + s * a1, b0 + s * b1, gauge, frame)
        bracket = narrowed(bracket, s, off_region(y, region))
    return s


@inner
def fan_ray(row, t, curved, buffers):
    """A ray of the fan of a sector, towards the place t, from 0 to 1, of its border.

    As (apex, step to the border, derivative of that step, share of it in the workspace), all but
    the last in the plane of the sheet.
    """
    k = int(row[SHEET])
    frame = buffers.frame
    width = row[W1] - row[W0]
    y, dy = border_point(row, row[W0] + t * width, buffers)
    a, b = over_plane(k, y, frame)
    da, db = over_plane(k, dy, frame)
    a0, b0 = frame[k, APEX], frame[k, APEX + 1]
    a -= a0
    b -= b0
    s = reach_of(k, a0, b0, a, b, curved, buffers)
    return (a0, b0), (a, b), (width * da, width * db), s


@inner
def edge_of_patch(row, t, buffers):
    """A point of the workspace's boundary where sheet and workspace meet, on the unit sphere.

    With its derivative. It ends the ray of a fan towards the place t of a sector.
    """
    k = int(row[SHEET])
    (a0, b0), (a, b), (da, db), s = fan_ray(row, t, True, buffers)
    y, normal = on_sheet(k, a0 + s * a, b0 + s * b, buffers.gauge, buffers.frame)
    place = less(upper(buffers.region, y), row_of_region(LEAN, buffers.region))
    j1, j2 = slopes_on_sheet(k, normal, buffers)
    g1, g2 = dot(place, j1), dot(place, j2)
    climb = g1 * a + g2 * b
    slope = -s * (g1 * da + g2 * db) / climb if climb > 0.0 else 0.0
    return place, along(scaled(slope * a + s * da, j1), slope * b + s * db, j2)


@inner
def put_node(count, y, part, area, node):
    """Write node number `count`: a point, and `part` of a vector area; return count + 1."""
    put(node, count, 0, y)
    put(node, count, 3, scaled(part, area))
    return count + 1


@inner
def put_sphere_node(count, place, part, region, node):
    """Write a node of the workspace's boundary, a place on the unit sphere; return count + 1."""
    y = solve_upper(region, along(place, 1.0, row_of_region(LEAN, region)))
    return put_node(count, y, part, transposed(region, place), node)


@inner
def sheet_nodes(row, box, nt, ns, curved, buffers, node):
    """`boundary_nodes` of a sector of a sheet."""
    k = int(row[SHEET])
    t0, t1, s0, s1 = box
    size = row[SIGN] * (t1 - t0) * (s1 - s0)
    count = 0
    for h in range(COUNT[nt]):
        t = t0 + (t1 - t0) * NODES[nt, h]
        (a0, b0), (a, b), (da, db), reach = fan_ray(row, t, curved, buffers)
        a *= reach
        b *= reach
        turn = size * WEIGHTS[nt, h] * reach * (a * db - b * da)
        for g in range(COUNT[ns]):
            s = s0 + (s1 - s0) * NODES[ns, g]
            y, area = on_sheet(k, a0 + s * a, b0 + s * b, buffers.gauge, buffers.frame)
            count = put_node(count, y, turn * s * WEIGHTS[ns, g], area, node)
    return count


@inner
def patch_nodes(row, box, nt, ns, buffers, node):
    """`boundary_nodes` of a sector of the workspace's boundary, in space."""
    region = buffers.region
    t0, t1, s0, s1 = box
    bare = row[KIND] == WITHOUT_BORDER
    pole = (0.0, 0.0, row[SIGN]) if bare else row_of_region(POLE, region)
    size = 4.0 * row[SIGN] * (t1 - t0) * (s1 - s0) / (region[0] * region[3] * region[5])
    count = 0
    for h in range(COUNT[nt]):
        t = t0 + (t1 - t0) * NODES[nt, h]
        if bare:
            _, (c, s), turn = turned(row[CX], row[CY], row[W0] + t * (row[W1] - row[W0]))
            turn *= row[W1] - row[W0]
            y, dy = (c, s, 0.0), (-turn * s, turn * c, 0.0)
        else:
            y, dy = edge_of_patch(row, t, buffers)
        lift = 1.0 + dot(y, pole)
        zeta = scaled(1.0 / lift, along(y, 1.0 - lift, pole))
        turn = size * WEIGHTS[nt, h] * dot(pole, cross(y, dy)) / (lift * lift)
        for g in range(COUNT[ns]):
            s = s0 + (s1 - s0) * NODES[ns, g]
            q = 1.0 / (1.0 + s * s * dot(zeta, zeta))
            place = along(scaled(2.0 * q - 1.0, pole), 2.0 * q * s, zeta)
            count = put_sphere_node(count, place, turn * s * WEIGHTS[ns, g] * q * q, region, node)
    return count


@inner
def curve_nodes(row, box, nt, buffers, node):
    """`boundary_nodes` in the plane, where the boundary is a curve."""
    region = buffers.region
    width = row[W1] - row[W0]
    count = 0
    for h in range(COUNT[nt]):
        w = row[W0] + width * (box[0] + (box[1] - box[0]) * NODES[nt, h])
        part = WEIGHTS[nt, h] * (box[1] - box[0]) * width
        if row[KIND] == ON_SHEET:
            y, dy = border_point(row, w, buffers)
            count = put_node(count, y, part, (dy[1], -dy[0], 0.0), node)
        else:
            _, (c, s), turn = turned(row[CX], row[CY], w)
            part *= turn / (region[0] * region[3])
            count = put_sphere_node(count, (c, s, 0.0), part, region, node)
    return count


@inner
def boundary_nodes(i, box, nt, ns, planar, curved, buffers, node):
    """Write nodes of a box (t0, t1, s0, s1) of sector i; return how many.

    Rows of `node`: the point, and the outward vector area that it stands for.
    """
    row = buffers.sector[i]
    if planar:
        return curve_nodes(row, box, nt, buffers, node)
    if row[KIND] == ON_SHEET:
        return sheet_nodes(row, box, nt, ns, curved, buffers, node)
    return patch_nodes(row, box, nt, ns, buffers, node)
