"""Agents in square bins: whoever is near is found without asking everybody.

A block of bins round an agent holds all agents up to a distance, the frontier. The cell is cut by
those; if it reaches no farther than half the frontier, nobody else can matter, and it is the same
to the last bit as if everybody had been asked. Else a larger block is taken.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.arithmetic import larger, smaller

FEW = 64  # agents up to which all are near
FIRST = 2  # bins to either side in the first block
SLACK = 1e-12  # of the frame: an agent beside a line between bins may be in either


class Frame(NamedTuple):
    """A grid of bins."""

    x: float  # its lower corner
    y: float
    side: float
    columns: int
    rows: int


class Sorted(NamedTuple):
    """Agents at rest, in the order of their bins, row by row."""

    frame: Frame
    first: np.ndarray  # (bins + 1,) where each bin begins in the arrays below
    who: np.ndarray  # (N,)
    x: np.ndarray
    y: np.ndarray


class Near(NamedTuple):
    """The agents of a block: the one that looks first."""

    x: np.ndarray
    y: np.ndarray
    who: np.ndarray


def make_frame(lower, upper, agents: int, per_bin: float = 2.0) -> Frame:
    """Bins over a rectangle, with about so many agents in each; a single one for a few agents."""
    width, height = float(upper[0] - lower[0]), float(upper[1] - lower[1])
    if agents <= FEW:
        return Frame(float(lower[0]), float(lower[1]), width + height, 1, 1)
    side = math.sqrt(width * height * per_bin / max(agents, 1))
    side = max(side, max(width, height) / 4096.0)  # a thin strip must not have millions of columns
    columns, rows = max(1, math.ceil(width / side)), max(1, math.ceil(height / side))
    return Frame(float(lower[0]), float(lower[1]), side, columns, rows)


def sort(frame: Frame, x, y) -> Sorted:
    """Agents at these places, in the order of their bins."""
    column = np.clip(np.floor((x - frame.x) / frame.side), 0, frame.columns - 1).astype(np.int64)
    row = np.clip(np.floor((y - frame.y) / frame.side), 0, frame.rows - 1).astype(np.int64)
    number = row * frame.columns + column
    who = np.argsort(number, kind="stable")
    first = np.zeros(frame.columns * frame.rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(number, minlength=len(first) - 1), out=first[1:])
    return Sorted(frame, first, who, x[who], y[who])


def make_near(agents: int) -> Near:
    """Room for everybody."""
    return Near(np.empty(agents), np.empty(agents), np.empty(agents, dtype=np.int64))


@inner
def column_of(x, frame):
    """The column of bins that x lies in; those outside count to the outermost."""
    k = math.floor((x - frame.x) / frame.side)
    return int(smaller(frame.columns - 1, larger(0, k)))


@inner
def row_of(y, frame):
    """The row of bins that y lies in."""
    k = math.floor((y - frame.y) / frame.side)
    return int(smaller(frame.rows - 1, larger(0, k)))


@inner
def frontier_of(px, py, left, right, low, high, frame):
    """How far it is from (px, py) to the outside of a block; inf if nobody is outside."""
    distance = np.inf
    if left > 0:
        distance = smaller(distance, px - (frame.x + left * frame.side))
    if right < frame.columns - 1:
        distance = smaller(distance, frame.x + (right + 1) * frame.side - px)
    if low > 0:
        distance = smaller(distance, py - (frame.y + low * frame.side))
    if high < frame.rows - 1:
        distance = smaller(distance, frame.y + (high + 1) * frame.side - py)
    size = abs(frame.x) + abs(frame.y) + frame.side * (frame.columns + frame.rows)
    return distance - SLACK * size


@inner
def block_of(column, row, radius, frame):
    """Columns and rows of the block this many bins to either side."""
    left = larger(0, column - radius)
    right = smaller(frame.columns - 1, column + radius)
    low = larger(0, row - radius)
    high = smaller(frame.rows - 1, row + radius)
    return left, right, low, high


@inner
def gather_at_rest(k, radius, agents, near):
    """Agents round the k-th of sorted ones, itself first; gives their number and the frontier."""
    frame = agents.frame
    px = agents.x[k]
    py = agents.y[k]
    left, right, low, high = block_of(column_of(px, frame), row_of(py, frame), radius, frame)
    near.x[0] = px
    near.y[0] = py
    near.who[0] = agents.who[k]
    m = 1
    for row in range(low, high + 1):
        begin = agents.first[row * frame.columns + left]
        end = agents.first[row * frame.columns + right + 1]
        for i in range(begin, end):  # a row of bins is one piece
            if i != k:
                near.x[m] = agents.x[i]
                near.y[m] = agents.y[i]
                near.who[m] = agents.who[i]
                m += 1
    return m, frontier_of(px, py, left, right, low, high, frame)
