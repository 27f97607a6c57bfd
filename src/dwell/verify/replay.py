"""The measurements and dwell times that the jumps of a run must have, without the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells.backend import measure_cells
from dwell.verify.recorded import Recorded

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

BLOCK = 8192  # jumps measured at once


@final
@dataclass(frozen=True, eq=False)
class MeasuredJumps:
    """What agents measured, one entry per jump."""

    errors: Points  # (jumps, n)
    neighbors: Ints
    nearest: Floats
    empty: np.ndarray


def measured_jumps(run: Recorded, tell: Any) -> MeasuredJumps:
    """The measurement of each jump, from the reconstructed positions."""
    jumps = len(run.table)
    counts, flags = np.empty(jumps, dtype=np.int64), np.empty(jumps, dtype=bool)
    found = MeasuredJumps(np.empty((jumps, run.system.dimension)), counts, np.empty(jumps), flags)
    for lo in range(0, jumps, BLOCK):
        part = slice(lo, min(lo + BLOCK, jumps))
        agents, positions = run.table.agent[part], run.configurations(lo, part.stop)
        rows = np.arange(len(agents))
        seen = measure_cells(run.system.ground, positions, rows, agents, threads=None)
        found.errors[part], found.neighbors[part] = seen.error, seen.neighbors
        found.nearest[part], found.empty[part] = seen.nearest, seen.empty
        tell("checking", part.stop / jumps)
    return found


def expected_next_at(run: Recorded, program: HoldProgram) -> Floats:
    """When each agent must sample next, by its rule and its own draws."""
    from dwell._kernels.common.hold_law import EARLIEST, LATEST, PERIODIC, SEQUENCE, UNIFORM

    p, t, k = run.table.agent, run.table.time, run.number
    rule = program.rule
    if rule == PERIODIC:
        first, period = run.start.first[p], program.period[p]
        counted: Floats = np.where(first == period, (k + 2) * period, first + (k + 1) * period)
        return counted
    interval: Floats
    t1, t2 = program.t1[p], program.t2[p]
    if rule in (EARLIEST, LATEST):
        interval = t1 if rule == EARLIEST else t2
    elif rule == SEQUENCE:
        interval = program.intervals[p, k % program.intervals.shape[1]]
    else:
        draws = philox_uniform(run.system.key, np.array(run.system.streams)[p], k)
        if rule == UNIFORM:
            interval = np.minimum(t1 + draws * (t2 - t1), t2)
        else:
            interval = _after_losses(draws, t1, t2, program.loss)
    return t + interval


def _after_losses(draws: Floats, t1: Floats, t2: Floats, loss: float) -> Floats:
    """t1 for each attempt until one succeeds, t2 at most."""
    attempts, chance = np.ones(len(draws)), np.full(len(draws), loss)
    while True:
        again = (draws < chance) & (attempts * t1 < t2)
        if not again.any():
            return np.minimum(attempts * t1, t2)
        attempts = attempts + again
        chance = np.where(again, chance * loss, chance)


def philox_uniform(key: tuple[int, int], stream: Any, k: Any) -> Floats:
    """Draw k of each stream in [0, 1): Philox4x32-10 over unsigned 64-bit arrays."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    k = np.asarray(k, dtype=np.uint64)
    c = [k & low, k >> half, np.asarray(stream, dtype=np.uint64), np.zeros_like(k)]
    keys = [key[0], key[1]]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        first, second = np.uint64(keys[0]), np.uint64(keys[1])
        c = [(b >> half) ^ c[1] ^ first, b & low, (a >> half) ^ c[3] ^ second, a & low]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    bits = (c[0] >> np.uint64(5)) * np.uint64(1 << 26) + (c[1] >> np.uint64(6))
    draws: Floats = bits.astype(np.float64) * 2.0**-53
    return draws
