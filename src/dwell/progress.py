"""Progress of long computations on the error stream: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, TypeAlias, final

from dwell._kernels import _jit
from dwell._types import in_short
from dwell.engine.run_loop import compile_clock, is_compiling
from dwell.errors import DwellWarning, InputError

Progress: TypeAlias = Callable[[str, float], None]  # what is being done, and the share done

EXPECTING = "expecting"  # how the estimate of a run's size begins
PATIENCE = 2.0  # seconds before anything is shown
EVERY = 10.0  # seconds between two lines; a tenth of the time so far once that is longer
FRAME = 0.1  # seconds between two states of the bar

_DISPLAY = threading.Lock()  # held by the outermost computation: there is one display at a time


@contextmanager
def reported(progress: Progress | bool | None = None) -> Iterator[Progress]:
    """The function that a computation calls with what it does and the share that is done.

    `progress` is the caller's own function, or False for silence. By default progress appears on
    the error stream once the computation has taken two seconds; DWELL_PROGRESS=0 turns that off.
    """
    if progress is not False:
        _warn_uncached()
    if callable(progress):
        yield progress
        return
    if progress is not None and not isinstance(progress, bool):
        need = "a function of a text and a number, True or False is needed"
        raise InputError(f"progress is {in_short(progress)}; {need}", code="progress")
    wanted = progress is not False and os.environ.get("DWELL_PROGRESS") != "0"
    if not (wanted and sys.stderr is not None and _DISPLAY.acquire(blocking=False)):
        yield lambda what, share: None
        return
    if _jit.ENABLED:
        compile_clock()  # counts from now on
    report = _ProgressThread(_Bar() if sys.stderr.isatty() else _Lines(), ProgressClock())
    report.start()
    try:
        yield report.tell
    finally:
        try:
            report.end()
        finally:
            _DISPLAY.release()


class ProgressClock:
    """Real time, and pauses that end early once the computation is over."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self.now, self.wait, self.stop = time.monotonic, self._over.wait, self._over.set


@final
class _ProgressThread(threading.Thread):
    """Shows the latest state now and then, even while the computation makes no call."""

    def __init__(self, display: _Lines | _Bar, clock: ProgressClock) -> None:
        super().__init__(daemon=True, name="dwell progress")
        self._display, self._clock = display, clock
        self._began = self._at_zero = clock.now()  # and when the share done was last 0
        self._compiled = 0.0  # how long kernels were compiled since then
        self._what, self._share, self._expected = "starting", 0.0, ""

    def tell(self, what: str, share: float) -> None:
        """Note the present state."""
        if what.startswith(EXPECTING):
            self._expected = what
            return
        self._what, self._share = what, share
        if share <= 0.0:
            self._at_zero, self._compiled = self._clock.now(), 0.0

    def run(self) -> None:
        """Show the state after two seconds, and from then on at the display's own pace."""
        pause = PATIENCE
        while not self._clock.wait(pause):
            compiling = _jit.ENABLED and is_compiling()
            self._compiled += pause if compiling else 0.0
            what = _compiling() if compiling else self._what
            if self._expected:
                self._display.note(self._expected)
                self._expected = ""
            share = 0.0 if compiling else self._share
            now = self._clock.now()
            worked = max(now - self._at_zero - self._compiled, 0.0)
            pause = self._display.show(what, share, now - self._began, worked)

    def end(self) -> None:
        """Show no more states."""
        self._clock.stop()
        self.join()
        self._display.close()


@final
class _Lines:
    """A line now and then, for files, pipes and notebooks."""

    def note(self, text: str) -> None:
        """Print `text`."""
        print(f"dwell: {text}", file=sys.stderr, flush=True)

    def show(self, what: str, share: float, after: float, worked: float) -> float:
        """Print a line; the longer the computation, the longer the pause."""
        self.note(f"{what}: {_times(share, after, worked)}")
        return max(EVERY, 0.1 * after)

    def close(self) -> None:
        """Leave the lines where they are."""


@final
class _Bar:
    """A bar, for terminals."""

    @cached_property
    def _bar(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        words = (
            TextColumn("{task.description}"),
            BarColumn(16),
            TextColumn("{task.fields[times]}"),
        )
        bar = Progress(*words, console=Console(stderr=True), transient=True)
        bar.add_task("", times="")
        bar.start()
        return bar

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(text, style="dim")

    def show(self, what: str, share: float, after: float, worked: float) -> float:
        """Bring the bar to the present state."""
        self._bar.update(
            self._bar.task_ids[0], description=what, completed=share,
            total=1.0 if share > 0.0 else None, times=_times(share, after, worked),
        )  # fmt: skip
        return FRAME

    def close(self) -> None:
        """Take the bar away."""
        if "_bar" in self.__dict__:
            self._bar.stop()


def _times(share: float, after: float, worked: float) -> str:
    """The share done, the time taken, and the time left; the time alone where no share is known.

    Of the time taken only what was `worked`, without compiling and waiting, tells how much is left.
    """
    if share <= 0.0:
        return f"{_time(after)} so far"
    left = f", about {_time(worked / share - worked)} left" if 0.01 < share < 1.0 else ""
    return f"{min(share, 1.0):.0%} after {_time(after)}{left}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min {rest} s" if minutes < 10 else f"{minutes} min"


def _compiling() -> str:
    kept = _jit.cache_root() is not None
    return "compiling (once; kept for later runs)" if kept else "compiling"


@cache
def _warn_uncached() -> None:
    """Warn, once in a process, where compiled kernels cannot be kept."""
    if _jit.ENABLED and _jit.cache_root() is None:
        folder = os.environ.get("DWELL_CACHE_DIR") or "the cache folder"
        warnings.warn(
            f"{folder} cannot be written, so kernels are compiled anew in every process, for about "
            "a minute; set DWELL_CACHE_DIR to a folder that can be written",
            DwellWarning,
            stacklevel=2,
        )
