"""Cells in an ellipsoid of space, by slices: planes z = const cut them into planar curved cells.

A slice of a cell is a convex polygon cut by an ellipse, which the planar kernels integrate to
rounding; densities stay of their kind, too: a Gaussian in space is one in each slice. What is left
is a single integral over z. Its integrand is analytic between breaks: heights of corners, and of
places where a face's circle, or the ellipsoid, turns up or down. There it may have roots, which the
substitution z = z0 + (z1 - z0) t**2 (3 - 2 t) makes smooth; the rest is left to halving. Everything
is a sum of positive parts.

The ellipsoid is |W u + a| <= 1 in the agent's frame, W upper triangular:
w = (W11, W12, W13, W22, W23, W33). A row of `planes` is (nx, ny, nz, offset): n . u <= offset.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.arithmetic import exponential, larger, smaller
from dwell._kernels.cells import cut, deepest, sides
from dwell._kernels.curved.breaks import list_breaks
from dwell._kernels.curved.cells import (
    ARC,
    EMPTY,
    MARGIN,
    WHOLE,
    panels_of_cell,
    put_corner,
    tell_inside,
)
from dwell._kernels.curved.look import ring_moments
from dwell._kernels.guaranteed_contour import AMPLIFICATION
from dwell._kernels.moments import SAFE_EXPONENT

# Gauss and Kronrod on [0, 1]: 15 nodes, every second of which is one of Gauss's 7.
_X = [
    0.9914553711208126,
    0.9491079123427585,
    0.8648644233597691,
    0.7415311855993945,
    0.5860872354676911,
    0.4058451513773972,
    0.20778495500789848,
]
_K = [
    0.022935322010529224,
    0.06309209262997856,
    0.10479001032225019,
    0.14065325971552592,
    0.1690047266392679,
    0.19035057806478542,
    0.20443294007529889,
]
_G = [0.1294849661688697, 0.27970539148927664, 0.3818300505051189]
HEIGHT = 0.5 * (1.0 + np.array([-v for v in _X] + [0.0] + _X[::-1]))
KRONROD = 0.5 * np.array([*_K, 0.20948214108472782, *_K[::-1]])
GAUSS = 0.5 * np.array(
    [0, _G[0], 0, _G[1], 0, _G[2], 0, 0.4179591836734694, 0, _G[2], 0, _G[1], 0, _G[0], 0]
)

TOLERANCE = 1e-12  # error per piece, of the cell's mass
MOST_PIECES = 600
SHORT = 1e-13  # pieces shorter than this share of the whole are passed over
NARROW = 6.0  # hills with more widths than this from the cell's bottom to its top get breaks
WIDTHS = np.array([-7.0, -3.5, -1.5, 0.0, 1.5, 3.5, 7.0])  # where: beyond the last, e**-49 is left
MASS, FX, FY, FZ, POLAR = range(5)


@inner
def fill_slice(z, place, general, group, flat):
    """Put the density at height z into `flat`, all seen from `place`; gives its log_scale.

    group[k]: which of flat's polynomials monomial k belongs to.
    """
    for t in range(flat.polynomials.shape[0]):
        for i in range(flat.polynomials.shape[1]):
            for j in range(flat.polynomials.shape[2]):
                flat.polynomials[t, i, j] = 0.0
    for k in range(general.coefficients.shape[0]):
        t = group[k]
        height = z - (general.origins[k, 2] - place[2])
        value = general.coefficients[k]
        for _ in range(general.powers[k, 2]):
            value *= height
        flat.polynomials[t, general.powers[k, 0], general.powers[k, 1]] += value
        flat.origins[t, 0] = general.origins[k, 0] - place[0]
        flat.origins[t, 1] = general.origins[k, 1] - place[1]
    hills = general.weights.shape[0]
    top = -np.inf
    for t in range(hills):
        height = general.roots[t, 2, 2] * (z - (general.centers[t, 2] - place[2]))
        top = larger(top, -height * height)
    plain = flat.constant > 0.0 or general.coefficients.shape[0] > 0
    if plain or hills == 0 or top > SAFE_EXPONENT:
        top = 0.0
    for t in range(hills):
        c = general.roots[t]
        dz = z - (general.centers[t, 2] - place[2])
        y = -c[1, 2] * dz / c[1, 1]
        x = -(c[0, 1] * y + c[0, 2] * dz) / c[0, 0]
        height = c[2, 2] * dz
        g = flat.gaussians[t]
        g[0] = general.weights[t] * exponential(-height * height - top)
        g[1] = (general.centers[t, 0] - place[0]) + x
        g[2] = (general.centers[t, 1] - place[1]) + y
        g[3] = c[0, 0] * c[0, 0]
        g[4] = c[0, 0] * c[0, 1]
        g[5] = c[0, 1] * c[0, 1] + c[1, 1] * c[1, 1]
        g[6] = c[0, 0]
        g[7] = c[0, 1]
        g[8] = c[1, 1]
    return top


@inner
def ellipse_at(z, w, a):
    """The slice of the ellipsoid at height z: (found, (cx, cy, w11, w12, w22))."""
    w11, w12, w13, w22, w23, w33 = w
    height = w33 * z + a[2]
    square = (1.0 - height) * (1.0 + height)
    if not square > 0.0:
        return False, (0.0, 0.0, 1.0, 0.0, 1.0)
    rho = math.sqrt(square)
    cy = -(w23 * z + a[1]) / w22
    cx = -(w12 * cy + w13 * z + a[0]) / w11
    return True, (cx, cy, w11 / rho, w12 / rho, w22 / rho)


@inlined
def polygon_at(z, m, planes, ellipse, s):
    """The polygon that the planes cut from a rectangle round the ellipse; gives its corners."""
    cx, cy, w11, w12, w22 = ellipse
    across = MARGIN * math.sqrt(1.0 + (w12 / w22) * (w12 / w22)) / w11
    up = MARGIN / w22
    x, y, label = s.x, s.y, s.label
    x2, y2, label2 = s.x2, s.y2, s.label2
    for k in range(4):
        x[k] = cx + (across if k == 1 or k == 2 else -across)
        y[k] = cy + (up if k >= 2 else -up)
        label[k] = -1 - k
    n = 4
    cuts = 0
    for q in range(m):
        offset = planes[q, 3] - planes[q, 2] * z
        outside = sides(n, planes[q, 0], planes[q, 1], offset, x, y, s.side)
        if outside == n:
            return 0
        if outside > 0:
            n = cut(n, q, deepest(n, s.side), s.side, x, y, label, x2, y2, label2)
            x, x2 = x2, x
            y, y2 = y2, y
            label, label2 = label2, label
            cuts += 1
    if cuts % 2 == 1:
        for k in range(n):
            s.x[k] = x[k]
            s.y[k] = y[k]
            s.label[k] = label[k]
    return n if n >= 3 else 0


@inner
def line_through(nx, ny, offset, ellipse):
    """Where the line n . u = offset crosses an ellipse: (crosses, middle, s, t, fx, fy, ex, ey).

    It runs along f + s e, e the normal turned left.
    """
    cx, cy, w11, w12, w22 = ellipse
    square = nx * nx + ny * ny
    fx = nx * (offset / square)
    fy = ny * (offset / square)
    ax = w11 * (fx - cx) + w12 * (fy - cy)
    ay = w22 * (fy - cy)
    bx = -w11 * ny + w12 * nx
    by = w22 * nx
    bend = bx * bx + by * by
    middle = -(ax * bx + ay * by) / bend
    turn = (ax * by - ay * bx) / math.sqrt(bend)
    rest = (1.0 - turn) * (1.0 + turn)
    if not rest > 0.0:
        return False, middle, middle, middle, fx, fy
    half = math.sqrt(rest / bend)
    return True, middle, middle - half, middle + half, fx, fy


@inlined
def cut_slice(n, z, m, planes, ellipse, s, r):
    """The polygon of n corners in s cut by the ellipse, into r: corners, EMPTY or WHOLE."""
    w = (ellipse[2], ellipse[3], ellipse[4])
    tell_inside(n, -ellipse[0], -ellipse[1], w, s.x, s.y, s.label, r.inside)
    count = 0
    for k in range(n):
        j = k + 1 if k + 1 < n else 0
        q = s.label[k]
        if r.inside[k]:
            count = put_corner(count, s.x[k], 0.0, s.y[k], 0.0, q, r.x, r.y, r.xl, r.yl, r.label)
        if q < 0 or (r.inside[k] and r.inside[j]):
            continue
        nx = planes[q, 0]
        ny = planes[q, 1]
        crosses, middle, first, last, fx, fy = line_through(
            nx, ny, planes[q, 3] - planes[q, 2] * z, ellipse
        )
        if not r.inside[k] and not r.inside[j]:
            square = nx * nx + ny * ny
            start = (s.y[k] * nx - s.x[k] * ny) / square
            end = (s.y[j] * nx - s.x[j] * ny) / square
            if not crosses or middle <= start or middle >= end:
                continue
        if not r.inside[k]:
            x = fx - first * ny
            y = fy + first * nx
            count = put_corner(count, x, 0.0, y, 0.0, q, r.x, r.y, r.xl, r.yl, r.label)
        if not r.inside[j]:
            x = fx - last * ny
            y = fy + last * nx
            count = put_corner(count, x, 0.0, y, 0.0, ARC, r.x, r.y, r.xl, r.yl, r.label)
    if count == 0:
        for q in range(m):
            offset = planes[q, 3] - planes[q, 2] * z
            if planes[q, 0] * ellipse[0] + planes[q, 1] * ellipse[1] > offset:
                return EMPTY
        return WHOLE
    return count


@inlined
def slice_moments(z, m, planes, w, a, flat, s, r):
    """(log_scale, mass, first x, first y, polar) of one slice about the agent's axis."""
    found, ellipse = ellipse_at(z, w, a)
    if not found:
        return -math.inf, 0.0, 0.0, 0.0, 0.0
    n = polygon_at(z, m, planes, ellipse, s)
    if n == 0:
        return -math.inf, 0.0, 0.0, 0.0, 0.0
    corners = cut_slice(n, z, m, planes, ellipse, s, r)
    if corners == EMPTY:
        return -math.inf, 0.0, 0.0, 0.0, 0.0
    count = panels_of_cell(corners, 0.0, 0.0, ellipse, r)
    root = (ellipse[2], ellipse[3], ellipse[4])
    return ring_moments(count, 0.0, 0.0, flat, 0.0, 0.0, False, True, AMPLIFICATION, root, s, r)


