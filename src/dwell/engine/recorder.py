"""The record of a run in progress: every event, metric samples, or sums alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from itertools import pairwise
from typing import Any, Literal, final

import numpy as np

from dwell._types import Floats, in_short
from dwell.agents import AgentsState, CoverageSystem, EventTable, Trajectory
from dwell.agents.continuous import is_continuous
from dwell.agents.trajectory import Snapshots
from dwell.cells.backend import is_expensive
from dwell.engine.codec import names_of, plain, restored
from dwell.engine.stepper import Piece, Stepper
from dwell.engine.tally import Tally, Window
from dwell.errors import InputError
from dwell.hybrid import Stop, StopReason
from dwell.measure import Metrics
from dwell.measure.metrics import measure_at, metrics_of
from dwell.scenario import Scenario

EVENTS, SAMPLES, SUMMARY = "events", "samples", "summary"
DEFAULT_SAMPLES = 1000
EXPENSIVE_SAMPLES = 100  # where measuring a cell takes long, see dwell.cells.backend.is_expensive
FEW_SAMPLES = 10  # where Python evaluates the density, and the law's waits are not known
EVENTS_PER_SAMPLE = 2.0  # of every agent, where Python evaluates the density
MOST_SAMPLES = 10_000_000
CELLS_AT_ONCE = 2**18  # cells measured at a time, between two reports of progress
HALFWAY = (StopReason.INTERRUPTED, StopReason.JUMP_LIMIT)  # such a run can go on


@final
class Recorder:
    """Records a run, chunk by chunk."""

    def __init__(
        self,
        system: CoverageSystem,
        start: AgentsState,
        times: Floats,
        kind: str,
        threads: int | None = None,
    ) -> None:
        self.system, self.start, self.kind, self.threads = system, start, kind, threads
        self.sample_times = times
        self.sampling = len(times) > 0
        self.times = times[:-1]  # the last one is at the horizon, which may change
        self.tally = Tally(system, start)
        self.tables: list[EventTable] = []
        self.metrics: list[Metrics] = []
        self.done = 0  # samples taken or omitted so far
        follows = kind != EVENTS and self.sampling and self.tally.nu is not None
        self.window = Window(start) if follows else None
        self.remembered: Any = None  # the state, for laws with memories or messages
        self.standing = 0

    @property
    def target(self) -> float:
        """The time up to which the run may proceed before samples are due; inf if none are left."""
        ahead = self.done + max(1, CELLS_AT_ONCE // self.system.agents)
        left = self.times[self.done : ahead]
        return float(left[-1]) if len(left) else np.inf

    def _due(self, piece: Piece) -> Floats:
        """The times of the samples that fall into `piece`."""
        final = piece.stop is not None and piece.stop.reason not in HALFWAY
        side: Literal["left", "right"] = "right" if piece.closed or final else "left"
        return self.times[self.done : int(np.searchsorted(self.times, piece.reached, side=side))]

    def measured(self, piece: Piece) -> list[Metrics]:
        """The samples that fall into `piece`, which comes next; changes nothing."""
        due = self._due(piece)
        prior = self.tally.state(self.start) if len(due) else self.start
        return list(self._measured(prior, piece.table, due))

    def take(
        self, piece: Piece, stepper: Stepper | None = None, found: list[Metrics] | None = None
    ) -> None:
        """Record `piece`, of which `found` are the samples, if they are measured already."""
        found = self.measured(piece) if found is None else found
        self.done += len(self._due(piece))
        prior = self.tally.state(self.start) if self.window else self.start
        was_open = bool(np.isinf(self.tally.after))
        if self.kind == EVENTS:  # figures are computed when they are needed
            self.tally.follow(piece.table)
        else:
            self.tally.add(piece.table)
        self._keep(found)
        if self.window is not None:
            self.window.take(prior.segments, piece.table, self.tally, was_open)
        if self.kind == EVENTS:
            self.tables.append(piece.table)
        if stepper is not None:
            self.remembered, self.standing = stepper.memory, stepper.standing

    def sample(self, prior: AgentsState, table: EventTable, times: Floats) -> None:
        """Take samples at `times`, up to which the jumps of `table` lead from `prior`."""
        self._keep(self._measured(prior, table, times))

    def _keep(self, samples: Iterable[Metrics]) -> None:
        for found in samples:
            self.tally.sample(found)
            if self.kind != SUMMARY:
                self.metrics.append(found)

    def _measured(self, prior: AgentsState, table: EventTable, times: Floats) -> Iterator[Metrics]:
        path = Trajectory(self.system, prior, table, np.inf)
        step = max(1, CELLS_AT_ONCE // self.system.agents)
        alone = min(1 - min(self.done, 1), len(times))  # the start, which the law measured
        for lo, hi in pairwise(sorted({0, *range(alone, len(times), step), len(times)})):
            some = times[lo:hi]
            now = path.at(some)
            contact = touching(self.system, now, some)
            if contact.any():  # there, cells are not defined
                some = some[~contact]
                now = path.at(some)
            if hi == alone:
                yield self._kept(now, some)
            else:
                yield measure_at(self.system, now, some, threads=self.threads)

    @property
    def state(self) -> AgentsState:
        """The state from which the run continues."""
        if self.remembered is not None:
            state: AgentsState = self.remembered
            return state
        return self.tally.state(self.start) if self.tally.jumps else self.start

    # The end of a run.

    def table(self) -> EventTable | None:
        """Every jump; None if they are not recorded."""
        if self.kind != EVENTS:
            return None
        return EventTable.joined(self.tables, self.system.dimension)

    def ending(self, stop: Stop) -> tuple[Metrics, Tally | None]:
        """The samples of a run that ended with `stop`, and the tally with the last of them.

        The tally is None where events are recorded, from which it can be computed. The last sample
        is at the horizon; that of a summary is at the end, also of a run that ended early.
        """
        now = Snapshots.of(self.tally.segments, stop.time)
        closing = self.sampling and stop.reason is StopReason.HORIZON
        contact = bool(touching(self.system, now, np.array([stop.time]))[0])
        wanted = (closing or self.kind == SUMMARY) and not contact
        count = int(wanted)
        some = Snapshots(now.positions[:count], now.velocities[:count], now.next_at[:count])
        last = self._kept(some, np.full(count, stop.time))
        finished = copy(self.tally)
        finished.samples = copy(self.tally.samples)
        if closing:
            finished.sample(last)
        return joined([*self.metrics, last]), None if self.kind == EVENTS else finished

    def _kept(self, now: Snapshots, times: Floats) -> Metrics:
        """Metrics at the start or the end, with the measurements that the system keeps."""
        if not len(times):
            return measure_at(self.system, now, times)
        seen = self.system.measure_all(now.positions[0], float(times[0]), threads=self.threads)
        return metrics_of(self.system, now, times, seen)

    # Storing and restoring.

    def frozen(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Everything that a resumed run needs, without the tables and samples themselves."""
        arrays = self.tally.arrays()
        if self.window is not None:
            arrays |= self.window.arrays()
        info = {
            "tally": self.tally.scalars(),
            "done": self.done,
            "late": 0.0 if self.window is None else self.window.late,
            "standing": self.standing,
            "state": plain(self.remembered, names_of(self.system.controller)),
        }
        return arrays, info

    def restore(self, arrays: dict[str, np.ndarray], info: dict[str, Any]) -> None:
        """Restore what `frozen` returned; the caller restores tables and samples."""
        self.tally.restore(arrays, info["tally"])
        if self.window is not None:
            self.window.restore(arrays, float(info["late"]))
        self.done, self.standing = int(info["done"]), int(info["standing"])
        if self.system.traits.absent:
            self.remembered = None
            return
        self.remembered = restored(info["state"], names_of(self.system.controller))


