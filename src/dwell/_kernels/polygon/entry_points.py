"""Entry points from Python: kernels over many rows at once, so that a call costs little."""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inlined, inner, njit, spliced
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.cell_table import (
    E0,
    E1,
    LOG_SCALE,
    MASS,
    NEAREST,
    NEIGHBORS,
    PLANAR,
    POLAR,
    STATUS,
)
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.common.tracks import move_terms
from dwell._kernels.polygon.cell_list import bin_of, initial_radius
from dwell._kernels.polygon.cells import (
    UNKNOWN,
    find_cell,
    first_trace,
    integrate_cell,
    measure_cell,
)
from dwell._kernels.polygon.gift_wrap import cell_among_few, traced_cell
from dwell._kernels.polygon.grid_stencil import block_limit, gather_block, touches_boundary
from dwell._kernels.polygon.moments import polygon_moments
from dwell._kernels.polygon.region_moments import is_confined, region_moments
from dwell._kernels.polygon.vertex_refinement import refine_if_thin

UNNAMED = -(2**62)  # the label of an agent that was not found at once in its bin
SCANNED = 32  # agents of a bin that are compared with a position


class Outlines(NamedTuple):
    """Vertices of cells, one cell after another, and what lies behind the edge after each."""

    vertex: np.ndarray  # (vertices, 2) relative to the agent
    behind: np.ndarray  # (vertices, 2) position of the agent behind the edge
    label: np.ndarray  # (vertices,) that agent; -1 - k for edge k of the workspace; UNNAMED
    sizes: np.ndarray  # (cells,) vertices of each cell
    filled: np.ndarray  # (2,) how many cells and vertices there are
    sharp: bool  # whether ill-conditioned vertices are computed with twice the digits


def make_outlines(cells: int, largest: int, sharp: bool) -> Outlines:
    """Space for so many ordinary cells, or for one of `largest` vertices."""
    most = max(8 * cells, largest)
    vertex, behind = np.empty((2, most, 2))
    label, sizes = np.empty(most, dtype=np.int64), np.empty(cells, dtype=np.int64)
    return Outlines(vertex, behind, label, sizes, np.zeros(2, dtype=np.int64), sharp)


@inner
def put_row(k, measured, out):
    """Write the result of `measure_cell` into row k of `out`."""
    status, ex, ey, log_scale, m, polar, neighbors, nearest = measured
    out[k, STATUS] = status
    out[k, E0] = ex
    out[k, E1] = ey
    out[k, LOG_SCALE] = log_scale
    out[k, MASS] = m
    out[k, POLAR] = polar
    out[k, NEIGHBORS] = neighbors
    out[k, NEAREST] = nearest


@njit
def measure_many(lo, hi, row, agent, times, x, y, wx, wy, terms, radius, out, s):
    """Measure the cells of agent[k] in configuration row[k] of x, y (rows, agents); k = lo..hi.

    times: (rows,) when each configuration is assumed.
    """
    for k in range(lo, hi):
        r = row[k]
        move_terms(times[r], terms)
        put_row(k, measure_cell(traced_cell, agent[k], x[r], y[r], wx, wy, terms, radius, s), out)


@njit
def measure_few(lo, hi, row, agent, times, x, y, wx, wy, terms, radius, out, s):
    """Measure cells among at most LINES agents: see `measure_many`."""
    for k in range(lo, hi):
        r = row[k]
        move_terms(times[r], terms)
        put_row(
            k, measure_cell(cell_among_few, agent[k], x[r], y[r], wx, wy, terms, radius, s), out
        )


@inner
def copy_vertices(n, x, y, to_x, to_y):
    """Copy n vertices."""
    for i in range(n):
        to_x[i] = x[i]
        to_y[i] = y[i]


@inlined
def confined_polar(n, px, py, terms, region, ex, ey, s):
    """Polar moment about (ex, ey) of what of the polygon in `s` is in a region (not None)."""
    if region is None:
        return 0.0
    _, _, _, _, polar = region_moments(n, px, py, terms, region, None, ex, ey, s)
    return polar


@spliced
def second_moment(n, px, py, ex, ey, near, wx, wy, terms, s):
    """Polar moment of the polygon in s.kept_x, s.kept_y about its centroid, without loss."""
    copy_vertices(n, s.kept_x, s.kept_y, s.x, s.y)
    sharp = refine_if_thin(n, px, py, near.x, near.y, wx, wy, s)
    if is_confined(terms.region):
        polar = confined_polar(n, px, py, terms, terms.region, ex, ey, s)
    else:
        _, _, _, _, polar = polygon_moments(n, px, py, terms, ex, ey, sharp, s)
    return polar


@inner
def agent_at(qx, qy, bins, x, y):
    """The number of the agent at a position, or UNNAMED if many agents share its bin."""
    b = bin_of(qx, qy, bins.frame)
    begin = bins.first[b]
    for i in range(begin, smaller(bins.first[b + 1], begin + SCANNED)):
        if x[i] == qx and y[i] == qy:
            return int(bins.who[i])
    return UNNAMED


