"""A recorded run reconstructed from its table, without the engine: positions, errors, costs."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points, at_time, dots, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Segments
from dwell.cells.backend import is_expensive
from dwell.errors import AgentsError
from dwell.geometry.voronoi import first_coincidence
from dwell.measure.closest_approach import Approach, closest_approach
from dwell.measure.metrics import (
    Metrics,
    Paths,
    Snapshots,
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
    """A run to be judged: its start, its events, and when it ended."""

    system: CoverageSystem
    start: AgentsState
    table: EventTable
    until: float
    metrics: Metrics | None = None

    @cached_property
    def paths(self) -> Paths:
        """Trajectory segments of all agents, for evaluation at any time."""
        return Paths(self.start, self.table)

    @property
    def segments(self) -> list[Segments]:
        """Trajectory segments of each agent, the first one first."""
        return self.paths.segments

    @cached_property
    def rows(self) -> list[Ints]:
        """The events of each agent, as rows of the table."""
        return [self.table.of_agent(p) for p in range(self.system.agents)]

    @cached_property
    def closest(self) -> Approach:
        """The closest that two agents of one diagram came."""
        timeline = self.system.timeline
        if timeline.same_agents and not timeline.sensors:
            return closest_approach(self.paths, self.until)
        found = Approach()
        ends = [min(end, self.until) for end in (*timeline.begins[1:], np.inf)]
        for begin, end, world in zip(timeline.begins, ends, timeline.worlds, strict=True):
            for diagram in world.diagrams if begin <= self.until else ():
                every = np.arange(self.system.agents)
                who = every if diagram.members is None else diagram.members
                one = closest_approach(self.paths.of(who), end, since=begin)
                a, b = one.agents
                one = replace(one, agents=(int(who[a]), int(who[b])))
                found = min(found, one, key=lambda approach: approach.distance)
        return found

    @cached_property
    def departed(self) -> np.ndarray:
        """Whether each jump is that of an agent that leaves."""
        left: np.ndarray = self.system.departures[self.table.agent] <= self.table.time
        return left

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
        positions = self.paths.at(ascending).positions
        row = np.searchsorted(ascending, times)
        seen = self.system.measure(positions, row, agents, ascending)
        if seen.coincident.any():
            raise first_coincidence(positions[int(row[np.argmax(seen.coincident)])])
        return error_sizes(self.system, seen.error, seen.empty, agents)

    # At the jumps.

    def where(self, k: int) -> str:
        """Jump k in words."""
        return f"jump {k + 1}, agent {self.table.agent[k]}, {at_time(self.table.time[k])}"

    def where_at(self, k: int) -> str:
        """Jump k in words; beyond the last jump, an agent at the end."""
        rows = len(self.table)
        return self.where(k) if k < rows else f"agent {k - rows} at the end"

    @cached_property
    def ended(self) -> Segments:
        """The segment that each jump ends: that of the agent's previous jump, or of the start."""
        first = self.start.segments
        found, begun = first.take(self.table.agent), self.table.begun(first)
        for rows in self.rows:
            found.put(rows[1:], begun.take(rows[:-1]))
        return found

    @cached_property
    def last(self) -> Segments:
        """The last segment of each agent."""
        found = self.start.segments.copied()
        found.put(self.table.agent, self.table.begun(found))
        return found

    @property
    def number(self) -> Ints:
        """For each jump, how many samples its agent had before."""
        found = np.zeros(len(self.table), dtype=np.int64)
        for p, rows in enumerate(self.rows):
            found[rows] = self.start.event_counts[p] + np.arange(len(rows))
        return found

    def configurations(self, lo: int, hi: int) -> Points:
        """Positions of all agents at jumps lo..hi, (hi - lo, N, n)."""
        positions = np.empty((hi - lo, *self.start.segments.place.shape))
        for q, (rows, segments) in enumerate(zip(self.rows, self.segments, strict=True)):
            made = np.searchsorted(rows, np.arange(lo, hi))
            positions[:, q] = segments.take(made).at(self.table.time[lo:hi])
        return positions

    def positions_at_row(self, row: int) -> Points:
        """Positions of all agents at one jump, (N, n)."""
        positions: Points = self.configurations(row, row + 1)[0]
        return positions


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


def affordable(run: Recorded, most: int) -> int:
    """At most so many times, and fewer where measurements are expensive."""
    if is_expensive(run.system.ground):
        return max(2, min(most, EXPENSIVE_CELLS // run.system.agents))
    if run.system.terms is None:
        return max(2, min(most, SLOW_CELLS // run.system.agents))
    return most


def follow(run: Recorded, most: int) -> Series:
    """Errors, costs and their rates at about `most` times."""
    times = _times(run, affordable(run, most))
    now = run.paths.at(times)
    seen = measure_configurations(run.system, now.positions, times)
    if seen.coincident.any():  # coincident agents have no cells: leave these times out
        times = times[~seen.coincident.reshape(now.next_at.shape).any(axis=1)]
        now = run.paths.at(times)
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


def _times(run: Recorded, most: int) -> Floats:
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


def outside_of(run: Recorded) -> Floats:
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


def largest_hold_error(run: Recorded) -> Held:
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
