"""The theorem's numbers: how long an agent may hold its velocity, and how fast it may move."""

from __future__ import annotations

import math


def max_dwell_time(eta_max: float, reach: float, k1: float, lipschitz: float, agents: int) -> float:
    """The largest T2 that keeps the hold error within `eta_max` (the paper's Lemma 2).

    `reach` is (1 - epsilon) nu.

    >>> round(max_dwell_time(0.4, 0.7 * (1 - 1e-8), 0.525, 5.0, 30), 7)
    0.0357877
    """
    return eta_max * reach / (k1 * k1 * (lipschitz * math.sqrt(agents) + 1.0))


def max_gain(eta_max: float, reach: float, t2: float, lipschitz: float, agents: int) -> float:
    """The largest k1 that keeps the hold error within `eta_max` for a given T2.

    The theorem also needs eta_max < k1; where this value is smaller, no k1 is admissible.

    >>> round(max_gain(0.4, 0.7 * (1 - 1e-8), 0.03, 5.0, 30), 5)
    0.57341
    """
    return math.sqrt(eta_max * reach / (t2 * (lipschitz * math.sqrt(agents) + 1.0)))


def max_lipschitz(eta_max: float, reach: float, k1: float, t2: float, agents: int) -> float:
    """The largest L for which T2 is admissible; below 0 if none is.

    >>> round(max_lipschitz(0.4, 0.7 * (1 - 1e-8), 0.525, 0.03, 30), 5)
    5.99983
    """
    return (eta_max * reach / (k1 * k1 * t2) - 1.0) / math.sqrt(agents)
