"""The event loop on the line: see ../engine.py."""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit, spliced
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.engine import event_loop
from dwell._kernels.legs import AFTER_SINCE
from dwell._kernels.line.cells import NOBODY, interval
from dwell._kernels.line.look import weigh
from dwell._kernels.marks import COINCIDENT

START, HOLD = 0, 1
SINCE = 2 + AFTER_SINCE
BELOW, ABOVE = 1, 2  # of `near`; 0 is the agent itself


class Memory(NamedTuple):
    """Buffers of one run."""

    near: np.ndarray  # (3,) positions of an agent, of the next one below and of the next one above
    moments: np.ndarray  # see moments.py


class Domain(NamedTuple):
    """Ends of the workspace."""

    lower: float
    upper: float


@inner
def place_at(t, q, cruise, row):
    """Return the position of agent q at time t."""
    return row[q, START] + row[q, HOLD] * smaller(t - row[q, SINCE], cruise)


@inner
def find_beside(p, t, cruise, row, near):
    """Write the positions of agent p and of the agents next to it into `near`.

    The next one below may be at the same position. Returns (BELOW or NOBODY, ABOVE or NOBODY).
    """
    x = place_at(t, p, cruise, row)
    below = -np.inf
    above = np.inf
    for q in range(row.shape[0]):
        z = place_at(t, q, cruise, row)
        if q != p and z <= x:
            below = larger(below, z)
        elif z > x:
            above = smaller(above, z)
    near[0] = x
    near[BELOW] = below
    near[ABOVE] = above
    return BELOW if below > -np.inf else NOBODY, ABOVE if above < np.inf else NOBODY


@spliced
def measure(j, p, t, cruise, legs, domain, terms, log, memory):
    """Measure the cell of the agent in row p: see ../engine.py."""
    near = memory.near
    left, right = find_beside(p, t, cruise, legs.row, near)
    a, a_low, b, b_low, label_a, label_b, nearest = interval(
        0, near, left, right, domain.lower, domain.upper
    )
    status = COINCIDENT
    neighbors = 0
    if nearest != 0.0:
        status, e, _, _, _ = weigh(
            a, a_low, b, b_low, near[0], domain.lower, domain.upper, terms, memory.moments
        )
        log.positions[0, j] = near[0]
        log.errors[0, j] = e
        neighbors = (label_a >= 0) + (label_b >= 0) if a < b else 0
    return status, neighbors, nearest


@spliced
def note_jump(j, p, t, following, cruise, legs, log, memory):
    """Nothing: all agents are searched at every event."""
    return


@njit
def run_events(until, legs, domain, terms, program, key, streams, log, memory):
    """Return (jumps, reason): see ../engine.py."""
    return event_loop(
        measure, note_jump, until, legs, domain, terms, program, key, streams, log, memory
    )
