"""Moments of a density over one cell or facet.

A Gaussian is exp(-|x|**2) in x = M v + b, with M upper triangular: over a facet or a cell it is
largest at the point nearest to its peak.
"""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.algebra import (
    ZERO,
    along,
    cross,
    dot,
    inverse_upper,
    less,
    narrowed,
    row_of,
    scaled,
    secant,
    solve_lower,
    solve_upper,
    times_upper,
    transposed,
    upper,
    upper_of,
)
from dwell._kernels.common.arithmetic import exponential
from dwell._kernels.common.cell_table import (
    E0,
    E1,
    E2,
    LOG_SCALE,
    MASS,
    MASS_ERROR,
    NEAREST,
    NEIGHBORS,
    SECOND,
    STATUS,
)
from dwell._kernels.common.status import NO_MASS
from dwell._kernels.star.buffers import (
    ANGLE,
    CENTER,
    FAN,
    FIRST,
    LAST,
    NORMAL,
    OFFSET,
    RADIUS,
    START,
    STEP,
    STRETCH,
    WEIGHED,
)
from dwell._kernels.star.cones import Integrand, over_surface
from dwell._kernels.star.surface import PATCH, falling_patch, point_on_piece, surface_of

TRUNCATION = 1e-13  # of a Gaussian component: what lies beyond DEPTH along the rays
ROUNDING = 4e-16  # of all terms of a sum, without signs
SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
ACCEPTED = 1e-8  # relative error of the mass of a Gaussian component; above it ...
TARGET = 1e-10  # ... boxes are halved until each has at most this share of the mass as its error
INTERVALS = 4  # intervals of an arc in which the nearest point is sought
STEPS = 10  # of the Illinois method
ROUNDS = 40  # of Newton's method
# A part is (log_scale, mass, centroid, spread, error of the mass, amplification); `spread` is the
# second moment about the centroid.
NOTHING = (0.0, 0.0, ZERO, 0.0, 0.0, 1.0)


@inner
def part_of(log_scale, weight, sums, apex, inverse, error):
    """Sums about an apex as a part."""
    mass = sums[0]
    if not mass > 0.0:
        return 0.0, 0.0, ZERO, 0.0, weight * error, 1.0
    e = (sums[1] / mass, sums[2] / mass, sums[3] / mass)
    z = upper(inverse, e)
    a, b, c, d, f, h = inverse  # about the apex, in z: the trace of inverse S inverse'
    polar = a * a * sums[4] + (b * b + d * d) * sums[7] + (c * c + f * f + h * h) * sums[9]
    polar += 2.0 * (a * b * sums[5] + a * c * sums[6] + (b * c + d * f) * sums[8])
    spread = max(0.0, polar - mass * dot(z, z))
    grown = sums[WEIGHED] / mass
    return log_scale, weight * mass, along(apex, 1.0, e), weight * spread, weight * error, grown


@inner
def joined(a, b, inverse):
    """Two parts as one, added up without cancellation."""
    if not b[1] > 0.0:
        return a
    if not a[1] > 0.0:
        return b
    if a[0] < b[0]:
        a, b = b, a
    share = exponential(b[0] - a[0])
    more = share * b[1]
    mass = a[1] + more
    gap = less(b[2], a[2])
    z = upper(inverse, gap)
    spread = a[3] + share * b[3] + a[1] * (more / mass) * dot(z, z)
    grown = (a[5] * a[1] + b[5] * more) / mass
    return a[0], mass, along(a[2], more / mass, gap), spread, a[4] + share * b[4], grown


@inner
def unscaled(part):
    """The part with log_scale 0, where doubles can hold it."""
    scale = part[0]
    if scale == 0.0 or scale < SAFE_EXPONENT:
        return part
    u = exponential(scale)
    return 0.0, u * part[1], part[2], u * part[3], u * part[4], part[5]


@inner
def square_on_piece(i, t, m, b, piece):
    """(|x|**2, half its derivative, v) at c(t) of piece i, with x = M v + b."""
    v, d = point_on_piece(i, t, ZERO, piece)
    x = along(b, 1.0, upper(m, v))
    return dot(x, x), dot(x, upper(m, d)), v


