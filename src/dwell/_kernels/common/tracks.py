"""Values on keyframes and on circles at a time: the same bits in Python and in compiled loops."""

import math

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.density_terms import (
    COLUMN,
    FIRST,
    KEYS,
    KIND,
    OF_RASTER,
    ROW,
    WIDTH,
)

STEP, LINEAR, CIRCLE = range(3)
WHOLE = 2.0**53  # turns from which on doubles are whole numbers
SERIES = 11  # terms of sine and cosine, on an eighth of a turn
RATE = 3  # first column of the form of a Gaussian


@inner
def cos_and_sin(turns):
    """Cosine and sine of an angle in turns, exact at multiples of a quarter turn."""
    turns = turns - math.floor(turns) if abs(turns) < WHOLE else 0.0
    quarter = int(4.0 * turns)
    share = 4.0 * turns - quarter  # of a quarter turn
    beyond = share > 0.5
    angle = 0.5 * math.pi * (1.0 - share if beyond else share)
    square = angle * angle
    c = s = 1.0
    for k in range(SERIES, 0, -1):
        c = 1.0 - c * square / ((2.0 * k - 1.0) * (2.0 * k))
        s = 1.0 - s * square / ((2.0 * k) * (2.0 * k + 1.0))
    s *= angle
    if beyond:
        c, s = s, c
    if quarter == 1:
        return -s, c
    if quarter == 2:
        return -c, -s
    if quarter == 3:
        return s, -c
    return c, s


@inner
def keyframe_before(t, first, keys, times):
    """The last of the keyframes first, ..., first + keys - 1 that is not after t; or the first."""
    k = first
    while k + 1 < first + keys and times[k + 1] <= t:
        k += 1
    return k


@njit
def value_on_track(i, t, kind, first, keys, times, values):
    """Coordinate i of a track at time t; the last value after the last keyframe.

    Keyframes are rows of `times` and `values`. A circle has two: (period, phase in turns) in
    `times`, center and radius in `values`.
    """
    if kind == CIRCLE:
        c, s = cos_and_sin(t / times[first] + times[first + 1])
        return values[first, i] + values[first + 1, i] * (c if i == 0 else s)
    k = keyframe_before(t, first, keys, times)
    low = values[k, i]
    if kind == STEP or k + 1 == first + keys or t <= times[k]:
        return low
    return low + (t - times[k]) / (times[k + 1] - times[k]) * (values[k + 1, i] - low)


@njit
def rate_on_track(i, t, kind, first, keys, times, values):
    """The time derivative of coordinate i of a track, from t on."""
    if kind == CIRCLE:
        c, s = cos_and_sin(t / times[first] + times[first + 1])
        return 2.0 * math.pi / times[first] * values[first + 1, i] * (-s if i == 0 else c)
    k = keyframe_before(t, first, keys, times)
    if kind == STEP or k + 1 == first + keys or t < times[k]:
        return 0.0
    return (values[k + 1, i] - values[k, i]) / (times[k + 1] - times[k])


@inner
def take_frame(raster, value):
    """Write the number of the present frame of a raster (None: nothing)."""
    if raster is not None:
        raster.frame[0] = value


@njit
def move_terms(t, terms):
    """Bring planar terms to time t: weights, centers and rates of Gaussians, frames of a raster."""
    for m in range(terms.track.shape[0]):
        row, column, kind = terms.track[m, ROW], terms.track[m, COLUMN], terms.track[m, KIND]
        first, keys = terms.track[m, FIRST], terms.track[m, KEYS]
        for i in range(terms.track[m, WIDTH]):
            value = value_on_track(i, t, kind, first, keys, terms.key_times, terms.key_values)
            if row == OF_RASTER:
                take_frame(terms.raster, value)
                continue
            terms.gaussians[row, column + i] = value
            if column == RATE:
                root = math.sqrt(value)
                terms.gaussians[row, RATE + 2] = value
                terms.gaussians[row, RATE + 3] = root
                terms.gaussians[row, RATE + 5] = root
