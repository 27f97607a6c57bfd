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
from dwell._kernels.star.arc_pieces import (
    along_arc,
)
from dwell._kernels.star.arrangement import EX, FX, MX
from dwell._kernels.star.gauge import SHIFT, SLOPE, UX
from dwell._kernels.star.vectors import (
    along,
    cross,
    dot,
    put,
    row_of,
    upper,
)

# Columns of a sector: its kind, its border, its sheet, a sign, and the part of the border from W0
# to W1 about (CX, CY); see arc_pieces.py.
KIND, BORDER, SHEET, SIGN, CX, CY, W0, W1 = range(8)
ON_SHEET, ON_WORKSPACE, WITHOUT_BORDER = 0.0, 1.0, 2.0  # kinds
# Columns of a frame: two directions across the axis, the apex of the fan, how many points it is
# the mean of (0: the sheet has no part in the boundary).
E1, E2, APEX, POINTS = 0, 3, 6, 8
LEAN, CLEARANCE, POLE, REGION = 6, 9, 10, 13  # L, 1 - |L|**2, the pole; W comes first
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
        if abs(u[0]) <= abs(u[1]) and abs(u[0]) <= abs(u[2]):
            e = (0.0, u[2], -u[1])
        elif abs(u[1]) <= abs(u[2]):
            e = (-u[2], 0.0, u[0])
        else:
            e = (u[1], -u[0], 0.0)
        size = math.sqrt(dot(e, e))
        e = (e[0] / size, e[1] / size, e[2] / size)
        put(frame, k, E1, e)
        put(frame, k, E2, cross(u, e))
        put(frame, k, APEX, (0.0, 0.0, 0.0))


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
    across = along((0.0, 0.0, 0.0), a, row_of(frame, k, E1))
    across = along(across, b, row_of(frame, k, E2))
    return along(across, z, axis), along(axis, c / s, across)


@inner
def direction_on(e, cx, cy, w, arc):
    """(direction at w of border e about (cx, cy), its derivative, cos, sin, angle per w)."""
    d = 1.0 / (1.0 + w * w)
    cos = (1.0 - w * w) * d
    sin = 2.0 * w * d
    c = cos * cx - sin * cy
    s = sin * cx + cos * cy
    ex = row_of(arc, e, EX)
    fx = row_of(arc, e, FX)
    u = along(along(row_of(arc, e, MX), c, ex), s, fx)
    du = along((-s * ex[0], -s * ex[1], -s * ex[2]), c, fx)
    return u, du, cos, sin, 2.0 * d


@inner
def flatter(e, gauge, owner):
    """The flatter of the two sheets of border e."""
    i, j = owner[e, 0], owner[e, 1]
    return i if gauge[i, SLOPE] < gauge[j, SLOPE] else j


@inner
def border_point(e, cx, cy, w, buffers):
    """The point of the cell's boundary at w of border e, and its derivative."""
    low = flatter(e, buffers.gauge, buffers.owner)
    f0, f1, f2 = along_arc(low, e, cx, cy, buffers.gauge, buffers.arc)
    u, du, cos, sin, turn = direction_on(e, cx, cy, w, buffers.arc)
    f = f0 + cos * f1 + sin * f2
    y = (u[0] / f, u[1] / f, u[2] / f)
    d = along(du, sin * f1 - cos * f2, y)
    turn /= f
    return y, (turn * d[0], turn * d[1], turn * d[2])


@inner
def over_plane(k, y, frame):
    """X of a point, in the plane across the axis of sheet k."""
    return dot(y, row_of(frame, k, E1)), dot(y, row_of(frame, k, E2))


@inner
def reach_of(k, a0, b0, a1, b1, curved, buffers):
    """How far a ray of the fan from (a0, b0) to (a1, b1) stays in the workspace; at most 1."""
    if not curved:
        return 1.0
    region = buffers.region
    high = 1.0
    over = off_region(on_sheet(k, a1, b1, buffers.gauge, buffers.frame)[0], region)
    if over <= 0.0:
        return 1.0
    low = 0.0
    under = off_region(on_sheet(k, a0, b0, buffers.gauge, buffers.frame)[0], region)
    if under >= 0.0:
        return 0.0
    side = 0
    s = low
    for _ in range(STEPS):
        before = s
        s = (low * over - high * under) / (over - under)
        if not low < s < high or abs(s - before) <= 2e-16 * s:
            break
        a = a0 + s * (a1 - a0)
        b = b0 + s * (b1 - b0)
        off = off_region(on_sheet(k, a, b, buffers.gauge, buffers.frame)[0], region)
        if off > 0.0:
            high = s
            over = off
            if side == 1:
                under *= 0.5
            side = 1
        else:
            low = s
            under = off
            if side == -1:
                over *= 0.5
            side = -1
    return s
