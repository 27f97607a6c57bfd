"""Wall and processor time of a call, repeated.

Targets are judged by wall time. Ratios and parts are formed from processor time: on a machine that
others use too, wall times of two loops measured one after the other need not even be in order.
Where several cores work, as in ratios beside other systems, both are told and the wall is judged.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of repeated calls."""

    best: float
    median: float
    cpu: float  # least processor time of a call, all threads and child processes together
    calls: int

    @classmethod
    def of(cls, walls: list[float], cpus: list[float]) -> Timing:
        """From the seconds of each call."""
        return cls(min(walls), statistics.median(walls), min(cpus), len(walls))

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
    spent = [once(call) for _ in range(repeats)]
    return Timing.of([wall for wall, _ in spent], [cpu for _, cpu in spent])


def in_turns(
    calls: Mapping[str, Callable[[], Any]], *, repeats: int, patience: float = 30.0
) -> dict[str, Timing]:
    """Time several calls in turns, so that what disturbs one of them disturbs the others too.

    Each is called at least once, and no more once it has used up `patience` seconds.
    """
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            if sum(wall for wall, _ in spent[name]) < patience:
                spent[name].append(once(call))
    return {
        name: Timing.of([wall for wall, _ in found], [cpu for _, cpu in found])
        for name, found in spent.items()
    }


def once(call: Callable[[], Any]) -> tuple[float, float]:
    """Wall and processor seconds of one call."""
    cpu, wall = processor_time(), time.perf_counter()
    call()
    return time.perf_counter() - wall, processor_time() - cpu


def processor_time() -> float:
    """Seconds of processor used so far by this process and the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def in_unit(seconds: float) -> str:
    """Seconds with a unit that suits them."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1e9 * seconds:.3g} ns"


def wall_ratio(slow: Timing, fast: Timing) -> tuple[float, str]:
    """Of wall times, with that of processor times in words."""
    ratio = slow.best / fast.best
    walls = f"{in_unit(slow.best)} and {in_unit(fast.best)}"
    by_processor = _times(slow.cpu / fast.cpu)
    return ratio, f"{_times(ratio)} ({walls}; {by_processor} by processor time)"


def processor_ratio(slow: Timing, fast: Timing) -> tuple[float, str]:
    """Of processor times, where both work on one core."""
    ratio = slow.cpu / fast.cpu
    return ratio, f"{_times(ratio)} ({in_unit(slow.cpu)} and {in_unit(fast.cpu)} of processor)"


def _times(ratio: float) -> str:
    """A ratio in words."""
    return f"{ratio:.3g} ×" if ratio < 100.0 else f"{ratio:,.0f} ×"
