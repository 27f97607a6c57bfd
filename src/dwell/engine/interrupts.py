"""The first Ctrl-C stops a run where it can be resumed; the second stops it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from signal import SIGINT, SIGTERM
from types import FrameType
from typing import Any, final


class CutShort(KeyboardInterrupt):
    """The first signal, where the chunk in progress may be dropped."""


@final
class StopRequest:
    """Whether a signal has arrived."""

    def __init__(self) -> None:
        self.by: int | None = None  # the number of the signal
        self.at_once = False  # whether it raises CutShort in the chunk in progress

    def __bool__(self) -> bool:
        return self.by is not None


@contextmanager
def stop_on_signal(on_signal: Callable[[int], None] | None = None) -> Iterator[StopRequest]:
    """Within, the first SIGINT or SIGTERM is noted, and the second has its usual effect.

    SIGTERM only where the program handles it already. Threads other than the main one receive no
    signals; for them nothing changes. `on_signal` is called with the number of the first signal.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        first, request.by = request.by is None, number
        if first:
            if on_signal is not None:
                on_signal(number)
            if request.at_once:
                raise CutShort
            return
        for other, handler in before.items():
            signal.signal(other, handler)
        before[number](number, frame)

    for which in (SIGINT, SIGTERM):
        handler = signal.getsignal(which)
        if callable(handler):
            before[which] = handler
            signal.signal(which, note)
    try:
        yield request
    finally:
        for other, handler in before.items():
            signal.signal(other, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore SIGINT and SIGTERM within."""
    kept = {number: signal.signal(number, signal.SIG_IGN) for number in (SIGINT, SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
