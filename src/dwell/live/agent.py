"""LiveAgent: one agent that samples on its own clock and knows others by their messages."""

from __future__ import annotations

import math
import zlib
from copy import copy
from operator import attrgetter
from typing import NamedTuple, final

import numpy as np

from dwell._types import Ints, Points, lengths
from dwell.agents import AgentsState
from dwell.agents.interfaces import CellMeasurement
from dwell.agents.problem import cell_in
from dwell.agents.segments import Segments
from dwell.live.beliefs import Announcement, Beliefs
from dwell.live.decision import Decisions, OwnState, neighbours
from dwell.live.record import COUNTS, belief_type, sample_type
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
    """One agent of a fleet since it was started."""

    def __init__(self, law: LiveLaw, agent: int, boot: int, place: Points) -> None:
        self.law, self.agent, self.boot = law, agent, boot
        self.decisions = Decisions(law, agent, boot)
        self.due, self.k, self.stopped = 0.0, 0, False
        self.sent_at = math.nan  # when its last message had been sent
        self.place = place

    def standing(self, now: float) -> Announcement:
        """The announcement of an agent that has not sampled yet."""
        still = np.zeros(len(self.place))
        return Announcement(self.agent, self.boot, 0, now, math.inf, self.place, still)

    def begin(self, beliefs: Beliefs) -> Decided:
        """The first sample where all agents begin at time 0 and know each other's positions."""
        segments = beliefs.segments()
        after = self.decisions.first_of_all(segments.place)
        seen = self.law.system.measurements(segments.place)
        cell, costs = cell_in(seen, self.agent, self.agent), COSTS(after.spent[self.agent])
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

    def _within_reach(self, now: float, places: Points, beliefs: Beliefs, hidden: bool) -> Ints:
        """Others whose robots may come close before the next samples, silent ones included."""
        law, ages = self.law, beliefs.ages(now)
        doubt = np.where((ages <= law.silence) | hidden, 2.0 * ages, 0.0)
        time = 3.0 * float(law.longest.max()) + doubt
        apart = lengths(places - places[self.agent]) - 2.0 * law.settings.clearance
        close = (beliefs.boot >= 0) & (apart <= law.speed * time)
        close[self.agent] = False
        present = law.system.timeline.present_at(now)
        return np.flatnonzero(close) if present is None else present[close[present]]

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
        checksum, hidden, unheard = zlib.crc32(known.tobytes()) & 0xFF, False, False
        near = neighbours(law.system, places, p, now, known)
        if law.settings.clearance > 0.0:
            others = known & (beliefs.k > 0) & (np.arange(len(known)) != p)
            hidden = bool((beliefs.knows[others] != checksum).any())
            unheard = bool((beliefs.boot if present is None else beliefs.boot[present]).min() < 0)
            near = np.union1d(near, self._within_reach(now, places, beliefs, hidden))
        noted = np.zeros(len(near), dtype=belief_type(places.shape[1]))
        noted["agent"], noted["boot"], noted["k"] = near, beliefs.boot[near], beliefs.k[near]
        noted["age"], noted["position"] = beliefs.ages(now)[near], places[near]
        noted["velocity"] = segments.velocity_at(now)[near]
        commanded = after.hold[p]
        next_at, cruise = law.timing(p, self.k + 1, now, self.due, after)
        at_hand = Circumstances(
            int(known.sum()), law.system.agents if present is None else len(present),
            now - measured, self.stopped, now, noted, hidden, unheard,
        )  # fmt: skip
        hold, flags = limited(law, p, places[p], commanded, cruise, at_hand)
        flags |= law.flagged(self.k + 1, noted)
        before = segments.hold[p]
        row = np.zeros((), dtype=sample_type(len(hold)))
        for name, value in {
            "agent": p, "boot": self.boot, "k": self.k + 1, "flags": flags, "known": at_hand.known,
            "knows": checksum,
            "due": self.due, "time": now, "sent_at": self.sent_at, "measured": measured,
            "position": places[p], "before": before, "error": cell.error, "commanded": commanded,
            "hold": hold, "next_at": next_at, "cruise": cruise,
            "hold_error": lengths(before - hold), "nearest": cell.nearest,
            "neighbors": cell.neighbors, "empty": cell.empty,
            **dict(zip(COUNTS, costs, strict=True)),
        }.items():  # fmt: skip
            row[name] = value
        self.k, self.decisions.own.hold = self.k + 1, hold
        leaves = float(law.system.departures[p])
        self.due = min(next_at, leaves) if leaves > now else next_at
        announced = Announcement(p, self.boot, self.k, now, cruise, places[p], hold, known=checksum)
        return Decided(row, noted, announced)
