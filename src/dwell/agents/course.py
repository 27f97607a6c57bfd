"""A run under way: it goes on from piece to piece, and what was done may be put away in between.

However a run is cut into pieces, their tables one after another are the same, bit for bit.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Protocol, final

import numpy as np

from dwell.agents.engine import _Engine, _program, can_compile, refuse_standing_clock
from dwell.agents.events import EventTable, table_of
from dwell.agents.state import AgentsState
from dwell.agents.system import CoverageSystem
from dwell.hybrid import Stop, StopReason
from dwell.hybrid import simulate as solve

FIRST_CHUNK, LAST_CHUNK = 2_048, 65_536  # jumps of the engine between two looks at the world
FEWEST, MOST = 1, 4_096  # the same of the readable loop
BRISK, SLOW = 0.1, 0.5  # seconds a piece and its samples may take: shorter ones grow, longer shrink


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """Some jumps of a run."""

    table: EventTable
    reached: float  # every jump before this time is in the tables so far
    closed: bool  # and every one at this very time
    stop: Stop | None  # why the run is over; None if it is not


class Course(Protocol):
    """A run under way."""

    def advance(self, target: float, jumps: int) -> Piece:
        """At most `jumps` more jumps, up to about `target` where the run can stop there."""
        ...

    @property
    def memory(self) -> AgentsState | None:
        """The state, where it is more than what tables tell: None if they tell all."""
        ...

    @property
    def standing(self) -> int:
        """How many jumps in a row have left the clock standing."""
        ...


def course_of(system: CoverageSystem, state: AgentsState, until: float, standing: int) -> Course:
    """How `system` goes on from `state`, of which `standing` jumps in a row left the clock."""
    if can_compile(system):
        return _Compiled(system, state, until)
    return _Readable(system, state, until, standing)


@final
class _Compiled:
    """By the engine."""

    def __init__(self, system: CoverageSystem, state: AgentsState, until: float) -> None:
        refuse_standing_clock(system, until)
        self._engine = _Engine.of(system, state)
        self._until, self._now = until, state.time
        self._chunk = max(FIRST_CHUNK, self._engine.least_chunk)
        self._cruise = _program(system).cruise

    def advance(self, target: float, jumps: int) -> Piece:
        """The engine comes back after a chunk, or at `target`."""
        target = min(target, self._until)
        part, came_back = self._engine.advance(target, min(self._chunk, jumps))
        self._chunk = max(min(2 * self._chunk, LAST_CHUNK), self._engine.least_chunk)
        if len(part):
            self._now = float(part.time[-1])
        stop = self._engine.verdict(came_back, target, self._now, False)
        closed = stop is not None
        reached = self._now if stop is None else stop.time
        if stop is not None and stop.reason is StopReason.HORIZON and target < self._until:
            stop = None
        if math.isfinite(self._cruise):
            part = replace(part, cruise=np.full(len(part), self._cruise))
        return Piece(part, reached, closed, stop)

    @property
    def memory(self) -> None:
        """Nothing: these laws look, and that is all."""
        return None

    @property
    def standing(self) -> int:
        """None: these laws move the clock."""
        return 0


@final
class _Readable:
    """By the loop that reads as the definition."""

    def __init__(
        self, system: CoverageSystem, state: AgentsState, until: float, standing: int
    ) -> None:
        self._system, self._state, self._until = system, state, until
        self._standing = standing
        self._jumps, self._began = FEWEST, time.perf_counter()

    def advance(self, target: float, jumps: int) -> Piece:
        """Some jumps, whatever the target: they take long enough each."""
        began, before = time.perf_counter(), self._began
        self._began = began
        if began - before < BRISK:
            self._jumps = min(2 * self._jumps, MOST)
        elif began - before > SLOW:
            self._jumps = max(self._jumps // 2, FEWEST)
        arc = solve(
            self._system, self._state, until=self._until, max_jumps=min(self._jumps, jumps),
            max_simultaneous=2 * self._system.agents + 1000, standing=self._standing,
        )  # fmt: skip
        self._state, self._standing = arc.states[-1], arc.standing
        halfway = arc.stop.reason in (StopReason.JUMP_LIMIT, StopReason.INTERRUPTED)
        stop = None if arc.stop.reason is StopReason.JUMP_LIMIT else arc.stop
        return Piece(table_of(arc), arc.until, not halfway, stop)

    @property
    def memory(self) -> AgentsState:
        """The state: what agents remember and have heard is in no table."""
        return self._state

    @property
    def standing(self) -> int:
        """How many jumps in a row have left the clock standing."""
        return self._standing
