"""A cell in space as seen from its agent: what walls and other agents demand of each direction.

In direction u (a unit vector) the cell reaches as far as 1 / f(u), where f is the largest of the
demands u . B + c: a wall in the distance g with outward normal n has B = n / g and c = 0, an agent
somewhere within R of the place D (seen from the agent) has B = D / half and c = R / half for the
guaranteed cell or -R / half for the dual one, half = (|D|**2 - R**2) / 2.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger

HUGGING = 1e-10  # of the workspace's size: a wall counts as no nearer than this
BEYOND = 1e-9  # of the workspace's size: farther outside, an agent has no star-shaped cell

# Columns of a demand: B = (BX, BY, BZ) is SLOPE times the unit vector (UX, UY, UZ); c is SHIFT, and
# TOP the largest value.
BX, BY, BZ, SHIFT, UX, UY, UZ, SLOPE, TOP = range(9)
COLUMNS = 9

# Borders that three demands have in common could be given to all of them or to none. Each demand
# is therefore moved a little, by its own amount, well above rounding: dual cells become larger by
# it and guaranteed ones smaller.
NUDGE = 2e-13
GOLDEN = 0.6180339887498949


class Shell(NamedTuple):
    """Working memory for one cell."""

    demand: np.ndarray  # (K, 9)
    label: np.ndarray  # (K,) whose it is: agent j, or -1 - wall
    arc: np.ndarray  # (E, 14) borders between two demands: see arcs.py
    owner: np.ndarray  # (E, 2) the two demands: the first lies left of the arc
    kept: np.ndarray  # (A, 6) pieces of one circle
    spare: np.ndarray  # (A, 6)
    third: np.ndarray  # (2, A, 2) what ends each piece
    corner: np.ndarray  # (2 E, 3) corners, relative to the agent
    apex: np.ndarray  # (K, 3) where the fan over each patch begins
    stack: np.ndarray  # (S, 4) pieces of an arc that wait
    boxes: np.ndarray  # (S, 4) boxes of directions that wait
    flag: np.ndarray  # (1,) 1: memory was too small


def make_shell(others: int, walls: int, arcs: int = 0) -> Shell:
    """Room for a cell among so many agents and walls, with so many borders or a usual number."""
    k = others + walls
    arcs = max(arcs, 24 * k + 64)
    return Shell(
        np.empty((k, COLUMNS)),
        np.empty(k, dtype=np.int64),
        np.empty((arcs, 14)),
        np.empty((arcs, 2), dtype=np.int64),
        np.empty((k + 8, 6)),
        np.empty((k + 8, 6)),
        np.empty((2, k + 8, 2), dtype=np.int64),
        np.empty((2 * arcs, 3)),
        np.empty((k, 3)),
        np.empty((128, 4)),
        np.empty((128, 4)),
        np.zeros(1, dtype=np.int64),
    )


@inner
def put_demand(k, x, y, z, slope, shift, label, demand, labels):
    """Insert a demand among k others, the largest first; gives k + 1, or k if it was there."""
    top = slope + shift
    m = k
    while m > 0 and demand[m - 1, TOP] < top:
        m -= 1
    for i in range(m - 1, -1, -1):  # the same demand twice would count twice
        if demand[i, TOP] != top:
            break
        if (
            demand[i, UX] == x
            and demand[i, UY] == y
            and demand[i, UZ] == z
            and demand[i, SLOPE] == slope
        ):
            return k
    for i in range(k, m, -1):
        for c in range(COLUMNS):
            demand[i, c] = demand[i - 1, c]
        labels[i] = labels[i - 1]
    demand[m, BX] = slope * x
    demand[m, BY] = slope * y
    demand[m, BZ] = slope * z
    demand[m, UX] = x
    demand[m, UY] = y
    demand[m, UZ] = z
    demand[m, SLOPE] = slope
    demand[m, SHIFT] = shift
    demand[m, TOP] = top
    labels[m] = label
    return k + 1


@inner
def wall_demands(p, size, normals, offsets, demand, labels):
    """Fill in the walls; gives (how many, distance to the nearest one, negative outside)."""
    k = 0
    nearest = np.inf
    for w in range(offsets.shape[0]):
        x, y, z = normals[w]
        gap = offsets[w] - (x * p[0] + y * p[1] + z * p[2])
        if gap < nearest:
            nearest = gap
        gap = larger(gap, HUGGING * size)
        k = put_demand(k, x, y, z, 1.0 / gap, 0.0, -1 - w, demand, labels)
    return k, nearest


@inner
def agent_demands(k, sign, p, n, q, radius, demand, labels):
    """Add n agents; gives (how many demands there are, whether one may stand at p)."""
    met = False
    for j in range(n):
        x = q[j, 0] - p[0]
        y = q[j, 1] - p[1]
        z = q[j, 2] - p[2]
        d = math.sqrt(x * x + y * y + z * z)
        half = 0.5 * (d - radius[j]) * (d + radius[j])
        if half > 0.0:
            k = put_demand(
                k, x / d, y / d, z / d, d / half, sign * radius[j] / half, j, demand, labels
            )
        else:
            met = True
    return k, met


@inner
def nudge(sign, k, demand):
    """Move each of k demands a little: see NUDGE."""
    part = 0.5
    for i in range(k):
        part += GOLDEN
        if part >= 1.0:
            part -= 1.0
        demand[i, SHIFT] += sign * NUDGE * (0.5 + part) * demand[i, SLOPE]
        demand[i, TOP] = demand[i, SLOPE] + demand[i, SHIFT]


@inner
def demands_of(sign, p, size, n, q, radius, normals, offsets, demand, labels):
    """All demands on the cell at p: (how many, whether an agent may stand at p, gap to the walls).

    sign: 1 for the guaranteed cell, -1 for the dual one.
    """
    k, nearest = wall_demands(p, size, normals, offsets, demand, labels)
    k, met = agent_demands(k, sign, p, n, q, radius, demand, labels)
    nudge(sign, k, demand)
    return k, met, nearest


@inner
def value(k, x, y, z, demand):
    """Demand k in direction (x, y, z)."""
    return x * demand[k, BX] + y * demand[k, BY] + z * demand[k, BZ] + demand[k, SHIFT]
