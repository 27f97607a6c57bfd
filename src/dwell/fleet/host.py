"""Host: a process with one or several agents, in real time."""

from __future__ import annotations

import contextlib
import heapq
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, final

import numpy as np

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
REMIND = 1.0  # seconds between announcements of a robot that has left, and stands there


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
        fade = law.system.traits.fade
        self.law, self.clock, self.codec, self.journal = law, clock, codec, journal
        self.agents = {one.agent: one for one in agents}
        self.plants = dict(zip(self.agents, plants, strict=True))
        self.beliefs = Beliefs(n, dimension, fade, shared_clock=shared_clock)
        self._transport, self._sources = transport, sources
        self.started = False  # the time 0 of all agents is known
        self.stopped = False  # the emergency stop has come
        self.over = False  # the process shall end
        self.watch: Callable[[Host], None] = lambda host: None  # called some 20 times a second
        self.refused_from: dict[int, str] = {}  # by sender, why its last message was refused
        self.unrecorded = 0  # samples that could not be decided or recorded
        self.recorded: dict[int, tuple[int, int]] = {}  # boot and k before this start
        self._doubles: set[int] = set()  # agents that another process runs, too
        self._stands: dict[int, Announcement] = {}  # of agents that have left
        self._reminded = -math.inf
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
            pose = self.plants[p].pose(now)
            agent.place = pose.position
            agent.may_move(now)  # from when on others have heard of it
            standing = agent.standing(now)._replace(pose_age=max(now - pose.time, 0.0))
            self._announce(standing._replace(kind=READY if ready else SEGMENT))

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
            next_copy = self._copies[0][0] if self._copies else math.inf
            now = self.clock.sleep(min(due, until, next_copy))
            self._send_copies(now)
            self.hear(now)
            if halted := self._to_be_halted():
                queue = [one for one in queue if one[1] not in halted] + self._halt(halted)
                heapq.heapify(queue)
                continue
            if now >= until:
                return
            self._remind(now)
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

    def _to_be_halted(self) -> list[int]:
        """The agents that must stand from now on, and do not yet."""
        return [
            p
            for p, one in self.agents.items()
            if (self.stopped and not one.stopped) or (p in self._doubles and not one.double)
        ]

    def _halt(self, agents: list[int]) -> list[tuple[float, int]]:
        """Stand, record it and announce it at once; the next sample of each agent."""
        now = self.clock.now()
        self._copies.clear()
        for p in agents:
            if p in self._decided:
                self.agents[p].restore(self._decided.pop(p)[0])
            self.plants[p].stop(now)
            self.agents[p].stopped, self.agents[p].double = self.stopped, p in self._doubles
        return [(self.sample(p, now), p) for p in agents]

    def _remind(self, now: float) -> None:
        """Announce again where robots stand that have left: a message may be lost."""
        if now < self._reminded + REMIND or self.law.settings.clearance == 0.0:
            return
        self._reminded = now
        for p, own in self._stands.items():
            if math.isinf(self.agents[p].due):
                self._announce(own)

    def _announce(self, own: Announcement) -> None:
        now, self._stands[own.agent] = self.clock.now(), own
        own = self.agents[own.agent].message(own, now, self.beliefs)
        self.beliefs.put(own, now)
        self._read_echoes(own, now)
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
            self._note_refused(message is None, one.source)
            if isinstance(message, Control):
                self._obey(message, one)
            elif message is not None and self._is_from_its_sender(message.agent, one):
                self.stopped = self.stopped or message.kind == STOPPED  # also after a restart
                if message.agent in self.agents:
                    self._hear_own(message)
                elif self.beliefs.receive(message, one.time):
                    self._read_echoes(message, one.time)
                elif message.k > 0:
                    self._refuse_old(message)

    def _read_echoes(self, message: Announcement, arrived: float) -> None:
        for agent in self.agents.values():
            if agent.agent != message.agent:
                agent.lease.hear(message, arrived, self.beliefs)

    def _hear_own(self, message: Announcement) -> None:
        """Stand if another process runs as this agent; messages of earlier starts may be late."""
        p, own = message.agent, self.agents[message.agent]
        late = message.boot < own.boot and (
            message.k == 0 or (message.boot, message.k) <= self.recorded.get(p, (-1, 0))
        )
        if message.incarnation == own.incarnation or late:
            self.codec.refuse("own")
            return
        self.codec.refuse("double")
        self._doubles.add(p)
        self._say_once(f"agent {p} stands: another process runs as agent {p} too; end one of them")

    def _note_refused(self, refused: bool, source: Any) -> None:
        """Note of an agent, by its address, whether its last message was refused, and why."""
        for p in () if self._sources is None else self._sources.get(source, ()):
            if refused:
                self.refused_from[p] = self.codec.reason
            else:
                self.refused_from.pop(p, None)

    def _refuse_old(self, message: Announcement) -> None:
        p = message.agent
        again = (message.boot, message.k) == (self.beliefs.boot[p], self.beliefs.k[p])
        again &= message.incarnation == self.beliefs.incarnation[p]
        expected = self.law.settings.copies > 1 or self.law.system.departures[p] <= message.stamp
        if not (again and expected):
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
        later = self.clock.restart(origin)
        self.beliefs.shift(later)
        for agent in self.agents.values():
            agent.shift(later)
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
