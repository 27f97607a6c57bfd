"""The event loop in the plane: see ../common/event_loop.py."""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import njit, spliced
from dwell._kernels.common.event_loop import event_loop
from dwell._kernels.common.segments import REACH
from dwell._kernels.polygon.box_tree import Tree, enclose
from dwell._kernels.polygon.buffers import LINES, Scratch
from dwell._kernels.polygon.cell_list import (
    Candidates,
    SquareBins,
    gather,
    initial_radius,
    is_stale,
    note_speed,
    position_at,
    put_all,
)
from dwell._kernels.polygon.cell_measurement import integrate_cell, measure_cell
from dwell._kernels.polygon.cell_search import find_cell, first_trace
from dwell._kernels.polygon.gift_wrap import cell_among_few
from dwell._kernels.polygon.prefetch import (
    MANY,
    fetch_bins,
    fetch_lists,
    fetch_next,
    fetch_rows,
)


class PlanarBuffers(NamedTuple):
    """Buffers of one run."""

    bins: SquareBins
    tree: Tree
    near: Candidates
    scratch: Scratch
    plan: np.ndarray  # (MOST_ROWS, 2) parts of rows of bins: see prefetch.py


class PolygonVertices(NamedTuple):
    """Vertices of the workspace, counter-clockwise, and the radius of all agents."""

    x: np.ndarray
    y: np.ndarray
    radius: float | None  # None: unlimited


@spliced
def measure(j, p, t, cruise, segments, domain, terms, log, memory):
    """Measure the cell of the agent in row p: see ../common/event_loop.py."""
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
    """Return (jumps, reason) for at most LINES agents: see ../common/event_loop.py."""
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
