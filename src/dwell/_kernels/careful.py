"""Thin cells once more, with twice the digits.

The corners of a cell carry rounding errors of the size of its length, which for a needle or a
sliver may exceed a share of its width. Who borders on the cell is known by then, so each corner is
computed again as the meeting of its two lines in double-double arithmetic (numbers h + l), and with
it what the moments need: the cross product of neighbouring corners.

A line is (ah, al, bh, bl, oh, ol): a x + b y = o in the agent's frame.
"""

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import product_error


@inner
def difference(a, b):
    """a - b exactly, as h + l (Knuth)."""
    h = a - b
    t = h - a
    return h, (a - (h - t)) - (b + t)


@inner
def add(ah, al, bh, bl):
    """(ah + al) + (bh + bl)."""
    h = ah + bh
    t = h - ah
    e = (ah - (h - t)) + (bh - t) + al + bl
    s = h + e
    return s, e - (s - h)


@inner
def times(ah, al, bh, bl):
    """(ah + al) (bh + bl)."""
    h = ah * bh
    e = product_error(ah, bh, h) + (ah * bl + al * bh)
    s = h + e
    return s, e - (s - h)


@inner
def cross_product(ah, al, bh, bl, ch, cl, dh, dl):
    """a d - b c."""
    ph, pl = times(ah, al, dh, dl)
    qh, ql = times(bh, bl, ch, cl)
    return add(ph, pl, -qh, -ql)


@inner
def quotient(ah, al, bh, bl):
    """(ah + al) / (bh + bl)."""
    q = ah / bh
    ph, pl = times(q, 0.0, bh, bl)
    rh, _ = add(ah, al, -ph, -pl)
    e = rh / bh
    s = q + e
    return s, e - (s - q)


@inner
def line_of(label, px, py, xs, ys, wx, wy):
    """The line behind an edge: a wall (label < 0) or the bisector with agent `label`."""
    if label >= 0:
        ah, al = difference(xs[label], px)
        bh, bl = difference(ys[label], py)
        ph, pl = times(ah, al, ah, al)
        qh, ql = times(bh, bl, bh, bl)
        oh, ol = add(ph, pl, qh, ql)
        return ah, al, bh, bl, 0.5 * oh, 0.5 * ol
    m = -1 - label
    k = m + 1 if m + 1 < wx.shape[0] else 0
    ah, al = difference(wy[k], wy[m])
    bh, bl = difference(wx[m], wx[k])
    vxh, vxl = difference(wx[m], px)
    vyh, vyl = difference(wy[m], py)
    oh, ol = cross_product(ah, al, bh, bl, -vyh, -vyl, vxh, vxl)
    return ah, al, bh, bl, oh, ol


@inner
def sharpen(n, px, py, xs, ys, wx, wy, label, x, y, xl, yl, k):
    """Compute the corners x + xl, y + yl of a cell again, and the cross products k of neighbours.

    Corners whose two lines do not meet stay as they are.
    """
    f = line_of(label[n - 1], px, py, xs, ys, wx, wy)
    for i in range(n):
        g = line_of(label[i], px, py, xs, ys, wx, wy)
        xl[i] = 0.0
        yl[i] = 0.0
        dh, dl = cross_product(f[0], f[1], f[2], f[3], g[0], g[1], g[2], g[3])
        if dh != 0.0:
            uh, ul = cross_product(f[4], f[5], f[2], f[3], g[4], g[5], g[2], g[3])
            vh, vl = cross_product(f[0], f[1], f[4], f[5], g[0], g[1], g[4], g[5])
            x[i], xl[i] = quotient(uh, ul, dh, dl)
            y[i], yl[i] = quotient(vh, vl, dh, dl)
        f = g
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        k[i], _ = cross_product(x[i], xl[i], y[i], yl[i], x[j], xl[j], y[j], yl[j])
