"""The event loop in the plane: see ../common/event_loop.py.

Of very many agents, those with consecutive events lie anywhere in memory. An event would wait for
its row, then for its bins, for the list of agents in them, and for their rows. Each of these is
requested at one stage of the event before it, so that it has arrived when the next stage reads it.
The next event is read off the queue. Should another one come first, it only waits for its memory.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit, spliced
from dwell._kernels.common.arithmetic import fetch, smaller
from dwell._kernels.common.bins import drift_at, place_in
from dwell._kernels.common.event_loop import event_loop
from dwell._kernels.common.segments import BRANCHES, REACH, is_before, row_in
from dwell._kernels.common.tracks import move_terms
from dwell._kernels.polygon.box_tree import Tree, enclose
from dwell._kernels.polygon.buffers import LINES, Scratch
from dwell._kernels.polygon.cell_list import (
    COLUMNS,
    ROWS,
    SIDE,
    Candidates,
    SquareBins,
    X,
    Y,
    gather,
    half_width,
    initial_radius,
    is_stale,
    note_speed,
    position_at,
    put_all,
)
from dwell._kernels.polygon.cells import find_cell, first_trace, integrate_cell, measure_cell
from dwell._kernels.polygon.gift_wrap import cell_among_few

MANY = 20_000  # agents from which an event waits for memory: fewer fit into the cache
MOST_ROWS = 8  # of bins that are requested


class PlanarBuffers(NamedTuple):
    """Buffers of one run."""

    bins: SquareBins
    tree: Tree
    near: Candidates
    scratch: Scratch
    plan: np.ndarray  # (MOST_ROWS, 2) parts of rows of bins: see `fetch_bins`


class PolygonVertices(NamedTuple):
    """Vertices of the workspace, counter-clockwise, and the radius of all agents."""

    x: np.ndarray
    y: np.ndarray
    radius: float | None  # None: unlimited


@inner
def fetch_next(segments):
    """Request the row of the next event's agent; return its place in the queue."""
    child = 1
    for k in range(2, smaller(1 + BRANCHES, segments.queue.shape[0])):
        if is_before(k, child, segments):
            child = k
    fetch(segments.row, row_in(segments.queue[child]))
    return child


@inner
def fetch_bins(following, cruise, segments, bins, plan):
    """Request where the bins round the next agent begin; list them in `plan`, return how many."""
    frame = bins.frame
    p = row_in(segments.queue[following])
    t = segments.due[following]
    px, py = position_at(t, p, cruise, segments.row)
    radius = initial_radius(segments.row[p, REACH], frame) + drift_at(t, bins.clock)
    low = place_in(py - radius, frame[Y], frame[SIDE], frame[ROWS])
    high = place_in(py + radius, frame[Y], frame[SIDE], frame[ROWS])
    high = smaller(high, low + MOST_ROWS - 1)
    for k in range(low, high + 1):
        half = half_width(k, py, radius, frame)
        left = place_in(px - half, frame[X], frame[SIDE], frame[COLUMNS])
        right = place_in(px + half, frame[X], frame[SIDE], frame[COLUMNS])
        plan[k - low, 0] = k * int(frame[COLUMNS]) + left
        plan[k - low, 1] = k * int(frame[COLUMNS]) + right + 1
        fetch(bins.first, plan[k - low, 0])
        fetch(bins.first, plan[k - low, 1])
    return high + 1 - low


@inner
def fetch_lists(parts, bins, plan):
    """Request the lists of agents in the bins of `plan`."""
    for k in range(parts):
        plan[k, 0] = bins.first[plan[k, 0]]
        plan[k, 1] = bins.first[plan[k, 1]]
        fetch(bins.who, plan[k, 0])


@inner
def fetch_rows(parts, row, bins, plan):
    """Request the rows of the agents in the bins of `plan`."""
    for k in range(parts):
        for i in range(plan[k, 0], plan[k, 1]):
            fetch(row, bins.who[i])


