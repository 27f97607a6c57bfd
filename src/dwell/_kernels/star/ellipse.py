"""Voronoi cells in an ellipse: polygons cut from a rectangle round it, cut by the ellipse.

The ellipse is {z: |W (z - c)| <= 1}, W upper triangular; seen from an agent at p, a point u goes to
W (u + g) with g = p - c. A cell is a ring of corners; the piece that leaves corner k is straight,
on the bisector with agent label[k] >= 0, or an arc of the ellipse, label[k] = ARC. Whether a corner
of the polygon lies in the ellipse is decided once, so that neighbouring edges agree whatever
rounding does. Corners on the ellipse come from their bisector in double-double arithmetic (numbers
h, l: see double_double.py), so that short arcs keep their digits.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.double_double import add, cross_product, difference, quotient, times
from dwell._kernels.polygon.vertex_refinement import is_ill_conditioned, refine_vertices
from dwell._kernels.star.facets import square_root

ARC = -1
EMPTY, WHOLE = 0, -2  # results of `cut_by_ellipse` besides a number of corners
MARGIN = 1.0625  # the rectangle round the ellipse is larger by this: its corners are clearly out


class Ring(NamedTuple):
    """The boundary of one cell, in the frame of its agent."""

    x: np.ndarray  # corners, counter-clockwise
    y: np.ndarray
    xl: np.ndarray  # what they were rounded by
    yl: np.ndarray
    label: np.ndarray  # what the piece from here to the next corner lies on
    inside: np.ndarray  # whether a corner of the polygon lies in the ellipse


def make_ring(agents: int) -> Ring:
    """Buffers for the cells of so many agents."""
    size = 2 * (agents + 4) + 16
    x, y, xl, yl = np.zeros((4, size))
    return Ring(x, y, xl, yl, np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_))


@inner
def whitened(w, xh, xl, yh, yl):
    """W (x, y) in double-double; w = (W11, W12, W22)."""
    ah, al = times(w[0], 0.0, xh, xl)
    bh, bl = times(w[1], 0.0, yh, yl)
    uh, ul = add(ah, al, bh, bl)
    vh, vl = times(w[2], 0.0, yh, yl)
    return uh, ul, vh, vl


@inner
def beyond(x, y, gx, gy, w):
    """How far the point (x, y) lies outside the ellipse: |W (z + g)|**2 - 1."""
    vy = y + gy
    a = w[0] * (x + gx) + w[1] * vy
    b = w[2] * vy
    return a * a + b * b - 1.0


@inner
def crossing(dxh, dxl, dyh, dyl, gxh, gxl, gyh, gyl, w):
    """The line with all points as near to (0, 0) as to d, against the ellipse.

    Return (crosses, middle, sh, sl, th, tl): it enters the ellipse at d / 2 + s e, and leaves it at
    d / 2 + t e, with e = d turned left; `middle` is halfway. Without crossing s = t = middle.
    """
    xh, xl = add(gxh, gxl, 0.5 * dxh, 0.5 * dxl)
    yh, yl = add(gyh, gyl, 0.5 * dyh, 0.5 * dyl)
    yxh, yxl, yyh, yyl = whitened(w, xh, xl, yh, yl)
    fxh, fxl, fyh, fyl = whitened(w, -dyh, -dyl, dxh, dxl)
    ph, pl = times(fxh, fxl, fxh, fxl)
    qh, ql = times(fyh, fyl, fyh, fyl)
    squareh, squarel = add(ph, pl, qh, ql)
    ph, pl = times(yxh, yxl, fxh, fxl)
    qh, ql = times(yyh, yyl, fyh, fyl)
    slopeh, slopel = add(ph, pl, qh, ql)
    ch, cl = cross_product(yxh, yxl, yyh, yyl, fxh, fxl, fyh, fyl)
    ph, pl = times(ch, cl, ch, cl)
    disch, discl = add(squareh, squarel, -ph, -pl)
    middle = -slopeh / squareh
    if disch <= 0.0:
        return False, middle, middle, 0.0, middle, 0.0
    rh, rl = square_root(disch, discl)
    ph, pl = add(-slopeh, -slopel, -rh, -rl)
    qh, ql = add(-slopeh, -slopel, rh, rl)
    sh, sl = quotient(ph, pl, squareh, squarel)
    th, tl = quotient(qh, ql, squareh, squarel)
    return True, middle, sh, sl, th, tl


@inner
def place_on_line(dxh, dxl, dyh, dyl, sh, sl):
    """d / 2 + s e, as (xh, xl, yh, yl)."""
    ph, pl = times(sh, sl, dyh, dyl)
    xh, xl = add(0.5 * dxh, 0.5 * dxl, -ph, -pl)
    ph, pl = times(sh, sl, dxh, dxl)
    yh, yl = add(0.5 * dyh, 0.5 * dyl, ph, pl)
    return xh, xl, yh, yl


@inner
def put_corner(m, xh, xl, yh, yl, label, ring_x, ring_y, ring_xl, ring_yl, ring_label):
    """Write corner m; return m + 1."""
    ring_x[m] = xh
    ring_y[m] = yh
    ring_xl[m] = xl
    ring_yl[m] = yl
    ring_label[m] = label
    return m + 1


@inner
def mark_inside(n, gx, gy, w, x, y, label, inside):
    """Which corners of the polygon lie in the ellipse; return how many.

    Those on the rectangle are out, whatever rounding says.
    """
    count = 0
    for k in range(n):
        before = label[k - 1] if k > 0 else label[n - 1]
        inside[k] = label[k] >= 0 and before >= 0 and beyond(x[k], y[k], gx, gy, w) <= 0.0
        if inside[k]:
            count += 1
    return count


@inner
def holds_centre(n, px, py, xs, ys, gx, gy, label):
    """Whether the ellipse's centre, at (-gx, -gy), is as near to the agent as to all others."""
    for k in range(n):
        if label[k] >= 0:
            dx = xs[label[k]] - px
            dy = ys[label[k]] - py
            if -(gx * dx + gy * dy) > 0.5 * (dx * dx + dy * dy):
                return False
    return True


