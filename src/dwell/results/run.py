"""Run: one simulation, with everything needed to look at it, judge it and repeat it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Points
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.controllers import Timer
from dwell.errors import DensityError, InputError
from dwell.hybrid import HybridArc, Stop
from dwell.results.counters import Counters, count
from dwell.scenario import Scenario
from dwell.theory import Finding, Flag, Metrics, flags_of, measure
from dwell.theory.approach import Approach
from dwell.theory.lipschitz import Attained
from dwell.theory.metrics import Snapshots, snapshots
from dwell.theory.run_certificate import QUICK, Recorded, held_against, measure_along

if TYPE_CHECKING:
    from dwell.geometry import Workspace


@final
@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of one simulation.

    `arc` is the solution itself and can be asked for any hybrid time; `events` is the same as a
    table; `metrics` are samples along the way. The methods below take one time or an array of
    times and answer exactly, not by interpolation.
    """

    system: CoverageSystem
    arc: HybridArc[AgentsState]
    events: EventTable
    metrics: Metrics
    scenario: Scenario | None = None  # None for a law or density that no file can describe
    repairs: tuple[str, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)
    wall_seconds: float = 0.0

    def __repr__(self) -> str:
        law, stop = type(self.system.controller).__name__, self.stop
        return (
            f"<Run of {law}: {self.agents} agents, {len(self.events)} jumps, "
            f"ended by {stop.reason.value} at t = {stop.time:g}>"
        )

    @property
    def agents(self) -> int:
        """How many agents there are."""
        return self.system.agents

    @property
    def workspace(self) -> Workspace:
        """The region that is shared out."""
        return self.system.workspace

    @property
    def horizon(self) -> float:
        """The time the run reached."""
        return self.arc.until

    @property
    def stop(self) -> Stop:
        """Why it ended."""
        return self.arc.stop

    @property
    def start(self) -> AgentsState:
        """The state at time 0."""
        return self.arc.states[0]

    @cached_property
    def flags(self) -> list[Flag]:
        """What limits the meaning of this run."""
        return flags_of(
            self.arc, self.events, self.metrics, self.assumed,
            approach=self.closest, measured=self.measured,
        )  # fmt: skip

    @property
    def assumed(self) -> Mapping[str, Any] | None:
        """eta_max and lipschitz of the scenario's certificate, if it has one."""
        if self.scenario is None or self.scenario.certificate is None:
            return None
        return self.scenario.certificate.model_dump()

    @property
    def ends_in_contact(self) -> bool:
        """Whether two agents stand at one place at the end, so that cells are not defined there."""
        return bool(touching(self._legs(self.horizon))[0])

    @cached_property
    def reached_at(self) -> float | None:
        """The time from which every error stays within nu; None if it never does."""
        nu = getattr(self.system.controller, "nu", None)
        return None if nu is None or self.ends_in_contact else self._recorded.covered

    @cached_property
    def closest(self) -> Approach:
        """The closest that two agents came at any time, looked at or not."""
        return self._recorded.closest

    @cached_property
    def measured(self) -> Attained | None:
        """Lipschitz constants at some times on the way, for scenarios that assume some."""
        if self.assumed is None or not isinstance(self.system.controller, Timer):
            return None
        try:
            return measure_along(self._recorded, QUICK)
        except DensityError:  # on a grid, or where some cell always weighs nothing
            return None

    @cached_property
    def certificate(self) -> tuple[Finding, ...]:
        """The theorem held against this run, looked at fewer times than `dwell check` does."""
        if self.assumed is None:
            return ()
        return held_against(self._recorded, self.assumed, QUICK, self.measured)

    @cached_property
    def _recorded(self) -> Recorded:
        return Recorded(self.system, self.start, self.events, self.horizon, self.metrics)

    @property
    def distances(self) -> Floats:
        """Length of each agent's path, (N,)."""
        return self.counters.distance

    @cached_property
    def counters(self) -> Counters:
        """What the run cost each agent."""
        return count(self)

    # Exact answers at any time.

    def positions(self, t: float | Floats) -> Points:
        """Where everybody is at time t: (N, n), or (len(t), N, n)."""
        return _shaped(t, self._legs(t).positions)

    def holds(self, t: float | Floats) -> Points:
        """The velocities, after any jump at t."""
        return _shaped(t, self._legs(t).velocities)

    def timers(self, t: float | Floats) -> Floats:
        """Time left until each agent's next look, after any jump at t."""
        return _shaped(t, self._legs(t).next_at - np.atleast_1d(t)[:, None])

    def errors(self, t: float | Floats) -> Floats:
        """|centroid - position| of each agent: (N,), or (len(t), N)."""
        return _shaped(t, self._measured(t).errors)

    def hold_errors(self, t: float | Floats) -> Floats:
        """|held velocity - k1 sat(error)| of each agent, after any jump at t."""
        return _shaped(t, self._measured(t).hold_errors)

    def cost(self, t: float | Floats) -> float | Floats:
        """Locational cost at time t."""
        costs = _shaped(t, self._measured(t).costs)
        return float(costs) if np.ndim(t) == 0 else costs

    def summary(self) -> dict[str, Any]:
        """The figures of the run, as `dwell run --json` prints them."""
        from dwell.results.summary import summarize

        return summarize(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Keep the run in one NetCDF-4 file; an existing file is replaced only with `force`."""
        from dwell.results.store import save_run

        save_run(self, path, force=force)

    def _legs(self, t: float | Floats) -> Snapshots:
        times = self._checked(t)
        order = np.argsort(times, kind="stable")
        legs = snapshots(self.start, self.events, times[order])
        back = np.argsort(order, kind="stable")
        return Snapshots(*(getattr(legs, name)[back] for name in Snapshots.__dataclass_fields__))

    def _measured(self, t: float | Floats) -> Metrics:
        times = self._checked(t)
        order = np.argsort(times, kind="stable")
        met = np.flatnonzero(touching(self._legs(times)))
        if met.size:
            raise InputError(
                f"two agents stand at one place at t = {float(times[met[0]])!r}, so cells are not "
                "defined then; ask for another time",
                code="agents.coincident",
            )
        found = measure(self.system, self.start, self.events, times[order])
        back = np.argsort(order, kind="stable")
        return Metrics(*(getattr(found, name)[back] for name in Metrics.__dataclass_fields__))

    def _checked(self, t: float | Floats) -> Floats:
        try:
            times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{t!r} is no time; give a number or an array", code="run.time"
            ) from None
        if times.ndim != 1:
            raise InputError(f"times have shape {times.shape}; one row is needed", code="run.time")
        if times.size and not (times.min() >= 0.0 and times.max() <= self.horizon):
            raise InputError(
                f"the run knows times from 0 to {self.horizon!r}; asked for {float(times.min())!r} "
                f"to {float(times.max())!r}",
                code="run.time",
            )
        return times


def touching(legs: Snapshots) -> np.ndarray:
    """At which of the times two agents stand at one place."""
    places, (samples, agents) = legs.positions, legs.next_at.shape
    rows = np.repeat(np.arange(samples), agents)
    flat = places.reshape(samples * agents, places.shape[2])
    order = np.lexsort((*flat.T, rows))
    same = (flat[order[1:]] == flat[order[:-1]]).all(axis=1) & (rows[order[1:]] == rows[order[:-1]])
    found = np.zeros(samples, dtype=bool)
    found[rows[order[1:]][same]] = True
    return found


def _shaped(t: float | Floats, rows: Floats) -> Floats:
    """`rows` without their first axis if one time was asked for."""
    if np.ndim(t) > 0:
        return rows
    one: Floats = rows[0]
    return one