@spliced
def measure(j, p, t, cruise, segments, domain, terms, log, memory):
    """Measure the cell of the agent in row p: see ../common/event_loop.py."""
    move_terms(t, terms)
    row, bins, near = segments.row, memory.bins, memory.near
    quick = terms.lattice.shape[0] == 0  # else the moments need the candidates
    if is_stale(t, row.shape[0], bins):
        put_all(t, cruise, row, bins, near)
    many = row.shape[0] >= MANY
    following = fetch_next(segments) if many else 0
    px, py = position_at(t, p, cruise, row)
    near.x[0] = px
    near.y[0] = py
    radius = initial_radius(row[p, REACH], bins.frame)
    guess = row[p, REACH] == 0.0
    tracing = quick
    n = candidates = parts = 0
    nearest = -1.0
    reach = 0.0
    if quick and not near.crowded[0]:
        m, limit = gather(p, t, 1, -1.0, radius, LINES, cruise, row, bins, near.x, near.y, near)
        parts = fetch_bins(following, cruise, segments, bins, memory.plan) if many else 0
        n, nearest, reach, needed = first_trace(
            m, 0, limit, 0.5 * limit, px, py, domain.x, domain.y, bins.frame, near, memory.scratch
        )
        tracing = needed > 0.0 or m > LINES
        guess = guess and needed == 0.0
        radius = needed if needed > 0.0 else radius
    if n == 0:
        n, candidates, nearest, reach = find_cell(
            p, t, radius, guess, tracing, quick, cruise, segments, row, bins, memory.tree,
            near.x, near.y, domain.x, domain.y, near, memory.scratch,
        )  # fmt: skip
    row[p, REACH] = reach
    fetch_lists(parts, bins, memory.plan)
    status, ex, ey, _, _, _, neighbors, nearest = integrate_cell(
        0, n, candidates, nearest, near.x, near.y, domain.x, domain.y, terms, domain.radius,
        memory.scratch,
    )  # fmt: skip
    fetch_rows(parts, row, bins, memory.plan)
    log.positions[0, j] = px
    log.positions[1, j] = py
    log.errors[0, j] = ex
    log.errors[1, j] = ey
    return status, neighbors, nearest


@spliced
def note_jump(j, p, t, following, cruise, segments, log, memory):
    """Bring bins and tree up to date: see ../common/event_loop.py."""
    near, tree = memory.near, memory.tree
    note_speed(log.holds[0, j], log.holds[1, j], memory.bins.clock)
    near.unused[0] += 1
    if tree.built[0]:  # as long as it was needed lately
        tree.built[0] = near.unused[0] < segments.row.shape[0]
        enclose(p, t, following, cruise, segments.row, tree)


class FewBuffers(NamedTuple):
    """Buffers of one run of few agents, each of which is a candidate for every cell."""

    x: np.ndarray  # (N,) positions
    y: np.ndarray
    scratch: Scratch


@spliced
def measure_among_few(j, p, t, cruise, segments, domain, terms, log, memory):
    """Measure the cell of the agent in row p among few agents: see ../common/event_loop.py."""
    move_terms(t, terms)
    xs, ys = memory.x, memory.y
    for q in range(xs.shape[0]):
        xs[q], ys[q] = position_at(t, q, cruise, segments.row)
    status, ex, ey, _, _, _, neighbors, nearest = measure_cell(
        cell_among_few, p, xs, ys, domain.x, domain.y, terms, domain.radius, memory.scratch
    )
    log.positions[0, j] = xs[p]
    log.positions[1, j] = ys[p]
    log.errors[0, j] = ex
    log.errors[1, j] = ey
    return status, neighbors, nearest


@spliced
def note_nothing(j, p, t, following, cruise, segments, log, memory):
    """Do nothing: without a neighbour search no buffer depends on velocities."""


@njit
def run_few(until, segments, domain, terms, program, key, streams, log, memory):
    """Return (jumps, reason) of a run of few agents: see ../common/event_loop.py."""
    return event_loop(
        measure_among_few, note_nothing, until, segments, domain, terms, program, key, streams, log,
        memory,
    )  # fmt: skip


@njit
def run_events(until, segments, domain, terms, program, key, streams, log, memory):
    """Return (jumps, reason): see ../common/event_loop.py."""
    return event_loop(
        measure, note_jump, until, segments, domain, terms, program, key, streams, log, memory
    )
