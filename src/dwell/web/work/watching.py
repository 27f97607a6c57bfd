"""What a worker tells of a run under way: where everybody starts, every jump, every sample."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, final

import numpy as np

from dwell.agents import AgentsState
from dwell.agents.course import Piece
from dwell.agents.state import counts_of
from dwell.errors import InputError
from dwell.measure import Metrics
from dwell.measure.metrics import look_at_all
from dwell.results.memory import in_bytes, need_of
from dwell.results.recorder import Recorder, joined
from dwell.results.run import Run
from dwell.scenario import Scenario
from dwell.verify.flags import own_limit
from dwell.web.bodies import refuse_events
from dwell.web.frames import BEGIN, EVENTS, SAMPLES, Entry, Spool, pack, rows_at_a_time
from dwell.web.limits import Limits
from dwell.web.work.shapes import shape_of

FEW = 200  # agents up to which samples tell the error of each
BEYOND = 2.0  # times the limit of events: a run that makes so many is ended


@final
class Watcher:
    """Looks on at one run, and puts what it sees into a spool."""

    def __init__(
        self, scenario: Scenario, limits: Limits, spool: Spool, told: Callable[[Entry], None]
    ) -> None:
        self.scenario, self.limits, self.spool, self.told = scenario, limits, spool, told
        self.events = 0
        self.samples = 0
        self._parts = 0  # of the recorder's samples that were told

    def watch(self, recorder: Recorder, piece: Piece | None) -> None:
        """As `dwell.results.drive.Watch` says."""
        if piece is None:
            self._refuse_too_much(recorder)
            self._put(BEGIN, 0, 0, _beginning(recorder, self.scenario))
            return
        columns = {**piece.table.columns(), "received": piece.table.count("received")}
        self._tell_events(columns, len(piece.table))
        fresh = recorder.metrics[self._parts :]
        self._parts = len(recorder.metrics)
        if fresh:
            self._tell_samples(joined(fresh))
        if self.events > BEYOND * self.limits.events:
            raise InputError(
                f"this run has made {self.events} events by t = {piece.reached:g}; this server "
                f"takes about {self.limits.events:.2g}: take a shorter horizon, or use dwell run",
                code="web.events",
                key="run.horizon",
            )

    def end(self, run: Run) -> None:
        """Samples that are taken at the end."""
        rest = {n: getattr(run.metrics, n)[self.samples :] for n in Metrics.__dataclass_fields__}
        if len(rest["times"]):
            self._tell_samples(Metrics(**rest))

    def _refuse_too_much(self, recorder: Recorder) -> None:
        asks = self.scenario.run
        need = need_of(recorder, asks.horizon, asks.max_jumps, saved=True)
        refuse_events(need.events, asks.horizon, self.limits)
        if need.size > self.limits.memory:
            raise InputError(
                f"this run would need {need.says}; this server gives {in_bytes(self.limits.memory)}"
                ' to a job: keep less with record.kind = "samples" or "summary", or take fewer '
                "agents or a shorter horizon",
                code="web.memory",
                key="run.record.kind",
            )

    def _tell_events(self, columns: dict[str, np.ndarray], count: int) -> None:
        self._tell(EVENTS, self.events, count, columns)
        self.events += count

    def _tell_samples(self, found: Metrics) -> None:
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
        self._tell(SAMPLES, self.samples, count, columns)
        self.samples += count

    def _tell(self, kind: str, first: int, count: int, columns: dict[str, np.ndarray]) -> None:
        """Rows `first` and so on of a table, in messages of a reasonable size."""
        some = rows_at_a_time(columns)
        for lo in range(0, count, some):
            part = {name: values[lo : lo + some] for name, values in columns.items()}
            self._put(kind, first + lo, min(some, count - lo), pack(kind, first + lo, part))

    def _put(self, kind: str, first: int, count: int, message: bytes) -> None:
        self.told(self.spool.put(kind, first, count, message))


def _beginning(recorder: Recorder, scenario: Scenario) -> bytes:
    """The first message, in JSON."""
    system, start = recorder.system, recorder.start
    limit = own_limit(system)
    if scenario.certificate is not None:
        limit = scenario.certificate.eta_max
    about = {
        "type": BEGIN,
        "start": {**_state(start), "errors": _errors(recorder), "spent": _spent(start)},
        "fade": _finite(start.fade),
        "workspace": shape_of(system.workspace),
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
    """Centroid minus place of everybody at the start: what the first event is compared with."""
    return look_at_all(recorder.system, recorder.start.start[None]).error.tolist()


def _spent(start: AgentsState) -> dict[str, list[int]]:
    """What the first looks cost each agent; events tell of the later ones."""
    names = ("looked", "received", "sent")
    if not start.spent:
        return {name: [0] * len(start.since) for name in names}
    return {name: counts_of(start.spent, name).tolist() for name in names}


def _finite(value: float) -> float | None:
    """JSON has no infinity; null stands for it."""
    return value if math.isfinite(value) else None
