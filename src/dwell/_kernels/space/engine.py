"""The event loop in space, compiled: see ../engine.py, whose queue it shares."""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.engine import FULL, HIT, REACHED
from dwell._kernels.hold import next_look
from dwell._kernels.philox import STREAM_RESETS, uniform
from dwell._kernels.queue import agent_in, row_in, sift_queue
from dwell._kernels.space.bins import are_many, gather, guessed, is_worn, note_speed, put_all
from dwell._kernels.space.cells import COINCIDENT, farthest, voronoi_cell
from dwell._kernels.space.legs import (
    FIRST_AT,
    HOLD_X,
    HOLD_Y,
    HOLD_Z,
    LOOKS,
    REACH,
    SINCE,
    START_X,
    START_Y,
    START_Z,
)
from dwell._kernels.space.look import EX, EY, EZ, NEIGHBORS, NO_MASS, STATUS, tell


class Log(NamedTuple):
    """One entry per jump: see ../engine.py."""

    time: np.ndarray
    agent: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    hold_x: np.ndarray
    hold_y: np.ndarray
    hold_z: np.ndarray
    next_at: np.ndarray
    error_x: np.ndarray
    error_y: np.ndarray
    error_z: np.ndarray
    hold_error: np.ndarray
    neighbors: np.ndarray
    nearest: np.ndarray
    empty: np.ndarray


@inner
def saturated(x, y, z, k1, reach):
    """k1 sat(e, reach): see ../hold.py."""
    size = math.sqrt(x * x + y * y + z * z)
    scale = size if size > reach else reach
    return k1 * (x / scale), k1 * (y / scale), k1 * (z / scale)


@inner
def cut_cell(p, t, binned, cruise, row, solid, bins, near, s):
    """Cut the cell of agent p at time t by those near; gives vertices and squared distance.

    Leaves in `near` whom it was cut by, p first, and notes how far the cell reached.
    """
    radius = guessed(row[p, REACH], bins.frame)
    own = near.start[0]  # 0; for a constant all kernels would be compiled once more
    while True:
        limit = gather(p, t, radius, cruise, row, bins, near)
        n, _, nearest, _ = voronoi_cell(own, solid, near, s)
        if not binned:
            return n, nearest
        reach = 4.0 * farthest(n, s.x, s.y, s.z) if n > 0 else 0.0
        if limit == np.inf or (nearest >= 0.0 and reach <= limit):
            row[p, REACH] = math.sqrt(reach)
            return n, nearest
        # Cells only shrink: nobody farther than this one reaches can matter.
        radius = smaller(2.0 * radius, larger(1.25 * radius, 1.01 * math.sqrt(reach)))


@njit
def run_events(
    until, legs, solid, terms, program, key, streams, log, bins, near, s, seen
):  # fmt: skip
    """Execute jumps with t <= until as long as the log has room; gives (jumps, reason).

    key: the seed's two words; streams: whose draws each row uses;
    seen: room for what a look gives.
    """
    row = legs.row
    count = 0
    binned = are_many(bins)
    while True:
        whose = legs.queue[0]
        p = row_in(whose)
        t = legs.due[0]
        if t > until:
            return count, REACHED
        if count == log.time.shape[0]:
            return count, FULL
        if binned and is_worn(t, row.shape[0], bins):
            put_all(t, program.cruise, row, bins, near)
        n, nearest = cut_cell(p, t, binned, program.cruise, row, solid, bins, near, s)
        if n == COINCIDENT:
            return count, HIT
        tell(n, nearest, near.start[0], solid, near, terms, s, seen)
        ux, uy, uz = saturated(seen[EX], seen[EY], seen[EZ], program.k1, program.reach)
        dx = row[p, HOLD_X] - ux
        dy = row[p, HOLD_Y] - uy
        dz = row[p, HOLD_Z] - uz
        k = int(row[p, LOOKS])
        draw = uniform(key[0], key[1], STREAM_RESETS, streams[p], k)
        following = next_look(p, k, t, row[p, FIRST_AT], draw, program)
        log.time[count] = t
        log.agent[count] = agent_in(whose)
        log.x[count] = near.x[0]
        log.y[count] = near.y[0]
        log.z[count] = near.z[0]
        log.hold_x[count] = ux
        log.hold_y[count] = uy
        log.hold_z[count] = uz
        log.next_at[count] = following
        log.error_x[count] = seen[EX]
        log.error_y[count] = seen[EY]
        log.error_z[count] = seen[EZ]
        log.hold_error[count] = math.sqrt(dx * dx + dy * dy + dz * dz)
        log.neighbors[count] = int(seen[NEIGHBORS])
        log.nearest[count] = math.sqrt(nearest) if nearest >= 0.0 else np.inf
        log.empty[count] = 1 if seen[STATUS] == NO_MASS else 0
        count += 1
        row[p, START_X] = near.x[0]
        row[p, START_Y] = near.y[0]
        row[p, START_Z] = near.z[0]
        row[p, HOLD_X] = ux
        row[p, HOLD_Y] = uy
        row[p, HOLD_Z] = uz
        row[p, SINCE] = t
        row[p, LOOKS] = k + 1
        legs.due[0] = following
        sift_queue(legs)
        if binned:
            note_speed(ux, uy, uz, bins.clock)
