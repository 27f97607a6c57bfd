"""A run reconstructed from its table, without the engine: errors, costs and their rates."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, dots, lengths
from dwell.agents import Trajectory
from dwell.agents.trajectory import Snapshots
from dwell.cells.backend import is_expensive
from dwell.errors import AgentsError
from dwell.geometry.voronoi import first_coincidence
from dwell.measure.closest_approach import Approach, closest_in_one_world
from dwell.measure.metrics import (
    Metrics,
    costs_of,
    covered_from,
    error_sizes,
    hold_errors_of,
    measure_at,
    measure_configurations,
    sharpness,
)
from dwell.theory.lipschitz import MOST_TIMES as MOST_DERIVATIVES
from dwell.theory.lipschitz import smallest
from dwell.verify.finding import spread

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
    """A trajectory to be judged, with its metric samples."""

    path: Trajectory
    metrics: Metrics | None = None

    @cached_property
    def closest(self) -> Approach:
        """The closest that two agents of one diagram came."""
        return closest_in_one_world(self.path)

    @cached_property
    def covered(self) -> float | None:
        """From when on every error stays within the system's nu; None if never."""
        nu = self.path.system.nu
        return self.covered_within(np.inf if nu is None else nu)

    def covered_within(self, nu: float) -> float | None:
        """From when on every error stays within `nu`; None if never."""
        run, finest = self.path, sharpness(self.path.system.ground)
        errors = partial(errors_at, run)
        return covered_from(errors, run.until, run.table, self.metrics, nu, finest=finest)


def errors_at(run: Trajectory, t: float) -> Floats:
    """|centroid - position| of all agents at a time."""
    agents = np.arange(run.agents)
    return errors_of(run, agents, np.full(len(agents), t))


def errors_of(run: Trajectory, agents: Ints, times: Floats) -> Floats:
    """The error of each of the agents, each at its own time."""
    ascending, row = np.unique(times, return_inverse=True)
    positions = run.at(ascending).positions
    seen = run.system.measure(positions, row, agents, ascending)
    if seen.coincident.any():
        raise first_coincidence(positions[int(row[np.argmax(seen.coincident)])])
    return error_sizes(run.system, seen.error, seen.empty, agents)


@final
@dataclass(frozen=True, eq=False)
class Series:
    """A run at some times."""

    times: Floats  # (S,)
    errors: Floats  # (S, N)
    hold_errors: Floats  # (S, N), or (S, 0) for laws without one
    costs: Floats  # (S,)
    rates: Floats  # (S,) time derivative of the cost
    doubts: Floats  # (S,) what rounding may add to it
    masses: Floats  # (S,) of the whole workspace, constant but for rounding


def affordable(run: Trajectory, most: int) -> int:
    """At most so many times, and fewer where measurements are expensive."""
    if is_expensive(run.system.ground):
        return max(2, min(most, EXPENSIVE_CELLS // run.system.agents))
    if run.system.terms is None:
        return max(2, min(most, SLOW_CELLS // run.system.agents))
    return most


def follow(run: Trajectory, most: int) -> Series:
    """Errors, costs and their rates at about `most` times."""
    times = _times(run, affordable(run, most))
    now = run.at(times)
    seen = measure_configurations(run.system, now.positions, times)
    if seen.coincident.any():  # coincident agents have no cells: leave these times out
        times = times[~seen.coincident.reshape(now.next_at.shape).any(axis=1)]
        now = run.at(times)
        seen = measure_configurations(run.system, now.positions, times)
    scale, shape = np.exp(seen.log_scale), now.next_at.shape
    errors = seen.error.reshape(now.positions.shape)
    mass = (seen.mass * scale).reshape(shape)
    speeds = lengths(now.velocities)
    return Series(
        times=times,
        errors=error_sizes(run.system, errors, seen.empty.reshape(shape)),
        hold_errors=hold_errors_of(run.system, now, errors),
        costs=costs_of(run.system, now.positions, times, seen),
        rates=-2.0 * (mass * dots(errors, now.velocities)).sum(axis=1),
        doubts=2.0 * NOISE * run.system.workspace.diameter * (mass * speeds).sum(axis=1),
        masses=mass.sum(axis=1),
    )


def _times(run: Trajectory, most: int) -> Floats:
    """Times spread over the run, and those at which some agent moves away from its centroid.

    Held velocities are at their worst just before a sample.
    """
    table = run.table
    few = thinned(table.time[table.time <= run.until], most)  # in order, as tables are
    even = np.unique(np.concatenate([np.linspace(0.0, run.until, most // 2), few]))
    even = thinned(even, most - most // WORST)
    towards = dots(table.errors, run.ended.hold)
    away = smallest(towards, most // WORST)
    last = np.nextafter(table.time[away[towards[away] < 0.0]], 0.0)
    return np.unique(np.concatenate([even, last]))


def outside_of(run: Trajectory) -> Floats:
    """How far agents are outside the workspace at each jump, and then at the end, if present."""
    positions = np.vstack([run.table.positions, run.last.at(run.until)])
    agents = np.append(run.table.agent, np.arange(run.system.agents))
    times = np.append(run.table.time, np.full(run.system.agents, run.until))
    return run.system.timeline.outside_by(positions, agents, times)


def gaps_between(a: Any, b: Any) -> Floats:
    """|a - b|, where two infinities (the only agent's separation) are equal."""
    with np.errstate(invalid="ignore"):
        return np.where(a == b, 0.0, np.abs(np.subtract(a, b)))


def thinned(times: Floats, most: int | None) -> Floats:
    """At most so many of the times, evenly, the first and the last included; None: all."""
    return times[spread(len(times), most)]


class Held(NamedTuple):
    """The largest hold error of a run, and where it was."""

    value: float
    agent: int = 0
    time: float = 0.0


def largest_hold_error(run: Trajectory) -> Held:
    """Over the start, the ends of all holds, and the end: whatever samples were taken."""
    found, table = [Held(0.0)], run.table
    if len(table):
        # Nothing was held before an arrival.
        comes = run.system.timeline.comes_or_goes(table.agent, table.time)
        held = np.where(comes, 0.0, table.hold_error)
        k = int(np.argmax(held))
        found.append(Held(float(held[k]), int(table.agent[k]), table.time[k]))
    for segments, time in ((run.start.segments, 0.0), (run.last, run.until)):
        # Coincident agents have no cells, and so no error.
        with contextlib.suppress(AgentsError):
            now = measure_at(run.system, Snapshots.of(segments, time), np.array([time]))
            found += [Held(float(h), p, time) for p, h in enumerate(now.hold_errors[0])]
    return max(found, key=lambda held: held.value)
