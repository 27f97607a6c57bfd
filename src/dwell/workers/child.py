"""The program of a worker process.

It reads orders from its standard input and writes outcomes to its standard output, as pickles. It
ends when its input does, so that no worker outlives the process that started it.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, final

INTERVAL = 0.1  # seconds between two progress messages


class Ending(StrEnum):
    """How a task ended; in brackets the value that comes with it."""

    RESULT = "result"  # it has one (that)
    FAILED = "failed"  # by an exception (what `Work.describe` returned)
    STOPPED = "stopped"  # on request (None)
    LOST = "lost"  # its process died (how)
    LATE = "late"  # it took longer than it may (the time limit in words)
    CROWDED = "crowded"  # it was stopped because others wait (None)


class TaskOutcome(NamedTuple):
    """How a task ended, and its value."""

    status: Ending
    value: Any = None


class Stopped(BaseException):
    """The end of a task was requested. Not an Exception, so that no handler on the way keeps it."""


@final
class Link:
    """Connection to the parent; a thread reads it, so that a stop arrives while work goes on."""

    def __init__(self, reads: BinaryIO, writes: BinaryIO) -> None:
        self._reads, self._writes = reads, writes
        self.orders: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.task: int | None = None  # under way
        self.stopped: int | None = None  # task whose end was requested
        self._sent_at = 0.0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                kind, task, order = pickle.load(self._reads)
            except (EOFError, OSError):
                os._exit(0)  # the parent has ended
            except BaseException:  # an order that cannot be read would be waited for
                traceback.print_exc()
                os._exit(1)
            if kind == "stop":
                self.stopped = task
            else:
                self.orders.put((task, order))

    def send(self, kind: str, *values: Any) -> None:
        """Send one message about the current task."""
        message = pickle.dumps((kind, self.task, *values))  # before anything of it is written
        self._writes.write(message)
        self._writes.flush()

    def report(self, message: Any) -> None:
        """Send a message to `Task.reported`, unless the task is to end."""
        self.check()
        self.send("report", message)

    def progress(self, what: str, share: float) -> None:
        """Report progress as runs and films do, ten times a second at most."""
        self.check()
        now = time.monotonic()
        if now - self._sent_at >= INTERVAL:
            self._sent_at = now
            self.report({"doing": what, "progress": min(max(share, 0.0), 1.0)})

    def check(self) -> None:
        """Raise `Stopped` if the end of the current task was requested."""
        if self.task is not None and self.stopped == self.task:
            raise Stopped


def in_words(fault: Exception) -> str:
    """Return the type and the text of an exception."""
    return f"{type(fault).__name__}: {fault}"


@final
@dataclass(frozen=True)
class Work:
    """What a pool's processes do. Functions are pickled by name."""

    run: Callable[[Any, Link], Any]  # from an order to its result
    describe: Callable[[Exception], Any] = in_words  # a value for a failure
    prepare: Callable[[], None] | None = None  # before the first order
    memory: float | None = None  # bytes that a task may take beyond those of an idle process

    def outcome(self, order: Any, link: Link) -> tuple[TaskOutcome, bool]:
        """Return the outcome of an order, and whether memory ran out."""
        try:
            return TaskOutcome(Ending.RESULT, self.run(order, link)), False
        except Stopped:
            return TaskOutcome(Ending.STOPPED), False
        except Exception as fault:
            return TaskOutcome(Ending.FAILED, self.describe(fault)), isinstance(fault, MemoryError)


ADDRESSES, RESIDENT = 0, 1  # columns of /proc/self/statm


def memory_in_use(column: int) -> float:
    """Return bytes of this process; infinity where the system does not tell."""
    with suppress(ImportError, OSError):
        import resource

        pages = Path("/proc/self/statm").read_text().split()[column]
        return float(pages) * resource.getpagesize()
    return float("inf")


def limit_memory(size: float) -> None:
    """Let this process take `size` bytes more than it has; beyond, MemoryError is raised."""
    with suppress(ImportError, OSError, ValueError, OverflowError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (int(memory_in_use(ADDRESSES) + size), hard))


def raise_oom_score() -> None:
    """When the machine runs out of memory, a worker ends rather than its parent."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


def main() -> None:
    """Carry out orders, then end at once: Python's own end would wait for the thread that reads."""
    try:
        serve()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def serve() -> None:
    """Carry out orders until the input ends, or until much memory is not freed."""
    writes = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not be read as an outcome
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    for number in (signal.SIGINT, signal.SIGTERM):  # for systems without signal masks
        signal.signal(number, signal.SIG_IGN)
    raise_oom_score()
    work: Work = pickle.load(sys.stdin.buffer)
    link = Link(sys.stdin.buffer, writes)
    if work.prepare is not None:
        work.prepare()
    most = memory_in_use(RESIDENT) + (work.memory or float("inf")) / 2.0
    link.send("ready")
    worn = False
    while not worn:
        link.task, order = link.orders.get()
        if work.memory is not None:
            limit_memory(work.memory)
        outcome, short = work.outcome(order, link)
        worn = short or most < memory_in_use(RESIDENT) < float("inf")
        link.send("ended", outcome, worn)
        link.task = None