@inlined
def cut_by_ellipse(n, px, py, xs, ys, ellipse, low, s, r):
    """The polygon of n corners in s.x, s.y (plus s.x2, s.y2 where `low`), cut by the ellipse.

    Leaves the corners in r; return how many, or EMPTY, or WHOLE for the whole ellipse.
    """
    cx, cy, w11, w12, w22 = ellipse
    w = (w11, w12, w22)
    gxh, gxl = difference(px, cx)
    gyh, gyl = difference(py, cy)
    mark_inside(n, gxh, gyh, w, s.x, s.y, s.label, r.inside)
    m = 0
    for k in range(n):
        j = k + 1 if k + 1 < n else 0
        q = s.label[k]
        if r.inside[k]:
            xl = s.x2[k] if low else 0.0
            yl = s.y2[k] if low else 0.0
            m = put_corner(m, s.x[k], xl, s.y[k], yl, q, r.x, r.y, r.xl, r.yl, r.label)
        if q < 0 or (r.inside[k] and r.inside[j]):
            continue
        dxh, dxl = difference(xs[q], px)
        dyh, dyl = difference(ys[q], py)
        crosses, middle, sh, sl, th, tl = crossing(dxh, dxl, dyh, dyl, gxh, gxl, gyh, gyl, w)
        if not r.inside[k] and not r.inside[j]:
            length = dxh * dxh + dyh * dyh
            first = (s.y[k] * dxh - s.x[k] * dyh) / length
            last = (s.y[j] * dxh - s.x[j] * dyh) / length
            if not crosses or middle <= first or middle >= last:
                continue
        if not r.inside[k]:
            xh, xl, yh, yl = place_on_line(dxh, dxl, dyh, dyl, sh, sl)
            m = put_corner(m, xh, xl, yh, yl, q, r.x, r.y, r.xl, r.yl, r.label)
        if not r.inside[j]:
            xh, xl, yh, yl = place_on_line(dxh, dxl, dyh, dyl, th, tl)
            m = put_corner(m, xh, xl, yh, yl, ARC, r.x, r.y, r.xl, r.yl, r.label)
    if m == 0:
        return WHOLE if holds_centre(n, px, py, xs, ys, gxh, gyh, s.label) else EMPTY
    return m


@inlined
def curved_cell(n, px, py, xs, ys, wx, wy, ellipse, s, r):
    """The polygon of n corners in s cut by the ellipse, with more digits if it is thin or small.

    Return (corners, whether digits were needed); corners may be EMPTY or WHOLE.
    """
    m = cut_by_ellipse(n, px, py, xs, ys, ellipse, False, s, r)
    if m <= 0 or not is_ill_conditioned(m, px, py, wx, wy, r.x, r.y):
        return m, False
    sharp = refine_vertices(
        n, px, py, xs, ys, wx, wy, s.label, s.x, s.y, s.x2, s.y2, s.fan, s.side, s.label2
    )
    if sharp:
        m = cut_by_ellipse(n, px, py, xs, ys, ellipse, True, s, r)
    return m, sharp
