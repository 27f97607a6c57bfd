"""Trajectory: how all agents moved from a start through the jumps of a table to a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import islice
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, LazySequence, Points, at_time, lengths
from dwell.agents.events import EventTable
from dwell.agents.segments import Segments
from dwell.agents.state import AgentsState, Spent, counts_of
from dwell.agents.system import CoverageSystem
from dwell.agents.walk import walk
from dwell.hybrid import Event, HybridArc, Stop

BLOCK = 100_000  # segments evaluated at once
MARKED = 256  # jumps, or four for each agent: after so many, the present segments are noted


@final
@dataclass(frozen=True, eq=False)
class Snapshots:
    """Positions, velocities and next event times of all agents, at some times."""

    positions: Points  # (S, N, n)
    velocities: Points  # (S, N, n)
    next_at: Floats  # (S, N)

    @classmethod
    def of(cls, segments: Segments, time: float) -> Snapshots:
        """One snapshot, of the present segments of all agents."""
        return cls(
            segments.at(time)[None], segments.velocity_at(time)[None], segments.next_at[None]
        )


@final
class Trajectory(LazySequence[AgentsState]):
    """How all agents moved from a start through the jumps of a table to a time.

    As a sequence it holds the states: the start, then the one after each jump. They are computed
    when they are read, each from the segments then present alone. No table holds the memories and
    messages of agents: for laws that use them every decision is made again, in order, up to the
    state that is read, and these states are kept.

    Parameters
    ----------
    system, start, table, until : the system, its state at the start, every jump, the time reached.
    last : the state after the last jump, where it is known with its memories.
    live : whether it is that of a live fleet, whose decisions no system can make again.
    """

    def __init__(
        self,
        system: CoverageSystem,
        start: AgentsState,
        table: EventTable,
        until: float,
        *,
        last: AgentsState | None = None,
        live: bool = False,
    ) -> None:
        super().__init__(len(table) + 1, self._state)
        self.system, self.start, self.table, self.until = system, start, table, until
        self.agents, self.dimension = start.segments.place.shape
        self._live, self._last, self._walked = live, last, [start]

    @cached_property
    def remembers(self) -> bool:
        """Whether states have memories or messages, for which decisions are made again."""
        system = self.system
        return not (self._live or system.compiles or system.traits.is_equation)

    def arc(self, stop: Stop) -> HybridArc[AgentsState]:
        """The solution, which ended with `stop`."""
        table = self.table
        events = LazySequence(
            len(table), lambda k: Event(float(table.time[k]), int(table.agent[k]))
        )
        return HybridArc(self.system, self, events, self.until, stop)

    # Segments.

    @cached_property
    def every(self) -> Segments:
        """All segments: the first one of each agent, then one per jump."""
        first = self.start.segments
        return Segments.joined([first, self.table.begun(first)])

    @cached_property
    def segments(self) -> list[Segments]:
        """The segments of each agent in order."""
        return [self.table.segments(self.start, p) for p in range(self.agents)]

    @cached_property
    def rows(self) -> list[Ints]:
        """The jumps of each agent, as rows of the table."""
        return [self.table.of_agent(p) for p in range(self.agents)]

    @cached_property
    def ended(self) -> Segments:
        """The segment that each jump ends: that of the agent's previous jump, or of the start."""
        first = self.start.segments
        found, begun = first.take(self.table.agent), self.table.begun(first)
        for rows in self.rows:
            found.put(rows[1:], begun.take(rows[:-1]))
        return found

    @cached_property
    def last(self) -> Segments:
        """The last segment of each agent."""
        return self.state_after(len(self.table)).segments

    @cached_property
    def departed(self) -> np.ndarray:
        """Whether each jump is that of an agent that leaves."""
        left: np.ndarray = self.system.departures[self.table.agent] <= self.table.time
        return left

    # The agents after a number of jumps.

    @cached_property
    def _made(self) -> Ints:
        """For each segment of `every`, how many jumps its agent made up to its beginning."""
        made = np.zeros(self.agents + len(self.table), dtype=np.int64)
        for rows in self.rows:
            made[self.agents + rows] = np.arange(1, len(rows) + 1)
        return made

    @property
    def number(self) -> Ints:
        """For each jump, how many its agent made before."""
        return self.start.event_counts[self.table.agent] + self._made[self.agents :] - 1

    @cached_property
    def _marks(self) -> tuple[int, Ints]:
        """A number of jumps, and the present segments after each multiple of it."""
        step = max(MARKED, 4 * self.agents)
        marks = np.empty((len(self.table) // step + 1, self.agents), dtype=np.int64)
        marks[0] = np.arange(self.agents)
        for k in range(1, len(marks)):
            marks[k] = self._later(marks[k - 1], (k - 1) * step, k * step)
        return step, marks

    def _later(self, present: Ints, lo: int, hi: int) -> Ints:
        """The present segments after `hi` jumps, where `present` are those after `lo`."""
        later = present.copy()
        later[self.table.agent[lo:hi]] = np.arange(self.agents + lo, self.agents + hi)
        return later

    def _present(self, k: int) -> Ints:
        """The segment of each agent after k jumps, as rows of `every`."""
        step, marks = self._marks
        return self._later(marks[k // step], k // step * step, k)

    def state_after(self, k: int) -> AgentsState:
        """The state after k jumps, without memories and messages."""
        if k == 0:
            return self.start
        segments, present = self.start.segments.copied(), self._present(k)
        jumped = np.flatnonzero(present >= self.agents)
        segments.put(jumped, self.table.begun(segments).take(present[jumped] - self.agents))
        counts = self.start.event_counts + self._made[present]
        now = float(self.table.time[k - 1])
        return replace(self.start, time=now, segments=segments, event_counts=counts, memory=())

    def _state(self, k: int) -> AgentsState:
        """The state after k jumps; of laws that remember, with memories and messages."""
        if self._last is not None and k == len(self.table) > 0:
            return self._last
        if not self.remembers:
            return self.state_after(k)
        self._walked += islice(self._steps, max(k + 1 - len(self._walked), 0))
        return self._walked[k]

    @cached_property
    def _steps(self) -> Iterator[AgentsState]:
        return (state for _, state in walk(self.system, self.start, self.table))

    # In words.

    def where(self, k: int) -> str:
        """Jump k in words."""
        return f"jump {k + 1}, agent {self.table.agent[k]}, {at_time(self.table.time[k])}"

    def where_at(self, k: int) -> str:
        """Jump k in words; beyond the last jump, an agent at the end."""
        rows = len(self.table)
        return self.where(k) if k < rows else f"agent {k - rows} at the end"

    # The agents at some times.

    def at(self, times: Floats) -> Snapshots:
        """Snapshots at some times, after the jumps at each."""
        shape = (len(times), self.agents)
        positions, velocities = np.empty((2, *shape, self.dimension))
        next_at = np.empty(shape)
        made, step = self.table.time.searchsorted(times, side="right"), max(1, BLOCK // self.agents)
        for lo in range(0, len(times), step):
            rows, t = slice(lo, lo + step), times[lo : lo + step, None]
            now = self.every.take(np.stack([self._present(k) for k in made[rows].tolist()]))
            positions[rows], velocities[rows] = now.at(t), now.velocity_at(t)
            next_at[rows] = now.next_at
        return Snapshots(positions, velocities, next_at)

    def configurations(self, lo: int, hi: int) -> Points:
        """Positions of all agents at jumps lo..hi, (hi - lo, N, n)."""
        positions = np.empty((hi - lo, self.agents, self.dimension))
        for q, (rows, segments) in enumerate(zip(self.rows, self.segments, strict=True)):
            made = np.searchsorted(rows, np.arange(lo, hi))
            positions[:, q] = segments.take(made).at(self.table.time[lo:hi])
        return positions

    def positions_at_row(self, row: int) -> Points:
        """Positions of all agents at one jump, (N, n)."""
        return self.state_after(row).segments.at(self.table.time[row])


def table_of(arc: HybridArc[AgentsState]) -> EventTable:
    """The event table of an arc of the readable loop or of the compiled engine."""
    if isinstance(arc.states, Trajectory):
        return arc.states.table
    table = EventTable.blank(arc.jumps, arc.states[0].segments.place.shape[1])
    held = np.empty_like(table.holds)  # the velocity of each agent just before its jump
    costs: list[Spent] = []
    cruise, promise = np.empty((2, arc.jumps))
    stays = getattr(arc.system, "stays", False)  # where agents wait at corners
    for j, event in enumerate(arc.events):
        p, before, after = event.source, arc.states[j].segments, arc.states[j + 1]
        begun, cell, (spent,) = after.segments, after.last, after.spent
        assert cell is not None
        held[j] = before.take([p]).velocity_at(event.time)[0] if stays else before.hold[p]
        table.time[j], table.agent[j] = event.time, p
        table.positions[j], table.holds[j] = begun.place[p], begun.hold[p]
        table.next_at[j] = begun.next_at[p]
        table.errors[j], table.neighbors[j] = cell.error, cell.neighbors
        table.nearest[j], table.empty[j] = cell.nearest, cell.empty
        costs.append(spent)
        cruise[j], promise[j] = begun.cruise[p], after.promise
    table.hold_error[:] = lengths(held - table.holds)
    extra: dict[str, Any] = {f.name: counts_of(costs, f.name) for f in fields(Spent)}
    extra |= {"cruise": cruise, "promise": promise}
    unusual: dict[str, Any] = {}
    for name, column in extra.items():
        if not np.array_equal(column, table.column(name)):
            unusual[name] = column
    return replace(table, **unusual)
