"""The event loop, compiled: from one jump to the next, one agent at a time.

An agent's position between its events is start + hold * (t - since), always taken from its own
last event, so nothing accumulates and the order of simultaneous jumps does not matter. It moves for
a time `cruise` at most (for ever, under most laws) and then stands.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.ahead import (
    MANY,
    fetch,
    fetch_bins,
    fetch_lists,
    fetch_rows,
    second_in,
    third_in,
)
from dwell._kernels.bins import (
    are_many,
    gather_moving,
    guessed,
    is_worn,
    next_radius,
    note_speed,
    place_at,
    put_all,
    sufficient,
)
from dwell._kernels.cells import COINCIDENT, WITHIN, cut_cell, whole_cell
from dwell._kernels.hold import next_look, saturated
from dwell._kernels.legs import FIRST_AT, HOLD_X, HOLD_Y, LOOKS, REACH, SINCE, START_X, START_Y
from dwell._kernels.look import NO_MASS, is_settled, reach_of, weigh
from dwell._kernels.philox import STREAM_RESETS, uniform
from dwell._kernels.trace import retrace_cell, trace_near

FULL, REACHED, HIT = 0, 1, 2  # why the loop came back: buffer full, horizon, two agents met
BRANCHES = 4  # of the queue: its few levels are worth more than its few comparisons


class Legs(NamedTuple):
    """All that changes during a run: one entry per agent."""

    row: np.ndarray  # (N, 8) see legs.py
    due: np.ndarray  # heap of (due, queue), earliest first: when the next look is,
    queue: np.ndarray  # ... and whose


class Log(NamedTuple):
    """One entry per jump."""

    time: np.ndarray
    agent: np.ndarray
    x: np.ndarray  # position
    y: np.ndarray
    hold_x: np.ndarray  # velocity from now on
    hold_y: np.ndarray
    next_at: np.ndarray
    error_x: np.ndarray  # centroid minus position
    error_y: np.ndarray
    hold_error: np.ndarray  # |hold - k1 sat(e)| just before the jump
    neighbors: np.ndarray
    nearest: np.ndarray  # distance of the nearest other agent
    empty: np.ndarray  # 1 when the cell weighed nothing


@njit
def fill_rows(number, start, hold, since, first, looks, at, row):
    """Fill the table of legs for agents in the order of `number`; `at`: see legs.py.

    at: the columns of when a leg began, when the first look is due, and looks made so far.
    """
    n = start.shape[1]
    for i in range(number.shape[0]):
        q = number[i]
        for k in range(n):
            row[i, k] = start[q, k]
            row[i, n + k] = hold[q, k]
        row[i, at[0]] = since[q]
        row[i, at[1]] = first[q]
        row[i, at[2]] = looks[q]


@inner
def is_before(i, j, legs, number):
    """Whether entry i of the queue jumps before entry j: by time, then by the agent's number."""
    if legs.due[i] != legs.due[j]:
        return legs.due[i] < legs.due[j]
    return number[legs.queue[i]] < number[legs.queue[j]]


@inner
def sift_queue(legs, number):
    """Restore the queue after its first entry has changed."""
    n = legs.queue.shape[0]
    root = 0
    while True:
        child = BRANCHES * root + 1
        if child >= n:
            return
        for k in range(child + 1, min(child + BRANCHES, n)):
            if is_before(k, child, legs, number):
                child = k
        if not is_before(child, root, legs, number):
            return
        legs.due[child], legs.due[root] = legs.due[root], legs.due[child]
        legs.queue[child], legs.queue[root] = legs.queue[root], legs.queue[child]
        root = child


