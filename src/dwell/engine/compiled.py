"""A run by the compiled event loop, on the line, in the plane and in space.

Where many agents sample together, their cells are measured at once, on all cores: jumps at one time
depend on the same positions, in any order, so they may be computed in parallel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.agents.events import EventTable
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.cells.backend import backend_for
from dwell.cells.measurement import of_one
from dwell.cells.weighted_region import own_terms
from dwell.errors import ControllerError
from dwell.geometry.voronoi import coincident
from dwell.hybrid import Stop, StopReason

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram
    from dwell._kernels.common.segments import SegmentTable

WORTHWHILE = 1_000  # agents from which threads gain more than they cost


@final
@dataclass(frozen=True, eq=False, slots=True)
class CompiledRun:
    """A run in progress: the agents' trajectory segments, which change, and kernel arguments."""

    system: CoverageSystem
    run_events: Any  # the event loop of the dimension
    segments: SegmentTable
    number: Ints  # (N,) the agent of each row: neighbours are near each other in memory
    constants: tuple[Any, ...]  # domain, density, law, seed: in the order the kernel takes them
    memory: Any  # its buffers

    @classmethod
    def of(cls, system: CoverageSystem, start: AgentsState) -> CompiledRun:
        """Return the run of `system` from `start` on, until its world changes."""
        world = system.world_at(start.time)
        present = np.arange(system.agents) if world.present is None else world.present
        program, number = program_of(system), present[_by_place(start.positions[present])]
        segments = _segment_table(start, number)
        radii = None if system.radii is None else system.radii[number]
        prepare = backend_for(world.ground).loop
        assert prepare is not None
        run_events, domain, memory = prepare(
            world.ground, start.time, program.cruise, segments.row, radii
        )
        constants = (
            domain,
            own_terms(world.ground),
            _in_order(program, number),
            np.array(system.key, dtype=np.int64),
            number if system.ids is None else np.array(system.ids, dtype=np.int64)[number],
        )
        return cls(system, run_events, segments, number, constants, memory)

    def advance(self, until: float, jumps: int) -> tuple[EventTable, int]:
        """Execute at most `jumps` more jumps; return them, and why the kernel returned."""
        buffer = EventTable.blank(jumps, self.system.dimension)
        made, reason = self.run_events(
            until, self.segments, *self.constants, buffer.as_log(), self.memory
        )
        return buffer.head(made), reason

    def advance_together(self, until: float, jumps: int) -> EventTable | None:
        """Return the jumps of all agents at the next time, or None where the kernel must make them.

        That is so where not all are due at once, where `jumps` does not let all of them jump, and
        where agents coincide. Changes the segments as the kernel would.
        """
        t = float(self.segments.due[0])
        if not samples_together(self.system) or jumps < self.system.agents or t > until:
            return None
        if len(self.number) < self.system.agents:
            return None
        return _jumped(self, t) if (self.segments.due == t).all() else None

    def state(self, before: AgentsState, time: float) -> AgentsState:
        """Return the state at a time, given the one from which this run set out."""
        from dwell._kernels.common.segments import AFTER_SAMPLES, AFTER_SINCE, ROW

        n, row, who = self.system.dimension, self.segments.row, self.number
        segments, counts = before.segments.copied(), before.event_counts.copy()
        segments.place[who], segments.hold[who] = row[:, :n], row[:, n : 2 * n]
        segments.since[who] = row[:, 2 * n + AFTER_SINCE]
        segments.next_at[who[self.segments.queue & ROW]] = self.segments.due
        counts[who] = row[:, 2 * n + AFTER_SAMPLES].astype(np.int64)
        segments.cruise[who] = program_of(self.system).cruise
        return replace(before, segments=segments, time=time, event_counts=counts)

    def stop(self, reason: int, until: float) -> Stop | None:
        """Return why the run is over; None if it is not."""
        from dwell._kernels.common.event_loop import HIT, REACHED

        if reason == REACHED:
            return Stop(StopReason.HORIZON, until)
        return self._contact() if reason == HIT else None

    def _contact(self) -> Stop:
        """Return which two agents coincide, where and when."""
        from dwell._kernels.common.segments import ROW

        segments, number = self.segments, self.number
        agent, t = int(segments.queue[0] & ROW), float(segments.due[0])
        points = places_in(segments.row, t, program_of(self.system).cruise, self.system.dimension)
        gap = lengths(points - points[agent])
        gap[agent] = np.inf
        other = number[gap == gap.min()].min()  # of several there, the first, as in plain Python
        detail = str(coincident(int(number[agent]), int(other), points[agent]))
        return Stop(StopReason.COINCIDENT, t, detail)


def program_of(system: CoverageSystem) -> HoldProgram:
    """Return the law as numbers; refuse a law that has none."""
    if system.program is None:
        raise ControllerError(
            f"the engine cannot run {system.traits.name}, which has no program; use "
            "dwell.hybrid.simulate",
            code="controller.kind",
        )
    return system.program


