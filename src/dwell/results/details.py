"""Details of a run: how it was recorded, its state at any time, and what follows from both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from dwell._types import Floats, as_numbers, in_short, lengths
from dwell._units import OPEN, Units
from dwell.agents import AgentsState, CoverageSystem, EventTable, Trajectory
from dwell.agents.trajectory import Snapshots
from dwell.cells.measurement import CellMeasurements
from dwell.engine.recorder import Recorder, touching
from dwell.engine.tally import Tally
from dwell.errors import DensityError, InputError
from dwell.hybrid import Stop
from dwell.live.record import LiveRecord
from dwell.measure import Metrics
from dwell.measure.closest_approach import Approach, closest_approach
from dwell.measure.metrics import measure_at, metrics_of
from dwell.results.stated import Stated
from dwell.scenario import Scenario
from dwell.theory.lipschitz import Attained
from dwell.verify import Finding
from dwell.verify.recorded import QUICK, Recorded
from dwell.verify.run_certificate import held_against, measure_along

_KEPT = {"samples": "samples and its final state", "summary": "numbers and its final state"}


@final
@dataclass(frozen=True, eq=False)
class Details:
    """The record of a run, and quantities for summaries and studies."""

    recorder: Recorder  # from which the run can be resumed
    stop: Stop
    metrics: Metrics
    scenario: Scenario | None  # None for a law or density that no file can describe
    table: EventTable | None = None  # every jump; None if they were not stored
    counted: Tally | None = None  # None: computed from the table
    wall_seconds: float = 0.0
    journal: tuple[str, int] | None = None  # name and number of parts of the run's journal
    absent: InputError | None = None  # why the run's own Python code cannot be imported
    noted: Mapping[str, Any] | None = None  # the stored summary, for that case
    live: LiveRecord | None = None  # of a fleet; None for a simulation
    stated: Stated | None = None  # what its file states besides; None for a run that was not read

    @property
    def record(self) -> str:
        """What was stored: "events", "samples" or "summary"."""
        return self.recorder.kind

    @property
    def units(self) -> Units:
        """The units of lengths and times: metres and seconds at a site."""
        return OPEN if self.scenario is None else self.scenario.units

    @property
    def system(self) -> CoverageSystem:
        """Everything that is constant during the run."""
        return self.recorder.system

    @property
    def start(self) -> AgentsState:
        """The state at time 0."""
        return self.recorder.start

    @property
    def horizon(self) -> float:
        """The time that the run reached."""
        return self.stop.time

    @property
    def events(self) -> EventTable:
        """Every jump; an error if they were not stored."""
        if self.table is None:
            raise self._not_kept("its events")
        return self.table

    def _not_kept(self, what: str) -> InputError:
        """The error for a quantity that a run without events does not have."""
        return InputError(
            f'this run keeps {_KEPT[self.record]} (record.kind = "{self.record}"), but {what} '
            'would be needed; run it with record.kind = "events"',
            code="run.record",
            key="run.record.kind",
        )

    @cached_property
    def tally(self) -> Tally:
        """Sums and extremes of the run."""
        if self.counted is not None:
            return self.counted
        tally = Tally(self.system, self.start)
        tally.add(self.events)
        tally.sample(self.metrics)
        return tally

    @cached_property
    def trajectory(self) -> Trajectory:
        """How the agents moved; an error if their events were not stored."""
        return Trajectory(
            self.system, self.start, self.events, self.horizon, last=self.recorder.remembered,
            live=self.live is not None,
        )  # fmt: skip

    @cached_property
    def recorded(self) -> Recorded:
        """The run as its verification takes it."""
        return Recorded(self.trajectory, self.metrics)

    # At given times.

    def times(self, t: float | Floats) -> Floats:
        """t as an array of times; refuse times outside the run."""
        numbers = as_numbers(t)
        if numbers is None:
            need = "a number or an array of numbers is needed"
            raise InputError(f"{in_short(t)} is not a time; {need}", code="run.time")
        times = np.atleast_1d(numbers)
        if times.ndim != 1:
            raise InputError(f"times have shape {times.shape}; one row is needed", code="run.time")
        if times.size and not (times.min() >= 0.0 and times.max() <= self.horizon):
            low, high = float(times.min()), float(times.max())
            given = f"{low!r}" if len(times) == 1 else f"{low!r} to {high!r}"
            says = f"the run has times from 0 to {self.horizon!r}, not {given}"
            raise InputError(says, code="run.time")
        return times

    def snapshots_at(self, t: float | Floats) -> Snapshots:
        """Positions, velocities and due times of all agents at times t."""
        times = self.times(t)
        return self._known_at(times).at(times)

    def metrics_at(self, t: float | Floats) -> Metrics:
        """Errors, cost and separation at times t; refuse times at which two agents coincide."""
        times = self.times(t)
        now = self._known_at(times).at(times)
        contact = np.flatnonzero(touching(self.system, now, times))
        if contact.size:
            raise InputError(
                f"two agents coincide at t = {float(times[contact[0]])!r}, so cells are not "
                "defined then; choose another time",
                code="agents.coincident",
            )
        return measure_at(self.system, now, times)

    def _known_at(self, times: Floats) -> Trajectory:
        """What is known of the motion at some times: without events, the start or the end alone."""
        if self.table is not None:
            return self.trajectory
        early = times[times < self.tally.time]
        if len(early) and times.any():
            raise self._not_kept(f"its state at t = {float(early[-1])!r}")
        state = self.start if len(early) else self.tally.state(self.start)
        none = EventTable.blank(0, self.system.dimension)
        return Trajectory(self.system, state, none, self.horizon)

    # The start and the end.

    @cached_property
    def at_the_end(self) -> Snapshots:
        """Positions and velocities of all agents at the end; one row."""
        segments = self.tally.segments if self.table is None else self.trajectory.last
        return Snapshots.of(segments, self.horizon)

    @cached_property
    def ends_in_contact(self) -> bool:
        """Whether two agents coincide at the end, so that cells are not defined there."""
        return bool(touching(self.system, self.at_the_end, np.array([self.horizon]))[0])

    @cached_property
    def initial_measurements(self) -> CellMeasurements:
        """Measurements of all cells at the start."""
        return self.system.measure_all(self.start.positions, threads=self.recorder.threads)

    @cached_property
    def final_measurements(self) -> CellMeasurements:
        """Measurements of all cells at the end."""
        threads = self.recorder.threads
        return self.system.measure_all(self.at_the_end.positions[0], self.horizon, threads=threads)

    @cached_property
    def ends(self) -> list[Metrics]:
        """Metrics at the start and at the end; at the start alone for a run ending in contact."""
        first = Snapshots.of(self.start.segments, self.start.time)
        found = [metrics_of(self.system, first, np.zeros(1), self.initial_measurements)]
        if not self.ends_in_contact:
            now = np.array([self.horizon])
            found.append(metrics_of(self.system, self.at_the_end, now, self.final_measurements))
        return found

    @property
    def seen_separation(self) -> float:
        """The smallest distance of two agents at the start, events and end; inf for one agent."""
        ends = [float(one.separations[0]) for one in self.ends]
        return min(self.tally.nearest, *ends, 0.0 if self.ends_in_contact else np.inf)

    @property
    def largest_hold_error(self) -> float | None:
        """The largest hold error at the start, ends of holds and end; None for laws without one."""
        if self.ends[0].hold_errors.shape[1] == 0:
            return None
        return max(self.tally.hold_error, *(float(one.hold_errors.max()) for one in self.ends))

    @property
    def last_beyond(self) -> float | None:
        """The last of the start, the events and the end with an error beyond nu; None if none."""
        nu, times = self.system.nu, [self.tally.last_large]
        if nu is not None:
            times += [float(one.times[0]) for one in self.ends if one.errors.max() > nu]
        return max(times) if max(times) >= 0.0 else None

    # Coverage, separation and certificate.

    @property
    def coverage_known(self) -> bool:
        """Whether the time at which coverage was reached is known."""
        nu = self.system.nu
        return (
            self.table is not None
            or self.recorder.window is not None
            or nu is None
            or self.ends_in_contact
            or bool(lengths(self.final_measurements.error).max() > nu)
        )

    @cached_property
    def closest(self) -> Approach:
        """The closest approach of two agents at any time.

        In a live run all robots count, also those that have left or are yet to arrive.
        """
        if self.live is None:
            return self.recorded.closest
        return closest_approach(self.trajectory)

    @property
    def assumed(self) -> Mapping[str, Any] | None:
        """eta_max and lipschitz of the scenario's certificate, if it has one."""
        if self.scenario is None or self.scenario.certificate is None:
            return None
        return self.scenario.certificate.model_dump()

    @cached_property
    def measured(self) -> Attained | None:
        """Lipschitz constants at some times of the run, for scenarios that assume some."""
        if self.assumed is None or self.system.traits.timer is None:
            return None
        known = self.system.changes is None and self.system.radius is None
        if self.table is None or not known:
            return None
        try:
            return measure_along(self.recorded, QUICK)
        except DensityError:  # on a grid, or where some cell never has mass
            return None

    @cached_property
    def certificate(self) -> tuple[Finding, ...]:
        """Hypotheses and conclusions of the theorem for this run."""
        if self.assumed is None or self.table is None or self.live is not None:
            return ()
        return held_against(self.recorded, self.assumed, QUICK, self.measured)