@inner
def nearest_on_piece(i, m, b, piece):
    """(squared distance, v) of the point of piece i that is nearest to the peak."""
    parts = INTERVALS if piece[i, ANGLE] > 0.0 else 1
    best = math.inf
    at = 0
    for k in range(parts + 1):
        square, _, _ = square_on_piece(i, k / parts, m, b, piece)
        if square < best:
            best = square
            at = k
    low = max(at - 1, 0) / parts
    high = min(at + 1, parts) / parts
    under = square_on_piece(i, low, m, b, piece)[1]
    over = square_on_piece(i, high, m, b, piece)[1]
    t = at / parts
    if under < 0.0 < over:
        bracket = (low, high, under, over, 0)
        for _ in range(1 if parts == 1 else STEPS):
            t = secant(bracket)
            slope = square_on_piece(i, t, m, b, piece)[1]
            if slope == 0.0 or not low < t < high:
                break
            bracket = narrowed(bracket, t, slope)
    square, _, v = square_on_piece(i, t, m, b, piece)
    return square, v


@inner
def nearest_on_facet(f, m, b, facet, piece):
    """(squared distance, v) of the point of facet f that is nearest to the peak."""
    normal = row_of(facet, f, NORMAL)
    tilted = solve_lower(m, normal)
    height = (facet[f, OFFSET] + dot(tilted, b)) / dot(tilted, tilted)
    x = scaled(height, tilted)
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
    y = along(solve_upper(m, scaled(-1.0, b)), 1.0, g)
    if dot(y, y) <= 1.0:
        return less(y, g)
    q = (
        m[0] * m[0], m[0] * m[1], m[0] * m[2], m[1] * m[1] + m[3] * m[3],
        m[1] * m[2] + m[3] * m[4], m[2] * m[2] + m[4] * m[4] + m[5] * m[5],
    )  # fmt: skip
    right = transposed(m, upper(m, y))
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
def nearest_in_cell(cell, m, b, facet, piece):
    """The point v of the cell that is nearest to the peak."""
    v = nearest_in_ball(m, b, cell.ball[0])
    inside = True
    for f in range(cell.facets):
        inside = inside and dot(row_of(facet, f, NORMAL), v) <= facet[f, OFFSET]
    if inside:
        return v
    best = math.inf
    for f in range(cell.facets):
        square, at = nearest_on_facet(f, m, b, facet, piece)
        if square < best:
            best = square
            v = at
    return v


@inner
def apex_of(cell, facet):
    """A point of the cell: the agent's own, if it is in the ball."""
    if cell.only >= 0:
        return row_of(facet, cell.only, FAN)
    g, sigma, _ = cell.ball
    apex = (-g[0], -g[1], -g[2]) if cell.whole else ZERO
    if sigma <= 0.0 and not cell.whole:
        for f in range(cell.facets):
            apex = along(apex, 1.0 / cell.facets, row_of(facet, f, FAN))
    return apex


@inner
def integrand_at(t, cell, place, inverse, terms, b):
    """The constant and the monomials of a density, if t is -1, or its Gaussian component t."""
    if t < 0:
        apex = apex_of(cell, b.facet)
        return Integrand(True, 1.0, 0.0, apex, inverse, ZERO, place, inverse, terms)
    root = upper_of(terms.roots[t])
    m = times_upper(root, inverse)
    base = upper(root, less(place, row_of(terms.centers, t, 0)))
    if cell.only >= 0:
        _, q = nearest_on_facet(cell.only, m, base, b.facet, b.piece)
    else:
        q = nearest_in_cell(cell, m, base, b.facet, b.piece)
    x = along(base, 1.0, upper(m, q))
    return Integrand(False, terms.weights[t], -dot(x, x), q, m, x, place, inverse, terms)


