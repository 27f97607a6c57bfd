"""A progress bar on the terminal's error stream; nothing where there is no terminal."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from signal import SIGINT, SIGTERM

Progress = Callable[[str, float], None]

PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A function to be told (what, share done); it draws a bar once the work takes a while."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)
    began = time.monotonic()
    started, expected = False, ""

    def tell(what: str, share: float) -> None:
        nonlocal started, expected
        if what.startswith("expecting"):
            expected = what
            return
        slow = time.monotonic() - began > PATIENCE or (what == "preparing" and not _compiled())
        if slow and not started:
            bar.start()
            started = True
            if expected:
                bar.console.print(expected, style="dim")
        waiting = what == "preparing"
        text = "compiling (once; kept for later runs)" if waiting else what
        bar.update(task, description=text, total=None if waiting else 1.0, completed=share)

    try:
        yield tell
    finally:
        if started:
            bar.stop()


def _compiled() -> bool:
    from dwell._kernels._jit import is_cached

    return is_cached()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let no signal from the keyboard or the system cut short what is done inside."""
    kept = {number: signal.signal(number, signal.SIG_IGN) for number in (SIGINT, SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
