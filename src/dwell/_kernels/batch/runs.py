"""Whole runs by the engine, of which only figures are kept."""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.bins import put_all
from dwell._kernels.engine import FULL, HIT, Legs, Log, run_events
from dwell._kernels.hold import HoldProgram
from dwell._kernels.legs import HOLD_X, HOLD_Y, SINCE

CROWDED = 3  # why a run ended, besides the engine's reasons: more jumps than allowed


class Runs(NamedTuple):
    """The agents of R runs: see Legs."""

    row: np.ndarray  # (R, N, 8)
    due: np.ndarray  # (R, N)
    queue: np.ndarray  # (R, N)
    streams: np.ndarray  # (R, N)
    key: np.ndarray  # (R, 2) the seeds' words


class Laws(NamedTuple):
    """The laws of R runs: see HoldProgram. `nu` is what counts as covered, inf where nothing is."""

    k1: np.ndarray  # (R,)
    reach: np.ndarray
    rule: np.ndarray
    loss: np.ndarray
    cruise: np.ndarray
    nu: np.ndarray
    t1: np.ndarray  # (R, N), and likewise the others; or (R, 1) where all agents are alike
    t2: np.ndarray
    period: np.ndarray
    intervals: np.ndarray  # (R, N or 1, M)


class Figures(NamedTuple):
    """What R runs came to."""

    reason: np.ndarray  # (R,)
    jumps: np.ndarray
    time: np.ndarray  # when it ended
    hold_error: np.ndarray  # the largest at the end of a hold
    nearest: np.ndarray  # the smallest distance of two agents, at looks
    last_large: np.ndarray  # time of the last look with an error beyond nu; -1: none
    empty: np.ndarray  # looks that found no mass
    received: np.ndarray  # (R, N) positions of others obtained
    looks: np.ndarray  # (R, N)
    updates: np.ndarray  # (R, N) changes of the held velocity
    distance: np.ndarray  # (R, 2, N) sums, and what rounding took away from them
    energy: np.ndarray


@inner
def add_exactly(p, term, sums):
    """Add to the sum of agent p; sums[1] gathers what rounding takes away from sums[0]."""
    before = sums[0, p]
    total = before + term
    if abs(before) >= abs(term):
        sums[1, p] += (before - total) + term
    else:
        sums[1, p] += (term - total) + before
    sums[0, p] = total


@inner
def end_leg(p, t, cruise, leg, distance, energy):
    """Add the leg of agent p, which ends at time t: leg[p] is (hold x, hold y, since)."""
    used = smaller(t - leg[p, 2], cruise)
    speed = math.sqrt(leg[p, 0] * leg[p, 0] + leg[p, 1] * leg[p, 1])
    add_exactly(p, speed * used, distance)
    add_exactly(p, speed * speed * used, energy)


@inner
def take_in(count, r, log, cruise, nu, leg, figures):
    """Add the first `count` jumps of the log to the figures of run r."""
    for i in range(count):
        p = log.agent[i]
        t = log.time[i]
        end_leg(p, t, cruise, leg, figures.distance[r], figures.energy[r])
        if log.hold_x[i] != leg[p, 0] or log.hold_y[i] != leg[p, 1]:
            figures.updates[r, p] += 1
        leg[p, 0] = log.hold_x[i]
        leg[p, 1] = log.hold_y[i]
        leg[p, 2] = t
        figures.looks[r, p] += 1
        figures.received[r, p] += log.neighbors[i]
        figures.empty[r] += log.empty[i]
        figures.hold_error[r] = larger(figures.hold_error[r], log.hold_error[i])
        figures.nearest[r] = smaller(figures.nearest[r], log.nearest[i])
        error = log.error_x[i] * log.error_x[i] + log.error_y[i] * log.error_y[i]
        if math.sqrt(error) > nu:
            figures.last_large[r] = t
    figures.jumps[r] += count


@inner
def head(log, rows):
    """The first rows of a log: the same memory."""
    return Log(
        log.time[:rows], log.agent[:rows], log.x[:rows], log.y[:rows], log.hold_x[:rows],
        log.hold_y[:rows], log.next_at[:rows], log.error_x[:rows], log.error_y[:rows],
        log.hold_error[:rows], log.neighbors[:rows], log.nearest[:rows], log.empty[:rows],
    )  # fmt: skip


@inner
def law_of(r, laws):
    """The law of run r."""
    return HoldProgram(
        laws.k1[r], laws.reach[r], laws.rule[r], laws.t1[r], laws.t2[r], laws.period[r],
        laws.intervals[r], laws.loss[r], laws.cruise[r],
    )  # fmt: skip


@njit
def run_many(
    lo, hi, until, most, runs, laws, wx, wy, terms, log, bins, tree, near, leg, figures, s
):
    """Runs lo..hi from time 0 to `until`, or to `most` jumps, or until two agents meet.

    log: room for some jumps; leg: for one row of three per agent.
    """
    for r in range(lo, hi):
        law = law_of(r, laws)
        row = runs.row[r]
        legs = Legs(row, runs.due[r], runs.queue[r])
        for p in range(row.shape[0]):
            leg[p, 0] = row[p, HOLD_X]
            leg[p, 1] = row[p, HOLD_Y]
            leg[p, 2] = row[p, SINCE]
        put_all(0.0, law.cruise, row, bins, near)
        tree.built[0] = False
        why = FULL
        last = 0.0
        while why == FULL:
            part = head(log, int(smaller(log.time.shape[0], most - figures.jumps[r])))
            count, why = run_events(
                until, legs, wx, wy, terms, law, runs.key[r], runs.streams[r], part,
                bins, tree, near, None, s,
            )  # fmt: skip
            take_in(count, r, part, law.cruise, laws.nu[r], leg, figures)
            if count > 0:
                last = part.time[count - 1]
            if why == FULL and figures.jumps[r] >= most:
                why = CROWDED
        end = until
        if why == CROWDED:
            end = last
        elif why == HIT:
            end = legs.due[0]
        for p in range(row.shape[0]):
            end_leg(p, end, law.cruise, leg, figures.distance[r], figures.energy[r])
        figures.time[r] = end
        figures.reason[r] = why
