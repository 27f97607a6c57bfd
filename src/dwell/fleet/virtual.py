"""A fleet in virtual time within one process: each agent samples exactly when it is due."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from dwell._types import Points, as_numbers, finite_number, finite_numbers, in_short
from dwell.errors import InputError
from dwell.fleet.faults import FaultyTransport
from dwell.fleet.plant import Plant, Pose
from dwell.fleet.transport import Transport
from dwell.fleet.transport.memory import MemoryTransport
from dwell.fleet.wire import Codec
from dwell.live.agent import Decided, LiveAgent
from dwell.live.beliefs import Announcement, Beliefs
from dwell.live.faults import Faults
from dwell.live.settings import LiveLaw


@final
class VirtualFleet:
    """Agents that exchange datagrams in virtual time; all begin at time 0.

    late : how much later than due each sample comes.
    plants : the robot of each agent, in place of exact ones; `positions` are where they begin.
    """

    def __init__(
        self,
        law: LiveLaw,
        positions: Points,
        faults: Faults | None = None,
        watch: Callable[[Decided], None] = lambda one: None,
        late: Callable[[], float] = lambda: 0.0,
        plants: Sequence[Plant] | None = None,
    ) -> None:
        n, dimension = positions.shape
        fade = law.system.traits.fade
        self.law, self._watch, self._late, self._plants = law, watch, late, plants
        self.agents = [LiveAgent(law, p, 0, positions[p]) for p in range(n)]
        self.beliefs = [Beliefs(n, dimension, fade, shared_clock=True) for _ in range(n)]
        echoes = law.settings.clearance > 0.0
        self.codecs = [Codec("", n, dimension, echoes=echoes) for _ in range(n)]
        self._transports: list[Transport] = list(MemoryTransport.network(n))
        self._due = np.full(n, np.inf)
        self._said: deque[tuple[float, int, bytes]] = deque()  # (time, agent, datagram), not sent
        for beliefs in self.beliefs:  # the positions at the start are known, whatever is lost later
            for agent in self.agents:
                beliefs.put(agent.standing(0.0))
        if faults is not None:
            self._transports = [
                FaultyTransport(one, faults, p) for p, one in enumerate(self._transports)
            ]
        for p in range(n):
            self._record(p, self.agents[p].begin(self.beliefs[p]))

    def run(self, until: float) -> None:
        """Sample in order of time up to `until`.

        Of simultaneous samples that of the first agent comes first; agents that leave do so before.
        Messages of one instant arrive after it.
        """
        while (now := float(self._due.min())) <= until:
            self._send_those_before(now)
            at_once = np.flatnonzero(self._due == now)
            p = min(at_once.tolist(), key=lambda q: self.law.system.departures[q] != now)
            beliefs = self.beliefs[p]
            for one in self._transports[p].receive(now):
                message = self.codecs[p].unpack(one.datagram)
                if isinstance(message, Announcement) and beliefs.receive(message, one.time):
                    self.agents[p].lease.hear(message, one.time, beliefs)
            pose = self._pose(p, now)
            self._record(p, self.agents[p].sample(now, pose.position, pose.time, beliefs))

    def _pose(self, p: int, now: float) -> Pose:
        """The position that agent p measures: exactly that to which its segments lead, unless it
        has a robot of its own.
        """
        if self._plants is not None:
            return pose_of(self._plants[p], p, now, self.law.system.dimension)
        return Pose(self.beliefs[p].segments().take([p]).at(now)[0], now)

    def _record(self, p: int, decided: Decided) -> None:
        self._watch(decided)
        now, own = float(decided.sample["time"]), decided.announcement
        if self._plants is not None:
            self._plants[p].hold(own.velocity, own.stamp, own.cruise)
        own = self.agents[p].message(own, now, self.beliefs[p])
        self.beliefs[p].put(own, now)
        self._due[p] = self.agents[p].due + self._late()
        datagram = self.codecs[p].pack(own)
        self._said.append((now, p, datagram))

    def _send_those_before(self, now: float) -> None:
        """Send the messages of samples before this time."""
        while self._said and self._said[0][0] < now:
            time, p, datagram = self._said.popleft()
            for later in (0.0, *self.law.repeats(p)):
                self._transports[p].send(datagram, time + float(later))


def pose_of(plant: Plant, agent: int, now: float, dimension: int) -> Pose:
    """What the robot of an agent measures; refused where it is no pose."""
    pose: Any = plant.pose(now)
    place = as_numbers(getattr(pose, "position", None))
    time = finite_number(getattr(pose, "time", None))
    known = place is not None and place.shape == (dimension,) and np.isfinite(place).all()
    if place is None or time is None or not known:
        raise InputError(
            f"the robot of agent {agent} measures {in_short(pose)} at t = {now:g}; a Pose of "
            f"{finite_numbers(dimension)}, and the time at which they were measured, is needed",
            code="fleet.plants",
        )
    return Pose(place, time)
