"""Event: a jump that is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


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
