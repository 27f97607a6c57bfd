"""How good a run is, sampled along it: errors, hold errors, cost, separation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Points
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.controllers import Timer
from dwell.density import tessellate
from dwell.density.looking import look_many
from dwell.density.tessellation import first_coincidence

if TYPE_CHECKING:
    from dwell._kernels.hold import HoldProgram
    from dwell.hybrid import HybridArc

PROBES = 129  # times looked at where no samples were kept


@final
@dataclass(frozen=True, eq=False)
class Metrics:
    """Quantities at ascending times, after the jumps at each."""

    times: Floats  # (S,)
    errors: Floats  # (S, N): |centroid - position|
    hold_errors: Floats  # (S, N): |held velocity - k1 sat(error)|; shape (S, 0) if not defined
    costs: Floats  # (S,)
    separations: Floats  # (S,) smallest distance between two agents; inf for one agent


@final
@dataclass(frozen=True, eq=False)
class Snapshots:
    """Where everybody is, how each moves and when each decides next, at some times."""

    x: Floats  # (S, N)
    y: Floats
    hold_x: Floats  # velocity
    hold_y: Floats
    next_at: Floats


def snapshots(start: AgentsState, table: EventTable, times: Floats) -> Snapshots:
    """Everybody at ascending `times`, after the jumps at each."""
    shape = (len(times), len(start.since))
    x, y, hold_x, hold_y, next_at = (np.empty(shape) for _ in range(5))
    for p in range(shape[1]) if len(times) else ():
        rows = table.of_agent(p)
        made = np.searchsorted(table.time[rows], times, side="right")
        legs = table.legs(start, p).take(made)
        x[:, p], y[:, p] = legs.at(times)
        hold_x[:, p], hold_y[:, p] = legs.velocity_at(times)
        next_at[:, p] = legs.next_at
    return Snapshots(x, y, hold_x, hold_y, next_at)


def measure(
    system: CoverageSystem,
    start: AgentsState,
    table: EventTable,
    times: Floats,
    *,
    threads: int | None = None,
) -> Metrics:
    """Metrics at ascending `times`; the same bits for any number of threads."""
    times = np.ascontiguousarray(times, dtype=np.float64)
    legs = snapshots(start, table, times)
    if system.terms is None:
        return _measure_slowly(system, legs, times)
    samples, agents = legs.x.shape
    row, agent = np.divmod(np.arange(samples * agents), agents)
    seen = look_many(system.workspace, system.terms, legs.x, legs.y, row, agent, threads=threads)
    if seen.met.any():
        k = int(row[np.argmax(seen.met)])
        raise first_coincidence(np.column_stack([legs.x[k], legs.y[k]]))
    ex, ey = seen.error_x.reshape(samples, agents), seen.error_y.reshape(samples, agents)
    shares = (seen.polar * np.exp(seen.log_scale)).reshape(samples, agents)
    return Metrics(
        times,
        errors=np.sqrt(ex * ex + ey * ey),
        hold_errors=_hold_errors(system, legs, ex, ey),
        costs=np.array([math.fsum(row) for row in shares]),
        separations=seen.nearest.reshape(samples, agents).min(axis=1),
    )


def timer_program(system: CoverageSystem) -> HoldProgram | None:
    """The timer law in numbers; None for any other law."""
    law = system.controller
    return law.numbers(system.agents) if isinstance(law, Timer) else None


def _hold_errors(system: CoverageSystem, legs: Snapshots, ex: Floats, ey: Floats) -> Floats:
    """|held velocity - k1 sat(error)|; no columns for laws other than the timer."""
    program = timer_program(system)
    if program is None:
        return np.empty((len(ex), 0))
    size = np.sqrt(ex * ex + ey * ey)
    scale = np.where(size > program.reach, size, program.reach)
    dx = legs.hold_x - program.k1 * (ex / scale)
    dy = legs.hold_y - program.k1 * (ey / scale)
    gap: Floats = np.sqrt(dx * dx + dy * dy)
    return gap


def _measure_slowly(system: CoverageSystem, legs: Snapshots, times: Floats) -> Metrics:
    """The same through Python, for densities that only Python can evaluate."""
    samples, agents = legs.x.shape
    errors = np.empty((samples, agents, 2))
    costs, separations = np.empty(samples), np.empty(samples)
    for k in range(samples):
        points: Points = np.column_stack([legs.x[k], legs.y[k]])
        cells = tessellate(system.workspace, points, system.density)
        errors[k], costs[k], separations[k] = cells.errors, cells.cost, _separation(points)
    ex, ey = errors[..., 0], errors[..., 1]
    hold_errors = _hold_errors(system, legs, ex, ey)
    return Metrics(times, np.sqrt(ex * ex + ey * ey), hold_errors, costs, separations)


def _separation(points: Points) -> float:
    gaps = points[:, None, :] - points[None, :, :]
    distance = np.hypot(gaps[..., 0], gaps[..., 1])
    np.fill_diagonal(distance, np.inf)
    return float(distance.min())


def covered_from(
    arc: HybridArc[AgentsState], table: EventTable, metrics: Metrics, nu: float
) -> float | None:
    """The time from which every error stays within `nu` to the end; None if it never does.

    Known exactly at samples and at events, then narrowed by bisection between the last time a
    larger error was seen and the next look at it.
    """
    late = [0.0] if _worst(arc, 0.0) > nu else []
    if len(metrics.times):
        late += metrics.times[metrics.errors.max(axis=1) > nu].tolist()[-1:]
    late += table.time[np.hypot(table.error_x, table.error_y) > nu].tolist()[-1:]
    if _worst(arc, arc.until) > nu:
        return None
    if not late:
        return 0.0
    last = max(late)
    after = metrics.times[metrics.times > last]
    if not len(after):  # no samples to go by: look at some times of our own
        probes = np.linspace(last, arc.until, PROBES)
        bad = [t for t in probes[1:-1] if _worst(arc, float(t)) > nu]
        last = max([last, *map(float, bad)])
        after = probes[probes > last]
    return _narrowed(arc, nu, last, float(after[0]))


def _worst(arc: HybridArc[AgentsState], t: float) -> float:
    """Largest error at time t."""
    system = arc.system
    assert isinstance(system, CoverageSystem)
    points = arc.at(t).positions
    return max(float(np.hypot(*look.error)) for look in system.looks(points))


def _narrowed(arc: HybridArc[AgentsState], nu: float, bad: float, good: float) -> float:
    for _ in range(60):
        middle = 0.5 * (bad + good)
        if good - bad <= 1e-9 * max(1.0, good) or not (bad < middle < good):
            break
        if _worst(arc, middle) > nu:
            bad = middle
        else:
            good = middle
    return good
