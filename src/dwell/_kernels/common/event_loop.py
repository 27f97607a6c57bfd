"""The event loop, compiled: from one jump to the next, one agent at a time.

An agent's position between its events is start + hold * (t - since), always taken from its own
last event, so nothing accumulates and the order of simultaneous jumps does not matter. It moves for
a time `cruise` at most (for ever, under most laws) and then stops.

A dimension supplies two functions, `measure` and `note_jump`, and the types of its domain and
buffers; their text becomes part of the loop: see
polygon/engine.py, line/engine.py and space/engine.py.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import spliced
from dwell._kernels.common.hold_law import next_sample, saturate
from dwell._kernels.common.philox import STREAM_RESETS, uniform
from dwell._kernels.common.segments import (
    AFTER_FIRST,
    AFTER_SAMPLES,
    AFTER_SINCE,
    agent_in,
    row_in,
    sift_queue,
)
from dwell._kernels.common.status import COINCIDENT, NO_MASS

FULL, REACHED, HIT = 0, 1, 2  # why the loop returned: buffer full, horizon, two agents coincide


class Log(NamedTuple):
    """One entry per jump; vectors are (n, jumps)."""

    time: np.ndarray
    agent: np.ndarray
    positions: np.ndarray
    holds: np.ndarray  # velocity from now on
    next_at: np.ndarray
    errors: np.ndarray  # centroid minus position
    hold_error: np.ndarray  # |hold - k1 sat(e)| just before the jump
    neighbors: np.ndarray
    nearest: np.ndarray  # distance of the nearest other agent
    empty: np.ndarray  # 1 when the cell has no mass


@spliced
def event_loop(
    measure, note_jump, until, segments, domain, terms, program, key, streams, log, memory
):  # fmt: skip
    """Execute jumps with t <= `until` while the log has space; return (jumps, reason).

    key: the seed's two words; streams: whose draws each row uses.

    `measure` writes the position of the agent in row p at time t, and its error, into entry j of
    the log, and returns (status, neighbors, squared distance of the nearest other agent or -1).
    `note_jump` brings the buffers up to date with the velocity of entry j.
    """
    row = segments.row
    n = log.positions.shape[0]
    j = 0
    while True:
        entry = segments.queue[0]
        p = row_in(entry)
        t = segments.due[0]
        if t > until:
            return j, REACHED
        if j == log.time.shape[0]:
            return j, FULL
        status, neighbors, nearest = measure(
            j, p, t, program.cruise, segments, domain, terms, log, memory
        )
        if status == COINCIDENT:
            return j, HIT
        saturate(j, log.errors, program.k1, program.reach, log.holds)
        k = int(row[p, 2 * n + AFTER_SAMPLES])
        draw = uniform(key[0], key[1], STREAM_RESETS, streams[p], k)
        following = next_sample(p, k, t, row[p, 2 * n + AFTER_FIRST], draw, program)
        change = 0.0
        for i in range(n):
            difference = row[p, n + i] - log.holds[i, j]
            change += difference * difference
            row[p, i] = log.positions[i, j]
            row[p, n + i] = log.holds[i, j]
        log.time[j] = t
        log.agent[j] = agent_in(entry)
        log.next_at[j] = following
        log.hold_error[j] = math.sqrt(change)
        log.neighbors[j] = neighbors
        log.nearest[j] = math.sqrt(nearest) if nearest >= 0.0 else np.inf
        log.empty[j] = 1 if status == NO_MASS else 0
        row[p, 2 * n + AFTER_SINCE] = t
        row[p, 2 * n + AFTER_SAMPLES] = k + 1
        segments.due[0] = following
        sift_queue(segments)
        note_jump(j, p, t, following, program.cruise, segments, log, memory)
        j += 1
