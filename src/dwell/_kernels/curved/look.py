"""What an agent gets from one look in an ellipse, and the borders of its cell."""

import math

from dwell._kernels._jit import inlined, inner, njit, spliced
from dwell._kernels.arithmetic import exponential
from dwell._kernels.borders import (
    AGENT,
    AX,
    AY,
    BX,
    BY,
    COUNT,
    ERROR_X,
    ERROR_Y,
    FIRST,
    FULL,
    LOG_SCALE,
    MASS,
    MX,
    MXX,
    MXY,
    MY,
    MYY,
    OTHER,
    STATUS,
    M,
    integrate_border,
)
from dwell._kernels.cells import COINCIDENT, farthest, voronoi_cell
from dwell._kernels.curved.cells import ARC, curved_cell, panels_of_cell, spread_exact_fan
from dwell._kernels.curved.contour import hill_by_contour
from dwell._kernels.curved.ellipse import beyond
from dwell._kernels.curved.hills import hill_segments
from dwell._kernels.curved.segments import constant_segment, polynomial_segment
from dwell._kernels.gaussian_edges import AMPLIFICATION
from dwell._kernels.guaranteed import joined
from dwell._kernels.lattice import lattice_moments
from dwell._kernels.look import NO_MASS, count_neighbors
from dwell._kernels.moments import SAFE_EXPONENT, has_negative, polygon_moments, spread_fan
from dwell._kernels.terms import Terms

# Columns of what `look_many` gives: as in doors.py, and the second moment about the centroid.
ROW_STATUS, ROW_X, ROW_Y, ROW_SCALE, ROW_MASS, ROW_POLAR, NEIGHBORS, NEAREST, SECOND = range(9)
COLUMNS = 9

SAFE_SHARE = 0.25  # of the polar moment: below, the one about the centroid is integrated by itself
CLEARLY = 1e-9  # |W (p - c)|**2 - 1 from which an agent counts as outside, not as on the boundary


@inlined
def constant_segments(m, level, px, py, w, r):
    """Moments about (px, py) of a constant density over all segments."""
    total = (0.0, 0.0, 0.0, 0.0)
    for k in range(m):
        if r.label[k] == ARC:
            a, b, c, d = constant_segment(r.x[k], r.y[k], r.dx[k], r.dy[k], r.tau[k], px, py, w)
            total = (
                total[0] + level * a,
                total[1] + level * b,
                total[2] + level * c,
                total[3] + level * d,
            )
    return total


@inlined
def segment_moments(m, x0, y0, terms, px, py, w, s, r):
    """(log_scale, moments about (px, py)) of all segments of the ring of m panels and edges."""
    scale = -math.inf
    total = (0.0, 0.0, 0.0, 0.0)
    if terms.constant > 0.0:
        scale = 0.0
        total = constant_segments(m, terms.constant, px, py, w, r)
    for t in range(terms.polynomials.shape[0]):
        ox = x0 - terms.origins[t, 0]
        oy = y0 - terms.origins[t, 1]
        for k in range(m):
            if r.label[k] == ARC:
                a, b, c, d = polynomial_segment(
                    terms.polynomials[t], ox, oy, r.x[k], r.y[k], r.dx[k], r.dy[k], r.tau[k],
                    px, py, w,
                )  # fmt: skip
                scale, total = joined(scale, total, 0.0, 1.0, a, b, c, d)
    for t in range(terms.gaussians.shape[0]):
        more, part = hill_segments(m, terms.gaussians, t, x0, y0, px, py, w, s, r)
        scale, total = joined(scale, total, more, 1.0, part[0], part[1], part[2], part[3])
    return scale, total


@inlined
def hills_by_contour(m, x0, y0, terms, most, w, s, r):
    """(whether it is good, log_scale, moments about (0, 0)) of all hills; most: amplification."""
    scale = -math.inf
    total = (0.0, 0.0, 0.0, 0.0)
    rho = math.sqrt(farthest(m, r.x, r.y))
    for t in range(terms.gaussians.shape[0]):
        grown, more, a, b, c, d = hill_by_contour(m, rho, terms.gaussians, t, x0, y0, w, s, r)
        if not grown <= most:
            return False, scale, total
        scale, total = joined(scale, total, more, 1.0, a, b, c, d)
    return True, scale, total


