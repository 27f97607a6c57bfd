"""A run from piece to piece: recorded, put away now and then, stopped when asked."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from functools import cache
from typing import Any, final

import numpy as np

from dwell.agents import table_of
from dwell.agents.continuous import solve_continuous
from dwell.agents.course import FIRST_CHUNK, Course, Piece, course_of
from dwell.agents.engine import can_compile
from dwell.hybrid import Stop, StopReason
from dwell.results.interrupts import Asked, CutShort
from dwell.results.journal import Journal
from dwell.results.recorder import HALFWAY, Recorder

GOES = 8  # pieces between two checkpoints, at least, unless they are short anyway

Tell = Callable[[str, float], None]  # told what is being done, and how much of it is done
# Shown a run under way: first with None, then with every piece that was recorded. The pieces'
# tables, one after another, are the run's; who looks on must not change them.
Watch = Callable[[Recorder, Piece | None], None]


@final
class Drive:
    """What goes on around a run: who is told, who may stop it, where it is put away."""

    def __init__(
        self,
        tell: Tell,
        asked: Asked,
        journal: Journal | None,
        spent: float,
        watch: Watch | None = None,
    ) -> None:
        self.tell, self.asked, self.journal, self.watch = tell, asked, journal, watch
        self.made_with: dict[str, str] = {}  # versions, and digests of Python sources
        self.began = _computing() - spent  # with the time that earlier pieces took

    def say(self, what: str, share: float) -> None:
        """Tell whoever watches; an interrupt is how they ask for an end."""
        try:
            self.tell(what, share)
        except KeyboardInterrupt:
            if self.asked:  # the second one, which goes on
                raise
            self.asked.by = signal.SIGINT

    def show(self, recorder: Recorder, piece: Piece | None) -> None:
        """Let whoever watches see what there is now."""
        if self.watch is not None:
            self.watch(recorder, piece)

    @property
    def wall(self) -> float:
        """Seconds that the run has taken so far, without those in which kernels were compiled."""
        return _computing() - self.began

    def on(self, recorder: Recorder, reached: float, until: float, max_jumps: int) -> Stop:
        """Let the run go on from where `recorder` is, to its end."""
        course = course_of(recorder.system, recorder.state, until, recorder.standing)
        done, began = recorder.tally.jumps, time.perf_counter()
        made = 0
        self.show(recorder, None)
        while not self.asked:
            left = max_jumps - done
            # With no jumps left there are no more samples: the run may be over before them.
            some = self._at_a_time(recorder, left, made / max(time.perf_counter() - began, 1e-9))
            set_out = time.perf_counter()
            piece = self._next(recorder, course, recorder.target if left else np.inf, some)
            if piece is None:
                break
            self.show(recorder, piece)
            made, done = made + len(piece.table), done + len(piece.table)
            reached = max(reached, piece.reached)
            if piece.stop is not None:
                return piece.stop
            if not left and not piece.closed:
                return Stop(StopReason.JUMP_LIMIT, piece.reached)
            rate = made / max(time.perf_counter() - began, 1e-9)
            self.say(_speed(rate), reached / max(until, 1e-300))
            if self.journal and self.journal.is_due(time.perf_counter() - set_out):
                about = {"reached": reached, "wall_seconds": self.wall}
                self.journal.write(recorder, about)
        return Stop(StopReason.INTERRUPTED, reached)

    def _next(self, recorder: Recorder, course: Course, target: float, some: int) -> Piece | None:
        """The next piece, recorded; None if a signal came before it was measured.

        Where Python computes the cells, one piece may take minutes: there the signal raises, and
        the piece is dropped. Every CutShort is raised inside the `try`.
        """
        try:
            self.asked.at_once = not can_compile(recorder.system)
            piece = course.advance(target, some)
            ended = piece.stop is not None and piece.stop.reason is StopReason.INTERRUPTED
            found = None if ended and self.asked else recorder.measured(piece)
            self.asked.at_once = False
        except CutShort:
            return None
        if found is None:
            return None
        recorder.take(piece, course, found)
        return piece

    def _at_a_time(self, recorder: Recorder, left: int, rate: float) -> int:
        """How many jumps to make in one go: few enough for several goes between checkpoints."""
        if self.journal is None:
            return left
        most = int(min(rate * self.journal.every / GOES, left))
        return min(left, max(most, FIRST_CHUNK, recorder.system.agents))

    def solve(self, recorder: Recorder, until: float, max_jumps: int) -> tuple[Recorder, Stop]:
        """The solution of a differential equation, whole: it has no pieces to be put away."""

        def progress(t: float) -> None:
            self.say("simulating", t / max(until, 1e-300))
            if self.asked:
                raise KeyboardInterrupt

        arc = solve_continuous(
            recorder.system, recorder.start, until=until, max_jumps=max_jumps, progress=progress
        )
        bent: Any = arc.states[0]  # the first leg bends only once the equation is solved
        again = Recorder(recorder.system, bent, recorder.asked_times, recorder.kind)
        again.threads = recorder.threads
        closed = arc.stop.reason not in HALFWAY
        self.show(again, None)  # only now is it known how the first legs bend
        piece = Piece(table_of(arc), arc.until, closed, arc.stop)
        again.take(piece)
        self.show(again, piece)
        return again, arc.stop


def _computing() -> float:
    """A clock that stands still while a kernel is compiled."""
    spent = _compiling()
    return time.perf_counter() - (spent.duration if spent.done else 0.0)


@cache
def _compiling() -> Any:
    """What adds up the time that this process spends on compiling, from the first call on."""
    from numba.core import event as events

    event: Any = events  # without types
    listener = event.TimingListener()
    event.register("numba:compile", listener)
    return listener


def _speed(rate: float) -> str:
    return f"simulating, {rate:,.0f} events/s" if rate >= 10.0 else "simulating"
