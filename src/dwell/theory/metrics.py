"""How good a run is, sampled along it: errors, hold errors, cost, separation."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Points
from dwell.agents import AgentsState, CoverageSystem, EventTable
from dwell.density import tessellate
from dwell.geometry.voronoi import columns

if TYPE_CHECKING:
    from dwell.hybrid import HybridArc

BLOCK = 64  # configurations handed to a thread at a time


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
class Legs:
    """Where everybody is, what each holds and when each looks next, at some times."""

    x: Floats  # (S, N)
    y: Floats
    hold_x: Floats
    hold_y: Floats
    next_at: Floats


def legs_at(start: AgentsState, table: EventTable, times: Floats) -> Legs:
    """The legs at ascending `times`, after the jumps at each."""
    from dwell._kernels import survey

    shape = (len(times), len(start.since))
    x, y, hold_x, hold_y, next_at = (np.empty(shape) for _ in range(5))
    if len(times):
        next_at[0] = start.next_at
        (x0, y0), (hx, hy) = columns(start.start), columns(start.hold)
        log = table.as_log()
        survey.legs_at(times, log, x0, y0, hx, hy, x, y, hold_x, hold_y, next_at)
    return Legs(x, y, hold_x, hold_y, next_at)


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
    legs = legs_at(start, table, times)
    if system.terms is None:
        return _measure_slowly(system, legs, times)
    samples, agents = legs.x.shape
    errors, hold_errors = np.empty((samples, agents)), np.empty((samples, agents))
    costs, separations = np.empty(samples), np.empty(samples)
    k1, reach = _saturation(system)

    def survey_rows(block: tuple[int, int]) -> None:
        from dwell._kernels.scratch import make_scratch
        from dwell._kernels.survey import survey_block

        survey_block(
            *block, legs.x, legs.y, legs.hold_x, legs.hold_y, *columns(system.workspace.vertices),
            system.terms, k1, reach, errors, hold_errors, costs, separations,
            make_scratch(agents, len(system.workspace.vertices)),
        )  # fmt: skip

    in_blocks(survey_rows, samples, threads)
    if k1 == 0.0:
        hold_errors = np.empty((samples, 0))
    return Metrics(times, errors, hold_errors, costs, separations)


def in_blocks(work: Any, rows: int, threads: int | None) -> None:
    """Call `work((lo, hi))` over all rows, on several threads; kernels release the lock."""
    blocks = [(lo, min(lo + BLOCK, rows)) for lo in range(0, rows, BLOCK)]
    count = min(threads or os.cpu_count() or 1, max(len(blocks), 1))
    if count == 1:
        for block in blocks:
            work(block)
        return
    work((0, 0))  # compile once, not on every thread
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, blocks))


def _saturation(system: CoverageSystem) -> tuple[float, float]:
    """k1 and (1 - epsilon) nu of the law, or (0, 1) for a law that has no such thing."""
    law = system.controller
    if hasattr(law, "program"):
        return float(law.k1), float(law.reach)  # type: ignore[attr-defined]
    return 0.0, 1.0


def _measure_slowly(system: CoverageSystem, legs: Legs, times: Floats) -> Metrics:
    """The same through Python, for densities that only Python can evaluate."""
    from dwell._kernels.timer import saturated

    samples, agents = legs.x.shape
    k1, reach = _saturation(system)
    errors, hold_errors = np.empty((samples, agents)), np.empty((samples, agents))
    costs, separations = np.empty(samples), np.empty(samples)
    for k in range(samples):
        points: Points = np.column_stack([legs.x[k], legs.y[k]])
        cells = tessellate(system.workspace, points, system.density)
        errors[k] = np.hypot(*cells.errors.T)
        wanted = np.array([saturated(*e, k1, reach) for e in cells.errors])
        held = np.column_stack([legs.hold_x[k], legs.hold_y[k]])
        hold_errors[k] = np.hypot(*(held - wanted).T)
        costs[k] = cells.cost
        separations[k] = _separation(points)
    if k1 == 0.0:
        hold_errors = np.empty((samples, 0))
    return Metrics(times, errors, hold_errors, costs, separations)


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
    sampled = metrics.times[metrics.errors.max(axis=1) > nu] if len(metrics.times) else []
    event_errors = np.hypot(table.error_x, table.error_y)
    late = [float(times[-1]) for times in (sampled, table.time[event_errors > nu]) if len(times)]
    if not late:
        return 0.0
    last = max(late)
    if last >= arc.until or _worst(arc, arc.until) > nu:
        return None
    after = metrics.times[metrics.times > last]
    return _narrowed(arc, nu, last, float(after[0]) if len(after) else arc.until)


def _worst(arc: HybridArc[AgentsState], t: float) -> float:
    """Largest error at time t."""
    system = arc.system
    assert isinstance(system, CoverageSystem)
    points = arc.at(t).positions
    return max(float(np.hypot(*system.look(points, p).error)) for p in range(system.agents))


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
