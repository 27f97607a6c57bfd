"""Where cases are run: processes of this machine, or a Dask cluster. One interface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from dwell.sweep.work import Order, Result

Work: TypeAlias = Callable[[Order], Result]


@final
@dataclass(frozen=True)
class Done:
    """An order that was carried out."""

    order: Order
    result: Result


@final
@dataclass(frozen=True)
class Lost:
    """An order that came to nothing. `blamed`: whoever ran it died of it, perhaps.

    Not `sure`: others were with it when that happened, and any of them may be the cause.
    """

    order: Order
    reason: str
    blamed: bool
    sure: bool = True


class Engine(Protocol):
    """Takes orders, and gives them back done or lost, in any order."""

    @property
    def workers(self) -> int:
        """How many orders are carried out at a time, as far as is known now."""
        ...

    @property
    def about(self) -> str:
        """Where people can look at it; empty if nowhere."""
        ...

    def versions(self) -> dict[str, dict[str, str]]:
        """What the workers run that are there now, by their address; none if it is our own."""
        ...

    def submit(self, order: Order) -> None:
        """Have an order carried out."""
        ...

    def collect(self, patience: float) -> list[Done | Lost]:
        """What came back; waits for something, but not longer than `patience` seconds."""
        ...

    def close(self) -> None:
        """Stop everything that is under way."""
        ...
