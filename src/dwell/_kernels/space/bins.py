"""Moving agents in space in cubic bins, which list those near one without a search through all.

As in the plane (see ../polygon/cell_list.py), with a ball in place of the disc: all are put into
bins together now and then, and none has come farther since then than the fastest could have. The
list is complete up to a known distance, so that a cell that reaches no farther has the bits of a
search through all agents.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.segments import AFTER_REACH, AFTER_SINCE
from dwell._kernels.polygon.cell_list import (
    EVENTS,
    FASTEST,
    LOOSE,
    PAYS,
    PER_BIN,
    PUT_AT,
    SLACK,
    are_many,
    drift_at,
    place_in,
)
from dwell._kernels.space.memory import Grid
from dwell._kernels.space.search import counting_sort, range_of

# Columns of the engine's table of trajectory segments in space: see ../common/segments.py.
START_X, START_Y, START_Z, HOLD_X, HOLD_Y, HOLD_Z = range(6)
SINCE, REACH = 6 + AFTER_SINCE, 6 + AFTER_REACH

FEW = 128  # agents up to which all are near
FIRST = 2.2  # sides of a bin: the radius of the first ball, where no better guess is at hand
MARGIN = 1.1  # a guess is taken so many times

LOWER, SIDE, ALONG = 0, 3, 4  # a frame: lower corner (3), side of a bin, bins along each axis (3)


class CubicBins(NamedTuple):
    """Agents in the order of their bins, of which the last axis runs fastest."""

    frame: np.ndarray  # (7,)
    clock: np.ndarray  # (3,) see ../polygon/cell_list.py
    first: np.ndarray  # (bins + 1,) where each bin begins in `who`
    who: np.ndarray  # (N,)
    bin: np.ndarray  # (N,) the bin of each agent


def make_bins(agents: int) -> CubicBins:
    """Return empty bins for so many agents; `put_all` fills them."""
    most = 1 if agents <= FEW else 4 * agents  # more than any frame for so many has
    first, who = np.zeros(most + 1, dtype=np.int32), np.arange(agents, dtype=np.int32)
    return CubicBins(np.zeros(7), np.zeros(3), first, who, np.zeros(agents, dtype=np.int32))


def make_near(agents: int) -> Grid:
    """Return buffers for the agents near one, that one first: a search with a single bin.

    There is one entry more than agents, as the measuring one is listed twice.
    """
    x, y, z = np.empty((3, agents + 1))
    ends = np.zeros(2, dtype=np.int64)
    alone = np.ones(3, dtype=np.int64)
    return Grid(x, y, z, np.empty(0, dtype=np.int64), ends, alone, np.zeros(3), 1.0)


@inner
def place_at(t, q, cruise, row):
    """Return the position of agent q at time t."""
    dt = smaller(t - row[q, SINCE], cruise)
    return (
        row[q, START_X] + row[q, HOLD_X] * dt,
        row[q, START_Y] + row[q, HOLD_Y] * dt,
        row[q, START_Z] + row[q, HOLD_Z] * dt,
    )


@inner
def index_of(z, axis, frame):
    """Return the slab of bins along an axis that z lies in; the outermost one if z is outside."""
    return place_in(z, frame[LOWER + axis], frame[SIDE], frame[ALONG + axis])


@inner
def gap_to(k, z, axis, frame):
    """Return the distance from z to slab k along an axis; the outermost have no outer edge."""
    low, side = frame[LOWER + axis], frame[SIDE]
    gap = 0.0
    if k > 0:
        gap = larger(gap, low + k * side - z)
    if k < frame[ALONG + axis] - 1:
        gap = larger(gap, z - (low + (k + 1) * side))
    return gap


@inner
def far_end(z, axis, frame):
    """Return the distance from z to the farther end of a frame along an axis."""
    low = frame[LOWER + axis]
    return larger(abs(z - low), abs(low + frame[ALONG + axis] * frame[SIDE] - z))


@inner
def limit_of(place, radius, drift, frame):
    """Return the squared distance up to which all agents are listed; inf if none is left out."""
    far = far_end(place[0], 0, frame) + far_end(place[1], 1, frame)
    if radius > far + far_end(place[2], 2, frame):
        return np.inf
    size = abs(frame[LOWER]) + abs(frame[LOWER + 1]) + abs(frame[LOWER + 2])
    size += frame[SIDE] * (frame[ALONG] + frame[ALONG + 1] + frame[ALONG + 2])
    sure = radius - drift - SLACK * size
    return sure * sure if sure > 0.0 else -1.0


@inner
def add_some(begin, end, p, t, limit, m, cruise, row, who, near):
    """Add agents begin to end - 1 in the order of bins, but not p itself, nor any beyond `limit`.

    Returns how many there are then.
    """
    for i in range(begin, end):
        q = who[i]
        x, y, z = place_at(t, q, cruise, row)
        dx = x - near.x[0]
        dy = y - near.y[0]
        dz = z - near.z[0]
        near.x[m] = x
        near.y[m] = y
        near.z[m] = z
        m += (dx * dx + dy * dy + dz * dz <= limit) & (q != p)
    return m


@inner
def gather(p, t, radius, cruise, row, bins, near):
    """List the agents near agent p at time t, itself first; returns the limit.

    Up to this squared distance, which is about that of the radius, none is missing and beyond it
    none is listed.
    """
    px, py, pz = place_at(t, p, cruise, row)
    near.x[0], near.y[0], near.z[0] = px, py, pz
    limit = np.inf
    m = 1
    if not are_many(bins):
        m = add_some(0, row.shape[0], p, t, limit, m, cruise, row, bins.who, near)
    else:
        frame = bins.frame
        drift = drift_at(t, bins.clock)
        radius += drift
        limit = limit_of((px, py, pz), radius, drift, frame)
        square = radius * radius
        deep = int(frame[ALONG + 2])
        for i in range(index_of(px - radius, 0, frame), index_of(px + radius, 0, frame) + 1):
            di = gap_to(i, px, 0, frame)
            left = square - di * di
            if left < 0.0:
                continue
            wide = math.sqrt(left)
            for j in range(index_of(py - wide, 1, frame), index_of(py + wide, 1, frame) + 1):
                dj = gap_to(j, py, 1, frame)
                rest = left - dj * dj
                if rest < 0.0:
                    continue
                low, high = 0, deep - 1
                if limit < np.inf:
                    half = math.sqrt(rest)
                    low, high = index_of(pz - half, 2, frame), index_of(pz + half, 2, frame)
                column = (i * int(frame[ALONG + 1]) + j) * deep
                begin = bins.first[column + low]
                end = bins.first[column + high + 1]
                m = add_some(begin, end, p, t, limit, m, cruise, row, bins.who, near)
    near.start[1] = m
    return limit


@inner
def guessed(reach, frame):
    """Return a radius for the first ball, from the distance at which a similar cell is complete."""
    return MARGIN * reach if reach > 0.0 else FIRST * frame[SIDE]


@inner
def note_speed(x, y, z, clock):
    """Record that an agent moves on with this velocity."""
    clock[FASTEST] = larger(clock[FASTEST], x * x + y * y + z * z)
    clock[EVENTS] += 1.0


@inner
def is_worn(t, agents, bins):
    """Whether to rebuild the bins: agents have drifted, and enough events have passed."""
    if bins.clock[EVENTS] < PAYS * agents:
        return False
    return drift_at(t, bins.clock) > LOOSE * bins.frame[SIDE]


@inner
def lay_frame(agents, x, y, z, frame):
    """Lay bins over the box of all positions, with about PER_BIN agents in each.

    Where the agents are all in a plane or on a line, bins cover the plane or the line.
    """
    left, right = range_of(agents, x)
    front, back = range_of(agents, y)
    bottom, top = range_of(agents, z)
    frame[LOWER], frame[LOWER + 1], frame[LOWER + 2] = left, front, bottom
    width, height, depth = right - left, back - front, top - bottom
    share = PER_BIN / agents
    longest = larger(width, larger(height, depth))
    area = larger(width * height, larger(width * depth, height * depth))
    side = larger((width * height * depth * share) ** (1.0 / 3.0), math.sqrt(area * share))
    side = larger(side, longest * share)
    side = side if side > 0.0 else 1.0  # all at one position
    frame[SIDE] = side
    frame[ALONG] = larger(1, math.ceil(width / side))
    frame[ALONG + 1] = larger(1, math.ceil(height / side))
    frame[ALONG + 2] = larger(1, math.ceil(depth / side))


@njit
def put_all(t, cruise, row, bins, near):
    """Put all agents into bins as they are at time t; a few need none."""
    if not are_many(bins):
        return
    agents, frame = row.shape[0], bins.frame
    fastest = 0.0
    for q in range(agents):
        near.x[q], near.y[q], near.z[q] = place_at(t, q, cruise, row)
        speed = row[q, HOLD_X] * row[q, HOLD_X] + row[q, HOLD_Y] * row[q, HOLD_Y]
        fastest = larger(fastest, speed + row[q, HOLD_Z] * row[q, HOLD_Z])
    lay_frame(agents, near.x, near.y, near.z, frame)
    for q in range(agents):
        column = index_of(near.x[q], 0, frame) * int(frame[ALONG + 1])
        column += index_of(near.y[q], 1, frame)
        bins.bin[q] = column * int(frame[ALONG + 2]) + index_of(near.z[q], 2, frame)
    count = int(frame[ALONG] * frame[ALONG + 1] * frame[ALONG + 2])
    counting_sort(bins.bin, bins.first[: count + 1], bins.who)
    bins.clock[PUT_AT] = t
    bins.clock[FASTEST] = fastest
    bins.clock[EVENTS] = 0.0