@inner
def add_scaled(scale, total, more, part):
    """Add `part`, divided by exp(more), to `total`, divided by exp(scale); gives the new scale."""
    if more == -math.inf:
        return scale
    if more > scale:
        u = exponential(scale - more)
        for i in range(total.shape[0]):
            total[i] = u * total[i] + part[i]
        return more
    u = exponential(more - scale)
    for i in range(total.shape[0]):
        total[i] += u * part[i]
    return scale


@inlined
def piece_moments(z0, z1, m, planes, w, a, place, general, group, flat, s, r, part, sums):
    """Moments of the part of the cell between two heights into sums[0], by Gauss in sums[1].

    Gives their log_scale.
    """
    for i in range(5):
        sums[0, i] = 0.0
        sums[1, i] = 0.0
    scale = -math.inf
    length = z1 - z0
    for k in range(15):
        t = HEIGHT[k]
        z = z0 + length * (t * t * (3.0 - 2.0 * t))
        step = length * 6.0 * t * (1.0 - t)
        top = fill_slice(z, place, general, group, flat)
        more, mass, fx, fy, polar = slice_moments(z, m, planes, w, a, flat, s, r)
        if not mass > 0.0:
            continue
        more += top
        part[MASS] = mass
        part[FX] = fx
        part[FY] = fy
        part[FZ] = z * mass
        part[POLAR] = polar + z * z * mass
        for i in range(5):
            part[i] *= step * KRONROD[k]
        new = add_scaled(scale, sums[0], more, part)
        share = GAUSS[k] / KRONROD[k]
        for i in range(5):
            part[i] *= share
        add_scaled(scale, sums[1], more, part)
        scale = new
    return scale


