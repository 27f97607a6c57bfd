"""What a hybrid system is."""

from __future__ import annotations

from typing import Protocol, TypeVar

from dwell.hybrid.event import Event

S = TypeVar("S")


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
