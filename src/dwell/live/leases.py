"""Leases: who may move, and where a robot may be of which nothing is heard any more.

An agent begins a segment with a velocity only while enough others have received a message of it
that is younger than its lease, as their echoes prove; and, where its lease had run out, only after
it has had one for a while. What others say that they have received of an agent therefore bounds for
how long it can have moved: see docs/fleet.md for the proof.
"""

from __future__ import annotations

import math
from collections import deque
from typing import final

import numpy as np

from dwell._types import Floats, Ints
from dwell.live.beliefs import Announcement, Beliefs
from dwell.live.echoes import LONG, TICK, tag_of
from dwell.live.settings import LiveLaw


@final
class Lease:
    """What others have received of one agent, as far as that agent knows."""

    def __init__(self, law: LiveLaw, agent: int, incarnation: int) -> None:
        self.law, self.agent = law, agent
        self._tag = tag_of(incarnation)
        self._sent: deque[tuple[int, float, float]] = deque()  # number, stamp and time of messages
        self._received = np.full(law.system.agents, -math.inf)  # the newest stamp that each has
        self._until, self._begun = -math.inf, math.inf

    def sent(self, serial: int, stamp: float, now: float) -> None:
        """Note a message that is sent now."""
        while self._sent and self._sent[0][2] < now - 2.0 * self.law.lease:
            self._sent.popleft()
        self._sent.append((serial, stamp, now))

    def hear(self, message: Announcement, arrived: float, beliefs: Beliefs) -> None:
        """Take in what the sender of a message has received of this agent."""
        if message.echoes is None:
            return
        echo = message.echoes[self.agent]
        if int(echo["tag"]) != self._tag:
            return
        for serial, stamp, sent in reversed(self._sent):
            if serial == int(echo["serial"]):
                known = self._received[message.agent]
                self._received[message.agent] = max(known, stamp)
                if echo["hold"] < LONG:
                    trip = arrived - sent - float(echo["hold"]) * TICK
                    beliefs.round_trip(message.agent, trip)
                return

    def received_by_all(self, now: float) -> None:
        """All others know this agent, as it stands now."""
        self._received[:], self._until, self._begun = now, now + self.law.lease, -math.inf

    def shift(self, by: float) -> None:
        """Count time from an origin that is later by some seconds."""
        self._sent = deque((k, stamp - by, sent - by) for k, stamp, sent in self._sent)
        self._received -= by
        self._until, self._begun = self._until - by, self._begun - by

    def renew(self, now: float, present: Ints) -> bool:
        """Whether the agent may move at a time at which some agents are present."""
        needed = self.law.quorum(len(present)) - 1
        if needed < 1:
            return True
        received = np.sort(self._received[present[present != self.agent]])
        until = float(received[-needed]) + self.law.lease if needed <= len(received) else -math.inf
        if now > self._until or math.isinf(until):
            self._begun = now
        self._until = until
        if until < now:
            self._begun = math.inf
        return now >= self._begun + self.law.pause


