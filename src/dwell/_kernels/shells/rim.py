"""A cell within a curved boundary, as seen from its agent along one circle of directions.

In direction u the cell reaches as far as 1 / f(u), where f is the largest of what all others and
the boundary demand. Others demand u . B + c as in demands.py. The boundary |W (z - center)| = 1 is
met at the r with A r**2 - 2 b r - C = 0, where A = |W u|**2, b = (W u) . L, L = W (center - p) and
C = 1 - |L|**2: it demands the positive root of A - 2 b f - C f**2 = 0.

On a circle u = M + E x + F y with x**2 + y**2 = 1 an agent demands g0 + g1 x + g2 y, and where it
demands as much as the boundary a polynomial of the second degree in (x, y) vanishes. A cell in the
plane is one such circle, a cell in space a pile of them: circles of latitude.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.arithmetic import larger
from dwell._kernels.shells.arcs import order_of
from dwell._kernels.shells.quartic import COLUMNS, roots_on_circle

HUGGING = 1e-10  # C counts as no smaller: an agent on the boundary
BEYOND = -1e-9  # of C; an agent that is farther outside has no star-shaped cell
NEARLY = 1e-8  # places where a demand is so close to the largest count as places of change
WALL = -1  # the owner of pieces on the boundary
SHORTEST = 1e-14  # pieces of the circle below this, in quarter turns, are dropped

BX, BY, BZ, SHIFT = range(4)  # columns of a demand
X, Y, ORDER = range(3)  # columns of a place on the circle


class Rim(NamedTuple):
    """The cell of one agent, and working memory."""

    demand: np.ndarray  # (K, 4) of the others
    wall: np.ndarray  # (11,) W as 11 12 13 22 23 33, then L, then C, then the least A
    frame: np.ndarray  # (3, 3) M, E and F of the circle
    ring: np.ndarray  # (3, 3) W M, W E and W F
    along: np.ndarray  # (K, 3) g of each of the others
    spot: np.ndarray  # (S, 3) where the owner changes on the circle
    owner: np.ndarray  # (S,) of the piece after each
    root: np.ndarray  # (16, 2)
    quartic: np.ndarray  # (64, 7)
    piece: np.ndarray  # (64, 4) pieces of the circle that wait
    panel: np.ndarray  # (64, 2) belts between two latitudes that wait
    cut: np.ndarray  # (S,) latitudes where something changes
    point: np.ndarray  # (P, 3) points whose hull holds the cell
    flag: (
        np.ndarray
    )  # (2,) first 1: memory was too small; second 1: the boundary is even round the circle


def make_rim(others: int, places: int = 0, points: int = 4096) -> Rim:
    """Room for a cell among so many others, with so many places of change or a usual number."""
    k = max(others, 1)
    places = max(places, 64 + 16 * k)
    return Rim(
        np.empty((k, 4)),
        np.empty(11),
        np.zeros((3, 3)),
        np.empty((3, 3)),
        np.empty((k, 3)),
        np.empty((places, 3)),
        np.empty(places, dtype=np.int64),
        np.empty((16, 2)),
        np.empty((64, COLUMNS)),
        np.empty((64, 4)),
        np.empty((64, 2)),
        np.empty(places),
        np.empty((points, 3)),
        np.zeros(2, dtype=np.int64),
    )


@inner
def face_others(sign, p, n, q, radius, demand):
    """What n others demand: (how many demands, whether one of them may stand at p)."""
    k = 0
    met = False
    for j in range(n):
        x = q[j, 0] - p[0]
        y = q[j, 1] - p[1]
        z = q[j, 2] - p[2]
        d = math.sqrt(x * x + y * y + z * z)
        half = 0.5 * (d - radius[j]) * (d + radius[j])
        if half > 0.0:
            demand[k, BX] = x / half
            demand[k, BY] = y / half
            demand[k, BZ] = z / half
            demand[k, SHIFT] = sign * radius[j] / half
            k += 1
        else:
            met = True
    return k, met


@inner
def face_wall(root, longest, lean, room, wall):
    """Note the boundary |W (z - center)| = 1, seen from p: L = lean, C = room."""
    wall[0], wall[1], wall[2] = root[0, 0], root[0, 1], root[0, 2]
    wall[3], wall[4], wall[5] = root[1, 1], root[1, 2], root[2, 2]
    wall[6], wall[7], wall[8] = lean[0], lean[1], lean[2]
    wall[9] = larger(room, HUGGING)
    wall[10] = 1.0 / (longest * longest)


@inner
def lay_circle(count, rim):
    """See everything along the circle in rim.frame."""
    wall = rim.wall
    for k in range(3):
        x, y, z = rim.frame[k, 0], rim.frame[k, 1], rim.frame[k, 2]
        rim.ring[k, 0] = wall[0] * x + wall[1] * y + wall[2] * z
        rim.ring[k, 1] = wall[3] * y + wall[4] * z
        rim.ring[k, 2] = wall[5] * z
        for i in range(count):
            d = rim.demand[i]
            rim.along[i, k] = d[BX] * x + d[BY] * y + d[BZ] * z
    for i in range(count):
        rim.along[i, 0] += rim.demand[i, SHIFT]


@inner
def drop_faint(count, rim):
    """Keep those of the others that demand more than the boundary may; gives how many."""
    ring, wall = rim.ring, rim.wall
    b0 = ring[0, 0] * wall[6] + ring[0, 1] * wall[7] + ring[0, 2] * wall[8]
    b1 = ring[1, 0] * wall[6] + ring[1, 1] * wall[7] + ring[1, 2] * wall[8]
    b2 = ring[2, 0] * wall[6] + ring[2, 1] * wall[7] + ring[2, 2] * wall[8]
    a = (1.0 - NEARLY) * wall[10]
    b = b0 + math.sqrt(b1 * b1 + b2 * b2)
    root = math.sqrt(b * b + a * wall[9])
    least = a / (b + root) if b > 0.0 else (root - b) / wall[9] * (1.0 - NEARLY)
    g = rim.along
    kept = 0
    for k in range(count):
        if g[k, 0] + math.sqrt(g[k, 1] * g[k, 1] + g[k, 2] * g[k, 2]) > least:
            g[kept, 0], g[kept, 1], g[kept, 2] = g[k, 0], g[k, 1], g[k, 2]
            kept += 1
    return kept


@inlined
def wall_at(x, y, ring, wall):
    """What the boundary demands at a place of the circle; no digits are lost either way."""
    vx = ring[0, 0] + ring[1, 0] * x + ring[2, 0] * y
    vy = ring[0, 1] + ring[1, 1] * x + ring[2, 1] * y
    vz = ring[0, 2] + ring[1, 2] * x + ring[2, 2] * y
    a = vx * vx + vy * vy + vz * vz
    b = vx * wall[6] + vy * wall[7] + vz * wall[8]
    c = wall[9]
    root = math.sqrt(b * b + a * c)
    return a / (b + root) if b > 0.0 else (root - b) / c


@inlined
def demand_at(k, x, y, rim):
    """What the owner k demands at a place of the circle."""
    if k == WALL:
        return wall_at(x, y, rim.ring, rim.wall)
    return rim.along[k, 0] + rim.along[k, 1] * x + rim.along[k, 2] * y


@inner
def largest_at(count, x, y, rim):
    """(owner, demand) of the largest demand at a place of the circle."""
    best = wall_at(x, y, rim.ring, rim.wall)
    owner = WALL
    for k in range(count):
        value = rim.along[k, 0] + rim.along[k, 1] * x + rim.along[k, 2] * y
        if value > best:
            best = value
            owner = k
    return owner, best


@inner
def is_exceeded(count, value, x, y, rim):
    """Whether somebody demands clearly more than `value` at a place of the circle."""
    limit = value + NEARLY * abs(value)
    for k in range(count):
        if rim.along[k, 0] + rim.along[k, 1] * x + rim.along[k, 2] * y > limit:
            return True
    return wall_at(x, y, rim.ring, rim.wall) > limit


@inner
def put_spot(m, x, y, rim):
    """Insert a place by its order round the circle; gives how many there are."""
    if m + 8 >= rim.spot.shape[0]:  # a few are left for long pieces
        rim.flag[0] = 1
        return m
    order = order_of(x, y)
    i = m
    while i > 0 and rim.spot[i - 1, ORDER] > order:
        rim.spot[i, X] = rim.spot[i - 1, X]
        rim.spot[i, Y] = rim.spot[i - 1, Y]
        rim.spot[i, ORDER] = rim.spot[i - 1, ORDER]
        i -= 1
    rim.spot[i, X], rim.spot[i, Y], rim.spot[i, ORDER] = x, y, order
    return m + 1


@inner
def against_wall(k, ring, wall, g):
    """C f**2 + 2 b f - A for f = g0 + g1 x + g2 y, as (1, x, y, x**2, x y, y**2)."""
    c = wall[9]
    b0 = ring[0, 0] * wall[6] + ring[0, 1] * wall[7] + ring[0, 2] * wall[8]
    b1 = ring[1, 0] * wall[6] + ring[1, 1] * wall[7] + ring[1, 2] * wall[8]
    b2 = ring[2, 0] * wall[6] + ring[2, 1] * wall[7] + ring[2, 2] * wall[8]
    a00 = ring[0, 0] * ring[0, 0] + ring[0, 1] * ring[0, 1] + ring[0, 2] * ring[0, 2]
    a01 = ring[0, 0] * ring[1, 0] + ring[0, 1] * ring[1, 1] + ring[0, 2] * ring[1, 2]
    a02 = ring[0, 0] * ring[2, 0] + ring[0, 1] * ring[2, 1] + ring[0, 2] * ring[2, 2]
    a11 = ring[1, 0] * ring[1, 0] + ring[1, 1] * ring[1, 1] + ring[1, 2] * ring[1, 2]
    a12 = ring[1, 0] * ring[2, 0] + ring[1, 1] * ring[2, 1] + ring[1, 2] * ring[2, 2]
    a22 = ring[2, 0] * ring[2, 0] + ring[2, 1] * ring[2, 1] + ring[2, 2] * ring[2, 2]
    g0, g1, g2 = g[k, 0], g[k, 1], g[k, 2]
    return (
        c * g0 * g0 + 2.0 * b0 * g0 - a00,
        2.0 * (c * g0 * g1 + b0 * g1 + b1 * g0 - a01),
        2.0 * (c * g0 * g2 + b0 * g2 + b2 * g0 - a02),
        c * g1 * g1 + 2.0 * b1 * g1 - a11,
        2.0 * (c * g1 * g2 + b1 * g2 + b2 * g1 - a12),
        c * g2 * g2 + 2.0 * b2 * g2 - a22,
    )


@inner
def meet_even(k, rim):
    """Where k demands as much as a boundary that demands the same all along the circle."""
    a, b = rim.along[k, 1], rim.along[k, 2]
    c = wall_at(1.0, 0.0, rim.ring, rim.wall) - rim.along[k, 0]
    r2 = a * a + b * b
    if not c * c < r2:
        return 0
    root = math.sqrt(r2 - c * c)
    rim.root[0, 0], rim.root[0, 1] = (a * c + b * root) / r2, (b * c - a * root) / r2
    rim.root[1, 0], rim.root[1, 1] = (a * c - b * root) / r2, (b * c + a * root) / r2
    return 2


@inner
def meet_wall(m, k, count, rim):
    """Add the places where k gives way to the boundary or the other way round."""
    g = rim.along
    if g[k, 0] + math.sqrt(g[k, 1] * g[k, 1] + g[k, 2] * g[k, 2]) <= 0.0:
        return m
    if rim.flag[1] != 0:
        found = meet_even(k, rim)
    else:
        q = against_wall(k, rim.ring, rim.wall, g)
        found = roots_on_circle(q, rim.root, rim.quartic)
    for i in range(found):
        x, y = rim.root[i, 0], rim.root[i, 1]
        value = g[k, 0] + g[k, 1] * x + g[k, 2] * y
        if value > 0.0 and not is_exceeded(count, value, x, y, rim):
            m = put_spot(m, x, y, rim)
    return m


@inner
def meet_other(m, i, j, count, rim):
    """Add the places where i gives way to j or the other way round."""
    g = rim.along
    a = g[i, 1] - g[j, 1]
    b = g[i, 2] - g[j, 2]
    c = g[j, 0] - g[i, 0]
    r2 = a * a + b * b
    if not c * c < r2:
        return m
    root = math.sqrt(r2 - c * c)
    part = 1.0 / r2
    for _ in range(2):
        x = (a * c + b * root) * part
        y = (b * c - a * root) * part
        value = g[i, 0] + g[i, 1] * x + g[i, 2] * y
        if value > 0.0 and not is_exceeded(count, value, x, y, rim):
            m = put_spot(m, x, y, rim)
        root = -root
    return m


@inner
def turn_away(m, rim):
    """Add the two places where the boundary's own demand may turn sharply: b = 0."""
    ring, wall = rim.ring, rim.wall
    a = ring[1, 0] * wall[6] + ring[1, 1] * wall[7] + ring[1, 2] * wall[8]
    b = ring[2, 0] * wall[6] + ring[2, 1] * wall[7] + ring[2, 2] * wall[8]
    c = -(ring[0, 0] * wall[6] + ring[0, 1] * wall[7] + ring[0, 2] * wall[8])
    r2 = a * a + b * b
    if not c * c < r2:
        return m
    root = math.sqrt(r2 - c * c)
    m = put_spot(m, (a * c + b * root) / r2, (b * c - a * root) / r2, rim)
    return put_spot(m, (a * c - b * root) / r2, (b * c + a * root) / r2, rim)


