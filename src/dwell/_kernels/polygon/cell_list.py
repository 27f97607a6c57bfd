"""A cell list: agents in square bins, where those near an agent are found without a full search.

The bins that a disc round an agent touches hold all agents up to its radius. The cell is cut by
those; if it reaches no farther than half the radius, no other agent can matter, and it has the bits
of a search through all agents. Else it is cut on by those in a larger disc. Where agents lie
unevenly and bins hold too many, a tree takes over: see cells.py and box_tree.py.

Agents that move are put into bins now and then, all together. None of them has come farther since
then than the fastest could have: the radius that counts is that much smaller.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.bins import (
    EVENTS,
    FASTEST,
    LOOSE,
    PAYS,
    PER_BIN,
    PUT_AT,
    SLACK,
    drift_at,
    place_in,
)
from dwell._kernels.common.segments import HOLD_X, HOLD_Y, SINCE, START_X, START_Y
from dwell._kernels.polygon.buffers import LINES

FEW = 64  # agents up to which all are near
FIRST = 1.7  # sides of a bin: the radius of the first disc, where no better guess is at hand
MARGIN = 1.2  # a guess is taken so many times
SPARE = 8  # numbers after the last one that may be read or overwritten: see grid_stencil.py

X, Y, SIDE, COLUMNS, ROWS = range(5)  # a frame of bins: lower corner, side, how many


class SquareBins(NamedTuple):
    """Agents in the order of their bins, row by row."""

    frame: np.ndarray  # (5,)
    clock: np.ndarray  # (3,) for agents that move
    first: np.ndarray  # (bins + 1,) where each bin begins in `who`
    who: np.ndarray  # (N,)


class Candidates(NamedTuple):
    """The agents near one of them, that one first."""

    x: np.ndarray
    y: np.ndarray
    visits: np.ndarray  # (1,) boxes that searches in the tree have visited: see box_tree.py
    unused: np.ndarray  # (1,) events since the tree was needed
    crowded: np.ndarray  # (1,) whether the cell before was crowded: see cells.py


def make_bins(agents: int) -> SquareBins:
    """Empty bins for so many agents; `put_all` and `put_at_rest` fill them."""
    most = 1 if agents <= FEW else 2 * agents  # more than any frame for so many has
    first, who = np.zeros(most + 1, dtype=np.int32), np.arange(agents, dtype=np.int32)
    return SquareBins(np.zeros(5), np.zeros(3), first, who)


def make_near(agents: int) -> Candidates:
    """Buffers for all agents, for the lines of a trace, and some to spare."""
    x, y = np.empty((2, agents + LINES + 1 + SPARE))
    return Candidates(x, y, np.zeros(1), np.zeros(1, dtype=int), np.zeros(1, dtype=np.bool_))


def in_order(values: np.ndarray, bins: SquareBins) -> np.ndarray:
    """One coordinate of all agents in the order of their bins, with some to spare."""
    found = np.zeros(len(values) + SPARE)
    np.take(values, bins.who, out=found[: len(values)], mode="clip")  # nothing is: quicker
    return found


@njit
def lay_frame(agents, left, low, right, high, frame):
    """Bins over a rectangle, with about PER_BIN agents in each; a single one for a few agents."""
    width = right - left
    height = high - low
    frame[X] = left
    frame[Y] = low
    frame[SIDE] = larger(width, height)
    frame[COLUMNS] = 1
    frame[ROWS] = 1
    if frame[SIDE] <= 0.0:
        frame[SIDE] = 1.0  # a single agent
        return
    if agents <= FEW:
        return
    share = PER_BIN / agents
    side = larger(math.sqrt(width * height * share), larger(width, height) * share)  # or a strip
    frame[SIDE] = side
    frame[COLUMNS] = larger(1, math.ceil(width / side))
    frame[ROWS] = larger(1, math.ceil(height / side))


@inner
def bin_of(x, y, frame):
    """The number of the bin that (x, y) lies in."""
    column = place_in(x, frame[X], frame[SIDE], frame[COLUMNS])
    return place_in(y, frame[Y], frame[SIDE], frame[ROWS]) * int(frame[COLUMNS]) + column


@inner
def half_width(k, py, radius, frame):
    """Half of what a disc round (px, py) takes of row k of bins; below 0 if nothing.

    The outermost rows hold those beyond them, too, and have no outer edge.
    """
    dy = 0.0
    if k > 0:
        dy = larger(dy, frame[Y] + k * frame[SIDE] - py)
    if k < frame[ROWS] - 1:
        dy = larger(dy, py - (frame[Y] + (k + 1) * frame[SIDE]))
    return math.sqrt(radius * radius - dy * dy) if dy <= radius else -1.0


@inner
def covers(px, py, radius, frame):
    """Whether a disc round (px, py) holds all bins."""
    if frame[COLUMNS] * frame[ROWS] == 1.0:
        return True
    dx = larger(abs(px - frame[X]), abs(frame[X] + frame[COLUMNS] * frame[SIDE] - px))
    dy = larger(abs(py - frame[Y]), abs(frame[Y] + frame[ROWS] * frame[SIDE] - py))
    return radius > dx + dy


@inner
def limit_of(px, py, radius, drift, frame):
    """The squared distance up to which all agents are listed; inf if none is left out."""
    if covers(px, py, radius, frame):
        return np.inf
    sure = radius - drift - rounding_margin(frame)
    return sure * sure if sure > 0.0 else -1.0


@inner
def slice_of(k, px, half, everything, bins):
    """Where the part of row k within `half` of px begins and ends in `who`."""
    frame = bins.frame
    across = int(frame[COLUMNS])
    left = 0
    right = across - 1
    if not everything:
        left = place_in(px - half, frame[X], frame[SIDE], frame[COLUMNS])
        right = place_in(px + half, frame[X], frame[SIDE], frame[COLUMNS])
    return bins.first[k * across + left], bins.first[k * across + right + 1]


@inner
def is_between(dx, dy, beyond, limit):
    """Whether a displacement is farther than one limit and not than the other; both squared.

    Computed as the search by distance computes it, to the last bit.
    """
    d2 = dx * dx + dy * dy
    return (d2 > beyond) & (d2 <= limit)


@inner
def next_radius(radius, reach, nearest, frame):
    """A larger disc: twice as large, or as large as the cell reaches, if that is less.

    Where no agent was found yet (nearest below 0), the extent of the cell is meaningless.
    """
    if nearest < 0.0:
        return 2.0 * radius
    return smaller(2.0 * radius, required_radius(reach, frame))


@inner
def required_radius(reach, frame):
    """The radius of a disc that is enough for a cell with this reach."""
    return 1.000001 * reach + rounding_margin(frame)


@inner
def position_at(t, q, cruise, row):
    """The position of agent q at time t."""
    dt = smaller(t - row[q, SINCE], cruise)
    return row[q, START_X] + row[q, HOLD_X] * dt, row[q, START_Y] + row[q, HOLD_Y] * dt


@inner
def gather(p, t, m, beyond, radius, most, cruise, row, bins, x, y, near):
    """List the agents in a disc round agent p at time t that were not listed before.

    row: the segments of all agents; None for agents at rest, whose positions in the order of bins
    are x, y, and p is counted in that order. The first m in `near` are listed already: the agent
    itself and all others up to the squared distance `beyond`. Returns how many there are now, and
    the squared distance up to which all are; or more than `most`, if the disc or a row of bins
    holds so many.
    """
    frame = bins.frame
    px = near.x[0]
    py = near.y[0]
    drift = 0.0
    if row is not None:
        drift = drift_at(t, bins.clock)
        radius += drift
    limit = limit_of(px, py, radius, drift, frame)
    low = place_in(py - radius, frame[Y], frame[SIDE], frame[ROWS])
    high = place_in(py + radius, frame[Y], frame[SIDE], frame[ROWS])
    for k in range(low, high + 1):
        half = half_width(k, py, radius, frame)
        if half >= 0.0:
            begin, end = slice_of(k, px, half, limit == np.inf, bins)
            if m > most or end - begin > most:
                return most + 1, limit
            for i in range(begin, end):
                q = i
                if row is None:
                    near.x[m], near.y[m] = x[i], y[i]
                else:
                    q = bins.who[i]
                    near.x[m], near.y[m] = position_at(t, q, cruise, row)
                is_new = is_between(near.x[m] - px, near.y[m] - py, beyond, limit)
                m += 1 if is_new & (q != p) else 0
    return m, limit


@inner
def note_speed(hold_x, hold_y, clock):
    """An agent moves on with this velocity."""
    clock[FASTEST] = larger(clock[FASTEST], hold_x * hold_x + hold_y * hold_y)
    clock[EVENTS] += 1.0


@inner
def rounding_margin(frame):
    """Margin by which the radius of a disc shrinks so that rounding loses no agent."""
    size = abs(frame[X]) + abs(frame[Y]) + frame[SIDE] * (frame[COLUMNS] + frame[ROWS])
    return SLACK * size


@inner
def initial_radius(reach, frame):
    """A radius for the first disc, from the distance at which a cell like this one is settled."""
    return MARGIN * reach if reach > 0.0 else FIRST * frame[SIDE]


@inner
def is_stale(t, agents, bins):
    """Whether to rebuild the bins: agents have drifted, and enough events have passed."""
    if bins.clock[EVENTS] < PAYS * agents:
        return False
    return drift_at(t, bins.clock) > LOOSE * bins.frame[SIDE]


@njit
def put_at_rest(x, y, bins):
    """Put agents at rest at (x, y) into bins, in a frame that fits them."""
    agents = x.shape[0]
    left = low = np.inf
    right = high = -np.inf
    for q in range(agents):
        left = smaller(left, x[q])
        right = larger(right, x[q])
        low = smaller(low, y[q])
        high = larger(high, y[q])
    lay_frame(agents, left, low, right, high, bins.frame)
    first = bins.first
    count = int(bins.frame[COLUMNS] * bins.frame[ROWS])
    first[: count + 1] = 0
    for q in range(agents):
        first[bin_of(x[q], y[q], bins.frame) + 1] += 1
    for k in range(count):
        first[k + 1] += first[k]
    for k in range(agents):
        q = agents - 1 - k  # the last one first: a bin is then in the order of the numbers
        place = bin_of(x[q], y[q], bins.frame)
        first[place + 1] -= 1
        bins.who[first[place + 1]] = q
    # Each bin now begins where the next one did: first[b + 1] was counted down to the start of b.
    for k in range(count):
        first[k] = first[k + 1]
    first[count] = agents


@njit
def put_all(t, cruise, row, bins, near):
    """Put agents that move into bins, as they are at time t."""
    fastest = 0.0
    for q in range(row.shape[0]):
        near.x[q], near.y[q] = position_at(t, q, cruise, row)
        fastest = larger(fastest, row[q, HOLD_X] * row[q, HOLD_X] + row[q, HOLD_Y] * row[q, HOLD_Y])
    agents = row.shape[0]
    put_at_rest(near.x[:agents], near.y[:agents], bins)
    bins.clock[PUT_AT] = t
    bins.clock[FASTEST] = fastest
    bins.clock[EVENTS] = 0.0
