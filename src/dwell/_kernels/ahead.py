"""Bringing the memory of the next events into the cache while the present one is worked on.

Of very many agents, those that look one after another lie anywhere in memory, and an event would
wait for its own leg, for its bins, for who is in them, and for their legs, one after another. While
one event is worked on, all of these are asked for, each for another event to come:

- of the third event after it, the leg;
- of the second, bins: where they begin, and later who is in them; this is its plan;
- of the next, the legs of those in its plan, in two halves: no processor waits for all at once;
- of this one, the way down the queue that its next look will take.

Which events come next is read off the queue. Should another come, it finds no plan of its own and
gathers its neighbours as it would have without: nothing here changes a result.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import ENABLED, inlined
from dwell._kernels.bins import (
    COLUMNS,
    ROWS,
    SIDE,
    X,
    Y,
    covers,
    drift_at,
    gather_moving,
    guessed,
    half_width,
    limit_of,
    list_moving,
    place_at,
    place_in,
)
from dwell._kernels.legs import REACH
from dwell._kernels.queue import BRANCHES, is_before, row_in
from dwell._kernels.scratch import LINES

MANY = 20_000  # agents from which an event waits for memory: fewer fit into the cache
NOBODY = -1  # has a plan, and it is of no parts
TOP = 7  # levels of the queue that stay in the cache
SLOTS = 2  # for plans: of the event after this one, and of the one after that
MOST_ROWS = 12  # of bins in a plan


class Plans(NamedTuple):
    """Where the next agents that look will find others."""

    whose: np.ndarray  # (SLOTS, 2) the row of each one's leg, or NOBODY; of how many parts it is
    radius: np.ndarray  # (SLOTS,)
    part: np.ndarray  # (SLOTS, MOST_ROWS, 2) where each part begins and ends: bins, then in `who`


def plans_for(agents: int) -> Plans | None:
    """Room for plans; none for fewer than MANY agents, whose kernel knows nothing of them."""
    if agents < MANY:
        return None
    part = np.zeros((SLOTS, MOST_ROWS, 2), dtype=np.int64)
    return Plans(np.zeros((SLOTS, 2), dtype=np.int64), np.zeros(SLOTS), part)


if ENABLED:
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def fetch(typing, array, index):
        """Ask for the cache line of array[index]."""

        def generate(context, builder, signature, arguments):
            kind = signature.args[0]
            whole = context.make_array(kind)(context, builder, arguments[0])
            first = context.get_constant(types.intp, 0)
            indices = [arguments[1]] + [first] * (kind.ndim - 1)
            place = cgutils.get_item_pointer(context, builder, kind, whole, indices)
            hint = builder.bitcast(place, cgutils.voidptr_t)
            small = cgutils.int32_t
            prefetch = builder.module.declare_intrinsic(
                "llvm.prefetch",
                [cgutils.voidptr_t],
                cgutils.ir.FunctionType(cgutils.ir.VoidType(), [cgutils.voidptr_t] + [small] * 3),
            )
            builder.call(prefetch, [hint, small(0), small(3), small(1)])  # to read, keep, data
            return context.get_dummy_value()

        return types.none(array, types.intp), generate

else:

    def fetch(array, index):  # type: ignore[misc]
        """Plain Python has no say in what the cache holds."""


@inlined
def look_ahead(slot, cruise, legs, streams, bins, plans):
    """Plan the event after the next one in a slot that is free; gives how far `descend` came.

    Asks for the leg of the one after that, and for the first half of those near the next one.
    """
    two, three = after_next(legs)
    plan(slot, two, cruise, legs, bins, plans)
    fetch(legs.row, row_in(legs.queue[three]))
    fetch(streams, row_in(legs.queue[three]))
    fetch_legs(1 - slot, 0, legs, bins, plans)
    return descend(0, TOP, legs)


@inlined
def least_of(first, but, nor, legs):
    """The earliest of the sisters in the queue from `first` on, but two; -1 if there is none."""
    best = -1
    for k in range(first, min(first + BRANCHES, legs.queue.shape[0])):
        if k != but and k != nor and (best < 0 or is_before(k, best, legs)):
            best = k
    return best


@inlined
def earlier(i, j, legs):
    """The earlier of two entries of the queue, either of which may be missing."""
    if i < 0 or j < 0:
        return max(i, j)
    return i if is_before(i, j, legs) else j


@inlined
def after_next(legs):
    """Where in the queue the events after the next one are: the second and the third from now."""
    one = least_of(1, -1, -1, legs)
    two = earlier(least_of(1, one, -1, legs), least_of(BRANCHES * one + 1, -1, -1, legs), legs)
    three = earlier(least_of(1, one, two, legs), least_of(BRANCHES * one + 1, two, -1, legs), legs)
    three = earlier(three, least_of(BRANCHES * two + 1, -1, -1, legs), legs)
    return two, three


@inlined
def plan(slot, at, cruise, legs, bins, plans):
    """Find the bins round the agent at a place of the queue, and ask where they begin."""
    q = row_in(legs.queue[at])
    t = legs.due[at]
    frame = bins.frame
    px, py = place_at(t, q, cruise, legs.row)
    radius = guessed(legs.row[q, REACH], frame) + drift_at(t, bins.clock)
    low = place_in(py - radius, frame[Y], frame[SIDE], frame[ROWS])
    high = place_in(py + radius, frame[Y], frame[SIDE], frame[ROWS])
    plans.whose[slot, 0] = NOBODY
    plans.whose[slot, 1] = 0
    if high - low >= MOST_ROWS or covers(px, py, radius, frame):
        return
    across = int(frame[COLUMNS])
    parts = 0
    for k in range(low, high + 1):
        half = half_width(k, py, radius, frame)
        if half >= 0.0:
            left = k * across + place_in(px - half, frame[X], frame[SIDE], frame[COLUMNS])
            right = k * across + place_in(px + half, frame[X], frame[SIDE], frame[COLUMNS]) + 1
            plans.part[slot, parts, 0] = left
            plans.part[slot, parts, 1] = right
            parts += 1
            fetch(bins.first, left)
            fetch(bins.first, right)
    plans.whose[slot, 0] = q
    plans.whose[slot, 1] = parts
    plans.radius[slot] = radius


@inlined
def forget_plans(plans):
    """No plan holds any more."""
    plans.whose[:, :] = NOBODY


@inlined
def fetch_lists(slot, bins, plans):
    """Look up the agents in the bins of a plan; drop it if they are too many."""
    count = 1
    for k in range(plans.whose[slot, 1]):
        plans.part[slot, k, 0] = bins.first[plans.part[slot, k, 0]]
        plans.part[slot, k, 1] = bins.first[plans.part[slot, k, 1]]
        fetch(bins.who, plans.part[slot, k, 0])
        count += plans.part[slot, k, 1] - plans.part[slot, k, 0]
    if count > LINES:
        plans.whose[slot, 0] = NOBODY
        plans.whose[slot, 1] = 0


@inlined
def fetch_legs(slot, half, legs, bins, plans):
    """Ask for the legs of those in one half of a plan."""
    parts = plans.whose[slot, 1]
    for k in range(half * parts // 2, (half + 1) * parts // 2):
        for i in range(plans.part[slot, k, 0], plans.part[slot, k, 1]):
            fetch(legs.row, bins.who[i])


@inlined
def gather_first(slot, p, t, most, cruise, row, bins, near, plans):
    """Those round p, of whom nobody is listed yet: by the plan, if there is one for p.

    Who has one has not moved on since: an agent's leg changes at its own events alone.
    """
    if plans.whose[slot, 0] == p:
        return gather_planned(slot, p, t, cruise, row, bins, near, plans)
    radius = guessed(row[p, REACH], bins.frame)
    return gather_moving(p, t, 1, -1.0, radius, most, cruise, row, bins, near)


@inlined
def gather_planned(slot, p, t, cruise, row, bins, near, plans):
    """What `gather_moving` does when nobody is listed yet, by the plan."""
    drift = drift_at(t, bins.clock)  # perhaps more than it was then: the limit takes account of it
    limit = limit_of(near.x[0], near.y[0], plans.radius[slot], drift, bins.frame)
    m = 1
    for k in range(plans.whose[slot, 1]):
        begin = plans.part[slot, k, 0]
        end = plans.part[slot, k, 1]
        m = list_moving(begin, end, p, t, m, -1.0, limit, cruise, row, bins, near)
    return m, limit


@inlined
def descend(node, levels, legs):
    """Go down the queue the way that `sift_queue` will, and ask for what comes below."""
    for _ in range(levels):
        child = least_of(BRANCHES * node + 1, -1, -1, legs)
        node = child if child >= 0 else node
    below = BRANCHES * node + 1
    if below + BRANCHES <= legs.queue.shape[0]:
        fetch(legs.due, below)
        fetch(legs.due, below + BRANCHES - 1)
        fetch(legs.queue, below)
        fetch(legs.queue, below + BRANCHES - 1)
    return node
