"""The first Ctrl-C asks a run to stop where it can go on later; the second stops it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, final


@final
class Asked:
    """Whether somebody asked for an end."""

    def __init__(self) -> None:
        self.by: int | None = None  # the signal that did

    def __bool__(self) -> bool:
        return self.by is not None


@contextmanager
def asked_to_stop(told: Callable[[int], None] | None = None) -> Iterator[Asked]:
    """Within, the first SIGINT or SIGTERM is noted, and a second one does what it always did.

    SIGTERM only where the program deals with it already. Threads other than the main one get no
    signals; there nothing changes.
    """
    asked = Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        first, asked.by = asked.by is None, number
        if first:
            if told is not None:
                told(number)
            return
        for other, handler in before.items():
            signal.signal(other, handler)
        before[number](number, frame)

    for which in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(which)
        if callable(handler):
            before[which] = handler
            signal.signal(which, note)
    try:
        yield asked
    finally:
        for other, handler in before.items():
            signal.signal(other, handler)
