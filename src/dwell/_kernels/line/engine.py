"""The event loop on the line, and the search for neighbours: see ../common/event_loop.py.

Moving agents are sorted by their positions at an earlier time. None has moved farther since then
than the fastest could have. A search outward from an agent's rank ends where the agents that follow
are too far away to be its neighbours, and finds those that a search through all agents finds. The
agents are sorted anew when searches have become long.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit, spliced
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.bins import FASTEST, PUT_AT, drift_at
from dwell._kernels.common.event_loop import event_loop
from dwell._kernels.common.segments import AFTER_SINCE
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.line.cells import NONE, integrate_cell, interval

START, HOLD = 0, 1
SINCE = 2 + AFTER_SINCE
BELOW, ABOVE = 1, 2  # of `near`; 0 is the agent itself
LONG = 16.0  # steps of searches per agent after which all are sorted anew
SLACK = 1e-14  # of the positions: they are rounded
STEPS = 2  # entry of the clock: steps of searches since agents were sorted


class SortedAgents(NamedTuple):
    """Agents by their positions when they were sorted."""

    clock: np.ndarray  # (3,) time of sorting, largest squared speed since then, steps
    agent: np.ndarray  # (N,) agents, sorted
    rank: np.ndarray  # (N,) index of each agent in `agent`
    then: np.ndarray  # (N,) positions, sorted
    near: np.ndarray  # (3,) positions of an agent, of the next one below and of the next one above


class LineBuffers(NamedTuple):
    """Buffers of one run."""

    order: SortedAgents
    moments: np.ndarray  # see cells.py


class IntervalEnds(NamedTuple):
    """Ends of the workspace."""

    lower: float
    upper: float


def make_order(agents: int) -> SortedAgents:
    """Buffers for so many agents, nearly sorted by their numbers; `sort_agents` fills them."""
    agent, rank = np.tile(np.arange(agents, dtype=np.int32), (2, 1))
    return SortedAgents(np.zeros(3), agent, rank, np.zeros(agents), np.empty(3))


@inner
def position_at(t, q, cruise, row):
    """Return the position of agent q at time t."""
    return row[q, START] + row[q, HOLD] * smaller(t - row[q, SINCE], cruise)


@njit
def sort_agents(t, cruise, row, order):
    """Sort all agents by their positions at time t, by insertion: few have changed order."""
    fastest = 0.0
    for k in range(row.shape[0]):
        q = order.agent[k]
        x = position_at(t, q, cruise, row)
        fastest = larger(fastest, row[q, HOLD] * row[q, HOLD])
        i = k
        while i > 0 and order.then[i - 1] > x:
            order.then[i], order.agent[i] = order.then[i - 1], order.agent[i - 1]
            i -= 1
        order.then[i], order.agent[i] = x, q
    for k in range(row.shape[0]):
        order.rank[order.agent[k]] = k
    order.clock[PUT_AT], order.clock[FASTEST], order.clock[STEPS] = t, fastest, 0.0


@inner
def note_position(x, near):
    """Keep x if it is the nearest position so far, below (or at the same position) or above."""
    if x <= near[0]:
        near[BELOW] = larger(near[BELOW], x)
    elif x < near[ABOVE]:
        near[ABOVE] = x


@inner
def find_beside(p, t, cruise, row, order):
    """Write the positions of agent p and of the agents next to it into order.near.

    The next one below may be at the same position. Returns (BELOW or NONE, ABOVE or NONE).
    """
    if order.clock[STEPS] > LONG * row.shape[0]:
        sort_agents(t, cruise, row, order)
    near, then, n = order.near, order.then, row.shape[0]
    near[0] = position_at(t, p, cruise, row)
    near[BELOW], near[ABOVE] = -np.inf, np.inf
    drift = drift_at(t, order.clock) + SLACK * larger(abs(then[0]), abs(then[n - 1]))
    k = order.rank[p] - 1
    while k >= 0 and then[k] + drift >= near[BELOW]:
        note_position(position_at(t, order.agent[k], cruise, row), near)
        k -= 1
    i = order.rank[p] + 1
    while i < n and then[i] - drift <= near[ABOVE]:
        note_position(position_at(t, order.agent[i], cruise, row), near)
        i += 1
    order.clock[STEPS] += i - k
    left = BELOW if near[BELOW] > -np.inf else NONE
    return left, ABOVE if near[ABOVE] < np.inf else NONE


@spliced
def measure(j, p, t, cruise, segments, domain, terms, log, memory):
    """Measure the cell of the agent in row p: see ../common/event_loop.py."""
    near = memory.order.near
    left, right = find_beside(p, t, cruise, segments.row, memory.order)
    a, a_low, b, b_low, label_a, label_b, nearest = interval(
        0, near, left, right, domain.lower, domain.upper
    )
    status, neighbors = COINCIDENT, 0
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
