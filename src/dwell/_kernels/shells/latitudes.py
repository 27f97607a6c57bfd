"""Integrals over a cell within a curved boundary of space, one circle of latitude after another.

The axis of the latitudes points to the middle of the workspace, so that in a ball the boundary is
equally far all along each of them. What a circle gives is a smooth function of its height t, but
for heights where a corner lies or where a border touches the circle: there it has a term like
(t - t0)**1.5. These heights are found beforehand, and t = (3 s - s**3) / 2 between two of them
makes it smooth in s up to the ends.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.quadrature import NODES as GAUSS_NODES
from dwell._kernels.quadrature import WEIGHTS as GAUSS_WEIGHTS
from dwell._kernels.shells.kronrod import COUNT, GAUSS, KRONROD, LONG, NODE, SHORT
from dwell._kernels.shells.rim import (
    BX,
    BY,
    BZ,
    SHIFT,
    X,
    Y,
    is_exceeded,
    lay_circle,
    meet_other,
    meet_wall,
)
from dwell._kernels.shells.turns import (
    NARROW,
    NEAREST_RUNG,
    RAYS,
    RUNGS,
    STEP,
    split,
    turn_moments,
    turn_rays,
)

SMALLEST = 1e-9  # belts of latitudes below this hold nothing
COARSE = 2  # latitudes per belt for a first look
INNER = 1e-7  # of the mass: what one piece of a circle may be wrong by
OUTER = 2e-7  # the same for one belt


@inner
def perpendicular(x, y, z):
    """A unit vector at right angles to (x, y, z)."""
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        ex, ey, ez = 0.0, z, -y
    elif abs(y) <= abs(z):
        ex, ey, ez = -z, 0.0, x
    else:
        ex, ey, ez = y, -x, 0.0
    r = math.sqrt(ex * ex + ey * ey + ez * ez)
    return ex / r, ey / r, ez / r


@inner
def set_axis(x, y, z, axes):
    """Put the axis, given by any vector, and two directions across it into axes (3, 3)."""
    r = math.sqrt(x * x + y * y + z * z)
    if not r > 0.0:
        x, y, z, r = 0.0, 0.0, 1.0, 1.0
    x /= r
    y /= r
    z /= r
    ex, ey, ez = perpendicular(x, y, z)
    axes[0, 0], axes[0, 1], axes[0, 2] = x, y, z
    axes[1, 0], axes[1, 1], axes[1, 2] = ex, ey, ez
    axes[2, 0], axes[2, 1], axes[2, 2] = y * ez - z * ey, z * ex - x * ez, x * ey - y * ex


@inner
def set_latitude(t, axes, frame):
    """The circle at height t."""
    s = math.sqrt(larger(0.0, (1.0 - t) * (1.0 + t)))
    for d in range(3):
        frame[0, d] = t * axes[0, d]
        frame[1, d] = s * axes[1, d]
        frame[2, d] = s * axes[2, d]


@inner
def put_cut(n, t, rim):
    """Insert a height among n others; gives how many there are."""
    if not -1.0 < t < 1.0:
        return n
    if n >= rim.cut.shape[0]:
        rim.flag[0] = 1
        return n
    i = n
    while i > 0 and rim.cut[i - 1] > t:
        rim.cut[i] = rim.cut[i - 1]
        i -= 1
    rim.cut[i] = t
    return n + 1


@inner
def set_pair_circle(i, j, rim):
    """The circle on which i and j demand the same, into rim.frame; whether there is one."""
    d, frame = rim.demand, rim.frame
    x = d[i, BX] - d[j, BX]
    y = d[i, BY] - d[j, BY]
    z = d[i, BZ] - d[j, BZ]
    square = x * x + y * y + z * z
    gap = d[j, SHIFT] - d[i, SHIFT]
    if not gap * gap < square:
        return False
    length = math.sqrt(square)
    x /= length
    y /= length
    z /= length
    h = gap / length
    r = math.sqrt((1.0 - h) * (1.0 + h))
    ex, ey, ez = perpendicular(x, y, z)
    frame[0, 0], frame[0, 1], frame[0, 2] = h * x, h * y, h * z
    frame[1, 0], frame[1, 1], frame[1, 2] = r * ex, r * ey, r * ez
    frame[2, 0] = r * (y * ez - z * ey)
    frame[2, 1] = r * (z * ex - x * ez)
    frame[2, 2] = r * (x * ey - y * ex)
    return True


@inner
def height(k, axes, frame):
    """How much of the axis is in row k of a frame."""
    return frame[k, 0] * axes[0, 0] + frame[k, 1] * axes[0, 1] + frame[k, 2] * axes[0, 2]


@inner
def cuts_of_pair(n, i, j, count, axes, rim):
    """Add the heights of corners on the border of i and j, and of its highest and lowest place."""
    if not set_pair_circle(i, j, rim):
        return n
    lay_circle(count, rim)
    h0, h1, h2 = height(0, axes, rim.frame), height(1, axes, rim.frame), height(2, axes, rim.frame)
    m = meet_wall(0, i, count, rim)
    for k in range(count):
        if k not in (i, j):
            m = meet_other(m, i, k, count, rim)
    for k in range(m):
        n = put_cut(n, h0 + h1 * rim.spot[k, X] + h2 * rim.spot[k, Y], rim)
    r = math.sqrt(h1 * h1 + h2 * h2)
    if r > 0.0:
        for side in range(2):
            x, y = (h1 / r, h2 / r) if side == 0 else (-h1 / r, -h2 / r)
            value = rim.along[i, 0] + rim.along[i, 1] * x + rim.along[i, 2] * y
            if value > 0.0 and not is_exceeded(count, value, x, y, rim):
                n = put_cut(n, h0 + h1 * x + h2 * y, rim)
    return n


@inner
def cuts_at_wall(n, k, count, axes, rim):
    """Add the heights where the border of k and the boundary turns round: exact in a ball."""
    frame = rim.frame
    d = rim.demand[k]
    along = d[BX] * axes[0, 0] + d[BY] * axes[0, 1] + d[BZ] * axes[0, 2]
    x = d[BX] - along * axes[0, 0]
    y = d[BY] - along * axes[0, 1]
    z = d[BZ] - along * axes[0, 2]
    r = math.sqrt(x * x + y * y + z * z)
    for c in range(3):
        frame[0, c] = 0.0
        frame[1, c] = axes[0, c]
        frame[2, c] = axes[1, c]
    if r > 1e-12 * abs(along):
        frame[2, 0], frame[2, 1], frame[2, 2] = x / r, y / r, z / r
    lay_circle(count, rim)
    m = meet_wall(0, k, count, rim)
    for i in range(m):
        n = put_cut(n, rim.spot[i, X], rim)
    return n


@inner
def cuts_at_hills(n, p, terms, axes, rim):
    """Add the heights of hills and a ladder on both sides, so that none is overlooked."""
    for g in range(terms.weights.shape[0]):
        x = terms.centers[g, 0] - p[0]
        y = terms.centers[g, 1] - p[1]
        z = terms.centers[g, 2] - p[2]
        far = math.sqrt(x * x + y * y + z * z)
        c = terms.roots[g]
        steep = math.sqrt(
            c[0, 0] * c[0, 0] + c[0, 1] * c[0, 1] + c[0, 2] * c[0, 2]
            + c[1, 1] * c[1, 1] + c[1, 2] * c[1, 2] + c[2, 2] * c[2, 2]
        )  # fmt: skip
        if not far * steep > 1.0:
            continue
        t = (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]) / far
        s = math.sqrt(larger(0.0, (1.0 - t) * (1.0 + t)))
        n = put_cut(n, t, rim)
        offset = NEAREST_RUNG / (steep * far)
        for _ in range(RUNGS):
            if offset > 1.0:
                break
            r = 1.0 / math.sqrt(1.0 + offset * offset)
            n = put_cut(n, (t + offset * s) * r, rim)
            n = put_cut(n, (t - offset * s) * r, rim)
            offset *= STEP
    return n


@inner
def find_cuts(count, p, terms, axes, rim):
    """All heights between which everything is smooth, into rim.cut; gives how many."""
    n = put_cut(0, 0.0, rim)
    for i in range(count):
        n = cuts_at_wall(n, i, count, axes, rim)
        for j in range(i):
            n = cuts_of_pair(n, i, j, count, axes, rim)
    return cuts_at_hills(n, p, terms, axes, rim)


@inner
def belt(k, n, rim):
    """Belt k of n + 1 between n heights: from, to."""
    low = rim.cut[k - 1] if k > 0 else -1.0
    high = rim.cut[k] if k < n else 1.0
    return low, high


@inner
def coarse_moments(cuts, count, p, drop, terms, axes, rim):
    """(mass, least e-folds, reach) at a first look."""
    mass = 0.0
    least = np.inf
    far = 0.0
    for k in range(cuts + 1):
        low, high = belt(k, cuts, rim)
        if high - low < SMALLEST:
            continue
        for i in range(COARSE):
            t = low + (high - low) * GAUSS_NODES[COARSE, i]
            set_latitude(t, axes, rim.frame)
            m, _, _, _, _, near, _, end = turn_moments(
                False, count, p, drop, np.inf, np.inf, terms, rim
            )
            mass += (high - low) * GAUSS_WEIGHTS[COARSE, i] * m
            least = smaller(least, near)
            far = larger(far, end)
    return mass, least, far


@inner
def belt_moments(rule, low, high, count, p, drop, limit, reach, terms, axes, rim):
    """One belt by both rules: (mass, three first moments, polar moment, error)."""
    mass = fx = fy = fz = polar = error = 0.0
    m7 = f7 = polar7 = 0.0
    mid, half = 0.5 * (low + high), 0.5 * (high - low)
    for i in range(COUNT[rule]):
        s = NODE[rule, i]
        set_latitude(mid + half * (0.5 * s * (3.0 - s * s)), axes, rim.frame)
        a, ax, ay, az, b, _, off, _ = turn_moments(False, count, p, drop, limit, reach, terms, rim)
        rise = half * 1.5 * (1.0 - s * s)
        share = KRONROD[rule, i] * rise
        mass += share * a
        fx += share * ax
        fy += share * ay
        fz += share * az
        polar += share * b
        error += share * off
        share = GAUSS[rule, i] * rise
        m7 += share * a
        f7 += share * (ax + ay + az)
        polar7 += share * b
    off = abs(mass - m7) + abs(fx + fy + fz - f7) / reach + abs(polar - polar7) / (reach * reach)
    return mass, fx, fy, fz, polar, error, off


@inner
def pile_moments(cuts, count, p, drop, estimate, reach, terms, axes, rim):
    """(mass, three first moments, polar moment, error) of the whole cell."""
    mass = fx = fy = fz = polar = error = 0.0
    panel = rim.panel
    for k in range(cuts + 1):
        low, high = belt(k, cuts, rim)
        if high - low < SMALLEST:
            continue
        panel[0, 0], panel[0, 1] = low, high
        depth = 0
        while depth >= 0:
            low, high = panel[depth, 0], panel[depth, 1]
            rule = SHORT if high - low < NARROW else LONG
            limit = INNER * estimate
            a, ax, ay, az, b, inside, off = belt_moments(
                rule, low, high, count, p, drop, limit, reach, terms, axes, rim
            )
            if off > OUTER * estimate and rule == SHORT:
                a, ax, ay, az, b, inside, off = belt_moments(
                    LONG, low, high, count, p, drop, limit, reach, terms, axes, rim
                )
            if off > OUTER * estimate and high - low > SMALLEST and depth + 1 < panel.shape[0]:
                depth = split(depth, panel)
                continue
            depth -= 1
            mass += a
            fx += ax
            fy += ay
            fz += az
            polar += b
            error += inside + off
    return mass, fx, fy, fz, polar, error


@inner
def pile_rays(parts, cuts, count, p, terms, axes, rim, out):
    """Rays through the whole cell; see `rays_of` in round_pair.py."""
    n = 0
    for k in range(cuts + 1):
        low, high = belt(k, cuts, rim)
        if high - low < SMALLEST:
            continue
        half = 0.5 * (high - low) / parts
        for i in range(parts * RAYS):
            s = NODE[LONG, i % RAYS]
            t = low + half * (2 * (i // RAYS) + 1 + 0.5 * s * (3.0 - s * s))
            set_latitude(t, axes, rim.frame)
            share = KRONROD[LONG, i % RAYS] * half * 1.5 * (1.0 - s * s)
            n = turn_rays(n, parts, share, count, p, np.inf, terms, rim, out)
    return n
