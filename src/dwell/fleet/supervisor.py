"""The supervisor: one process that forks the hosts of a fleet, and starts again those that die.

It runs by itself, so that hosts share its memory, compiled kernels included:
``python -m dwell.fleet.supervisor``, with a JSON object on its standard input. It writes one JSON
object per line: the ports of the hosts, then each start and each death. It ends its hosts when its
standard input closes.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import sys
import time
import traceback
from typing import Any, final

from dwell.fleet.clock import Clock
from dwell.fleet.configuration import plan_of
from dwell.fleet.host import Host
from dwell.fleet.plan import FleetPlan, rehearse, serve
from dwell.fleet.transport.local import endpoint

POLL = 0.05  # seconds between two searches for dead hosts
BACK = 0.3  # seconds until a host that died is started again
PRIORITY = 10  # among real-time processes
GRACE = 2.0  # seconds in which hosts end by themselves


@final
class Supervisor:
    """Hosts by number, with their endpoints, which survive them."""

    def __init__(
        self, plan: FleetPlan, groups: list[list[int]], transport: str, observer: int, origin: float
    ) -> None:
        self.plan, self.groups, self.origin = plan, groups, origin
        self.endpoints = [endpoint(transport, plan.run, len(plan.positions)) for _ in groups]
        self.ports = [one.port for one in self.endpoints]
        self.observer = observer
        self.boots = [0] * len(groups)
        self.running: dict[int, int] = {}  # process: number of its host
        self.waiting: dict[int, float] = {}  # number of a dead host: when it starts again
        self.begun = self.realtime = False
        self.events = 1  # the file that they are written to

    def say(self, **values: Any) -> None:
        """Write an event; it is lost if the launcher was killed."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.events, (json.dumps(values) + "\n").encode())

    def start(self, number: int) -> None:
        """Fork a host."""
        boot, self.boots[number] = self.boots[number], self.boots[number] + 1
        own, process = os.getpid(), os.fork()
        if process == 0:
            status = 1
            try:
                self._serve(number, boot, own)
                status = 0
            except Exception:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        self.running[process] = number
        self.say(started=number, boot=boot, pid=process)

    def _serve(self, number: int, boot: int, supervisor: int) -> None:
        """Be a host, in the process of its own, no longer than the supervisor lives."""
        for other, one in enumerate(self.endpoints):
            if other != number:
                one.close()
        gc.freeze()
        if self.realtime:
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
        plan, agents = self.plan, self.groups[number]
        offset, rate = (0.0, 1.0) if plan.faults is None else plan.faults.clock(min(agents))
        clock = Clock(self.origin, offset, rate)
        others = [port for q, port in enumerate(self.ports) if q != number]
        own = self.endpoints[number]
        sources = own.sources(self.observer, dict(zip(self.ports, self.groups, strict=True)))
        host = plan.host(
            f"host-{number:04d}", agents, own.open([*others, self.observer], agents, clock), clock,
            boot=boot, shared_clock=plan.shared_clock, sources=sources,
        )  # fmt: skip

        def watch(running: Host) -> None:
            running.over = running.over or os.getppid() != supervisor

        host.watch = watch
        serve(plan, host, returning=self.begun, alone=False)

    def reap(self, *, restart: bool) -> None:
        """Note hosts that have ended, and start dead ones again."""
        while self.running:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                break
            number, code = self.running.pop(process), os.waitstatus_to_exitcode(status)
            self.say(ended=number, boot=self.boots[number] - 1, code=code)
            if restart and code != 0:
                self.waiting[number] = time.monotonic() + BACK
        for number in [q for q, at in self.waiting.items() if at <= time.monotonic()]:
            del self.waiting[number]
            self.start(number)

    def end(self) -> None:
        """End all hosts: by themselves, then by force."""
        self.waiting.clear()
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
                os.kill(process, signal.SIGCONT)
        limit = time.monotonic() + GRACE
        while self.running and time.monotonic() < limit:
            self.reap(restart=False)
            time.sleep(POLL)
        for process in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        while self.running:
            self.reap(restart=False)
            time.sleep(POLL)


def supervise(config: dict[str, Any], restart: bool, events: int) -> None:
    """Start the hosts of a fleet and keep them until the standard input says so or closes."""
    plan = plan_of(config)
    rehearse(plan)
    transport, observer = config["transport"], int(config["observer"])
    boss = Supervisor(plan, config["groups"], transport, observer, time.monotonic())
    boss.realtime, boss.events = bool(config.get("realtime")), events
    boss.say(ports=boss.ports, origin=boss.origin)
    for number in range(len(boss.groups)):
        boss.start(number)
    while boss.running or boss.waiting:
        ready, _, _ = select.select([sys.stdin], [], [], POLL)
        if ready:
            line = sys.stdin.readline()
            if not line:
                break
            boss.origin, boss.begun = float(json.loads(line)["origin"]), True
        boss.reap(restart=restart)
    boss.end()


def main() -> None:
    """Read the configuration from the standard input, and supervise."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the process that shows progress
    events = os.dup(1)
    os.dup2(2, 1)  # what a law prints is no event
    sys.stdout = sys.stderr
    config = json.loads(sys.stdin.readline())
    supervise(config, bool(config.get("restart", True)), events)


if __name__ == "__main__":
    main()
