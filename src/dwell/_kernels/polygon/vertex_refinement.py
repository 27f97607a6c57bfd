"""Thin cells once more, with twice the digits.

The corners of a cell carry rounding errors of the size of its length, which for a needle or a
sliver may exceed a share of its width. Who borders on the cell is known by then, so each corner is
computed again as the meeting of its two lines in double-double arithmetic (numbers h + l), and with
it what the moments need: the cross product of neighbouring corners.

A line is (ah, al, bh, bl, oh, ol): a x + b y = o in the agent's frame.
"""

from dwell._kernels._jit import inner
from dwell._kernels.common.double_double import add, cross_product, difference, quotient, times

SOUND, LOST = -1, -2  # answers of `meet_lines` besides the place of a void line


@inner
def line_of(label, px, py, xs, ys, wx, wy):
    """The line behind an edge: a workspace edge (label < 0) or the bisector with agent `label`."""
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
def is_backward(f, i, j, x, y, xl, yl):
    """Whether the edge from corner i to j on line f runs clockwise, so that others cut it off."""
    return f[0] * ((y[j] - y[i]) + (yl[j] - yl[i])) < f[2] * ((x[j] - x[i]) + (xl[j] - xl[i]))


@inner
def meet_lines(m, edge, px, py, xs, ys, wx, wy, label, x, y, xl, yl):
    """Corners x + xl, y + yl where neighbours among the lines of m edges meet: SOUND, if they do.

    Else the place in `edge` of a line that does not bound the cell, or LOST: there is no cell.
    """
    last = line_of(label[edge[m - 1]], px, py, xs, ys, wx, wy)
    f = last
    for i in range(m):
        g = line_of(label[edge[i]], px, py, xs, ys, wx, wy)
        dh, dl = cross_product(f[0], f[1], f[2], f[3], g[0], g[1], g[2], g[3])
        if not dh > 0.0:  # no turn to the left: of two lines side by side the farther one is void
            along = f[0] * g[0] + f[2] * g[2]
            if not along > 0.0:
                return LOST
            before = i - 1 if i > 0 else m - 1
            return before if f[4] * along > g[4] * (f[0] * f[0] + f[2] * f[2]) else i
        uh, ul = cross_product(f[4], f[5], f[2], f[3], g[4], g[5], g[2], g[3])
        vh, vl = cross_product(f[0], f[1], f[4], f[5], g[0], g[1], g[4], g[5])
        x[i], xl[i] = quotient(uh, ul, dh, dl)
        y[i], yl[i] = quotient(vh, vl, dh, dl)
        if i > 0 and is_backward(f, i - 1, i, x, y, xl, yl):
            return i - 1
        f = g
    return m - 1 if is_backward(last, m - 1, 0, x, y, xl, yl) else SOUND


@inner
def sharpen(n, px, py, xs, ys, wx, wy, label, x, y, xl, yl, k, xh, edge):
    """Compute the corners x + xl, y + yl of a cell again, and the cross products k of neighbours.

    An edge that is there by rounding alone, such as one of two bisectors that hardly differ, has
    its ends in the wrong order. It shrinks to the point where the lines beside it meet. Gives
    whether the lines bound a cell; if not, x and y stay as they are. xh, edge: working memory.
    """
    for i in range(n):
        edge[i] = i
    m = n
    while True:
        void = meet_lines(m, edge, px, py, xs, ys, wx, wy, label, xh, k, xl, yl)
        if void == SOUND:
            break
        if void == LOST or m == 3:
            return False
        m -= 1
        for i in range(void, m):
            edge[i] = edge[i + 1]
    at = m
    for i in range(n - 1, -1, -1):  # from the end: no corner moves forward
        if at > 0 and edge[at - 1] == i:
            at -= 1
        c = at if at < m else 0
        x[i] = xh[c]
        y[i] = k[c]
        xl[i] = xl[c]
        yl[i] = yl[c]
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        k[i], _ = cross_product(x[i], xl[i], y[i], yl[i], x[j], xl[j], y[j], yl[j])
    return True