@inner
def has_arcs(m, label):
    """Whether a ring has arcs at all."""
    for k in range(m):
        if label[k] == ARC:
            return True
    return False


@inlined
def ring_moments(m, x0, y0, terms, px, py, sharp, outside, most, w, s, r):
    """(log_scale, mass, first x, first y, polar) about (px, py) of the ring of m panels and edges.

    The polygon of all corners, plus the segments. Hills may go by the boundary instead, where
    rounding errors do not grow by more than `most` and (px, py) is (0, 0). The last four are
    divided by exp(log_scale), which is 1 unless the density is out of reach of doubles. outside:
    whether the agent stands clearly outside the ellipse.
    """
    hills = terms.gaussians.shape[0]
    scale = -math.inf
    total = (0.0, 0.0, 0.0, 0.0)
    by_contour = hills > 0 and px == 0.0 and py == 0.0 and not sharp and has_arcs(m, r.label)
    if by_contour:
        by_contour, scale, total = hills_by_contour(m, x0, y0, terms, most, w, s, r)
    rest = terms
    if by_contour:
        rest = Terms(
            terms.constant, terms.polynomials, terms.origins, terms.gaussians[:0], terms.lattice,
            terms.frame,
        )  # fmt: skip
    else:
        scale = -math.inf
        total = (0.0, 0.0, 0.0, 0.0)
    if rest.gaussians.shape[0] > 0 or rest.constant > 0.0 or rest.polynomials.shape[0] > 0:
        more, part = segment_moments(m, x0, y0, rest, px, py, w, s, r)
        if more > -math.inf:
            scale, total = joined(scale, total, more, 1.0, part[0], part[1], part[2], part[3])
        if m > 2:
            for k in range(m):
                s.x[k] = r.x[k]
                s.y[k] = r.y[k]
            if sharp:
                spread_exact_fan(m, r.x, r.y, r.xl, r.yl, s.fan)
            else:
                # An agent beyond a chord has one negative triangle, less than the segment it
                # stands in: better than another apex, whose frame would be rounded.
                spread_fan(m, r.x, r.y, s.fan)
                sharp = has_negative(m, s.fan) and not outside
            more, a, b, c, d = polygon_moments(m, x0, y0, rest, px, py, sharp, s)
            scale, total = joined(scale, total, more, 1.0, a, b, c, d)
    if scale > SAFE_EXPONENT and scale != 0.0:
        u = exponential(scale)
        total = (u * total[0], u * total[1], u * total[2], u * total[3])
        scale = 0.0
    return scale, total[0], total[1], total[2], total[3]


@spliced
def look(p, xs, ys, wx, wy, ellipse, terms, more, s, r):
    """(status, error x, error y, log_scale, mass, polar, neighbors, nearest squared, second).

    As in dwell._kernels.look, in the ellipse; second: polar moment about the centroid, with all its
    digits if `more`.
    Without mass the error is 0.
    """
    px = xs[p]
    py = ys[p]
    n, looked, nearest = voronoi_cell(p, px, py, xs, ys, wx, wy, s)
    if n == COINCIDENT:
        return COINCIDENT, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0
    log_scale = m = fx = fy = polar = second = 0.0
    neighbors = 0
    if n > 0 and terms.lattice.shape[0] > 0:
        m, fx, fy, polar = lattice_moments(n, p, xs, ys, terms, looked, s)
        if m > 0.0:
            second = polar - (fx / m * fx + fy / m * fy)
    corners = 0
    sharp = False
    if n > 0:
        corners, sharp = curved_cell(n, px, py, xs, ys, wx, wy, ellipse, s, r)
        neighbors = count_neighbors(corners, r.label)
    if corners != 0 and terms.lattice.shape[0] == 0:
        w = (ellipse[2], ellipse[3], ellipse[4])
        count = panels_of_cell(corners, px, py, ellipse, r)
        outside = beyond(0.0, 0.0, px - ellipse[0], py - ellipse[1], w) > CLEARLY
        log_scale, m, fx, fy, polar = ring_moments(
            count, px, py, terms, 0.0, 0.0, sharp, outside, AMPLIFICATION, w, s, r
        )
        if m > 0.0:
            second = polar - (fx / m * fx + fy / m * fy)
        if more and second < SAFE_SHARE * polar:
            _, _, _, _, second = ring_moments(
                count, px, py, terms, fx / m, fy / m, sharp, outside, AMPLIFICATION, w, s, r
            )
    if m > 0.0:
        return 0, fx / m, fy / m, log_scale, m, polar, neighbors, nearest, second
    return NO_MASS, 0.0, 0.0, 0.0, 0.0, 0.0, neighbors, nearest, 0.0


