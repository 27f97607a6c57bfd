"""Laws with a zero-order hold, as plain numbers: the velocity, and the time of the next sample."""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import njit
from dwell._kernels.common.arithmetic import smaller

UNIFORM, EARLIEST, LATEST, PERIODIC, SEQUENCE, DROPOUT = range(6)

NEVER_SATURATED = 2.0**200  # a reach that no error exceeds; dividing by it rounds nothing


class HoldProgram(NamedTuple):
    """A law as plain numbers and arrays, one row per agent; or one for all of them."""

    k1: float
    reach: float  # errors up to here are not saturated; for the timer law (1 - epsilon) nu
    rule: int
    t1: np.ndarray  # (N,)
    t2: np.ndarray  # (N,)
    period: np.ndarray  # (N,) for PERIODIC
    intervals: np.ndarray  # (N, M) for SEQUENCE, repeated from the start when used up
    loss: float  # for DROPOUT: the probability that a sample is lost
    cruise: float = math.inf  # for how long the velocity is held; then the agent stops


@njit
def saturate(j, errors, k1, reach, holds):
    """Write k1 sat(e, reach) of error j into `holds`: k1 e / max(|e|, reach).

    errors, holds: (n, count).
    """
    square = 0.0
    for i in range(errors.shape[0]):
        square += errors[i, j] * errors[i, j]
    size = math.sqrt(square)
    scale = size if size > reach else reach
    for i in range(errors.shape[0]):
        holds[i, j] = k1 * (errors[i, j] / scale)


@njit
def dropout_interval(u, t1, t2, loss):
    """t1, 2 t1, 3 t1, ... as samples are lost one after another, but never more than t2."""
    attempts = 1
    chance = loss
    while u < chance and attempts * t1 < t2:
        attempts += 1
        chance *= loss
    return smaller(attempts * t1, t2)


@njit
def periodic_sample(k, first, period):
    """The time of sample k + 1 = 1, 2, ...; of sample 0 it is `first`.

    Where the first comes after one period, all come at exact multiples of it: 150 is then reached
    in 15 000 steps of 0.01, not missed by a rounding.
    """
    if first == period:
        return (k + 2) * period
    return first + (k + 1) * period


@njit
def next_sample(p, k, t, first, draw, program):
    """When agent p samples next, after its sample k = 0, 1, ... at time t.

    `first` is the time of its sample 0: periodic samples are counted from there, not added up, so
    that equal periods stay together for ever. `draw` is this sample's random number in [0, 1).
    """
    p = p if program.t1.shape[0] > 1 else 0
    t1 = program.t1[p]
    t2 = program.t2[p]
    if program.rule == UNIFORM:
        return t + smaller(t1 + draw * (t2 - t1), t2)
    if program.rule == EARLIEST:
        return t + t1
    if program.rule == LATEST:
        return t + t2
    if program.rule == PERIODIC:
        return periodic_sample(k, first, program.period[p])
    if program.rule == SEQUENCE:
        return t + program.intervals[p, k % program.intervals.shape[1]]
    return t + dropout_interval(draw, t1, t2, program.loss)


@njit
def decide_together(t, first, samples, errors, program, holds, next_at):
    """Write the velocity and the next sample of all agents that sample at time t, by numbers."""
    for p in range(next_at.shape[0]):
        saturate(p, errors, program.k1, program.reach, holds)
        next_at[p] = next_sample(p, int(samples[p]), t, first[p], 0.0, program)
