"""Cells found by their vertices, for cells whose disc holds too many agents.

The agent nearest to a vertex owns it; if that is another one, the cell is clipped by their
bisector, else the vertex stays. With the tree, a long cell costs about its neighbours times the
depth of the tree, however many agents are within its reach. Squared distances are compared as they
are rounded, and a box is never farther away than an agent in it: the tree finds the agent that a
search through all of them finds, and the cell has the same bits.
"""

import numpy as np

from dwell._kernels._jit import inner, spliced
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.polygon.box_tree import age_of, next_leaf, place_in_leaf
from dwell._kernels.polygon.buffers import CLOSEST
from dwell._kernels.polygon.cell_list import position_at
from dwell._kernels.polygon.halfplane_clip import cut, deepest, sides, whole_cell

BELOW = 1.0 - 2.0**-53  # times a number: the one before it


@inner
def comes_before(e2, dx, dy, other):
    """Whether squared distance and displacement come before those of another agent."""
    if e2 != other[0]:
        return e2 < other[0]
    if dx != other[1]:
        return dx < other[1]
    return dy < other[2]


@inner
def owner_of(vx, vy, bound, p, t, px, py, cruise, row, tree, stack, stack_bits, visits):
    """The agent nearest to the point v seen from agent p at (px, py), if nearer than a bound.

    Squared distance, displacement from p and number, which is -1 if there is none; of several
    equally near, the one whose displacement comes first.
    """
    best = (BELOW * bound, np.inf, np.inf, -1)
    age = age_of(t, row, tree)
    begin, end, top = next_leaf(-1, best[0], px, py, vx, vy, age, tree, stack, stack_bits, visits)
    while begin < end:
        if row is None and not holds_nearer(begin, end, best[0], px, py, vx, vy, tree):
            end = begin
        for i in range(begin, end):
            q = int(tree.who[i])
            qx, qy = place_in_leaf(i, t, cruise, row, tree)
            best = closer_of(q, p, qx - px, qy - py, vx, vy, best)
        begin, end, top = next_leaf(
            top, best[0], px, py, vx, vy, age, tree, stack, stack_bits, visits
        )
    return best


@inner
def holds_nearer(begin, end, bound, px, py, vx, vy, tree):
    """Whether an agent at rest in a leaf is not farther from v than a bound; without branches."""
    count = 0
    x = tree.x[begin:end]
    y = tree.y[begin:end]
    for i in range(end - begin):
        ex = (x[i] - px) - vx
        ey = (y[i] - py) - vy
        count += 1 if ex * ex + ey * ey <= bound else 0
    return count > 0


@inner
def closer_of(q, p, dx, dy, vx, vy, best):
    """The better of `best` and agent q as the owner of v."""
    ex = dx - vx
    ey = dy - vy
    e2 = ex * ex + ey * ey
    if (e2 > best[0]) | (q == p) or not comes_before(e2, dx, dy, best):
        return best
    return e2, dx, dy, q


@inner
def owner_among(vx, vy, bound, p, px, py, xs, ys):
    """Return the result of `owner_of` by a search through all agents (xs, ys)."""
    best = (BELOW * bound, np.inf, np.inf, -1)
    for q in range(xs.shape[0]):
        best = closer_of(q, p, xs[q] - px, ys[q] - py, vx, vy, best)
    return best


@inner
def list_nearest(p, t, px, py, cruise, row, tree, stack, stack_bits, closest, used, visits):
    """List the CLOSEST agents nearest to (px, py), but p, in used[1..]; closest: a buffer."""
    count = 0
    far = np.inf  # squared distance of the last one
    age = age_of(t, row, tree)
    begin, end, top = next_leaf(-1, far, px, py, 0.0, 0.0, age, tree, stack, stack_bits, visits)
    while begin < end:
        for i in range(begin, end):
            q = int(tree.who[i])
            qx, qy = place_in_leaf(i, t, cruise, row, tree)
            dx = qx - px
            dy = qy - py
            d2 = dx * dx + dy * dy
            if (d2 > far) | (q == p):
                continue
            k = count
            while k > 0 and comes_before(d2, dx, dy, closest[k - 1]):
                for c in range(3):
                    closest[k, c] = closest[k - 1, c]
                used[k + 1] = used[k]
                k -= 1
            closest[k, 0] = d2
            closest[k, 1] = dx
            closest[k, 2] = dy
            used[k + 1] = q
            count = count + 1 if count < CLOSEST else CLOSEST
            far = closest[CLOSEST - 1, 0] if count == CLOSEST else np.inf
        begin, end, top = next_leaf(
            top, far, px, py, 0.0, 0.0, age, tree, stack, stack_bits, visits
        )


