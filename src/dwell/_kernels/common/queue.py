"""The event queue: a heap of due times and agents.

An entry holds an agent's number and, in its lower half, the row of its segment, so that agents
due at one time come in the order of their numbers.
"""

import numpy as np

from dwell._kernels._jit import inner

BRANCHES = 4  # few levels are worth more than few comparisons
HALF = 32  # bits of an entry
ROW = (1 << HALF) - 1  # those of the row


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
