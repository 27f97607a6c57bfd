"""Beliefs: the segments of all agents as one process knows them from messages."""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents.segments import Segments
from dwell.live.echoes import ECHO, LONG, TICK, tag_of

WINDOW = 30.0  # seconds of which the least delay of messages counts; clocks drift
DRIFT = 2e-4  # by which the rates of two clocks may differ

SEGMENT, READY, STOPPED = range(3)  # kinds of announcements


class Announcement(NamedTuple):
    """The segment that an agent begins: where, when, how fast, and for how long at most."""

    agent: int
    boot: int  # counts the starts of the agent
    k: int  # counts its samples since then; 0 before the first
    stamp: float  # by the clock of the sender
    cruise: float
    position: Points
    velocity: Points
    kind: int = SEGMENT  # READY: it stands and knows all others; STOPPED: by the emergency stop
    serial: int = 0  # counts the messages of this start
    incarnation: int = 0  # 64 random bits of this start
    pose_age: float = 0.0  # of the position when it was announced
    echoes: np.ndarray | None = None  # of ECHO, what the sender has received of each agent


@final
class Beliefs:
    """The newest announcement of each agent, in order of boot and k.

    A message is as old as the receiver's clock minus the stamp minus the offset between the clocks.
    The offset is 0 on a shared clock. Otherwise it is the least difference between arrival and
    stamp of the last messages: too large by the quickest transit, which is at most the shortest
    round trip that has been measured.
    """

    def __init__(self, agents: int, dimension: int, fade: float, *, shared_clock: bool) -> None:
        self.position = np.zeros((agents, dimension))
        self.velocity = np.zeros((agents, dimension))
        self.stamp = np.zeros(agents)
        self.cruise = np.full(agents, math.inf)
        self.boot = np.full(agents, -1, dtype=np.int64)  # -1: no message yet
        self.k = np.zeros(agents, dtype=np.int64)
        self.offset = np.zeros(agents)
        self.fade, self.shared = fade, shared_clock
        self.incarnation = np.zeros(agents, dtype=np.uint64)
        self.serial = np.zeros(agents, dtype=np.int64)
        self.pose_age = np.zeros(agents)  # of the announced positions
        self.arrived = np.full(agents, -math.inf)  # when the newest message came
        self.first_heard = np.full(agents, -math.inf)  # when the first one of this boot came
        self.said: np.ndarray | None = None  # (N, N) of ECHO, the newest of each agent
        self._guessed = np.zeros(agents, dtype=bool)  # stamps that are times of arrival
        self._least = np.full((2, agents), math.inf)  # in the last window, and in the one before
        self._trips = np.full((2, agents), math.inf)  # the shortest round trips, likewise
        self._began = np.full(agents, -math.inf)

    def receive(self, message: Announcement, arrived: float) -> bool:
        """Take in a message; False for one that is not newer than the last of its sender.

        Agents that have not sampled yet announce themselves again and again, always with k = 0.
        Their clocks begin anew when they do, so the offset is then found anew, and an agent that
        stands is believed as of the arrival. Of two processes that have the same number and boot,
        the first one is believed.
        """
        p, boot, k = message.agent, message.boot, message.k
        if not self._is_newer(message):
            return False
        self._guessed[p] = self.shared and k == 0
        if self._guessed[p]:
            message = message._replace(stamp=arrived)
        begins = boot > self.boot[p] or k > self.k[p] == 0
        if boot > self.boot[p]:
            self.first_heard[p] = arrived if boot > 0 else -math.inf
        if not self.shared:
            self._compare_clocks(p, begins, arrived - message.stamp, arrived)
        self.put(message, arrived)
        return True

    def _is_newer(self, message: Announcement) -> bool:
        p, boot, k = message.agent, message.boot, message.k
        if boot != self.boot[p]:
            return boot > int(self.boot[p])
        if message.incarnation != self.incarnation[p]:
            return False
        if k != self.k[p]:
            return k > int(self.k[p])
        return k == 0 and (message.serial > self.serial[p] or message.serial == 0)

    def shift(self, by: float) -> None:
        """Count time from an origin that is later by some seconds."""
        for times in (self.stamp, self._least, self._began, self.arrived, self.first_heard):
            times -= by

    def stand_until(self, time: float) -> None:
        """Believe agents that have not sampled yet as if they announced themselves at a time."""
        self.stamp = np.where(self.k == 0, time - self.offset, self.stamp)

    def put(self, message: Announcement, arrived: float = -math.inf) -> None:
        """Replace the segment of an agent."""
        p = message.agent
        self.boot[p], self.k[p], self.stamp[p] = message.boot, message.k, message.stamp
        self.cruise[p], self.position[p] = message.cruise, message.position
        self.velocity[p], self.arrived[p] = message.velocity, arrived
        self.serial[p], self.incarnation[p] = message.serial, message.incarnation
        self.pose_age[p] = message.pose_age
        if message.echoes is not None:
            if self.said is None:
                self.said = np.zeros((len(self.k), len(self.k)), dtype=ECHO)
            self.said[p] = message.echoes

    def echoes(self, now: float) -> np.ndarray:
        """What a message that is sent now says of those received."""
        made = np.zeros(len(self.k), dtype=ECHO)
        known = self.boot >= 0
        holds = np.clip(np.floor((now - self.arrived[known]) / TICK), 0.0, LONG)
        made["tag"][known], made["hold"][known] = tag_of(self.incarnation[known]), holds
        made["serial"][known] = self.serial[known]
        return made

    def round_trip(self, agent: int, seconds: float) -> None:
        """Note how long a message to an agent and its answer took, less the hold between."""
        self._trips[0, agent] = min(self._trips[0, agent], max(seconds, 0.0))

    def _compare_clocks(self, p: int, begins: bool, difference: float, now: float) -> None:
        if begins:
            self._least[:, p] = self._trips[:, p] = math.inf
            self._began[p] = now
        elif now - self._began[p] > WINDOW:
            recent = now - self._began[p] < 2.0 * WINDOW  # after a long silence nothing is
            for values in (self._least, self._trips):
                values[1, p] = values[0, p] if recent else math.inf
                values[0, p] = math.inf
            self._began[p] = now
        self._least[0, p] = min(self._least[0, p], difference)
        self.offset[p] = self._least[:, p].min()

    def segments(self) -> Segments:
        """The segments of all agents by the receiver's clock."""
        since = self.stamp + self.offset
        never = np.full(len(since), math.inf)
        return Segments(since, self.position, self.velocity, never, self.cruise, self.fade)

    def known(self, now: float, silence: float) -> np.ndarray:
        """Which agents have announced a segment that is not older than `silence`."""
        return (self.boot >= 0) & (self.ages(now) <= silence)

    def ages(self, now: float) -> Floats:
        """How old each announcement is."""
        ages: Floats = now - (self.stamp + self.offset)
        return ages

    def transits(self) -> Floats:
        """By how much each age may be too small; inf where no round trip has been measured."""
        bound = self._trips.min(axis=0) + 2.0 * WINDOW * DRIFT
        dated = self._guessed if self.shared else self.arrived > -math.inf
        transits: Floats = np.where(dated, bound, 0.0)
        return transits

    @property
    def announced(self) -> Ints:
        """The agents that have announced anything."""
        return np.flatnonzero(self.boot >= 0)
