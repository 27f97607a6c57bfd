"""The cell of one agent, found among those near it, and measured.

A disc of bins is gathered; the boundary is traced (gift_wrap.py) or, where that fails, the cell is
clipped by agents in increasing distance (halfplane_clip.py); the disc grows until no agent outside
can matter. Where bins list more than LINES agents, a tree lists the disc instead, and where the
disc itself holds too many, it finds the cell by its vertices (box_tree.py). After such a cell the
next one is found by its vertices at once: it is likely to be crowded as well.

A measurement has the moments of a cell, and its centroid relative to the agent.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner, spliced
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.status import COINCIDENT, NO_MASS
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
from dwell._kernels.polygon.disc_caps import limited_moments
from dwell._kernels.polygon.disc_clip import clip_to_disc, is_cut
from dwell._kernels.polygon.gaussian import top_exponent
from dwell._kernels.polygon.gift_wrap import retrace_cell, trace_near
from dwell._kernels.polygon.grid_quadrature import grid_moments
from dwell._kernels.polygon.halfplane_clip import CLOSER, WITHIN, cut_cell, farthest, whole_cell
from dwell._kernels.polygon.moments import polygon_moments
from dwell._kernels.polygon.region_moments import is_confined, nearest_in_region, region_moments
from dwell._kernels.polygon.vertex_refinement import refine_if_thin
from dwell._kernels.polygon.vertex_search import cell_by_vertices

UNKNOWN = -3  # vertices of a cell for which the tree must be built first
ROUND = (1.0, 0.0, 1.0)  # the form of |z|**2


@inner
def reach_of(n, x, y):
    """How far an agent may be to change a cell; 0 for an empty one."""
    return np.sqrt(WITHIN * farthest(n, x, y)) if n > 0 else 0.0


@inner
def is_settled(reach, nearest, limit):
    """Whether no agent beyond the squared distance `limit` can change the cell or be nearest."""
    return limit == np.inf or (nearest >= 0.0 and reach * reach <= limit)


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

    Agents in a disc about p are listed, and the disc grows until no agent outside can change the
    cell (`settled`). For each disc:

        the list has more than `most` agents       -> the tree lists a smaller disc (`in_tree`)
        `tracing`                                  -> trace the boundary among those listed;
                                                      where that fails, never again
        `in_tree`, not `tracing`, the first time   -> find the vertices in the tree; done if more
                                                      than LINES agents are in reach (`crowded`)
        neither                                    -> clip the cell by those listed since

    Where the cell before was crowded, the tree and its vertices come first.

    radius: of the first disc; guess: whether it is one; tracing: whether a trace may succeed;
    quick: the candidates are not needed afterwards. `segments` and `row` are None for agents at
    rest at (x, y). `m` agents are listed, up to the squared distance `limit`; the first `lo` have
    clipped the cell. Returns (vertices, candidates, squared distance of the nearest, reach).
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


@inner
def nearest_point(px, py, wx, wy, region, x, y, label):
    """From an agent to the nearest point of the workspace, or of a region in it (not None)."""
    if region is None:
        _, ex, ey = top_exponent(wx.shape[0], px, py, ROUND, wx, wy)
        return ex, ey
    return nearest_in_region(px, py, region, x, y, label)


@inner
def way_to_workspace(px, py, wx, wy, region, radius, x, y, label):
    """From an agent without mass to the nearest point of the workspace; none with a radius."""
    ex, ey = nearest_point(px, py, wx, wy, region, x, y, label)
    if radius is None:
        return ex, ey
    return (0.0, 0.0) if radius < np.inf else (ex, ey)


@inner
def count_neighbors(n, label):
    """How many agents a cell borders, each along one edge."""
    found = 0
    for k in range(n):
        found += 1 if label[k] >= 0 else 0
    return found


@inlined
def confined_moments(n, px, py, terms, region, radius, s):
    """(neighbours, log_scale, mass, first x, first y, polar) of what of a cell is in a region.

    With a radius (not None) only what is within a disc counts. Nothing is computed without a region
    (None).
    """
    if region is None:
        return 0, 0.0, 0.0, 0.0, 0.0, 0.0
    n = cut_to_disc(n, radius, s)
    neighbors = count_neighbors(n, s.label)
    log_scale, m, fx, fy, polar = region_moments(n, px, py, terms, region, radius, 0.0, 0.0, s)
    return neighbors, log_scale, m, fx, fy, polar


@inlined
def cut_to_disc(n, radius, s):
    """Cut the cell in `s` by the disc of this radius, if there is one that does; its vertices."""
    if radius is None:
        return n
    return clip_to_disc(n, radius, s) if is_cut(n, radius, s.x, s.y) else n


@spliced
def integrate_cell(p, n, candidates, nearest, xs, ys, wx, wy, terms, radius, s):
    """Return the measurement of the cell whose n vertices are in `s`: see `measure_cell`."""
    if n == COINCIDENT:
        return COINCIDENT, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0
    px = xs[p]
    py = ys[p]
    log_scale = m = fx = fy = polar = 0.0
    neighbors = 0
    if n > 0:
        if terms.lattice.shape[0] > 0:
            m, fx, fy, polar = grid_moments(n, p, xs, ys, terms, candidates, s)
        else:
            sharp = refine_if_thin(n, px, py, xs, ys, wx, wy, s)
            if is_confined(terms.region):
                neighbors, log_scale, m, fx, fy, polar = confined_moments(
                    n, px, py, terms, terms.region, radius, s
                )
                n = 0
            elif is_cut(n, radius, s.x, s.y):
                n, log_scale, m, fx, fy, polar = limited_moments(n, px, py, terms, radius, s)
            else:
                log_scale, m, fx, fy, polar = polygon_moments(n, px, py, terms, 0.0, 0.0, sharp, s)
    for k in range(n):  # an agent borders along one edge
        neighbors += 1 if s.label[k] >= 0 else 0
    if m > 0.0:
        return 0, fx / m, fy / m, log_scale, m, polar, neighbors, nearest
    ex, ey = way_to_workspace(px, py, wx, wy, terms.region, radius, s.x, s.y, s.label)
    return NO_MASS, ex, ey, 0.0, 0.0, 0.0, neighbors, nearest


@spliced
def measure_cell(find, p, xs, ys, wx, wy, terms, radius, s):
    """(status, error x, error y, log_scale, mass, polar, neighbors, nearest squared distance).

    status: 0, COINCIDENT or NO_MASS. The error is centroid minus position, taken in the agent's
    own frame; polar is the second moment about the position. mass and polar come divided by
    exp(log_scale). Without mass the error leads to the nearest point of the workspace. `find` is
    `traced_cell` or `cell_among_few`. With a radius (not None), only the part of the cell within a
    disc about the agent counts, and without mass the error is 0.
    """
    quick = terms.lattice.shape[0] == 0
    n, candidates, nearest = find(p, quick, xs[p], ys[p], xs, ys, wx, wy, s)
    return integrate_cell(p, n, candidates, nearest, xs, ys, wx, wy, terms, radius, s)
