"""Replay of an event table from its beginning, with every decision made again.

For laws with memories or messages an observation depends on all events before it. Positions and
segments are always those of the table, so that one wrong row does not affect the rows after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dwell.agents.events import EventTable
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.hybrid import Event, Halt


def walk(
    system: CoverageSystem, start: AgentsState, table: EventTable
) -> Iterator[tuple[AgentsState | None, AgentsState]]:
    """For each jump the state after it as the law decides, and as the table records it.

    The first is None where the jump is impossible; the replay then continues from the state before.
    """
    state = start
    for k in range(len(table)):
        p, t = int(table.agent[k]), float(table.time[k])
        try:
            after = system.jump(system.flow(state, t), Event(t, p))
        except Halt:
            yield None, state
            continue
        segments = after.segments.copied()
        segments.put(p, table.begun(segments).take(k))
        state = replace(after, segments=segments)
        yield after, state
