"""Event: a jump that is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True, order=True)
class Event:
    """A jump that is due at `time`, for component `source` of the system.

    Events sort by time, then source. Events at one instant are handled one after another in that
    order: each sees the state that the one before it left, and each raises the jump count j by
    one while t stands still. Times are equal when their bits are: nothing is rounded together.
    """

    time: float
    source: int = 0