def recorder_of(
    scenario: Scenario, system: CoverageSystem, start: AgentsState, threads: int | None = None
) -> Recorder:
    """A recorder for a scenario, with nothing recorded yet."""
    record = scenario.run.record
    times = sample_times(
        scenario.run.horizon, record.spacing, default_samples(system, start, scenario.run.horizon)
    )
    return Recorder(system, start, times, record.kind, threads)


def default_samples(system: CoverageSystem, start: AgentsState | None, until: float) -> int:
    """The default number of metric samples, whose cost is at most that of the run.

    A sample measures the cell of every agent. That is cheap in kernels; where Python evaluates the
    density, there is one sample for every two events of an agent, and at most 100; at most 10 where
    the number of events is an estimate from the first dwell times in `start`.
    """
    if system.ground_at(0.0).terms is not None:
        return EXPENSIVE_SAMPLES if is_expensive(system.ground_at(0.0)) else DEFAULT_SAMPLES
    known = samples_by_law(system, until) is not None
    events = expected_events(system, start, until)
    most = EXPENSIVE_SAMPLES if known else FEW_SAMPLES
    share = most if events is None else events / system.agents / EVENTS_PER_SAMPLE
    return int(min(max(share, 1.0), most))


def expected_events(
    system: CoverageSystem, start: AgentsState | None, until: float
) -> float | None:
    """An estimate of the number of jumps, from the law or else from the first dwell times."""
    event_counts = samples_by_law(system, until)
    if event_counts is not None:
        return float(event_counts.sum())
    if is_continuous(system) or start is None:
        return None
    next_at = start.segments.next_at
    waits = next_at[np.isfinite(next_at) & (system.arrivals == 0.0)]
    mean = float(waits.mean()) if len(waits) else 0.0
    return float(_stays(system, until).sum()) / mean if mean > 0.0 else None


