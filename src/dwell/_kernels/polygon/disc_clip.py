"""A cell within a disc about its agent: the polygon of its edges and of chords of its arcs.

Where the boundary follows the circle, vertices lie on it at most a quarter turn apart, and edges
between them are chords, labelled ARC. What lies beyond a chord is a cap: see disc_caps.py.
"""

import math

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.arithmetic import cross, larger
from dwell._kernels.polygon.halfplane_clip import farthest

ARC = -(2**61)  # the label of a chord, behind which lies a cap
TOUCH = 1e-7  # half a chord over the radius: an edge that cuts off less does not cut
REVERSED = 1e-12  # of the squared radius: by so much rounding may turn a short arc backward


@inner
def put_vertex(m, vx, vy, behind, x, y, label):
    """Append a vertex; return the new number."""
    x[m] = vx
    y[m] = vy
    label[m] = behind
    return m + 1


@inner
def turn(m, ax, ay, bx, by, square, x, y, label):
    """Append quarter turns from a, the last vertex, as long as b is farther on; their number.

    square: of the radius.
    """
    across = cross(ax, ay, bx, by)
    along = ax * bx + ay * by
    if along > 0.0 and abs(across) <= REVERSED * square:
        return m
    while along < 0.0 or across < 0.0:
        ax, ay = -ay, ax
        m = put_vertex(m, ax, ay, ARC, x, y, label)
        across = cross(ax, ay, bx, by)
        along = ax * bx + ay * by
    return m


@inner
def clip_edges(n, r, x, y, label, x2, y2, label2):
    """Write the part of the polygon within the disc to x2, y2, label2; return its vertices.

    None are written where no edge enters the disc.
    """
    square = r * r
    m = last = 0
    ends = x[0] * x[0] + y[0] * y[0] <= square
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        starts = ends
        ends = x[j] * x[j] + y[j] * y[j] <= square
        if starts:
            m = put_vertex(m, x[i], y[i], label[i], x2, y2, label2)
            if ends:
                continue
        dx, dy = x[j] - x[i], y[j] - y[i]
        length = dx * dx + dy * dy
        h = cross(x[i], y[i], x[j], y[j])
        if not (starts or ends):
            before, after = x[i] * dx + y[i] * dy, x[j] * dx + y[j] * dy
            if not (before < 0.0 < after and h * h < (1.0 - TOUCH * TOUCH) * square * length):
                continue
        length = 1.0 / math.sqrt(length)
        dx, dy, h = dx * length, dy * length, h * length
        c = math.sqrt(larger(0.0, (r - h) * (r + h)))  # h: distance of the line, c: half its chord
        if not starts:
            ax, ay = h * dy - c * dx, -h * dx - c * dy
            if m > 0:
                m = turn(m, x2[m - 1], y2[m - 1], ax, ay, square, x2, y2, label2)
            m = put_vertex(m, ax, ay, label[i], x2, y2, label2)
        if not ends:
            m = put_vertex(m, h * dy + c * dx, c * dy - h * dx, ARC, x2, y2, label2)
            last = m
    if m > 0 and last == m:
        m = turn(m, x2[m - 1], y2[m - 1], x2[0], y2[0], square, x2, y2, label2)
    if m == 2:  # a cap alone: the middle of its arc makes it a triangle and two caps
        mx, my = x2[0] + x2[1], y2[0] + y2[1]
        scale = r / math.sqrt(mx * mx + my * my)
        m = put_vertex(2, scale * mx, scale * my, ARC, x2, y2, label2)
    return m


@inner
def whole_disc(n, r, x, y, x2, y2, label2):
    """Write four vertices of the circle if it lies within the polygon; return how many."""
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        if not cross(x[i], y[i], x[j], y[j]) > 0.0:
            return 0
    vx, vy = r, 0.0
    for m in range(4):
        put_vertex(m, vx, vy, ARC, x2, y2, label2)
        vx, vy = -vy, vx
    return 4


@inner
def is_cut(n, r, x, y):
    """Whether the disc of radius r cuts the polygon x, y; None is no radius."""
    if r is None:
        return False
    return farthest(n, x, y) > r * r


@inlined
def clip_to_disc(n, r, s):
    """Cut the polygon in `s` by the disc of radius r; return its vertices."""
    m = clip_edges(n, r, s.x, s.y, s.label, s.x2, s.y2, s.label2)
    if m == 0:
        m = whole_disc(n, r, s.x, s.y, s.x2, s.y2, s.label2)
    for i in range(m):
        s.x[i] = s.x2[i]
        s.y[i] = s.y2[i]
        s.label[i] = s.label2[i]
    return m
