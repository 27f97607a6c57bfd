"""The reciprocal radius (gauge) of a cell in each direction from its agent.

In direction u (a unit vector) the cell reaches as far as 1 / f(u), where f is the largest of the
constraints u . B + c: a flat side of the workspace in the distance g with outward normal n has
B = n / g and c = 0, an agent somewhere within R of the place D (seen from the agent) has
B = D / half and c = R / half for the guaranteed cell or -R / half for the dual one, with
half = (|D|**2 - R**2) / 2.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger
from dwell._kernels.star.extent import BallBuffers, make_ball_buffers

NEAREST = 1e-10  # of the workspace's size: a side counts as no nearer than this
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell

# Columns of a constraint: B = (BX, BY, BZ) is SLOPE times the unit vector (UX, UY, UZ); c is
# SHIFT, and TOP the largest value.
BX, BY, BZ, SHIFT, UX, UY, UZ, SLOPE, TOP = range(9)
COLUMNS = 9

# Borders that three constraints have in common could be given to all of them or to none. Each is
# therefore moved a little, by its own amount, well above rounding: dual cells become larger by
# it and guaranteed ones smaller.
NUDGE = 2e-13
GOLDEN = 0.6180339887498949


class SheetBuffers(NamedTuple):
    """Working memory for one cell."""

    gauge: np.ndarray  # (K, 9) constraints, the largest first
    label: np.ndarray  # (K,) whose it is: agent j, or -1 - side
    arc: np.ndarray  # (E, 14) borders between two constraints: see arrangement.py
    owner: np.ndarray  # (E, 2) the two constraints: the first lies left of the arc
    kept: np.ndarray  # (A, 6) pieces of one circle
    spare: np.ndarray  # (A, 6)
    third: np.ndarray  # (2, A, 2) what ends each piece
    corner: np.ndarray  # (2 E, 3) corners, relative to the agent
    stack: np.ndarray  # (S, 4) pieces of an arc that wait
    region: np.ndarray  # (13,) the curved workspace: see sheets.py
    frame: np.ndarray  # (K, 9) frames of sheets
    sector: np.ndarray  # (4 E, 8) sectors of the boundary
    quartic: np.ndarray  # (5,)
    cuts: np.ndarray  # (2, 6) where an arc leaves the workspace
    boxes: np.ndarray  # (S, 4) parts of a sector that wait
    node: np.ndarray  # (400, 6) points of the boundary, and their vector areas
    fine: np.ndarray  # (6,) sums by one rule
    coarse: np.ndarray  # (6,) sums by another
    base: np.ndarray  # (G,) e-folds of Gaussian components
    point: np.ndarray  # (P, 3) points whose hull holds the cell
    ball: BallBuffers
    flag: np.ndarray  # (1,) 1: memory was too small


def make_sheet_buffers(others: int, sides: int, components: int, scale: int = 1) -> SheetBuffers:
    """Memory for a cell among so many agents and flat sides, `scale` times the usual."""
    k = others + sides
    arcs = scale * (24 * k + 64)
    return SheetBuffers(
        np.empty((k, COLUMNS)),
        np.empty(k, dtype=np.int64),
        np.empty((arcs, 14)),
        np.empty((arcs, 2), dtype=np.int64),
        np.empty((k + 8, 6)),
        np.empty((k + 8, 6)),
        np.empty((2, k + 8, 2), dtype=np.int64),
        np.empty((2 * arcs, 3)),
        np.empty((128, 4)),
        np.empty(13),
        np.empty((k, 9)),
        np.empty((4 * arcs, 8)),
        np.empty(5),
        np.empty((2, 6)),
        np.empty((128, 4)),
        np.empty((400, 6)),
        np.empty(6),
        np.empty(6),
        np.empty(max(1, components)),
        np.empty((4096 * scale, 3)),
        make_ball_buffers(),
        np.zeros(1, dtype=np.int64),
    )


@inner
def put_constraint(k, x, y, z, slope, shift, label, gauge, labels):
    """Insert a constraint among k others, the largest first; return k + 1, or k if it was there."""
    top = slope + shift
    m = k
    while m > 0 and gauge[m - 1, TOP] < top:
        m -= 1
    for i in range(m - 1, -1, -1):  # one constraint twice would count twice
        if gauge[i, TOP] != top:
            break
        if (
            gauge[i, UX] == x
            and gauge[i, UY] == y
            and gauge[i, UZ] == z
            and gauge[i, SLOPE] == slope
        ):
            return k
    for i in range(k, m, -1):
        for c in range(COLUMNS):
            gauge[i, c] = gauge[i - 1, c]
        labels[i] = labels[i - 1]
    gauge[m, BX] = slope * x
    gauge[m, BY] = slope * y
    gauge[m, BZ] = slope * z
    gauge[m, UX] = x
    gauge[m, UY] = y
    gauge[m, UZ] = z
    gauge[m, SLOPE] = slope
    gauge[m, SHIFT] = shift
    gauge[m, TOP] = top
    labels[m] = label
    return k + 1


@inner
def flat_constraints(p, size, normals, offsets, gauge, labels):
    """Write those of flat sides; return (how many, distance to the nearest, negative outside)."""
    k = 0
    nearest = np.inf
    for w in range(offsets.shape[0]):
        x, y, z = normals[w]
        gap = offsets[w] - (x * p[0] + y * p[1] + z * p[2])
        if gap < nearest:
            nearest = gap
        gap = larger(gap, NEAREST * size)
        k = put_constraint(k, x, y, z, 1.0 / gap, 0.0, -1 - w, gauge, labels)
    return k, nearest


@inner
def agent_constraints(k, sign, p, n, q, radius, gauge, labels):
    """Add n agents; return (how many constraints there are, whether one may stand at p)."""
    coincident = False
    for j in range(n):
        x = q[j, 0] - p[0]
        y = q[j, 1] - p[1]
        z = q[j, 2] - p[2]
        d = math.sqrt(x * x + y * y + z * z)
        half = 0.5 * (d - radius[j]) * (d + radius[j])
        if half > 0.0:
            k = put_constraint(
                k, x / d, y / d, z / d, d / half, sign * radius[j] / half, j, gauge, labels
            )
        else:
            coincident = True
    return k, coincident


@inner
def nudge(sign, k, gauge):
    """Move each of k constraints a little: see NUDGE."""
    part = 0.5
    for i in range(k):
        part += GOLDEN
        if part >= 1.0:
            part -= 1.0
        gauge[i, SHIFT] += sign * NUDGE * (0.5 + part) * gauge[i, SLOPE]
        gauge[i, TOP] = gauge[i, SLOPE] + gauge[i, SHIFT]


@inner
def constraints_of(sign, p, size, n, q, radius, normals, offsets, gauge, labels):
    """All constraints on the cell at p: (how many, whether an agent may be at p, gap to the sides).

    sign: 1 for the guaranteed cell, -1 for the dual one.
    """
    k, nearest = flat_constraints(p, size, normals, offsets, gauge, labels)
    k, coincident = agent_constraints(k, sign, p, n, q, radius, gauge, labels)
    nudge(sign, k, gauge)
    return k, coincident, nearest


@inner
def value(k, x, y, z, gauge):
    """Constraint k in direction (x, y, z)."""
    return x * gauge[k, BX] + y * gauge[k, BY] + z * gauge[k, BZ] + gauge[k, SHIFT]
