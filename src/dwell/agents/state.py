"""AgentsState: all that changes during a run."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final, overload

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents.interfaces import CellMeasurement, Command, Message
from dwell.agents.legs import Legs


@final
@dataclass(frozen=True, slots=True)
class Spent:
    """What one event cost its agent."""

    looked: int = 1  # Voronoi cells computed: 0 or 1, or more by a differential equation
    guaranteed: int = 0  # guaranteed cells
    dual_guaranteed: int = 0
    sent: int = 0  # messages broadcast
    received: int = 0  # positions of others obtained, by a look or by a message
    mark: int = 0  # the law's note on it


@final
class SpentLooking(Sequence[Spent]):
    """What the start costs where everybody just looks: as good as a tuple, in one array."""

    def __init__(self, received: Ints) -> None:
        self.received = received

    def __len__(self) -> int:
        return len(self.received)

    @overload
    def __getitem__(self, i: int) -> Spent: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Spent]: ...
    def __getitem__(self, i: int | slice) -> Spent | Sequence[Spent]:
        if isinstance(i, slice):
            return SpentLooking(self.received[i])
        return Spent(received=int(self.received[i]))


def counts_of(spent: Sequence[Spent], name: str) -> Ints:
    """One kind of cost, of everybody."""
    if not isinstance(spent, SpentLooking):
        return np.array([getattr(one, name) for one in spent], dtype=np.int64)
    if name == "received":
        return spent.received
    return np.full(len(spent), getattr(Spent(), name), dtype=np.int64)


# A leg that is over: when and where it began, with which velocity, and for how long that was kept.
Leg = tuple[float, Points, Points, float]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Mail:
    """What one agent has heard, and what is under way to it."""

    heard: Mapping[int, Message] = field(default_factory=dict)  # the latest of each sender
    coming: tuple[tuple[float, Message], ...] = ()  # (when it arrives, message)

    def opened(self, now: float) -> tuple[Mail, int]:
        """The mail at time `now`, and how many messages were new.

        A message sent at this very instant is not there yet, whichever agent comes first.
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
    """One row per agent. Times are absolute; a timer is `next_at - time`."""

    time: float
    start: Points  # (N, n) where each present leg began
    hold: Points  # (N, n) the velocity it began with
    since: Floats  # (N,) when it began
    first: Floats  # (N,) when each agent's first event is or was due
    next_at: Floats  # (N,) when it decides next
    looks: Ints  # (N,) events so far, the initial one not counted
    last: CellMeasurement | None = None  # what there was to see at the latest jump
    cruise: Floats | None = None  # (N,) see Legs
    fade: float = math.inf
    bend: Floats | None = None  # (N, 2, n) see Legs
    looking: np.ndarray | None = None  # (N,) whether its next event is a look; None: always
    memory: tuple[object, ...] = ()  # (N,) what each controller remembers; () for nothing
    mail: tuple[Mail, ...] = ()  # (N,) () where nobody speaks
    spent: Sequence[Spent] = ()  # by the latest jump; at the start, by each agent
    promise: float = -1.0  # the speed promised at the latest jump; -1 if nothing was said
    promised: Floats | None = None  # (N,) the last speed each promised; None where nobody speaks
    # (N,) the legs that each has finished, where looks are late. A list is shared by the states
    # that follow one another and may hold more than this state's own `looks[p]` legs.
    past: tuple[list[Leg], ...] = ()

    @property
    def legs(self) -> Legs:
        """The legs everybody is on."""
        return Legs(
            since=self.since,
            place=self.start,
            hold=self.hold,
            next_at=self.next_at,
            cruise=self.cruise,
            fade=self.fade,
            bend=self.bend,
        )

    @property
    def positions(self) -> Points:
        """Where everybody is, (N, n): always from the agent's own last event."""
        return self.legs.at(self.time)

    @property
    def velocities(self) -> Points:
        """How everybody moves, (N, n)."""
        return self.legs.velocity_at(self.time)

    @property
    def timers(self) -> Floats:
        """Time left until each agent's next event, (N,)."""
        return self.next_at - self.time

    @property
    def marks(self) -> Ints:
        """The law's notes on what `spent` tells of, (N,) at the start; 0 where nothing is told."""
        if not self.spent:
            return np.zeros(len(self.since), dtype=np.int64)
        return counts_of(self.spent, "mark")

    def at(self, time: float) -> AgentsState:
        """The state with these segments at another time."""
        return replace(self, time=time)

    def positions_then(self, time: float) -> Points:
        """Where everybody was at an earlier time; where they started, before the beginning."""
        now = self.legs
        if not self.past:
            return now.at(max(time, 0.0))
        since, start, hold = self.since.copy(), self.start.copy(), self.hold.copy()
        cruise = None if self.cruise is None else self.cruise.copy()
        for p in np.flatnonzero(self.since > max(time, 0.0)):
            made = int(self.looks[p])
            k = max(bisect_right(self.past[p], time, hi=made, key=_beginning) - 1, 0)
            since[p], start[p], hold[p], kept = self.past[p][k]
            if cruise is not None:
                cruise[p] = kept
        return replace(now, since=since, place=start, hold=hold, cruise=cruise).at(max(time, 0.0))

    def remembering(self, agent: int) -> AgentsState:
        """The state before a jump of `agent`, with its present leg among those that are over."""
        past = self.past or tuple([] for _ in self.since)
        made, legs = int(self.looks[agent]), past[agent]
        if len(legs) != made:  # another run has gone on from here
            legs = legs[:made]
        cruise = math.inf if self.cruise is None else float(self.cruise[agent])
        place, hold = self.start[agent].copy(), self.hold[agent].copy()
        legs.append((float(self.since[agent]), place, hold, cruise))
        return replace(self, past=(*past[:agent], legs, *past[agent + 1 :]))

    def with_order(
        self, agent: int, position: Points, order: Command, look: CellMeasurement, spent: Spent
    ) -> AgentsState:
        """The state after `agent` stood at `position`, saw `look` and took `order`."""
        start, hold, since = self.start.copy(), self.hold.copy(), self.since.copy()
        next_at, looks = self.next_at.copy(), self.looks.copy()
        start[agent], hold[agent], since[agent] = position, order.hold, self.time
        next_at[agent] = order.next_at
        looks[agent] += 1
        return replace(
            self, start=start, hold=hold, since=since, next_at=next_at, looks=looks, last=look,
            cruise=_changed(self.cruise, agent, order.cruise, math.inf, len(since)),
            looking=_changed(self.looking, agent, order.measures, True, len(since)),
            memory=_remembered(self.memory, agent, order.memory, len(since)),
            spent=(spent,),
            promise=-1.0 if order.promise is None else float(order.promise),
            promised=self._promised(agent, order),
        )  # fmt: skip

    def _promised(self, agent: int, order: Command) -> Floats | None:
        if order.promise is None:
            return self.promised
        return _changed(self.promised, agent, float(order.promise), -1.0, len(self.since))


def _beginning(leg: Leg) -> float:
    return leg[0]


def _changed(
    values: np.ndarray | None, agent: int, value: float, usual: float, agents: int
) -> np.ndarray | None:
    """`values` with one entry changed; None stands for the usual value everywhere."""
    if values is None:
        if value == usual:
            return None
        values = np.full(agents, usual)
    values = values.copy()
    values[agent] = value
    return values


def _remembered(
    memory: tuple[object, ...], agent: int, value: object, agents: int
) -> tuple[object, ...]:
    if not memory:
        if value is None:
            return ()
        memory = (None,) * agents
    return (*memory[:agent], value, *memory[agent + 1 :])
