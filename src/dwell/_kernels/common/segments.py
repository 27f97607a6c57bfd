"""Position along a trajectory segment: the velocity is held, and then may decay to rest."""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential

# Columns of the engine's table of segments, one row per agent in n dimensions: n coordinates of
# where the present segment began, n of its velocity, and after these 2 n: when it began; when the
# first sample is or was due; the reach of the last cell; samples taken so far.
AFTER_SINCE, AFTER_FIRST, AFTER_REACH, AFTER_SAMPLES = range(4)
COLUMNS = {1: 8, 2: 8, 3: 10}  # in the plane, and on the line, a row fills one line of the cache
START_X, START_Y, HOLD_X, HOLD_Y, SINCE, REACH = 0, 1, 2, 3, 4 + AFTER_SINCE, 4 + AFTER_REACH


@njit
def effective_time(dt, cruise, fade):
    """The time after which the first velocity alone would have led to the position after dt.

    The velocity is held for a time `cruise` and then decays like `exp(-fade t)`; with an infinite
    `fade` the agent then stops at once.
    """
    if dt <= cruise:
        return dt
    if math.isinf(fade):
        return cruise
    return cruise + (1.0 - exponential(-fade * (dt - cruise))) / fade


@inner
def speed_fraction(dt, cruise, fade):
    """The fraction of its first velocity that a segment still has after dt."""
    if dt <= cruise:
        return 1.0
    if math.isinf(fade):
        return 0.0
    return exponential(-fade * (dt - cruise))


@njit
def times_and_fractions(dt, cruise, fade, used, left):
    """Write effective times and speed fractions of many segments into `used` and `left`."""
    for k in range(dt.shape[0]):
        used[k] = effective_time(dt[k], cruise[k], fade)
        left[k] = speed_fraction(dt[k], cruise[k], fade)
