"""Measurements of many cells as one table; work in blocks on several threads."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from dwell._kernels.common.cell_table import (
    E0,
    E1,
    E2,
    LOG_SCALE,
    MASS,
    MASS_ERROR,
    NEAREST,
    NEIGHBORS,
    PLANAR,
    POLAR,
    SECOND,
    STATUS,
)
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._types import Floats, Ints, Points, lengths
from dwell.geometry import Workspace

ERRORS = (E0, E1, E2)  # the columns of errors, which are not all side by side
BLOCK = 2048  # cells that a thread takes at a time
CACHED = 16_384  # rows that fit into the cache
LEAST = 256  # for fewer a thread costs more than it gains

Made = TypeVar("Made")
Loop = tuple[Any, Any, Any]  # a compiled event loop, its domain and its buffers


@final
@dataclass(frozen=True, eq=False, slots=True)
class CellMeasurement:
    """The Voronoi cell of one agent, as measured at a sample."""

    agent: int
    error: Points  # (n,) centroid of the cell minus own position
    mass: float  # of the cell
    neighbors: int  # agents whose cells share a facet with it
    nearest: float  # distance of the nearest other agent; inf if there is none
    empty: bool  # whether the cell has no mass; the error then points into the workspace
    # Where agents stay in a region that is not convex, the error points along the first straight
    # stretch of the way to the target, and is as long as the whole way; the agent stops at the
    # end of the stretch.
    stretch: float = math.inf


@final
@dataclass(frozen=True, eq=False)
class CellMeasurements:
    """Measured cells, one entry per agent and configuration."""

    coincident: np.ndarray  # whether another agent is at the same position; the rest is then void
    empty: np.ndarray  # whether the cell weighed nothing
    error: Points  # (K, n) centroid minus position
    log_scale: Floats  # mass and moments are to be multiplied by its exponential
    mass: Floats
    polar: Floats  # second moment about the position
    neighbors: Ints
    nearest: Floats  # distance of the nearest other agent; inf if there is none
    second: Floats | None = None  # second moment about the centroid, where it came along
    doubt: Floats | None = None  # bound on the relative error of the mass; 0 or None: rounding only
    stretch: Floats | None = None  # how far an agent moves straight; None: as far as it likes

    def cell(self, k: int, agent: int) -> CellMeasurement | None:
        """Entry k, which is that of `agent`; None where another agent is at the same position."""
        if self.coincident[k]:
            return None
        return CellMeasurement(
            agent,
            self.error[k].copy(),
            float(self.mass[k] * np.exp(self.log_scale[k])),
            int(self.neighbors[k]),
            float(self.nearest[k]),
            bool(self.empty[k]),
            math.inf if self.stretch is None else float(self.stretch[k]),
        )


def of_one(points: Points, agents: Ints) -> tuple[Points, Ints, Ints]:
    """The cells of `agents` among `points`, (N, n), as configurations, rows and agents."""
    return points[None], np.zeros_like(agents), agents


def absent(count: int, dimension: int) -> CellMeasurements:
    """Measurements of agents that have no cell: without mass, error and neighbours."""
    no, whole, zero = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64), np.zeros(count)
    error, far = np.zeros((count, dimension)), np.full(count, np.inf)
    return CellMeasurements(no, no.copy(), error, zero, zero.copy(), zero.copy(), whole, far)


def in_one(
    parts: Sequence[tuple[Ints, CellMeasurements]], count: int, dimension: int
) -> CellMeasurements:
    """Measurements as one table: those of each part at its indices, `absent` at all others."""
    blank = absent(count, dimension)
    columns: dict[str, Any] = {f.name: getattr(blank, f.name) for f in fields(blank)}
    for name in ("second", "doubt", "stretch"):
        if any(getattr(found, name) is not None for _, found in parts):
            columns[name] = np.zeros(count)
    for where, found in parts:
        for name, values in columns.items():
            own = getattr(found, name)
            if values is not None and own is not None:
                values[where] = own
    return CellMeasurements(**columns)


def together(several: Sequence[CellMeasurements]) -> CellMeasurements:
    """Several cells of each agent as one: masses add up, and so do first and second moments."""
    heavy = [np.where(one.mass > 0.0, one.log_scale, -np.inf) for one in several]
    scale = np.max(heavy, axis=0)
    scale = np.where(np.isfinite(scale), scale, 0.0)
    shares = [np.exp(one.log_scale - scale) for one in several]
    masses = [one.mass * share for one, share in zip(several, shares, strict=True)]
    mass = np.sum(masses, axis=0)
    first = np.sum([m[:, None] * one.error for one, m in zip(several, masses, strict=True)], axis=0)
    inward = np.sum([one.error * one.empty[:, None] for one in several], axis=0)
    weightless = mass == 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(weightless[:, None], inward, first / mass[:, None])
    doubts = [0.0 if one.doubt is None else one.doubt for one in several]
    return CellMeasurements(
        coincident=np.any([one.coincident for one in several], axis=0),
        empty=weightless & np.any([one.empty for one in several], axis=0),
        error=error,
        log_scale=scale,
        mass=mass,
        polar=np.sum([one.polar * s for one, s in zip(several, shares, strict=True)], axis=0),
        neighbors=np.sum([one.neighbors for one in several], axis=0),
        nearest=np.min([one.nearest for one in several], axis=0),
        doubt=np.max([np.broadcast_to(doubt, mass.shape) for doubt in doubts], axis=0),
    )


def measurements_of(
    table: Floats, dimension: int, second: Floats | None = None, threads: int | None = 1
) -> CellMeasurements:
    """Measurements from a kernel's table, (K, columns): see `_kernels.common.cell_table`.

    A planar table has no second moments about centroids; `second` may give them.
    """
    column = _columns_of(table, threads)
    wide = len(column) > PLANAR
    squared, status = column[NEAREST], column[STATUS]
    return CellMeasurements(
        coincident=status == COINCIDENT,
        empty=status == NO_MASS,
        error=column[[*ERRORS[:dimension]]].T,
        log_scale=column[LOG_SCALE],
        mass=column[MASS],
        polar=column[POLAR],
        neighbors=column[NEIGHBORS].astype(np.int64),
        nearest=np.sqrt(np.where(squared >= 0.0, squared, np.inf)),
        second=column[SECOND] if wide else second,
        doubt=column[MASS_ERROR] if wide else None,
    )


def cell_in_row(row: Floats, agent: int, dimension: int) -> CellMeasurement | None:
    """The cell of `agent` from its row in a kernel's table: see `CellMeasurements.cell`."""
    values = row.tolist()
    status, squared, scale = values[STATUS], values[NEAREST], values[LOG_SCALE]
    if status == COINCIDENT:
        return None
    return CellMeasurement(
        agent,
        np.array([values[k] for k in ERRORS[:dimension]]),
        values[MASS] if scale == 0.0 else float(values[MASS] * np.exp(scale)),
        int(values[NEIGHBORS]),
        math.sqrt(squared) if squared >= 0.0 else math.inf,
        status == NO_MASS,
    )


