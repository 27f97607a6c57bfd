"""The event loop in space: see ../common/event_loop.py."""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit, spliced
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.event_loop import event_loop
from dwell._kernels.polygon.cell_list import are_many
from dwell._kernels.space.bins import (
    REACH,
    CubicBins,
    gather,
    guessed,
    is_worn,
    note_speed,
    put_all,
)
from dwell._kernels.space.cells import farthest, voronoi_cell
from dwell._kernels.space.measure import EX, EY, EZ, NEIGHBORS, STATUS, measure_cell


class SpaceMemory(NamedTuple):
    """Buffers of one run."""

    bins: CubicBins
    near: NamedTuple
    scratch: NamedTuple
    seen: np.ndarray  # one measurement: see measure.py


@inner
def cut_cell(p, t, binned, cruise, row, solid, bins, near, s):
    """Cut the cell of agent p at time t; return its vertices and the squared distance of the next.

    Leaves in `near` the agents that it was cut by, p first, and notes the reach of the cell.
    """
    radius = guessed(row[p, REACH], bins.frame)
    own = near.start[0]  # 0; for a constant all kernels would be compiled once more
    while True:
        limit = gather(p, t, radius, cruise, row, bins, near)
        n, _, nearest = voronoi_cell(own, solid, near, s)
        if not binned:
            return n, nearest
        reach = 4.0 * farthest(n, s.x, s.y, s.z) if n > 0 else 0.0
        if limit == np.inf or (nearest >= 0.0 and reach <= limit):
            row[p, REACH] = math.sqrt(reach)
            return n, nearest
        # Cells only shrink: no agent farther than this reach can matter.
        radius = smaller(2.0 * radius, larger(1.25 * radius, 1.01 * math.sqrt(reach)))


@spliced
def measure(j, p, t, cruise, segments, solid, terms, log, memory):
    """Measure the cell of the agent in row p: see ../common/event_loop.py."""
    row, bins, near, seen = segments.row, memory.bins, memory.near, memory.seen
    binned = are_many(bins)
    if binned and is_worn(t, row.shape[0], bins):
        put_all(t, cruise, row, bins, near)
    n, nearest = cut_cell(p, t, binned, cruise, row, solid, bins, near, memory.scratch)
    measure_cell(n, nearest, near.start[0], solid, near, terms, memory.scratch, seen)
    places, errors = log.positions, log.errors
    places[0, j], places[1, j], places[2, j] = near.x[0], near.y[0], near.z[0]
    errors[0, j], errors[1, j], errors[2, j] = seen[EX], seen[EY], seen[EZ]
    return int(seen[STATUS]), int(seen[NEIGHBORS]), nearest


@spliced
def note_jump(j, p, t, following, cruise, segments, log, memory):
    """Bring the bins up to date: see ../common/event_loop.py."""
    if are_many(memory.bins):
        note_speed(log.holds[0, j], log.holds[1, j], log.holds[2, j], memory.bins.clock)


@njit
def run_events(until, segments, solid, terms, program, key, streams, log, memory):
    """Return (jumps, reason): see ../common/event_loop.py."""
    return event_loop(
        measure, note_jump, until, segments, solid, terms, program, key, streams, log, memory
    )
