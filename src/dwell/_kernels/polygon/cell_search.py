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
from dwell._kernels.polygon.box_tree import (
    WORN,
    build_moving,
    cell_in_tree,
    leaf_radius,
    list_within,
)
from dwell._kernels.polygon.buffers import LINES
from dwell._kernels.polygon.cell_list import gather_at_rest, gather_moving, next_radius, sufficient
from dwell._kernels.polygon.cell_measurement import is_settled, reach_of
from dwell._kernels.polygon.gift_wrap import retrace_cell, trace_near
from dwell._kernels.polygon.halfplane_clip import WITHIN, cut_cell, whole_cell

UNKNOWN = -3  # vertices of a cell for which the tree must be built first


@inner
def gather(in_tree, p, t, m, beyond, radius, most, cruise, legs, bins, tree, x, y, near, stack):
    """List the agents in a disc round p, by the tree or by bins: see `gather_at_rest`.

    Agents are at rest at (x, y) if there are no segments (None), else as at time t.
    """
    if not in_tree:
        if legs is None:
            return gather_at_rest(p, m, beyond, radius, most, bins, x, y, near)
        return gather_moving(p, t, m, beyond, radius, most, cruise, legs.row, bins, near)
    limit = radius * radius
    if legs is None:
        return list_within(p, t, m, beyond, limit, most, cruise, None, tree, stack, near), limit
    return list_within(p, t, m, beyond, limit, most, cruise, legs.row, tree, stack, near), limit


@inner
def prepare(t, cruise, legs, tree, near):
    """Build the tree of moving agents if need be; gives whether there is one."""
    near.spare[0] = 0.0
    if legs is not None and (not tree.built[0] or near.visits[0] > WORN * legs.row.shape[0]):
        build_moving(t, cruise, legs.row, legs.due, legs.queue, tree)
        near.visits[0] = 0.0
    return tree.built[0]


@spliced
def find_cell(
    p, t, m, limit, radius, guess, quick, cruise, legs, row, bins, tree, x, y, wx, wy, near, s
):
    """The cell of agent p, which is first in `near`, once a first disc was gathered by bins.

    m, limit: results of gathering; guess: whether its radius is one; quick: the candidates are not
    needed afterwards. Segments and row are None for agents at rest at (x, y). Return (vertices,
    candidates, squared distance of the nearest, reach).
    """
    px = near.x[0]
    py = near.y[0]
    in_tree = settled = crowded = False
    walking = quick
    most = LINES if quick else near.x.shape[0]
    n = whole_cell(px, py, wx, wy, s)
    lo = 1
    looked = 0
    nearest = -1.0
    reach = 0.0
    while not settled:
        if m > most and not in_tree and near.spare[0] > 0.0 and not tree.built[0]:
            most = near.x.shape[0]
            walking = False
            n = whole_cell(px, py, wx, wy, s)
            lo = 1
            looked = 0
            nearest = -1.0
            m, limit = gather(
                False, p, t, 1, -1.0, radius, most, cruise, legs, bins, tree, x, y, near, s.stack
            )
            near.spare[0] -= m
        if m > most and not in_tree:
            if not prepare(t, cruise, legs, tree, near):
                return UNKNOWN, 0, -1.0, 0.0
            in_tree = True
            walking = not (quick and near.crowded[0])
            most = LINES if quick else most
            radius = smaller(radius, leaf_radius(p, tree)) if guess else radius
            if walking:
                m, limit = gather(
                    True, p, t, 1, -1.0, radius, most, cruise, legs, bins, tree, x, y, near, s.stack
                )
        if walking:
            n, nearest, squared = trace_near(m, 0, 0.5 * limit, px, py, near.x, near.y, wx, wy, s)
            walking = n > 0
            if walking:
                reach = math.sqrt(WITHIN * squared)
                settled = is_settled(reach, nearest, limit)
                radius = sufficient(reach, bins.frame)
                guess = False
            else:
                n = whole_cell(px, py, wx, wy, s)
                lo = 1
                looked = 0
                nearest = -1.0
        if not walking:
            if in_tree and most == LINES:
                n, nearest, crowded = cell_in_tree(
                    p, t, px, py, x, y, cruise, row, tree, wx, wy, near, s
                )
                reach = reach_of(n, s.x, s.y)
                settled = crowded
                near.crowded[0] = crowded
            if in_tree and most == LINES and not crowded:
                most = near.x.shape[0]
                radius = larger(sufficient(reach, bins.frame), 2.0 * math.sqrt(nearest))
                m, limit = gather(
                    True, p, t, 1, -1.0, radius, most, cruise, legs, bins, tree, x, y, near, s.stack
                )
                n = whole_cell(px, py, wx, wy, s)
                nearest = -1.0
                lo = 1
                looked = 0
            if not crowded:
                n, looked, d2 = cut_cell(0, n, lo, m, looked, px, py, near.x, near.y, s)
                nearest = nearest if nearest >= 0.0 else d2
                reach = reach_of(n, s.x, s.y)
                settled = is_settled(reach, nearest, limit)
                radius = next_radius(radius, reach, nearest, bins.frame)
                lo = m
        if settled and not walking and not crowded:
            n, crowded = retrace_cell(n, looked, px, py, near.x, near.y, wx, wy, s)
            if crowded and quick and not in_tree:  # to be found by its corners, in the tree
                near.spare[0] = 0.0
                most = LINES
                m = LINES + 1
                settled = crowded = False
        elif not settled:
            m, limit = gather(
                in_tree, p, t, m, limit, radius, most, cruise, legs, bins, tree, x, y, near, s.stack
            )
    return n, looked, nearest, reach
