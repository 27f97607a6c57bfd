"""Trajectory segments, the event queue, and the position along a segment.

The velocity of a segment is held, and then may decay to rest. The queue is a heap of due times and
agents. An entry holds an agent's number and, in its lower half, the row of its segment, so that
agents due at one time come in the order of their numbers.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential

# Columns of the engine's table of segments, one row per agent in n dimensions: n coordinates of
# where the present segment began, n of its velocity, and after these 2 n: when it began; when the
# first sample is or was due; the reach of the last cell; samples taken so far.
AFTER_SINCE, AFTER_FIRST, AFTER_REACH, AFTER_SAMPLES = range(4)
COLUMNS = {1: 8, 2: 8, 3: 10}  # in the plane, and on the line, a row fills one line of the cache
START_X, START_Y, HOLD_X, HOLD_Y, SINCE, REACH = 0, 1, 2, 3, 4 + AFTER_SINCE, 4 + AFTER_REACH

BRANCHES = 4  # few levels are worth more than few comparisons
HALF = 32  # bits of an entry
ROW = (1 << HALF) - 1  # those of the row


class SegmentTable(NamedTuple):
    """Trajectory segments and event queue of a run: one entry per agent."""

    row: np.ndarray  # (N, columns) see above
    due: np.ndarray  # heap of (due, queue), earliest first: when the next sample is,
    queue: np.ndarray  # ... and whose


@njit
def fill_rows(number, start, hold, since, first, samples, row):
    """Fill the table of segments for agents in the order of `number`."""
    n = start.shape[1]
    for i in range(number.shape[0]):
        q = number[i]
        for k in range(n):
            row[i, k] = start[q, k]
            row[i, n + k] = hold[q, k]
        row[i, 2 * n + AFTER_SINCE] = since[q]
        row[i, 2 * n + AFTER_FIRST] = first[q]
        row[i, 2 * n + AFTER_SAMPLES] = samples[q]


def entries(number: np.ndarray, row: np.ndarray) -> np.ndarray:
    """The entries of agents and the rows of their segments."""
    return (np.asarray(number, dtype=np.int64) << HALF) | np.asarray(row, dtype=np.int64)


@inner
def row_in(entry):
    """The row of the segment."""
    return entry & ROW


@inner
def agent_in(entry):
    """The agent's number."""
    return entry >> HALF


@inner
def is_before(i, j, segments):
    """Whether entry i of the queue jumps before entry j: by time, then by the agent's number."""
    if segments.due[i] != segments.due[j]:
        return segments.due[i] < segments.due[j]
    return segments.queue[i] < segments.queue[j]


@inner
def sift_queue(segments):
    """Restore the queue after its first entry has changed."""
    n = segments.queue.shape[0]
    root = 0
    while True:
        child = BRANCHES * root + 1
        if child >= n:
            return
        for k in range(child + 1, min(child + BRANCHES, n)):
            if is_before(k, child, segments):
                child = k
        if not is_before(child, root, segments):
            return
        segments.due[child], segments.due[root] = segments.due[root], segments.due[child]
        segments.queue[child], segments.queue[root] = segments.queue[root], segments.queue[child]
        root = child


@njit
def effective_time(dt, cruise, fade):
    """The time after which the first velocity alone would have led to the position after dt.

    The velocity is held for a time `cruise` and then decays like `exp(-fade t)`; with an infinite
    `fade` the agent then stops at once.
    """
    if dt <= cruise:
        return dt
    return cruise + (1.0 - exponential(-fade * (dt - cruise))) / fade


@njit
def times_and_fractions(dt, cruise, fade, used, left):
    """Write effective times, and the fractions of the first velocities that are left."""
    for k in range(dt.shape[0]):
        used[k] = effective_time(dt[k], cruise[k], fade)
        left[k] = 1.0 if dt[k] <= cruise[k] else exponential(-fade * (dt[k] - cruise[k]))