@inner
def likely_error(gap):
    """The error of Kronrod's rule, from how far Gauss's is off: quickly less once that is small.

    Functions that are smooth within each piece would allow gap**1.6.
    """
    return smaller(gap, 20.0 * gap * math.sqrt(gap))


@inner
def error_of(sums):
    """How far the mass may be off; polar moments are looked at, too, by their own size."""
    mass = sums[0, MASS]
    polar = sums[0, POLAR]
    if not mass > 0.0:
        return 0.0
    gap = abs(mass - sums[1, MASS]) / mass
    if polar > 0.0:
        gap = larger(gap, abs(polar - sums[1, POLAR]) / polar)
    return mass * likely_error(gap)


@inner
def hill_breaks(count, place, general, breaks):
    """Heights round each narrow hill, too, so that no rule steps over it; gives how many now.

    Whatever a cell holds of a hill lies within a few widths of its center's height.
    """
    low = breaks[0]
    high = breaks[count - 1]
    for t in range(general.weights.shape[0]):
        steep = general.roots[t, 2, 2]
        if steep * (high - low) <= NARROW:
            continue
        middle = general.centers[t, 2] - place[2]
        for k in range(WIDTHS.shape[0]):
            z = middle + WIDTHS[k] / steep
            if low < z and z < high and count < breaks.shape[0]:
                breaks[count] = z
                count += 1
    breaks[:count].sort()
    return count


