"""EventTable: every jump of a run as arrays. Together with the start it is the whole solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np

from dwell._checks import check_agent
from dwell._tables import by_axis, data_frame
from dwell._types import Floats, Ints, Points, in_columns, lengths
from dwell.agents.legs import Legs
from dwell.agents.state import AgentsState, Spent
from dwell.hybrid import Event, HybridArc

if TYPE_CHECKING:
    import pandas as pd

# Columns of whole numbers.
WHOLE = frozenset(
    {"agent", "neighbors", "empty", "looked", "guaranteed", "dual_guaranteed", "sent", "received"}
    | {"mark"}
)
USUAL = 10  # columns that every table has
_PREFIXES = {"positions": "", "holds": "hold", "errors": "error"}  # of their coordinates
VECTORS = frozenset(_PREFIXES)  # those with one axis more
_USUALLY = {"cruise": np.inf, "promise": -1.0}  # others, where they say nothing


@final
@dataclass(frozen=True, eq=False)
class EventTable:
    """One row per jump, in order; `to_pandas()` gives it as a data frame."""

    time: Floats
    agent: Ints
    positions: Points  # (jumps, n) at the jump
    holds: Points  # (jumps, n) velocity from now on
    next_at: Floats  # when this agent looks again
    errors: Points  # (jumps, n) centroid minus position
    hold_error: (
        Floats  # |change of the held velocity|: the timer law's hold error at the end of the hold
    )
    neighbors: Ints
    nearest: Floats  # distance of the nearest other agent
    empty: Ints  # 1 when the cell weighed nothing
    # Columns that only some laws fill. None: the velocity is held until the next jump; every jump
    # is a look that gives the neighbours' positions; nothing else is computed or said.
    cruise: Floats | None = None  # for how long the velocity is held; see Legs
    bend: Floats | None = None  # (jumps, 2, n) see Legs
    looked: Ints | None = None  # 1 when the agent looked, 0 when it only thought again
    guaranteed: Ints | None = None  # guaranteed cells computed
    dual_guaranteed: Ints | None = None
    sent: Ints | None = None  # messages broadcast
    received: Ints | None = None  # positions of others obtained
    mark: Ints | None = None  # a note of the law's own
    promise: Floats | None = None  # speed promised in the message sent; -1 where none was

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"<EventTable of {len(self)} jumps>"

    @property
    def dimension(self) -> int:
        """Of the places."""
        return int(self.positions.shape[1])

    def as_log(self) -> Any:
        """Return the table as the compiled event loop takes it, sharing its memory."""
        from dwell._kernels.common.event_loop import Log

        return Log(*(getattr(self, f.name).T for f in fields(self)[:USUAL]))

    def count(self, column: str) -> Ints:
        """A column of counts, also where it was left out."""
        kept: Ints | None = getattr(self, column)
        if kept is not None:
            return kept
        if column == "received":
            return self.neighbors
        return np.full(len(self), 1 if column == "looked" else 0, dtype=np.int64)

    def legs(self, start: AgentsState, agent: int) -> Legs:
        """The legs of one agent, one after another: the one it starts with, then one per jump."""
        rows, first = self.of_agent(agent), start.legs.take(agent)

        def column(name: str, kept: Floats | None) -> Floats | None:
            begin = getattr(first, name)
            if kept is None and begin is None:
                return None
            usual = np.inf if name == "cruise" else 0.0
            later = np.full((len(rows), *np.shape(begin)), usual) if kept is None else kept[rows]
            begin = np.full(later.shape[1:], usual) if begin is None else begin
            return np.concatenate([np.asarray(begin)[None], later])

        named = {"since": "time", "place": "positions", "hold": "holds"}
        named |= {name: name for name in ("next_at", "cruise", "bend")}
        parts: Any = {name: column(name, getattr(self, kept)) for name, kept in named.items()}
        return Legs(**parts, fade=start.fade)

    def of_agent(self, agent: int) -> Ints:
        """Rows of one agent, in order."""
        check_agent(agent)
        return self._rows[agent] if agent < len(self._rows) else np.empty(0, dtype=np.int64)

    @cached_property
    def _rows(self) -> list[Ints]:
        order = np.argsort(self.agent, kind="stable")
        ends = np.cumsum(np.bincount(self.agent)) if len(self) else np.empty(0, dtype=np.int64)
        return np.split(order, ends[:-1]) if len(ends) else []

    @classmethod
    def joined(cls, parts: Sequence[EventTable]) -> EventTable:
        """Several tables, one after another; a column that only some have is filled up."""
        every: dict[str, Any] = {}
        for f in fields(cls):
            several = [getattr(part, f.name) for part in parts]
            if all(column is None for column in several):
                every[f.name] = None
                continue
            filled = [
                part._usually(f.name) if column is None else column
                for part, column in zip(parts, several, strict=True)
            ]
            every[f.name] = _in_one(filled, f.name in VECTORS)
        return cls(**every)

    def _usually(self, column: str) -> Any:
        """What a column that was left out would say."""
        if column in _USUALLY:
            return np.full(len(self), _USUALLY[column])
        return np.zeros((len(self), 2, self.dimension)) if column == "bend" else self.count(column)

    @classmethod
    def blank(cls, rows: int, dimension: int = 2) -> EventTable:
        """A table of `rows` rows to be filled, with the usual columns."""
        every: dict[str, Any] = {
            f.name: in_columns(rows, dimension)
            if f.name in VECTORS
            else np.empty(rows, dtype=np.int64 if f.name in WHOLE else np.float64)
            for f in fields(cls)[:USUAL]
        }
        return cls(**every)

    def head(self, rows: int) -> EventTable:
        """Copies of the first `rows` rows."""
        return EventTable(**{name: v[:rows].copy(order="K") for name, v in self.columns().items()})

    def take(self, rows: Any) -> EventTable:
        """Some rows, as an index says."""
        return EventTable(**{name: values[rows] for name, values in self.columns().items()})

    def to_pandas(self) -> pd.DataFrame:
        """Every jump as a row of a data frame.

        Returns
        -------
        pandas.DataFrame
            Positions are the columns x, y, z (x1, x2, ... above three dimensions), velocities
            hold_x, ..., and centroid minus position error_x, ...; the others have the names that
            they have here.
        """
        return data_frame(self._flat())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows as dictionaries with the columns of `to_pandas`, for ``pandas.DataFrame(events)``.

        Slower than `to_pandas`.
        """
        flat = self._flat()
        rows = zip(*(values.tolist() for values in flat.values()), strict=True)
        return (dict(zip(flat, row, strict=True)) for row in rows)

    def _flat(self) -> dict[str, Any]:
        """The columns of a data frame."""
        flat: dict[str, Any] = {}
        for name, values in self.columns().items():
            if name in VECTORS:
                flat |= by_axis(_PREFIXES[name], values)
            elif name == "bend":
                flat |= {**by_axis("bend2", values[:, 0]), **by_axis("bend3", values[:, 1])}
            else:
                flat[name] = values
        return flat

    def columns(self) -> dict[str, Any]:
        """The columns that are there, by name."""
        every = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: values for name, values in every.items() if values is not None}


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
    """The states after each jump, put together from the start and a table when asked for.

    What agents remember and have heard is in no table. Where a law goes by it, `walk` gives the
    states one after another, each decision made again; they are kept. `last` is the state after
    the last jump, where that is known already.
    """

    def __init__(
        self,
        start: AgentsState,
        table: EventTable,
        walk: Callable[[], Iterator[AgentsState]] | None = None,
        last: AgentsState | None = None,
    ) -> None:
        self._start = start
        self._last = last
        self._table = table
        self._steps = None if walk is None else walk()
        self._walked = [start]

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
        if self._last is not None and j == len(self._table):
            return self._last
        if self._steps is not None:
            self._walked += islice(self._steps, max(j + 1 - len(self._walked), 0))
            return self._walked[j]
        table, begin = self._table, self._start
        made = [int(np.searchsorted(table.of_agent(p), j)) for p in range(len(begin.since))]
        legs = [table.legs(begin, p).take(k) for p, k in enumerate(made)]

        def column(name: str) -> Any:
            parts = [getattr(leg, name) for leg in legs]
            return None if parts[0] is None else np.array(parts)

        return replace(
            begin,
            time=float(table.time[j - 1]),
            start=column("place"),
            hold=column("hold"),
            since=column("since"),
            next_at=column("next_at"),
            looks=begin.looks + np.array(made),
            cruise=column("cruise"),
            bend=column("bend"),
            memory=(),
        )