@inner
def set_sums(allowed, cell, f, b):
    """Fill b.sums[0] with the sums of an integrand over a cell; return the error of the mass."""
    b.sums[:] = 0.0
    error = 0.0
    for k in range(cell.facets + 2):
        there, first, last, surface = surface_of(k, cell, b)
        if there:
            if surface.kind == PATCH and not (cell.whole or f.plain):
                surface = falling_patch(cell, surface, f.apex, f.m, f.x, b)
            error += over_surface(first, last, allowed, surface, f, b)
    return error


@inner
def first_term(terms):
    """The first integrand of a density: -1 if it has a constant or monomials."""
    return -1 if terms.constant != 0.0 or terms.coefficients.shape[0] > 0 else 0


@inner
def cell_total(cell, place, inverse, terms, b):
    """Moments over the cell in b, as a part.

    Where an error comes out too large, once more with boxes halved by their errors.
    """
    total = NOTHING
    for t in range(first_term(terms), terms.weights.shape[0]):
        f = integrand_at(t, cell, place, inverse, terms, b)
        allowed = math.inf
        error = 0.0
        for _ in range(2):
            error = set_sums(allowed, cell, f, b)
            mass = abs(b.sums[0, 0])
            if error <= (TARGET if f.plain else ACCEPTED) * mass:
                break
            allowed = TARGET * mass
        part = part_of(f.log_scale, f.weight, b.sums[0], f.apex, inverse, error)
        total = joined(total, part, inverse)
    return unscaled(total)


@inner
def volume_of(cell, inverse, facet):
    """What measures in v are multiplied by on the way back to z."""
    volume = inverse[0] * inverse[3] * inverse[5]
    return volume * facet[cell.only, STRETCH] if cell.only >= 0 else volume


@inner
def measure(status, cell, neighbors, nearest, place, frame, terms, b, out):
    """Write the measurement of the cell in b: see ../common/cell_table.py.

    Without mass the error stays 0, and POLAR is left to Python.
    """
    out[:] = 0.0
    out[STATUS] = status
    out[NEIGHBORS] = neighbors
    out[NEAREST] = nearest
    if status != 0:
        return
    inverse = inverse_upper(upper_of(frame.matrix))
    volume = volume_of(cell, inverse, b.facet)
    scale, mass, centroid, spread, error, grown = cell_total(cell, place, inverse, terms, b)
    if not mass * volume > 0.0:
        out[STATUS] = NO_MASS
        return
    e = upper(inverse, centroid)
    out[E0] = e[0]
    out[E1] = e[1]
    out[E2] = e[2]
    out[LOG_SCALE] = scale
    out[MASS] = mass * volume
    out[SECOND] = spread * volume
    out[MASS_ERROR] = error / mass + ROUNDING * grown
    if terms.weights.shape[0] > 0:
        out[MASS_ERROR] += TRUNCATION


@inner
def add_shifted(factor, o, sums, out):
    """Add `factor` times the sums about o to `out`, about the origin."""
    m = factor * sums[0]
    d = (factor * sums[1], factor * sums[2], factor * sums[3])
    out[0] += m
    k = 4
    for i in range(3):
        out[1 + i] += d[i] + m * o[i]
        for j in range(i, 3):
            out[k] += factor * sums[k] + d[i] * o[j] + d[j] * o[i] + m * o[i] * o[j]
            k += 1


@njit
def facet_moments(cell, place, log_scale, frame, terms, b, out):
    """Moments 1, v and v v' over one facet, `cell`, about the agent, into out[:10].

    Divided by exp(log_scale); lengths are those of v, but measures those of z.
    """
    inverse = inverse_upper(upper_of(frame.matrix))
    out[:] = 0.0
    for t in range(first_term(terms), terms.weights.shape[0]):
        f = integrand_at(t, cell, place, inverse, terms, b)
        set_sums(math.inf, cell, f, b)
        add_shifted(f.weight * exponential(f.log_scale - log_scale), f.apex, b.sums[0], out)
    stretch = volume_of(cell, inverse, b.facet)
    for k in range(10):
        out[k] *= stretch