def refuse_standing_clock(system: CoverageSystem, until: float) -> None:
    """Refuse dwell times below the resolution of time: the kernel has no guard against Zeno."""
    shortest = float(program_of(system).t1.min())
    least = 16.0 * math.ulp(until)
    if shortest < least:
        raise ControllerError(
            f"t1 is {shortest:g}, too short to move a clock that goes to {until:g}; at least "
            f"{least:.3g} is needed",
            code="timer.resolution",
            key="controller.t1",
        )


def places_in(row: Floats, t: float, cruise: float, dimension: int) -> Points:
    """Return the positions of all agents at time t, with the bits of the kernel."""
    from dwell._kernels.common.segments import AFTER_SINCE

    dt = np.minimum(t - row[:, 2 * dimension + AFTER_SINCE], cruise)
    places: Points = row[:, :dimension] + row[:, dimension : 2 * dimension] * dt[:, None]
    return places


def samples_together(system: CoverageSystem) -> bool:
    """Return whether agents are so many, and their law such, that they may be measured at once."""
    from dwell._kernels.common.hold_law import PERIODIC

    return system.agents >= WORTHWHILE and bool(program_of(system).rule == PERIODIC)


def _jumped(run: CompiledRun, t: float) -> EventTable | None:
    """Return the jumps of all agents at time t; None if two coincide."""
    from dwell._kernels.common.hold_law import decide_together
    from dwell._kernels.common.segments import AFTER_FIRST, AFTER_SAMPLES, AFTER_SINCE, entries

    system, row, program = run.system, run.segments.row, program_of(run.system)
    n, order, agents = system.dimension, np.argsort(run.number), np.arange(system.agents)
    places = places_in(row, t, program.cruise, n)[order]
    seen = system.measure(*of_one(places, agents), np.array([t]), threads=None)
    if seen.coincident.any():
        return None
    table = EventTable.blank(system.agents, n)
    values = {
        "time": t, "agent": agents, "positions": places, "errors": seen.error,
        "neighbors": seen.neighbors, "nearest": seen.nearest, "empty": seen.empty,
    }  # fmt: skip
    for name, value in values.items():
        getattr(table, name)[...] = value
    event_counts, first = row[order, 2 * n + AFTER_SAMPLES], row[order, 2 * n + AFTER_FIRST]
    decide_together(t, first, event_counts, table.errors.T, program, table.holds.T, table.next_at)
    table.hold_error[:] = lengths(row[order, n : 2 * n] - table.holds)
    row[order, :n] = places
    row[order, n : 2 * n] = table.holds
    row[order, 2 * n + AFTER_SINCE] = t
    row[order, 2 * n + AFTER_SAMPLES] += 1.0
    sequence = np.argsort(table.next_at, kind="stable")  # by time, then by number
    run.segments.due[:] = table.next_at[sequence]
    run.segments.queue[:] = entries(sequence, order[sequence])
    _note_speeds(run.memory, table.holds)
    return table


def _note_speeds(memory: Any, holds: Floats) -> None:
    """Bring the kernel's bins up to date, and have its tree built anew."""
    from dwell._kernels.common.bins import FASTEST

    bins, tree = (getattr(memory, name, None) for name in ("bins", "tree"))
    if bins is not None:
        fastest = float((holds * holds).sum(axis=1).max())
        bins.clock[FASTEST] = max(float(bins.clock[FASTEST]), fastest)
    if tree is not None:
        tree.built[0] = False


def _by_place(positions: Points) -> Ints:
    """All agents in an order in which neighbours are close in memory; few agents as they are."""
    from dwell._kernels.polygon.cell_list import FEW

    agents, dimension = positions.shape
    if agents <= FEW:
        return np.arange(agents)
    shift = positions - positions.min(axis=0)
    bins = np.floor(shift / shift.max() * (agents / 2.0) ** (1.0 / dimension))
    return np.lexsort(np.column_stack([bins, positions]).T[::-1])  # in each bin by coordinates


def _segment_table(start: AgentsState, number: Ints) -> SegmentTable:
    """Return the trajectory segments of agents in this order, and their queue."""
    from dwell._kernels.common.segments import COLUMNS, SegmentTable, entries, fill_rows
    from dwell._kernels.polygon.buffers import whole_lines

    now = start.segments
    n = now.place.shape[1]
    row = whole_lines(len(number) * COLUMNS[n]).reshape(-1, COLUMNS[n])
    vectors = (np.ascontiguousarray(now.place), np.ascontiguousarray(now.hold))
    fill_rows(number, *vectors, now.since, start.first, start.event_counts, row)
    next_at = now.next_at[number]
    turn = np.lexsort((number, next_at))  # by time, then by number: a heap may be sorted
    return SegmentTable(row=row, due=next_at[turn], queue=entries(number[turn], turn))


def _in_order(program: HoldProgram, number: Ints) -> HoldProgram:
    """The law's numbers for agents in this order; a single row where all are alike."""
    columns = {name: getattr(program, name) for name in ("t1", "t2", "period", "intervals")}
    alike = all((values == values[:1]).all() for values in columns.values())
    rows = number[:1] if alike else number
    return program._replace(**{name: values[rows] for name, values in columns.items()})
