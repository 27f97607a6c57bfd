"""Laws under which everybody looks at the same times: all looks of one time at once, on all cores.

Jumps at one time see the same places, whoever comes first; so they may be computed side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dwell._types import Floats, lengths
from dwell.agents.compiled import Parts, places_in
from dwell.agents.events import EventTable
from dwell.agents.rooms import kernel
from dwell.agents.system import CoverageSystem
from dwell.cells.backend import measure_cells

if TYPE_CHECKING:
    from dwell._kernels.hold import HoldProgram

WORTHWHILE = 1_000  # agents from which threads gain more than they cost


def least_chunk(system: CoverageSystem, program: HoldProgram) -> int:
    """How many jumps must be allowed at a time, so that nobody is left behind by a step."""
    return system.agents if system.agents >= WORTHWHILE and _is_periodic(program) else 0


def step_together(
    system: CoverageSystem, parts: Parts, program: HoldProgram, until: float, jumps: int
) -> EventTable | None:
    """The jumps of everybody at the next time, or None where the kernel must make them.

    That is so where not all are due at once, where `jumps` does not let all of them jump, and where
    agents meet. Changes the legs as the kernel would.
    """
    legs, number = parts.legs, parts.number
    if system.agents < WORTHWHILE or jumps < system.agents:
        return None
    t = float(legs.due[0])
    if t > until or not (legs.due == t).all() or not _is_periodic(program):
        return None
    return _jumped(system, parts, program, t, np.argsort(number))


def _is_periodic(program: HoldProgram) -> bool:
    from dwell._kernels.hold import PERIODIC

    return bool(program.rule == PERIODIC)


def _jumped(
    system: CoverageSystem, parts: Parts, program: HoldProgram, t: float, order: Any
) -> EventTable | None:
    legs, n = parts.legs, system.dimension
    column = kernel(n, "legs")
    places = places_in(legs.row, t, program.cruise, n)[order]
    everybody = np.arange(system.agents)
    seen = measure_cells(
        system.ground, places[None], np.zeros_like(everybody), everybody, threads=None
    )
    if seen.met.any():
        return None
    holds = _inputs(seen.error, program)
    before = legs.row[order, n : 2 * n]
    following = _next_looks(
        legs.row[order, column.LOOKS], legs.row[order, column.FIRST_AT], program, system.agents
    )
    table = EventTable.blank(system.agents, n)
    values = {
        "time": t, "agent": everybody, "positions": places, "holds": holds, "next_at": following,
        "errors": seen.error, "hold_error": lengths(before - holds), "neighbors": seen.neighbors,
        "nearest": seen.nearest, "empty": seen.empty,
    }  # fmt: skip
    for name, value in values.items():
        getattr(table, name)[...] = value
    legs.row[order, :n] = places
    legs.row[order, n : 2 * n] = holds
    legs.row[order, column.SINCE] = t
    legs.row[order, column.LOOKS] += 1.0
    _requeue(parts, following, order)
    _note_speeds(holds, parts)
    return table


def _inputs(errors: Floats, program: HoldProgram) -> Floats:
    """k1 sat(e), as the kernels compute it."""
    size = lengths(errors)
    scale = np.where(size > program.reach, size, program.reach)
    inputs: Floats = program.k1 * (errors / scale[:, None])
    return inputs


def _next_looks(looks: Floats, first: Floats, program: HoldProgram, agents: int) -> Floats:
    """As the kernel `periodic_look` says it, of everybody."""
    period = np.broadcast_to(program.period, (agents,))
    following: Floats = np.where(
        first == period, (looks + 2.0) * period, first + (looks + 1.0) * period
    )
    return following


def _note_speeds(holds: Floats, parts: Parts) -> None:
    """Tell the kernel's bins, which trust in the fastest; its tree has to be built anew."""
    from dwell._kernels.bins import FASTEST

    clock = parts.memory[0].clock
    clock[FASTEST] = max(float(clock[FASTEST]), float((holds * holds).sum(axis=1).max()))
    if holds.shape[1] == 2:
        parts.memory[1].built[0] = False


def _requeue(parts: Parts, following: Floats, order: Any) -> None:
    """Put everybody back into the queue: by time, then by number."""
    from dwell._kernels.queue import entries

    sequence = np.argsort(following, kind="stable")
    parts.legs.due[:] = following[sequence]
    parts.legs.queue[:] = entries(sequence, order[sequence])
