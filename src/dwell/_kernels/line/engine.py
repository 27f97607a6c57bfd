"""The event loop on the line: see ../common/event_loop.py."""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import njit, spliced
from dwell._kernels.common.arithmetic import larger
from dwell._kernels.common.event_loop import event_loop
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.line.cells import integrate_cell, interval
from dwell._kernels.line.sorted_neighbors import SortedAgents, find_beside
from dwell._kernels.polygon.cell_list import FASTEST


class LineBuffers(NamedTuple):
    """Buffers of one run."""

    order: SortedAgents
    moments: np.ndarray  # see moments.py


class IntervalEnds(NamedTuple):
    """Ends of the workspace."""

    lower: float
    upper: float


@spliced
def measure(j, p, t, cruise, segments, domain, terms, log, memory):
    """Measure the cell of the agent in row p: see ../common/event_loop.py."""
    near = memory.order.near
    left, right = find_beside(p, t, cruise, segments.row, memory.order)
    a, a_low, b, b_low, label_a, label_b, nearest = interval(
        0, near, left, right, domain.lower, domain.upper
    )
    status = COINCIDENT
    neighbors = 0
    if nearest != 0.0:
        status, e, _, _, _ = integrate_cell(
            a, a_low, b, b_low, near[0], domain.lower, domain.upper, terms, memory.moments
        )
        log.positions[0, j] = near[0]
        log.errors[0, j] = e
        neighbors = (label_a >= 0) + (label_b >= 0) if a < b else 0
    return status, neighbors, nearest


@spliced
def note_jump(j, p, t, following, cruise, segments, log, memory):
    """Note the speed of the agent in the clock of the sorted order."""
    clock = memory.order.clock
    clock[FASTEST] = larger(clock[FASTEST], log.holds[0, j] * log.holds[0, j])


@njit
def run_events(until, segments, domain, terms, program, key, streams, log, memory):
    """Return (jumps, reason): see ../common/event_loop.py."""
    return event_loop(
        measure, note_jump, until, segments, domain, terms, program, key, streams, log, memory
    )
