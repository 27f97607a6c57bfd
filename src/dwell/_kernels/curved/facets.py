"""Integrals over the flat faces of cells in an ellipsoid of space: what derivatives are made of.

A face lies in the bisector of two agents: a convex polygon cut by an ellipse. It is cut into lines
(see facet_lines.py), along which the moments are integrated to rounding; what is left is an
integral over t, done as in slices.py, with breaks round narrow hills: see facet_hills.py.
"""

import math

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import exponential, larger, smaller
from dwell._kernels.borders import SPAN, reach_of
from dwell._kernels.curved.facet_hills import hill_breaks, whitened
from dwell._kernels.curved.facet_lines import (
    breaks_of,
    dot,
    frame_of,
    line_at,
    lines_in,
    to_ball,
)
from dwell._kernels.curved.slices import GAUSS, HEIGHT, KRONROD, SHORT, likely_error
from dwell._kernels.quadrature import PANEL_NODES, PANEL_WEIGHTS

MOMENTS = 10  # 1, x, y, z, xx, xy, xz, yy, yz, zz
TOLERANCE = 1e-11  # error per piece, of the face's weight
MOST_PIECES = 200


@inner
def plain_at(x, y, z, place, general):
    """The constant and the monomials at `place` + (x, y, z)."""
    value = general.constant
    for k in range(general.coefficients.shape[0]):
        v = general.coefficients[k]
        dx = (place[0] - general.origins[k, 0]) + x
        dy = (place[1] - general.origins[k, 1]) + y
        dz = (place[2] - general.origins[k, 2]) + z
        for _ in range(general.powers[k, 0]):
            v *= dx
        for _ in range(general.powers[k, 1]):
            v *= dy
        for _ in range(general.powers[k, 2]):
            v *= dz
        value += v
    return value


@inner
def add_moments(v, x, y, z, out):
    """Add a weight at (x, y, z)."""
    out[0] += v
    out[1] += v * x
    out[2] += v * y
    out[3] += v * z
    out[4] += v * x * x
    out[5] += v * x * y
    out[6] += v * x * z
    out[7] += v * y * y
    out[8] += v * y * z
    out[9] += v * z * z


@inner
def add_plain_line(p, d, factor, place, general, out):
    """Add the constant and the monomials along p + r d, 0 <= r <= 1."""
    for i in range(16):
        r = PANEL_NODES[i]
        x = p[0] + r * d[0]
        y = p[1] + r * d[1]
        z = p[2] + r * d[2]
        v = PANEL_WEIGHTS[i] * factor * plain_at(x, y, z, place, general)
        add_moments(v, x, y, z, out)


@inner
def add_hill_line(t, p, d, factor, log_scale, place, general, out):
    """Add hill t along p + r d: as in dwell._kernels.borders."""
    root = general.roots[t]
    g = whitened(
        root,
        (place[0] - general.centers[t, 0]) + p[0],
        (place[1] - general.centers[t, 1]) + p[1],
        (place[2] - general.centers[t, 2]) + p[2],
    )
    e = whitened(root, d[0], d[1], d[2])
    square = dot(e, e)
    tilt = dot(g, e)
    top = smaller(1.0, larger(0.0, -tilt / square)) if square > 0.0 else 0.0
    slope = tilt + top * square
    first = larger(0.0, top - reach_of(larger(0.0, -slope), square))
    last = smaller(1.0, top + reach_of(larger(0.0, slope), square))
    steepest = larger(abs(tilt + first * square), abs(tilt + last * square))
    panels = int(2.0 * steepest * (last - first) / SPAN) + 1
    width = (last - first) / panels
    for k in range(panels):
        for i in range(16):
            r = first + (k + PANEL_NODES[i]) * width
            h = (g[0] + r * e[0], g[1] + r * e[1], g[2] + r * e[2])
            v = PANEL_WEIGHTS[i] * width * factor * general.weights[t]
            v *= exponential(-dot(h, h) - log_scale)
            add_moments(v, p[0] + r * d[0], p[1] + r * d[1], p[2] + r * d[2], out)


