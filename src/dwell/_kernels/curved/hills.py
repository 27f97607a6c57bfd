"""Moments of a Gaussian over the segments between panels and their chords.

A segment on which the exponent ranges too far is split: into the triangle between its chord and the
middle of its arc, which gaussian.py integrates, and two segments a quarter as high. All parts are
positive. Parts that weigh nothing are dropped.
"""

import math

from dwell._kernels._jit import inlined, inner
from dwell._kernels.arithmetic import exponential, larger, smaller
from dwell._kernels.curved.cells import ARC, push
from dwell._kernels.curved.ellipse import half_chord, turned_right
from dwell._kernels.curved.segments import panel_point, segment_scale
from dwell._kernels.gaussian import COUNT, NEGLIGIBLE, RANGE, gaussian_triangle
from dwell._kernels.moments import SAFE_EXPONENT
from dwell._kernels.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS

SPAN = 7.0  # range of the exponent along a panel that 16 nodes integrate to rounding
HEIGHT = 3.9  # the same across it, for 12 nodes
RISE = 200.0  # e-folds above the first guess of the largest value after which sums are rescaled


@inner
def exponent_at(x, y, q):
    """-(x, y)' Q (x, y)."""
    return -((q[0] * x + 2.0 * q[1] * y) * x + q[2] * y * y)


@inner
def edge_top(ax, ay, dx, dy, q):
    """Largest exponent on the segment from a to a + d, seen from the peak."""
    bend = -exponent_at(dx, dy, q)
    slope = (q[0] * ax + q[1] * ay) * dx + (q[1] * ax + q[2] * ay) * dy
    t = smaller(1.0, larger(0.0, -slope / bend)) if bend > 0.0 else 0.0
    return exponent_at(ax + t * dx, ay + t * dy, q)


@inner
def nodes_across(span):
    """Nodes for a range of the exponent across a segment."""
    for i in range(RANGE.shape[0]):
        if span <= RANGE[i]:
            return COUNT[i]
    return COUNT[RANGE.shape[0] - 1]


@inner
def shape_of_segment(mx, my, dx, dy, kx, ky, tau, q):
    """How the exponent varies on a segment, (mx, my) from the peak to the middle of its chord.

    Gives (attained, bound, range along, range across): a value that it takes, one that it nowhere
    exceeds, being concave: the segment lies in the triangle of its chord and its end tangents.
    """
    hx = q[0] * mx + q[1] * my
    hy = q[1] * mx + q[2] * my
    middle = -(hx * mx + hy * my)
    along = abs(hx * dx + hy * dy)  # half the chord, slope -2 h
    outward = -(hx * kx + hy * ky)
    square_d = -exponent_at(dx, dy, q)
    square_k = -exponent_at(kx, ky, q)
    top = 2.0 * tau / (1.0 - tau * tau) * 0.5  # where the end tangents meet, in K D
    height = 0.5 * tau
    far = middle + 2.0 * height * outward - height * height * square_k
    bound = middle + larger(along, larger(2.0 * top * outward, 0.0))
    bend = square_d + height * height * square_k
    return (
        larger(middle, far),
        bound,
        2.0 * along + bend + 2.0 * height * abs(outward),
        2.0 * height * abs(outward)
        + height * height * square_k
        + height * abs((q[0] * kx + q[1] * ky) * dx + (q[1] * kx + q[2] * ky) * dy),
    )


@inner
def gaussian_segment(ax, ay, dx, dy, kx, ky, tau, cx, cy, q, across, shift, px, py, w):
    """Moments about (px, py) of exp(-(z - c)' Q (z - c) - shift) over one segment."""
    mx = ax + 0.5 * dx
    my = ay + 0.5 * dy
    n = nodes_across(across)
    m = fx = fy = polar = 0.0
    for i in range(16):
        t, h, weight = panel_point(2.0 * PANEL_NODES[i] - 1.0, tau)
        weight *= PANEL_WEIGHTS[i]
        for j in range(n):
            r = NODES[n, j] * h
            x = mx + (0.5 * t * dx + r * kx)
            y = my + (0.5 * t * dy + r * ky)
            e = exponent_at(x - cx, y - cy, q)
            v = weight * WEIGHTS[n, j] * exponential(e - shift)
            x -= px
            y -= py
            m += v
            fx += v * x
            fy += v * y
            polar += v * (x * x + y * y)
    scale = segment_scale(dx, dy, w)
    return scale * m, scale * fx, scale * fy, scale * polar


@inner
def first_shift(m, cx, cy, q, x, y):
    """0 where the hill is within reach of doubles at some corner, else its largest exponent."""
    best = -1.0e300
    for k in range(m):
        best = larger(best, exponent_at(x[k] - cx, y[k] - cy, q))
    return best, (0.0 if best > SAFE_EXPONENT else best)


@inlined
def hill_segments(m, g, t, x0, y0, px, py, w, s, r):
    """(log_scale, moments about (px, py)) of row t of Terms.gaussians over all segments of r."""
    cx = g[t, 1] - x0
    cy = g[t, 2] - y0
    q = (g[t, 3], g[t, 4], g[t, 5])
    best, shift = first_shift(m, cx, cy, q, r.x, r.y)
    total = (0.0, 0.0, 0.0, 0.0)
    for k in range(m):
        if r.label[k] != ARC:
            continue
        size = push(0, r.x[k], r.y[k], r.dx[k], r.dy[k], r.hill)
        while size > 0:
            size -= 1
            ax = r.hill[size, 0]
            ay = r.hill[size, 1]
            dx = r.hill[size, 2]
            dy = r.hill[size, 3]
            half = half_chord(dx, dy, w)
            tau = half / (1.0 + math.sqrt((1.0 - half) * (1.0 + half)))
            kx, ky = turned_right(dx, dy, w)
            attained, bound, along, across = shape_of_segment(
                (ax + 0.5 * dx) - cx, (ay + 0.5 * dy) - cy, dx, dy, kx, ky, tau, q
            )
            if bound < best - NEGLIGIBLE:
                continue
            ex = 0.5 * (dx + tau * kx)
            ey = 0.5 * (dy + tau * ky)
            fits = (along <= SPAN and across <= HEIGHT) or size + 2 > r.hill.shape[0]
            best = larger(best, attained)
            if not fits:
                best = larger(best, edge_top(ax - cx, ay - cy, ex, ey, q))
                best = larger(best, edge_top(ax + ex - cx, ay + ey - cy, dx - ex, dy - ey, q))
            if best > shift + RISE:
                fall = exponential(shift - best)
                total = (fall * total[0], fall * total[1], fall * total[2], fall * total[3])
                shift = best
            if fits:
                part = gaussian_segment(
                    ax, ay, dx, dy, kx, ky, tau, cx, cy, q, across, shift, px, py, w
                )
            else:
                size = push(size, ax + ex, ay + ey, dx - ex, dy - ey, r.hill)
                size = push(size, ax, ay, ex, ey, r.hill)
                k2 = 0.5 * tau * segment_scale(dx, dy, w)
                part = gaussian_triangle(
                    cx - ax, cy - ay, q, ex, ey, dx, dy, k2, shift, best, px - ax, py - ay,
                    s.node, s.pending,
                )  # fmt: skip
            total = (
                total[0] + part[0], total[1] + part[1], total[2] + part[2], total[3] + part[3]
            )  # fmt: skip
    u = g[t, 0]
    return shift, (u * total[0], u * total[1], u * total[2], u * total[3])
