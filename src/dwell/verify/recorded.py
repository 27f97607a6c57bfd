"""A recorded run as the certificate needs it: errors, costs and hold errors at any time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points, at_time, dots, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.cells.backend import is_expensive, measure_cells
from dwell.geometry.voronoi import first_coincidence
from dwell.measure.closest_approach import Approach, closest_approach
from dwell.measure.metrics import Metrics, Paths, covered_from, look_at_all, sharpness
from dwell.theory.lipschitz import MOST_TIMES as MOST_DERIVATIVES
from dwell.theory.lipschitz import smallest
from dwell.verify.guarantees import thinned

NOISE = 1e-14  # of an error, relative to the workspace's diameter
WORST = 4  # one in so many times is spent on agents that move away from their centroids
SLOW_CELLS = 6000  # measurements with a density that only Python can evaluate
EXPENSIVE_CELLS = 200  # expensive measurements, see dwell.cells.backend.is_expensive


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """At how many times errors and costs, and the Lipschitz constants, are measured."""

    times: int
    derivatives: int


THOROUGH = Effort(3000, MOST_DERIVATIVES)
QUICK = Effort(160, 40)  # for the report of a run, which must not take longer than the run


@final
@dataclass(frozen=True, eq=False)
class Recorded:
    """A run to be judged."""

    system: CoverageSystem
    start: AgentsState
    table: EventTable
    until: float
    metrics: Metrics | None

    @cached_property
    def paths(self) -> Paths:
        """Trajectory segments of all agents."""
        return Paths(self.start, self.table)

    @cached_property
    def closest(self) -> Approach:
        """The closest that two agents came."""
        return closest_approach(self.paths, self.until)

    @cached_property
    def covered(self) -> float | None:
        """From when on every error stays within the system's nu; None if never."""
        return self.covered_within(np.inf if self.system.nu is None else self.system.nu)

    def covered_within(self, nu: float) -> float | None:
        """From when on every error stays within `nu`; None if never."""
        finest = sharpness(self.system.ground)
        return covered_from(self.errors, self.until, self.table, self.metrics, nu, finest=finest)

    def errors(self, t: float) -> Floats:
        """|centroid - position| of all agents at a time."""
        agents = np.arange(self.system.agents)
        return self.errors_of(agents, np.full(len(agents), t), np.array([t]))

    def errors_of(self, agents: Ints, times: Floats, ascending: Floats) -> Floats:
        """The error of each of the agents, each at its own of some ascending times."""
        places = self.paths.at(ascending).positions
        row = np.searchsorted(ascending, times)
        seen = measure_cells(self.system.ground, places, row, agents)
        if seen.coincident.any():
            raise first_coincidence(places[int(row[np.argmax(seen.coincident)])])
        return lengths(seen.error)


@final
@dataclass(frozen=True, eq=False)
class Series:
    """A run at some times."""

    times: Floats  # (S,)
    errors: Floats  # (S, N)
    costs: Floats  # (S,)
    rates: Floats  # (S,) time derivative of the cost
    doubts: Floats  # (S,) what rounding may add to it
    masses: Floats  # (S,) of the whole workspace, in the end always the same


def affordable(run: Recorded, most: int) -> int:
    """At most so many times, and fewer where measurements are expensive."""
    if is_expensive(run.system.ground):
        return max(2, min(most, EXPENSIVE_CELLS // run.system.agents))
    if run.system.terms is None:
        return max(2, min(most, SLOW_CELLS // run.system.agents))
    return most


def follow(run: Recorded, most: int) -> Series:
    times = _times(run, affordable(run, most))
    now = run.paths.at(times)
    seen = look_at_all(run.system, now.positions)
    if seen.coincident.any():  # two agents at one place have no cells: leave these times out
        kept = ~seen.coincident.reshape(now.next_at.shape).any(axis=1)
        times = times[kept]
        now = run.paths.at(times)
        seen = look_at_all(run.system, now.positions)
    scale, shape = np.exp(seen.log_scale), now.next_at.shape
    errors = seen.error.reshape(now.positions.shape)
    mass = (seen.mass * scale).reshape(shape)
    speeds = lengths(now.velocities)
    return Series(
        times=times,
        errors=lengths(errors),
        costs=(seen.polar * scale).reshape(shape).sum(axis=1),
        rates=-2.0 * (mass * dots(errors, now.velocities)).sum(axis=1),
        doubts=2.0 * NOISE * run.system.workspace.diameter * (mass * speeds).sum(axis=1),
        masses=mass.sum(axis=1),
    )


def _times(run: Recorded, most: int) -> Floats:
    """Times spread over the run, and those at which some agent moves away from its centroid.

    Held velocities are at their worst just before a sample.
    """
    table, until = run.table, run.until
    few = thinned(table.time[table.time <= until], most)  # in order, as tables are
    spread = np.unique(np.concatenate([np.linspace(0.0, until, most // 2), few]))
    spread = thinned(spread, most - most // WORST)
    held = _holds_before(run)
    towards = dots(table.errors, held)
    away = smallest(towards, most // WORST)
    last = np.nextafter(table.time[away[towards[away] < 0.0]], 0.0)
    return np.unique(np.concatenate([spread, last]))


def _holds_before(run: Recorded) -> Points:
    """The velocity that each jump ends, (jumps, n)."""
    before = np.empty_like(run.table.holds)
    for p in range(run.system.agents):
        rows = run.table.of_agent(p)
        if len(rows):
            before[rows[0]] = run.start.hold[p]
            before[rows[1:]] = run.table.holds[rows[:-1]]
    return before


@final
@dataclass(frozen=True, slots=True)
class Held:
    """The largest hold error of a run, and where it was."""

    value: float
    where: str


def largest_hold_error(run: Recorded) -> Held:
    """Over the ends of all holds, over all samples, and at the start."""
    found = [(0.0, "")]
    table, metrics = run.table, run.metrics
    if len(table):
        k = int(np.argmax(table.hold_error))
        where = f"agent {int(table.agent[k])}, {at_time(table.time[k])}"
        found.append((float(table.hold_error[k]), where))
    if metrics is not None and metrics.hold_errors.size:
        k, p = divmod(int(np.argmax(metrics.hold_errors)), metrics.hold_errors.shape[1])
        where = f"agent {p}, {at_time(metrics.times[k])}"
        found.append((float(metrics.hold_errors[k, p]), where))
    value, where = max(found, key=lambda pair: pair[0])
    return Held(value, where)
