"""Where Python enters: kernels over many rows at once, so that entering costs little."""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit, spliced
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.polygon.buffers import LINES
from dwell._kernels.polygon.cell_list import (
    SPARE_LISTED,
    bin_of,
    gather_at_rest,
    guessed,
    sufficient,
)
from dwell._kernels.polygon.cell_measurement import is_settled, look, sharpened, weigh
from dwell._kernels.polygon.cell_search import UNKNOWN, find_cell
from dwell._kernels.polygon.gift_wrap import trace_near, traced_cell
from dwell._kernels.polygon.grid_stencil import block_limit, gather_block, is_walled
from dwell._kernels.polygon.halfplane_clip import WITHIN
from dwell._kernels.polygon.moments import polygon_moments

# Columns of what `look_many` gives.
STATUS, ERROR_X, ERROR_Y, LOG_SCALE, MASS, POLAR, NEIGHBORS, NEAREST = range(8)
COLUMNS = 8


UNNAMED = -(2**62)  # the label of an agent that was not found at once in its bin
SCANNED = 32  # agents of a bin that are compared with a position


class Outlines(NamedTuple):
    """Vertices of cells, one cell after another, and what lies behind the edge after each."""

    vertex: np.ndarray  # (room, 2) relative to the agent
    behind: np.ndarray  # (room, 2) position of the agent behind the edge
    label: np.ndarray  # (room,) that agent; -1 - k for edge k of the workspace; UNNAMED
    sizes: np.ndarray  # (cells,) vertices of each cell
    filled: np.ndarray  # (2,) how many cells and vertices there are
    sharp: bool  # whether ill-conditioned vertices are computed with twice the digits


def make_outlines(cells: int, largest: int, sharp: bool) -> Outlines:
    """Room for so many ordinary cells, or for one of `largest` vertices."""
    room = max(8 * cells, largest)
    vertex, behind = np.empty((2, room, 2))
    label, sizes = np.empty(room, dtype=np.int64), np.empty(cells, dtype=np.int64)
    return Outlines(vertex, behind, label, sizes, np.zeros(2, dtype=np.int64), sharp)


@njit
def look_many(lo, hi, row, agent, x, y, wx, wy, terms, out, s):
    """Looks lo..hi: agent[k] looks in configuration row[k] of the tables x, y (rows, agents).

    Fills out[k] with the columns above: see cell_measurement.py.
    """
    for k in range(lo, hi):
        r = row[k]
        status, ex, ey, scale, m, polar, neighbors, d2 = look(
            agent[k], x[r], y[r], wx, wy, terms, s
        )
        out[k, STATUS] = status
        out[k, ERROR_X] = ex
        out[k, ERROR_Y] = ey
        out[k, LOG_SCALE] = scale
        out[k, MASS] = m
        out[k, POLAR] = polar
        out[k, NEIGHBORS] = neighbors
        out[k, NEAREST] = d2


@inner
def keep_corners(n, s):
    """Copy the polygon, which weighing it may move."""
    for i in range(n):
        s.kept_x[i] = s.x[i]
        s.kept_y[i] = s.y[i]


@spliced
def second_moment(n, px, py, ex, ey, near, wx, wy, terms, s):
    """Polar moment of the polygon that was kept about its centroid, without loss."""
    for i in range(n):
        s.x[i] = s.kept_x[i]
        s.y[i] = s.kept_y[i]
    sharp = sharpened(
        n, px, py, near.x, near.y, wx, wy, s.label, s.x, s.y, s.x2, s.y2, s.fan, s.side, s.label2
    )
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
def add_outline(n, px, py, bins, x, y, near, wx, wy, outlines, s):
    """Append the cell in s.x, s.y, s.label to `outlines`; returns whether there was room."""
    cell = outlines.filled[0]
    first = outlines.filled[1]
    n = larger(n, 0)
    if first + n > outlines.vertex.shape[0]:
        return False
    if outlines.sharp and n > 0:
        keep_corners(n, s)
        sharpened(
            n, px, py, near.x, near.y, wx, wy, s.label, s.x, s.y, s.x2, s.y2, s.fan, s.side,
            s.label2,
        )  # fmt: skip
    for i in range(n):
        outlines.vertex[first + i, 0] = s.x[i]
        outlines.vertex[first + i, 1] = s.y[i]
        q = int(s.label[i])
        if q >= 0:
            outlines.behind[first + i, 0] = near.x[q]
            outlines.behind[first + i, 1] = near.y[q]
            q = agent_at(near.x[q], near.y[q], bins, x, y)
        outlines.label[first + i] = q
    if outlines.sharp and n > 0:
        for i in range(n):
            s.x[i] = s.kept_x[i]
            s.y[i] = s.kept_y[i]
    outlines.sizes[cell] = n
    outlines.filled[0] = cell + 1
    outlines.filled[1] = first + n
    return True


