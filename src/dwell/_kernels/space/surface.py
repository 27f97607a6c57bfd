"""Moments of a Gaussian over a polyhedron by its faces alone, for cells wider than the Gaussian.

In coordinates y = C (z - c) with Q = C'C the Gaussian is exp(-|y|**2), and the divergence theorem
turns its moments into integrals over faces (h: distance of the face from the peak, n: outward):

    mass    sum h int F(|y|**2) dA,  or, the peak being outside,  -sum h int D(|y|**2) dA
    first  -1/2 sum n int e**-|y|**2 dA
    second  1/2 (mass - sum n int y e**-|y|**2 dA)

Faces have both signs and cancel when the cell is small, thin or far; how much is known from the sum
of their sizes, and the caller falls back on tetrahedra when more than a few digits would go. See
gaussian.py. F and D are integrals of a Gaussian along rays from its peak:

    F(x) = int_0^1 u**2 exp(-x u**2) du          D(x) = int_1^oo u**2 exp(-x u**2) du

With x the squared distance of a place on a face, F weighs the segment from the peak to it and D the
ray beyond, which keeps the digits of far cells. F is a Boys function and D(x) = e**-x d(x), where d
falls slowly. Both come from tables of Taylor series, spaced so that a few terms give all digits.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.algebra import (
    ZERO,
    along,
    cross,
    dot,
    less,
    scaled,
    solve_upper,
    upper,
    upper_of,
)
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.common.quadrature import FLAT_FIRST, FLAT_REACH, A, B, W
from dwell._kernels.space.cells import triangle
from dwell._kernels.space.gaussian import halve, next_piece, over, piece, put_piece

FAR_OFF = 2.0  # squared distance of the peak from which D serves
ROUND = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)  # the form of exp(-|y|**2)
AMPLIFICATION = 100.0  # of masses: errors may grow by so much, from FLAT_TOLERANCE
SECOND_AMPLIFICATION = 5000.0
NEGLIGIBLE = 40.0  # e-folds below the largest value: e**-40 is 4e-18
WIDEST = 0.7  # size of a piece over its distance from the peak, or over the Gaussian's width

STEPS = 4.0  # table entries per unit of x
TERMS = 12
LARGEST = 50.0  # end of the tables
LEAST_FAR = 2.0  # D is used from here on
PLAIN_EXPONENTIAL = getattr(exponential, "py_func", exponential)  # nothing to compile at import
QUARTER_ROOT_PI = 0.25 * math.sqrt(math.pi)


def _boys(orders: int, x: float) -> list[float]:
    """int_0^1 u**(2 n) exp(-x u**2) du for n below `orders`: a positive series, then downwards."""
    n = orders - 1
    term = total = 1.0 / (2 * n + 1)
    k = 1
    while term > 1e-18 * total:
        term *= 2.0 * x / (2 * n + 2 * k + 1)
        total += term
        k += 1
    decay = float(PLAIN_EXPONENTIAL(-x))
    found = [decay * total]
    for m in range(n - 1, -1, -1):
        found.append((2.0 * x * found[-1] + decay) / (2 * m + 1))
    return found[::-1]


def _beyond(orders: int, x: float) -> list[float]:
    """e**x int_1^oo u**(2 n) exp(-x u**2) du for n below `orders`: a fraction, then upwards."""
    s = math.sqrt(x)
    fraction = s
    for k in range(400, 0, -1):
        fraction = s + 0.5 * k / fraction
    found = [0.5 / (s * fraction)]  # e**x sqrt(pi) erfc(s) / (2 s)
    for n in range(1, orders):
        found.append((1.0 + (2 * n - 1) * found[-1]) / (2.0 * x))
    return found


def _tables() -> tuple[np.ndarray, np.ndarray]:
    rows = int(LARGEST * STEPS) + 1
    near, far = np.zeros((2, rows, TERMS))
    for k in range(rows):
        x = k / STEPS
        boys = _boys(TERMS + 1, x)
        near[k] = [boys[j + 1] * (-1) ** j / math.factorial(j) for j in range(TERMS)]
        if x >= LEAST_FAR:
            beyond = _beyond(TERMS + 1, x)
            series = [beyond[j + 1] * (-1) ** j / math.factorial(j) for j in range(TERMS)]
            for j in range(TERMS):  # times e**(x - x_k)
                far[k, j] = math.fsum(series[i] / math.factorial(j - i) for i in range(j + 1))
    return near, far


NEAR, FAR = _tables()


@inner
def by_table(table, x):
    """The Taylor series about the entry nearest to x, at x."""
    k = int(x * STEPS + 0.5)
    d = x - k / STEPS
    value = 0.0
    for j in range(TERMS - 1, -1, -1):
        value = value * d + table[k, j]
    return value


@inner
def inward(x):
    """F(x) for x >= 0."""
    if x > LARGEST:
        return QUARTER_ROOT_PI / (x * math.sqrt(x))  # the ray beyond weighs e**-50
    return by_table(NEAR, x)


@inner
def outward(x):
    """d(x) = e**x D(x) for x >= LEAST_FAR."""
    if x <= LARGEST:
        return by_table(FAR, x)
    value = 1.0  # asymptotic: the product of (3/2 - k) / x for k = 1, 2, ...
    for k in range(16, 0, -1):
        value = 1.0 + value * (1.5 - k) / x
    return 0.5 * value / x


@inner
def on_triangle(i, o, a, b):
    """Return node i of a flat rule on the triangle (o, o + a, o + b)."""
    return along(along(o, A[i], a), B[i], b)


@inner
def by_exponent(o, a, b, about, far, log_scale, log_top, pending):
    """(1, y, D) times exp(-|y|**2 - log_scale), summed over a triangle of measure 1 / 2.

    y is taken from `about`; D, without its exponential, only if `far`.
    """
    m = beyond = 0.0
    first_moments = ZERO
    stretch = 1.0 - 2.0 / log_top if far else 1.0  # D varies faster than the Gaussian itself
    put_piece(0, o, a, b, ZERO, 1.0, pending)
    size = 1
    while True:
        size, n, _, _, _, _, _ = next_piece(
            size, True, stretch, ROUND, ZERO, log_top - NEGLIGIBLE, FLAT_REACH, pending
        )
        if n == 0:
            return m, first_moments, beyond
        o, a, b, _ = piece(size, pending)
        first = FLAT_FIRST[n]
        for i in range(first, first + n * n):
            y = on_triangle(i, o, a, b)
            r2 = dot(y, y)
            f = pending[size, 12] * W[i] * exponential(-r2 - log_scale)
            m += f
            first_moments = along(first_moments, f, less(y, about))
            if far:
                beyond += f * outward(r2)


@inner
def nodes_across(width):
    """Return the nodes for F over a piece whose size is `width` times its distance to the peak."""
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
    total = 0.0
    put_piece(0, o, a, b, ZERO, 1.0, pending)
    size = 1
    while size > 0:
        row = size - 1
        o, a, b, _ = piece(row, pending)
        c = less(b, a)
        length = math.sqrt(larger(dot(a, a), larger(dot(b, b), dot(c, c))))
        g = along(o, 1.0, over(along(a, 1.0, b), 3.0))
        distance = larger(1.0, math.sqrt(dot(g, g)) - length)
        if length > WIDEST * distance and size < pending.shape[0]:
            halve(row, size, ROUND, ZERO, True, pending)  # the longest edge
            size += 1
            continue
        size -= 1
        n = nodes_across(length / distance)
        first = FLAT_FIRST[n]
        for i in range(first, first + n * n):
            y = on_triangle(i, o, a, b)
            total += pending[row, 12] * W[i] * inward(dot(y, y))
    return total


@inner
def about_centroid(mass, row, sums, r, w):
    """Return a row of second moments about the centroid r, from those of n_i y; w: see below."""
    unit = (mass if row == 0 else 0.0, mass if row == 1 else 0.0, mass if row == 2 else 0.0)
    return along(scaled(0.5, less(unit, sums)), -r[row], w)


@inner
def spread_of(root, mass, sums, r, w):
    """Return the trace of C**-1 S C**-T; S: second moments about the centroid r in the frame of y.

    sums: rows of sums of n_i int y_j, about the nearest point; w: first moments about that point.
    """
    a = about_centroid(mass, 0, sums[0], r, w)
    b = about_centroid(mass, 1, sums[1], r, w)
    c = about_centroid(mass, 2, sums[2], r, w)
    p = solve_upper(root, (a[0], b[0], c[0]))
    q = solve_upper(root, (a[1], b[1], c[1]))
    s = solve_upper(root, (a[2], b[2], c[2]))
    u = solve_upper(root, (p[0], q[0], s[0]))
    v = solve_upper(root, (p[1], q[1], s[1]))
    t = solve_upper(root, (p[2], q[2], s[2]))
    return u[0] + v[1] + t[2]


@inner
def gaussian_by_faces(center, matrix, count, top, nearest, log_scale, s):
    """Return whether digits are left, and exp(-(v - center)' C'C (v - center) - log_scale) as a
    part: see gaussian.join.

    matrix: C. top: the largest exponent on the polyhedron in s, at the place `nearest` (seen from
    `center`). First moments are about the origin.
    """
    root = upper_of(matrix)
    far = -top > FAR_OFF
    about = upper(root, nearest)
    mass = weighed = sizes = moments = 0.0
    f = x = y = z = ZERO  # first moments; sums of n_i int y_j, row by row
    for t in range(count):
        i, j, k = triangle(t, s)
        o = upper(root, less(i, center))
        a = less(upper(root, less(j, center)), o)
        b = less(upper(root, less(k, center)), o)
        normal = cross(a, b)
        height = dot(o, normal)
        m, first, beyond = by_exponent(o, a, b, about, far, log_scale, top, s.pending)
        part = -height * beyond
        if not far:
            part = height * by_distance(o, a, b, s.pending)
        mass += part
        weighed += abs(part)
        f = along(f, -0.5 * m, normal)
        area = abs(normal[0]) + abs(normal[1]) + abs(normal[2])
        sizes += 0.5 * area * m
        x = along(x, normal[0], first)
        y = along(y, normal[1], first)
        z = along(z, normal[2], first)
        moments += 0.5 * area * (abs(first[0]) + abs(first[1]) + abs(first[2]))
    if not mass > weighed / AMPLIFICATION:
        return False, (0.0, ZERO, 0.0)
    # About `about`: first moments w, and second moments int w w' = int y w' - about (int w)'.
    w = along(f, -mass, about)
    r = along(about, 1.0, over(w, mass))
    spread = spread_of(root, mass, (x, y, z), r, w)
    least = smaller(root[0], smaller(root[3], root[5]))
    reach = math.sqrt(dot(r, r))
    terms = 1.5 * mass + moments + reach * (sizes + reach * weighed)
    if not spread * (least * least) > terms / SECOND_AMPLIFICATION:
        return False, (0.0, ZERO, 0.0)
    size = root[0] * root[3] * root[5]
    mass /= size
    place = along(center, 1.0, solve_upper(root, r))
    return True, (mass, scaled(mass, place), spread / size)
