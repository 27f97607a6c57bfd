"""One decision of one agent, from its own position and its beliefs, by the law of the simulator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents import AgentsState, CoverageSystem
from dwell.agents.segments import Segments
from dwell.agents.world import Timeline
from dwell.hybrid import Event
from dwell.live.settings import MOST_AGENTS, LiveLaw


@final
@dataclass(slots=True)
class OwnState:
    """What an agent keeps for itself between samples."""

    first: float = 0.0  # the time of its first event
    count: int = 0  # events so far
    hold: Points | None = None
    samples_next: bool = True
    memory: object = None


@final
class Decisions:
    """The decisions of one agent since it was started."""

    def __init__(self, law: LiveLaw, agent: int, boot: int) -> None:
        system = law.system
        streams = list(system.streams)
        streams[agent] += boot * MOST_AGENTS  # draws of its own, without any memory of the last
        self.system = replace(system, ids=tuple(streams)) if boot else system
        self.agent, self.boot, self.own = agent, boot, OwnState()
        self.fade = system.traits.fade
        self.catches_up = bool(law.shortest[agent] > 0.0)
        self._last: tuple[bytes, CoverageSystem] = (b"", self.system)

    def first_of_all(self, positions: Points) -> AgentsState:
        """The state of all agents after their samples at time 0, where all begin together."""
        state = self.system.start(positions)
        self._keep(state)
        self.own.first = float(state.segments.next_at[self.agent])
        return state

    def decide(
        self, now: float, position: Points, others: Segments, known: np.ndarray
    ) -> AgentsState:
        """The state after a sample at `position`; its row of this agent is the decision.

        others : segments of all agents, of which only those count that are `known`.
        """
        p, own, n = self.agent, self.own, len(known)
        begins = own.hold is None
        if own.hold is None:
            own.first, own.hold = now, np.zeros(len(position))
        segments = replace(others, fade=self.fade).copied()
        segments.since[p], segments.place[p], segments.hold[p] = now, position, own.hold
        state = AgentsState(
            now, segments, _only(n, p, own.first), _only(n, p, own.count).astype(np.int64),
            samples_next=None if own.samples_next else _only(n, p, 1.0) == 0.0,
            memory=() if own.memory is None else _row(n, p, own.memory),
        )  # fmt: skip
        after = self._system_of(known).jump(
            state, Event(now, p), begins=begins, behind=self.catches_up
        )
        own.count += 1
        self._keep(after)
        return after

    def _keep(self, after: AgentsState) -> None:
        p, own = self.agent, self.own
        own.hold = after.segments.hold[p].copy()
        own.samples_next = after.samples_next is None or bool(after.samples_next[p])
        own.memory = after.memory[p] if after.memory else None

    def _system_of(self, known: np.ndarray) -> CoverageSystem:
        """The system in which only the known agents are present."""
        if known.all():
            return self.system
        key = known.tobytes()
        if self._last[0] != key:
            arrivals = np.where(known, self.system.arrivals, np.inf)
            of_all = self.system.timeline
            changes = Timeline(of_all.worlds, arrivals, self.system.departures, of_all.sensors)
            self._last = key, replace(self.system, changes=changes)
        return self._last[1]


def neighbors_of(
    system: CoverageSystem, places: Points, agent: int, now: float, known: np.ndarray
) -> Ints:
    """The known agents on which the cell of `agent` depends in every bit, ascending.

    Where that is not certain of Voronoi neighbours alone, all.
    """
    present = system.timeline.present_at(now)
    every: Ints = np.flatnonzero(known) if present is None else present[known[present]]
    if agent not in every:
        return np.empty(0, dtype=np.int64)
    every_bit = system.local and not system.sensors and system.radius is None
    if not every_bit or system.stays:
        others: Ints = every[every != agent]
        return others
    return system.world_at(now).neighbors(places, agent, now, every)


def _only(n: int, p: int, value: float) -> Floats:
    """Zeros, but for one agent."""
    values = np.zeros(n)
    values[p] = value
    return values


def _row(n: int, p: int, value: object) -> tuple[object, ...]:
    return (*(None,) * p, value, *(None,) * (n - p - 1))
