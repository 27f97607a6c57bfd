"""The event loop, compiled: from one jump to the next, one agent at a time.

An agent's position between its events is start + hold * (t - since), always taken from its own
last event, so nothing accumulates and the order of simultaneous jumps does not matter. It moves for
a time `cruise` at most (for ever, under most laws) and then stands.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import smaller
from dwell._kernels.cells import COINCIDENT
from dwell._kernels.hold import next_look, saturated
from dwell._kernels.look import NO_MASS, look
from dwell._kernels.philox import STREAM_RESETS, uniform

FULL, REACHED, HIT = 0, 1, 2  # why the loop came back: buffer full, horizon, two agents met


class Legs(NamedTuple):
    """All that changes during a run: one entry per agent."""

    start_x: np.ndarray  # where the present leg began
    start_y: np.ndarray
    hold_x: np.ndarray  # the velocity held
    hold_y: np.ndarray
    since: np.ndarray  # when the leg began
    first: np.ndarray  # when the agent's first look is or was due
    next_at: np.ndarray  # when it looks next
    looks: np.ndarray  # looks made so far
    queue: np.ndarray  # heap of agents by (next_at, agent)


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


@inner
def due_before(a, b, next_at):
    """Whether agent a jumps before agent b: by time, then by number."""
    return next_at[a] < next_at[b] or (next_at[a] == next_at[b] and a < b)


@inner
def sift_queue(root, queue, next_at):
    """Restore the queue below `root`."""
    n = queue.shape[0]
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and due_before(queue[child + 1], queue[child], next_at):
            child += 1
        if not due_before(queue[child], queue[root], next_at):
            return
        queue[child], queue[root] = queue[root], queue[child]
        root = child


@inner
def positions_at(t, legs, cruise, xs, ys):
    """Where everybody is at time t."""
    for q in range(xs.shape[0]):
        dt = smaller(t - legs.since[q], cruise)
        xs[q] = legs.start_x[q] + legs.hold_x[q] * dt
        ys[q] = legs.start_y[q] + legs.hold_y[q] * dt


@njit
def run_events(until, legs, wx, wy, terms, program, key, streams, log, xs, ys, s):
    """Execute jumps with t <= until as long as the log has room; gives (jumps, reason).

    key: the seed's two words; streams: whose draws each agent uses.
    """
    count = 0
    while True:
        p = legs.queue[0]
        t = legs.next_at[p]
        if t > until:
            return count, REACHED
        if count == log.time.shape[0]:
            return count, FULL
        positions_at(t, legs, program.cruise, xs, ys)
        status, ex, ey, _, _, _, neighbors, nearest = look(p, xs, ys, wx, wy, terms, s)
        if status == COINCIDENT:
            return count, HIT
        ux, uy = saturated(ex, ey, program.k1, program.reach)
        dx = legs.hold_x[p] - ux
        dy = legs.hold_y[p] - uy
        k = legs.looks[p]
        draw = uniform(key[0], key[1], STREAM_RESETS, streams[p], k)
        following = next_look(p, k, t, legs.first[p], draw, program)
        log.time[count] = t
        log.agent[count] = p
        log.x[count] = xs[p]
        log.y[count] = ys[p]
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
        legs.start_x[p] = xs[p]
        legs.start_y[p] = ys[p]
        legs.hold_x[p] = ux
        legs.hold_y[p] = uy
        legs.since[p] = t
        legs.next_at[p] = following
        legs.looks[p] = k + 1
        sift_queue(0, legs.queue, legs.next_at)