def _in_one(several: list[np.ndarray], vectors: bool) -> np.ndarray:
    """Columns one after another; each coordinate of vectors in one piece."""
    if not vectors:
        return np.concatenate(several)
    found = in_columns(sum(map(len, several)), several[0].shape[1])
    return np.concatenate(several, out=found)


def table_of(arc: HybridArc[AgentsState]) -> EventTable:
    """The event table of an arc made by the readable loop (or by the engine)."""
    if isinstance(arc.states, LoggedStates):
        return arc.states._table
    table = EventTable.blank(arc.jumps, arc.states[0].start.shape[1])
    extra: dict[str, list[float]] = {name.name: [] for name in fields(table)[USUAL:]}
    del extra["bend"]
    for j, event in enumerate(arc.events):
        p, after = event.source, arc.states[j + 1]
        look, (spent,) = after.last, after.spent
        assert look is not None
        change = lengths(arc.states[j].hold[p] - after.hold[p])
        row = (
            *(event.time, p, after.start[p], after.hold[p], after.next_at[p], look.error, change),
            *(look.neighbors, look.nearest, int(look.empty)),
        )
        for name, value in zip(fields(table), row, strict=False):
            getattr(table, name.name)[j] = value
        extra["cruise"].append(np.inf if after.cruise is None else float(after.cruise[p]))
        for name in fields(Spent):
            extra[name.name].append(getattr(spent, name.name))
        extra["promise"].append(after.promise)
    return replace(table, **_unusual(table, extra))


def _unusual(table: EventTable, extra: dict[str, list[float]]) -> dict[str, Any]:
    """Those of the extra columns that say something."""
    kept: dict[str, Any] = {}
    for name, values in extra.items():
        column = np.array(values, dtype=np.int64 if name in WHOLE else np.float64)
        usual: Any = _USUALLY[name] if name in _USUALLY else table.count(name)
        if not np.array_equal(column, np.broadcast_to(usual, column.shape)):
            kept[name] = column
    return kept
