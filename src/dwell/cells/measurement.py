"""Measurements of many cells as one table; work in blocks on several threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar, final

import numpy as np

from dwell._types import Floats, Ints, Points

BLOCK = 2048  # cells that a thread takes at a time
LEAST = 256  # for fewer a thread costs more than it gains

Made = TypeVar("Made")


@final
@dataclass(frozen=True, eq=False)
class Looks:
    """Measured cells, one entry per agent and configuration."""

    met: np.ndarray  # whether another agent stood at the same place; the rest is then void
    empty: np.ndarray  # whether the cell weighed nothing
    error: Points  # (K, n) centroid minus position
    log_scale: Floats  # mass and moments are to be multiplied by its exponential
    mass: Floats
    polar: Floats  # second moment about the position
    neighbors: Ints
    nearest: Floats  # distance of the nearest other agent; inf if there is none
    second: Floats | None = None  # second moment about the centroid, where it came along
    doubt: Floats | None = None  # bound on the mass's relative error; None: rounding only


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
