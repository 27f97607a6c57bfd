"""The compiled engine's rim: hands arrays down, dresses what comes back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Ints, Points, columns
from dwell.agents.events import EventTable, LoggedEvents, LoggedStates
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.errors import ControllerError
from dwell.geometry import is_flat
from dwell.geometry.voronoi import coincident
from dwell.hybrid import HybridArc, Stop, StopReason

if TYPE_CHECKING:
    from dwell._kernels.engine import Legs
    from dwell._kernels.hold import HoldProgram

FIRST_CHUNK, LAST_CHUNK = 2_048, 65_536  # jumps between two looks at the outside world

Progress = Callable[[float], None]  # told the time reached


def can_compile(system: CoverageSystem) -> bool:
    """Whether the engine knows this system's law and density."""
    planar = system.dimension == 2 and is_flat(system.workspace)
    known = system.program is not None and system.terms is not None
    return planar and known and system.network.perfect


def run_compiled(
    system: CoverageSystem,
    start: AgentsState,
    *,
    until: float,
    max_jumps: int = 50_000_000,
    progress: Progress | None = None,
) -> HybridArc[AgentsState]:
    """The same arc as `dwell.hybrid.simulate`, bit for bit, hundreds of times faster.

    An interrupt from the keyboard ends the run between two chunks: what was done is kept.
    """
    refuse_standing_clock(system, until)
    engine = _Engine.of(system, start)
    parts: list[EventTable] = []
    stop = None
    chunk = FIRST_CHUNK
    done, now = 0, start.time
    try:
        while stop is None:
            part, came_back = engine.advance(until, min(chunk, max_jumps - done))
            parts.append(part)
            done += len(part)
            now = float(part.time[-1]) if len(part) else now
            stop = engine.verdict(came_back, until, now, done >= max_jumps)
            if progress is not None:
                progress(now)
            chunk = min(2 * chunk, LAST_CHUNK)
    except KeyboardInterrupt:
        if parts and len(parts[-1]):  # `now` may lag behind the table
            now = float(parts[-1].time[-1])
        stop = Stop(StopReason.INTERRUPTED, now)
    table = EventTable.joined(parts) if parts else EventTable.blank(0)
    cruise = _program(system).cruise
    if math.isfinite(cruise):
        table = replace(table, cruise=np.full(len(table), cruise))
    return HybridArc(system, LoggedStates(start, table), LoggedEvents(table), stop.time, stop)


def _program(system: CoverageSystem) -> HoldProgram:
    if system.program is None:
        raise ControllerError(
            f"the engine cannot run {type(system.controller).__name__}, which has no program; use "
            "dwell.hybrid.simulate",
            code="controller.kind",
        )
    return system.program


def refuse_standing_clock(system: CoverageSystem, until: float) -> None:
    """The kernel has no guard against Zeno: intervals must be long enough to move the clock."""
    shortest = float(_program(system).t1.min())
    least = 16.0 * math.ulp(until)
    if shortest < least:
        raise ControllerError(
            f"t1 is {shortest:g}, too short to move a clock that goes to {until:g}; at least "
            f"{least:.3g} is needed",
            code="timer.resolution",
            key="controller.t1",
        )


@final
@dataclass(frozen=True, eq=False, slots=True)
class _Engine:
    """A run under way: the agents' legs, which change, and everything the kernel needs besides."""

    system: CoverageSystem
    legs: Legs
    number: Ints  # (N,) whose legs each row holds: those who are near are kept near in memory
    constants: tuple[Any, ...]  # walls, density, law, seed: in the order the kernel takes them
    memory: tuple[Any, ...]

    @classmethod
    def of(cls, system: CoverageSystem, start: AgentsState) -> _Engine:
        from dwell._kernels.bins import make_bins, make_near, put_all
        from dwell._kernels.scratch import make_scratch

        n, program = system.agents, _program(system)
        number = _by_place(start.positions)
        legs = _legs(start, number)
        constants = (
            *columns(system.workspace.vertices),
            system.terms,
            _in_order(program, number),
            np.array(system.key, dtype=np.int64),
            number if system.ids is None else np.array(system.ids, dtype=np.int64)[number],
        )
        bins, near = make_bins(n), make_near(n)
        put_all(start.time, program.cruise, legs.row, bins, near)
        memory = (bins, near, make_scratch(n, len(system.workspace.vertices)))
        return cls(system, legs, number, constants, memory)

    def advance(self, until: float, jumps: int) -> tuple[EventTable, int]:
        """At most `jumps` more jumps, and why the kernel came back."""
        from dwell._kernels.engine import run_events

        buffer = EventTable.blank(jumps)
        made, came_back = run_events(
            until, self.legs, self.number, *self.constants, buffer.as_log(), *self.memory
        )
        return buffer.head(made), came_back

    def verdict(self, came_back: int, until: float, now: float, used_up: bool) -> Stop | None:
        """Whether the run is over, and why."""
        from dwell._kernels.engine import HIT, REACHED

        if came_back == REACHED:
            return Stop(StopReason.HORIZON, until)
        if came_back == HIT:
            return self._contact()
        return Stop(StopReason.JUMP_LIMIT, now) if used_up else None

    def _contact(self) -> Stop:
        """Which two agents met, where and when."""
        from dwell._kernels import legs as column

        row, agent = self.legs.row, int(self.legs.queue[0])
        t = float(self.legs.due[0])
        dt = np.minimum(t - row[:, column.SINCE], _program(self.system).cruise)  # as the kernel
        start = row[:, [column.START_X, column.START_Y]]
        points = start + row[:, [column.HOLD_X, column.HOLD_Y]] * dt[:, None]
        gap = points - points[agent]
        gap[agent] = np.inf
        other = int(np.argmin((gap**2).sum(axis=1)))
        pair = int(self.number[agent]), int(self.number[other])
        detail = str(coincident(*pair, points[agent]))
        return Stop(StopReason.COINCIDENT, t, detail)


def _by_place(positions: Points) -> Ints:
    """All agents in an order in which neighbours stand close together; a few as they are."""
    from dwell._kernels.bins import FEW, make_bins, put_at_rest

    if len(positions) <= FEW:
        return np.arange(len(positions))
    bins = make_bins(len(positions))
    put_at_rest(*columns(positions), bins)
    return bins.who.astype(np.int64)


def _legs(start: AgentsState, number: Ints) -> Legs:
    """The legs of agents in this order, and their queue."""
    from dwell._kernels import legs as column
    from dwell._kernels.engine import Legs

    row = np.zeros((len(number), column.COLUMNS))
    row[:, [column.START_X, column.START_Y]] = start.start[number]
    row[:, [column.HOLD_X, column.HOLD_Y]] = start.hold[number]
    row[:, column.SINCE] = start.since[number]
    row[:, column.FIRST_AT] = start.first[number]
    row[:, column.LOOKS] = start.looks[number]
    next_at = start.next_at[number]
    queue = np.lexsort((number, next_at))  # sorted, which a heap may be
    return Legs(row=row, due=next_at[queue], queue=queue.astype(np.int32))


def _in_order(program: HoldProgram, number: Ints) -> HoldProgram:
    """The law's numbers for agents in this order; a single row where all are alike."""
    columns = {name: getattr(program, name) for name in ("t1", "t2", "period", "intervals")}
    alike = all((values == values[:1]).all() for values in columns.values())
    rows = number[:1] if alike else number
    return program._replace(**{name: values[rows] for name, values in columns.items()})
