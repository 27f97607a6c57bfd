"""Bins of agents that move: what the line, the plane and space have in common.

Agents are put into bins now and then, all together. None of them has come farther since then than
the fastest could have.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import clamped

PER_BIN = 2.0  # agents in a bin, about
SLACK = 1e-12  # of the frame: an agent beside a line between bins may be in either
LOOSE = 0.2  # of a bin: drift beyond which the bins are rebuilt, if that pays
PAYS = 0.1  # ... after so many events per agent

# A clock: when all were put into bins; squared speed and events since.
PUT_AT, FASTEST, EVENTS = range(3)


@inner
def are_many(bins):
    """Whether there is more than one bin, in the plane or in space."""
    return bins.first.shape[0] > 2


@inner
def place_in(z, low, side, count):
    """The column or row of bins that z lies in; those outside belong to the outermost."""
    return math.floor(clamped((z - low) / side, 0.0, count - 1.0))


@inner
def drift_at(t, clock):
    """How far an agent may have come since it was put into its bin; rounded up."""
    return (1.0 + 1e-12) * math.sqrt(clock[FASTEST]) * (t - clock[PUT_AT])
