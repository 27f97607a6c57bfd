"""Steppers: a run is computed chunk by chunk, and recorded in between.

For every division of a run into chunks, their joined tables have the same bits.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TypeAlias, final

import numpy as np

from dwell.agents.events import EventTable
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.agents.trajectory import table_of
from dwell.engine.compiled import (
    CompiledRun,
    program_of,
    refuse_standing_clock,
    samples_together,
)
from dwell.hybrid import Stop, StopReason
from dwell.hybrid import simulate as solve

FIRST_CHUNK, LAST_CHUNK = 8_192, 65_536  # jumps of a chunk by the compiled loop
FEWEST, MOST = 1, 4_096  # jumps of a chunk by the loop in Python
SHORT, LONG = 0.1, 0.5  # seconds of a chunk and its samples: shorter ones grow, longer ones shrink


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """A chunk: some jumps of a run."""

    table: EventTable
    reached: float  # every jump before this time is in the tables so far
    closed: bool  # and every one at this very time
    stop: Stop | None  # why the run is over; None if it is not


@final
class CompiledStepper:
    """Steps by the compiled event loop, or all agents at once where they sample together."""

    memory = None  # a compiled law has none
    standing = 0  # time progresses at every jump

    def __init__(self, system: CoverageSystem, state: AgentsState, until: float) -> None:
        refuse_standing_clock(system, until)
        self._system, self._state, self._program = system, state, program_of(system)
        self._run: CompiledRun | None = None  # in the present phase of the world
        self._until, self._now = until, state.time
        self._least = system.agents if samples_together(system) else 0  # jumps of a chunk
        self._chunk = max(FIRST_CHUNK, self._least)

    def advance(self, target: float, jumps: int) -> Piece:
        """At most `jumps` more jumps, up to `target` at most."""
        if self._run is None:
            part = self._departures(jumps)
            if len(part):
                return Piece(part, self._now, False, None)
            self._run = CompiledRun.of(self._system, self._state)
        switch = self._system.timeline.next_switch(self._state.time)
        before = math.nextafter(switch, -math.inf)
        target, jumps = min(target, self._until, before), min(self._chunk, jumps)
        self._chunk = max(min(2 * self._chunk, LAST_CHUNK), self._least)
        stop = None
        together = self._run.advance_together(target, jumps)
        if together is not None:
            part = together
        else:
            part, reason = self._run.advance(target, jumps)
            stop = self._run.stop(reason, target)
        if len(part):
            self._now = float(part.time[-1])
        closed = stop is not None
        reached = self._now if stop is None else stop.time
        if stop is not None and stop.reason is StopReason.HORIZON and target < self._until:
            stop = None
        if closed and stop is None and target == before:
            self._state, self._run = self._run.state(self._state, switch), None
            self._now = switch
        if math.isfinite(self._program.cruise):
            part = replace(part, cruise=np.full(len(part), self._program.cruise))
        return Piece(part, reached, closed, stop)

    def _departures(self, jumps: int) -> EventTable:
        """The jumps of the agents that leave when the present phase begins, `jumps` at most."""
        state, now, gone = self._state, self._state.time, self._system.departures
        count = int(((gone <= now) & (state.segments.since < gone)).sum())
        if count == 0:
            return EventTable.blank(0, self._system.dimension)
        arc = solve(self._system, state, until=now, max_jumps=min(count, jumps))
        self._state = arc.states[-1]
        return table_of(arc)


@final
class PythonStepper:
    """Steps by `dwell.hybrid.simulate`."""

    def __init__(
        self, system: CoverageSystem, state: AgentsState, until: float, standing: int
    ) -> None:
        self._system, self._until = system, until
        self.memory = state  # with memories and messages, which no table contains
        self.standing = standing  # jumps up to the last without progress of time
        self._jumps, self._began = FEWEST, time.perf_counter()

    def advance(self, target: float, jumps: int) -> Piece:
        """At most `jumps` more jumps, whatever the target: each takes long enough."""
        began, before = time.perf_counter(), self._began
        self._began = began
        if began - before < SHORT:
            self._jumps = min(2 * self._jumps, MOST)
        elif began - before > LONG:
            self._jumps = max(self._jumps // 2, FEWEST)
        arc = solve(
            self._system, self.memory, until=self._until, max_jumps=min(self._jumps, jumps),
            max_simultaneous=2 * self._system.agents + 1000, standing=self.standing,
            keep_failed=True,
        )  # fmt: skip
        self.memory, self.standing = arc.states[-1], arc.standing
        halfway = arc.stop.reason in (StopReason.JUMP_LIMIT, StopReason.INTERRUPTED)
        stop = None if arc.stop.reason is StopReason.JUMP_LIMIT else arc.stop
        return Piece(table_of(arc), arc.until, not halfway, stop)


Stepper: TypeAlias = CompiledStepper | PythonStepper


def stepper_for(system: CoverageSystem, state: AgentsState, until: float, standing: int) -> Stepper:
    """The stepper of `system` from `state`, before which `standing` jumps took no time."""
    if system.compiles:
        return CompiledStepper(system, state, until)
    return PythonStepper(system, state, until, standing)