@njit
def look_many(lo, hi, row, agent, x, y, wx, wy, ellipse, terms, more, out, s, r):
    """Looks lo..hi: agent[k] looks in configuration row[k] of the tables x, y (rows, agents)."""
    for k in range(lo, hi):
        i = row[k]
        status, ex, ey, scale, m, polar, neighbors, d2, second = look(
            agent[k], x[i], y[i], wx, wy, ellipse, terms, more, s, r
        )
        out[k, ROW_STATUS] = status
        out[k, ROW_X] = ex
        out[k, ROW_Y] = ey
        out[k, ROW_SCALE] = scale
        out[k, ROW_MASS] = m
        out[k, ROW_POLAR] = polar
        out[k, NEIGHBORS] = neighbors
        out[k, NEAREST] = d2
        out[k, SECOND] = second


@njit
def corners_of(p, xs, ys, wx, wy, ellipse, split, s, r):
    """The cell of agent p into r: (corners, agents looked at).

    corners may be EMPTY, WHOLE or COINCIDENT; with `split`, arcs come as panels.
    """
    px = xs[p]
    py = ys[p]
    n, looked, _ = voronoi_cell(p, px, py, xs, ys, wx, wy, s)
    if n <= 0:
        return (COINCIDENT if n == COINCIDENT else 0), looked
    m, _ = curved_cell(n, px, py, xs, ys, wx, wy, ellipse, s, r)
    if split and m != 0:
        m = panels_of_cell(m, px, py, ellipse, r)
    return m, looked


@njit
def borders_of(lo, hi, xs, ys, wx, wy, ellipse, terms, cells, rows, s, r):
    """Cells lo..hi into `cells`, their straight borders one after another into `rows`.

    Columns as in dwell._kernels.borders. Gives how many rows were filled, or FULL.
    """
    filled = 0
    for p in range(lo, hi):
        px = xs[p]
        py = ys[p]
        status, ex, ey, log_scale, mass, _, _, _, _ = look(
            p, xs, ys, wx, wy, ellipse, terms, False, s, r
        )
        cells[p, STATUS] = status
        cells[p, ERROR_X] = ex
        cells[p, ERROR_Y] = ey
        cells[p, LOG_SCALE] = log_scale
        cells[p, MASS] = mass
        cells[p, FIRST] = filled
        cells[p, COUNT] = 0
        if status == COINCIDENT:
            continue
        n, _, _ = voronoi_cell(p, px, py, xs, ys, wx, wy, s)
        corners = 0
        if n > 0:
            corners, _ = curved_cell(n, px, py, xs, ys, wx, wy, ellipse, s, r)
        for k in range(corners):
            if r.label[k] >= 0:
                if filled == rows.shape[0]:
                    return FULL
                j = k + 1 if k + 1 < corners else 0
                ax = r.x[k]
                ay = r.y[k]
                bx = r.x[j]
                by = r.y[j]
                m, mx, my, mxx, mxy, myy = integrate_border(
                    ax, ay, bx, by, px, py, log_scale, terms
                )
                rows[filled, AGENT] = p
                rows[filled, OTHER] = r.label[k]
                rows[filled, AX] = ax
                rows[filled, AY] = ay
                rows[filled, BX] = bx
                rows[filled, BY] = by
                rows[filled, M] = m
                rows[filled, MX] = mx
                rows[filled, MY] = my
                rows[filled, MXX] = mxx
                rows[filled, MXY] = mxy
                rows[filled, MYY] = myy
                filled += 1
                cells[p, COUNT] += 1
    return filled
