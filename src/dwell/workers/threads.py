"""Functions that run in threads: the kernels, where the time goes, release Python's lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeAlias, TypeVar

from dwell._kernels._jit import load
from dwell.errors import InputError
from dwell.progress import Progress, reported

T = TypeVar("T")

Job: TypeAlias = Callable[[Progress], T]

PULSE = 0.1  # seconds between two reports of progress


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def run_jobs(
    jobs: Mapping[str, Job[T]],
    *,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    finished: Callable[[str, T], None] | None = None,
) -> dict[str, T]:
    """Return the result of every job by name, in the order of `jobs`.

    `workers` is the number of threads, all processors by default; it changes no result. `finished`
    is called with each result as it comes, so that it can be stored. An interrupt or an exception
    of one job ends all of them: their next call of `progress` raises KeyboardInterrupt.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers!r}; at least 1 is needed", code="studies.workers")
    threads = min(workers or cores(), len(jobs))
    done: dict[str, T] = {}

    def end(name: str, result: T) -> None:
        done[name] = result
        board.end(name)
        if finished is not None:
            finished(name, result)

    with reported(progress) as report:
        board = _Board(list(jobs), report)
        if threads > 1:
            _run_in_threads(jobs, threads, board, end)
        else:  # in this thread, where an interrupt arrives at once
            for name, job in jobs.items():
                end(name, job(board.progress_of(name, at_once=True)))
    return {name: done[name] for name in jobs}


def _run_in_threads(
    jobs: Mapping[str, Job[T]], threads: int, board: _Board, end: Callable[[str, T], None]
) -> None:
    load()
    with ThreadPoolExecutor(threads) as pool:
        try:
            futures: dict[Future[T], str] = {
                pool.submit(job, board.progress_of(name)): name for name, job in jobs.items()
            }
            left = set(futures)
            while left:
                ended, left = wait(left, timeout=PULSE, return_when=FIRST_COMPLETED)
                for future in ended:
                    end(futures[future], future.result())
                board.show()
        except BaseException:
            board.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


class _Board:
    """Progress of every job; shown by the thread that waits for them."""

    def __init__(self, names: list[str], report: Progress) -> None:
        self.shares = dict.fromkeys(names, 0.0)
        self.ended = 0
        self.stopped = threading.Event()
        self._report = report

    def progress_of(self, name: str, *, at_once: bool = False) -> Progress:
        """Return the progress function of one job."""

        def progress(what: str, share: float) -> None:
            if self.stopped.is_set():
                raise KeyboardInterrupt
            self.shares[name] = min(max(share, 0.0), 1.0)
            if at_once:
                self.show()

        return progress

    def end(self, name: str) -> None:
        """Count a job as done."""
        self.shares[name] = 1.0
        self.ended += 1

    def show(self) -> None:
        """Report the progress of all jobs together."""
        share = sum(self.shares.values()) / len(self.shares)
        what = f"{self.ended} of {len(self.shares)} runs" if share > 0.0 else "preparing"
        self._report(what, share)
