"""Synchronous laws: the cells of all agents are measured at once, on all cores.

Jumps at one time depend on the same positions, in any order, so they may be computed in parallel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, lengths
from dwell.agents.events import EventTable
from dwell.agents.system import CoverageSystem
from dwell.cells.backend import measure_cells
from dwell.engine.compiled import CompiledRun, places_in

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

WORTHWHILE = 1_000  # agents from which threads gain more than they cost


def least_chunk(system: CoverageSystem, program: HoldProgram) -> int:
    """Return the least number of jumps of a chunk in which all agents can jump."""
    return system.agents if system.agents >= WORTHWHILE and _is_periodic(program) else 0


def step_together(
    run: CompiledRun, program: HoldProgram, until: float, jumps: int
) -> EventTable | None:
    """Return the jumps of all agents at the next time, or None where the kernel must make them.

    That is so where not all are due at once, where `jumps` does not let all of them jump, and where
    agents coincide. Changes the segments as the kernel would.
    """
    system, segments = run.system, run.segments
    if system.agents < WORTHWHILE or jumps < system.agents:
        return None
    t = float(segments.due[0])
    if t > until or not (segments.due == t).all() or not _is_periodic(program):
        return None
    return _jumped(run, program, t, np.argsort(run.number))


def _is_periodic(program: HoldProgram) -> bool:
    from dwell._kernels.common.hold_law import PERIODIC

    return bool(program.rule == PERIODIC)


def _jumped(run: CompiledRun, program: HoldProgram, t: float, order: Any) -> EventTable | None:
    from dwell._kernels.common.hold_law import decide_together
    from dwell._kernels.common.segments import AFTER_FIRST, AFTER_SAMPLES, AFTER_SINCE

    system, row = run.system, run.segments.row
    n = system.dimension
    places = places_in(row, t, program.cruise, n)[order]
    agents = np.arange(system.agents)
    seen = measure_cells(system.ground, places[None], np.zeros_like(agents), agents, threads=None)
    if seen.coincident.any():
        return None
    table = EventTable.blank(system.agents, n)
    values = {
        "time": t, "agent": agents, "positions": places, "errors": seen.error,
        "neighbors": seen.neighbors, "nearest": seen.nearest, "empty": seen.empty,
    }  # fmt: skip
    for name, value in values.items():
        getattr(table, name)[...] = value
    event_counts, first = row[order, 2 * n + AFTER_SAMPLES], row[order, 2 * n + AFTER_FIRST]
    decide_together(t, first, event_counts, table.errors.T, program, table.holds.T, table.next_at)
    table.hold_error[:] = lengths(row[order, n : 2 * n] - table.holds)
    row[order, :n] = places
    row[order, n : 2 * n] = table.holds
    row[order, 2 * n + AFTER_SINCE] = t
    row[order, 2 * n + AFTER_SAMPLES] += 1.0
    _requeue(run, table.next_at, order)
    _note_speeds(run, table.holds)
    return table


def _note_speeds(run: CompiledRun, holds: Floats) -> None:
    """Bring the kernel's bins up to date, and have its tree built anew."""
    from dwell._kernels.polygon.cell_list import FASTEST

    bins, tree = (getattr(run.memory, name, None) for name in ("bins", "tree"))
    if bins is not None:
        fastest = float((holds * holds).sum(axis=1).max())
        bins.clock[FASTEST] = max(float(bins.clock[FASTEST]), fastest)
    if tree is not None:
        tree.built[0] = False


def _requeue(run: CompiledRun, following: Floats, order: Any) -> None:
    """Fill the queue: by time, then by number."""
    from dwell._kernels.common.segments import entries

    sequence = np.argsort(following, kind="stable")
    run.segments.due[:] = following[sequence]
    run.segments.queue[:] = entries(sequence, order[sequence])
