"""AgentsState: all that changes during a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from dwell._types import Floats, Ints, Points
from dwell.agents.interfaces import Look, Order


@final
@dataclass(frozen=True, eq=False, slots=True)
class AgentsState:
    """One row per agent. Times are absolute; a timer is `next_at - time`."""

    time: float
    start: Points  # (N, 2) where each present leg began
    hold: Points  # (N, 2) the velocity held on it
    since: Floats  # (N,) when it began
    first: Floats  # (N,) when each agent's first look is or was due
    next_at: Floats  # (N,) when it looks next
    looks: Ints  # (N,) looks made so far, the initial one not counted
    last: Look | None = None  # what the latest jump saw

    @property
    def positions(self) -> Points:
        """Where everybody is, (N, 2): always from the agent's own last event."""
        dt = self.time - self.since
        return self.start + self.hold * dt[:, None]

    @property
    def timers(self) -> Floats:
        """Time left until each agent's next look, (N,)."""
        return self.next_at - self.time

    def at(self, time: float) -> AgentsState:
        """The same legs at another time."""
        return replace(self, time=time)

    def with_order(self, agent: int, position: Points, order: Order, look: Look) -> AgentsState:
        """The state after `agent` looked from `position` and took `order`."""
        start, hold, since = self.start.copy(), self.hold.copy(), self.since.copy()
        next_at, looks = self.next_at.copy(), self.looks.copy()
        start[agent], hold[agent], since[agent] = position, order.hold, self.time
        next_at[agent] = order.next_at
        looks[agent] += 1
        return AgentsState(self.time, start, hold, since, self.first, next_at, looks, look)
