"""The one path of a run, whether it begins or goes on: run, measure, save."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from dwell.agents import AgentsState, CoverageSystem
from dwell.agents.continuous import is_continuous
from dwell.engine.codec import names_of, plain
from dwell.engine.interrupts import StopRequest
from dwell.engine.memory import need_of, refuse_too_much
from dwell.engine.recorder import Recorder, recorder_of
from dwell.engine.run_loop import RunLoop
from dwell.errors import Aborted, Interrupted, StoreError, UnsavedError
from dwell.hybrid import Stop, StopReason
from dwell.progress import EXPECTING
from dwell.results import Run, save_run
from dwell.results.dataset import make_ready, write_run
from dwell.results.details import Details
from dwell.results.files import shown
from dwell.results.journal import UNSAVED, Journal, clear
from dwell.scenario import Scenario


@final
@dataclass(frozen=True, eq=False)
class RunTask:
    """What to run, from where, and where the run is saved."""

    recorder: Recorder  # with what is recorded so far
    until: float
    max_jumps: int
    scenario: Scenario | None  # None where no file can describe the run
    repairs: tuple[str, ...]
    made_with: dict[str, str]  # versions, and digests of Python sources
    target: Path | None = None  # the run's file; None if it is not saved
    reached: float = 0.0  # the time up to which it is recorded
    journal: tuple[str, int] | None = None  # name and number of parts of the journal that goes on


def _refuse_unstorable(start: AgentsState, system: CoverageSystem) -> None:
    """Refuse, before hours of running, memories and data of messages that no file can hold."""
    sent = [message.data for box in start.mail[:2] for _, message in box.coming]
    plain([*start.memory, *sent], names_of(system.controller))


def execute(loop: RunLoop, task: RunTask) -> Run:
    """Run `task` to its end, and save the run if it has a file."""
    recorder, system = task.recorder, task.recorder.system
    if task.target is not None:
        _refuse_unstorable(recorder.start, system)
    journal = _journal(task)
    try:
        run = _executed(loop, task, journal)
    except KeyboardInterrupt:
        if not loop.request:  # nothing turns the first one into the end of this run
            raise
        raise exiting(Aborted(f"aborted{_left_by(task, journal)}")) from None
    if run.stop.fault is not None:
        run.stop.fault.run = run
        raise run.stop.fault
    return run


def _left_by(task: RunTask, journal: Journal | None) -> str:
    """What an abort leaves of a run."""
    name = shown(task.target)
    if journal is not None and journal.begun:
        upto = f"{name} holds the run up to its last checkpoint, t = {journal.reached:g}"
        return f"; {upto}: go on with dwell run --resume {name}"
    why = "before its first checkpoint" if journal else "and the run has no checkpoints"
    there = task.target is not None and task.target.exists()
    rest = f"{name} is as it was" if there else "nothing of it is kept"
    return f", {why}; {rest}"


def _executed(loop: RunLoop, task: RunTask, journal: Journal | None) -> Run:
    recorder, system = task.recorder, task.recorder.system
    need = need_of(recorder, task.until, task.max_jumps, saved=task.target is not None)
    loop.say(f"{EXPECTING} {need.says}", 0.0)
    refuse_too_much(need, recorder.kind)
    if is_continuous(system):
        recorder, stop = loop.solve(recorder, task.until, task.max_jumps)
    else:
        stop = loop.run(recorder, task.reached, task.until, task.max_jumps, journal)
    loop.say("measuring", 1.0)
    about = dict(task.made_with)
    if journal is not None and (fault := journal.wait()):
        about[UNSAVED] = fault
    run = _run_of(task, recorder, stop, about, loop)
    return run if task.target is None else _saved(loop, run, task.target, journal)


def _run_of(
    task: RunTask, recorder: Recorder, stop: Stop, about: dict[str, str], loop: RunLoop | None
) -> Run:
    metrics, tally = recorder.ending(stop)
    elapsed = 0.0 if loop is None else loop.elapsed
    details = Details(recorder, stop, metrics, task.scenario, recorder.table(), tally, elapsed)
    return Run(details, task.repairs, about)


def _journal(task: RunTask) -> Journal | None:
    """Return where checkpoints are written; None if nowhere."""
    scenario, target, recorder = task.scenario, task.target, task.recorder
    if scenario is None or target is None or is_continuous(recorder.system):
        return None
    every = scenario.run.checkpoint.every
    if not isinstance(every, float):
        return None
    make_ready()

    def write_first(name: str) -> None:
        """Write the run before its first jump."""
        blank = recorder_of(scenario, recorder.system, recorder.start)
        still = Stop(StopReason.INTERRUPTED, 0.0)
        write_run(_run_of(task, blank, still, task.made_with, None), target, name)

    name, parts = task.journal or (None, 0)
    journal = Journal(target, every, write_first, name, parts, task.reached)
    if task.journal is not None:
        journal.skip(recorder)
    return journal


def _saved(loop: RunLoop, run: Run, target: Path, journal: Journal | None) -> Run:
    """Return `run`, now in its file; the journal is removed."""
    loop.say("saving", 1.0)
    try:
        save_run(run, target, force=True)
    except StoreError as fault:
        advice = 'free some space, or take another folder or run.record.kind = "summary"'
        if journal is not None and journal.begun:
            advice += f"; its last checkpoint goes on with dwell run --resume {shown(target)}"
        raise UnsavedError(f"{fault}; {advice}", run=run) from fault
    clear(target)
    return run


def unless_interrupted(
    request: StopRequest, run: Run, path: str | os.PathLike[str] | None = None
) -> Run:
    """`run`, kept at `path` or nowhere, unless a signal came while it was made."""
    if not request and run.stop.reason is not StopReason.INTERRUPTED:
        return run
    later = "the run up to there is in this exception's attribute run"
    if run.stop.reason is not StopReason.INTERRUPTED:
        later = "the run was over by then, and is in this exception's attribute run"
    elif path is not None and run.details.live is None:
        later = f"go on with dwell.resume_run({shown(path)!r})"
    elif path is not None:
        later = f"the run up to there is in {shown(path)}"
    raise exiting(Interrupted(f"stopped at t = {run.horizon:g}; {later}", run))


def exiting(stop: KeyboardInterrupt) -> KeyboardInterrupt:
    """`stop`, with which a script that does not catch it will end as after any Ctrl-C."""
    if threading.current_thread() is threading.main_thread():
        sys.excepthook = _exit_interrupted
    return stop


def _exit_interrupted(kind: type[BaseException], fault: BaseException, trace: Any) -> None:
    """End a script with 130, as after any Ctrl-C: Python does so for KeyboardInterrupt alone."""
    sys.excepthook = sys.__excepthook__
    sys.excepthook(kind, fault, trace)
    if issubclass(kind, KeyboardInterrupt) and not hasattr(sys, "ps1"):
        raise SystemExit(130)
