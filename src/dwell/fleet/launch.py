"""Launch: all agents of a fleet on this machine, and an observer that follows them."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell.errors import FleetError
from dwell.fleet.clock import Clock
from dwell.fleet.configuration import configured
from dwell.fleet.plan import FleetPlan
from dwell.fleet.transport import Transport
from dwell.fleet.transport.local import endpoint
from dwell.fleet.wire import START, STOP
from dwell.live.beliefs import READY, Announcement, Beliefs
from dwell.scenario import Scenario

FEW = 64  # agents up to which each is a process of its own
LEAD = 0.3  # seconds from the announcement of the start to the start
MUSTER = 60.0  # seconds in which all agents must be there
LATE_START = 2.0  # seconds in which all agents that are present have sampled
LATE = 5.0  # seconds after the horizon in which hosts must have ended
TICK = 0.05  # seconds between two rounds of the observer


@final
@dataclass
class FleetStatus:
    """What an observer knows of a running fleet."""

    time: float = -1.0  # below 0: the agents have not begun
    known: int = 0  # agents heard of lately
    samples: int = 0  # announcements so far
    deaths: int = 0
    announcements: tuple[Announcement, ...] = ()  # since the status before, by the launcher's clock


@final
class Observer:
    """Hears all announcements of a fleet, announces the start, and may stop it."""

    def __init__(self, plan: FleetPlan, clock: Clock, transport: str) -> None:
        n, dimension = plan.positions.shape
        self.endpoint = endpoint(transport, plan.run, n)
        self.clock, self.codec = clock, plan.codec()
        fade = plan.law.system.traits.fade
        self.beliefs = Beliefs(n, dimension, fade, shared_clock=plan.shared_clock)
        self.silence, self.samples = plan.law.silence, 0
        self._fresh: list[Announcement] = []
        self.ready: set[int] = set()  # agents that have known all others
        self._transport: Transport | None = None

    def connect(self, ports: list[int]) -> None:
        """Send to the hosts at these ports from now on."""
        self._transport = self.endpoint.open(ports, (), self.clock)

    def close(self) -> None:
        """Close what is open."""
        if self._transport is not None:
            self._transport.close()
        self.endpoint.close()

    def hear(self) -> None:
        """Take in everything that has arrived."""
        assert self._transport is not None
        for one in self._transport.receive(self.clock.now()):
            message = self.codec.unpack(one.datagram)
            if isinstance(message, Announcement) and self.beliefs.receive(message, one.time):
                self.samples += message.k > 0
                if message.kind == READY:
                    self.ready.add(message.agent)
                by_own_clock = message.stamp + float(self.beliefs.offset[message.agent])
                self._fresh.append(message._replace(stamp=by_own_clock))

    def say(self, kind: int, stamp: float) -> None:
        """Send a message to all hosts."""
        assert self._transport is not None
        self._transport.send(self.codec.control(kind, stamp), self.clock.now())

    def status(self, deaths: int, begun: bool) -> FleetStatus:
        """What is known now."""
        now = self.clock.now()
        known = int(self.beliefs.known(now, self.silence).sum())
        fresh, self._fresh = tuple(self._fresh), []
        return FleetStatus(now if begun else -1.0, known, self.samples, deaths, fresh)


@final
class FleetProcess:
    """The supervisor of a fleet, as a process, and what it says."""

    def __init__(self, config: dict[str, Any]) -> None:
        variables = {**os.environ, "DWELL_PROGRESS": "0"}
        variables |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dwell.fleet.supervisor"], env=variables,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
        )  # fmt: skip
        self.write(config)
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        if not first:
            raise FleetError("the agents could not be started; see the lines above")
        ready = json.loads(first)
        self.ports: list[int] = ready["ports"]
        self.origin: float = ready["origin"]  # of the clocks of hosts before the common start
        self.pids: dict[int, int] = {}  # of each host
        self.deaths = 0
        self.failed: list[int] = []  # hosts that ended with an error of their own
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def write(self, values: dict[str, Any]) -> None:
        """Send the supervisor a line."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended, which `over` tells
            self._process.stdin.write(json.dumps(values) + "\n")
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            if "started" in event:
                self.pids[event["started"]] = event["pid"]
            elif event["code"] != 0:
                self.deaths += 1
                self.pids.pop(event["ended"], None)
                if event["code"] > 0:
                    self.failed.append(event["ended"])

    @property
    def pid(self) -> int:
        """The number of the supervisor's process."""
        return self._process.pid

    @property
    def killed(self) -> str:
        """How the supervisor was ended before its time; nothing if it was not."""
        code = self._process.poll()
        if code is None or code == 0:
            return ""
        by = f"by signal {-code}" if code < 0 else f"with the exit code {code}"
        return f"the supervisor of the agents (process {self.pid}) ended {by}"

    @property
    def over(self) -> bool:
        """Whether all hosts have ended."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End the hosts, and wait for them."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


def groups_of(agents: int, hosts: int | None) -> list[list[int]]:
    """Which agents each host has: one each for few agents, else several."""
    if hosts is None:
        hosts = agents if agents <= FEW else min(agents, 2 * (os.cpu_count() or 1))
    return [list(map(int, some)) for some in np.array_split(np.arange(agents), min(hosts, agents))]


def launch(
    scenario: Scenario,
    plan: FleetPlan,
    *,
    transport: str = "udp",
    hosts: int | None = None,
    restart: bool = True,
    realtime: bool = False,
    watch: Callable[[FleetStatus, FleetProcess], None] | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> tuple[float, str]:
    """Run a fleet on this machine until its horizon, or until `stopping`.

    Returns the time that it reached, and what ended it before, if its own supervisor did not.
    """
    clock = Clock(time.monotonic())
    observer = Observer(plan, clock, transport)
    groups = groups_of(len(plan.positions), hosts)
    config = configured(scenario, plan.folder, plan.run)
    config |= {"observer": observer.endpoint.port, "groups": groups, "restart": restart}
    config |= {"realtime": realtime, "transport": transport}
    fleet = FleetProcess(config)
    reached, killed = 0.0, ""
    try:
        clock.origin = fleet.origin
        observer.connect(fleet.ports)
        if not _mustered(observer, fleet, watch, stopping, plan.law.settings.patience):
            return 0.0, ""
        clock.origin = time.monotonic() + LEAD
        fleet.write({"origin": clock.origin})
        while not fleet.over and clock.now() < plan.until + LATE:
            if (observer.beliefs.k == 0).any():  # a message may be lost
                observer.say(START, clock.origin)
            observer.hear()
            reached = min(clock.now(), plan.until)
            if watch is not None:
                watch(observer.status(fleet.deaths, begun=True), fleet)
            if stopping():
                for _ in range(5):
                    observer.say(STOP, clock.now())
                    time.sleep(TICK)
                break
            time.sleep(TICK)
        killed = fleet.killed
    finally:
        fleet.close()
        observer.close()
    if reached <= 0.0 and not stopping():
        raise FleetError("the agents ended before they began; see the lines above")
    failed = sorted(set(fleet.failed))
    ahead = 0.0 if plan.faults is None else plan.faults.clock_offset  # a clock ends that sooner
    due = plan.law.system.arrivals + LATE_START + ahead <= reached
    never = (observer.beliefs.boot == 0) & (observer.beliefs.k == 0)
    absent = np.flatnonzero(never & due)
    if failed or len(absent):
        says = f"the processes of hosts {_listed(failed)} failed; see the lines above, and"
        says = says if failed else f"agents {_listed(absent)} have not begun;"
        raise FleetError(f"{says} keep the rest with dwell merge {plan.folder} --out RUN.nc")
    return max(reached, 0.0), killed


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _mustered(
    observer: Observer,
    fleet: FleetProcess,
    watch: Callable[[FleetStatus, FleetProcess], None] | None,
    stopping: Callable[[], bool],
    patience: float,
) -> bool:
    """Wait for all agents, and until they know each other or for `patience` seconds more.

    Returns False if `stopping` came first.
    """
    limit, there = time.monotonic() + MUSTER, math.inf
    while len(observer.ready) < len(observer.beliefs.boot):
        if len(observer.beliefs.announced) == len(observer.beliefs.boot):
            there = min(there, time.monotonic())
        if time.monotonic() - there > patience:
            break
        if stopping():
            return False
        silent = np.flatnonzero(observer.beliefs.boot < 0)
        if fleet.over or (len(silent) and time.monotonic() > limit):
            says = f"agents {_listed(silent)} have not announced themselves within {MUSTER:g} s"
            raise FleetError(f"{says}; see the lines above")
        observer.hear()
        if watch is not None:
            watch(observer.status(fleet.deaths, begun=False), fleet)
        time.sleep(TICK)
    return True
