"""A stored run reconstructed from its table, without the engine."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Ints, Points, at_time, lengths
from dwell.agents import AgentsState, CoverageSystem, EventTable, Legs
from dwell.cells.backend import measure_cells
from dwell.controllers.saturation import saturated

if TYPE_CHECKING:
    from dwell._kernels.common.hold_law import HoldProgram

BLOCK = 8192


@final
@dataclass(frozen=True, eq=False)
class MeasuredJumps:
    """What agents measured, one entry per jump."""

    errors: Points  # (jumps, n)
    neighbors: Ints
    nearest: Floats
    empty: np.ndarray

    @classmethod
    def joined(cls, parts: list[MeasuredJumps], dimension: int) -> MeasuredJumps:
        """Several in a row; nothing if there are none."""
        if not parts:
            none = np.empty(0)
            return cls(np.empty((0, dimension)), none.astype(np.int64), none, none.astype(bool))
        return cls(
            *(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls))
        )


@final
class Replay:
    """Positions and velocities of all agents at each jump of a table."""

    def __init__(self, system: CoverageSystem, start: AgentsState, table: EventTable) -> None:
        self.system = system
        self.start = start
        self.table = table
        self.previous, self.number = self._chain()

    def _chain(self) -> tuple[np.ndarray, np.ndarray]:
        """For each jump, the same agent's jump before it (-1: none) and how many came before."""
        previous = np.full(len(self.table), -1, dtype=np.int64)
        number = np.zeros(len(self.table), dtype=np.int64)
        for p in range(self.system.agents):
            rows = self.table.of_agent(p)
            previous[rows[1:]] = rows[:-1]
            number[rows] = self.start.looks[p] + np.arange(len(rows))
        return previous, number

    def where(self, k: int) -> str:
        """Jump k in words."""
        return f"jump {k + 1}, agent {self.table.agent[k]}, {at_time(self.table.time[k])}"

    def _before(self, column: Floats, first: Floats) -> Floats:
        """A quantity as each jumping agent's last jump left it."""
        at_start = first[self.table.agent]
        return np.where(self.previous >= 0, column[self.previous], at_start)

    def due_before(self) -> Floats:
        """When each jump was due."""
        return self._before(self.table.next_at, self.start.next_at)

    def own_positions(self) -> Points:
        """Where each jumping agent must be, from its own last jump, (jumps, n)."""
        places = np.empty(self.table.positions.shape)
        for p, legs in enumerate(self.legs):
            rows = self.table.of_agent(p)
            places[rows] = legs.take(np.arange(len(rows))).at(self.table.time[rows])
        return places

    @cached_property
    def reach(self) -> float:
        """The largest coordinate: positions are rounded in proportion to it."""
        return float(np.abs(self.system.workspace.bounds).max())

    @cached_property
    def legs(self) -> list[Legs]:
        """Trajectory segments of each agent, the first one first."""
        return [self.table.legs(self.start, p) for p in range(self.system.agents)]

    def last_due(self) -> Floats:
        """When each agent is due after its last jump."""
        due = self.start.next_at.copy()
        for p in range(self.system.agents):
            rows = self.table.of_agent(p)
            if len(rows):
                due[p] = self.table.next_at[rows[-1]]
        return due

    def configurations(self, lo: int, hi: int) -> Points:
        """Positions of all agents at jumps lo..hi, (hi - lo, N, n)."""
        places = np.empty((hi - lo, self.system.agents, self.system.dimension))
        for q, legs in enumerate(self.legs):
            made = np.searchsorted(self.table.of_agent(q), np.arange(lo, hi))
            places[:, q] = legs.take(made).at(self.table.time[lo:hi])
        return places

    def positions_at_row(self, row: int) -> Points:
        """Positions of all agents at one jump, (N, n)."""
        places: Points = self.configurations(row, row + 1)[0]
        return places

    def final_positions(self, until: float) -> Points:
        """Positions of all agents at the end."""
        return np.array([legs.take(-1).at(until) for legs in self.legs])

    def looks(self, tell: Any) -> MeasuredJumps:
        """What each sample must have measured, from the reconstructed positions."""
        parts = []
        for lo in range(0, len(self.table), BLOCK):
            hi = min(lo + BLOCK, len(self.table))
            rows, agents = np.arange(hi - lo), self.table.agent[lo:hi]
            places = self.configurations(lo, hi)
            seen = measure_cells(self.system.ground, places, rows, agents, threads=None)
            parts.append(MeasuredJumps(seen.error, seen.neighbors, seen.nearest, seen.empty))
            tell("checking", hi / len(self.table))
        return MeasuredJumps.joined(parts, self.system.dimension)

    def hold_errors(self) -> Floats:
        """How much each jump changed the held velocity."""
        before = [
            self._before(self.table.holds[:, k], self.start.hold[:, k])
            for k in range(self.system.dimension)
        ]
        return lengths(np.stack(before, axis=-1) - self.table.holds)

    def expected_holds(self, errors: Points, program: HoldProgram) -> Points:
        """The velocity the law gives for each of `errors`."""
        return saturated(errors, program.k1, program.reach)


def expected_next_at(system: CoverageSystem, replay: Replay, program: HoldProgram) -> Floats:
    """When each agent must sample next, by its rule and its own draws."""
    p, t, k = replay.table.agent, replay.table.time, replay.number
    from dwell._kernels.common.hold_law import EARLIEST, LATEST, PERIODIC, SEQUENCE, UNIFORM

    rule = program.rule
    if rule == PERIODIC:
        first, period = replay.start.first[p], program.period[p]
        counted: Floats = np.where(first == period, (k + 2) * period, first + (k + 1) * period)
        return counted
    interval: Floats
    t1, t2 = program.t1[p], program.t2[p]
    if rule in (EARLIEST, LATEST):
        interval = t1 if rule == EARLIEST else t2
    elif rule == SEQUENCE:
        interval = program.intervals[p, k % program.intervals.shape[1]]
    else:
        draws = philox_uniform(system.key, np.array(system.streams)[p], k)
        if rule == UNIFORM:
            interval = np.minimum(t1 + draws * (t2 - t1), t2)
        else:
            interval = _after_losses(draws, t1, t2, program.loss)
    due: Floats = t + interval
    return due


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