@inner
def line_moments(p, d, factor, log_scale, place, general, out):
    """Moments of the density along p + r d times `factor`, into `out`."""
    for i in range(MOMENTS):
        out[i] = 0.0
    if general.constant != 0.0 or general.coefficients.shape[0] > 0:
        add_plain_line(p, d, factor * exponential(-log_scale), place, general, out)
    for t in range(general.weights.shape[0]):
        add_hill_line(t, p, d, factor, log_scale, place, general, out)


@inner
def piece_of_face(t0, t1, count, lines, a, b, c, foot, e, f, log_scale, place, general, part, row):
    """The face between two values of t into row[2:12], with how far it may be off in row[12]."""
    length = t1 - t0
    row[0] = t0
    row[1] = t1
    row[2:13] = 0.0
    coarse = 0.0
    for k in range(15):
        r = HEIGHT[k]
        t = t0 + length * (r * r * (3.0 - 2.0 * r))
        found, low, high = line_at(t, count, lines, a, b, c)
        if found:
            step = length * 6.0 * r * (1.0 - r) * (high - low)
            p = (
                foot[0] + low * e[0] + t * f[0],
                foot[1] + low * e[1] + t * f[1],
                foot[2] + low * e[2] + t * f[2],
            )
            d = ((high - low) * e[0], (high - low) * e[1], (high - low) * e[2])
            line_moments(p, d, step, log_scale, place, general, part)
            for i in range(MOMENTS):
                row[2 + i] += KRONROD[k] * part[i]
            coarse += GAUSS[k] * part[0]
    if row[2] > 0.0:
        gap = abs(row[2] - coarse) / row[2]
        row[12] = row[2] * likely_error(gap)


@njit
def facet_moments(i, m, planes, w, a0, place, general, log_scale, lines, breaks, pieces, out):
    """Moments of the density over the face in plane i of the cell between m planes, into `out`.

    Divided by exp(log_scale). Gives a guess of the error of the first. lines (m, 3), breaks and
    pieces (rows, 13): room.
    """
    out[:] = 0.0
    n = (planes[i, 0], planes[i, 1], planes[i, 2])
    size = math.sqrt(dot(n, n))
    scale = planes[i, 3] / dot(n, n)
    foot = (scale * n[0], scale * n[1], scale * n[2])
    e, f = frame_of(n[0] / size, n[1] / size, n[2] / size)
    a = to_ball(e, w)
    b = to_ball(f, w)
    c = to_ball(foot, w)
    c = (c[0] + a0[0], c[1] + a0[1], c[2] + a0[2])
    count = lines_in(i, m, planes, foot, e, f, lines)
    if count < 0:
        return 0.0
    ends = breaks_of(count, lines, a, b, c, breaks)
    if ends < 2:
        return 0.0
    ends = hill_breaks(ends, foot, e, f, count, lines, a, b, c, place, general, breaks)
    part = np.empty(MOMENTS)
    span = breaks[ends - 1] - breaks[0]
    filled = 0
    begin = breaks[0]
    total = 0.0
    for k in range(1, ends):
        if breaks[k] - begin > SHORT * span:
            piece_of_face(
                begin, breaks[k], count, lines, a, b, c, foot, e, f, log_scale, place, general,
                part, pieces[filled],
            )  # fmt: skip
            total += pieces[filled, 2]
            begin = breaks[k]
            filled += 1
    made = 0
    before = -1
    # Round by round: what a piece's error is compared with grows as more of a hill comes to light.
    while made > before:
        before = made
        for k in range(filled):
            if pieces[k, 12] <= TOLERANCE * total or made + 2 > MOST_PIECES:
                continue
            t0 = pieces[k, 0]
            t1 = pieces[k, 1]
            middle = 0.5 * (t0 + t1)
            for row in (k, filled):
                piece_of_face(
                    t0 if row == k else middle, middle if row == k else t1, count, lines, a, b, c,
                    foot, e, f, log_scale, place, general, part, pieces[row],
                )  # fmt: skip
            filled += 1
            made += 2
        total = 0.0
        for k in range(filled):
            total += pieces[k, 2]
    error = 0.0
    for k in range(filled):
        for q in range(MOMENTS):
            out[q] += pieces[k, 2 + q]
        error += pieces[k, 12]
    return error