def errors_in(table: Floats, dimension: int) -> Points:
    """The errors in a kernel's table, (K, n)."""

    errors: Points = table[:, [*ERRORS[:dimension]]]
    return errors


def _columns_of(table: Floats, threads: int | None) -> Floats:
    """The transpose, in one piece; by blocks that fit into the cache."""
    if len(table) <= CACHED:  # a thread takes longer to start
        return np.ascontiguousarray(table.T)
    columns = np.empty(table.shape[::-1])

    def work(lo: int, hi: int) -> None:
        columns[:, lo:hi] = table[lo:hi].T

    in_blocks(work, len(table), threads, CACHED)
    return columns


@final
@dataclass(frozen=True, eq=False)
class Moments:
    """What a density weighs over a region, and where."""

    mass: float  # 0 where it is below the smallest double: see log_mass
    log_mass: float  # natural logarithm of the mass, right also far out in a tail
    centroid: Points  # (n,)
    offset: Points  # (n,) the same from a polygon's first corner, a cell's agent, or the middle of
    # any other workspace: no rounding
    second_moment: float  # integral of |z - centroid|**2
    error: float = 0.0  # bound on the mass's relative error, inf for a mass of 0; 0: rounding only


class Weighed(NamedTuple):
    """Moments of a density over a cell, seen from its agent and divided by exp(log_scale)."""

    log_scale: float
    mass: float
    error: Points  # (n,) the centroid
    second: float  # about the centroid
    doubt: float  # bound on the mass's relative error; 0: rounding only


