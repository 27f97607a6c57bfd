"""Many looks at once, on several threads: the rim of the look kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Ints
from dwell.geometry import Workspace
from dwell.geometry.voronoi import columns

if TYPE_CHECKING:
    from dwell._kernels.terms import Terms

BLOCK = 2048  # looks handed to a thread at a time


@final
@dataclass(frozen=True, eq=False)
class Looks:
    """What agents saw, one entry per look."""

    met: np.ndarray  # whether another agent stood at the same place; the rest is then void
    empty: np.ndarray  # whether the cell weighed nothing
    error_x: Floats  # centroid minus position
    error_y: Floats
    log_scale: Floats  # mass and polar are to be multiplied by its exponential
    mass: Floats
    polar: Floats  # second moment about the position
    neighbors: Ints
    nearest: Floats  # distance of the nearest other agent; inf if there is none


def look_many(
    workspace: Workspace,
    terms: Terms,
    x: Floats,
    y: Floats,
    row: Ints,
    agent: Ints,
    *,
    threads: int | None = 1,
) -> Looks:
    """agent[k] looks in configuration row[k] of x, y (rows, agents); same bits on any threads."""
    from dwell._kernels import doors
    from dwell._kernels.cells import COINCIDENT
    from dwell._kernels.look import NO_MASS
    from dwell._kernels.scratch import make_scratch

    walls = columns(workspace.vertices)
    out = np.empty((len(row), doors.COLUMNS))

    def work(lo: int, hi: int) -> None:
        memory = make_scratch(x.shape[1], len(walls[0]))
        doors.look_many(lo, hi, row, agent, x, y, *walls, terms, out, memory)

    in_blocks(work, len(row), threads)
    column = np.ascontiguousarray(out.T)
    squared = column[doors.NEAREST]
    return Looks(
        met=column[doors.STATUS] == COINCIDENT,
        empty=column[doors.STATUS] == NO_MASS,
        error_x=column[doors.ERROR_X],
        error_y=column[doors.ERROR_Y],
        log_scale=column[doors.LOG_SCALE],
        mass=column[doors.MASS],
        polar=column[doors.POLAR],
        neighbors=column[doors.NEIGHBORS].astype(np.int64),
        nearest=np.sqrt(np.where(squared >= 0.0, squared, np.inf)),
    )


def in_blocks(work: Callable[[int, int], None], count: int, threads: int | None) -> None:
    """Call `work(lo, hi)` over `count` things, on several threads; kernels release the lock."""
    edges = [*range(0, count, BLOCK), count]
    workers = min(threads or os.cpu_count() or 1, len(edges) - 1)
    if workers <= 1:
        work(0, count)
        return
    work(0, 0)  # compile once, not on every thread
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, edges[:-1], edges[1:]))