@inner
def changes_round(count, rim):
    """Places where the largest demand changes its owner, and a few more, into rim.spot."""
    m = 0 if rim.flag[1] != 0 else turn_away(0, rim)
    for i in range(count):
        m = meet_wall(m, i, count, rim)
        for j in range(i):
            m = meet_other(m, i, j, count, rim)
    return m


@inner
def long_gaps(m, rim):
    """Add places until no piece is longer than a quarter turn."""
    if m == 0:
        m = put_spot(m, 1.0, 0.0, rim)
    k = 0
    while k < m and m + 1 < rim.spot.shape[0]:
        end = rim.spot[k + 1, ORDER] if k + 1 < m else rim.spot[0, ORDER] + 4.0
        if end - rim.spot[k, ORDER] > 1.0 + SHORTEST:
            x, y, order = rim.spot[k, X], rim.spot[k, Y], rim.spot[k, ORDER]
            for i in range(m, k + 1, -1):
                for c in range(3):
                    rim.spot[i, c] = rim.spot[i - 1, c]
            rim.spot[k + 1, X], rim.spot[k + 1, Y], rim.spot[k + 1, ORDER] = -y, x, order + 1.0
            m += 1
        k += 1
    return m


@inner
def name_owners(m, count, rim):
    """Who demands most in the middle of each of m pieces; -2 for pieces of no length."""
    for k in range(m):
        x0, y0, x1, y1, span = ends_of(k, m, rim)
        rim.owner[k] = -2
        if span > SHORTEST:
            x, y = x0 + x1, y0 + y1
            r = math.sqrt(x * x + y * y)
            rim.owner[k], _ = largest_at(count, x / r, y / r, rim)


@inner
def ends_of(k, m, rim):
    """Piece k of m: (x0, y0, x1, y1, its length in quarter turns)."""
    n = k + 1 if k + 1 < m else 0
    span = rim.spot[n, ORDER] - rim.spot[k, ORDER]
    if n == 0:
        span += 4.0
    return rim.spot[k, X], rim.spot[k, Y], rim.spot[n, X], rim.spot[n, Y], span
