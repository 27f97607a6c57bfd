"""Wall and processor time of a call, repeated."""

from __future__ import annotations

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
    cpu: float  # least processor time of a call, all threads together
    calls: int

    def in_seconds(self) -> str:
        """Best, median and processor time in words."""
        return f"{self.best:.2f} s best, {self.median:.2f} s median, {self.cpu:.2f} s processor"

    def in_ms(self) -> str:
        """The same in milliseconds."""
        best, median, cpu = (1e3 * v for v in (self.best, self.median, self.cpu))
        return f"{best:.3g} ms best, {median:.3g} ms median, {cpu:.3g} ms processor"


def timed(
    call: Callable[[], Any], *, repeats: int = 5, warm: bool = True, seconds: float = 0.0
) -> Timing:
    """Call `repeats` times (and on until `seconds` have passed), after one call that is not kept."""
    if warm:
        call()
    walls, cpus = [], []
    began = time.perf_counter()
    while len(walls) < repeats or time.perf_counter() - began < seconds:
        cpu, wall = time.process_time(), time.perf_counter()
        call()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Timing(min(walls), statistics.median(walls), min(cpus), len(walls))
