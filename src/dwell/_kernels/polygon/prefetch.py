"""Memory of the next event, brought into the cache while the present one is computed.

Of very many agents, those with consecutive events lie anywhere in memory. An event would wait for
its row, then for its bins, for the list of agents in them, and for their rows. Each of these is
requested at one stage of the event before it, so that it has arrived when the next stage reads it.
The next event is read off the queue. Should another one come first, it only waits for its memory.
"""

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import fetch, smaller
from dwell._kernels.common.segments import BRANCHES, REACH, is_before, row_in
from dwell._kernels.polygon.cell_list import (
    COLUMNS,
    ROWS,
    SIDE,
    X,
    Y,
    drift_at,
    half_width,
    initial_radius,
    place_in,
    position_at,
)

MANY = 20_000  # agents from which an event waits for memory: fewer fit into the cache
MOST_ROWS = 8  # of bins that are requested


@inner
def fetch_next(segments):
    """Request the row of the next event's agent; return its place in the queue."""
    child = 1
    for k in range(2, smaller(1 + BRANCHES, segments.queue.shape[0])):
        if is_before(k, child, segments):
            child = k
    fetch(segments.row, row_in(segments.queue[child]))
    return child


@inner
def fetch_bins(following, cruise, segments, bins, plan):
    """Request where the bins round the next agent begin; list them in `plan`, return how many."""
    frame = bins.frame
    p = row_in(segments.queue[following])
    t = segments.due[following]
    px, py = position_at(t, p, cruise, segments.row)
    radius = initial_radius(segments.row[p, REACH], frame) + drift_at(t, bins.clock)
    low = place_in(py - radius, frame[Y], frame[SIDE], frame[ROWS])
    high = place_in(py + radius, frame[Y], frame[SIDE], frame[ROWS])
    high = smaller(high, low + MOST_ROWS - 1)
    for k in range(low, high + 1):
        half = half_width(k, py, radius, frame)
        left = place_in(px - half, frame[X], frame[SIDE], frame[COLUMNS])
        right = place_in(px + half, frame[X], frame[SIDE], frame[COLUMNS])
        plan[k - low, 0] = k * int(frame[COLUMNS]) + left
        plan[k - low, 1] = k * int(frame[COLUMNS]) + right + 1
        fetch(bins.first, plan[k - low, 0])
        fetch(bins.first, plan[k - low, 1])
    return high + 1 - low


@inner
def fetch_lists(parts, bins, plan):
    """Request the lists of agents in the bins of `plan`."""
    for k in range(parts):
        plan[k, 0] = bins.first[plan[k, 0]]
        plan[k, 1] = bins.first[plan[k, 1]]
        fetch(bins.who, plan[k, 0])


@inner
def fetch_rows(parts, row, bins, plan):
    """Request the rows of the agents in the bins of `plan`."""
    for k in range(parts):
        for i in range(plan[k, 0], plan[k, 1]):
            fetch(row, bins.who[i])
