"""Wall and processor time of a call, repeated.

Targets are judged by wall time. Ratios and parts are formed from processor time: on a machine that
others use too, wall times of two loops measured one after the other need not even be in order.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of repeated calls."""

    best: float
    median: float
    cpu: float  # least processor time of a call, all threads and child processes together
    calls: int

    def in_seconds(self) -> str:
        """Best, median and processor time in words."""
        return f"{self.best:.2f} s best, {self.median:.2f} s median, {self.cpu:.2f} s processor"

    def in_ms(self) -> str:
        """The same in milliseconds."""
        best, median, cpu = (1e3 * v for v in (self.best, self.median, self.cpu))
        return f"{best:.3g} ms best, {median:.3g} ms median, {cpu:.3g} ms processor"


def timed(call: Callable[[], Any], *, repeats: int = 5, warm: bool = True) -> Timing:
    """Time `repeats` calls, after one call that is not kept."""
    if warm:
        call()
    walls, cpus = [], []
    for _ in range(repeats):
        cpu, wall = processor_time(), time.perf_counter()
        call()
        walls.append(time.perf_counter() - wall)
        cpus.append(processor_time() - cpu)
    return Timing(min(walls), statistics.median(walls), min(cpus), len(walls))


def processor_time() -> float:
    """Seconds of processor used so far by this process and the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
