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
    """The first signal, where what is under way may be dropped."""


@final
class Asked:
    """Whether a signal has come."""

    def __init__(self) -> None:
        self.by: int | None = None  # the signal that did
        self.at_once = False  # whether it raises CutShort in what is under way

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
            if asked.at_once:
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
        yield asked
    finally:
        for other, handler in before.items():
            signal.signal(other, handler)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let no signal from the keyboard or the system cut short what is done inside."""
    kept = {number: signal.signal(number, signal.SIG_IGN) for number in (SIGINT, SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
