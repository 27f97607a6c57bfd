"""Other agents in space by cubic bins, and in increasing distance.

As in the plane (see ../polygon/cell_list.py), with a ball in place of the disc: the bins that it
touches hold all agents up to its radius. Agents that move are put into bins together now and then,
and none has come farther since then than the fastest could have. The list is complete up to a known
distance, so that a cell that reaches no farther has the bits of a search through all agents.

Agents come by distance, then by position: the order names neither bins nor numbers, so that any
bins and any numbering of the agents give the same cells to the last bit.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner, njit
from dwell._kernels.common.arithmetic import larger, range_of, smaller
from dwell._kernels.common.bins import (
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
from dwell._kernels.common.segments import AFTER_REACH, AFTER_SINCE
from dwell._kernels.space.memory import BinGrid

# Columns of the engine's table of trajectory segments in space: see ../common/segments.py.
START_X, START_Y, START_Z, HOLD_X, HOLD_Y, HOLD_Z = range(6)
SINCE, REACH = 6 + AFTER_SINCE, 6 + AFTER_REACH

SORTED = 12  # entries that are sorted at once
FEW = 128  # agents up to which all are near
FIRST = 2.2  # sides of a bin: the radius of the first ball, where no better guess is at hand
MARGIN = 1.1  # a guess is taken so many times

LOWER, SIDE, ALONG = 0, 3, 4  # a frame: lower corner (3), side of a bin, bins along each axis (3)


def make_grid(agents: int, many: bool) -> BinGrid:
    """Return a grid for so many agents, which `put_all` and `put_at_rest` fill.

    It has a single bin unless there are `many`. There is one entry more than agents, as one that
    moves is listed twice.
    """
    most = 4 * agents if many else 1  # more than any frame for so many has
    x, y, z = np.zeros((3, agents + 1))
    first, order = np.full(most + 1, agents), np.arange(agents)
    first[0] = 0
    return BinGrid(x, y, z, order, first, np.zeros_like(order), np.zeros(7), np.zeros(3))


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
def limit_of(place, radius, drift, frame):
    """Return the squared distance up to which all agents are listed; inf if none is left out."""
    far = size = 0.0  # the distance to the farthest corner, at most, and the size of the frame
    for axis in range(3):
        low, length = frame[LOWER + axis], frame[ALONG + axis] * frame[SIDE]
        far += larger(abs(place[axis] - low), abs(low + length - place[axis]))
        size += abs(low) + length
    if radius > far:
        return np.inf
    sure = radius - drift - SLACK * size
    return sure * sure if sure > 0.0 else -1.0


@inner
def add_some(begin, end, p, t, size, beyond, limit, cruise, row, grid, key, seen):
    """List agents begin to end - 1 in the order of bins: see `gather`.

    Not p itself, nor any up to `beyond` or farther than `limit`. Returns how many there are then.
    """
    own = p if row is None else 0
    px, py, pz = grid.x[own], grid.y[own], grid.z[own]
    for i in range(begin, end):
        q = at = i
        if row is not None:
            q, at = grid.order[i], size + 1
            grid.x[at], grid.y[at], grid.z[at] = place_at(t, q, cruise, row)
        dx, dy, dz = grid.x[at] - px, grid.y[at] - py, grid.z[at] - pz
        d2 = dx * dx + dy * dy + dz * dz
        key[size] = d2
        seen[size] = at
        size += (d2 > beyond) & (d2 <= limit) & (q != p)
    return size


@inner
def gather(p, t, size, beyond, radius, cruise, row, grid, key, seen):
    """List the agents near agent p at time t; returns how many there are, and the limit.

    Up to this squared distance, which is about that of the radius, none is missing and beyond it
    none is listed; the first `size`, up to the squared distance `beyond`, are listed already.
    key, seen: squared distances and numbers in the grid. row: the segments of all agents, which
    come into the grid here, after agent p itself; None for agents at rest.
    """
    if not are_many(grid):
        count, limit = grid.order.shape[0], np.inf
        size = add_some(0, count, p, t, size, beyond, limit, cruise, row, grid, key, seen)
        return size, limit
    own = p if row is None else 0
    px, py, pz = grid.x[own], grid.y[own], grid.z[own]
    first, frame = grid.first, grid.frame
    drift = 0.0 if row is None else drift_at(t, grid.clock)
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
        low, high = index_of(pz - wide, 2, frame), index_of(pz + wide, 2, frame)
        for j in range(index_of(py - wide, 1, frame), index_of(py + wide, 1, frame) + 1):
            dj = gap_to(j, py, 1, frame)
            if dj * dj > left:
                continue
            column = (i * int(frame[ALONG + 1]) + j) * deep
            begin, end = first[column + low], first[column + high + 1]
            size = add_some(begin, end, p, t, size, beyond, limit, cruise, row, grid, key, seen)
    return size, limit


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
def is_worn(t, grid):
    """Whether to rebuild the bins: agents have drifted, and enough events have passed."""
    if grid.clock[EVENTS] < PAYS * grid.order.shape[0]:
        return False
    return drift_at(t, grid.clock) > LOOSE * grid.frame[SIDE]


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
def put_at_rest(x, y, z, grid):
    """Put agents at (x, y, z) into bins in a frame that fits them; in a bin they are ascending."""
    agents, first, frame = grid.order.shape[0], grid.first, grid.frame
    lay_frame(agents, x, y, z, frame)
    last = int(frame[ALONG] * frame[ALONG + 1] * frame[ALONG + 2])
    first[: last + 1] = 0
    for q in range(agents):
        column = index_of(x[q], 0, frame) * int(frame[ALONG + 1]) + index_of(y[q], 1, frame)
        grid.bin[q] = column * int(frame[ALONG + 2]) + index_of(z[q], 2, frame)
        first[grid.bin[q] + 1] += 1
    for b in range(last):
        first[b + 1] += first[b]
    for q in range(agents - 1, -1, -1):
        b = grid.bin[q]
        first[b + 1] -= 1
        grid.order[first[b + 1]] = q
    for b in range(last):  # first[b + 1] was counted down to where bin b begins
        first[b] = first[b + 1]
    first[last] = agents


@njit
def put_all(t, cruise, row, grid):
    """Put all agents that move into bins as they are at time t; a few need none."""
    if not are_many(grid):
        return
    fastest = 0.0
    for q in range(row.shape[0]):
        grid.x[q], grid.y[q], grid.z[q] = place_at(t, q, cruise, row)
        speed = row[q, HOLD_X] * row[q, HOLD_X] + row[q, HOLD_Y] * row[q, HOLD_Y]
        fastest = larger(fastest, speed + row[q, HOLD_Z] * row[q, HOLD_Z])
    put_at_rest(grid.x, grid.y, grid.z, grid)
    grid.clock[PUT_AT] = t
    grid.clock[FASTEST] = fastest
    grid.clock[EVENTS] = 0.0


@inlined
def comes_before(i, a, j, b, grid):
    """Whether agent a at squared distance i precedes b at j: by distance, then by position."""
    if i != j:
        return i < j
    if grid.x[a] != grid.x[b]:
        return grid.x[a] < grid.x[b]
    if grid.y[a] != grid.y[b]:
        return grid.y[a] < grid.y[b]
    return grid.z[a] < grid.z[b]


@inlined
def sort_few(first, last, key, seen, grid):
    """Sort entries first to last - 1, one after another put in its place."""
    for i in range(first + 1, last):
        k = key[i]
        q = seen[i]
        j = i
        while j > first and comes_before(k, q, key[j - 1], seen[j - 1], grid):
            key[j] = key[j - 1]
            seen[j] = seen[j - 1]
            j -= 1
        key[j] = k
        seen[j] = q


@inlined
def part(first, last, key, seen, grid):
    """Part entries first to last - 1 in two, none of the first after any of the second (Hoare).

    Returns where the second part begins; none of the two is empty.
    """
    middle = (first + last) >> 1
    k = key[middle]
    q = seen[middle]
    i = first
    j = last - 1
    while True:
        while comes_before(key[i], seen[i], k, q, grid):
            i += 1
        while comes_before(k, q, key[j], seen[j], grid):
            j -= 1
        if i >= j:
            return i if i > first else first + 1
        key[i], key[j] = key[j], key[i]
        seen[i], seen[j] = seen[j], seen[i]
        i += 1
        j -= 1


@inlined
def sort_next(first, depth, ends, key, seen, grid):
    """Sort the entries that come next, and no more than that: quicksort, put off as it goes.

    From `first` on, entries are in parts that end at ends[depth - 1] (the next part), ends[depth -
    2] and so on, each part before the following ones. Returns up to where entries are sorted, and
    the number of parts left.
    """
    while ends[depth - 1] - first > SORTED:
        ends[depth] = part(first, ends[depth - 1], key, seen, grid)
        depth += 1
    depth -= 1
    sort_few(first, ends[depth], key, seen, grid)
    return ends[depth], depth
