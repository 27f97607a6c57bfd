"""EventTable: every jump of a run as arrays. Together with the start it is the whole solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents.state import AgentsState
from dwell.hybrid import Event, HybridArc

if TYPE_CHECKING:
    from dwell._kernels.engine import Log


WHOLE = frozenset({"agent", "neighbors", "empty"})  # columns of whole numbers


@final
@dataclass(frozen=True, eq=False)
class EventTable:
    """One row per jump, in order."""

    time: Floats
    agent: Ints
    x: Floats  # position at the jump
    y: Floats
    hold_x: Floats  # velocity from now on
    hold_y: Floats
    next_at: Floats  # when this agent looks again
    error_x: Floats  # centroid minus position
    error_y: Floats
    hold_error: Floats  # |change of the held velocity|: the hold error at the end of the hold
    neighbors: Ints
    nearest: Floats  # distance of the nearest other agent
    empty: Ints  # 1 when the cell weighed nothing

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"<EventTable of {len(self)} jumps>"

    @property
    def positions(self) -> Points:
        """(jumps, 2)."""
        return np.column_stack([self.x, self.y])

    @property
    def holds(self) -> Points:
        """(jumps, 2)."""
        return np.column_stack([self.hold_x, self.hold_y])

    @property
    def errors(self) -> Points:
        """(jumps, 2)."""
        return np.column_stack([self.error_x, self.error_y])

    def as_log(self) -> Log:
        """The same arrays in the form the kernels take."""
        from dwell._kernels.engine import Log

        return Log(**{f.name: getattr(self, f.name) for f in fields(self)})

    def of_agent(self, agent: int) -> Ints:
        """Rows of one agent, in order."""
        return self._rows[agent] if agent < len(self._rows) else np.empty(0, dtype=np.int64)

    @cached_property
    def _rows(self) -> list[Ints]:
        order = np.argsort(self.agent, kind="stable")
        ends = np.cumsum(np.bincount(self.agent)) if len(self) else np.empty(0, dtype=np.int64)
        return np.split(order, ends[:-1]) if len(ends) else []

    @classmethod
    def joined(cls, parts: Sequence[EventTable]) -> EventTable:
        """Several tables, one after another."""
        return cls(
            **{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)}
        )

    @classmethod
    def blank(cls, rows: int) -> EventTable:
        """A table of `rows` rows to be filled."""
        columns: dict[str, Any] = {
            f.name: np.empty(rows, dtype=np.int64 if f.name in WHOLE else np.float64)
            for f in fields(cls)
        }
        return cls(**columns)

    def head(self, rows: int) -> EventTable:
        """Copies of the first `rows` rows."""
        return EventTable(**{f.name: getattr(self, f.name)[:rows].copy() for f in fields(self)})


@final
class LoggedEvents(Sequence[Event]):
    """The jumps of a table as `Event` values."""

    def __init__(self, table: EventTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, i: int) -> Event: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Event]: ...
    def __getitem__(self, i: int | slice) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        return Event(float(self._table.time[i]), int(self._table.agent[i]))


@final
class LoggedStates(Sequence[AgentsState]):
    """The states after each jump, put together from the start and a table when asked for."""

    def __init__(self, start: AgentsState, table: EventTable) -> None:
        self._start = start
        self._table = table

    def __len__(self) -> int:
        return len(self._table) + 1

    @overload
    def __getitem__(self, j: int) -> AgentsState: ...
    @overload
    def __getitem__(self, j: slice) -> Sequence[AgentsState]: ...
    def __getitem__(self, j: int | slice) -> Any:
        if isinstance(j, slice):
            return [self[k] for k in range(*j.indices(len(self)))]
        if j < 0:
            j += len(self)
        if not (0 <= j < len(self)):
            raise IndexError(j)
        return self._after(j)

    def _after(self, j: int) -> AgentsState:
        if j == 0:
            return self._start
        table, begin = self._table, self._start
        start, hold, since = begin.start.copy(), begin.hold.copy(), begin.since.copy()
        next_at, looks = begin.next_at.copy(), begin.looks.copy()
        for p in range(len(since)):
            rows = table.of_agent(p)
            made = int(np.searchsorted(rows, j))
            if made:
                k = rows[made - 1]
                start[p] = table.x[k], table.y[k]
                hold[p] = table.hold_x[k], table.hold_y[k]
                since[p], next_at[p] = table.time[k], table.next_at[k]
                looks[p] += made
        time = float(table.time[j - 1])
        return AgentsState(time, start, hold, since, begin.first, next_at, looks)


def table_of(arc: HybridArc[AgentsState]) -> EventTable:
    """The event table of an arc made by the readable loop (or by the engine)."""
    if isinstance(arc.states, LoggedStates):
        return arc.states._table
    table = EventTable.blank(arc.jumps)
    for j, event in enumerate(arc.events):
        p, after, held = event.source, arc.states[j + 1], arc.states[j].hold
        look = after.last
        assert look is not None
        change_x, change_y = held[p] - after.hold[p]
        row = (
            *(event.time, p, *after.start[p], *after.hold[p], after.next_at[p], *look.error),
            np.sqrt(change_x * change_x + change_y * change_y),
            *(look.neighbors, look.nearest, int(look.empty)),
        )
        for name, value in zip(fields(table), row, strict=True):
            getattr(table, name.name)[j] = value
    return table
