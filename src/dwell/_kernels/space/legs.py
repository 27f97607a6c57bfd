"""The engine's table of legs in space: see ../common/segments.py."""

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import smaller
from dwell._kernels.common.segments import AFTER_REACH, AFTER_SINCE

START_X, START_Y, START_Z, HOLD_X, HOLD_Y, HOLD_Z = range(6)
SINCE, REACH = 6 + AFTER_SINCE, 6 + AFTER_REACH


@inner
def place_at(t, q, cruise, row):
    """Where agent q is at time t."""
    dt = smaller(t - row[q, SINCE], cruise)
    return (
        row[q, START_X] + row[q, HOLD_X] * dt,
        row[q, START_Y] + row[q, HOLD_Y] * dt,
        row[q, START_Z] + row[q, HOLD_Z] * dt,
    )
