"""Where a Gaussian is largest over a facet or a cell: the point nearest to its peak.

In x = M v + b the Gaussian is exp(-|x|**2), with M upper triangular.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.star.buffers import (
    ANGLE,
    CENTER,
    FIRST,
    LAST,
    NORMAL,
    OFFSET,
    QUARTER,
    RADIUS,
    START,
    STEP,
)
from dwell._kernels.star.surface import point_on_piece
from dwell._kernels.star.vectors import (
    along,
    cross,
    dot,
    less,
    row_of,
    solve_lower,
    solve_upper,
    upper,
)

SAMPLES = 4  # intervals of an arc in which the nearest point is sought
HALVINGS = 30
ROUNDS = 40  # of Newton's method


@inner
def nearest_on_piece(i, m, b, piece):
    """(squared distance, v) of the point of piece i that is nearest to the peak."""
    a = row_of(piece, i, START)
    x = along(b, 1.0, upper(m, a))
    u = upper(m, row_of(piece, i, STEP))
    angle = piece[i, ANGLE]
    if angle == 0.0:
        square = dot(u, u)
        t = -dot(x, u) / square if square > 0.0 else 0.0
        t = min(1.0, max(0.0, t))
        x = along(x, t, u)
        return dot(x, x), along(a, t, row_of(piece, i, STEP))
    e = upper(m, row_of(piece, i, QUARTER))
    base = less(x, u)  # the circle is base + cos u + sin e
    best = dot(x, x)
    at = 0
    for k in range(1, SAMPLES + 1):
        y = on_circle(base, u, e, angle * k / SAMPLES)
        if dot(y, y) < best:
            best = dot(y, y)
            at = k
    low = angle * max(at - 1, 0) / SAMPLES
    high = angle * min(at + 1, SAMPLES) / SAMPLES
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        y = on_circle(base, u, e, middle)
        slope = on_circle((0.0, 0.0, 0.0), e, (-u[0], -u[1], -u[2]), middle)
        if dot(y, slope) > 0.0:
            high = middle
        else:
            low = middle
    y = on_circle(base, u, e, 0.5 * (low + high))
    zero = (0.0, 0.0, 0.0)
    v, _ = point_on_piece(i, 0.5 * (low + high) / angle, zero, piece)
    return dot(y, y), v


@inner
def on_circle(base, u, e, turn):
    """base + cos(turn) u + sin(turn) e."""
    return along(along(base, math.cos(turn), u), math.sin(turn), e)


@inner
def nearest_on_facet(f, m, b, facet, piece):
    """(squared distance, v) of the point of facet f that is nearest to the peak."""
    normal = row_of(facet, f, NORMAL)
    tilted = solve_lower(m, normal)
    height = (facet[f, OFFSET] + dot(tilted, b)) / dot(tilted, tilted)
    x = (height * tilted[0], height * tilted[1], height * tilted[2])
    v = solve_upper(m, less(x, b))
    r = less(v, row_of(facet, f, CENTER))
    inside = dot(r, r) <= facet[f, RADIUS] * facet[f, RADIUS]
    first = int(facet[f, FIRST])
    last = int(facet[f, LAST])
    for i in range(first, last):
        if piece[i, ANGLE] == 0.0 and inside:
            arm = less(v, row_of(piece, i, START))
            inside = dot(normal, cross(row_of(piece, i, STEP), arm)) >= 0.0
    if inside:
        return dot(x, x), v
    best = math.inf
    for i in range(first, last):
        square, at = nearest_on_piece(i, m, b, piece)
        if square < best:
            best = square
            v = at
    return best, v


@inner
def nearest_in_ball(m, b, g):
    """The point v of the ball that is nearest to the peak: Newton's method for its multiplier."""
    y = along(solve_upper(m, (-b[0], -b[1], -b[2])), 1.0, g)
    if dot(y, y) <= 1.0:
        return less(y, g)
    q = (
        m[0] * m[0], m[0] * m[1], m[0] * m[2], m[1] * m[1] + m[3] * m[3],
        m[1] * m[2] + m[3] * m[4], m[2] * m[2] + m[4] * m[4] + m[5] * m[5],
    )  # fmt: skip
    right = (
        q[0] * y[0] + q[1] * y[1] + q[2] * y[2],
        q[1] * y[0] + q[3] * y[1] + q[4] * y[2],
        q[2] * y[0] + q[4] * y[1] + q[5] * y[2],
    )
    push = 0.0
    for _ in range(ROUNDS):  # of 1 / |y| - 1, which is concave: no step goes too far
        root = cholesky(q[0] + push, q[1], q[2], q[3] + push, q[4], q[5] + push)
        y = solve_upper(root, solve_lower(root, right))
        size = math.sqrt(dot(y, y))
        slope = solve_lower(root, y)
        step = (size - 1.0) * size * size / dot(slope, slope)
        push += step
        if not step > 1e-15 * push:
            break
    return less((y[0] / size, y[1] / size, y[2] / size), g)


@inner
def cholesky(a, b, c, d, e, f):
    """The upper triangular R with R'R = ((a, b, c), (b, d, e), (c, e, f))."""
    r0 = math.sqrt(a)
    r1 = b / r0
    r2 = c / r0
    r3 = math.sqrt(max(d - r1 * r1, 1e-300))
    r4 = (e - r1 * r2) / r3
    return r0, r1, r2, r3, r4, math.sqrt(max(f - r2 * r2 - r4 * r4, 1e-300))


@inner
def nearest_in_cell(facets, m, b, g, facet, piece):
    """The point v of the cell that is nearest to the peak."""
    v = nearest_in_ball(m, b, g)
    inside = True
    for f in range(facets):
        inside = inside and dot(row_of(facet, f, NORMAL), v) <= facet[f, OFFSET]
    if inside:
        return v
    best = math.inf
    for f in range(facets):
        square, at = nearest_on_facet(f, m, b, facet, piece)
        if square < best:
            best = square
            v = at
    return v
