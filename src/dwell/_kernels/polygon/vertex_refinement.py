"""Vertices of thin cells, computed again with twice the digits.

The vertices of a cell carry rounding errors of the size of its length, which for a needle or a
sliver may exceed a share of its width. The neighbours are known by then, so each vertex is
computed again as the meeting of its two lines in double-double arithmetic (numbers h + l), and with
it what the moments need: the cross product of neighbouring vertices.

A line is (ah, al, bh, bl, oh, ol): a x + b y = o in the agent's frame.
"""

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.arithmetic import (
    add,
    cross_product,
    difference,
    larger,
    quotient,
    range_of,
    smaller,
    times,
)

SOUND, LOST = -1, -2  # results of `meet_lines` besides the index of a void line
THIN = 0.01  # area over squared length of the cell: below, vertices need more digits
SMALL = 1e-6  # area over squared reach of the workspace: below, vertices need more digits


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
    """Whether the edge from vertex i to j on line f runs clockwise, so that others cut it off."""
    return f[0] * ((y[j] - y[i]) + (yl[j] - yl[i])) < f[2] * ((x[j] - x[i]) + (xl[j] - xl[i]))


@inner
def meet_lines(m, edge, px, py, xs, ys, wx, wy, label, x, y, xl, yl):
    """Vertices x + xl, y + yl where neighbours among the lines of m edges meet: SOUND, if they do.

    Else the index in `edge` of a line that does not bound the cell, or LOST: there is no cell.
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
def refine_vertices(n, px, py, xs, ys, wx, wy, label, x, y, xl, yl, k, xh, edge):
    """Compute the vertices x + xl, y + yl of a cell again, and the cross products k of neighbours.

    An edge that is there by rounding alone, such as one of two bisectors that hardly differ, has
    its ends in the wrong order. It shrinks to the point where the lines beside it meet. Returns
    whether the lines bound a cell; if not, x and y stay as they are. xh, edge: buffers.
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
    for i in range(n - 1, -1, -1):  # from the end: no vertex moves forward
        if at > 0 and edge[at - 1] == i:
            at -= 1
        c = at if at < m else 0
        x[i], y[i] = xh[c], k[c]
        xl[i], yl[i] = xl[c], yl[c]
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        k[i], _ = cross_product(x[i], xl[i], y[i], yl[i], x[j], xl[j], y[j], yl[j])
    return True


@inner
def is_ill_conditioned(n, px, py, wx, wy, x, y):
    """Whether a cell is so thin, or so small in its workspace, that rounding shows."""
    left, right = range_of(n, x)
    low, high = range_of(n, y)
    area = 0.0
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        area += 0.5 * (x[i] * y[j] - x[j] * y[i])
    length = (right - left) * (right - left) + (high - low) * (high - low)
    span = 0.0
    for k in range(wx.shape[0]):
        span = larger(span, (wx[k] - px) * (wx[k] - px) + (wy[k] - py) * (wy[k] - py))
    return area < THIN * length or area < SMALL * span


@inlined
def refine_if_thin(n, px, py, xs, ys, wx, wy, s):
    """Refine the vertices of a thin or small cell in `s`; return whether s.fan is then filled.

    It is not for an agent outside its own cell, whose triangles would count with both signs.
    """
    if not is_ill_conditioned(n, px, py, wx, wy, s.x, s.y):
        return False
    if not refine_vertices(
        n, px, py, xs, ys, wx, wy, s.label, s.x, s.y, s.x2, s.y2, s.fan, s.side, s.label2
    ):
        return False
    total = least = 0.0
    for i in range(n):
        total += s.fan[i]
        least = smaller(least, s.fan[i])
    return least > -1e-3 * total
