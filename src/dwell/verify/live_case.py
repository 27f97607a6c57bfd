"""A live run to be judged, and what several findings share about its samples and beliefs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Ints, at_time
from dwell.agents import Trajectory
from dwell.live.record import STOP, LiveRecord
from dwell.live.settings import LiveLaw

UNSAVED = 1.0  # seconds of records that a power loss may take
CLOCKS = 4.0  # times the uncertainty of one clock: see `unsure`


@final
@dataclass(frozen=True, eq=False)
class LiveCheck:
    """A live run to be judged, with its law."""

    run: Trajectory
    live: LiveRecord
    law: LiveLaw

    def where(self, k: int) -> str:
        """Sample k in words."""
        row = self.live.samples[k]
        return f"agent {row['agent']}, boot {row['boot']}, sample {row['k']}, " + at_time(
            float(self.live.times[k])
        )

    def where_believed(self, k: int) -> str:
        """Belief k in words."""
        one = self.live.beliefs[k]
        sender = f"agent {one['agent']}, boot {one['boot']}, sample {one['k']}"
        return f"{sender}, as believed by {self.where(int(self.live.owner[k]))}"

    @cached_property
    def senders(self) -> Ints:
        """The sample that each belief comes from; -1 where there is none."""
        rows, beliefs = _keys(self.live.samples), _keys(self.live.beliefs)
        if not len(rows):
            return np.full(len(beliefs), -1)
        order = np.argsort(rows)
        found = order[np.minimum(np.searchsorted(rows, beliefs, sorter=order), len(rows) - 1)]
        return np.where(rows[found] == beliefs, found, -1)

    @cached_property
    def follows(self) -> np.ndarray:
        """Whether the sample before is recorded too, with nothing missing between."""
        follows: np.ndarray = (self.live.previous >= 0) & (self.live.skipped == 0)
        return follows

    @cached_property
    def quiet(self) -> Floats:
        """For how long after each sample its agent holds its velocity for certain."""
        live, agent = self.live, self.live.samples["agent"]
        quiet: Floats = self.law.shortest[agent].copy()
        if self.run.system.traits.timer is None:
            return np.zeros(len(quiet))
        for p in range(self.run.system.agents):  # another boot, or the stop, may come sooner
            own = np.flatnonzero(agent == p)
            rows = live.samples[own]
            changes = np.diff(rows["boot"].astype(np.int64)) != 0
            changes |= rows["flags"][1:] & STOP > 0
            soon = np.where(changes, np.diff(live.times[own]), np.inf)
            quiet[own[:-1]] = np.minimum(quiet[own[:-1]], soon)
        return quiet

    @cached_property
    def first(self) -> Ints:
        """The first sample of the boot that each belief is about; -1 where there is none."""
        rows = np.flatnonzero(self.live.previous < 0)
        known = dict(zip(_boots(self.live.samples[rows]), rows.tolist(), strict=True))
        return np.array([known.get(one, -1) for one in _boots(self.live.beliefs)], dtype=np.int64)

    @cached_property
    def stands(self) -> np.ndarray:
        """Whether each belief is of an agent that has not sampled since it was started."""
        stands: np.ndarray = self.live.beliefs["k"] == 0
        return stands

    @cached_property
    def excused(self) -> np.ndarray:
        """Beliefs of messages shortly after the last record of a process that was killed."""
        live = self.live
        excused = np.zeros(len(live.beliefs), dtype=bool)
        for agent, boot in live.cut:
            own = (live.samples["agent"] == agent) & (live.samples["boot"] == boot)
            last = int(live.samples["k"][own].max(initial=0))
            end = float(live.times[own].max(initial=-np.inf))
            lost = UNSAVED + float(self.law.longest[agent]) + CLOCKS * live.uncertainty
            of = (live.beliefs["agent"] == agent) & (live.beliefs["boot"] == boot)
            soon = self.when - live.beliefs["age"] <= end + lost
            excused |= of & (live.beliefs["k"] > last) & (soon | np.isinf(end))
        return excused

    @cached_property
    def when(self) -> Floats:
        """The time of the sample that each belief belongs to."""
        when: Floats = self.live.times[self.live.owner]
        return when

    @cached_property
    def unsure(self) -> Floats:
        """How far each believed agent may be from where it is believed to be.

        It holds its velocity for T1, and stands until its first sample. The clocks of two agents
        are both unsure, and an age is short by the quickest transit of a message.
        """
        live, speed = self.live, self.law.speed
        if not len(live.samples):
            return np.zeros(0)
        held = np.where(self.senders < 0, 0.0, self.quiet[self.senders])
        since = np.where(self.first < 0, np.inf, live.times[self.first])
        late = np.where(self.stands, self.when - since, 2.0 * (live.beliefs["age"] - held))
        time = np.maximum(late, 0.0) + CLOCKS * live.uncertainty
        unsure: Floats = np.where(time > 0.0, speed * np.where(time > 0.0, time, 1.0), 0.0)
        return unsure


def _keys(records: np.ndarray) -> np.ndarray:
    """Agent, boot and k as one number."""
    agent, boot, k = (records[name].astype(np.uint64) for name in ("agent", "boot", "k"))
    key: np.ndarray = (agent << np.uint64(48)) | (boot << np.uint64(32)) | k
    return key


def _boots(records: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(records["agent"].tolist(), records["boot"].tolist(), strict=True))
