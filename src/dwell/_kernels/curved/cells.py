"""Voronoi cells in an ellipse: polygons cut from a rectangle round it, cut by the ellipse.

A cell is a ring of corners; the piece that leaves corner k is straight, on the bisector with agent
label[k] >= 0, or an arc of the ellipse, label[k] = ARC. Whether a corner of the polygon lies in the
ellipse is decided once, so that neighbouring edges agree whatever rounding does. Corners on the
ellipse come from their bisector in double-double arithmetic, so that short arcs keep their digits.

For integration arcs are split into short ones ("panels"): then the cell is a convex polygon with
its corners on arcs and bisectors, plus one thin segment beyond the chord of each panel. Both count
positively, so that nothing cancels.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.careful import add, cross_product, difference, sharpen
from dwell._kernels.curved.ellipse import (
    beyond,
    crossing,
    half_chord,
    place_on_line,
    rise_of_chord,
    turned_right,
)
from dwell._kernels.look import needs_digits

ARC = -1
EMPTY, WHOLE = 0, -2  # answers of `cut_by_ellipse` besides a number of corners
STEEP = 0.7  # cosine of half the angle of an arc below which its middle is taken from the centre
BEND = 0.2  # tan(angle / 4) of a panel, at most: an eighth of a turn
SHORT = 1e-6  # half the chord of an arc, in the disc, that rounding might turn round
MARGIN = 1.0625  # the rectangle round the ellipse is larger by this: its corners are clearly out


class Ring(NamedTuple):
    """The boundary of one cell, in the frame of its agent."""

    x: np.ndarray  # corners, counter-clockwise
    y: np.ndarray
    xl: np.ndarray  # what they were rounded by
    yl: np.ndarray
    label: np.ndarray  # what the piece from here to the next corner lies on
    dx: np.ndarray  # from here to the next corner, where the piece is an arc
    dy: np.ndarray
    tau: np.ndarray  # tan(angle / 4) of that arc
    inside: np.ndarray  # whether a corner of the polygon lies in the ellipse
    pile: np.ndarray  # (rows, 4) arcs still to be split
    hill: np.ndarray  # (rows, 4) arcs whose segments are still to be integrated


def make_ring(agents: int) -> Ring:
    """Room for the cells of so many agents."""
    room = 4 * (agents + 4) + 64
    return Ring(
        x=np.zeros(room),
        y=np.zeros(room),
        xl=np.zeros(room),
        yl=np.zeros(room),
        label=np.zeros(room, dtype=np.int64),
        dx=np.zeros(room),
        dy=np.zeros(room),
        tau=np.zeros(room),
        inside=np.zeros(room, dtype=np.bool_),
        pile=np.zeros((64, 4)),
        hill=np.zeros((256, 4)),
    )


@inner
def put_corner(m, xh, xl, yh, yl, label, ring_x, ring_y, ring_xl, ring_yl, ring_label):
    """Write corner m; gives m + 1."""
    ring_x[m] = xh
    ring_y[m] = yh
    ring_xl[m] = xl
    ring_yl[m] = yl
    ring_label[m] = label
    return m + 1


@inner
def tell_inside(n, gx, gy, w, x, y, label, inside):
    """Which corners of the polygon lie in the ellipse; gives how many.

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

    Leaves the corners in r; gives how many, or EMPTY, or WHOLE for the whole ellipse.
    """
    cx, cy, w11, w12, w22 = ellipse
    w = (w11, w12, w22)
    gxh, gxl = difference(px, cx)
    gyh, gyl = difference(py, cy)
    tell_inside(n, gxh, gyh, w, s.x, s.y, s.label, r.inside)
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


@inner
def is_reversed(k, m, dx, dy, x, y):
    """Whether an arc that seems to exceed half a turn is in truth one of no length at all.

    Its ends may have changed places by rounding. The other corners then lie beyond its chord.
    """
    after = k + 1 if k + 1 < m else 0
    total = 0.0
    for i in range(m):
        if i != k and i != after:
            total += dx * (y[i] - y[k]) - dy * (x[i] - x[k])
    return total < 0.0


@inner
def measure_arcs(m, x, y, xl, yl, label, dx, dy):
    """The chords of all arcs, with the digits that the corners' low parts have."""
    for k in range(m):
        if label[k] == ARC:
            j = k + 1 if k + 1 < m else 0
            dx[k], _ = add(x[j], xl[j], -x[k], -xl[k])
            dy[k], _ = add(y[j], yl[j], -y[k], -yl[k])


@inner
def push(top, ax, ay, dx, dy, pile):
    """Put an arc from a to a + d on the pile; gives its new size."""
    pile[top, 0] = ax
    pile[top, 1] = ay
    pile[top, 2] = dx
    pile[top, 3] = dy
    return top + 1


@inner
def split_arc(top, ax, ay, dx, dy, rise, half, gx, gy, w, pile):
    """Put both halves of an arc on the pile, the first on top.

    Wide arcs take their middle from the centre, short ones from their chord: each without loss.
    """
    kx, ky = turned_right(dx, dy, w)
    if rise < STEEP:
        ex = (0.5 * kx / half - gx) - ax
        ey = (0.5 * ky / half - gy) - ay
    else:
        tau = half / (1.0 + rise)
        ex = 0.5 * (dx + tau * kx)
        ey = 0.5 * (dy + tau * ky)
    top = push(top, ax + ex, ay + ey, dx - ex, dy - ey, pile)
    return push(top, ax, ay, ex, ey, pile)


