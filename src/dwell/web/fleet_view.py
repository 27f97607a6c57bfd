"""A live fleet on the page: a server in a thread, and a job whose rows are announcements."""

from __future__ import annotations

import json
import math
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.agents import CoverageSystem
from dwell.agents.trajectory import Snapshots
from dwell.cells.backend import is_expensive
from dwell.errors import AgentsError, InputError
from dwell.exports.drawn_tables import drawn_scenario, drawn_tables
from dwell.exports.messages import begin_message, sample_columns
from dwell.live.beliefs import Announcement, Beliefs
from dwell.live.table import standing
from dwell.measure.metrics import measure_at
from dwell.scenario import Scenario
from dwell.web.errors import problem
from dwell.web.http_server import prepared
from dwell.web.jobs.registry import Job, JobState, report
from dwell.web.limits import Limits
from dwell.web.wire_format import BEGIN, EVENTS, SAMPLES, Spool, pack

FRAGMENT = "#f"  # by which the page knows that it follows a fleet
DELAY = 0.2  # seconds in which the announcement of an earlier segment may still arrive
EVERY = 0.1  # seconds between two messages to the page
MEASURED = 0.5  # seconds between two metric samples
STARTING = 30.0  # seconds that the server may take to start


@final
class PageView:
    """Shows a fleet on the page as its agents announce their segments.

    Times, and the stamps of announcements, are those of the launcher's clock. The page is `DELAY`
    behind. Cells that take long to measure are not measured.
    """

    def __init__(
        self, scenario: Scenario, system: CoverageSystem, positions: Points, *,
        host: str = "127.0.0.1", port: int = 8000, browser: bool = False,
    ) -> None:  # fmt: skip
        n, fade = system.agents, system.traits.fade
        self._system, self._beliefs = system, Beliefs(n, system.dimension, fade, shared_clock=True)
        self._beliefs.position[:] = positions
        self._measures = not is_expensive(system.ground)
        self._horizon = scenario.run.horizon
        self._waiting: list[Announcement] = []
        self._rows = {EVENTS: 0, SAMPLES: 0}
        self._last, self._due, self._measure_at = 0.0, -math.inf, 0.0
        name = secrets.token_hex(8)
        about = {
            "run": name, "scenario": drawn_scenario(system, scenario),
            "start": positions[: scenario.agents.count].tolist(),
        }  # fmt: skip
        kind = {
            "law": scenario.controller.kind, "agents": n, "dimension": system.dimension,
            "horizon": self._horizon, "name": scenario.name,
        }  # fmt: skip
        begin = begin_message(system, standing(system, positions), scenario)
        text = json.dumps(drawn_tables(system, begin), allow_nan=False).encode()
        self._measured(positions[None], np.zeros(1, np.int64), np.zeros(1))  # compiles
        with ExitStack() as stack:
            limits = Limits(workers=1, drain=0.1)  # runs on the page end with the fleet
            self._server, listening = stack.enter_context(
                prepared(host, port, limits, FRAGMENT, browser=browser, fleet=about)
            )
            self._server.silent, folder = True, self._server.folder
            self._job = Job(name, kind, folder / "none", folder / "fleet", live=False, fleet=True)
            self._job.status = JobState.RUNNING
            self._server.registry.follow(self._job)
            self._spool = stack.enter_context(Spool(self._job.spool))
            report(self._job, self._spool.put(BEGIN, 0, 0, text))
            self._thread = threading.Thread(
                target=self._server.run, args=([listening],), daemon=True
            )
            self._thread.start()
            until = time.monotonic() + STARTING
            while not self._server.started:
                if not self._thread.is_alive() or time.monotonic() > until:
                    raise InputError("the page could not be served", code="web.address")
                time.sleep(0.01)
            self._stack = stack.pop_all()
        self.address = self._server.address

    def update(self, now: float, announcements: Sequence[Announcement]) -> None:
        """Take in announcements, and send the page what is complete if it is time."""
        self._waiting += [one for one in announcements if one.k > 0]
        if now < self._due:
            return
        self._due = now + EVERY
        self._show(now - DELAY)
        share = min(max(now - DELAY, 0.0) / self._horizon, 1.0) if self._horizon else 1.0
        self._server.later(report, self._job, {"doing": "live", "progress": share})

    def _show(self, until: float) -> None:
        """Send the rows up to a time, and a metric sample then if it is due."""
        self._flush(until)
        if self._measures and until >= self._measure_at:
            self._measure_at = until + MEASURED
            self._last = max(self._last, until)
            self._sample(self._last)

    def _flush(self, until: float) -> None:
        """Write a row for each segment that began by `until`; late ones as from the last row on."""
        ready = sorted((one for one in self._waiting if one.stamp <= until), key=lambda a: a.stamp)
        self._waiting = [one for one in self._waiting if one.stamp > until]
        agents, times, places, holds, cruises = [], [], [], [], []
        for one in ready:
            if not self._beliefs.receive(one, one.stamp):
                continue
            self._last = max(self._last, one.stamp)
            segments = self._beliefs.segments()
            agents.append(one.agent)
            times.append(self._last)
            places.append(segments.at(self._last))
            holds.append(segments.velocity_at(self._last)[one.agent])
            cruises.append(max(one.cruise - (self._last - one.stamp), 0.0))
        if not agents:
            return
        rows, who, when = np.arange(len(agents)), np.array(agents), np.array(times)
        configurations = np.array(places)
        errors, neighbours = self._measured(configurations, who, when)
        self._write(EVENTS, {
            "time": when, "agent": who, "positions": configurations[rows, who],
            "holds": np.array(holds), "errors": errors, "next_at": when + np.array(cruises),
            "cruise": np.array(cruises), "received": neighbours,
        })  # fmt: skip

    def _measured(self, configurations: Points, who: Ints, when: Floats) -> tuple[Points, Ints]:
        """Errors and numbers of neighbours, of one agent in each configuration."""
        rows = np.arange(len(who))
        if not self._measures:
            return np.zeros((len(who), self._system.dimension)), np.zeros(len(who), np.int64)
        seen = self._system.measure(configurations, rows, who, when)
        return seen.error, seen.neighbors

    def _sample(self, t: float) -> None:
        """Write a metric sample of the segments that are known; none while two agents coincide."""
        times = np.array([t])
        try:
            found = measure_at(self._system, Snapshots.of(self._beliefs.segments(), t), times)
        except AgentsError:
            return
        self._write(SAMPLES, sample_columns(found))

    def _write(self, kind: str, columns: Mapping[str, np.ndarray]) -> None:
        first, count = self._rows[kind], len(columns["time"])
        self._rows[kind] += count
        entry = self._spool.put(kind, first, count, pack(kind, first, columns))
        self._server.later(report, self._job, entry)

    def close(self) -> None:
        """Send the page that the fleet has ended, and end the server."""
        self._measure_at = 0.0
        with suppress(Exception):  # the fleet is over, whatever its last rows are
            self._show(max((one.stamp for one in self._waiting), default=0.0))
        says = "The fleet has ended; dwell serve shows its file, if it was given one."
        self._job.error = problem("web.fleet", says)
        self._server.later(self._server.registry.close, self._job, JobState.CANCELLED)
        self._server.handle_exit(0, None)
        self._thread.join()
        self._stack.close()
