"""Agents in a tree of boxes, eight to a node, for cells whose disc holds too many others.

A search for agents near a point leaves out boxes that are farther away than those already found:
see vertex_search.py.

The ends of boxes move with the fastest and the slowest agent in them. An event may widen boxes; the
tree is built anew when searches have visited much of it.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inlined, inner, njit
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.segments import HOLD_X, HOLD_Y, SINCE, row_in
from dwell._kernels.polygon.buffers import BRANCHES, LARGEST
from dwell._kernels.polygon.cell_list import is_between, position_at

AT_REST, MOVING = 32, 8  # agents in a leaf, at most: those at rest are measured all at once
HALVINGS = 3  # by which the branches of a node are made
ROUNDING = 1e-14  # of what enters it, at most: a coordinate in the frame of a box
AROUND = 32.0  # agents in the first disc
WORN = 64  # visits per agent after which the tree is built anew

X, Y, COS, SIN, LEFT, LOW, RIGHT, HIGH = range(8)  # a box: origin and axis of its frame, ends,
LEFTWARD, DOWNWARD, RIGHTWARD, UPWARD = range(8, 12)  # ... and the velocities of these ends


class Tree(NamedTuple):
    """Boxes of agents; node k has the children 8k + 1 to 8k + 8, the last are leaves.

    The boxes of these eight are box[k]: eight numbers of a kind side by side. The root has none.
    """

    who: np.ndarray  # (N,) agents leaf by leaf
    leaf: np.ndarray  # (N,) the leaf that holds each agent
    first: np.ndarray  # (leaves + 1,) where each leaf begins in `who`
    x: np.ndarray  # (N,) their positions when the tree was built, leaf by leaf
    y: np.ndarray
    box: np.ndarray  # (nodes that are no leaves, 12, BRANCHES)
    laid: np.ndarray  # (1,) when boxes were laid
    built: np.ndarray  # (1,) whether the tree is built


def make_tree(agents: int, per_leaf: int) -> Tree:
    """An unbuilt tree for so many agents; at most `per_leaf` in each leaf."""
    who, leaf = np.zeros((2, agents), dtype=np.int32)
    x, y = np.zeros((2, agents))
    nodes, leaves = 1, BRANCHES
    while leaves * per_leaf < agents:
        nodes += leaves
        leaves *= BRANCHES
    first = (np.arange(leaves + 1) * agents // leaves).astype(np.int32)
    box, built = np.zeros((nodes, 12, BRANCHES)), np.zeros(1, dtype=np.bool_)
    return Tree(who, leaf, first, x, y, box, np.zeros(1), built)


@inner
def bring_to(middle, lo, hi, key, other, who):
    """Order agents lo..hi so that keys before `middle` are not larger, after it not smaller."""
    hi -= 1
    while lo < hi:
        pivot = key[lo + (lo * 40503 + hi * 30011) % (hi - lo + 1)]  # no fixed pattern is slow
        i = lo
        j = hi
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                other[i], other[j] = other[j], other[i]
                who[i], who[j] = who[j], who[i]
                i += 1
                j -= 1
        if middle <= j:
            hi = j
        elif middle >= i:
            lo = i
        else:
            return


@inner
def ends_of(lo, hi, x, y):
    """Of agents lo..hi two at the ends of the longer side of their rectangle, and if it is wide."""
    left = right = low = high = lo
    for i in range(lo, hi):
        left = i if x[i] < x[left] else left
        right = i if x[i] > x[right] else right
        low = i if y[i] < y[low] else low
        high = i if y[i] > y[high] else high
    wide = x[right] - x[left] >= y[high] - y[low]
    return left if wide else low, right if wide else high, wide


@inner
def halve(lo, middle, hi, x, y, who):
    """Divide agents lo..hi at `middle`, across the longer side of their rectangle."""
    _, _, wide = ends_of(lo, hi, x, y)
    if wide:
        bring_to(middle, lo, hi, x, y, who)
    else:
        bring_to(middle, lo, hi, y, x, who)


@inner
def frame_box(k, lo, hi, x, y, box):
    """Lay an empty box for agents lo..hi along the line through two at their ends."""
    i, j, _ = ends_of(lo, hi, x, y)
    dx = x[j] - x[i]
    dy = y[j] - y[i]
    size = math.sqrt(dx * dx + dy * dy)
    box[X, k] = x[i]
    box[Y, k] = y[i]
    box[COS, k] = dx / size if size > 0.0 else 1.0
    box[SIN, k] = dy / size if size > 0.0 else 0.0
    box[LEFT, k] = box[LOW, k] = np.inf
    box[RIGHT, k] = box[HIGH, k] = -np.inf
    box[LEFTWARD, k] = box[DOWNWARD, k] = np.inf
    box[RIGHTWARD, k] = box[UPWARD, k] = -np.inf


@inner
def seen_in(k, dx, dy, box):
    """A point at (dx, dy) from the origin of box k, turned into its frame; and its rounding."""
    u = box[COS, k] * dx + box[SIN, k] * dy
    w = box[COS, k] * dy - box[SIN, k] * dx
    return u, w, ROUNDING * (abs(dx) + abs(dy))


@inner
def stretch(k, x, y, hx, hy, e, box):
    """Let box k hold a point at (x, y), to within e, when it was laid, with a velocity (hx, hy)."""
    u, w, margin = seen_in(k, x - box[X, k], y - box[Y, k], box)
    e += margin
    box[LEFT, k] = smaller(box[LEFT, k], u - e)
    box[RIGHT, k] = larger(box[RIGHT, k], u + e)
    box[LOW, k] = smaller(box[LOW, k], w - e)
    box[HIGH, k] = larger(box[HIGH, k], w + e)
    u, w, e = seen_in(k, hx, hy, box)
    box[LEFTWARD, k] = smaller(box[LEFTWARD, k], u - e)
    box[RIGHTWARD, k] = larger(box[RIGHTWARD, k], u + e)
    box[DOWNWARD, k] = smaller(box[DOWNWARD, k], w - e)
    box[UPWARD, k] = larger(box[UPWARD, k], w + e)


@inner
def stretch_all(q, x, y, hx, hy, e, tree):
    """Let all boxes round agent q hold a point."""
    k = int(tree.leaf[q])
    while k > 0:
        parent = (k - 1) // BRANCHES
        stretch(k - 1 - BRANCHES * parent, x, y, hx, hy, e, tree.box[parent])
        k = parent


@inner
def enclose(q, t, due, cruise, row, tree):
    """Let the boxes round agent q hold it from time t to `due`, moving and at rest."""
    age = t - tree.laid[0]
    px, py = position_at(t, q, cruise, row)
    hx = row[q, HOLD_X]
    hy = row[q, HOLD_Y]
    e = ROUNDING * (abs(px) + abs(py) + (abs(hx) + abs(hy)) * age)
    moves = t - row[q, SINCE] < cruise
    if moves:
        stretch_all(q, px - hx * age, py - hy * age, hx, hy, e, tree)
    if not moves or due - row[q, SINCE] > cruise:
        px, py = position_at(due, q, cruise, row)
        stretch_all(q, px, py, 0.0, 0.0, e, tree)


@inner
def age_of(t, row, tree):
    """The time since boxes were laid; None for agents at rest, whose boxes do not move."""
    if row is None:
        return None
    return t - tree.laid[0]


@inner
def ends_at(k, age, box):
    """Left, low, right and high end of box k, an age after it was laid."""
    if age is None:
        return box[LEFT, k], box[LOW, k], box[RIGHT, k], box[HIGH, k]
    left = box[LEFT, k] + age * box[LEFTWARD, k]
    low = box[LOW, k] + age * box[DOWNWARD, k]
    right = box[RIGHT, k] + age * box[RIGHTWARD, k]
    return left, low, right, box[HIGH, k] + age * box[UPWARD, k]


@inner
def place_in_leaf(i, t, cruise, row, tree):
    """Where the i-th agent in the order of leaves is at time t; at rest, if there is no row."""
    if row is None:
        return tree.x[i], tree.y[i]
    return position_at(t, tree.who[i], cruise, row)


@inner
def leaf_radius(p, tree):
    """The radius of a disc round agent p that holds some AROUND agents if they lie evenly."""
    k = int(tree.leaf[p]) - 1
    leaf = k + 1 - tree.box.shape[0]
    count = tree.first[leaf + 1] - tree.first[leaf]
    left, low, right, high = ends_at(k % BRANCHES, None, tree.box[k // BRANCHES])
    return 0.5 * ((right - left) + (high - low)) * math.sqrt(AROUND / (math.pi * count))


@njit
def build_at_rest(x, y, tree):
    """Build the tree of agents at rest at (x, y), which may hold some to spare."""
    agents = tree.who.shape[0]
    for q in range(agents):
        tree.x[q] = x[q]
        tree.y[q] = y[q]
    lay_boxes(tree)
    for i in range(agents):
        stretch_all(tree.who[i], tree.x[i], tree.y[i], 0.0, 0.0, 0.0, tree)
    tree.built[0] = True


@inner
def build_moving(t, cruise, row, due, queue, tree):
    """Build the tree at time t; due, queue: when the segment in each row of `row` ends."""
    for q in range(row.shape[0]):
        tree.x[q], tree.y[q] = position_at(t, q, cruise, row)
    lay_boxes(tree)
    tree.laid[0] = t
    for i in range(row.shape[0]):
        enclose(row_in(queue[i]), t, due[i], cruise, row, tree)
    tree.built[0] = True


@inner
def lay_boxes(tree):
    """Put agents at tree.x, tree.y into leaves, and lay an empty box for each node."""
    agents = tree.who.shape[0]
    for q in range(agents):
        tree.who[q] = q
    leaves = tree.first.shape[0] - 1
    k = parts = 1
    while parts < leaves:
        for _ in range(HALVINGS):
            for j in range(parts):
                middle = (2 * j + 1) * agents // (2 * parts)
                lo = j * agents // parts
                halve(lo, middle, (j + 1) * agents // parts, tree.x, tree.y, tree.who)
            parts *= 2
        for j in range(parts):
            lo = j * agents // parts
            hi = (j + 1) * agents // parts
            parent = (k - 1) // BRANCHES
            frame_box(k - 1 - BRANCHES * parent, lo, hi, tree.x, tree.y, tree.box[parent])
            for i in range(lo, hi if parts == leaves else lo):
                tree.leaf[tree.who[i]] = k
            k += 1


@inner
def outside(k, px, py, vx, vy, age, box):
    """By how much the point v seen from p is outside box k, squared.

    Not more than the squared distance of v from any agent in the box, however that is rounded.
    """
    u, w, e = seen_in(k, (px - box[X, k]) + vx, (py - box[Y, k]) + vy, box)
    e += ROUNDING * (abs(vx) + abs(vy))
    left, low, right, high = ends_at(k, age, box)
    du = larger(0.0, larger(left - u, u - right) - e)
    dw = larger(0.0, larger(low - w, w - high) - e)
    return (1.0 - ROUNDING) * (du * du + dw * dw)


@inlined
def next_leaf(top, bound, px, py, vx, vy, age, tree, stack, stack_bits, visits):
    """The next leaf that is not farther than a bound from the point v seen from p.

    stack: squared distances and numbers of nodes still to be visited, `top` of them; -1 to begin
    with the root. Of the children of a node the nearest is visited first. Returns (where the agents
    of the leaf begin in tree.who, where they end, the new top); (0, 0, 0) if there is none.
    """
    gap, gap_bits = stack[2], stack_bits[2]
    k = 0 if top < 0 else -1
    top = larger(top, 0)
    while True:
        while k < 0 and top > 0:
            top -= 1
            k = int(stack[1, top]) if stack[0, top] <= bound else -1
        if k < 0:
            return 0, 0, 0
        visits[0] += 1.0
        leaf = k - tree.box.shape[0]
        if leaf >= 0:
            return tree.first[leaf], tree.first[leaf + 1], top
        box = tree.box[k]
        for c in range(box.shape[1]):
            gap[c] = outside(c, px, py, vx, vy, age, box)
        near = 0
        least = LARGEST
        for c in range(box.shape[1]):
            near += 1 if gap[c] <= bound else 0
            named = (gap_bits[c] & ~(BRANCHES - 1)) | c
            least = named if named < least else least
        nearest = least & (BRANCHES - 1)
        k = BRANCHES * k + 1
        if near > 1:
            for c in range(BRANCHES):
                if (gap[c] <= bound) & (c != nearest):
                    stack[0, top] = gap[c]
                    stack[1, top] = k + c
                    top += 1
        k = k + nearest if near > 0 else -1


@inner
def holds_more(p, px, py, limit, most, age, tree):
    """Whether a node that holds agent p and more than `most` agents is within a squared distance.

    It is the smallest such node. If not, there may be more than `most` all the same.
    """
    k = (int(tree.leaf[p]) - 1) // BRANCHES
    count = BRANCHES * (tree.who.shape[0] // (tree.first.shape[0] - 1))
    while count <= most and k > 0:
        k = (k - 1) // BRANCHES
        count *= BRANCHES
    box = tree.box[k]
    far = 0.0
    for c in range(BRANCHES):
        u, w, e = seen_in(c, px - box[X, c], py - box[Y, c], box)
        left, low, right, high = ends_at(c, age, box)
        du = larger(u - left, right - u) + e
        dw = larger(w - low, high - w) + e
        far = larger(far, du * du + dw * dw)
    return count > most and far < (1.0 - ROUNDING) * limit


@inner
def list_within(p, t, m, beyond, limit, most, cruise, row, tree, stack, stack_bits, near):
    """List all but p farther than one squared distance and not than another, after m in `near`.

    Returns how many are listed then; it ends with the first after `most`.
    """
    px = near.x[0]
    py = near.y[0]
    age = age_of(t, row, tree)
    if holds_more(p, px, py, limit, most, age, tree):
        return most + 1
    begin, end, top = next_leaf(
        -1, limit, px, py, 0.0, 0.0, age, tree, stack, stack_bits, near.visits
    )
    while begin < end and m <= most:
        for i in range(begin, end):
            q = tree.who[i]
            near.x[m], near.y[m] = place_in_leaf(i, t, cruise, row, tree)
            inside = is_between(near.x[m] - px, near.y[m] - py, beyond, limit)
            m += 1 if inside & (q != p) & (m <= most) else 0
        begin, end, top = next_leaf(
            top, limit, px, py, 0.0, 0.0, age, tree, stack, stack_bits, near.visits
        )
    return m
