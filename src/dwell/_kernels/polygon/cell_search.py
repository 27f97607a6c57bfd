"""The cell of one agent among those near it: bins first, the tree where they hold too many.

A disc is gathered; the boundary is traced (gift_wrap.py) or, where that fails, the cell is clipped
by agents in increasing distance (halfplane_clip.py); the disc grows until no agent outside can
matter. More than LINES agents are listed by bins now and then only: where that happens often, a
tree is built and lists the disc instead, and where the disc itself holds too many, it finds the
cell by its vertices (box_tree.py). After such a cell the next one is found by its vertices at once:
it is likely to be crowded as well.
"""

import math

from dwell._kernels._jit import inner, spliced
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.polygon.box_tree import WORN, build_moving, leaf_radius, list_within
from dwell._kernels.polygon.buffers import LINES
from dwell._kernels.polygon.cell_list import gather, next_radius, required_radius
from dwell._kernels.polygon.cell_measurement import is_settled, reach_of
from dwell._kernels.polygon.gift_wrap import retrace_cell, trace_near
from dwell._kernels.polygon.halfplane_clip import WITHIN, cut_cell, whole_cell
from dwell._kernels.polygon.vertex_search import cell_in_tree

UNKNOWN = -3  # vertices of a cell for which the tree must be built first


@inner
def gather_in(in_tree, p, t, m, beyond, radius, most, cruise, row, bins, tree, x, y, near, stack):
    """List the agents in a disc round p, by the tree or by bins: see `gather`."""
    if in_tree:
        limit = radius * radius
        return list_within(p, t, m, beyond, limit, most, cruise, row, tree, stack, near), limit
    return gather(p, t, m, beyond, radius, most, cruise, row, bins, x, y, near)


@inner
def prepare_tree(t, cruise, segments, tree, near):
    """Build the tree of moving agents if need be; return whether there is one."""
    near.spare[0] = 0.0
    if segments is not None:
        row = segments.row
        if not tree.built[0] or near.visits[0] > WORN * row.shape[0]:
            build_moving(t, cruise, row, segments.due, segments.queue, tree)
            near.visits[0] = 0.0
    return tree.built[0]


@spliced
def find_cell(
    p, t, m, limit, radius, guess, quick, cruise, segments, row, bins, tree, x, y, wx, wy, near, s
):
    """Find the cell of agent p, which is first in `near`, after bins have listed a first disc.

    m, limit: results of gathering; guess: whether its radius is one; quick: the candidates are not
    needed afterwards. `segments` and `row` are None for agents at rest at (x, y). Returns
    (vertices, candidates, squared distance of the nearest, reach).
    """
    px = near.x[0]
    py = near.y[0]
    in_tree = settled = crowded = False
    tracing = quick
    most = LINES if quick else near.x.shape[0]
    n = candidates = 0
    lo = 1  # the first agent that has not clipped the cell; 1: begin with the whole workspace
    nearest = -1.0
    reach = 0.0
    while not settled:
        if m > most and not in_tree and near.spare[0] > 0.0 and not tree.built[0]:
            most = near.x.shape[0]
            tracing = False
            lo = 1
            m, limit = gather_in(
                False, p, t, 1, -1.0, radius, most, cruise, row, bins, tree, x, y, near, s.stack
            )
            near.spare[0] -= m
        if m > most and not in_tree:
            if not prepare_tree(t, cruise, segments, tree, near):
                return UNKNOWN, 0, -1.0, 0.0
            in_tree = True
            tracing = not (quick and near.crowded[0])
            most = LINES if quick else most
            radius = smaller(radius, leaf_radius(p, tree)) if guess else radius
            if tracing:
                m, limit = gather_in(
                    True, p, t, 1, -1.0, radius, most, cruise, row, bins, tree, x, y, near, s.stack
                )
        if tracing:
            n, nearest, squared = trace_near(m, 0, 0.5 * limit, px, py, near.x, near.y, wx, wy, s)
            tracing = n > 0
            if tracing:
                reach = math.sqrt(WITHIN * squared)
                settled = is_settled(reach, nearest, limit)
                radius = required_radius(reach, bins.frame)
                guess = False
            else:
                lo = 1
        if not tracing:
            if in_tree and most == LINES:
                n, nearest, crowded = cell_in_tree(
                    p, t, px, py, x, y, cruise, row, tree, wx, wy, near, s
                )
                reach = reach_of(n, s.x, s.y)
                settled = crowded
                near.crowded[0] = crowded
            if in_tree and most == LINES and not crowded:
                most = near.x.shape[0]
                radius = larger(required_radius(reach, bins.frame), 2.0 * math.sqrt(nearest))
                m, limit = gather_in(
                    True, p, t, 1, -1.0, radius, most, cruise, row, bins, tree, x, y, near, s.stack
                )
                lo = 1
            if not crowded:
                if lo == 1:
                    n = whole_cell(px, py, wx, wy, s)
                    candidates = 0
                    nearest = -1.0
                n, candidates, d2 = cut_cell(0, n, lo, m, candidates, px, py, near.x, near.y, s)
                nearest = nearest if nearest >= 0.0 else d2
                reach = reach_of(n, s.x, s.y)
                settled = is_settled(reach, nearest, limit)
                radius = next_radius(radius, reach, nearest, bins.frame)
                lo = m
        if settled and not tracing and not crowded:
            n, crowded = retrace_cell(n, candidates, px, py, near.x, near.y, wx, wy, s)
            if crowded and quick and not in_tree:  # to be found by its vertices, in the tree
                near.spare[0] = 0.0
                most = LINES
                m = LINES + 1
                settled = crowded = False
        elif not settled:
            m, limit = gather_in(
                in_tree, p, t, m, limit, radius, most, cruise, row, bins, tree, x, y, near, s.stack
            )
    return n, candidates, nearest, reach