@inner
def is_listed(q, m, listed):
    """Whether q is among listed[1..m]."""
    for k in range(1, m):
        if listed[k] == q:
            return True
    return False


@inner
def keeps_order(n, fresh, at, left, outside, side):
    """Whether a cut took a run of vertices from `at` on, `left` of which were not yet tested."""
    if fresh != n - outside + 2 or side[at] <= 0.0:
        return False
    for k in range(left, n):
        if side[(at + k) % n] > 0.0:
            return False
    return True


@spliced
def cell_by_vertices(p, t, px, py, xs, ys, cruise, row, tree, near, wx, wy, s):
    """Cell of agent p at (px, py) at time t in the polygon (wx, wy), by the owners of vertices.

    It is clipped by the CLOSEST nearest agents first. Leaves vertices and labels in s.x, s.y,
    s.label; labels refer to `near`, where those it was clipped by are listed. With no tree (None)
    agents are searched among all of (xs, ys), to which labels then refer, and the nearest ones are
    in s.who[1..] and s.closest. Returns (vertices, squared distance of the nearest, how many are
    listed); vertices as in `cut_cell`.
    """
    used, closest, side = s.who, s.closest, s.side
    if tree is not None:
        list_nearest(
            p, t, px, py, cruise, row, tree, s.stack, s.stack_bits, closest, used, near.visits
        )
    n = whole_cell(px, py, wx, wy, s)
    x, y, label = s.x, s.y, s.label
    x2, y2, label2 = s.x2, s.y2, s.label2
    nearest = -1.0
    m = 1
    at = 0  # the vertex to be tested next, and how many there are from it on
    left = n
    while left > 0:
        q = -1
        dx = dy = 0.0
        if m <= CLOSEST:
            q = used[m]
            dx, dy = closest[m - 1, 1], closest[m - 1, 2]
        else:
            r2 = x[at] * x[at] + y[at] * y[at]
            if tree is None:
                _, dx, dy, q = owner_among(x[at], y[at], r2, p, px, py, xs, ys)
            else:
                _, dx, dy, q = owner_of(
                    x[at], y[at], r2, p, t, px, py, cruise, row, tree, s.stack, s.stack_bits,
                    near.visits,
                )  # fmt: skip
            if q < 0 or is_listed(q, m, used):
                at = at + 1 if at + 1 < n else 0
                left -= 1
                continue
        d2 = dx * dx + dy * dy
        if nearest < 0.0:
            nearest = d2
            if d2 == 0.0:
                return COINCIDENT, d2, m
        who = q
        if tree is not None:
            who = m
            if row is None:
                near.x[m], near.y[m] = xs[q], ys[q]
            else:
                near.x[m], near.y[m] = position_at(t, q, cruise, row)
        used[m] = q
        m += 1
        beyond = sides(n, dx, dy, 0.5 * d2, x, y, side)
        if beyond == n:
            return 0, nearest, m
        if beyond > 0:
            fresh = cut(n, who, deepest(n, side), side, x, y, label, x2, y2, label2)
            x, x2 = x2, x
            y, y2 = y2, y
            label, label2 = label2, label
            left = left + fresh - n if keeps_order(n, fresh, at, left, beyond, side) else fresh
            n = fresh
            at = n - 1
    for k in range(n):  # what is there already, or what was swapped
        s.x[k], s.y[k], s.label[k] = x[k], y[k], label[k]
    return n if n >= 3 else 0, nearest, m