def _stays(system: CoverageSystem, until: float) -> Floats:
    """How long each agent is present until a time, (N,)."""
    stays: Floats = np.minimum(system.departures, until) - np.minimum(system.arrivals, until)
    return stays


def samples_by_law(system: CoverageSystem, until: float) -> Floats | None:
    """The expected number of events of each agent; None for laws that compute dwell times."""
    from dwell._kernels.common import hold_law as hold

    # Waits are the same where agents go around corners.
    program = system.law_program
    if program is None or not system.perfect or is_continuous(system):
        return None
    share = {hold.EARLIEST: 0.0, hold.LATEST: 1.0}.get(program.rule, 0.5)
    waits = program.t1 + share * (program.t2 - program.t1)
    if program.rule == hold.PERIODIC:
        waits = program.period
    elif program.rule == hold.SEQUENCE:
        waits = program.intervals.mean(axis=1)
    elif program.rule == hold.DROPOUT:
        waits = np.minimum(program.t1 / (1.0 - program.loss), program.t2)
    return np.asarray(_stays(system, until) / waits)


def sample_times(horizon: float, every: float | str | None, usual: int = DEFAULT_SAMPLES) -> Floats:
    """Multiples of `every` up to the horizon, and the horizon; none when it is "off"."""
    if every == "off":
        return np.empty(0)
    step = horizon / usual if every is None else float(every)
    if step <= 0.0:
        return np.array([0.0])
    if horizon / step > MOST_SAMPLES:
        raise InputError(
            f"sample_every is {in_short(every)}, which makes {horizon / step:.3g} samples; at most "
            f"{MOST_SAMPLES:.0e} are taken: use {horizon / MOST_SAMPLES:.3g} or more",
            code="run.samples",
            key="run.record.sample_every",
        )
    times = np.arange(int(np.floor(horizon / step)) + 1) * step
    times = times[times < horizon]
    return np.append(times, horizon)


def joined(parts: list[Metrics]) -> Metrics:
    """Samples one after another; there must be at least one part."""
    names = Metrics.__dataclass_fields__
    return Metrics(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def touching(system: CoverageSystem, now: Snapshots, times: Floats) -> np.ndarray:
    """At which of the times two agents coincide that are present."""
    found = np.zeros(len(times), dtype=bool)
    for k, places in enumerate(now.positions):
        found[k] = system.world_at(float(times[k])).coincide(places)
    return found
