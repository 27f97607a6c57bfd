"""Agents that move on a line, in the order in which they stood a while ago.

Nobody has come farther since then than the fastest could have. Going outward from an agent's place
in that order, one may stop where those who follow are too far to have come between; who stands next
to it is found as if everybody had been asked. When much has been walked in vain all are put in
order anew.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import larger
from dwell._kernels.bins import FASTEST, PUT_AT, drift_at
from dwell._kernels.line.cells import NOBODY
from dwell._kernels.line.legs import HOLD, place_at

WALKED = 16.0  # steps per agent after which all are put in order anew
SLACK = 1e-14  # of the places: they are rounded
STEPS = 2  # of the clock: walked since all were put in order
BELOW, ABOVE = 1, 2  # of `near`; 0 is the agent itself


class Order(NamedTuple):
    """Who stands where in the row, and where they stood."""

    clock: np.ndarray  # (3,) when that was, the fastest squared speed since, steps walked
    who: np.ndarray  # (N,) agents by place
    rank: np.ndarray  # (N,) the other way round
    then: np.ndarray  # (N,) place of the k-th in the row
    spare_who: np.ndarray  # for sorting
    spare_then: np.ndarray
    near: np.ndarray  # (3,) places of one that looks, of the next below and of the next above


def make_order(agents: int) -> Order:
    """Room for so many agents; `put_in_order` fills it."""
    who, rank, spare = (np.arange(agents, dtype=np.int32) for _ in range(3))
    return Order(
        np.zeros(3), who, rank, np.zeros(agents), spare, np.zeros(agents), np.zeros(3)
    )  # fmt: skip


@inner
def merge(first, middle, last, who, then, into_who, into_then):
    """Merge two sorted pieces of a row, first to middle - 1 and middle to last - 1."""
    i = first
    j = middle
    for k in range(first, last):
        if j >= last or (i < middle and then[i] <= then[j]):
            into_who[k] = who[i]
            into_then[k] = then[i]
            i += 1
        else:
            into_who[k] = who[j]
            into_then[k] = then[j]
            j += 1


@inner
def is_sorted(then):
    """Whether all are in order already, as they mostly are."""
    for k in range(1, then.shape[0]):
        if then[k] < then[k - 1]:
            return False
    return True


@inner
def sort_row(order):
    """Sort by place: pieces of 1, 2, 4, ... are merged."""
    n = order.then.shape[0]
    width = 1
    while width < n and not is_sorted(order.then):
        for first in range(0, n, 2 * width):
            middle = min(first + width, n)
            last = min(first + 2 * width, n)
            merge(first, middle, last, order.who, order.then, order.spare_who, order.spare_then)
        order.who[:] = order.spare_who
        order.then[:] = order.spare_then
        width *= 2


@njit
def put_in_order(t, cruise, row, order):
    """Put everybody in order, as they are at time t."""
    fastest = 0.0
    for k in range(row.shape[0]):
        q = order.who[k]
        order.then[k] = place_at(t, q, cruise, row)
        fastest = larger(fastest, row[q, HOLD] * row[q, HOLD])
    sort_row(order)
    for k in range(row.shape[0]):
        order.rank[order.who[k]] = k
    order.clock[PUT_AT] = t
    order.clock[FASTEST] = fastest
    order.clock[STEPS] = 0.0


@inner
def is_worn(order):
    """Whether to put everybody in order anew."""
    return order.clock[STEPS] > WALKED * order.who.shape[0]


@inner
def note_speed(hold, clock):
    """An agent moves on with this velocity."""
    clock[FASTEST] = larger(clock[FASTEST], hold * hold)


@inner
def weigh_in(x, near):
    """Keep x if it is between what is known and the agent, or at the same place."""
    if x <= near[0]:
        near[BELOW] = larger(near[BELOW], x)
    elif x < near[ABOVE]:
        near[ABOVE] = x


@inner
def look_beside(p, t, cruise, row, order):
    """Put the places of agent p and of those next to it into order.near; gives who is there.

    The next below may stand at the same place. NOBODY, or BELOW and ABOVE.
    """
    near, then, n = order.near, order.then, row.shape[0]
    near[0] = place_at(t, p, cruise, row)
    near[BELOW] = -np.inf
    near[ABOVE] = np.inf
    drift = drift_at(t, order.clock) + SLACK * larger(abs(then[0]), abs(then[n - 1]))
    own = order.rank[p]
    k = own - 1
    while k >= 0 and then[k] + drift >= near[BELOW]:
        weigh_in(place_at(t, order.who[k], cruise, row), near)
        k -= 1
    i = own + 1
    while i < n and then[i] - drift <= near[ABOVE]:
        weigh_in(place_at(t, order.who[i], cruise, row), near)
        i += 1
    order.clock[STEPS] += i - k
    left = BELOW if near[BELOW] > -np.inf else NOBODY
    right = ABOVE if near[ABOVE] < np.inf else NOBODY
    return left, right
