"""A sweep from its plan to its table: orders out, rows in, each kept as soon as it comes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from dwell._checks import check_whole
from dwell._types import finite_number
from dwell.errors import InputError
from dwell.progress import Progress, reported
from dwell.scenario.guards import as_path
from dwell.studies.workers import cores
from dwell.sweep.engines import Done, Engine, Work
from dwell.sweep.engines.local import LocalEngine
from dwell.sweep.orders import Orders, Sizer
from dwell.sweep.plan import Plan, plan_of
from dwell.sweep.spec import Sweep, load_sweep
from dwell.sweep.store import RUNS, Failure, Folder, check_versions, open_folder
from dwell.sweep.table import need_pyarrow
from dwell.sweep.work import Result, run_order, versions

AHEAD = 2  # orders per worker that wait with it, so that it never waits for us
MOST_LIVE = 10_000  # orders under way, however many workers there are
PULSE = 0.5  # seconds between two looks at the clock
SHOWN = 20  # failures told in full


@final
@dataclass(frozen=True)
class Outcome:
    """What a sweep came to."""

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
    damaged: tuple[str, ...]  # files that could not be read, put aside

    @property
    def ok(self) -> bool:
        """Whether every case has its numbers."""
        return self.done == self.cases and not self.failed

    def as_json(self) -> dict[str, Any]:
        """For `dwell sweep --json`."""
        whole = self.done == self.cases
        return {
            "schema": 1,
            "out": str(self.out),
            "table": str(self.out / RUNS) if whole else None,
            "cases": self.cases,
            "points": self.points,
            "done": self.done,
            "computed": self.computed,
            "failed": self.failed,
            "failures": [{"case": f.case, "reason": f.reason} for f in self.failures],
            "interrupted": self.interrupted,
            "damaged": list(self.damaged),
            "workers": self.workers,
            "busy_seconds": self.busy_seconds,
            "wall_seconds": self.wall_seconds,
        }


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
    """Run every case of `sweep` that the folder `out` does not have yet.

    By default on all processors of this machine; `cluster` is the address of a Dask scheduler, or
    "local" for one of its own. `workers` is how many run at a time here, `chunk` how many cases
    make a portion; neither changes the table. `retry` runs cases again that failed, `mixed` allows
    rows of different versions in one table, `extend` keeps the rows of another sweep in `out` whose
    cases are cases of this one, and `patience` is for how many seconds a scheduler that went away
    is waited for. `progress` is as in `run_scenario`; `say` is called with what people should know.
    """
    need_pyarrow()
    place = as_path(out)
    check_whole("workers", workers, 1, "sweep", optional=True)
    check_whole("chunk", chunk, 1, "sweep", optional=True)
    _check_cluster(cluster, patience)
    plan = plan_of(sweep if isinstance(sweep, Sweep) else load_sweep(sweep))
    options = {"mixed": mixed, "retry": retry, "extend": extend}
    where = open_folder(place, plan, versions(), **options)
    with reported(progress) as tell, where as folder:
        conductor = _Conductor(folder, chunk, mixed, tell, say)
        for note in plan.notes:
            conductor.say(note)
        if not folder.done.all():
            conductor.conduct(lambda: _engine(cluster, workers, patience, conductor.say))
        return conductor.ending()


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


def _engine(
    cluster: str | None,
    workers: int | None,
    patience: float,
    say: Callable[[str], None],
    work: Work = run_order,
) -> Engine:
    if cluster is None:
        return LocalEngine(workers or cores(), work)
    from dwell.sweep.engines.dask import DaskEngine

    address = None if cluster == "local" else cluster
    return DaskEngine(address, workers=workers, work=work, patience=patience, say=say)


@final
class _Conductor:
    """Gives orders to an engine and rows to a folder."""

    def __init__(
        self,
        folder: Folder,
        chunk: int | None,
        mixed: bool,
        tell: Progress,
        say: Callable[[str], None] | None,
    ) -> None:
        self.folder, self.mixed = folder, mixed
        self.tell = tell
        self.say = say or (lambda text: None)
        self.sizer = Sizer(chunk)
        self.began = time.perf_counter()
        self.computed, self.busy, self.workers = 0, 0.0, 0
        self.interrupted = False

    def conduct(self, start_engine: Callable[[], Engine]) -> None:
        """All missing cases; an interrupt leaves what is done."""
        plan, missing = self.folder.plan, np.flatnonzero(~self.folder.done)
        orders = Orders(plan, _numbers(missing), len(missing))
        try:
            self.tell("starting", 0.0)
            engine = start_engine()
            try:
                self._greet(engine)
                self._loop(orders, engine)
            finally:
                engine.close()
        except KeyboardInterrupt:
            self.interrupted = True

    def _greet(self, engine: Engine) -> None:
        if engine.about:
            self.say(f"dashboard: {engine.about}")
        for address, found in engine.versions().items():
            check_versions(self.folder.made_with, found, self.mixed, f"those of {address}")

    def _loop(self, orders: Orders, engine: Engine) -> None:
        under_way = 0
        while True:
            self.workers = max(self.workers, engine.workers)
            room = min((1 + AHEAD) * engine.workers, MOST_LIVE)
            while under_way < room:
                order = orders.next(self.sizer.size(orders.left, engine.workers), under_way)
                if order is None:
                    break
                engine.submit(order)
                under_way += 1
            if not under_way:
                return
            for back in engine.collect(PULSE):
                under_way -= 1
                if isinstance(back, Done):
                    self._take(orders.sort_out(back.order, back.result))
                else:
                    rows = orders.give_back(back.order, back.reason, back.blamed, back.sure)
                    self.folder.commit(Result(rows, versions()))
            self._show()

    def _take(self, result: Result) -> None:
        check_versions(self.folder.made_with, result.versions, self.mixed, "those of a worker")
        self.folder.commit(result)
        if result.rows:
            self.sizer.learn(result.rows)
        self.computed += len(result.rows)
        self.busy += sum(row.get("_seconds") or 0.0 for row in result.rows)

    def _show(self) -> None:
        done, cases = int(self.folder.done.sum()), len(self.folder.done)
        rate = self.computed / max(time.perf_counter() - self.began, 1e-9)
        failed = f", {self.folder.failed:,} failed" if self.folder.failed else ""
        self.tell(f"{done:,} of {cases:,} cases, {rate:,.3g}/s{failed}", done / cases)

    def ending(self) -> Outcome:
        """The table, if all cases are there, and what to say."""
        folder = self.folder
        if folder.done.all():
            self.tell("writing the table", 1.0)
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


def _numbers(cases: Any) -> Iterator[int]:
    return (int(case) for case in cases)


def plan_file(path: str | os.PathLike[str]) -> Plan:
    """The cases of a sweep file, checked and not run."""
    return plan_of(load_sweep(path))
