"""Every decision of a run made again, one after another.

For laws with memory, messages or more than one sample's information, a jump cannot be checked by
itself: what an agent knew depends on all messages before. So the run is replayed from its
beginning. Positions are always those of the table: one wrong row does not spoil those after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np

from dwell._types import Floats, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Message
from dwell.agents.state import Spent
from dwell.agents.walk import walk

TELL_EVERY = 512  # jumps


@final
@dataclass(frozen=True, eq=False)
class Rederived:
    """How far each jump is from what its law says; inf where the law has no such jump."""

    velocity: Floats  # the velocity it sets off with
    cruise: Floats  # for how long it is held
    next_at: Floats  # when it decides next
    counts: Floats  # cells, samples, messages and the law's mark: differences
    broken: Floats  # how far another agent is outside the ball of its last message


def rederive(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    tell: Callable[[str, float], None],
) -> Rederived:
    """Make every decision of `table` again."""
    gaps = np.zeros((5, len(table)))
    begin = system.start(start.start)
    counts = {name.name: table.count(name.name) for name in fields(Spent)}
    for k, (after, _) in enumerate(walk(system, begin, table)):
        if after is None:
            gaps[:, k] = np.inf
            continue
        p = int(table.agent[k])
        gaps[0, k] = np.abs(after.hold[p] - table.holds[k]).max()
        held = np.inf if after.cruise is None else float(after.cruise[p])
        gaps[1, k] = _gap(held, np.inf if table.cruise is None else table.cruise[k])
        gaps[2, k] = _gap(after.next_at[p], table.next_at[k])
        spent = after.spent[0]
        wrong = sum(abs(getattr(spent, name) - int(column[k])) for name, column in counts.items())
        said = -1.0 if table.promise is None else float(table.promise[k])
        gaps[3, k] = wrong + _gap(after.promise, said)
        gaps[4, k] = _strayed(system, after, p)
        if k % TELL_EVERY == 0:
            tell("checking", k / len(table))
    return Rederived(*gaps)


def _strayed(system: CoverageSystem, state: AgentsState, agent: int) -> float:
    """The largest distance of another agent from the ball that `agent` believes it to be in."""
    if not state.mail or not state.mail[agent].heard:
        return 0.0
    heard, places = state.mail[agent].heard, state.positions
    radius = getattr(system.controller, "radius", _reach)  # the law's own, where it has one
    return max(
        float(lengths(places[q] - said.position)) - radius(said, state.time)
        for q, said in heard.items()
    )


def _reach(said: Message, now: float) -> float:
    """How far the sender of a message can have moved within its speed bound."""
    return said.promise * (now - said.time)


def _gap(a: Any, b: Any) -> float:
    return 0.0 if a == b else abs(float(a) - float(b))
