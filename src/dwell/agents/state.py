"""AgentsState: everything that changes during a run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from dwell._types import Floats, Ints, LazySequence, Points
from dwell.agents.interfaces import Command, Message
from dwell.agents.segments import Segments
from dwell.cells.measurement import CellMeasurement

INSTANT = 1e-12  # of the time: jumps this close are at one instant, which rounding has parted


@final
@dataclass(frozen=True, slots=True)
class Spent:
    """What one event cost its agent."""

    looked: int = 1  # Voronoi cells of samples: 0 or 1; more for a differential equation
    guaranteed: int = 0  # guaranteed cells
    dual_guaranteed: int = 0
    sent: int = 0  # messages broadcast
    received: int = 0  # positions of others obtained, by a sample or by a message
    mark: int = 0  # status code of the law
    voronoi: int = 0  # Voronoi cells that the decision computed besides


@final
class SampledStart(LazySequence[Spent]):
    """What the start cost where every agent samples once, in one array."""

    def __init__(self, received: Ints, looked: Ints | None = None) -> None:
        self.received = received
        self.looked: Ints = np.ones(len(received), dtype=np.int64) if looked is None else looked
        super().__init__(len(received), self._one)

    def _one(self, p: int) -> Spent:
        return Spent(looked=int(self.looked[p]), received=int(self.received[p]))


def counts_of(spent: Sequence[Spent], name: str) -> Ints:
    """One kind of cost of all agents, as an array."""
    if not isinstance(spent, SampledStart):
        return np.array([getattr(one, name) for one in spent], dtype=np.int64)
    if name in ("received", "looked"):
        own: Ints = getattr(spent, name)
        return own
    return np.full(len(spent), getattr(Spent(), name), dtype=np.int64)


# A past segment: the time and position of its beginning, its velocity and its hold duration.
FinishedSegment = tuple[float, Points, Points, float]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Mail:
    """Messages that one agent has received, and messages on their way to it."""

    heard: Mapping[int, Message] = field(default_factory=dict)  # the latest of each sender
    coming: tuple[tuple[float, Message], ...] = ()  # (time of arrival, message)

    def opened(self, now: float) -> tuple[Mail, int]:
        """The messages received by time `now`, and how many of them are new.

        A message sent at time `now` itself arrives later, in whatever order the agents jump.
        """
        here = [m for at, m in self.coming if at <= now and m.time < now]
        if not here:
            return self, 0
        heard = dict(self.heard)
        for message in here:
            if message.sender not in heard or heard[message.sender].time <= message.time:
                heard[message.sender] = message
        left = tuple((at, m) for at, m in self.coming if at > now or m.time >= now)
        return Mail(heard, left), len(here)


@final
@dataclass(frozen=True, eq=False, slots=True)
class AgentsState:
    """The state of all agents, one row each; times are absolute."""

    time: float
    segments: Segments  # (N,) the present ones
    first: Floats  # (N,) time of each agent's first event
    event_counts: Ints  # (N,) events so far, without the initial one
    last: CellMeasurement | None = None  # of the agent of the latest jump
    samples_next: np.ndarray | None = None  # (N,) whether its next event is a sample; None: always
    memory: tuple[object, ...] = ()  # (N,) memories of the controllers; () for none
    mail: tuple[Mail, ...] = ()  # (N,) () for laws without messages
    spent: Sequence[Spent] = ()  # cost of the latest jump; at the start, of each agent
    promise: float = -1.0  # the speed bound broadcast at the latest jump; -1 for no broadcast
    promised: Floats | None = None  # (N,) each agent's last speed bound; None: no broadcasts yet
    # (N,) the past segments of each agent, where samples are delayed. A list is shared by
    # successive states and may hold more than the `event_counts[p]` segments of this state.
    past: tuple[list[FinishedSegment], ...] = ()
    # (N, n) the velocity of each agent just before the instant of its latest event, for laws that
    # read velocities; None where it is unknown, as in a live agent.
    before: Points | None = None

    @property
    def positions(self) -> Points:
        """Positions of all agents, (N, n): always from the agent's own last event."""
        return self.segments.at(self.time)

    @property
    def velocities(self) -> Points:
        """Velocities of all agents, (N, n)."""
        return self.segments.velocity_at(self.time)

    @property
    def timers(self) -> Floats:
        """Time left until each agent's next event, (N,)."""
        return self.segments.next_at - self.time

    @property
    def marks(self) -> Ints:
        """Status codes of the law in `spent`, (N,) at the start; zeros where `spent` is empty."""
        if not self.spent:
            return np.zeros(len(self.first), dtype=np.int64)
        return counts_of(self.spent, "mark")

    def at(self, time: float) -> AgentsState:
        """The state with these segments at another time."""
        return AgentsState(
            time, self.segments, self.first, self.event_counts, self.last, self.samples_next,
            self.memory, self.mail, self.spent, self.promise, self.promised, self.past, self.before,
        )  # fmt: skip

    def positions_then(self, time: float) -> Points:
        """Positions of all agents at an earlier time; the start, for times below 0."""
        return self._segments_then(time).at(max(time, 0.0))

    def velocities_then(self, time: float) -> Points:
        """Velocities of all agents at a time up to now; those of the start, for times below 0.

        Velocities of an instant are those before all its events, so that what an agent reads does
        not depend on which agents have jumped already, nor on how a delay is rounded.
        """
        moment = time if time == self.time else time - INSTANT * self.time
        velocities: Points = self._segments_then(moment).velocity_at(max(moment, 0.0))
        if self.before is not None and time == self.time:
            # An agent that is due again has jumped at an earlier instant, however near.
            now = self.segments
            jumped = (now.since >= time * (1.0 - INSTANT)) & (now.next_at > time)
            velocities[jumped] = self.before[jumped]
        return velocities

    def noting(self, agent: int) -> AgentsState:
        """The state with the velocity of `agent` before this instant, before its jump."""
        if self.before is None or self.segments.since[agent] >= self.time:
            return self
        return replace(self, before=_put(self.before, agent, self.velocities[agent]))

    def _segments_then(self, time: float) -> Segments:
        """The segments of all agents at an earlier time."""
        then = self.segments
        if self.past:
            then = then.copied()
            for p in np.flatnonzero(self.segments.since > max(time, 0.0)):
                made = int(self.event_counts[p])
                k = max(
                    bisect_right(self.past[p], time, hi=made, key=lambda segment: segment[0]) - 1, 0
                )
                then.since[p], then.place[p], then.hold[p], then.cruise[p] = self.past[p][k]
        return then

    def remembering(self, agent: int) -> AgentsState:
        """The state with the present segment of `agent` among the past ones, before its jump."""
        past = self.past or tuple([] for _ in self.first)
        made, finished, now = int(self.event_counts[agent]), past[agent], self.segments
        if len(finished) != made:  # a list that another run has extended
            finished = finished[:made]
        place, hold = now.place[agent].copy(), now.hold[agent].copy()
        finished.append((float(now.since[agent]), place, hold, float(now.cruise[agent])))
        return replace(self, past=(*past[:agent], finished, *past[agent + 1 :]))

    def with_order(
        self,
        agent: int,
        position: Points,
        order: Command,
        measurement: CellMeasurement,
        spent: Spent,
    ) -> AgentsState:
        """The state after the jump of `agent` at `position` with this command and measurement."""
        segments = self.segments.copied()
        segments.since[agent], segments.place[agent] = self.time, position
        segments.hold[agent], segments.next_at[agent] = order.hold, order.next_at
        segments.cruise[agent] = order.cruise
        n, memory = len(self.first), self.memory
        if memory or order.memory is not None:
            memory = memory or (None,) * n
            memory = (*memory[:agent], order.memory, *memory[agent + 1 :])
        promise = -1.0 if order.promise is None else float(order.promise)
        promised = self.promised
        if order.promise is not None:
            promised = _changed(promised, agent, promise, -1.0, n)
        counts = _put(self.event_counts, agent, self.event_counts[agent] + 1)
        samples_next = _changed(self.samples_next, agent, order.measures, True, n)
        return AgentsState(
            self.time, segments, self.first, counts, measurement, samples_next, memory, self.mail,
            (spent,), promise, promised, self.past, self.before,
        )  # fmt: skip


def _put(values: np.ndarray, agent: int, value: Any) -> np.ndarray:
    """A copy of `values` with one entry changed."""
    values = values.copy()
    values[agent] = value
    return values


def _changed(
    values: np.ndarray | None, agent: int, value: float, usual: float, agents: int
) -> np.ndarray | None:
    """A copy of `values` with one entry changed; None stands for the usual value everywhere."""
    if values is None:
        return None if value == usual else _put(np.full(agents, usual), agent, value)
    return _put(values, agent, value)
