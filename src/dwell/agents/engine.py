"""The compiled engine's rim: hands arrays down, dresses what comes back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import lengths
from dwell.agents.compiled import COMPILED_DIMENSIONS, Parts, parts_of, places_in
from dwell.agents.events import EventTable, LoggedEvents, LoggedStates
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.agents.together import least_chunk, step_together
from dwell.errors import ControllerError
from dwell.geometry import is_flat
from dwell.geometry.voronoi import coincident
from dwell.hybrid import HybridArc, Stop, StopReason

if TYPE_CHECKING:
    from dwell._kernels.hold import HoldProgram

FIRST_CHUNK, LAST_CHUNK = 2_048, 65_536  # jumps between two looks at the outside world

Progress = Callable[[float], None]  # told the time reached


def can_compile(system: CoverageSystem) -> bool:
    """Whether the engine knows this system's law and density."""
    n = system.dimension
    walled = n in COMPILED_DIMENSIONS and (n == 1 or is_flat(system.workspace))
    known = system.program is not None and system.terms is not None
    return walled and known and system.network.perfect


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
    chunk = max(FIRST_CHUNK, engine.least_chunk)
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
            chunk = max(min(2 * chunk, LAST_CHUNK), engine.least_chunk)
    except KeyboardInterrupt:
        if parts and len(parts[-1]):  # `now` may lag behind the table
            now = float(parts[-1].time[-1])
        stop = Stop(StopReason.INTERRUPTED, now)
    table = EventTable.joined(parts) if parts else EventTable.blank(0, system.dimension)
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
    parts: Parts

    @classmethod
    def of(cls, system: CoverageSystem, start: AgentsState) -> _Engine:
        return cls(system, parts_of(system, start, _program(system)))

    def advance(self, until: float, jumps: int) -> tuple[EventTable, int]:
        """At most `jumps` more jumps, and why the kernel came back."""
        from dwell._kernels.engine import FULL

        step = step_together(self.system, self.parts, _program(self.system), until, jumps)
        if step is not None:
            return step, FULL
        run_events, legs, _, constants, memory = self.parts
        buffer = EventTable.blank(jumps, self.system.dimension)
        made, came_back = run_events(until, legs, *constants, buffer.as_log(), memory)
        return buffer.head(made), came_back

    @property
    def least_chunk(self) -> int:
        """Fewer jumps at a time would cut through those of one instant, where all jump together."""
        return least_chunk(self.system, _program(self.system))

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
        from dwell._kernels.queue import ROW

        legs, number = self.parts.legs, self.parts.number
        agent, t = int(legs.queue[0] & ROW), float(legs.due[0])
        cruise, n = _program(self.system).cruise, self.system.dimension
        points = places_in(legs.row, t, cruise, n)
        gap = lengths(points - points[agent])
        gap[agent] = np.inf
        other = number[gap == gap.min()].min()  # of several there, the first, as in the loop
        detail = str(coincident(int(number[agent]), int(other), points[agent]))
        return Stop(StopReason.COINCIDENT, t, detail)
