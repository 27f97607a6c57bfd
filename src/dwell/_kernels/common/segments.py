"""How far along its leg an agent is: it cruises, and then may slow down and come to rest."""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import exponential

# Columns of the engine's table of legs, one row per agent in n dimensions: n coordinates of where
# the present leg began, n of its velocity, and after these 2 n: when the leg began; when the first
# sample is or was due; the reach of the last cell; samples taken so far.
AFTER_SINCE, AFTER_FIRST, AFTER_REACH, AFTER_LOOKS = range(4)
COLUMNS = {1: 8, 2: 8, 3: 10}  # in the plane, and on the line, a row fills one line of the cache
START_X, START_Y, HOLD_X, HOLD_Y, SINCE, REACH = 0, 1, 2, 3, 4 + AFTER_SINCE, 4 + AFTER_REACH


@njit
def seconds_used(dt, cruise, fade):
    """For how long, at the velocity it began with, a leg would have had to go to be where it is.

    The velocity is held for a time `cruise` and then decays like exp(-fade t); with an infinite
    `fade` the agent stops there and then.
    """
    if dt <= cruise:
        return dt
    if math.isinf(fade):
        return cruise
    return cruise + (1.0 - exponential(-fade * (dt - cruise))) / fade


@inner
def speed_left(dt, cruise, fade):
    """The share of its first velocity that a leg still has."""
    if dt <= cruise:
        return 1.0
    if math.isinf(fade):
        return 0.0
    return exponential(-fade * (dt - cruise))


@njit
def used_and_left(dt, cruise, fade, used, left):
    """Both for many legs at once, into `used` and `left`."""
    for k in range(dt.shape[0]):
        used[k] = seconds_used(dt[k], cruise[k], fade)
        left[k] = speed_left(dt[k], cruise[k], fade)
