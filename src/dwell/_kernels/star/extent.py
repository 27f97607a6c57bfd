"""How wide a dual guaranteed cell is, and how deep a point lies in a guaranteed one.

Sheets and edges of a dual cell curve inwards: the tangents of each lie in the cell. So its hull is
that of its corners, which tell the diameter and the smallest ball.

In a curved workspace the hull is that of the corners and of the cell's part of the workspace's
boundary. In the plane each arc of that is put into a polygon; in space points of it lie
so close together that little is left out between them, which is allowed for.
"""

import math

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.algebra import ZERO, along, dot, less, put, row_of, solve_upper
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.extent import (
    farthest_from,
    sheet_gap,
    smallest_ball,
    squared_gap,
    widest_pair,
)
from dwell._kernels.common.quadrature import MESH
from dwell._kernels.star.boundary_moments import is_inside
from dwell._kernels.star.sheets import (
    CX,
    CY,
    KIND,
    LEAN,
    ON_SHEET,
    ON_WORKSPACE,
    POLE,
    SIGN,
    W1,
    edge_of_patch,
    off_region,
    patch_nodes,
    row_of_region,
)

MARGIN = 1.0 + 1e-12  # corners are known to rounding only; sizes must not come out too small
FINEST = 0.025  # angle between points on an arc in the plane
SPACING = 0.1  # between points of the boundary in space, in directions
BULGE = 0.01  # share of the size that they may leave out in a ball
LARGEST_STEREOGRAPHIC = 8.0  # of |zeta|: sectors are not spanned more finely for more
ON = 1e-9  # of off_region, for corners
NEARLY = 1e-9
HOPS = 3
BISECTIONS = 100


@inner
def radius_of(first, second, planar, n, points, memory):
    """Squared radius of a ball round n points, the smallest up to rounding.

    It is the distance of the farthest point: the ball holds all of them.
    """
    center, _ = smallest_ball(first, second, planar, n, points, memory)
    return farthest_from(center, n, points)[1]


@njit
def extent(n, points, buffers):
    """(diameter, radius of the smallest ball) of n points, rounded up."""
    i, j, widest = widest_pair(n, points)
    if not widest > 0.0:
        return 0.0, 0.0
    square = radius_of(i, j, False, n, points, buffers)
    return MARGIN * math.sqrt(widest), MARGIN * math.sqrt(square)


@inner
def gap_to_boundary(sign, z, p, n, q, radius, normals, offsets):
    """Distance of z (relative to p) from the boundary of the cell; <= 0 outside it.

    The outside is a union, of what each flat side and each agent takes away: the nearest of these.
    """
    best = np.inf
    for w in range(offsets.shape[0]):
        u = row_of(normals, w, 0)
        best = smaller(best, (offsets[w] - dot(u, p)) - dot(z, u))
    for j in range(n):
        d = less(row_of(q, j, 0), p)
        r = radius[j]
        apart = math.sqrt(dot(d, d))
        if apart > r:
            best = sheet_gap(sign, z, d, r, best)
        elif sign > 0.0:
            return smaller(0.0, -0.5 * (r - apart))
    return best


@inner
def put_point(n, y, buffers):
    """Add a point relative to the agent; return how many."""
    if n >= buffers.point.shape[0]:
        buffers.flag[0] = 1
        return n
    put(buffers.point, n, 0, y)
    return n + 1


@inner
def put_arc_polygon(n, i, buffers):
    """Add a polygon round the arc of sector i, in the plane; return how many points."""
    row = buffers.sector[i]
    region = buffers.region
    start = math.atan2(row[CY], row[CX])
    angle = 4.0 * math.atan(row[W1])
    parts = 1 + int(angle / FINEST)
    half = 0.5 * angle / parts
    start -= 0.5 * angle
    stretch = 1.0 / math.cos(half)
    for k in range(2 * parts + 1):
        r = stretch if k % 2 == 1 else 1.0
        if k % 2 == 1 or k in (0, 2 * parts):
            at = start + k * half
            place = (r * math.cos(at), r * math.sin(at), 0.0)
            y = solve_upper(region, along(place, 1.0, row_of_region(LEAN, region)))
            n = put_point(n, y, buffers)
    return n


@inner
def put_patch_points(n, i, count, buffers):
    """Add points of sector i of the workspace's boundary, in space; return how many points."""
    row = buffers.sector[i]
    pole = row_of_region(POLE, buffers.region)
    rows = 8
    reach = 1.0
    if row[KIND] == ON_WORKSPACE:
        length = 0.0
        before, _ = edge_of_patch(row, 0.0, buffers)
        for k in range(1, 5):
            place, _ = edge_of_patch(row, 0.25 * k, buffers)
            step = less(place, before)
            length += math.sqrt(dot(step, step))
            lift = 1.0 + dot(place, pole)
            reach = max(reach, math.sqrt(max(0.0, 2.0 / lift - 1.0)))
            before = place
        rows = 1 + int(length / (2.0 * SPACING))
    columns = 1 + int(min(reach, LARGEST_STEREOGRAPHIC) / SPACING)
    for a in range(rows):
        for b in range(columns):
            box = (a / rows, (a + 1) / rows, b / columns, (b + 1) / columns)
            for k in range(2, patch_nodes(row, box, MESH, MESH, buffers, buffers.node), 3):
                y = row_of(buffers.node, k, 0)
                if b == columns - 1 or is_inside(y, count, False, buffers):
                    n = put_point(n, y, buffers)
    return n


