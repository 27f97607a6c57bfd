"""Beliefs: the segments of all agents as one process knows them from messages."""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents.segments import Segments

WINDOW = 30.0  # seconds of which the least delay of messages counts; clocks drift


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
    known: int = 0  # a checksum of the agents that its sender knows, one byte


@final
class Beliefs:
    """The newest announcement of each agent, in order of boot and k.

    A message is as old as the receiver's clock minus the stamp minus the offset between the clocks.
    The offset is 0 on a shared clock. Otherwise it is the least difference between arrival and
    stamp of the last messages: too large by the quickest transit.
    """

    def __init__(self, agents: int, dimension: int, fade: float, *, shared_clock: bool) -> None:
        self.position = np.zeros((agents, dimension))
        self.velocity = np.zeros((agents, dimension))
        self.stamp = np.zeros(agents)
        self.cruise = np.full(agents, math.inf)
        self.boot = np.full(agents, -1, dtype=np.int64)  # -1: no message yet
        self.k = np.zeros(agents, dtype=np.int64)
        self.knows = np.zeros(agents, dtype=np.uint8)  # checksums of the agents that each knows
        self.offset = np.zeros(agents)
        self.fade, self.shared = fade, shared_clock
        self._least = np.full((2, agents), math.inf)  # in the last window, and in the one before
        self._began = np.full(agents, -math.inf)

    def receive(self, message: Announcement, arrived: float) -> bool:
        """Take in a message; False for one that is not newer than the last of its sender.

        Agents that have not sampled yet announce themselves again and again, always with k = 0.
        Their clocks begin anew when they do, so the offset is then found anew, and an agent that
        stands is believed as of the arrival.
        """
        p, boot, k = message.agent, message.boot, message.k
        if (boot, k) <= (self.boot[p], self.k[p]) and not (
            boot == self.boot[p] and k == self.k[p] == 0
        ):
            return False
        if self.shared and k == 0:
            message = message._replace(stamp=arrived)
        if not self.shared:
            begins = boot > self.boot[p] or k > self.k[p] == 0
            self._compare_clocks(p, begins, arrived - message.stamp, arrived)
        self.put(message)
        return True

    def shift(self, by: float) -> None:
        """Count time from an origin that is later by some seconds."""
        self.stamp -= by
        self._least -= by
        self._began -= by

    def stand_until(self, time: float) -> None:
        """Believe agents that have not sampled yet as if they announced themselves at a time."""
        self.stamp = np.where(self.k == 0, time - self.offset, self.stamp)

    def put(self, message: Announcement) -> None:
        """Replace the segment of an agent."""
        p = message.agent
        self.boot[p], self.k[p], self.stamp[p] = message.boot, message.k, message.stamp
        self.cruise[p], self.position[p] = message.cruise, message.position
        self.velocity[p], self.knows[p] = message.velocity, message.known

    def _compare_clocks(self, p: int, begins: bool, difference: float, now: float) -> None:
        if begins:
            self._least[:, p], self._began[p] = math.inf, now
        elif now - self._began[p] > WINDOW:
            self._least[1, p], self._least[0, p] = self._least[0, p], math.inf
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

    @property
    def announced(self) -> Ints:
        """The agents that have announced anything."""
        return np.flatnonzero(self.boot >= 0)
