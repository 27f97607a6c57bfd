"""Bringing the memory of the next events into the cache while the present one is worked on.

Of very many agents, those that look one after another lie anywhere in memory, and an event would
wait for its own row, for its bins, for who is in them, and for their rows, one after another. Each
of these is asked for one stage of an event earlier than it is read. Nothing here changes a result:
the numbers are only hints, and a wrong one costs time alone.
"""

from dwell._kernels._jit import ENABLED, inlined
from dwell._kernels.bins import (
    COLUMNS,
    ROWS,
    SIDE,
    X,
    Y,
    drift_at,
    guessed,
    half_width,
    place_at,
    place_in,
)
from dwell._kernels.legs import REACH
from dwell._kernels.scratch import MOST_ROWS

MANY = 20_000  # agents from which an event waits for memory: fewer fit into the cache
MOST_NEAR = 16  # agents in a row of bins that are asked for

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
def second_in(legs):
    """Where in the queue the next event is, once the first is over: most likely."""
    return least_of(1, legs)


@inlined
def least_of(child, legs):
    """The earliest of the queue's entries from `child` to its three sisters; -1 if there are none.

    Ties may fall either way: this is but a guess.
    """
    n = legs.queue.shape[0]
    if child >= n:
        return -1
    best = child
    for k in range(child + 1, min(child + 4, n)):
        if legs.due[k] < legs.due[best]:
            best = k
    return best


@inlined
def third_in(second, legs):
    """Where the one after that is: among its sisters and its children."""
    best = least_of(4 * second + 1, legs)
    for k in range(1, 5):
        if k != second and (best < 0 or legs.due[k] < legs.due[best]):
            best = k
    return best


@inlined
def fetch_bins(at, cruise, legs, bins, ahead):
    """Ask where the bins round the agent at a place of the queue begin; gives how many rows."""
    q = legs.queue[at]
    t = legs.due[at]
    frame = bins.frame
    px, py = place_at(t, q, cruise, legs.row)
    radius = guessed(legs.row[q, REACH], frame) + drift_at(t, bins.clock)
    low = place_in(py - radius, frame[Y], frame[SIDE], frame[ROWS])
    high = place_in(py + radius, frame[Y], frame[SIDE], frame[ROWS])
    high = min(high, low + MOST_ROWS - 1)
    across = int(frame[COLUMNS])
    for k in range(low, high + 1):
        half = half_width(k, py, radius, frame)
        half = half if half > 0.0 else 0.0
        left = k * across + place_in(px - half, frame[X], frame[SIDE], frame[COLUMNS])
        right = k * across + place_in(px + half, frame[X], frame[SIDE], frame[COLUMNS]) + 1
        ahead[k - low, 0] = left
        ahead[k - low, 1] = right
        fetch(bins.first, left)
        fetch(bins.first, right)
    return high + 1 - low


@inlined
def fetch_lists(rows, bins, ahead):
    """Ask who is in these bins."""
    for k in range(rows):
        ahead[k, 0] = bins.first[ahead[k, 0]]
        ahead[k, 1] = min(ahead[k, 0] + MOST_NEAR, bins.first[ahead[k, 1]])
        fetch(bins.who, ahead[k, 0])


@inlined
def fetch_rows(rows, legs, bins, ahead):
    """Ask for the legs of those who are in them."""
    for k in range(rows):
        for i in range(ahead[k, 0], ahead[k, 1]):
            fetch(legs.row, bins.who[i])
