"""Sums that do not care into how many pieces their terms were cut."""

import math

from dwell._kernels._jit import njit


@njit
def add_each(who, terms, high, low):
    """Add terms[k] to the sum of agent who[k], one after another.

    `low` gathers what rounding takes away from `high`; high + low is the sum, as good as exact for
    terms of one sign. The order of an agent's terms alone decides the bits.
    """
    for k in range(who.shape[0]):
        p = who[k]
        term = terms[k]
        before = high[p]
        total = before + term
        if math.fabs(before) >= math.fabs(term):
            low[p] += (before - total) + term
        else:
            low[p] += (term - total) + before
        high[p] = total
