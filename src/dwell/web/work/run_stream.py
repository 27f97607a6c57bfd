"""The stream of a run under way: its start, every event, every metric sample."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import final

import numpy as np

from dwell.engine.memory import in_bytes, need_of
from dwell.engine.recorder import Recorder, joined
from dwell.engine.stepper import Piece
from dwell.errors import InputError
from dwell.exports.messages import begin_message, sample_columns
from dwell.measure import Metrics
from dwell.results.run import Run
from dwell.scenario import Scenario
from dwell.web.limits import Limits
from dwell.web.request_parsing import refuse_events
from dwell.web.wire_format import BEGIN, EVENTS, SAMPLES, Entry, Spool, pack, rows_at_a_time

SLOW = 5.0  # seconds of a run from which its length is said before it begins
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
        self.length = ""  # how long the run may take, in words; empty if that is short
        self._parts = 0  # of the recorder's samples that were written

    def watch(self, recorder: Recorder, piece: Piece | None) -> None:
        """Write the start (no piece), or the events and samples of a piece."""
        if piece is None:
            self._refuse_too_much(recorder)
            self.length = length_in_words(estimated_seconds(recorder, self.scenario), self.limits)
            self._put(BEGIN, 0, 0, self._beginning(recorder))
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

    def _beginning(self, recorder: Recorder) -> bytes:
        about = begin_message(recorder.system, recorder.start, self.scenario)
        return json.dumps(about, allow_nan=False).encode()

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
        self._write(SAMPLES, self.samples, count, sample_columns(found))
        self.samples += count

    def _write(self, kind: str, first: int, count: int, columns: dict[str, np.ndarray]) -> None:
        """Write rows of a table in messages of limited size; `first` numbers the first row."""
        some = rows_at_a_time(columns)
        for lo in range(0, count, some):
            part = {name: values[lo : lo + some] for name, values in columns.items()}
            self._put(kind, first + lo, min(some, count - lo), pack(kind, first + lo, part))

    def _put(self, kind: str, first: int, count: int, message: bytes) -> None:
        self.report(self.spool.put(kind, first, count, message))


def estimated_seconds(recorder: Recorder, scenario: Scenario) -> float:
    """Return about how long a run takes, from the time that its first cells take."""
    system, run = recorder.system, scenario.run
    system.measure_all(recorder.start.positions)  # compiles what is to be timed
    began = time.process_time()
    system.measure_all(recorder.start.positions)
    each = (time.process_time() - began) / system.agents
    need = need_of(recorder, run.horizon, run.max_jumps, saved=True)
    return each * ((need.events or 0.0) + need.samples * system.agents)


def length_in_words(seconds: float, limits: Limits) -> str:
    """Return what is said of a run that takes so long; nothing of a short one."""
    if seconds < SLOW:
        return ""
    limit = f", and this server gives {limits.seconds:g} s" if seconds > limits.seconds else ""
    return f"about {float(f'{seconds:.2g}'):g} s in all{limit}"
