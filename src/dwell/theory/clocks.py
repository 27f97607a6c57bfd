"""Whether agents under the timer law sample at the same times, whatever chance decides."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats
from dwell.agents.traits import HoldLaw


def shares_clock(law: HoldLaw, agents: int) -> bool:
    """Whether all agents always sample at the same times, whatever they measure and draw."""
    return agents == 1 or common_waits(law, agents) is not None


def common_waits(law: HoldLaw, agents: int) -> tuple[float, ...] | None:
    """The dwell times that all agents have in common, in order, from the first sample on.

    None if they differ, or are drawn or worked out on the way.
    """
    table = _certain_waits(law, agents)
    numbers = law.numbers(agents)
    first = numbers.t2 if law.initial_timer is None else np.atleast_1d(law.initial_timer)
    if table is None or not same(table) or not same(np.asarray(first, dtype=np.float64)):
        return None
    return tuple(map(float, table[0]))


def _certain_waits(law: HoldLaw, agents: int) -> Floats | None:
    """The waits of each agent in turn, (N, K); None if chance or the state decides."""
    numbers = law.numbers(agents)
    if (numbers.t1 == numbers.t2).all():  # whatever the rule, nothing is left to choose
        return numbers.t1[:, None]
    if law.reset == "sequence":
        return numbers.intervals
    waits = {"earliest": numbers.t1, "latest": numbers.t2, "periodic": numbers.period}
    if law.reset == "dropout" and numbers.loss == 0.0:
        waits["dropout"] = numbers.t1
    return waits[law.reset][:, None] if law.reset in waits else None


def same(rows: Floats) -> bool:
    """Whether the rows of all agents are equal."""
    return bool((rows == rows[:1]).all())
