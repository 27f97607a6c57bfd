"""Agents in square bins: whoever is near is found without asking everybody.

A block of bins round an agent holds all agents up to a distance, the frontier. The cell is cut by
those; if it reaches no farther than half the frontier, nobody else can matter, and it is the same
to the last bit as if everybody had been asked. Else a larger block is taken.

Agents that move are put into bins anew at their own events, and all together now and then. None of
them has come farther since then than the fastest could have: the frontier is that much nearer.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.legs import HOLD_X, HOLD_Y, SINCE, START_X, START_Y

FEW = 64  # agents up to which all are near
FIRST = 2  # bins to either side in the first block
PER_BIN = 2.0  # agents in a bin, about
SLACK = 1e-12  # of the frame: an agent beside a line between bins may be in either
LOOSE = 0.5  # of a bin: drift beyond which everybody is put into bins anew, if that pays

X, Y, SIDE, COLUMNS, ROWS = range(5)  # a frame of bins: lower corner, side, how many
PUT_AT, FASTEST, EVENTS = range(3)  # when all were put into bins; squared speed and events since


class Sorted(NamedTuple):
    """Agents at rest, in the order of their bins, row by row."""

    frame: np.ndarray  # (5,)
    first: np.ndarray  # (bins + 1,) where each bin begins in the arrays below
    who: np.ndarray  # (N,)
    x: np.ndarray
    y: np.ndarray


class Linked(NamedTuple):
    """Agents that move: lists that can be changed, one per bin."""

    frame: np.ndarray  # (5,)
    clock: np.ndarray  # (3,)
    head: np.ndarray  # (bins,) the first agent in each bin; -1: none
    after: np.ndarray  # (N,) the next one in the same bin
    bin: np.ndarray  # (N,) where each agent is kept


class Near(NamedTuple):
    """The agents of a block: the one that looks first."""

    x: np.ndarray
    y: np.ndarray
    who: np.ndarray


def most_bins(agents: int) -> int:
    """More bins than any frame for so many agents has."""
    return 1 if agents <= FEW else 2 * agents


def make_frame(x, y) -> np.ndarray:
    """Bins over the rectangle of these agents; a single one for a few."""
    frame = np.empty(5)
    lower, upper = (x.min(), y.min()), (x.max(), y.max())
    lay_frame(len(x), *map(float, (*lower, *upper)), frame)
    return frame


def sort(x, y) -> Sorted:
    """Agents at these places, in the order of their bins."""
    frame = make_frame(x, y)
    across, up = int(frame[COLUMNS]), int(frame[ROWS])
    column = np.clip(np.floor((x - frame[X]) / frame[SIDE]), 0, across - 1).astype(np.int64)
    row = np.clip(np.floor((y - frame[Y]) / frame[SIDE]), 0, up - 1).astype(np.int64)
    number = row * across + column
    who = np.argsort(number, kind="stable")
    first = np.zeros(across * up + 1, dtype=np.int64)
    np.cumsum(np.bincount(number, minlength=across * up), out=first[1:])
    return Sorted(frame, first, who, x[who], y[who])


def make_linked(agents: int) -> Linked:
    """Lists for so many agents; `put_all` fills them."""
    return Linked(
        frame=np.zeros(5),
        clock=np.zeros(3),
        head=np.full(most_bins(agents), -1, dtype=np.int32),
        after=np.full(agents, -1, dtype=np.int32),
        bin=np.full(agents, -1, dtype=np.int32),
    )


def make_near(agents: int) -> Near:
    """Room for everybody."""
    return Near(np.empty(agents), np.empty(agents), np.empty(agents, dtype=np.int64))


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
    if agents <= FEW or frame[SIDE] <= 0.0:
        return
    share = PER_BIN / agents
    side = larger(math.sqrt(width * height * share), larger(width, height) * share)  # or a strip
    frame[SIDE] = side
    frame[COLUMNS] = larger(1, math.ceil(width / side))
    frame[ROWS] = larger(1, math.ceil(height / side))


@inner
def place_in(z, low, side, count):
    """The column or row of bins that z lies in; those outside count to the outermost."""
    k = math.floor((z - low) / side)
    return int(smaller(count - 1, larger(0, k)))


@inner
def bin_of(x, y, frame):
    """The number of the bin that (x, y) lies in."""
    column = place_in(x, frame[X], frame[SIDE], frame[COLUMNS])
    return place_in(y, frame[Y], frame[SIDE], frame[ROWS]) * int(frame[COLUMNS]) + column


@inner
def block_of(px, py, radius, frame):
    """Columns and rows of the block of so many bins to either side of (px, py)."""
    column = place_in(px, frame[X], frame[SIDE], frame[COLUMNS])
    row = place_in(py, frame[Y], frame[SIDE], frame[ROWS])
    left = int(larger(0, column - radius))
    right = int(smaller(frame[COLUMNS] - 1, column + radius))
    low = int(larger(0, row - radius))
    high = int(smaller(frame[ROWS] - 1, row + radius))
    return left, right, low, high


@inner
def limit_of(px, py, left, right, low, high, drift, frame):
    """The squared distance up to which all agents are in a block; inf if it holds everybody."""
    distance = np.inf
    if left > 0:
        distance = smaller(distance, px - (frame[X] + left * frame[SIDE]))
    if right < frame[COLUMNS] - 1:
        distance = smaller(distance, frame[X] + (right + 1) * frame[SIDE] - px)
    if low > 0:
        distance = smaller(distance, py - (frame[Y] + low * frame[SIDE]))
    if high < frame[ROWS] - 1:
        distance = smaller(distance, frame[Y] + (high + 1) * frame[SIDE] - py)
    if distance == np.inf:
        return distance
    size = abs(frame[X]) + abs(frame[Y]) + frame[SIDE] * (frame[COLUMNS] + frame[ROWS])
    distance -= SLACK * size + drift
    return distance * distance if distance > 0.0 else -1.0


@inner
def gather_at_rest(k, radius, agents, near):
    """Agents round the k-th of sorted ones, itself first; gives their number and the limit."""
    frame = agents.frame
    px = agents.x[k]
    py = agents.y[k]
    left, right, low, high = block_of(px, py, radius, frame)
    across = int(frame[COLUMNS])
    near.x[0] = px
    near.y[0] = py
    near.who[0] = agents.who[k]
    m = 1
    for row in range(low, high + 1):
        begin = agents.first[row * across + left]
        end = agents.first[row * across + right + 1]
        for i in range(begin, end):  # a row of bins is one piece
            if i != k:
                near.x[m] = agents.x[i]
                near.y[m] = agents.y[i]
                near.who[m] = agents.who[i]
                m += 1
    return m, limit_of(px, py, left, right, low, high, 0.0, frame)


@inner
def place_at(t, q, cruise, row):
    """Where agent q is at time t."""
    dt = smaller(t - row[q, SINCE], cruise)
    return row[q, START_X] + row[q, HOLD_X] * dt, row[q, START_Y] + row[q, HOLD_Y] * dt


@inner
def gather_all(p, t, cruise, row, near):
    """Everybody at time t, agent p first; gives their number."""
    count = row.shape[0]
    for q in range(count):
        near.x[q], near.y[q] = place_at(t, q, cruise, row)
    near.x[0], near.x[p] = near.x[p], near.x[0]
    near.y[0], near.y[p] = near.y[p], near.y[0]
    return count


@inner
def gather_moving(p, t, radius, cruise, row, bins, near):
    """Agents round agent p at time t, itself first; gives their number and the limit."""
    if bins.head.shape[0] == 1:
        return gather_all(p, t, cruise, row, near), np.inf
    frame = bins.frame
    px, py = place_at(t, p, cruise, row)
    left, right, low, high = block_of(px, py, radius, frame)
    across = int(frame[COLUMNS])
    near.x[0] = px
    near.y[0] = py
    m = 1
    for k in range(low, high + 1):
        for j in range(left, right + 1):
            q = bins.head[k * across + j]
            while q >= 0:
                near.x[m], near.y[m] = place_at(t, q, cruise, row)
                m += 1 if q != p else 0
                q = bins.after[q]
    return m, limit_of(px, py, left, right, low, high, drift_at(t, bins.clock), frame)


@inner
def drift_at(t, clock):
    """How far an agent may have come since it was put into its bin; rounded up."""
    return (1.0 + 1e-12) * math.sqrt(clock[FASTEST]) * (t - clock[PUT_AT])


@inner
def take_out(p, bins):
    """Agent p is in no bin any more."""
    old = bins.bin[p]
    q = bins.head[old]
    if q == p:
        bins.head[old] = bins.after[p]
        return
    while bins.after[q] != p:
        q = bins.after[q]
    bins.after[q] = bins.after[p]


@inner
def put_in(p, place, bins):
    """Agent p, which is in no bin, is now in this one."""
    bins.after[p] = bins.head[place]
    bins.head[place] = p
    bins.bin[p] = place


@inner
def note_event(p, x, y, hold_x, hold_y, bins):
    """Agent p looked at (x, y) and moves on with this velocity."""
    if bins.head.shape[0] == 1:
        return
    place = bin_of(x, y, bins.frame)
    if place != bins.bin[p]:
        take_out(p, bins)
        put_in(p, place, bins)
    bins.clock[FASTEST] = larger(bins.clock[FASTEST], hold_x * hold_x + hold_y * hold_y)
    bins.clock[EVENTS] += 1.0


@inner
def is_worn(t, agents, bins):
    """Whether to put everybody into bins anew: they have drifted, and enough has happened."""
    if bins.head.shape[0] == 1 or 2.0 * bins.clock[EVENTS] < agents:
        return False
    return drift_at(t, bins.clock) > LOOSE * bins.frame[SIDE]


@njit
def put_all(t, cruise, row, bins):
    """Put everybody into bins, as they are at time t, in a frame that fits them."""
    agents = row.shape[0]
    if bins.head.shape[0] == 1:
        return
    left = low = np.inf
    right = high = -np.inf
    fastest = 0.0
    for q in range(agents):
        x, y = place_at(t, q, cruise, row)
        left = smaller(left, x)
        right = larger(right, x)
        low = smaller(low, y)
        high = larger(high, y)
        fastest = larger(fastest, row[q, HOLD_X] ** 2 + row[q, HOLD_Y] ** 2)
    lay_frame(agents, left, low, right, high, bins.frame)
    bins.clock[PUT_AT] = t
    bins.clock[FASTEST] = fastest
    bins.clock[EVENTS] = 0.0
    bins.head[:] = -1
    for k in range(agents):
        q = agents - 1 - k  # the last one first: lists are then in the order of the numbers
        x, y = place_at(t, q, cruise, row)
        put_in(q, bin_of(x, y, bins.frame), bins)
