"""Moments of a Gaussian over a polyhedron by its faces alone, for cells wider than the Gaussian.

In coordinates y = C (z - c) with Q = C'C the Gaussian is exp(-|y|**2), and the divergence theorem
turns its moments into integrals over faces (h: distance of the face from the peak, n: outward):

    mass    sum h int F(|y|**2) dA,  or, the peak being outside,  -sum h int D(|y|**2) dA
    first  -1/2 sum n int e**-|y|**2 dA
    second  1/2 (mass - sum n int y e**-|y|**2 dA)

F and D: see radial.py; D keeps the digits of far cells. Faces have both signs and cancel when the
cell is small, thin or far; how much is known from the sum of their sizes, and the caller falls back
on tetrahedra when more than a few digits would go. See gaussian.py.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.space.gaussian import halve, put, vector
from dwell._kernels.space.radial import inward, outward
from dwell._kernels.space.rules import (
    FLAT_A,
    FLAT_B,
    FLAT_BENDS,
    FLAT_FIRST,
    FLAT_NODES,
    FLAT_TILTS,
    FLAT_W,
    MAX_FLAT,
)
from dwell._kernels.star.vectors import along, cross, dot, less

FAR_OFF = 2.0  # squared distance of the peak from which D serves
ROUND = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)  # the form of exp(-|y|**2)
AMPLIFICATION = 100.0  # of masses: errors may grow by so much, from rules.FLAT_TOLERANCE
SECOND_AMPLIFICATION = 5000.0
NEGLIGIBLE = 40.0  # e-folds below the largest value: e**-40 is 4e-18
WIDEST = 0.7  # size of a piece over its distance from the peak, or over the Gaussian's width


@inner
def whiten(n, center, root, x, y, z, white):
    """Put C (v - c) of every vertex into `white`."""
    for v in range(n):
        dx = x[v] - center[0]
        dy = y[v] - center[1]
        dz = z[v] - center[2]
        white[0, v] = root[0, 0] * dx + root[0, 1] * dy + root[0, 2] * dz
        white[1, v] = root[1, 1] * dy + root[1, 2] * dz
        white[2, v] = root[2, 2] * dz


@inner
def corner_at(v, white):
    """Vertex v."""
    return white[0, v], white[1, v], white[2, v]


@inner
def flat_nodes_for(tilt, bend):
    """How many nodes per direction a triangle needs; 0 when it must be halved."""
    j = 0
    while j < FLAT_BENDS.shape[0] and bend > FLAT_BENDS[j]:
        j += 1
    if j < FLAT_BENDS.shape[0]:
        for i in range(FLAT_NODES.shape[0]):
            if tilt <= FLAT_TILTS[i, j]:
                return FLAT_NODES[i]
    return 0


@inner
def by_exponent(o, a, b, about, far, log_scale, log_top, pending):
    """(1, y, D) times exp(-|y|**2 - log_scale), summed over a triangle of measure 1 / 2.

    y is taken from `about`; D, without its exponential, only if `far`.
    """
    zero = (0.0, 0.0, 0.0)
    m = mx = my = mz = beyond = 0.0
    stretch = 1.0 - 2.0 / log_top if far else 1.0  # D varies faster than the Gaussian itself
    put(0, o, a, b, zero, 1.0, pending)
    size = 1
    while size > 0:
        row = size - 1
        o = vector(row, 0, pending)
        a = vector(row, 3, pending)
        b = vector(row, 6, pending)
        k = pending[row, 12]
        s = ((a[0] + b[0]) / 3.0, (a[1] + b[1]) / 3.0, (a[2] + b[2]) / 3.0)
        g = along(o, 1.0, s)
        tilt = (-2.0 * g[0], -2.0 * g[1], -2.0 * g[2])
        da = less(a, s)
        db = less(b, s)
        t0 = -dot(tilt, s)
        t1 = dot(tilt, da)
        t2 = dot(tilt, db)
        high = larger(t0, larger(t1, t2))
        if high - dot(g, g) < log_top - NEGLIGIBLE:
            size -= 1
            continue
        low = smaller(t0, smaller(t1, t2))
        bend = larger(dot(s, s), larger(dot(da, da), dot(db, db)))
        n = flat_nodes_for(stretch * (high - low), stretch * bend)
        if n == 0 and size < pending.shape[0]:
            halve(row, size, ROUND, tilt, o, a, b, zero, k, True, pending)
            size += 1
            continue
        size -= 1
        n = n if n > 0 else MAX_FLAT
        first = FLAT_FIRST[n]
        for i in range(first, first + n * n):
            x = o[0] + FLAT_A[i] * a[0] + FLAT_B[i] * b[0]
            y = o[1] + FLAT_A[i] * a[1] + FLAT_B[i] * b[1]
            z = o[2] + FLAT_A[i] * a[2] + FLAT_B[i] * b[2]
            r2 = x * x + y * y + z * z
            f = k * FLAT_W[i] * exponential(-r2 - log_scale)
            m += f
            mx += f * (x - about[0])
            my += f * (y - about[1])
            mz += f * (z - about[2])
            if far:
                beyond += f * outward(r2)
    return m, mx, my, mz, beyond


@inner
def nodes_across(width):
    """Nodes for F over a piece whose size is `width` times its distance from the peak."""
    if width > 0.4:
        return 10
    if width > 0.25:
        return 8
    if width > 0.12:
        return 6
    return 5


@inner
def by_distance(o, a, b, pending):
    """F summed over a triangle of measure 1 / 2."""
    zero = (0.0, 0.0, 0.0)
    total = 0.0
    put(0, o, a, b, zero, 1.0, pending)
    size = 1
    while size > 0:
        row = size - 1
        o = vector(row, 0, pending)
        a = vector(row, 3, pending)
        b = vector(row, 6, pending)
        k = pending[row, 12]
        c = less(b, a)
        long = larger(dot(a, a), larger(dot(b, b), dot(c, c)))
        g = along(o, 1.0, ((a[0] + b[0]) / 3.0, (a[1] + b[1]) / 3.0, (a[2] + b[2]) / 3.0))
        length = math.sqrt(long)
        distance = larger(1.0, math.sqrt(dot(g, g)) - length)
        if length > WIDEST * distance and size < pending.shape[0]:
            halve(row, size, ROUND, zero, o, a, b, zero, k, True, pending)  # the longest edge
            size += 1
            continue
        size -= 1
        n = nodes_across(length / distance)
        first = FLAT_FIRST[n]
        for i in range(first, first + n * n):
            x = o[0] + FLAT_A[i] * a[0] + FLAT_B[i] * b[0]
            y = o[1] + FLAT_A[i] * a[1] + FLAT_B[i] * b[1]
            z = o[2] + FLAT_A[i] * a[2] + FLAT_B[i] * b[2]
            total += k * FLAT_W[i] * inward(x * x + y * y + z * z)
    return total


@inner
def back(root, v):
    """C**-1 v."""
    z = v[2] / root[2, 2]
    y = (v[1] - root[1, 2] * z) / root[1, 1]
    return (v[0] - root[0, 1] * y - root[0, 2] * z) / root[0, 0], y, z


@inner
def gaussian_by_faces(
    n, center, root, count, corner, x, y, z, top, nearest, log_scale, white, pending
):
    """(sound, mass, fx, fy, fz, spread) of exp(-(v - center)' C'C (v - center) - log_scale).

    top: its largest exponent on the polyhedron, at the place `nearest` (seen from `center`). First
    moments are about the origin. `white`: (3, n) buffer for vertices. Not sound: digits went.
    """
    whiten(n, center, root, x, y, z, white)
    far = -top > FAR_OFF
    about = (
        root[0, 0] * nearest[0] + root[0, 1] * nearest[1] + root[0, 2] * nearest[2],
        root[1, 1] * nearest[1] + root[1, 2] * nearest[2],
        root[2, 2] * nearest[2],
    )
    mass = weighed = 0.0
    f0 = f1 = f2 = 0.0
    sizes = 0.0
    # rows: sums of n_i int y_j, one row after another
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = 0.0
    moments = 0.0
    for t in range(count):
        o = corner_at(corner[t, 0], white)
        a = less(corner_at(corner[t, 1], white), o)
        b = less(corner_at(corner[t, 2], white), o)
        normal = cross(a, b)
        height = dot(o, normal)
        m, mx, my, mz, beyond = by_exponent(o, a, b, about, far, log_scale, top, pending)
        part = -height * beyond
        if not far:
            part = height * by_distance(o, a, b, pending)
        mass += part
        weighed += abs(part)
        f0 -= 0.5 * normal[0] * m
        f1 -= 0.5 * normal[1] * m
        f2 -= 0.5 * normal[2] * m
        area = abs(normal[0]) + abs(normal[1]) + abs(normal[2])
        sizes += 0.5 * area * m
        a0 += normal[0] * mx
        a1 += normal[0] * my
        a2 += normal[0] * mz
        b0 += normal[1] * mx
        b1 += normal[1] * my
        b2 += normal[1] * mz
        c0 += normal[2] * mx
        c1 += normal[2] * my
        c2 += normal[2] * mz
        moments += 0.5 * area * (abs(mx) + abs(my) + abs(mz))
    if not mass > weighed / AMPLIFICATION:
        return False, 0.0, 0.0, 0.0, 0.0, 0.0
    # About `about`: first moments w, and second moments int w w' = int y w' - about (int w)'.
    w = (f0 - about[0] * mass, f1 - about[1] * mass, f2 - about[2] * mass)
    r = (about[0] + w[0] / mass, about[1] + w[1] / mass, about[2] + w[2] / mass)
    first = (0.5 * (mass - a0) - r[0] * w[0], -0.5 * a1 - r[0] * w[1], -0.5 * a2 - r[0] * w[2])
    second = (-0.5 * b0 - r[1] * w[0], 0.5 * (mass - b1) - r[1] * w[1], -0.5 * b2 - r[1] * w[2])
    third = (-0.5 * c0 - r[2] * w[0], -0.5 * c1 - r[2] * w[1], 0.5 * (mass - c2) - r[2] * w[2])
    # The trace of C**-1 S C**-T: columns of S first, then rows.
    p = back(root, (first[0], second[0], third[0]))
    q = back(root, (first[1], second[1], third[1]))
    s = back(root, (first[2], second[2], third[2]))
    u = back(root, (p[0], q[0], s[0]))
    v = back(root, (p[1], q[1], s[1]))
    t = back(root, (p[2], q[2], s[2]))
    spread = u[0] + v[1] + t[2]
    least = smaller(root[0, 0], smaller(root[1, 1], root[2, 2]))
    reach = math.sqrt(dot(r, r))
    terms = 1.5 * mass + moments + reach * (sizes + reach * weighed)
    if not spread * (least * least) > terms / SECOND_AMPLIFICATION:
        return False, 0.0, 0.0, 0.0, 0.0, 0.0
    size = root[0, 0] * root[1, 1] * root[2, 2]
    g = back(root, (r[0], r[1], r[2]))
    mass /= size
    return (
        True, mass, mass * (center[0] + g[0]), mass * (center[1] + g[1]),
        mass * (center[2] + g[2]), spread / size,
    )  # fmt: skip
