"""Points of the boundary of a cell with their vector areas: see sheets.py."""

from dwell._kernels._jit import inner
from dwell._kernels.star.rules import COUNT, NODES, WEIGHTS
from dwell._kernels.star.sectors import (
    edge_of_patch,
)
from dwell._kernels.star.sheets import (
    APEX,
    BORDER,
    CX,
    CY,
    KIND,
    LEAN,
    ON_SHEET,
    POLE,
    SHEET,
    SIGN,
    W0,
    W1,
    WITHOUT_BORDER,
    border_point,
    on_sheet,
    over_plane,
    reach_of,
    row_of_region,
)
from dwell._kernels.star.vectors import (
    along,
    cross,
    dot,
    put,
    solve_upper,
    transposed,
)


@inner
def sheet_nodes(i, box, nt, ns, curved, buffers, node):
    """`boundary_nodes` of a sector of a sheet."""
    row = buffers.sector[i]
    k = int(row[SHEET])
    t0, t1, s0, s1 = box
    a0, b0 = buffers.frame[k, APEX], buffers.frame[k, APEX + 1]
    width = row[W1] - row[W0]
    size = row[SIGN] * (t1 - t0) * (s1 - s0) * width
    count = 0
    for h in range(COUNT[nt]):
        w = row[W0] + width * (t0 + (t1 - t0) * NODES[nt, h])
        y, dy = border_point(int(row[BORDER]), row[CX], row[CY], w, buffers)
        a1, b1 = over_plane(k, y, buffers.frame)
        da, db = over_plane(k, dy, buffers.frame)
        reach = reach_of(k, a0, b0, a1, b1, curved, buffers)
        a1 = reach * (a1 - a0)
        b1 = reach * (b1 - b0)
        turn = size * WEIGHTS[nt, h] * reach * (a1 * db - b1 * da)
        for g in range(COUNT[ns]):
            s = s0 + (s1 - s0) * NODES[ns, g]
            y, area = on_sheet(k, a0 + s * a1, b0 + s * b1, buffers.gauge, buffers.frame)
            put(node, count, 0, y)
            part = turn * s * WEIGHTS[ns, g]
            put(node, count, 3, (part * area[0], part * area[1], part * area[2]))
            count += 1
    return count


@inner
def patch_nodes(i, box, nt, ns, buffers, node):
    """`boundary_nodes` of a sector of the workspace's boundary, in space."""
    row = buffers.sector[i]
    region = buffers.region
    t0, t1, s0, s1 = box
    pole = row_of_region(POLE, region)
    size = 4.0 * row[SIGN] * (t1 - t0) * (s1 - s0) / (region[0] * region[3] * region[5])
    if row[KIND] == WITHOUT_BORDER:
        pole = (0.0, 0.0, row[SIGN])
    count = 0
    for h in range(COUNT[nt]):
        t = t0 + (t1 - t0) * NODES[nt, h]
        if row[KIND] == WITHOUT_BORDER:
            w = row[W0] + t * (row[W1] - row[W0])
            d = 1.0 / (1.0 + w * w)
            c, s = (1.0 - w * w) * d, 2.0 * w * d
            y = (c * row[CX] - s * row[CY], s * row[CX] + c * row[CY], 0.0)
            turn = 2.0 * d * (row[W1] - row[W0])
            dy = (-turn * y[1], turn * y[0], 0.0)
        else:
            y, dy = edge_of_patch(i, t, buffers)
        lift = 1.0 + dot(y, pole)
        zeta = along(y, 1.0 - lift, pole)
        zeta = (zeta[0] / lift, zeta[1] / lift, zeta[2] / lift)
        turn = size * WEIGHTS[nt, h] * dot(pole, cross(y, dy)) / (lift * lift)
        for g in range(COUNT[ns]):
            s = s0 + (s1 - s0) * NODES[ns, g]
            q = 1.0 / (1.0 + s * s * dot(zeta, zeta))
            place = along(((2.0 * q - 1.0) * pole[0], (2.0 * q - 1.0) * pole[1],
                           (2.0 * q - 1.0) * pole[2]), 2.0 * q * s, zeta)  # fmt: skip
            part = turn * s * WEIGHTS[ns, g] * q * q
            out = transposed(region, place)
            put(node, count, 0, solve_upper(region, along(place, 1.0, row_of_region(LEAN, region))))
            put(node, count, 3, (part * out[0], part * out[1], part * out[2]))
            count += 1
    return count


@inner
def curve_nodes(i, box, nt, buffers, node):
    """`boundary_nodes` in the plane, where the boundary is a curve."""
    row = buffers.sector[i]
    region = buffers.region
    width = row[W1] - row[W0]
    for h in range(COUNT[nt]):
        w = row[W0] + width * (box[0] + (box[1] - box[0]) * NODES[nt, h])
        part = WEIGHTS[nt, h] * (box[1] - box[0]) * width
        if row[KIND] == ON_SHEET:
            y, dy = border_point(int(row[BORDER]), row[CX], row[CY], w, buffers)
            put(node, h, 0, y)
            put(node, h, 3, (part * dy[1], -part * dy[0], 0.0))
        else:
            d = 1.0 / (1.0 + w * w)
            c, s = (1.0 - w * w) * d, 2.0 * w * d
            place = (c * row[CX] - s * row[CY], s * row[CX] + c * row[CY], 0.0)
            out = transposed(region, place)
            part *= 2.0 * d / (region[0] * region[3])
            put(node, h, 0, solve_upper(region, along(place, 1.0, row_of_region(LEAN, region))))
            put(node, h, 3, (part * out[0], part * out[1], 0.0))
    return COUNT[nt]


@inner
def boundary_nodes(i, box, nt, ns, planar, curved, buffers, node):
    """Write nodes of a box (t0, t1, s0, s1) of sector i; return how many.

    Rows of `node`: the point, and the outward vector area that it stands for.
    """
    if planar:
        return curve_nodes(i, box, nt, buffers, node)
    if buffers.sector[i, KIND] == ON_SHEET:
        return sheet_nodes(i, box, nt, ns, curved, buffers, node)
    return patch_nodes(i, box, nt, ns, buffers, node)
