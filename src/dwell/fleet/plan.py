"""FleetPlan: what every process of a fleet has in common, and how one of them starts."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from dwell._types import Points
from dwell.agents.segments import Segments
from dwell.errors import InputError
from dwell.fleet.clock import Clock
from dwell.fleet.faults import FaultyTransport
from dwell.fleet.host import Host
from dwell.fleet.journal import JournalWriter, fleet_journals
from dwell.fleet.plant import Integrator, Plant
from dwell.fleet.transport import Transport
from dwell.fleet.wire import Codec, new_incarnation
from dwell.live.agent import LiveAgent
from dwell.live.beliefs import Beliefs
from dwell.live.faults import Faults
from dwell.live.record import STOP
from dwell.live.settings import LiveLaw


class Last(NamedTuple):
    """Where a simulated robot is, when its agent may sample, and what it has recorded.

    It is at its start, or where its last segment has led. Others count on its shortest interval
    after its last sample, whether or not it has been started again since.
    """

    place: Points
    due: float = -math.inf
    stopped: bool = False  # by the emergency stop
    boot: int = -1
    k: int = 0


@final
@dataclass(frozen=True, eq=False)
class FleetPlan:
    """A fleet: its law, where agents start, how long it runs, and where journals are written."""

    law: LiveLaw
    positions: Points  # (N, n) at the start
    until: float
    folder: Path  # of the journals
    run: str  # its name; messages of other runs are refused
    faults: Faults | None = None
    key: bytes | None = None  # shared by all processes, for messages with a seal
    about: dict[str, Any] = field(default_factory=dict)  # what journals say of the run

    @property
    def shared_clock(self) -> bool:
        """Whether all processes of one machine have the same clock: no fault makes it wrong."""
        return self.faults is None or self.faults.clock_offset == self.faults.clock_rate == 0.0

    def codec(self) -> Codec:
        """What writes and reads the messages of this run."""
        n, dimension = self.positions.shape
        scenario, echoes = self.about.get("digest", ""), self.law.settings.clearance > 0.0
        return Codec(self.run, n, dimension, self.key, scenario, echoes=echoes)

    def next_boot(self, name: str) -> int:
        """The number after that of the last start of the process `name`."""
        ends = [one.stem.rpartition("-")[2] for one in self.folder.glob(f"{name}-*.journal")]
        return max([int(end) for end in ends if end.isdecimal()], default=-1) + 1

    def origin(self, name: str) -> float | None:
        """When the clock of the process `name` began before it ended; None if that is not known.

        Refused if it ended at the horizon, or belongs to another run.
        """
        for one in fleet_journals(self.folder, f"{name}-*", last_first=True):
            if one.header["run"] != self.run:
                raise self._occupied(f"of the run {one.header['run']!r}")
            if one.started is None:  # it was ended while it waited
                continue
            here = one.header["machine"] == machine()
            ended = one.ended if one.ended is not None else -math.inf
            if max(ended, time.monotonic() - one.started if here else ended) >= self.until:
                raise self._occupied("of a run that is over")
            if here:
                return one.started
        return None

    def _occupied(self, by: str) -> InputError:
        says = f"{self.folder} holds journals {by}; merge them, and give another folder"
        return InputError(says, code="fleet.journal")

    def host(
        self,
        name: str,
        agents: Collection[int],
        transport: Transport,
        clock: Clock,
        *,
        boot: int,
        shared_clock: bool,
        plants: Mapping[int, Plant] | None = None,
        sources: Mapping[Any, Collection[int]] | None = None,
    ) -> Host:
        """The process `name` with some agents, ready to muster."""
        incarnation = new_incarnation()
        last = {p: self._last(name, p, clock.now()) for p in agents}
        begins = {p: one.place for p, one in last.items()}
        own = plants or {p: self._integrator(at, clock) for p, at in begins.items()}
        header = {
            **self.about, "run": self.run, "host": name, "agents": list(agents), "boot": boot,
            "dimension": self.positions.shape[1], "shared_clock": shared_clock,
            "exact": all(plant.exact for plant in own.values()), "machine": machine(),
            "incarnation": f"{incarnation:016x}",
        }  # fmt: skip
        journal = JournalWriter(self.folder / f"{name}-{boot:04d}.journal", header, self.key)
        if self.faults is not None:
            transport = FaultyTransport(transport, self.faults, min(agents))
        began = clock.now() if boot > 0 else -math.inf
        each = [LiveAgent(self.law, p, boot, begins[p], incarnation, began) for p in agents]
        host = Host(
            self.law, each, [own[p] for p in agents], transport, self.codec(), journal, clock,
            shared_clock=shared_clock, sources=sources,
        )  # fmt: skip
        host.beliefs.position[:] = self.positions  # of robots that are not there yet
        for p, one in last.items():
            host.agents[p].due = max(host.agents[p].due, one.due)
            host.stopped = host.stopped or one.stopped
            host.recorded[p] = one.boot, one.k
        return host

    def _integrator(self, place: Points, clock: Clock) -> Integrator:
        return Integrator(place, self.law.system.traits.fade, clock.now())

    def _last(self, name: str, agent: int, now: float) -> Last:
        """What the journals say of an agent before this start."""
        for before in fleet_journals(self.folder, f"{name}-*", last_first=True):
            last = before.samples[before.samples["agent"] == agent][-1:]
            if len(last):
                segment = Segments(
                    last["time"], last["position"], last["hold"], last["next_at"], last["cruise"],
                    self.law.system.traits.fade,
                )  # fmt: skip
                ends = before.header["machine"] != machine()  # its clock has begun anew since then
                place = np.array(segment.at(math.inf if ends else now)[0])
                due = -math.inf if ends else float(last["time"][0] + self.law.shortest[agent])
                stopped = bool(last["flags"][0] & STOP)
                return Last(place, due, stopped, int(last["boot"][0]), int(last["k"][0]))
        return Last(self.positions[agent].copy())


def machine() -> str:
    """What tells one start of one machine from all others: its monotonic clock goes on."""
    known = Path("/proc/sys/kernel/random/boot_id")
    return known.read_text().strip() if known.exists() else f"{uuid.getnode():x}"


def rehearse(plan: FleetPlan, number: int = 0) -> float:
    """Make decisions, so that the first sample finds all modules and kernels loaded.

    Returns the processor time of one, in seconds, without the first ones.
    """
    n, dimension = plan.positions.shape
    beliefs = Beliefs(n, dimension, plan.law.system.traits.fade, shared_clock=True)
    for p in range(n):
        beliefs.put(LiveAgent(plan.law, p, 0, plan.positions[p]).standing(0.0))
    place, took = plan.positions[number], []
    agent = LiveAgent(plan.law, number, 0, place)
    for t in (0.0, 1e-3, 2e-3, 3e-3, 4e-3):
        began = time.process_time()
        beliefs.put(agent.sample(t, place, t, beliefs).announcement)
        took.append(time.process_time() - began)
    return float(np.median(took[2:]))


def serve(plan: FleetPlan, host: Host, *, returning: bool, alone: bool) -> None:
    """Run a host to its end: muster, sample until the horizon, close.

    returning : the run has begun, so that there is no common start to wait for.
    alone : no process announces a common start; the clock begins when the agents have mustered, or
        is that of agents that have begun.
    """

    def end(number: int, frame: object) -> None:
        host.over = True

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    host.started = returning or alone
    try:
        rehearse(plan)
        waits = min(float(plan.law.longest.max()), plan.law.silence)  # all others have sent by then
        patience = waits if returning else plan.law.settings.patience
        host.muster(lambda: host.started, patience, plan.until if returning else math.inf)
        if host.over:
            return
        if alone and not returning:
            host.begin(host.origin())
        with contextlib.suppress(OSError):  # a full disk
            host.journal.note(started=host.clock.origin, pid=os.getpid())
        host.run(plan.until)
    finally:
        host.close()
        for number, handler in before.items():
            signal.signal(number, handler)
