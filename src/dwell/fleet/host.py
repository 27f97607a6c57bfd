"""Host: a process with one or several agents, in real time."""

from __future__ import annotations

import contextlib
import heapq
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, final

import numpy as np

from dwell.agents.interfaces import decay_rate_of
from dwell.fleet.clock import Clock
from dwell.fleet.journal import JournalWriter
from dwell.fleet.plant import Plant
from dwell.fleet.transport import Arrival, Transport
from dwell.fleet.wire import OBSERVER, STOP, Codec, Control
from dwell.hybrid import Halt
from dwell.live.agent import Decided, LiveAgent
from dwell.live.beliefs import READY, SEGMENT, STOPPED, Announcement, Beliefs
from dwell.live.settings import HELLO, LiveLaw

FIRST = 1e-3  # seconds from the common start to the first sample of all agents
RETRY = 0.1  # seconds until a sample that could not be recorded is tried again


@final
class Host:
    """Runs agents on their own clock: each samples when it is due, on what has arrived by then."""

    def __init__(
        self,
        law: LiveLaw,
        agents: Sequence[LiveAgent],
        plants: Sequence[Plant],
        transport: Transport,
        codec: Codec,
        journal: JournalWriter,
        clock: Clock,
        *,
        shared_clock: bool,
        sources: Mapping[Any, Collection[int]] | None = None,
    ) -> None:
        n, dimension = law.system.agents, law.system.dimension
        fade = decay_rate_of(law.system.controller)
        self.law, self.clock, self.codec, self.journal = law, clock, codec, journal
        self.agents = {one.agent: one for one in agents}
        self.plants = dict(zip(self.agents, plants, strict=True))
        self.beliefs = Beliefs(n, dimension, fade, shared_clock=shared_clock)
        self._transport, self._sources = transport, sources
        self.started = False  # the time 0 of all agents is known
        self.stopped = False  # the emergency stop has come
        self.over = False  # the process shall end
        self.watch: Callable[[Host], None] = lambda host: None  # called some 20 times a second
        self.unrecorded = 0  # samples that could not be decided or recorded
        self._said = ""
        self._copies: list[tuple[float, bytes]] = []  # announcements to be sent again, and when
        self._last: dict[int, bytes] = {}  # the last announcement of each agent
        self._decided: dict[int, tuple[Any, Decided | None]] = {}  # first samples, not yet taken

    # Before the run.

    def announce_standing(self) -> None:
        """Announce the position of each agent that has not sampled yet."""
        now = self.clock.now()
        ready = self.known() == self.law.system.agents
        for p, agent in self.agents.items():
            agent.place = self.plants[p].pose(now).position
            self._announce(agent.standing(now)._replace(kind=READY if ready else SEGMENT))

    def known(self) -> int:
        """How many agents are known now."""
        return int(self.beliefs.known(self.clock.now(), self.law.silence).sum())

    def muster(self, ready: Callable[[], bool], patience: float, until: float) -> None:
        """Announce the agents until all others are known, or a quorum after `patience` seconds.

        It ends without them at the time `until`.
        """
        began = self.clock.now()
        while not self.over and self.clock.now() < until:
            self.announce_standing()
            now = self.clock.sleep(self.clock.now() + HELLO)
            self.hear(now)
            known = self.known()
            waited = now - began > patience
            enough = known >= self.law.quorum(self.law.system.agents)
            if ready() and (known == self.law.system.agents or (waited and enough)):
                return

    # The run.

    def run(self, until: float) -> None:
        """Sample until a time, or until the process shall end."""
        if self.clock.now() < 0.0 and self.beliefs.shared:
            self.beliefs.stand_until(FIRST)
            self._decide_first()
        for p in self.agents.keys() - self._decided.keys():
            self.agents[p].due = max(self.agents[p].due, self.clock.now())
        queue = [(FIRST if p in self._decided else q.due, p) for p, q in self.agents.items()]
        heapq.heapify(queue)
        while queue and not self.over:
            due, p = queue[0]
            now = self.clock.sleep(min(due, until, *(at for at, _ in self._copies[:1])))
            self._send_copies(now)
            self.hear(now)
            if self.stopped and not all(one.stopped for one in self.agents.values()):
                queue = self._stop_all()
                heapq.heapify(queue)
                continue
            if now >= until:
                return
            if now < due:
                continue
            heapq.heapreplace(queue, (self.sample(p), p))

    def _send_copies(self, now: float) -> None:
        while self._copies and self._copies[0][0] <= now:
            self._transport.send(heapq.heappop(self._copies)[1], now)

    def _decide_first(self) -> None:
        """Make the first decisions before the common start, up to which all agents stand.

        Otherwise all processes would compute at the same instant, and most would begin late.
        """
        for p, agent in self.agents.items():
            if self.clock.now() < 0.0 and self.plants[p].exact:
                undo, pose = agent.saved(), self.plants[p].pose(FIRST)
                try:
                    decided = agent.sample(FIRST, pose.position, pose.time, self.beliefs)
                    self._decided[p] = undo, decided
                except Halt:  # the first sample will say so
                    agent.restore(undo)

    def sample(self, p: int, at: float | None = None) -> float:
        """Sample as agent p, record, move and announce; the time of its next sample.

        What cannot be decided, as another agent seems to be at the same place, or cannot be
        recorded is not done: the velocity that was announced ends by itself, and the agent tries
        again.
        """
        agent, now = self.agents[p], self.clock.now() if at is None else at
        undo, decided = self._decided.pop(p, (agent.saved(), None))
        try:
            if decided is None:
                pose = self.plants[p].pose(now)
                decided = agent.sample(now, pose.position, pose.time, self.beliefs)
            self.journal.sample(decided.sample, decided.beliefs)
        except (OSError, Halt) as fault:
            agent.restore(undo)
            self._say_once(f"agent {p} tries again in {RETRY:g} s: {fault}")
            self.unrecorded += 1
            return now + RETRY
        own = decided.announcement
        self.plants[p].hold(own.velocity, own.stamp, own.cruise)
        self._announce(own)
        agent.sent_at = self.clock.now()
        return agent.due

    def _say_once(self, says: str) -> None:
        """Print a line on the error stream unless it was the last one."""
        if says != self._said:
            print(f"dwell: {says}", file=sys.stderr)
        self._said = says

    def _stop_all(self) -> list[tuple[float, int]]:
        """Stand, record it and announce it at once; the next sample of each agent."""
        now = self.clock.now()
        self._copies.clear()
        for p, (undo, _) in self._decided.items():
            self.agents[p].restore(undo)
        self._decided.clear()
        for p, agent in self.agents.items():
            self.plants[p].stop(now)
            agent.stopped = True
        return [(self.sample(p, now), p) for p in self.agents]

    def _announce(self, own: Announcement) -> None:
        self.beliefs.put(own)
        own = own._replace(kind=STOPPED) if self.stopped else own
        datagram = self._last[own.agent] = self.codec.pack(own)
        self._transport.send(datagram, own.stamp)
        if own.k > 0:
            for later in self.law.repeats(own.agent):
                heapq.heappush(self._copies, (own.stamp + float(later), datagram))

    def hear(self, now: float) -> None:
        """Take in everything that has arrived."""
        self.watch(self)
        for one in self._transport.receive(now):
            message = self.codec.unpack(one.datagram)
            if isinstance(message, Control):
                self._obey(message, one)
            elif message is not None and self._is_from_its_sender(message.agent, one):
                self.stopped = self.stopped or message.kind == STOPPED  # also after a restart
                if message.agent in self.agents:
                    self.codec.refuse("own")
                elif not self.beliefs.receive(message, one.time) and message.k > 0:
                    self._refuse_old(message)

    def _refuse_old(self, message: Announcement) -> None:
        last = self.beliefs.boot[message.agent], self.beliefs.k[message.agent]
        if self.law.settings.copies == 1 or (message.boot, message.k) != last:
            self.codec.refuse("old")

    def _obey(self, message: Control, one: Arrival) -> None:
        """Stop by whosever message, and answer its repeats; begin by one of the observer alone."""
        if message.kind == STOP:
            for datagram in self._last.values() if self.stopped else ():
                self._transport.answer(datagram, one.source)
            self.stopped = True
        elif self._is_from_its_sender(OBSERVER, one) and not self.started:
            self.begin(message.stamp)

    def origin(self) -> float:
        """When the run began by the clocks of others that have begun; now if none has."""
        others = (self.beliefs.k > 0) & self.beliefs.known(self.clock.now(), self.law.silence)
        ahead = self.beliefs.offset[others] if others.any() else [self.clock.now()]
        return self.clock.origin + float(np.median(ahead))

    def begin(self, origin: float) -> None:
        """Count time from the beginning of the run."""
        self.beliefs.shift(self.clock.restart(origin))
        self.started = True

    def _is_from_its_sender(self, agent: int, one: Arrival) -> bool:
        if self._sources is None or agent in self._sources.get(one.source, ()):
            return True
        self.codec.refuse("source")
        return False

    def close(self) -> None:
        """Stop the robots, and close journal and transport."""
        with contextlib.ExitStack() as stack:  # all of it, whatever one of them raises
            stack.callback(self._transport.close)
            stack.callback(self.journal.close)
            stack.callback(self._note_end)
            for plant in self.plants.values():
                stack.callback(plant.close)

    def _note_end(self) -> None:
        dropped: dict[str, Any] = dict(self.codec.refused)
        with contextlib.suppress(OSError):  # a full disk: the samples are there
            self.journal.note(end=self.clock.now(), dropped=dropped, unrecorded=self.unrecorded)
