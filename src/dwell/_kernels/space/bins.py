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
from dwell._kernels.polygon.cell_list import (
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
from dwell._kernels.space.legs import HOLD_X, HOLD_Y, HOLD_Z, place_at
from dwell._kernels.space.memory import Grid

FEW = 128  # agents up to which all are near
FIRST = 2.2  # sides of a bin: the radius of the first ball, where no better guess is at hand
MARGIN = 1.1  # a guess is taken so many times

X, Y, Z, SIDE, ALONG_X, ALONG_Y, ALONG_Z = range(7)  # a frame: lower corner, side, how many


class Bins(NamedTuple):
    """Who is where: agents in the order of their bins, of which the last axis runs fastest."""

    frame: np.ndarray  # (7,)
    clock: np.ndarray  # (3,) see ../polygon/cell_list.py
    first: np.ndarray  # (bins + 1,) where each bin begins in `who`
    who: np.ndarray  # (N,)


def make_bins(agents: int) -> Bins:
    """Empty bins for so many agents; `put_all` fills them."""
    most = 1 if agents <= FEW else 4 * agents  # more than any frame for so many has
    first, who = np.zeros(most + 1, dtype=np.int32), np.arange(agents, dtype=np.int32)
    return Bins(np.zeros(7), np.zeros(3), first, who)


def make_near(agents: int) -> Grid:
    """Buffers for the agents near one, that one first: a search with a single bin.

    There is one entry more than agents, as the measuring one is listed twice.
    """
    x, y, z = np.empty((3, agents + 1))
    ends = np.zeros(2, dtype=np.int64)
    alone = np.ones(3, dtype=np.int64)
    return Grid(x, y, z, np.empty(0, dtype=np.int64), ends, alone, np.zeros(3), 1.0)


@inner
def are_many(bins):
    """Whether there is more than one bin."""
    return bins.first.shape[0] > 2


@inner
def side_for(agents, width, height, depth):
    """Side of bins with about PER_BIN agents in each, also if all are in a plane or on a line."""
    share = PER_BIN / agents
    longest = larger(width, larger(height, depth))
    area = larger(width * height, larger(width * depth, height * depth))
    side = larger((width * height * depth * share) ** (1.0 / 3.0), math.sqrt(area * share))
    return larger(side, longest * share)


@inner
def along(extent, side):
    """How many bins an extent takes."""
    return larger(1, math.ceil(extent / side))


@inner
def bin_of(x, y, z, frame):
    """The number of the bin that a place lies in; those outside count to the outermost."""
    i = place_in(x, frame[X], frame[SIDE], frame[ALONG_X])
    j = place_in(y, frame[Y], frame[SIDE], frame[ALONG_Y])
    k = place_in(z, frame[Z], frame[SIDE], frame[ALONG_Z])
    return (i * int(frame[ALONG_Y]) + j) * int(frame[ALONG_Z]) + k


@inner
def gap_to(k, z, low, side, count):
    """How far z is from slab k of bins along an axis; the outermost have no outer edge."""
    gap = 0.0
    if k > 0:
        gap = larger(gap, low + k * side - z)
    if k < count - 1:
        gap = larger(gap, z - (low + (k + 1) * side))
    return gap


@inner
def far_end(z, low, side, count):
    """How far z is from the farther end of a frame."""
    return larger(abs(z - low), abs(low + count * side - z))


@inner
def limit_of(px, py, pz, radius, drift, frame):
    """The squared distance up to which all agents are listed; inf if none is left out."""
    side = frame[SIDE]
    far = far_end(px, frame[X], side, frame[ALONG_X]) + far_end(py, frame[Y], side, frame[ALONG_Y])
    if radius > far + far_end(pz, frame[Z], side, frame[ALONG_Z]):
        return np.inf
    size = abs(frame[X]) + abs(frame[Y]) + abs(frame[Z])
    size += side * (frame[ALONG_X] + frame[ALONG_Y] + frame[ALONG_Z])
    sure = radius - drift - SLACK * size
    return sure * sure if sure > 0.0 else -1.0


@inner
def add_some(begin, end, p, t, limit, m, cruise, row, who, near):
    """Add agents begin to end - 1 in the order of bins, but not p itself, nor any beyond `limit`.

    Gives how many there are then.
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
    """List the agents near agent p at time t, itself first; gives the limit.

    Up to this squared distance, which is about that of the radius, none is missing and beyond it
    none is listed.
    """
    px, py, pz = place_at(t, p, cruise, row)
    near.x[0] = px
    near.y[0] = py
    near.z[0] = pz
    limit = np.inf
    m = 1
    if not are_many(bins):
        m = add_some(0, row.shape[0], p, t, limit, m, cruise, row, bins.who, near)
    else:
        frame = bins.frame
        side = frame[SIDE]
        drift = drift_at(t, bins.clock)
        radius += drift
        limit = limit_of(px, py, pz, radius, drift, frame)
        square = radius * radius
        rows = int(frame[ALONG_Y])
        deep = int(frame[ALONG_Z])
        for i in range(
            place_in(px - radius, frame[X], side, frame[ALONG_X]),
            place_in(px + radius, frame[X], side, frame[ALONG_X]) + 1,
        ):
            di = gap_to(i, px, frame[X], side, frame[ALONG_X])
            left = square - di * di
            if left < 0.0:
                continue
            wide = math.sqrt(left)
            for j in range(
                place_in(py - wide, frame[Y], side, frame[ALONG_Y]),
                place_in(py + wide, frame[Y], side, frame[ALONG_Y]) + 1,
            ):
                dj = gap_to(j, py, frame[Y], side, frame[ALONG_Y])
                rest = left - dj * dj
                if rest < 0.0:
                    continue
                half = math.sqrt(rest) if limit < np.inf else np.inf
                low = 0
                high = deep - 1
                if limit < np.inf:
                    low = place_in(pz - half, frame[Z], side, frame[ALONG_Z])
                    high = place_in(pz + half, frame[Z], side, frame[ALONG_Z])
                column = (i * rows + j) * deep
                begin = bins.first[column + low]
                end = bins.first[column + high + 1]
                m = add_some(begin, end, p, t, limit, m, cruise, row, bins.who, near)
    near.start[1] = m
    return limit


@inner
def guessed(reach, frame):
    """A radius for the first ball, from the distance at which a cell like this one is settled."""
    return MARGIN * reach if reach > 0.0 else FIRST * frame[SIDE]


@inner
def note_speed(x, y, z, clock):
    """An agent moves on with this velocity."""
    clock[FASTEST] = larger(clock[FASTEST], x * x + y * y + z * z)
    clock[EVENTS] += 1.0


@inner
def is_worn(t, agents, bins):
    """Whether to rebuild the bins: agents have drifted, and enough events have passed."""
    if bins.clock[EVENTS] < PAYS * agents:
        return False
    return drift_at(t, bins.clock) > LOOSE * bins.frame[SIDE]


@inner
def lay_frame(x, y, z, frame):
    """Bins over the box that these places fill."""
    left = front = bottom = np.inf
    right = back = top = -np.inf
    for q in range(x.shape[0]):
        left = smaller(left, x[q])
        right = larger(right, x[q])
        front = smaller(front, y[q])
        back = larger(back, y[q])
        bottom = smaller(bottom, z[q])
        top = larger(top, z[q])
    side = side_for(x.shape[0], right - left, back - front, top - bottom)
    side = side if side > 0.0 else 1.0  # all at one place
    frame[X] = left
    frame[Y] = front
    frame[Z] = bottom
    frame[SIDE] = side
    frame[ALONG_X] = along(right - left, side)
    frame[ALONG_Y] = along(back - front, side)
    frame[ALONG_Z] = along(top - bottom, side)


@inner
def put_places(x, y, z, bins):
    """Put agents at these places into bins, in a frame that fits them."""
    frame, first = bins.frame, bins.first
    lay_frame(x, y, z, frame)
    agents = x.shape[0]
    count = int(frame[ALONG_X] * frame[ALONG_Y] * frame[ALONG_Z])
    first[: count + 1] = 0
    for q in range(agents):
        first[bin_of(x[q], y[q], z[q], frame) + 1] += 1
    for k in range(count):
        first[k + 1] += first[k]
    for k in range(agents):
        q = agents - 1 - k  # the last one first: a bin is then in the order of the numbers
        place = bin_of(x[q], y[q], z[q], frame)
        first[place + 1] -= 1
        bins.who[first[place + 1]] = q
    # Each bin now begins where the next one did: first[b + 1] was counted down to the start of b.
    for k in range(count):
        first[k] = first[k + 1]
    first[count] = agents


@njit
def put_all(t, cruise, row, bins, near):
    """Put all agents into bins as they are at time t; a few need none."""
    if not are_many(bins):
        return
    agents = row.shape[0]
    fastest = 0.0
    for q in range(agents):
        near.x[q], near.y[q], near.z[q] = place_at(t, q, cruise, row)
        speed = row[q, HOLD_X] * row[q, HOLD_X] + row[q, HOLD_Y] * row[q, HOLD_Y]
        fastest = larger(fastest, speed + row[q, HOLD_Z] * row[q, HOLD_Z])
    put_places(near.x[:agents], near.y[:agents], near.z[:agents], bins)
    bins.clock[PUT_AT] = t
    bins.clock[FASTEST] = fastest
    bins.clock[EVENTS] = 0.0
