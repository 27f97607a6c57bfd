"""The engine's table of legs in space: one row per agent."""

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import smaller

# Where the present leg began, its velocity, and since when, which is all that others ask for; when
# the first look is or was due, how far the last cell reached, and looks made so far.
START_X, START_Y, START_Z, HOLD_X, HOLD_Y, HOLD_Z, SINCE, FIRST_AT, REACH, LOOKS = range(10)
COLUMNS = 10


@inner
def place_at(t, q, cruise, row):
    """Where agent q is at time t."""
    dt = smaller(t - row[q, SINCE], cruise)
    return (
        row[q, START_X] + row[q, HOLD_X] * dt,
        row[q, START_Y] + row[q, HOLD_Y] * dt,
        row[q, START_Z] + row[q, HOLD_Z] * dt,
    )
