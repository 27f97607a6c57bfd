"""A table walked through from its beginning: every decision made again, one after another.

For laws that remember or hear, what an agent knows depends on all that was said before. Positions
and legs are always those of the table, so that one wrong row does not spoil those after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from dwell.agents.compilable import can_compile
from dwell.agents.continuous import is_continuous
from dwell.agents.events import EventTable
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.hybrid import Event, Halt


def walk(
    system: CoverageSystem, start: AgentsState, table: EventTable
) -> Iterator[tuple[AgentsState | None, AgentsState]]:
    """For each jump the state after it as the law decides, and the same as recorded.

    None where the jump could not happen at all; the walk then goes on as if nothing had happened.
    """
    state = start
    for k in range(len(table)):
        p, t = int(table.agent[k]), float(table.time[k])
        try:
            after = system.jump(system.flow(state, t), Event(t, p))
        except Halt:
            yield None, state
            continue
        state = _as_recorded(after, table, k, p)
        yield after, state


def walk_of(
    system: CoverageSystem, start: AgentsState, table: EventTable
) -> Callable[[], Iterator[AgentsState]] | None:
    """How to get at states, where what agents remember or have heard goes into decisions."""
    if can_compile(system) or is_continuous(system):
        return None
    return lambda: (state for _, state in walk(system, start, table))


def _as_recorded(after: AgentsState, table: EventTable, k: int, p: int) -> AgentsState:
    """The state after jump k with the agent's leg as the table has it."""
    start, hold, next_at = after.start.copy(), after.hold.copy(), after.next_at.copy()
    start[p], hold[p], next_at[p] = table.positions[k], table.holds[k], table.next_at[k]
    cruise = after.cruise
    if table.cruise is not None:
        cruise = np.full(len(hold), np.inf) if cruise is None else cruise.copy()
        cruise[p] = table.cruise[k]
    return replace(after, start=start, hold=hold, next_at=next_at, cruise=cruise)