def one_by_one(
    measure: Callable[[Points, int], tuple[int, Weighed]],
    workspace: Workspace,
    positions: Points,
    row: Ints,
    agent: Ints,
) -> CellMeasurements:
    """The cells of agent[k] in configuration row[k] of `positions`, measured one after another.

    `measure` returns the number of neighbours and the moments of an agent's cell.
    """
    count = len(row)
    coincident, empty = np.zeros((2, count), dtype=bool)
    neighbors, error = np.zeros(count, dtype=np.int64), np.zeros((count, positions.shape[2]))
    log_scale, mass, polar, second, doubt, nearest = np.zeros((6, count))
    for k in range(count):
        points, p = np.asarray(positions[row[k]], dtype=np.float64), int(agent[k])
        distance = lengths(points - points[p])
        distance[p] = np.inf
        nearest[k] = distance.min()
        coincident[k] = nearest[k] == 0.0
        if coincident[k]:
            continue
        neighbors[k], found = measure(points, p)
        empty[k] = not found.mass > 0.0
        if empty[k]:
            error[k] = workspace.nearest(points[p : p + 1])[0] - points[p]
            continue
        log_scale[k], mass[k], error[k], second[k], doubt[k] = found
        polar[k] = second[k] + mass[k] * float((error[k] * error[k]).sum())
    return CellMeasurements(
        coincident, empty, error, log_scale, mass, polar, neighbors, nearest, second, doubt
    )


def one_per_thread(make: Callable[[], Made]) -> Callable[[], Made]:
    """A function that returns the result of `make`, called once on each thread.

    For large working memory, which the system would have to clear for each block.
    """
    own = threading.local()

    def get() -> Made:
        if not hasattr(own, "made"):
            own.made = make()
        made: Made = own.made
        return made

    return get


def in_blocks(
    work: Callable[[int, int], None], count: int, threads: int | None, block: int = BLOCK
) -> None:
    """Call `work(lo, hi)` over `count` things, on several threads; kernels release the lock.

    Between blocks an interrupt from the keyboard is heard, and the rest is left undone.
    """
    if count <= min(block, LEAST):
        work(0, count)
        return
    most = threads or os.cpu_count() or 1
    block = min(block, max(LEAST, -(-count // most)))  # so that all of them have work
    edges = [*range(0, max(count, 1), block), count]
    workers = min(most, len(edges) - 1)
    if workers <= 1:
        for lo, hi in pairwise(edges):
            work(lo, hi)
        return
    work(0, 0)  # compile once, not on every thread
    blocks = iter(list(pairwise(edges)))  # a free thread takes the next one

    def take() -> None:
        for lo, hi in blocks:
            work(lo, hi)

    with ThreadPoolExecutor(workers - 1) as pool:
        try:
            others = [pool.submit(take) for _ in range(workers - 1)]
            take()  # this thread works, too: it need not be started
            for other in others:
                other.result()
        finally:  # an interrupt, too, must not wait for all that was not begun
            for _ in blocks:
                pass