@final
class Doubts:
    """For how long each robot may have moved otherwise than believed, as one agent knows.

    The times count up to the end of the segments that the robots may hold now, in seconds at the
    largest speed.
    """

    def __init__(self, law: LiveLaw, agent: int, began: float) -> None:
        self.law, self.agent, self._began = law, agent, began
        n = law.system.agents
        self._moved, self._base = np.full(n, math.inf), np.full(n, math.inf)
        self._at = -math.inf
        self._of = np.full((2, n), -1)  # boot and number of the message behind each
        timeline = law.system.timeline
        times = np.concatenate([law.system.arrivals, law.system.departures])
        self._changes = np.unique(times[(times > 0.0) & np.isfinite(times)])
        moments = np.append(0.0, self._changes)
        self._present = [timeline.present_at(float(t)) for t in moments]
        self._phase = np.zeros(n, dtype=np.int64)

    def shift(self, by: float) -> None:
        """Count time from an origin that is later by some seconds."""
        self._at, self._began = self._at - by, self._began - by

    def at(self, now: float, beliefs: Beliefs) -> Floats:
        """The time of each agent; 0 where its path is certain."""
        doubt: Floats
        law, system = self.law, self.law.system
        ages, transits = beliefs.ages(now), beliefs.transits()
        oldest = ages + transits
        shortest = np.where(beliefs.k <= 1, 0.0, law.shortest)
        longest = law.longest + 1.0 / system.traits.fade
        believed = np.abs(np.minimum(np.maximum(ages, 0.0), longest) - shortest)
        believed = np.where(beliefs.velocity.any(axis=1), believed, 0.0)
        moved = np.maximum(oldest - shortest, 0.0) + longest
        same = (beliefs.boot == self._of[0]) & (beliefs.serial == self._of[1])
        moved = np.where(same, np.minimum(moved, self._moved + (now - self._at)), moved)

        # By the clocks of the others: they change the agents that they count at the same time.
        earliest = now - beliefs.offset
        then = np.searchsorted(self._changes, beliefs.stamp, side="right")
        since = np.append(-math.inf, self._changes)
        phase = np.searchsorted(self._changes, earliest, side="right")
        settled = phase == np.searchsorted(self._changes, earliest + transits, side="right")
        age_of_word = self._age_of_word(oldest, phase, beliefs)
        recent = age_of_word <= law.pause
        over = recent & (ages > 2.0 * law.lease + law.pause)
        over &= earliest - since[phase] > law.lease + law.pause
        anew = np.where(over, 0.0, age_of_word + longest)
        bound = law.lease + longest - shortest + anew
        moved = np.where(settled & (phase == then), np.minimum(moved, bound), moved)
        turned = settled & (phase != then)
        self._base = np.where(turned & ((phase != self._phase) | ~same), moved, self._base)
        later = self._base + law.lease + anew
        moved = np.where(turned, np.minimum(moved, later), moved)
        self._phase = np.where(settled, phase, self._phase)

        leaves, comes = system.departures, system.arrivals
        moves = np.maximum(leaves - beliefs.stamp - shortest, 0.0) + longest
        moved = np.where(np.isfinite(leaves), np.minimum(moved, moves), moved)
        heard = beliefs.boot >= 0
        waits = np.where(heard, earliest + transits, now + law.silence) < comes
        waits &= comes > 0.0
        moved = np.where(waits, longest, moved)
        doubt = moved + believed
        doubt[waits | (oldest < shortest) | (beliefs.stamp >= leaves)] = 0.0
        # Where no segment can be held now, one may begin at once.
        self._moved, self._at = moved + np.where(over, longest, 0.0), now
        self._of = np.stack([beliefs.boot, beliefs.serial])
        return doubt

    def _age_of_word(self, oldest: Floats, phase: Ints, beliefs: Beliefs) -> Floats:
        """The age of what enough agents say that they have received nothing newer of each agent."""
        n = len(oldest)
        found = np.full(n, math.inf)
        if beliefs.said is None:
            return found
        said = beliefs.said
        word = np.where(beliefs.boot < 0, math.inf, np.maximum(oldest, 0.0))
        word[self.agent] = 0.0
        tags = tag_of(beliefs.incarnation).astype(np.int64)
        newer = (said["tag"] != tags) | (said["serial"].astype(np.int64) > beliefs.serial)
        nothing_newer = (said["tag"] == 0) | ~newer  # [who says so, of whom]
        nothing_newer[self.agent] = True
        heard_since = np.where(beliefs.boot > 0, beliefs.first_heard, -math.inf)
        heard_since[self.agent] = self._began
        sent = beliefs.stamp + beliefs.offset - beliefs.transits()
        nothing_newer &= heard_since[:, None] <= sent
        for one in np.unique(phase):
            present = self._present[one]
            members = np.arange(n) if present is None else present
            needed = len(members) - self.law.quorum(len(members)) + 1
            about = np.flatnonzero(phase == one)
            ages = np.where(nothing_newer[np.ix_(members, about)], word[members, None], math.inf)
            ages[members[:, None] == about] = math.inf
            if needed <= len(members):
                found[about] = np.sort(ages, axis=0)[needed - 1]
        return found
