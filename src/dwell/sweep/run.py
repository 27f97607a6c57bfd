"""A sweep from its plan to its table: chunks are run, and each row is stored as it arrives."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._types import finite_number
from dwell.errors import InputError
from dwell.progress import Progress, reported
from dwell.scenario.guards import as_path
from dwell.sweep.cases import Result, versions
from dwell.sweep.executors import Done, Executor
from dwell.sweep.executors.local import LocalExecutor
from dwell.sweep.plan import Plan, plan_of
from dwell.sweep.spec import Sweep, load_sweep
from dwell.sweep.store import RUNS, Failure, Folder, check_versions, open_folder
from dwell.sweep.table import need_pyarrow
from dwell.sweep.work_queue import ChunkSizer, WorkQueue
from dwell.workers.threads import cores

AHEAD = 2  # chunks queued for each worker beside the one that it runs
MOST_LIVE = 10_000  # chunks under way, for any number of workers
PULSE = 0.5  # seconds between two reports of progress
SHOWN = 20  # failures listed in full


@final
@dataclass(frozen=True)
class Outcome:
    """The result of `run_sweep`."""

    out: Path
    cases: int
    points: int
    done: int  # with those that failed
    computed: int  # by this command
    failed: int
    failures: tuple[Failure, ...]  # the first of them
    interrupted: bool
    workers: int
    busy_seconds: float  # of all workers together
    wall_seconds: float
    damaged: tuple[str, ...]  # unreadable files, renamed

    @property
    def ok(self) -> bool:
        """Whether every case is done, without failure."""
        return self.done == self.cases and not self.failed

    def as_json(self) -> dict[str, Any]:
        """Return the content of `dwell sweep --json`."""
        table = str(self.out / RUNS) if self.done == self.cases else None
        return {"schema": 1, **asdict(self), "out": str(self.out), "table": table}


def run_sweep(
    sweep: Sweep | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    cluster: str | None = None,
    workers: int | None = None,
    chunk: int | None = None,
    retry: bool = False,
    mixed: bool = False,
    extend: bool = False,
    patience: float = 60.0,
    progress: Progress | bool | None = None,
    say: Callable[[str], None] | None = None,
) -> Outcome:
    """Run every case of a sweep that its folder does not have yet.

    Parameters
    ----------
    sweep : Sweep or path
        The sweep, or the path of its file.
    out : str or path
        The folder for the tables, made if need be.
    cluster : str, optional
        Address of a Dask scheduler, or "local" for one of its own; without it the processors here.
    workers, chunk : int, optional
        Processes here, and cases in a portion; neither changes the table.
    retry : bool
        Run cases again that failed before.
    mixed : bool
        Allow rows of different versions in one table.
    extend : bool
        Keep rows of another sweep in `out` whose cases are cases of this one.
    patience : float
        Seconds to wait for a scheduler that went away.
    progress : callable or bool, optional
        As in `run_scenario`.
    say : callable, optional
        Called with messages for people.

    Returns
    -------
    Outcome
        How many cases are done and failed, and where the tables are.

    Examples
    --------
    >>> import dwell
    >>> dwell.run_sweep("sweep.toml", "sweep", workers=1).ok
    True
    """
    need_pyarrow()
    place = as_path(out)
    check_whole("workers", workers, 1, "sweep", optional=True)
    check_whole("chunk", chunk, 1, "sweep", optional=True)
    _check_cluster(cluster, patience)
    plan = plan_of(sweep if isinstance(sweep, Sweep) else load_sweep(sweep))
    options = {"mixed": mixed, "retry": retry, "extend": extend}
    where = open_folder(place, plan, versions(), **options)
    with reported(progress) as report, where as folder:
        sweep_run = _SweepRun(folder, chunk, mixed, report, say)
        for note in plan.notes:
            sweep_run.say(note)
        if not folder.done.all():
            sweep_run.run(lambda: _executor(cluster, workers, patience, sweep_run.say))
        return sweep_run.outcome()


def _check_cluster(cluster: str | None, patience: float) -> None:
    if cluster is not None and not cluster.strip():
        raise InputError(
            'the address of the cluster is empty; give one such as tcp://HOST:8786, or "local"',
            code="sweep.cluster",
        )
    seconds = finite_number(patience)
    if seconds is None or seconds < 0.0:
        raise InputError(
            f"patience is {patience!r}; a number of seconds from 0 on is needed",
            code="sweep.patience",
        )


def _executor(
    cluster: str | None, workers: int | None, patience: float, say: Callable[[str], None]
) -> Executor:
    if cluster is None:
        return LocalExecutor(workers or cores())
    from dwell.sweep.executors.dask import DaskExecutor

    address = None if cluster == "local" else cluster
    return DaskExecutor(address, workers=workers, patience=patience, say=say)


@final
class _SweepRun:
    """Passes chunks to an executor and rows to a folder."""

    def __init__(
        self,
        folder: Folder,
        chunk: int | None,
        mixed: bool,
        report: Progress,
        say: Callable[[str], None] | None,
    ) -> None:
        self.folder, self.mixed = folder, mixed
        self.report = report
        self.say = say or (lambda text: None)
        self.sizer = ChunkSizer(chunk)
        self.began = time.perf_counter()
        self.computed, self.busy, self.workers = 0, 0.0, 0
        self.interrupted = False

    def run(self, start_executor: Callable[[], Executor]) -> None:
        """Run all missing cases; an interrupt keeps those that are done."""
        plan, missing = self.folder.plan, np.flatnonzero(~self.folder.done)
        work = WorkQueue(plan, iter(missing.tolist()), len(missing))
        try:
            self.report("starting", 0.0)
            executor = start_executor()
            try:
                if executor.about:
                    self.say(f"dashboard: {executor.about}")
                for address, found in executor.versions().items():
                    self._check(found, f"those of {address}")
                self._loop(work, executor)
            finally:
                executor.close()
        except KeyboardInterrupt:
            self.interrupted = True

    def _check(self, found: dict[str, str], whose: str) -> None:
        check_versions(self.folder.made_with, found, self.mixed, whose)

    def _loop(self, work: WorkQueue, executor: Executor) -> None:
        under_way = 0
        while True:
            self.workers = max(self.workers, executor.workers)
            most = min((1 + AHEAD) * executor.workers, MOST_LIVE)
            while under_way < most:
                chunk = work.next(self.sizer.size(work.left, executor.workers), under_way)
                if chunk is None:
                    break
                executor.submit(chunk)
                under_way += 1
            if not under_way:
                return
            for back in executor.collect(PULSE):
                under_way -= 1
                if isinstance(back, Done):
                    self._commit(work.split_retries(back.chunk, back.result))
                else:
                    rows = work.requeue(back.chunk, back.reason, back.suspect, back.certain)
                    self.folder.commit(Result(rows, versions()))
            self._show()

    def _commit(self, result: Result) -> None:
        self._check(result.versions, "those of a worker")
        self.folder.commit(result)
        if result.rows:
            self.sizer.learn(result.rows)
        self.computed += len(result.rows)
        self.busy += sum(row.get("_seconds") or 0.0 for row in result.rows)

    def _show(self) -> None:
        done, cases = int(self.folder.done.sum()), len(self.folder.done)
        rate = self.computed / max(time.perf_counter() - self.began, 1e-9)
        failed = f", {self.folder.failed:,} failed" if self.folder.failed else ""
        self.report(f"{done:,} of {cases:,} cases, {rate:,.3g}/s{failed}", done / cases)

    def outcome(self) -> Outcome:
        """Write the table if all cases are done, and return the result of the sweep."""
        folder = self.folder
        if folder.done.all():
            self.report("writing the table", 1.0)
            folder.finish()
        return Outcome(
            out=folder.path,
            cases=len(folder.plan),
            points=folder.plan.points,
            done=int(folder.done.sum()),
            computed=self.computed,
            failed=folder.failed,
            failures=tuple(folder.failures(SHOWN)),
            interrupted=self.interrupted,
            workers=self.workers,
            busy_seconds=self.busy,
            wall_seconds=time.perf_counter() - self.began,
            damaged=tuple(path.name for path in folder.damaged),
        )


def plan_file(path: str | os.PathLike[str]) -> Plan:
    """Return the cases of a sweep file, checked and not run."""
    return plan_of(load_sweep(path))