@spliced
def add_outline(n, px, py, xs, ys, wx, wy, outlines, s):
    """Append the cell in s.x, s.y, s.label to `outlines`; return whether it fits."""
    cell = outlines.filled[0]
    first = outlines.filled[1]
    n = larger(n, 0)
    if first + n > outlines.vertex.shape[0]:
        return False
    if outlines.sharp and n > 0:
        copy_vertices(n, s.x, s.y, s.kept_x, s.kept_y)
        refine_if_thin(n, px, py, xs, ys, wx, wy, s)
    for i in range(n):
        outlines.vertex[first + i, 0] = s.x[i]
        outlines.vertex[first + i, 1] = s.y[i]
        q = int(s.label[i])
        outlines.label[first + i] = q
        if q >= 0:
            outlines.behind[first + i, 0] = xs[q]
            outlines.behind[first + i, 1] = ys[q]
    if outlines.sharp:
        copy_vertices(n, s.kept_x, s.kept_y, s.x, s.y)
    outlines.sizes[cell] = n
    outlines.filled[0] = cell + 1
    outlines.filled[1] = first + n
    return True


@njit
def outline_few(count, x, y, wx, wy, outlines, s):
    """Append the cells of the first agents among at most LINES to `outlines`, which has space.

    Returns how many: up to the first agent at the place of another one.
    """
    for p in range(count):
        n, _, _ = cell_among_few(p, True, x[p], y[p], x, y, wx, wy, s)
        if n == COINCIDENT:
            return p
        add_outline(n, x[p], y[p], x, y, wx, wy, outlines, s)
    return count


@inner
def name_agents(first, bins, x, y, outlines):
    """Replace labels from the vertex `first` on, which count agents nearby, by agents' numbers."""
    for i in range(first, outlines.filled[1]):
        if outlines.label[i] >= 0:
            behind = outlines.behind[i]
            outlines.label[i] = agent_at(behind[0], behind[1], bins, x, y)


@inner
def hand_out(lo, hi, who, found, out):
    """Copy rows lo..hi to the agents they belong to.

    All at once: a write far away delays every write after it, and measuring a cell writes a lot.
    """
    for k in range(lo, hi):
        q = who[k]
        for c in range(PLANAR):
            out[q, c] = found[k - lo, c]


@njit
def measure_all(
    lo, hi, bins, tree, x, y, wx, wy, terms, sensing, near, found, out, second, outlines, s
):
    """Measure the cells of agents lo..hi in the order of bins; `out` is in that of their numbers.

    Returns up to where it came: hi; or the first agent that needs the tree, which must then be
    built (build_at_rest); or the first whose cell does not fit into `outlines`, which may be None.
    x, y: all positions in the order of bins, with some to spare. Each cell is found among the
    agents round it: see grid_stencil.py and cells.py. `second` is filled with polar moments
    about centroids, divided by exp(log_scale), unless it is empty. found: hi - lo rows of `out`.
    sensing: the radius of all agents, or None; outlines and `second` do not use it.
    """
    reach = 0.0
    thorough = second.shape[0] > 0
    quick = terms.lattice.shape[0] == 0
    b = bin_of(x[lo], y[lo], bins.frame) if lo < hi else 0
    listed = -1  # whose block is in `near`
    m = own = 0
    on_boundary = False
    reached = hi
    for k in range(lo, hi):
        px = x[k]
        py = y[k]
        n = candidates = p = 0
        nearest = -1.0
        radius = initial_radius(reach, bins.frame)  # the one before was a neighbour, most likely
        tracing = guess = quick
        if quick and not near.crowded[0]:
            while bins.first[b + 1] <= k:
                b += 1
            if listed != b:
                m, own = gather_block(b, bins, x, y, near)
                on_boundary = touches_boundary(b, bins.frame, wx, wy)
                listed = b
            if m > 0:
                p = own + k - bins.first[b]
                limit = block_limit(b, px, py, bins.frame)
                within = 0.5 * limit if on_boundary else 0.0
                n, nearest, reach, needed = first_trace(
                    m, p, limit, within, px, py, wx, wy, bins.frame, near, s
                )
                tracing = needed > 0.0
                guess = not tracing
                radius = needed if tracing else radius
        if n == 0:
            p = 0
            listed = -1
            near.x[0] = px
            near.y[0] = py
            n, candidates, nearest, reach = find_cell(
                k, 0.0, radius, guess, tracing, quick, 0.0, None, None, bins, tree, x, y, wx, wy,
                near, s,
            )  # fmt: skip
        fits = n != UNKNOWN
        if fits and outlines is not None:
            first = outlines.filled[1]
            fits = add_outline(n, px, py, near.x, near.y, wx, wy, outlines, s)
            name_agents(first, bins, x, y, outlines)
        if not fits:
            reached = k
            break
        if thorough:
            copy_vertices(n, s.x, s.y, s.kept_x, s.kept_y)
        measured = integrate_cell(
            p, n, candidates, nearest, near.x, near.y, wx, wy, terms, sensing, s
        )
        put_row(k - lo, measured, found)
        if thorough:
            status, ex, ey, _, _, _, _, _ = measured
            q = bins.who[k]
            second[q] = 0.0
            if status == 0:
                second[q] = second_moment(n, px, py, ex, ey, near, wx, wy, terms, s)
    hand_out(lo, reached, bins.who, found, out)
    return reached


@njit
def cell_of(p, xs, ys, wx, wy, s):
    """One Voronoi cell: see halfplane_clip.py."""
    return traced_cell(p, True, xs[p], ys[p], xs, ys, wx, wy, s)


@njit
def moments_of(n, x0, y0, terms, px, py, sharp, s):
    """Moments of the polygon in s.x, s.y: see moments.py."""
    return polygon_moments(n, x0, y0, terms, px, py, sharp, s)
