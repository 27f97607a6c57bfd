"""What a hybrid system is, and an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar, final

S = TypeVar("S")


@final
@dataclass(frozen=True, slots=True, order=True)
class Event:
    """A jump that is due at `time`, for component `source` of the system.

    Events sort by time, then source. Events at one instant are executed one after another in that
    order, each from the state after the one before it, and each raises the jump count j by one at
    the same t. Times are equal when their bits are equal.
    """

    time: float
    source: int = 0


class HybridSystem(Protocol[S]):
    """A system that flows in continuous time and jumps at discrete instants.

    The system itself never changes; states are values. Each state contains its time, which
    `time_of` returns.
    """

    def time_of(self, state: S) -> float:
        """The time t of `state`."""
        ...

    def next_event(self, state: S) -> Event | None:
        """The earliest jump due from `state`; None if it flows for ever."""
        ...

    def flow(self, state: S, to: float) -> S:
        """The state at time `to`, in closed form, if no jump comes first."""
        ...

    def jump(self, state: S, event: Event) -> S:
        """The state just after `event`, from the state just before it. May raise `Halt`."""
        ...
