"""The event loop, compiled: from one jump to the next, one agent at a time.

An agent's position between its events is start + hold * (t - since), always taken from its own
last event, so nothing accumulates and the order of simultaneous jumps does not matter. It moves for
a time `cruise` at most (for ever, under most laws) and then stands.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import njit
from dwell._kernels.bins import (
    SPARE_LISTED,
    are_many,
    gather_moving,
    guessed,
    is_worn,
    note_speed,
    place_at,
    put_all,
)
from dwell._kernels.cells import COINCIDENT
from dwell._kernels.hold import next_look, saturated
from dwell._kernels.legs import FIRST_AT, HOLD_X, HOLD_Y, LOOKS, REACH, SINCE, START_X, START_Y
from dwell._kernels.look import NO_MASS, weigh
from dwell._kernels.philox import STREAM_RESETS, uniform
from dwell._kernels.queue import agent_in, row_in, sift_queue
from dwell._kernels.scratch import LINES
from dwell._kernels.search import find_cell
from dwell._kernels.tree import enclose

FULL, REACHED, HIT = 0, 1, 2  # why the loop came back: buffer full, horizon, two agents met


class Legs(NamedTuple):
    """All that changes during a run: one entry per agent."""

    row: np.ndarray  # (N, 8) see legs.py
    due: np.ndarray  # heap of (due, queue), earliest first: when the next look is,
    queue: np.ndarray  # ... and whose: see queue.py


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


@njit
def run_events(until, legs, wx, wy, terms, program, key, streams, log, bins, tree, near, s):
    """Execute jumps with t <= until as long as the log has room; gives (jumps, reason).

    key: the seed's two words; streams: whose draws each row uses.
    """
    count = 0
    binned = are_many(bins)
    quick = terms.lattice.shape[0] == 0  # or whoever weighs asks who was looked at
    most = LINES if quick else near.x.shape[0]
    while True:
        whose = legs.queue[0]
        p = row_in(whose)
        t = legs.due[0]
        if t > until:
            return count, REACHED
        if count == log.time.shape[0]:
            return count, FULL
        if binned and is_worn(t, legs.row.shape[0], bins):
            put_all(t, program.cruise, legs.row, bins, near)
        px, py = place_at(t, p, program.cruise, legs.row)
        near.x[0] = px
        near.y[0] = py
        radius = guessed(legs.row[p, REACH], bins.frame)
        m, limit = gather_moving(p, t, 1, -1.0, radius, most, program.cruise, legs.row, bins, near)
        guess = legs.row[p, REACH] == 0.0
        n, looked, nearest, reach = find_cell(
            p, t, m, limit, radius, guess, quick, program.cruise, legs, legs.row, bins, tree,
            near.x, near.y, wx, wy, near, s,
        )  # fmt: skip
        legs.row[p, REACH] = reach
        status, ex, ey, _, _, _, neighbors, nearest = weigh(
            0, n, looked, nearest, near.x, near.y, wx, wy, terms, s
        )
        if status == COINCIDENT:
            return count, HIT
        ux, uy = saturated(ex, ey, program.k1, program.reach)
        dx = legs.row[p, HOLD_X] - ux
        dy = legs.row[p, HOLD_Y] - uy
        k = int(legs.row[p, LOOKS])
        draw = uniform(key[0], key[1], STREAM_RESETS, streams[p], k)
        following = next_look(p, k, t, legs.row[p, FIRST_AT], draw, program)
        log.time[count] = t
        log.agent[count] = agent_in(whose)
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
        sift_queue(legs)
        if binned:
            note_speed(ux, uy, bins.clock)
        near.spare[0] += SPARE_LISTED
        if tree.built[0]:  # as long as it was needed lately
            tree.built[0] = near.spare[0] < SPARE_LISTED * legs.row.shape[0]
            enclose(p, t, following, program.cruise, legs.row, tree)
