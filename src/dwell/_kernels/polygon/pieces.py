"""The pieces of a region, trapezoids with horizontal sides, and a tree of boxes over them.

See region_cut.py for how they are made. Nodes of the tree are in preorder.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import larger, smaller

DEEPEST = 60  # levels of the tree
X_LOW, Y_LOW, X_HIGH, Y_HIGH, MASS, MEAN_X, MEAN_Y, POLAR = range(8)  # columns of a node


class Pieces(NamedTuple):
    """The pieces of a region, and the tree of boxes over them, in preorder."""

    origin: np.ndarray  # (2,) all coordinates are relative to it
    piece: np.ndarray  # (P, 6): y0, y1, left and right end at y0, left and right end at y1
    node: np.ndarray  # (M, 8) box; mass, centroid and polar moment about it of the pieces below
    first: np.ndarray  # (M + 1,) the first piece below each node
    skip: np.ndarray  # (M,) the node after all those below


@inner
def add_triangle(k, ax, ay, bx, by, cx, cy, node):
    """Add the moments of a triangle to node k."""
    area = 0.5 * ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    mx, my = (ax + bx + cx) / 3.0, (ay + by + cy) / 3.0
    squares = (ax - mx) * (ax - mx) + (bx - mx) * (bx - mx) + (cx - mx) * (cx - mx)
    squares += (ay - my) * (ay - my) + (by - my) * (by - my) + (cy - my) * (cy - my)
    add_moments(k, area, mx, my, area * squares / 12.0, node)


@inner
def add_moments(k, mass, mx, my, polar, node):
    """Add a mass with its centroid, and its polar moment about that, to node k."""
    total = node[k, MASS] + mass
    if not total > 0.0:
        return
    share = mass / total
    dx, dy = mx - node[k, MEAN_X], my - node[k, MEAN_Y]
    node[k, POLAR] += polar + share * node[k, MASS] * (dx * dx + dy * dy)
    node[k, MEAN_X] += share * dx
    node[k, MEAN_Y] += share * dy
    node[k, MASS] = total


@inner
def widen(k, x0, y0, x1, y1, node):
    """Extend the box of node k."""
    node[k, X_LOW], node[k, Y_LOW] = smaller(node[k, X_LOW], x0), smaller(node[k, Y_LOW], y0)
    node[k, X_HIGH], node[k, Y_HIGH] = larger(node[k, X_HIGH], x1), larger(node[k, Y_HIGH], y1)


@njit
def fill_nodes(piece, first, skip, node):
    """Fill the boxes, areas and their moments of all nodes, the last one first."""
    for k in range(skip.shape[0] - 1, -1, -1):
        node[k, X_LOW] = node[k, Y_LOW] = np.inf
        node[k, X_HIGH] = node[k, Y_HIGH] = -np.inf
        node[k, MASS] = node[k, MEAN_X] = node[k, MEAN_Y] = node[k, POLAR] = 0.0
        if skip[k] > k + 1:
            child = k + 1
            while child < skip[k]:
                n = node[child]
                widen(k, n[X_LOW], n[Y_LOW], n[X_HIGH], n[Y_HIGH], node)
                add_moments(k, n[MASS], n[MEAN_X], n[MEAN_Y], n[POLAR], node)
                child = skip[child]
            continue
        for i in range(first[k], first[k + 1]):
            y0, y1, a, b, d, c = piece[i]
            widen(k, smaller(a, d), y0, larger(b, c), y1, node)
            add_triangle(k, a, y0, b, y0, c, y1, node)
            add_triangle(k, a, y0, c, y1, d, y1, node)


@njit
def skip_below(depth, following, skip):
    """Fill `skip` from the levels of nodes in preorder; following: (DEEPEST + 1,) a buffer."""
    count = depth.shape[0]
    following[:] = count
    for k in range(count - 1, -1, -1):
        after = count
        for level in range(depth[k] + 1):
            after = smaller(after, following[level])
        skip[k] = after
        following[depth[k]] = k


@njit
def cover(x, y, pieces, found):
    """Write to `found` whether the region holds each point, its boundary included."""
    for k in range(x.shape[0]):
        px, py = x[k] - pieces.origin[0], y[k] - pieces.origin[1]
        found[k] = is_covered(px, py, pieces)


@inner
def is_covered(px, py, pieces):
    """Whether a point, relative to the origin, lies in some piece."""
    k = 0
    while k < pieces.skip.shape[0]:
        n = pieces.node[k]
        if not (n[X_LOW] <= px <= n[X_HIGH] and n[Y_LOW] <= py <= n[Y_HIGH]):
            k = pieces.skip[k]
            continue
        if pieces.skip[k] == k + 1:
            for i in range(pieces.first[k], pieces.first[k + 1]):
                y0, y1, a, b, d, c = pieces.piece[i]
                if y0 <= py <= y1:
                    t, h = py - y0, y1 - y0
                    left, right = h * (px - a) - t * (d - a), h * (px - b) - t * (c - b)
                    if left >= 0.0 and right <= 0.0:
                        return True
        k += 1
    return False
