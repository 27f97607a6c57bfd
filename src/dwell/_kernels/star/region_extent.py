"""How wide a cell in a curved workspace is, and how far a point lies from its boundary.

Sheets of a dual cell curve inwards, so its hull is that of its corners and of its part of the
workspace's boundary. In the plane each arc of that is put into a polygon; in space points of it lie
so close together that little is left out between them, which is allowed for.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.star.boundary_moments import holds
from dwell._kernels.star.boundary_nodes import (
    patch_nodes,
)
from dwell._kernels.star.extent import farthest_from, smallest_ball, widest_pair
from dwell._kernels.star.rules import MESH
from dwell._kernels.star.sectors import (
    edge_of_patch,
)
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
    off_region,
    row_of_region,
)
from dwell._kernels.star.vectors import along, dot, put, row_of, solve_upper

FINEST = 0.025  # angle between points on an arc in the plane
SPACING = 0.1  # between points of the boundary in space, in directions
BULGE = 0.01  # share of the size that they may leave out in a ball
LARGEST_STEREOGRAPHIC = 8.0  # of |zeta|: sectors are not spanned more finely for more
ON = 1e-9  # of off_region, for corners
ROUNDING = 1e-12
NEARLY = 1e-9
HOPS = 3
BISECTIONS = 100


@inner
def put_point(n, place, buffers):
    """Add a point of the unit sphere, as a point relative to the agent; return how many."""
    if n >= buffers.point.shape[0]:
        buffers.flag[0] = 1
        return n
    region = buffers.region
    put(buffers.point, n, 0, solve_upper(region, along(place, 1.0, row_of_region(LEAN, region))))
    return n + 1


@inner
def put_corners(corners, buffers):
    """Add those corners between sheets that lie in the workspace; return how many points."""
    n = 0
    for k in range(corners):
        if n >= buffers.point.shape[0]:
            buffers.flag[0] = 1
        elif off_region(row_of(buffers.corner, k, 0), buffers.region) <= ON:
            put(buffers.point, n, 0, row_of(buffers.corner, k, 0))
            n += 1
    return n


@inner
def put_arc_polygon(n, i, buffers):
    """Add a polygon round the arc of sector i, in the plane; return how many points."""
    row = buffers.sector[i]
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
            n = put_point(n, (r * math.cos(at), r * math.sin(at), 0.0), buffers)
    return n


@inner
def put_patch_points(n, i, count, buffers):
    """Add points of sector i of the workspace's boundary, in space; return how many points."""
    node = buffers.node
    pole = row_of_region(POLE, buffers.region)
    rows = 8
    reach = 1.0
    if buffers.sector[i, KIND] == ON_WORKSPACE:
        length = 0.0
        before, _ = edge_of_patch(i, 0.0, buffers)
        for k in range(1, 5):
            place, _ = edge_of_patch(i, 0.25 * k, buffers)
            step = along(place, -1.0, before)
            length += math.sqrt(dot(step, step))
            lift = 1.0 + dot(place, pole)
            reach = max(reach, math.sqrt(max(0.0, 2.0 / lift - 1.0)))
            before = place
        rows = 1 + int(length / (2.0 * SPACING))
    columns = 1 + int(min(reach, LARGEST_STEREOGRAPHIC) / SPACING)
    for a in range(rows):
        for b in range(columns):
            box = (a / rows, (a + 1) / rows, b / columns, (b + 1) / columns)
            for k in range(patch_nodes(i, box, MESH, MESH, buffers, node)):
                y = row_of(node, k, 0)
                edge = b == columns - 1 and k % 3 == 2
                if n >= buffers.point.shape[0]:
                    buffers.flag[0] = 1
                elif k % 3 == 2 and (edge or holds(y, count, False, buffers)):
                    put(buffers.point, n, 0, y)
                    n += 1
    return n


@inner
def hull_points(planar, count, corners, sectors, buffers):
    """Points whose hull holds the cell, in buffers.point; return how many."""
    n = put_corners(corners, buffers)
    for i in range(sectors):
        if buffers.sector[i, KIND] != ON_SHEET and buffers.sector[i, SIGN] != 0.0:
            if planar:
                n = put_arc_polygon(n, i, buffers)
            else:
                n = put_patch_points(n, i, count, buffers)
    return n


@inner
def put_wide_first(n, points):
    """Sort out points that belong to no widest pair, to the end; gives how many are left.

    Some width is known from a few hops to the farthest point; a pair as wide as that has both of
    its points so far from the middle that the farthest one there could make up the rest.
    """
    x = y = z = 0.0
    for k in range(n):
        x += points[k, 0] / n
        y += points[k, 1] / n
        z += points[k, 2] / n
    first, most = farthest_from(x, y, z, n, points)
    width = 0.0
    for _ in range(HOPS):
        o = points[first]
        first, square = farthest_from(o[0], o[1], o[2], n, points)
        width = larger(width, math.sqrt(square))
    least = (width - math.sqrt(most)) * (1.0 - NEARLY)
    kept = 0
    for k in range(n):
        a, b, c = points[k, 0], points[k, 1], points[k, 2]
        if (a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2 >= least * abs(least):
            for d in range(3):
                points[k, d] = points[kept, d]
            points[kept, 0], points[kept, 1], points[kept, 2] = a, b, c
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
    ball = smallest_ball(i, j, n, buffers.point, buffers.ball)
    margin = 1.0 + ROUNDING
    longest = max(sizes[0], sizes[1], sizes[2])
    if not planar:
        uneven = longest / min(sizes[0], sizes[1], sizes[2])
        margin += BULGE * uneven * uneven
    return (
        smaller(margin * math.sqrt(widest), 2.0 * longest),
        smaller(margin * math.sqrt(ball[3]), longest),
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
    left = 1.0
    square = 0.0
    for i in range(3):
        if i != least:
            foot = sizes[i] * sizes[i] * y[i] / (sizes[i] * sizes[i] + high)
            if sizes[i] == a:  # another one as small: nothing to share, take it as it is
                foot = smaller(foot, sizes[i])
            left -= (foot / sizes[i]) * (foot / sizes[i])
            square += (foot - y[i]) * (foot - y[i])
    foot = a * math.sqrt(larger(0.0, left))
    square += (foot - y[least]) * (foot - y[least])
    return math.sqrt(square)
