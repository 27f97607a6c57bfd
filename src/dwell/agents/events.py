"""EventTable: every jump of a run as arrays. Together with the start it is the whole solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._checks import check_agent
from dwell._tables import by_axis, data_frame
from dwell._types import Floats, Ints, Points, in_columns
from dwell.agents.segments import Segments
from dwell.agents.state import AgentsState

if TYPE_CHECKING:
    import pandas as pd

_PREFIXES = {"positions": "", "holds": "hold", "errors": "error"}  # of their coordinates
VECTORS = frozenset(_PREFIXES)  # columns with one axis more
# Columns that only some laws fill, and the value that stands in each row of one left out; instead
# of `received` it is the number of neighbours.
USUALLY: dict[str, float] = {
    "cruise": np.inf, "bend": 0.0, "looked": 1, "guaranteed": 0, "dual_guaranteed": 0, "sent": 0,
    "received": 0, "mark": 0, "promise": -1.0, "voronoi": 0,
}  # fmt: skip
WHOLE = frozenset({"agent", "neighbors", "empty"}).union(
    name for name, value in USUALLY.items() if isinstance(value, int)
)  # columns of whole numbers


@final
@dataclass(frozen=True, eq=False)
class EventTable:
    """One row per jump, in order; `to_pandas()` returns it as a data frame."""

    time: Floats
    agent: Ints
    positions: Points  # (jumps, n) at the jump
    holds: Points  # (jumps, n) velocity after the jump
    next_at: Floats  # time of this agent's next event
    errors: Points  # (jumps, n) centroid minus position
    hold_error: Floats  # norm of the change of velocity: for the timer law, the hold error
    neighbors: Ints
    nearest: Floats  # distance of the nearest other agent
    empty: Ints  # 1 where the cell has no mass
    # Columns that only some laws fill; `column` returns them also where they are None.
    cruise: Floats | None = None  # how long the velocity is held; see Segments
    bend: Floats | None = None  # (jumps, 2, n) see Segments
    looked: Ints | None = None  # Voronoi cells of the sample: 1, or 0 for a decision without
    guaranteed: Ints | None = None  # guaranteed cells computed
    dual_guaranteed: Ints | None = None
    sent: Ints | None = None  # messages broadcast
    received: Ints | None = None  # positions of others obtained
    mark: Ints | None = None  # status code of the law
    promise: Floats | None = None  # speed bound in the message sent; -1 where none was
    voronoi: Ints | None = None  # Voronoi cells computed besides

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        return f"<EventTable of {len(self)} jumps>"

    @property
    def dimension(self) -> int:
        """Dimension of the workspace."""
        return int(self.positions.shape[1])

    def as_log(self) -> Any:
        """Return the table as the compiled event loop takes it, sharing its memory."""
        from dwell._kernels.common.event_loop import Log

        return Log(*(values.T for name, values in self.columns().items() if name not in USUALLY))

    def column(self, name: str) -> Any:
        """A column, also where it was left out; not for writing."""
        kept = getattr(self, name)
        if kept is not None:
            return kept
        if name == "received":
            return self.neighbors
        shape = (len(self), 2, self.dimension) if name == "bend" else (len(self),)
        return np.broadcast_to(USUALLY[name], shape)

    def count(self, column: str) -> Ints:
        """A column of counts, also where it was left out; not for writing."""
        counts: Ints = self.column(column)
        return counts

    def begun(self, like: Segments) -> Segments:
        """The segments that the jumps begin, with the decay rate and the arrays of `like`."""
        bend = None if like.bend is None else self.column("bend")
        return Segments(
            self.time, self.positions, self.holds, self.next_at, self.column("cruise"), like.fade,
            bend,
        )  # fmt: skip

    def segments(self, start: AgentsState, agent: int) -> Segments:
        """The segments of one agent in order: the first one, then one per jump."""
        first = start.segments
        return Segments.joined([first.take([agent]), self.begun(first).take(self.of_agent(agent))])

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
    def joined(cls, parts: Sequence[EventTable], dimension: int = 2) -> EventTable:
        """Several tables, one after another; a column that only some have is filled up."""
        parts = [part for part in parts if len(part)]
        if not parts:
            return cls.blank(0, dimension)
        there = {name for part in parts for name in part.columns()}
        every: dict[str, Any] = {
            name: _in_one([part.column(name) for part in parts], name in VECTORS) for name in there
        }
        return cls(**every)

    @classmethod
    def blank(cls, rows: int, dimension: int = 2) -> EventTable:
        """A table of `rows` rows to be filled, with the columns that every table has."""
        every: dict[str, Any] = {
            f.name: in_columns(rows, dimension)
            if f.name in VECTORS
            else np.empty(rows, dtype=np.int64 if f.name in WHOLE else np.float64)
            for f in fields(cls)
            if f.name not in USUALLY
        }
        return cls(**every)

    def head(self, rows: int) -> EventTable:
        """Copies of the first `rows` rows."""
        return EventTable(**{name: v[:rows].copy(order="K") for name, v in self.columns().items()})

    def take(self, rows: Any) -> EventTable:
        """The rows that an index selects."""
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
        every = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: values for name, values in every.items() if values is not None}


def _in_one(several: list[np.ndarray], vectors: bool) -> np.ndarray:
    """Columns one after another; each coordinate of vectors is contiguous."""
    if not vectors:
        return np.concatenate(several)
    found = in_columns(sum(map(len, several)), several[0].shape[1])
    return np.concatenate(several, out=found)