@inner
def sum_of_pieces(size, pieces, total):
    """All pieces together into `total`; gives the log_scale."""
    for i in range(total.shape[0]):
        total[i] = 0.0
    scale = -math.inf
    for k in range(size):
        scale = add_scaled(scale, total, pieces[k, 2], pieces[k, 3:9])
    return scale


@inlined
def cell_moments(
    m, planes, w, a, sigma, place, general, group, flat, breaks, shows, pieces, out, s, r
):
    """A cell between m planes in the ellipsoid: out = (mass, first x, y, z, polar, error of mass).

    place: the agent; sigma = 1 - |a|**2. Gives the log_scale, -inf for an empty cell, and in
    shows[k] whether plane k has a share of its boundary. breaks, pieces (rows, 9): room.
    """
    for i in range(6):
        out[i] = 0.0
    count = list_breaks(m, planes, w, a, sigma, breaks, shows)
    part = np.empty(5)
    sums = np.empty((2, 5))
    scale = -math.inf
    if count < 2:
        return scale
    count = hill_breaks(count, place, general, breaks)
    span = breaks[count - 1] - breaks[0]
    size = 0
    begin = breaks[0]
    for k in range(1, count):
        if breaks[k] - begin > SHORT * span:
            size = put_piece(size, begin, breaks[k], pieces)
            begin = breaks[k]
    for k in range(size):
        pieces[k, 2] = piece_moments(
            pieces[k, 0], pieces[k, 1], m, planes, w, a, place, general, group, flat, s, r, part,
            sums,
        )  # fmt: skip
        keep_piece(k, sums, pieces)
    scale = sum_of_pieces(size, pieces, out)
    made = 0
    before = -1
    # Round by round: what a piece's error is compared with grows as more of a hill comes to light.
    while made > before and out[MASS] > 0.0:
        before = made
        for k in range(size):
            error = pieces[k, 8] * exponential(smaller(700.0, pieces[k, 2] - scale))
            if error <= TOLERANCE * out[MASS] or made + 2 > MOST_PIECES:
                continue
            # Both halves instead: the first takes the place of the whole, the second goes last.
            z0 = pieces[k, 0]
            z1 = pieces[k, 1]
            middle = 0.5 * (z0 + z1)
            pieces[k, 1] = middle
            size = put_piece(size, middle, z1, pieces)
            made += 2
            for j in range(2):
                i = k if j == 0 else size - 1
                pieces[i, 2] = piece_moments(
                    pieces[i, 0], pieces[i, 1], m, planes, w, a, place, general, group, flat, s,
                    r, part, sums,
                )  # fmt: skip
                keep_piece(i, sums, pieces)
        scale = sum_of_pieces(size, pieces, out)
    if out[MASS] > 0.0 and scale != 0.0 and scale > SAFE_EXPONENT:
        u = exponential(scale)
        for i in range(6):
            out[i] *= u
        scale = 0.0
    return scale


@inner
def put_piece(size, z0, z1, pieces):
    """Write one more piece; gives how many there are."""
    pieces[size, 0] = z0
    pieces[size, 1] = z1
    return size + 1


@inner
def keep_piece(k, sums, pieces):
    """Note what a piece weighs, and its error."""
    for i in range(5):
        pieces[k, 3 + i] = sums[0, i]
    pieces[k, 8] = error_of(sums)
