"""The stream of a run under way: its start, every event, every metric sample."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from dwell.agents import AgentsState
from dwell.agents.state import counts_of
from dwell.engine.memory import in_bytes, need_of
from dwell.engine.recorder import Recorder, joined
from dwell.engine.stepper import Piece
from dwell.errors import InputError
from dwell.measure import Metrics
from dwell.measure.metrics import measure_configurations
from dwell.results.run import Run
from dwell.scenario import Scenario
from dwell.verify.flags import own_limit
from dwell.web.limits import Limits
from dwell.web.request_parsing import refuse_events
from dwell.web.wire_format import BEGIN, EVENTS, SAMPLES, Entry, Spool, pack, rows_at_a_time
from dwell.web.work.workspace_json import workspace_json
from dwell.web.work.world_json import world_json

FEW = 200  # agents up to which samples include the error of each
BEYOND = 2.0  # a run that makes this multiple of the limit of events is ended


@final
class RunStreamer:
    """Writes the messages of one run into a spool, and reports each entry."""

    def __init__(
        self, scenario: Scenario, limits: Limits, spool: Spool, report: Callable[[Entry], None]
    ) -> None:
        self.scenario, self.limits, self.spool, self.report = scenario, limits, spool, report
        self.events = 0
        self.samples = 0
        self._parts = 0  # of the recorder's samples that were written

    def watch(self, recorder: Recorder, piece: Piece | None) -> None:
        """Write the start (no piece), or the events and samples of a piece."""
        if piece is None:
            self._refuse_too_much(recorder)
            self._put(BEGIN, 0, 0, _beginning(recorder, self.scenario))
            return
        columns = {**piece.table.columns(), "received": piece.table.count("received")}
        self._write_events(columns, len(piece.table))
        fresh = recorder.metrics[self._parts :]
        self._parts = len(recorder.metrics)
        if fresh:
            self._write_samples(joined(fresh))
        if self.events > BEYOND * self.limits.events:
            raise InputError(
                f"this run has made {self.events} events by t = {piece.reached:g}; this server "
                f"takes about {self.limits.events:.2g}: take a shorter horizon, or use dwell run",
                code="web.events",
                key="run.horizon",
            )

    def end(self, run: Run) -> None:
        """Write the samples that are taken at the end."""
        rest = {n: getattr(run.metrics, n)[self.samples :] for n in Metrics.__dataclass_fields__}
        if len(rest["times"]):
            self._write_samples(Metrics(**rest))

    def _refuse_too_much(self, recorder: Recorder) -> None:
        run = self.scenario.run
        need = need_of(recorder, run.horizon, run.max_jumps, saved=True)
        refuse_events(need.events, run.horizon, self.limits)
        if need.size > self.limits.memory:
            raise InputError(
                f"this run would need {need.says}; this server gives {in_bytes(self.limits.memory)}"
                ' to a job: keep less with record.kind = "samples" or "summary", or take fewer '
                "agents or a shorter horizon",
                code="web.memory",
                key="run.record.kind",
            )

    def _write_events(self, columns: dict[str, np.ndarray], count: int) -> None:
        self._write(EVENTS, self.events, count, columns)
        self.events += count

    def _write_samples(self, found: Metrics) -> None:
        count = len(found.times)
        columns = {
            "time": found.times,
            "cost": found.costs,
            "error": found.errors.max(axis=1),
            "separation": found.separations,
        }
        held = found.hold_errors.shape[1] > 0
        if held:
            columns["hold_error"] = found.hold_errors.max(axis=1)
        if found.errors.shape[1] <= FEW:
            columns["errors"] = found.errors
            if held:
                columns["hold_errors"] = found.hold_errors
        self._write(SAMPLES, self.samples, count, columns)
        self.samples += count

    def _write(self, kind: str, first: int, count: int, columns: dict[str, np.ndarray]) -> None:
        """Write rows of a table in messages of limited size; `first` numbers the first row."""
        some = rows_at_a_time(columns)
        for lo in range(0, count, some):
            part = {name: values[lo : lo + some] for name, values in columns.items()}
            self._put(kind, first + lo, min(some, count - lo), pack(kind, first + lo, part))

    def _put(self, kind: str, first: int, count: int, message: bytes) -> None:
        self.report(self.spool.put(kind, first, count, message))


def _beginning(recorder: Recorder, scenario: Scenario) -> bytes:
    """Return the first message, in JSON."""
    system, start = recorder.system, recorder.start
    limit = own_limit(system)
    if scenario.certificate is not None:
        limit = scenario.certificate.eta_max
    about = {
        "type": BEGIN,
        "start": {**_state(start), "errors": _errors(recorder), "spent": _spent(start)},
        "fade": _finite(start.fade),
        "workspace": workspace_json(system.workspace),
        "world": world_json(scenario, system.changes),
        "radii": system.radius,
        "nu": system.nu,
        "eta_max": limit,
        "law": scenario.controller.kind,
        "agents": system.agents,
        "dimension": system.dimension,
        "horizon": scenario.run.horizon,
        "seed": system.seed,
    }
    return json.dumps(about, allow_nan=False).encode()


def _state(start: AgentsState) -> dict[str, Any]:
    return {
        "time": start.time,
        "positions": start.start.tolist(),
        "holds": start.hold.tolist(),
        "next_at": [_finite(t) for t in start.next_at.tolist()],
        "cruise": None if start.cruise is None else [_finite(t) for t in start.cruise.tolist()],
        "bend": None if start.bend is None else start.bend.tolist(),
    }


def _errors(recorder: Recorder) -> Any:
    """Return centroid minus position of all agents at the start."""
    return measure_configurations(
        recorder.system, recorder.start.start[None], np.zeros(1)
    ).error.tolist()


def _spent(start: AgentsState) -> dict[str, list[int]]:
    """Return the cost of the first samples by agent; events hold that of later ones."""
    names = ("looked", "received", "sent")
    if not start.spent:
        return {name: [0] * len(start.since) for name in names}
    return {name: counts_of(start.spent, name).tolist() for name in names}


def _finite(value: float) -> float | None:
    """Return a number, or None for infinity, which JSON does not have."""
    return value if math.isfinite(value) else None
