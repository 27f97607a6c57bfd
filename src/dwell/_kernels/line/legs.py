"""The engine's table of legs on the line: one row per agent."""

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import smaller

# Where the present leg began, its velocity, since when; when the first look is or was due; looks
# made so far. A row fills one line of the processor's cache.
START, HOLD, SINCE, FIRST_AT, LOOKS = range(5)
COLUMNS = 8


@inner
def place_at(t, q, cruise, row):
    """Where agent q is at time t."""
    return row[q, START] + row[q, HOLD] * smaller(t - row[q, SINCE], cruise)
