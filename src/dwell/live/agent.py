"""LiveAgent: one agent that samples on its own clock and knows others by their messages."""

from __future__ import annotations

import math
from copy import copy
from operator import attrgetter
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.agents import AgentsState
from dwell.agents.segments import Segments
from dwell.cells.measurement import CellMeasurement
from dwell.live.beliefs import Announcement, Beliefs
from dwell.live.decision import Decisions, OwnState, neighbors_of
from dwell.live.echoes import ECHO, tag_of
from dwell.live.leases import Doubts, Lease
from dwell.live.record import (
    COUNTS,
    DOUBLE,
    MUTE,
    SLOW,
    UNHEARD,
    belief_type,
    records,
    sample_type,
)
from dwell.live.safety import Circumstances, limited
from dwell.live.settings import LiveLaw

COSTS = attrgetter(*COUNTS)


class Decided(NamedTuple):
    """One sample: its record, the beliefs behind it, and the announcement of its segment."""

    sample: np.ndarray  # one record of sample_type
    beliefs: np.ndarray  # of belief_type
    announcement: Announcement


@final
class LiveAgent:
    """One agent of a fleet since it was started.

    incarnation : tells this start from all others; the boot alone unless given.
    began : when it was started, by its own clock, if it has been started before.
    """

    def __init__(
        self,
        law: LiveLaw,
        agent: int,
        boot: int,
        place: Points,
        incarnation: int | None = None,
        began: float = -math.inf,
    ) -> None:
        self.law, self.agent, self.boot = law, agent, boot
        self.incarnation = boot if incarnation is None else incarnation
        self.lease = Lease(law, agent, self.incarnation)
        self.doubts = Doubts(law, agent, began)
        self.serial, self.flags = 0, 0
        self.double = False  # another process has the same number
        self.decisions = Decisions(law, agent, boot)
        self.due, self.k, self.stopped = 0.0, 0, False
        self.sent_at = math.nan  # when its last message had been sent
        self.place = place

    def standing(self, now: float) -> Announcement:
        """The announcement of an agent that has not sampled yet."""
        still = np.zeros(len(self.place))
        return Announcement(self.agent, self.boot, 0, now, math.inf, self.place, still)

    def message(self, own: Announcement, now: float, beliefs: Beliefs) -> Announcement:
        """An announcement as it is sent now: numbered, and with what has been received."""
        self.serial += 1
        own = own._replace(serial=self.serial, incarnation=self.incarnation)
        if self.law.settings.clearance == 0.0:
            return own
        self.lease.sent(self.serial, own.stamp, now)
        return own._replace(echoes=beliefs.echoes(now))

    def shift(self, by: float) -> None:
        """Count time from an origin that is later by some seconds."""
        self.lease.shift(by)
        self.doubts.shift(by)

    def may_move(self, now: float) -> bool:
        """Whether enough others have heard of this agent lately."""
        if self.law.settings.clearance == 0.0:
            return True
        present = self.law.system.timeline.present_at(max(now, 0.0))
        every = np.arange(self.law.system.agents)
        return self.lease.renew(now, every if present is None else present)

    def begin(self, beliefs: Beliefs) -> Decided:
        """The first sample where all agents begin at time 0 and know each other's positions."""
        segments = beliefs.segments()
        self.lease.received_by_all(0.0)
        after = self.decisions.first_of_all(segments.place)
        seen = self.law.system.measurements(segments.place)
        cell, costs = seen.cell(self.agent, self.agent), COSTS(after.spent[self.agent])
        assert cell is not None
        known = np.ones(len(segments.since), dtype=bool)
        return self._made(0.0, 0.0, segments, beliefs, known, after, cell, costs)

    def sample(self, now: float, place: Points, measured: float, beliefs: Beliefs) -> Decided:
        """Sample at `place`, which was measured at time `measured`, and decide."""
        known = beliefs.known(now, self.law.silence)
        known[self.agent] = True
        segments = beliefs.segments().copied()
        if self.law.system.stays and self.decisions.own.hold is not None:
            self.decisions.own.hold = segments.take([self.agent]).velocity_at(now)[0]
        segments.since[self.agent], segments.place[self.agent] = now, place
        after = self.decisions.decide(now, place, segments, known)
        assert after.last is not None
        costs = COSTS(after.spent[0])
        return self._made(now, measured, segments, beliefs, known, after, after.last, costs)

    def saved(self) -> tuple[float, int, OwnState]:
        """What a sample changes, for `restore`."""
        return self.due, self.k, copy(self.decisions.own)

    def restore(self, saved: tuple[float, int, OwnState]) -> None:
        """Undo a sample that could not be recorded."""
        self.due, self.k, self.decisions.own = saved

    def _within_reach(
        self, places: Points, times: Floats, heard: np.ndarray, waits: np.ndarray
    ) -> Ints:
        """Others whose robots may come close before the next samples, absent ones included."""
        law = self.law
        time = 3.0 * float(law.longest.max()) + times
        apart = lengths(places - places[self.agent]) - 2.0 * law.settings.clearance
        close = (heard | waits) & (apart <= law.speed * time)
        close[self.agent] = False
        found: Ints = np.flatnonzero(close)
        return found

    def _made(
        self,
        now: float,
        measured: float,
        segments: Segments,
        beliefs: Beliefs,
        known: np.ndarray,
        after: AgentsState,
        cell: CellMeasurement,
        costs: tuple[int, ...],
    ) -> Decided:
        """The record of a decision, with what safety makes of its velocity."""
        p, law, places = self.agent, self.law, segments.at(now)
        present = law.system.timeline.present_at(now)
        if present is not None:
            known = known & np.isin(np.arange(len(known)), np.append(present, p))
        near = neighbors_of(law.system, places, p, now, known)
        hearsay, doubts = DOUBLE if self.double else 0, np.zeros(len(known))
        if law.settings.clearance > 0.0:
            doubts, heard = self.doubts.at(now, beliefs), beliefs.boot >= 0
            heard[p] = True
            waits = law.system.arrivals > now + law.silence
            reach = self._within_reach(places, doubts + beliefs.pose_age, heard, waits)
            near = np.union1d(near, reach)
            hearsay |= 0 if (heard | waits).all() else UNHEARD
            hearsay |= 0 if self.may_move(now) else MUTE
            slow = (doubts > 0.0) & (beliefs.transits() >= law.shortest)
            hearsay |= SLOW if slow[reach].any() else 0
        noted = records(
            belief_type(places.shape[1]), len(near),
            agent=near, boot=beliefs.boot[near], k=beliefs.k[near], age=beliefs.ages(now)[near],
            position=places[near], velocity=segments.velocity_at(now)[near], doubt=doubts[near],
            pose_age=beliefs.pose_age[near] if law.settings.clearance > 0.0 else 0.0,
        )  # fmt: skip
        if beliefs.said is not None:
            for name in ECHO.names or ():
                noted[f"echo_{name}"] = beliefs.said[name][near, p]
        commanded = after.segments.hold[p]
        next_at, cruise = law.timing(p, self.k + 1, now, self.due, after)
        at_hand = Circumstances(
            int(known.sum()), law.system.agents if present is None else len(present),
            now - measured, self.stopped, now, noted, hearsay,
        )  # fmt: skip
        hold, flags = limited(law, p, places[p], commanded, cruise, at_hand)
        flags |= law.flagged(self.k + 1, noted)
        self.flags = flags
        before = segments.hold[p]
        row = records(
            sample_type(len(hold)),
            agent=p, boot=self.boot, k=self.k + 1, flags=flags, known=at_hand.known,
            due=self.due, time=now, sent_at=self.sent_at, measured=measured,
            tag=tag_of(self.incarnation) if law.settings.clearance > 0.0 else 0,
            serial=self.serial + 1 if law.settings.clearance > 0.0 else 0,
            position=places[p], before=before, commanded=commanded, hold=hold, next_at=next_at,
            cruise=cruise, hold_error=lengths(before - hold), error=cell.error,
            nearest=cell.nearest, neighbors=cell.neighbors, empty=cell.empty,
            **dict(zip(COUNTS, costs, strict=True)),
        )  # fmt: skip
        self.k, self.decisions.own.hold = self.k + 1, hold
        leaves = float(law.system.departures[p])
        self.due = min(next_at, leaves) if leaves > now else next_at
        announced = Announcement(p, self.boot, self.k, now, cruise, places[p], hold)
        announced = announced._replace(pose_age=max(now - measured, 0.0))
        return Decided(row, noted, announced)
