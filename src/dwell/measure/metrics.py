"""How good a run is, sampled along it: errors, hold errors, cost, separation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Ints, Points, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Trajectory
from dwell.agents.trajectory import Snapshots
from dwell.cells.backend import is_expensive, total_mass
from dwell.cells.measurement import CellMeasurements
from dwell.cells.ranges import limited_cost, reaches_all
from dwell.cells.weighted_region import WeightedRegion
from dwell.controllers.saturation import saturated
from dwell.geometry.voronoi import first_coincidence

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

PROBES = 129  # times measured where no samples were stored
FINEST, ROUGH = 1e-9, 1e-4  # of the time: how sharply the beginning of coverage is located
COARSE = 1e-6  # of the time: from here on, fewer probes suffice
FEW_PROBES = 17  # then


@final
@dataclass(frozen=True, eq=False)
class Metrics:
    """Quantities at ascending times, after the jumps at each."""

    times: Floats  # (S,)
    errors: Floats  # (S, N): |centroid - position|
    hold_errors: Floats  # (S, N): |held velocity - k1 sat(error)|; shape (S, 0) if not defined
    costs: Floats  # (S,)
    separations: Floats  # (S,) smallest distance between two agents; inf for one agent

    def __repr__(self) -> str:
        samples, agents = self.errors.shape
        span = f", t = {self.times[0]:g} to {self.times[-1]:g}" if samples else ""
        return f"<Metrics: {samples} samples of {agents} agents{span}>"


def measure_configurations(
    system: CoverageSystem, places: Points, times: Floats, *, threads: int | None = None
) -> CellMeasurements:
    """Cell measurements of all agents in each of the configurations (S, N, n), row by row.

    times : (S,) when each is assumed.
    """
    samples, agents = places.shape[:2]
    row, agent = np.divmod(np.arange(samples * agents), agents)
    return system.measure(places, row, agent, times, threads=threads)


def measure(
    system: CoverageSystem, start: AgentsState, table: EventTable, times: Floats
) -> Metrics:
    """Metrics at ascending `times`."""
    times = np.ascontiguousarray(times, dtype=np.float64)
    now = Trajectory(system, start, table, math.inf).at(times)
    return measure_at(system, now, times)


def measure_at(
    system: CoverageSystem, now: Snapshots, times: Floats, *, threads: int | None = None
) -> Metrics:
    """Metrics of the configurations in `now`, with the same bits for any number of threads."""
    seen = measure_configurations(system, now.positions, times, threads=threads)
    return metrics_of(system, now, times, seen)


def metrics_of(
    system: CoverageSystem, now: Snapshots, times: Floats, seen: CellMeasurements
) -> Metrics:
    """Metrics of configurations whose cells are already measured."""
    samples, agents = now.next_at.shape
    if seen.coincident.any():
        raise first_coincidence(now.positions[int(np.argmax(seen.coincident)) // agents])
    errors = seen.error.reshape(now.positions.shape)
    return Metrics(
        times,
        errors=error_sizes(system, errors, seen.empty.reshape(samples, agents)),
        hold_errors=hold_errors_of(system, now, errors),
        costs=costs_of(system, now.positions, times, seen),
        separations=seen.nearest.reshape(samples, agents).min(axis=1),
    )


def error_sizes(
    system: CoverageSystem, errors: Points, empty: np.ndarray, agents: Ints | None = None
) -> Floats:
    """Lengths of errors; of agents with nothing in their range, the radius: they cover nothing."""
    if system.radii is None:
        return lengths(errors)
    radii = system.radii if agents is None else system.radii[agents]
    return np.where(empty, radii, lengths(errors))


def costs_of(
    system: CoverageSystem, positions: Points, times: Floats, seen: CellMeasurements
) -> Floats:
    """The cost of each configuration of `positions`, (S, N, n), whose cells are measured.

    times : (S,) when each is assumed.
    """
    shape, scale = positions.shape[:2], np.exp(seen.log_scale)
    shares, masses = (seen.polar * scale).reshape(shape), (seen.mass * scale).reshape(shape)
    if system.radii is None:
        return np.array([math.fsum(row) for row in shares])
    costs = []
    for places, t, share, mass in zip(positions, times, shares, masses, strict=True):
        ground = system.ground_at(float(t))
        costs.append(_limited(ground, places, share, mass, system.radii))
    return np.array(costs)


def cost_in(
    ground: WeightedRegion, places: Points, seen: CellMeasurements, radii: Floats | None
) -> float:
    """The cost of one configuration in the world with this ground."""
    scale = np.exp(seen.log_scale)
    if radii is None:
        return math.fsum(seen.polar * scale)
    return _limited(ground, places, seen.polar * scale, seen.mass * scale, radii)


def _limited(
    ground: WeightedRegion, places: Points, shares: Floats, masses: Floats, radii: Floats
) -> float:
    whole = reaches_all(ground.workspace, places, radii)
    return limited_cost(shares, masses, radii, math.inf if whole else total_mass(ground))


def log_cost_of(seen: CellMeasurements, cost: float | None = None) -> float | None:
    """The logarithm of the cost, which doubles hold where they do not hold the cost; None of 0.

    With radii it is that of `cost`, which what is out of range dominates.
    """
    if cost is not None:
        return math.log(cost) if cost > 0.0 else None
    with np.errstate(divide="ignore"):
        shares = np.log(seen.polar) + seen.log_scale
    top = float(shares.max())
    return top + math.log(math.fsum(np.exp(shares - top))) if math.isfinite(top) else None


def timer_program(system: CoverageSystem) -> HoldProgram | None:
    """The timer law in numbers; None for a law of another kind."""
    timer = system.traits.timer
    return None if timer is None else timer.numbers(system.agents)


def hold_program(system: CoverageSystem) -> HoldProgram | None:
    """The timer law in numbers if its input is k1 sat(error), without feed-forward; else None."""
    return timer_program(system) if system.traits.follows == "none" else None


def hold_errors_of(system: CoverageSystem, now: Snapshots, errors: Points) -> Floats:
    """|held velocity - k1 sat(error)|; no columns for laws other than the plain timer."""
    program = hold_program(system)
    if program is None:
        return np.empty((len(errors), 0))
    return lengths(now.velocities - saturated(errors, program.k1, program.reach))


def covered_from(
    errors: Callable[[float], Floats],
    until: float,
    table: EventTable,
    metrics: Metrics | None,
    nu: float,
    *,
    finest: float = FINEST,
) -> float | None:
    """The time from which every error stays within `nu` to the end; None if it never does.

    `errors` returns all errors at any time. They are known exactly at samples and at events, then
    narrowed by bisection, to `finest` of the time, between the last time of a larger error
    and the next measurement.
    """

    samples = np.empty(0) if metrics is None else metrics.times
    late = [0.0]
    if metrics is not None and len(samples):
        late += samples[metrics.errors.max(axis=1) > nu].tolist()[-1:]
    late += table.time[lengths(table.errors) > nu].tolist()[-1:]
    last = max(late)
    after = samples[samples > last]
    return covered_after(errors, until, last, float(after[0]) if len(after) else None, nu, finest)


def sharpness(ground: WeightedRegion) -> float:
    """How sharply the beginning of coverage is located, as a share of the time."""
    return ROUGH if is_expensive(ground) else FINEST


def covered_after(
    errors: Callable[[float], Floats],
    until: float,
    last: float,
    after: float | None,
    nu: float,
    finest: float,
) -> float | None:
    """Like `covered_from`, given the last time of a larger error, and the next sample if any.

    A `last` of 0 means that there was none after the start.
    """

    def worst(t: float) -> float:
        return float(errors(t).max())

    if worst(until) > nu:
        return None
    if last == 0.0 and worst(0.0) <= nu:
        return 0.0
    if after is None:  # there are no samples: measure at some times
        probes = np.linspace(last, until, PROBES if finest < COARSE else FEW_PROBES)
        last = max([last, *(float(t) for t in probes[1:-1] if worst(float(t)) > nu)])
        after = float(probes[probes > last][0])
    for _ in range(60):
        middle = 0.5 * (last + after)
        if after - last <= finest * max(1.0, after) or not (last < middle < after):
            break
        if worst(middle) > nu:
            last = middle
        else:
            after = middle
    return after
