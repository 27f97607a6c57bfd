"""The run loop: chunk after chunk is computed, recorded and saved, until the run ends."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol, final

import numpy as np

from dwell._kernels._jit import load
from dwell.agents import AgentsState, CoverageSystem, EventTable, Trajectory, table_of
from dwell.agents.continuous import solve_continuous
from dwell.engine.compiled import program_of
from dwell.engine.interrupts import CutShort, StopRequest, stop_on_signal
from dwell.engine.recorder import EVENTS, HALFWAY, Recorder
from dwell.engine.stepper import FIRST_CHUNK, Piece, Stepper, stepper_for
from dwell.hybrid import HybridArc, Stop, StopReason

CHUNKS = 8  # between two checkpoints, at least, unless they are short anyway

Tell = Callable[[str, float], None]  # called with the present activity and the share done
# Called first with None, then with every recorded chunk. The tables of the chunks, joined, are the
# table of the run; they must not be changed.
Watch = Callable[[Recorder, Piece | None], None]


class Checkpoints(Protocol):
    """Where a run is saved while it is computed: see `dwell.results.journal.Journal`."""

    every: float

    def is_due(self, piece: float) -> bool:
        """Return whether to write one now; the last chunk took `piece` seconds."""
        ...

    def write(self, recorder: Recorder, about: dict[str, Any]) -> None:
        """Write one, in the background."""
        ...


@final
class RunLoop:
    """The run loop: chunk after chunk is computed, recorded, shown and saved."""

    def __init__(self, tell: Tell, request: StopRequest, watch: Watch | None = None) -> None:
        self.tell, self.request = tell, request
        self.watch: Watch = watch or (lambda recorder, piece: None)
        self.began = _computing()

    def say(self, what: str, share: float) -> None:
        """Report progress; an interrupt raised by the report ends the run."""
        try:
            self.tell(what, share)
        except KeyboardInterrupt:
            if self.request:  # the second interrupt
                raise
            self.request.by = signal.SIGINT

    @property
    def elapsed(self) -> float:
        """Seconds that the run has taken so far, without those in which kernels were compiled."""
        return _computing() - self.began

    def run(
        self,
        recorder: Recorder,
        reached: float,
        until: float,
        max_jumps: int,
        journal: Checkpoints | None = None,
    ) -> Stop:
        """Run from where `recorder` is to the end; return why it ended."""
        stepper = stepper_for(recorder.system, recorder.state, until, recorder.standing)
        before, began, rate = recorder.tally.jumps, time.perf_counter(), 0.0
        self.watch(recorder, None)
        while not self.request:
            left = some = max_jumps - recorder.tally.jumps
            if journal is not None:  # several chunks between two checkpoints
                some = max(int(rate * journal.every / CHUNKS), FIRST_CHUNK, recorder.system.agents)
            set_out = time.perf_counter()
            # With no jumps left there are no more samples: the run may be over before them.
            target = recorder.target if left else np.inf
            piece = self._next(recorder, stepper, target, min(some, left))
            if piece is None:
                break
            self.watch(recorder, piece)
            reached = max(reached, piece.reached)
            if piece.stop is not None:
                return piece.stop
            if not left and not piece.closed:
                return Stop(StopReason.JUMP_LIMIT, piece.reached)
            rate = (recorder.tally.jumps - before) / max(time.perf_counter() - began, 1e-9)
            speed = f", {rate:,.0f} events/s" if rate >= 10.0 else ""
            self.say(f"simulating{speed}", reached / max(until, 1e-300))
            if journal is not None and journal.is_due(time.perf_counter() - set_out):
                journal.write(recorder, {"reached": reached, "wall_seconds": self.elapsed})
        return Stop(StopReason.INTERRUPTED, reached)

    def _next(self, recorder: Recorder, stepper: Stepper, target: float, some: int) -> Piece | None:
        """The next chunk, recorded; None if a signal arrived before it was measured.

        Where Python computes the cells, a chunk may take minutes: there the signal raises, and the
        chunk is dropped. Every CutShort is raised inside the `try`.
        """
        try:
            self.request.at_once = not recorder.system.compiles
            piece = stepper.advance(target, some)
            stop = piece.stop
            ended = stop is not None and stop.reason is StopReason.INTERRUPTED and not stop.fault
            found = None if ended and self.request else recorder.measured(piece)
            self.request.at_once = False
        except CutShort:
            return None
        if found is None:
            return None
        recorder.take(piece, stepper, found)
        return piece

    def solve(self, recorder: Recorder, until: float, max_jumps: int) -> tuple[Recorder, Stop]:
        """The solution of a differential equation, in one chunk."""

        def progress(t: float) -> None:
            self.say("simulating", t / max(until, 1e-300))
            if self.request:
                raise KeyboardInterrupt

        arc = solve_continuous(
            recorder.system, recorder.start, until=until, max_jumps=max_jumps, progress=progress
        )
        bent: Any = arc.states[0]  # the first segment is known once the equation is solved
        again = Recorder(recorder.system, bent, recorder.sample_times, recorder.kind)
        again.threads = recorder.threads
        closed = arc.stop.reason not in HALFWAY
        self.watch(again, None)  # only now are the first segments known
        piece = Piece(table_of(arc), arc.until, closed, arc.stop)
        again.take(piece)
        self.watch(again, piece)
        return again, arc.stop


def run_compiled(
    system: CoverageSystem,
    start: AgentsState,
    *,
    until: float,
    max_jumps: int = 50_000_000,
) -> HybridArc[AgentsState]:
    """Return the arc of `dwell.hybrid.simulate`, bit for bit, hundreds of times faster.

    An interrupt from the keyboard ends the run after a chunk.
    """
    program_of(system)  # laws without one are refused
    recorder = Recorder(system, start, np.empty(0), EVENTS)
    with stop_on_signal() as request:
        loop = RunLoop(lambda what, share: None, request)
        stop = loop.run(recorder, start.time, until, recorder.tally.jumps + max_jumps)
    if stop.fault is not None:
        raise stop.fault
    table = EventTable.joined(recorder.tables, system.dimension)
    return Trajectory(system, start, table, stop.time).arc(stop)


def _computing() -> float:
    """Seconds without those in which kernels are compiled."""
    spent = compile_clock()
    return time.perf_counter() - (spent.duration if spent.done else 0.0)


@cache
def compile_clock() -> Any:
    """The listener that measures the time this process spends on compiling, from now on."""
    load()
    from numba.core import event as events

    event: Any = events  # without types
    listener = event.TimingListener()
    event.register("numba:compile", listener)
    return listener


def is_compiling() -> bool:
    """Whether some kernel is being compiled at this moment."""
    return bool(compile_clock()._depth)