@inner
def hull_points(planar, count, corners, sectors, buffers):
    """Points whose hull holds the cell, in buffers.point; return how many.

    They are the corners between sheets in the workspace, and points of its boundary.
    """
    n = 0
    for k in range(corners):
        y = row_of(buffers.corner, k, 0)
        if off_region(y, buffers.region) <= ON:
            n = put_point(n, y, buffers)
    for i in range(sectors):
        if buffers.sector[i, KIND] != ON_SHEET and buffers.sector[i, SIGN] != 0.0:
            if planar:
                n = put_arc_polygon(n, i, buffers)
            else:
                n = put_patch_points(n, i, count, buffers)
    return n


@inner
def put_wide_first(n, points):
    """Move points that cannot belong to a widest pair to the end; return the number of the others.

    A few hops, each to the point farthest away, give some width. In a pair as wide as that, both
    points are at least so far from the middle that the point farthest from it makes up the rest.
    """
    middle = ZERO
    for k in range(n):
        middle = along(middle, 1.0 / n, row_of(points, k, 0))
    first, most = farthest_from(middle, n, points)
    width = 0.0
    for _ in range(HOPS):
        first, square = farthest_from(row_of(points, first, 0), n, points)
        width = larger(width, math.sqrt(square))
    least = (width - math.sqrt(most)) * (1.0 - NEARLY)
    kept = 0
    for k in range(n):
        if squared_gap(middle, k, points) >= least * abs(least):
            y = row_of(points, k, 0)
            put(points, k, 0, row_of(points, kept, 0))
            put(points, kept, 0, y)
            kept += 1
    return kept


@inner
def region_extent(planar, n, sizes, buffers):
    """(diameter, circumradius), or a little more, of the hull of n points in buffers.point."""
    if n == 0:
        return 0.0, 0.0
    i, j, widest = widest_pair(put_wide_first(n, buffers.point), buffers.point)
    if not widest > 0.0:
        return 0.0, 0.0
    square = radius_of(i, j, planar, n, buffers.point, buffers.ball)
    margin = MARGIN
    longest = max(sizes[0], sizes[1], sizes[2])
    if not planar:
        uneven = longest / min(sizes[0], sizes[1], sizes[2])
        margin += BULGE * uneven * uneven
    return (
        smaller(margin * math.sqrt(widest), 2.0 * longest),
        smaller(margin * math.sqrt(square), longest),
    )


@inner
def ellipsoid_gap(z, sizes, axes):
    """Distance from a point inside an ellipsoid, seen from its middle, to its boundary; <= 0 out.

    Along the axes the foot is a**2 y / (a**2 + t) with t <= 0 where sum (a y / (a**2 + t))**2 = 1;
    the smallest semi-axis gets what the others leave, so that the foot always lies on it.
    """
    y = (abs(dot(z, row_of(axes, 0, 0))), abs(dot(z, row_of(axes, 1, 0))),
         abs(dot(z, row_of(axes, 2, 0))))  # fmt: skip
    least = 0
    inside = 0.0
    for i in range(3):
        inside += (y[i] / sizes[i]) * (y[i] / sizes[i])
        if sizes[i] < sizes[least]:
            least = i
    a = sizes[least]
    if sizes[0] == sizes[1] == sizes[2] or inside >= 1.0:
        return a * (1.0 - math.sqrt(inside))  # of a ball it is that; outside the sign will do
    low, high = -a * a, 0.0
    for _ in range(BISECTIONS):
        t = 0.5 * (low + high)
        total = 0.0
        for i in range(3):
            part = sizes[i] * y[i] / (sizes[i] * sizes[i] + t)
            total += part * part
        if total > 1.0:
            low = t
        else:
            high = t
    rest = 1.0
    square = 0.0
    for i in range(3):
        if i != least:
            foot = sizes[i] * sizes[i] * y[i] / (sizes[i] * sizes[i] + high)
            if sizes[i] == a:  # another one as small: nothing to share, take it as it is
                foot = smaller(foot, sizes[i])
            rest -= (foot / sizes[i]) * (foot / sizes[i])
            square += (foot - y[i]) * (foot - y[i])
    foot = a * math.sqrt(larger(0.0, rest))
    square += (foot - y[least]) * (foot - y[least])
    return math.sqrt(square)
