"""HybridArc: a solution on its hybrid time domain."""

from __future__ import annotations

import numbers
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from dwell._types import in_short, is_whole
from dwell.errors import InputError
from dwell.hybrid.system import Event, HybridSystem, Stop

S = TypeVar("S")


@final
@dataclass(frozen=True, eq=False)
class HybridArc(Generic[S]):
    """A solution: `states[j]` is the state after jump j (`states[0]`: the start).

    Jump j = 1, 2, ... happens at `events[j - 1].time` and leads from (t, j - 1) to (t, j). Between
    jumps the arc has the flow itself, not samples of it: it can be evaluated at any (t, j).
    """

    system: HybridSystem[S]
    states: Sequence[S]
    events: Sequence[Event]
    until: float
    stop: Stop
    standing: int = 0  # jumps up to the last without progress of time

    def __repr__(self) -> str:
        return f"<HybridArc: {self.jumps} jumps until t = {self.until:g}>"

    @property
    def jumps(self) -> int:
        """Number of jumps."""
        return len(self.events)

    @property
    def begins_at(self) -> float:
        """Time of the start."""
        return self.system.time_of(self.states[0])

    def interval(self, j: int) -> tuple[float, float]:
        """The times [t_j, t_j+1] during which the jump count is j."""
        self._check_count(j, 0)
        begin = self.begins_at if j == 0 else self.events[j - 1].time
        end = self.until if j == self.jumps else self.events[j].time
        return begin, end

    def domain(self) -> Iterator[tuple[float, float, int]]:
        """The hybrid time domain, piece by piece: (t_j, t_j+1, j)."""
        for j in range(self.jumps + 1):
            yield (*self.interval(j), j)

    def jumps_until(self, t: float) -> int:
        """The number of jumps up to time t, those at t included."""
        _check_time(t)
        return bisect_right(self.events, t, key=lambda event: event.time)

    def at(self, t: float, j: int | None = None) -> S:
        """The state at hybrid time (t, j); without j, the state after all jumps at time t."""
        _check_time(t)
        if j is None:
            if not (self.begins_at <= t <= self.until):
                raise _outside(f"t = {t!r}", f"[{self.begins_at!r}, {self.until!r}]")
            j = self.jumps_until(t)
        begin, end = self.interval(j)
        if not (begin <= t <= end):
            raise _outside(f"(t, j) = ({t!r}, {j})", f"t in [{begin!r}, {end!r}] for j = {j}")
        return self.system.flow(self.states[j], t)

    def before(self, j: int) -> S:
        """The state just before jump j = 1, 2, ..."""
        self._check_count(j, 1)
        return self.system.flow(self.states[j - 1], self.events[j - 1].time)

    def after(self, j: int) -> S:
        """The state just after jump j = 1, 2, ..."""
        self._check_count(j, 1)
        return self.states[j]

    @property
    def final(self) -> S:
        """The state at the end."""
        return self.system.flow(self.states[self.jumps], self.until)

    def _check_count(self, j: int, least: int) -> None:
        if not (is_whole(j) and least <= j <= self.jumps):
            raise _outside(f"j = {in_short(j)}", f"whole numbers from {least} to {self.jumps}")


def _check_time(t: object) -> None:
    if not isinstance(t, numbers.Real) or isinstance(t, bool):
        raise _outside(f"t = {in_short(t)}", "numbers")


def _outside(what: str, domain: str) -> InputError:
    return InputError(f"{what} is outside the arc's domain: {domain}", code="arc.domain")
