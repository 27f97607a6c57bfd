"""Every decision of a run made again, one after another.

For laws that remember, hear or compute more than one look gives, a jump cannot be checked by
itself: what an agent knew depends on all that was said before. So the run is walked through from
its beginning. Positions are always those of the table: one wrong row does not spoil those after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, final

import numpy as np

from dwell._types import Floats, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.agents.state import Spent
from dwell.hybrid import Event, Halt

TELL_EVERY = 512  # jumps


@final
@dataclass(frozen=True, eq=False)
class Rederived:
    """How far each jump is from what its law says; inf where it could not happen at all."""

    velocity: Floats  # the velocity it sets off with
    cruise: Floats  # for how long it is held
    next_at: Floats  # when it decides next
    counts: Floats  # cells, looks, messages and the law's note: differences
    broken: Floats  # how far another agent is from where it promised to be, as far as heard of


def rederive(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    tell: Callable[[str, float], None],
) -> Rederived:
    """Make every decision of `table` again."""
    gaps = np.zeros((5, len(table)))
    state = system.start(start.start)
    counts = {name.name: table.count(name.name) for name in fields(Spent)}
    marks = table.count("mark")
    for k in range(len(table)):
        p, t = int(table.agent[k]), float(table.time[k])
        try:
            after = system.jump(system.flow(state, t), Event(t, p))
        except Halt:
            gaps[:, k] = np.inf
            continue
        gaps[0, k] = np.abs(after.hold[p] - table.holds[k]).max()
        gaps[1, k] = _gap(_cruise(after, p), np.inf if table.cruise is None else table.cruise[k])
        gaps[2, k] = _gap(after.next_at[p], table.next_at[k])
        spent = after.spent[0]
        wrong = sum(abs(getattr(spent, name) - int(column[k])) for name, column in counts.items())
        said = -1.0 if table.promise is None else float(table.promise[k])
        gaps[3, k] = wrong + abs(after.mark - int(marks[k])) + _gap(after.promise, said)
        gaps[4, k] = _strayed(after, p)
        state = _as_recorded(after, table, k, p)
        if k % TELL_EVERY == 0:
            tell("checking", k / len(table))
    return Rederived(*gaps)


def _strayed(state: AgentsState, agent: int) -> float:
    """The largest distance of another agent from the ball that `agent` believes it to be in."""
    if not state.mail or not state.mail[agent].heard:
        return 0.0
    heard, places = state.mail[agent].heard, state.positions
    return max(
        float(lengths(places[q] - said.position)) - said.promise * (state.time - said.time)
        for q, said in heard.items()
    )


def _cruise(state: AgentsState, agent: int) -> float:
    return np.inf if state.cruise is None else float(state.cruise[agent])


def _gap(a: Any, b: Any) -> float:
    return 0.0 if a == b else abs(float(a) - float(b))


def _as_recorded(after: AgentsState, table: EventTable, k: int, p: int) -> AgentsState:
    """The state after jump k with the agent's leg as the table has it."""
    after.start[p] = table.positions[k]
    after.hold[p] = table.holds[k]
    after.next_at[p] = table.next_at[k]
    if table.cruise is not None:
        cruise = after.cruise if after.cruise is not None else np.full(len(after.since), np.inf)
        cruise[p] = table.cruise[k]
        return replace(after, cruise=cruise)
    return after
