"""The event loop in space: see ../common/event_loop.py."""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import njit, spliced
from dwell._kernels.common.bins import are_many
from dwell._kernels.common.cell_table import E0, E1, E2, NEIGHBORS, STATUS
from dwell._kernels.common.event_loop import event_loop
from dwell._kernels.space.cells import find_cell
from dwell._kernels.space.measure import measure_cell
from dwell._kernels.space.memory import BinGrid, CellBuffers
from dwell._kernels.space.neighbors import REACH, is_worn, note_speed, put_all


class SpaceMemory(NamedTuple):
    """Buffers of one run."""

    bins: BinGrid
    scratch: CellBuffers
    seen: np.ndarray  # one measurement: see measure.py


@spliced
def measure(j, p, t, cruise, segments, solid, terms, log, memory):
    """Measure the cell of the agent in row p: see ../common/event_loop.py."""
    row, grid, seen = segments.row, memory.bins, memory.seen
    if are_many(grid) and is_worn(t, grid):
        put_all(t, cruise, row, grid)
    n, _, nearest, row[p, REACH] = find_cell(
        p, t, row[p, REACH], cruise, row, solid, grid, memory.scratch
    )
    measure_cell(n, nearest, 0, solid, grid, terms, memory.scratch, seen)
    places, errors = log.positions, log.errors
    places[0, j], places[1, j], places[2, j] = grid.x[0], grid.y[0], grid.z[0]
    errors[0, j], errors[1, j], errors[2, j] = seen[E0], seen[E1], seen[E2]
    return int(seen[STATUS]), int(seen[NEIGHBORS]), nearest


@spliced
def note_jump(j, p, t, following, cruise, segments, log, memory):
    """Bring the bins up to date: see ../common/event_loop.py."""
    note_speed(log.holds[0, j], log.holds[1, j], log.holds[2, j], memory.bins.clock)


@njit
def run_events(until, segments, solid, terms, program, key, streams, log, memory):
    """Return (jumps, reason): see ../common/event_loop.py."""
    return event_loop(
        measure, note_jump, until, segments, solid, terms, program, key, streams, log, memory
    )