@inner
def hand_out(lo, hi, who, found, out):
    """Rows lo..hi to those they belong to.

    All at once: a write far away holds up every write after it, and weighing a cell writes a lot.
    """
    for k in range(lo, hi):
        q = who[k]
        for c in range(COLUMNS):
            out[q, c] = found[k - lo, c]


@njit
def look_all(lo, hi, bins, tree, x, y, wx, wy, terms, near, found, out, second, outlines, s):
    """Looks lo..hi of agents in the order of their bins; `out` is in that of their numbers.

    Returns up to where it came: hi; or the first agent that needs the tree, which must then be
    built (build_at_rest); or the first whose cell has no room in `outlines`, which may be None.
    x, y: all places in the order of bins, with some to spare. Each cell is found among the agents
    round it: see grid_stencil.py and cell_search.py. `second` is filled with polar moments about
    centroids, divided by exp(log_scale), unless it is empty. found: room for hi - lo rows of `out`.
    """
    reach = 0.0
    thorough = second.shape[0] > 0
    quick = terms.lattice.shape[0] == 0
    most = LINES if quick else near.x.shape[0]
    near.spare[0] = SPARE_LISTED * (hi - lo)
    b = bin_of(x[lo], y[lo], bins.frame) if lo < hi else 0
    listed = -1  # whose block is in `near`
    m = own = 0
    walled = False
    for k in range(lo, hi):
        px = x[k]
        py = y[k]
        n = looked = p = 0
        nearest = -1.0
        radius = guessed(reach, bins.frame)  # the one before was a neighbour, most likely
        guess = True
        if quick:
            while bins.first[b + 1] <= k:
                b += 1
            if listed != b:
                m, own = gather_block(b, bins, x, y, near)
                walled = is_walled(b, bins.frame, wx, wy)
                listed = b
            if m > 0:
                p = own + k - bins.first[b]
                limit = block_limit(b, px, py, bins.frame)
                within = 0.5 * limit if walled else 0.0
                n, nearest, squared = trace_near(m, p, within, px, py, near.x, near.y, wx, wy, s)
                if n > 0:
                    reach = math.sqrt(WITHIN * squared)
                    if not is_settled(reach, nearest, limit):
                        radius = sufficient(reach, bins.frame)
                        guess = False
                        n = 0
        if n == 0:
            p = 0
            listed = -1
            near.x[0] = px
            near.y[0] = py
            m, limit = gather_at_rest(k, 1, -1.0, radius, most, bins, x, y, near)
            n, looked, nearest, reach = find_cell(
                k, 0.0, m, limit, radius, guess, quick, 0.0, None, None, bins, tree, x, y, wx, wy,
                near, s,
            )  # fmt: skip
            if n == UNKNOWN:
                hand_out(lo, k, bins.who, found, out)
                return k
        if outlines is not None:
            fits = add_outline(n, px, py, bins, x, y, near, wx, wy, outlines, s)
            if not fits:
                hand_out(lo, k, bins.who, found, out)
                return k
        if thorough:
            keep_corners(n, s)
        status, ex, ey, scale, mass, polar, neighbors, d2 = weigh(
            p, n, looked, nearest, near.x, near.y, wx, wy, terms, s
        )
        i = k - lo
        found[i, STATUS] = status
        found[i, ERROR_X] = ex
        found[i, ERROR_Y] = ey
        found[i, LOG_SCALE] = scale
        found[i, MASS] = mass
        found[i, POLAR] = polar
        found[i, NEIGHBORS] = neighbors
        found[i, NEAREST] = d2
        if thorough:
            q = bins.who[k]
            second[q] = 0.0
            if status == 0:
                second[q] = second_moment(n, px, py, ex, ey, near, wx, wy, terms, s)
    hand_out(lo, hi, bins.who, found, out)
    return hi


@njit
def cell_of(p, xs, ys, wx, wy, s):
    """One Voronoi cell: see halfplane_clip.py."""
    return traced_cell(p, True, xs[p], ys[p], xs, ys, wx, wy, s)


@njit
def moments_of(n, x0, y0, terms, px, py, sharp, s):
    """Moments of the polygon in s.x, s.y: see moments.py."""
    return polygon_moments(n, x0, y0, terms, px, py, sharp, s)
