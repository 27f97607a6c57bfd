"""The cell of one agent among those near it: bins first, the tree where they hold too many.

A disc is gathered; the boundary is traced (gift_wrap.py) or, where that fails, the cell is clipped
by agents in increasing distance (halfplane_clip.py); the disc grows until no agent outside can
matter. Where bins list more than LINES agents, a tree lists the disc instead, and where the disc
itself holds too many, it finds the cell by its vertices (box_tree.py). After such a cell the next
one is found by its vertices at once: it is likely to be crowded as well.
"""

import math

from dwell._kernels._jit import inner, spliced
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.polygon.box_tree import (
    WORN,
    age_of,
    build_moving,
    holds_more,
    leaf_radius,
    list_within,
)
from dwell._kernels.polygon.buffers import LINES
from dwell._kernels.polygon.cell_list import gather, next_radius, required_radius
from dwell._kernels.polygon.cell_measurement import is_settled, reach_of
from dwell._kernels.polygon.gift_wrap import retrace_cell, trace_near
from dwell._kernels.polygon.halfplane_clip import CLOSER, WITHIN, cut_cell, farthest, whole_cell
from dwell._kernels.polygon.vertex_search import cell_by_vertices

UNKNOWN = -3  # vertices of a cell for which the tree must be built first


@spliced
def first_trace(m, own, limit, within, px, py, wx, wy, frame, near, s):
    """Trace a cell among the m agents in `near`; return whether and what there is left to do.

    All agents up to the squared distance `limit` are listed; workspace edges are left out as in
    `trace_near`. Returns (vertices, squared distance of the nearest, reach, radius of a disc that
    is likely to be enough); no vertices if the cell is not settled, no radius if none was traced.
    """
    n, nearest, squared = trace_near(m, own, within, px, py, near.x, near.y, wx, wy, s)
    reach = math.sqrt(WITHIN * squared)
    radius = required_radius(reach, frame) if n > 0 else 0.0
    if limit > 0.0:  # workspace edges that were left out may cut the cell
        radius = smaller(radius, 2.0 * math.sqrt(limit))
    return n if is_settled(reach, nearest, limit) else 0, nearest, reach, radius


@inner
def gather_in(
    in_tree, p, t, m, beyond, radius, most, cruise, row, bins, tree, x, y, near, stack, stack_bits
):
    """List the agents in a disc round p, by the tree or by bins: see `gather`."""
    if in_tree:
        limit = radius * radius
        return list_within(
            p, t, m, beyond, limit, most, cruise, row, tree, stack, stack_bits, near
        ), limit
    return gather(p, t, m, beyond, radius, most, cruise, row, bins, x, y, near)


@inner
def prepare_tree(t, cruise, segments, tree, near):
    """Build the tree of moving agents if need be; return whether there is one."""
    near.unused[0] = 0
    if segments is not None:
        row = segments.row
        if not tree.built[0] or near.visits[0] > WORN * row.shape[0]:
            build_moving(t, cruise, row, segments.due, segments.queue, tree)
            near.visits[0] = 0.0
    return tree.built[0]


@inner
def is_crowded(p, t, m, limit, px, py, cruise, row, tree, stack, stack_bits, near):
    """Whether more than LINES agents are within a squared distance; m: listed in `near` so far."""
    if holds_more(p, px, py, limit, LINES + 1, age_of(t, row, tree), tree):
        return True
    most = m + LINES
    return (
        list_within(p, t, m, -1.0, limit, most, cruise, row, tree, stack, stack_bits, near) > most
    )


@inner
def find_cell(
    p, t, radius, guess, tracing, quick, cruise, segments, row, bins, tree, x, y, wx, wy, near, s
):
    """Find the cell of agent p, which is first in `near`.

    radius: of the first disc; guess: whether it is one; tracing: whether a trace may succeed;
    quick: the candidates are not needed afterwards. `segments` and `row` are None for agents at
    rest at (x, y). Returns (vertices, candidates, squared distance of the nearest, reach).
    """
    px = near.x[0]
    py = near.y[0]
    in_tree = settled = crowded = False
    most = LINES if quick else near.x.shape[0]
    n = candidates = 0
    lo = 1  # the first agent that has not clipped the cell; 1: begin with the whole workspace
    nearest = -1.0
    reach = 0.0
    m, limit = most + 1, -1.0
    if not near.crowded[0]:
        m, limit = gather(p, t, 1, -1.0, radius, most, cruise, row, bins, x, y, near)
    while not settled:
        if m > most and not in_tree:
            if not prepare_tree(t, cruise, segments, tree, near):
                return UNKNOWN, 0, -1.0, 0.0
            in_tree = tracing = True
            lo = 1
            radius = smaller(radius, leaf_radius(p, tree)) if guess else radius
            if not near.crowded[0]:
                m, limit = gather_in(
                    True, p, t, 1, -1.0, radius, most, cruise, row, bins, tree, x, y, near,
                    s.stack, s.stack_bits,
                )  # fmt: skip
        if tracing:
            n, nearest, squared = trace_near(m, 0, 0.5 * limit, px, py, near.x, near.y, wx, wy, s)
            tracing = n > 0
            reach = math.sqrt(WITHIN * squared)
            settled = tracing and is_settled(reach, nearest, limit)
            radius = required_radius(reach, bins.frame) if tracing else radius
            guess = guess and not tracing
        if in_tree and not tracing and most == LINES:
            n, nearest, m = cell_by_vertices(p, t, px, py, x, y, cruise, row, tree, near, wx, wy, s)
            limit = CLOSER * farthest(n, s.x, s.y)
            crowded = n == COINCIDENT or is_crowded(
                p, t, m, limit, px, py, cruise, row, tree, s.stack, s.stack_bits, near
            )
            near.crowded[0] = settled = crowded
            reach = reach_of(n, s.x, s.y)
            if not crowded:  # but for rounding, the cell clipped by all agents within its reach
                most = near.x.shape[0]
                radius = larger(required_radius(reach, bins.frame), 2.0 * math.sqrt(nearest))
                m, limit = gather_in(
                    True, p, t, 1, -1.0, radius, most, cruise, row, bins, tree, x, y, near,
                    s.stack, s.stack_bits,
                )  # fmt: skip
        if not (tracing or crowded):
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
        if not settled:
            m, limit = gather_in(
                in_tree, p, t, m, limit, radius, most, cruise, row, bins, tree, x, y, near,
                s.stack, s.stack_bits,
            )  # fmt: skip
    if not (tracing or crowded):
        n, _ = retrace_cell(n, candidates, px, py, near.x, near.y, wx, wy, s)
    return n, candidates, nearest, reach