@inlined
def lay_arc(m, top, ellipse, gx, gy, low_x, low_y, r):
    """Split the arcs on the pile into panels, from corner m on; gives the number of corners.

    (low_x, low_y): what the first corner was rounded by.
    """
    w = (ellipse[2], ellipse[3], ellipse[4])
    while top > 0:
        top -= 1
        ax = r.pile[top, 0]
        ay = r.pile[top, 1]
        dx = r.pile[top, 2]
        dy = r.pile[top, 3]
        half = half_chord(dx, dy, w)
        if not half > 0.0:
            continue
        rise = rise_of_chord(ax, ay, dx, dy, gx, gy, w)
        tau = half / (1.0 + rise)
        if not tau <= BEND and top + 2 <= r.pile.shape[0]:
            top = split_arc(top, ax, ay, dx, dy, rise, half, gx, gy, w, r.pile)
        else:
            put_corner(m, ax, low_x, ay, low_y, ARC, r.x, r.y, r.xl, r.yl, r.label)
            r.dx[m] = dx
            r.dy[m] = dy
            r.tau[m] = tau
            m += 1
            low_x = 0.0
            low_y = 0.0
    return m


@inlined
def panels_of_ellipse(ellipse, gx, gy, r):
    """The whole ellipse as panels; gives how many."""
    w11, w12, w22 = ellipse[2], ellipse[3], ellipse[4]
    up_x = -w12 / (w11 * w22)  # W up = (0, 1)
    up_y = 1.0 / w22
    right = 1.0 / w11
    top = push(0, -gx - up_x, -gy - up_y, right + up_x, up_y, r.pile)
    top = push(top, -gx - right, -gy, right - up_x, -up_y, r.pile)
    top = push(top, up_x - gx, up_y - gy, -right - up_x, -up_y, r.pile)
    top = push(top, right - gx, -gy, up_x - right, up_y, r.pile)
    return lay_arc(0, top, ellipse, gx, gy, 0.0, 0.0, r)


@inlined
def panels_of_cell(m, px, py, ellipse, r):
    """Replace the arcs of the ring of m corners by panels; gives the number of corners.

    m may be WHOLE. The ring is first moved to the end of its own arrays, out of the way.
    """
    gx = px - ellipse[0]
    gy = py - ellipse[1]
    if m == WHOLE:
        return panels_of_ellipse(ellipse, gx, gy, r)
    measure_arcs(m, r.x, r.y, r.xl, r.yl, r.label, r.dx, r.dy)
    w = (ellipse[2], ellipse[3], ellipse[4])
    at = r.x.shape[0] - m
    for k in range(m):
        r.tau[k] = 0.0
        if r.label[k] == ARC and 0.0 < half_chord(r.dx[k], r.dy[k], w) < SHORT:
            rise = rise_of_chord(r.x[k], r.y[k], r.dx[k], r.dy[k], gx, gy, w)
            if rise < 0.0 and is_reversed(k, m, r.dx[k], r.dy[k], r.x, r.y):
                r.dx[k] = 0.0
                r.dy[k] = 0.0
    for k in range(m - 1, -1, -1):
        put_corner(
            at + k, r.x[k], r.xl[k], r.y[k], r.yl[k], r.label[k], r.x, r.y, r.xl, r.yl, r.label
        )
        r.dx[at + k] = r.dx[k]
        r.dy[at + k] = r.dy[k]
    count = 0
    for k in range(at, at + m):
        if r.label[k] == ARC:
            top = push(0, r.x[k], r.y[k], r.dx[k], r.dy[k], r.pile)
            count = lay_arc(count, top, ellipse, gx, gy, r.xl[k], r.yl[k], r)
        else:
            count = put_corner(
                count, r.x[k], r.xl[k], r.y[k], r.yl[k], r.label[k], r.x, r.y, r.xl, r.yl, r.label
            )
    return count


@inlined
def curved_cell(n, px, py, xs, ys, wx, wy, ellipse, s, r):
    """The polygon of n corners in s cut by the ellipse, with more digits if it is thin or small.

    Gives (corners, whether digits were needed); corners may be EMPTY or WHOLE.
    """
    m = cut_by_ellipse(n, px, py, xs, ys, ellipse, False, s, r)
    if m <= 0 or not needs_digits(m, px, py, wx, wy, r.x, r.y):
        return m, False
    sharp = sharpen(
        n, px, py, xs, ys, wx, wy, s.label, s.x, s.y, s.x2, s.y2, s.fan, s.side, s.label2
    )
    if sharp:
        m = cut_by_ellipse(n, px, py, xs, ys, ellipse, True, s, r)
    return m, sharp


@inner
def spread_exact_fan(m, x, y, xl, yl, fan):
    """Cross products of neighbouring corners, low parts included."""
    for i in range(m):
        j = i + 1 if i + 1 < m else 0
        fan[i], _ = cross_product(x[i], xl[i], y[i], yl[i], x[j], xl[j], y[j], yl[j])
