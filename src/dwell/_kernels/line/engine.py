"""The event loop on the line, compiled: see ../engine.py, whose queue it shares."""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.engine import FULL, HIT, REACHED
from dwell._kernels.hold import next_look
from dwell._kernels.line.cells import interval
from dwell._kernels.line.legs import FIRST_AT, HOLD, LOOKS, SINCE, START
from dwell._kernels.line.look import weigh
from dwell._kernels.line.order import is_worn, look_beside, note_speed, put_in_order
from dwell._kernels.look import NO_MASS
from dwell._kernels.philox import STREAM_RESETS, uniform
from dwell._kernels.queue import agent_in, row_in, sift_queue


class Log(NamedTuple):
    """One entry per jump: see ../engine.py."""

    time: np.ndarray
    agent: np.ndarray
    x: np.ndarray
    hold_x: np.ndarray
    next_at: np.ndarray
    error_x: np.ndarray
    hold_error: np.ndarray
    neighbors: np.ndarray
    nearest: np.ndarray
    empty: np.ndarray


@inner
def saturated(e, k1, reach):
    """k1 sat(e, reach): see ../hold.py."""
    size = math.sqrt(e * e)
    return k1 * (e / (size if size > reach else reach))


@njit
def run_events(
    until, legs, lower, upper, terms, program, key, streams, log, order, memory
):  # fmt: skip
    """Execute jumps with t <= until as long as the log has room; gives (jumps, reason).

    key: the seed's two words; streams: whose draws each row uses;
    memory: for moments.
    """
    row, near = legs.row, order.near
    count = 0
    while True:
        whose = legs.queue[0]
        p = row_in(whose)
        t = legs.due[0]
        if t > until:
            return count, REACHED
        if count == log.time.shape[0]:
            return count, FULL
        if is_worn(order):
            put_in_order(t, program.cruise, row, order)
        left, right = look_beside(p, t, program.cruise, row, order)
        a, a_low, b, b_low, label_a, label_b, nearest = interval(0, near, left, right, lower, upper)
        if nearest == 0.0:
            return count, HIT
        status, e, _, _, _ = weigh(a, a_low, b, b_low, near[0], lower, upper, terms, memory)
        hold = saturated(e, program.k1, program.reach)
        k = int(row[p, LOOKS])
        draw = uniform(key[0], key[1], STREAM_RESETS, streams[p], k)
        following = next_look(p, k, t, row[p, FIRST_AT], draw, program)
        log.time[count] = t
        log.agent[count] = agent_in(whose)
        log.x[count] = near[0]
        log.hold_x[count] = hold
        log.next_at[count] = following
        log.error_x[count] = e
        change = row[p, HOLD] - hold
        log.hold_error[count] = math.sqrt(change * change)
        log.neighbors[count] = (label_a >= 0) + (label_b >= 0) if a < b else 0
        log.nearest[count] = math.sqrt(nearest) if nearest >= 0.0 else np.inf
        log.empty[count] = 1 if status == NO_MASS else 0
        count += 1
        row[p, START] = near[0]
        row[p, HOLD] = hold
        row[p, SINCE] = t
        row[p, LOOKS] = k + 1
        legs.due[0] = following
        sift_queue(legs)
        note_speed(hold, order.clock)
