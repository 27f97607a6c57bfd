"""The clock of a process: seconds since the run began."""

from __future__ import annotations

import time
from typing import final

NAP = 0.1  # seconds: messages that cannot wait for the next sample wait no longer than this


@final
class Clock:
    """Monotonic time since an origin; an offset and a rate make it a clock that is wrong."""

    def __init__(self, origin: float, offset: float = 0.0, rate: float = 1.0) -> None:
        self.origin, self._offset, self._rate = origin, offset, rate

    def now(self) -> float:
        """The time."""
        return self.at(time.monotonic_ns())

    def at(self, nanoseconds: int) -> float:
        """The time at a reading of the monotonic clock."""
        return (nanoseconds * 1e-9 - self.origin) * self._rate + self._offset

    def restart(self, origin: float) -> float:
        """Count from another origin; how much later than the last that is by this clock."""
        later, self.origin = (origin - self.origin) * self._rate, origin
        return later

    def sleep(self, until: float) -> float:
        """Sleep until a time, but no longer than a nap; the time afterwards."""
        wait = (until - self.now()) / self._rate
        if wait > 0.0:
            time.sleep(min(wait, NAP))
        return self.now()
