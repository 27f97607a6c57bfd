"""Mass, centroid and second moments of a density over a polyhedron.

Its faces are split into triangles, each the base of a tetrahedron with the agent (the origin) as
apex: the agent lies in its own cell, so that all of them count positively. An agent outside its
cell gets another apex. `fan` holds six times the volumes.

The second moment about the centroid is built up from positive parts ("spread", see
gaussian.join), and the polar moment about the agent from it: polar = spread + mass |centroid|**2.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.algebra import ZERO, along, cross, dot, less, row_of, scaled, upper_of
from dwell._kernels.common.arithmetic import larger, range_of, smaller
from dwell._kernels.common.quadrature import FIRST, W
from dwell._kernels.space.careful import reach_of, sharp_volume, sharpen
from dwell._kernels.space.cells import list_triangles, position, triangle
from dwell._kernels.space.gaussian import (
    NOTHING,
    about_own,
    add_point,
    at_node,
    exponent_on_triangle,
    form,
    gaussian_tetrahedron,
    join,
    sum_of,
)
from dwell._kernels.space.surface import gaussian_by_faces

SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
WIDE = 3.0  # range of a component's exponent over a cell from which faces are quicker than volumes
ROUNDING = 1e-12  # of the volume: tetrahedra that count negatively by less are rounding
THIN = 3e-3  # volume over cubed length of the cell: below, vertices need more digits
SMALL = 1e-9  # volume over cubed reach of the workspace: below, vertices need more digits


@inner
def volume_under(a, b, c):
    """Return six times the volume of the tetrahedron over three vertices."""
    return dot(a, cross(less(b, a), less(c, a)))


@inner
def fill_fan(count, sharp, s):
    """Fill s.fan, with all digits if `sharp`; returns the sum, and the lowest."""
    total = least = 0.0
    for t in range(count):
        a, b, c = triangle(t, s)
        k = sharp_volume(t, s) if sharp else volume_under(a, b, c)
        s.fan[t] = k
        total += k
        least = smaller(least, k)
    return total, least


@inner
def move_apex(n, s):
    """Shift the polyhedron so that the mean of its vertices is the origin; returns the shift."""
    shift = ZERO
    for v in range(n):
        shift = (shift[0] + s.x[v] / n, shift[1] + s.y[v] / n, shift[2] + s.z[v] / n)
    for v in range(n):
        s.x[v] -= shift[0]
        s.y[v] -= shift[1]
        s.z[v] -= shift[2]
    return shift


@inner
def needs_digits(n, volume, reach, x, y, z):
    """Whether a cell is so thin, or so small in its workspace, that rounding of vertices shows.

    volume: six times its own; reach: squared distance of the farthest vertex of the workspace.
    """
    left, right = range_of(n, x)
    front, back = range_of(n, y)
    bottom, top = range_of(n, z)
    d = (right - left, back - front, top - bottom)
    size = dot(d, d)
    thin = volume < 6.0 * THIN * (size * np.sqrt(size))
    return thin or volume < 6.0 * SMALL * (reach * np.sqrt(reach))


@inner
def constant_part(level, count, s):
    """Return the moments of a constant density as a part: see join."""
    m = 0.0
    f = ZERO
    for t in range(count):
        a, b, c = triangle(t, s)
        m += s.fan[t]
        f = along(f, s.fan[t], sum_of(a, b, c))
    if m == 0.0:
        return NOTHING
    g = (0.25 * f[0] / m, 0.25 * f[1] / m, 0.25 * f[2] / m)
    apex = dot(g, g)
    spread = 0.0
    for t in range(count):
        a, b, c = triangle(t, s)
        a, b, c = less(a, g), less(b, g), less(c, g)
        d = less(sum_of(a, b, c), g)
        squares = dot(a, a) + dot(b, b) + (dot(c, c) + apex)
        spread += s.fan[t] * (squares + dot(d, d))
    m *= level / 6.0
    return m, scaled(m, g), level * spread / 120.0


@inner
def power(x, p):
    """Return x**p for a whole number p >= 0, by multiplication."""
    value = 1.0
    while p > 0:
        if p & 1:
            value *= x
        x *= x
        p >>= 1
    return value


@inner
def plain_at(v, terms):
    """Return the constant and the monomials at a place."""
    value = terms.constant
    for i in range(terms.coefficients.shape[0]):
        f = terms.coefficients[i] * power(v[0] - terms.origins[i, 0], terms.powers[i, 0])
        f *= power(v[1] - terms.origins[i, 1], terms.powers[i, 1])
        value += f * power(v[2] - terms.origins[i, 2], terms.powers[i, 2])
    return value


@inner
def degree_of(powers):
    """Return the largest total degree of the monomials."""
    degree = 0
    for i in range(powers.shape[0]):
        degree = max(degree, powers[i, 0] + powers[i, 1] + powers[i, 2])
    return degree


@inner
def plain_part(place, terms, count, s):
    """Return the constant and the monomials as a part, by a rule that is exact for their degree."""
    total = NOTHING
    n = (degree_of(terms.powers) + 4) // 2
    for t in range(count):
        a, b, c = triangle(t, s)
        g = scaled(0.25, sum_of(a, b, c))
        found = NOTHING
        for i in range(FIRST[n], FIRST[n + 1]):
            z = at_node(i, a, b, c)
            found = add_point(found, W[i] * plain_at(along(place, 1.0, z), terms), less(z, g))
        total = join(total, about_own(g, s.fan[t], found))
    return total


@inner
def exponent_range(n, center, q, s):
    """Return the smallest and largest exponent of a component over the vertices."""
    low, high = np.inf, -np.inf
    for v in range(n):
        e = -form(q, less(position(v, s), center))
        low, high = smaller(low, e), larger(high, e)
    return low, high


@inner
def highest_on(first, last, center, q, s):
    """Return the largest exponent of a component over triangles first to last - 1.

    Returns (whether its centre is behind all of them, exponent, where, seen from the centre).
    """
    inside = True
    best = -np.inf
    at = ZERO
    for t in range(first, last):
        a, b, c = triangle(t, s)
        a, b, c = less(a, center), less(b, center), less(c, center)
        inside = inside and not volume_under(a, b, c) < 0.0
        e, place = exponent_on_triangle(q, a, b, c)
        if e > best:
            best, at = e, place
    return inside, best, at


@inner
def top_exponent(center, q, count, s):
    """Return the largest exponent of a component over the cell in s, and where, from its centre."""
    inside, best, at = highest_on(0, count, center, q, s)
    if inside:
        return 0.0, ZERO
    return best, at


@inner
def component(t, place, terms):
    """Return the centre of a Gaussian component, seen from `place`, and its quadratic form."""
    return less(row_of(terms.centers, t, 0), place), upper_of(terms.forms[t])


@inner
def choose_log_scale(n, place, terms, count, s):
    """Return 0 where the density is representable somewhere on the polyhedron, else its log."""
    if terms.constant > 0.0 or terms.coefficients.shape[0] > 0:
        return 0.0
    top = -np.inf
    for t in range(terms.weights.shape[0]):
        center, q = component(t, place, terms)
        _, high = exponent_range(n, center, q, s)
        if high < SAFE_EXPONENT:
            high, _ = top_exponent(center, q, count, s)
        if high > SAFE_EXPONENT:
            return 0.0
        top = larger(top, high)
    return top


@inner
def add_gaussians(n, place, terms, log_scale, count, s, total):
    """Add all Gaussians: by faces where that is sound and the cell is wide, else by tetrahedra."""
    for t in range(terms.weights.shape[0]):
        center, q = component(t, place, terms)
        w = terms.weights[t]
        low, top = exponent_range(n, center, q, s)
        sound = False
        if top - low > WIDE:
            top, at = top_exponent(center, q, count, s)
            sound, part = gaussian_by_faces(center, terms.roots[t], count, top, at, log_scale, s)
            if sound:
                total = join(total, (w * part[0], scaled(w, part[1]), w * part[2]))
        if not sound:
            for i in range(count):
                k = w * s.fan[i]
                if k != 0.0:
                    a, b, c = triangle(i, s)
                    total = gaussian_tetrahedron(
                        center, q, a, b, c, k, log_scale, top, s.node, s.pending, total
                    )
    return total


@inner
def integrate(n, p, solid, grid, terms, s):
    """Return the moments of the cell in s: (log_scale, part, triangles); see gaussian.join.

    First moments are about the agent; the part comes divided by exp(log_scale). Triangles are left
    in s.corner, those of a face one after another. Where the cell is thin or small, vertices get
    more digits. May move the vertices to another apex.
    """
    place = position(p, grid)
    count = list_triangles(n, s)
    volume, least = fill_fan(count, False, s)
    if needs_digits(n, volume, reach_of(p, solid, grid), s.x, s.y, s.z):
        sharpen(n, p, solid, grid, s)
        volume, least = fill_fan(count, True, s)
    shift = ZERO
    moved = least < -ROUNDING * volume
    if moved:
        shift = move_apex(n, s)
        fill_fan(count, False, s)
        place = along(place, 1.0, shift)
    total = NOTHING
    log_scale = 0.0
    if terms.coefficients.shape[0] > 0:
        total = plain_part(place, terms, count, s)
    elif terms.constant > 0.0:
        total = constant_part(terms.constant, count, s)
    if terms.weights.shape[0] > 0:
        log_scale = choose_log_scale(n, place, terms, count, s)
        total = add_gaussians(n, place, terms, log_scale, count, s, total)
    m, f, spread = total
    if moved:
        f = along(f, m, shift)
    return log_scale, (m, f, spread), count