@njit
def run_events(until, legs, number, wx, wy, terms, program, key, streams, log, bins, near, s):
    """Execute jumps with t <= until as long as the log has room; gives (jumps, reason).

    number: who is told to be in each row; key: the seed's two words; streams: whose draws it uses.
    """
    count = 0
    binned = are_many(bins)
    quick = terms.lattice.shape[0] == 0  # or whoever weighs asks who was looked at
    hurry = legs.row.shape[0] >= MANY
    rows = 0
    while True:
        p = legs.queue[0]
        t = legs.due[0]
        if t > until:
            return count, REACHED
        if count == log.time.shape[0]:
            return count, FULL
        if binned and is_worn(t, legs.row.shape[0], bins):
            put_all(t, program.cruise, legs.row, bins, near)
        if hurry:
            second = second_in(legs)
            rows = fetch_bins(second, program.cruise, legs, bins, s.ahead)
            after = legs.queue[third_in(second, legs)]
            fetch(legs.row, after)
            fetch(number, after)
            fetch(streams, after)
        px, py = place_at(t, p, program.cruise, legs.row)
        near.x[0] = px
        near.y[0] = py
        radius = guessed(legs.row[p, REACH], bins.frame)
        m, limit = gather_moving(p, t, 1, -1.0, radius, program.cruise, legs.row, bins, near)
        looked = 0
        nearest = -1.0
        n = 1 if quick else 0
        settled = False
        while n > 0 and not settled:
            n, nearest, squared = trace_near(m, 0, 0.5 * limit, px, py, near.x, near.y, wx, wy, s)
            reach = math.sqrt(WITHIN * squared)
            settled = n > 0 and is_settled(reach, nearest, limit)
            if n > 0 and not settled:
                radius = sufficient(reach, bins.frame)
                m, limit = gather_moving(
                    p, t, m, limit, radius, program.cruise, legs.row, bins, near
                )
        if not settled:
            n = whole_cell(px, py, wx, wy, s)
            n, looked, nearest = cut_cell(0, n, 1, m, 0, px, py, near.x, near.y, s)
            reach = reach_of(n, s.x, s.y)
            while not is_settled(reach, nearest, limit):
                radius = next_radius(radius, reach, nearest, bins.frame)
                lo = m
                m, limit = gather_moving(
                    p, t, lo, limit, radius, program.cruise, legs.row, bins, near
                )
                n, looked, d2 = cut_cell(0, n, lo, m, looked, px, py, near.x, near.y, s)
                nearest = nearest if nearest >= 0.0 else d2
                reach = reach_of(n, s.x, s.y)
            n = retrace_cell(n, looked, px, py, near.x, near.y, wx, wy, s)
        legs.row[p, REACH] = reach
        fetch_lists(rows, bins, s.ahead)
        status, ex, ey, _, _, _, neighbors, nearest = weigh(
            0, n, looked, nearest, near.x, near.y, wx, wy, terms, s
        )
        if status == COINCIDENT:
            return count, HIT
        fetch_rows(rows, legs, bins, s.ahead)
        ux, uy = saturated(ex, ey, program.k1, program.reach)
        dx = legs.row[p, HOLD_X] - ux
        dy = legs.row[p, HOLD_Y] - uy
        k = int(legs.row[p, LOOKS])
        draw = uniform(key[0], key[1], STREAM_RESETS, streams[p], k)
        following = next_look(p, k, t, legs.row[p, FIRST_AT], draw, program)
        log.time[count] = t
        log.agent[count] = number[p]
        log.x[count] = px
        log.y[count] = py
        log.hold_x[count] = ux
        log.hold_y[count] = uy
        log.next_at[count] = following
        log.error_x[count] = ex
        log.error_y[count] = ey
        log.hold_error[count] = math.sqrt(dx * dx + dy * dy)
        log.neighbors[count] = neighbors
        log.nearest[count] = math.sqrt(nearest) if nearest >= 0.0 else np.inf
        log.empty[count] = 1 if status == NO_MASS else 0
        count += 1
        legs.row[p, START_X] = px
        legs.row[p, START_Y] = py
        legs.row[p, HOLD_X] = ux
        legs.row[p, HOLD_Y] = uy
        legs.row[p, SINCE] = t
        legs.row[p, LOOKS] = k + 1
        legs.due[0] = following
        sift_queue(legs, number)
        if binned:
            note_speed(ux, uy, bins.clock)
