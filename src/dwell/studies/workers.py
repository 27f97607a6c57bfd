"""Several jobs at once, on threads: the kernels, where the time goes, release Python's lock.

A job is told by its progress function to stop, so that an interrupt reaches every thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeAlias, TypeVar

from dwell.errors import InputError
from dwell.progress import Progress, reported

T = TypeVar("T")

Job: TypeAlias = Callable[[Progress], T]

PULSE = 0.1  # seconds between two looks at the jobs


def cores() -> int:
    """How many processors this process may use."""
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
    """What every job gives, in the order of `jobs`, whatever order they end in.

    `workers` is the number of threads, all processors by default. `finished` is told of each job
    when it is done, so that it can be kept. An interrupt ends all of them and goes on as
    KeyboardInterrupt. Each job works alone, so the number of workers changes no result.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers!r}; at least 1 is needed", code="studies.workers")
    threads = min(workers or cores(), len(jobs))
    with reported(progress) as tell:
        board = _Board(list(jobs), tell)
        if threads > 1:
            return _on_threads(jobs, threads, board, finished)
        done = {}
        for name, job in jobs.items():
            done[name] = job(board.teller(name, at_once=True))
            board.close(name)
            if finished is not None:
                finished(name, done[name])
        return done


def _on_threads(
    jobs: Mapping[str, Job[T]],
    threads: int,
    board: _Board,
    finished: Callable[[str, T], None] | None,
) -> dict[str, T]:
    done: dict[str, T] = {}
    with ThreadPoolExecutor(threads) as pool:
        futures: dict[Future[T], str] = {}
        try:
            for name, job in jobs.items():
                futures[pool.submit(job, board.teller(name))] = name
            left = set(futures)
            while left:
                ended, left = wait(left, timeout=PULSE, return_when=FIRST_COMPLETED)
                for future in ended:
                    name = futures[future]
                    done[name] = future.result()
                    board.close(name)
                    if finished is not None:
                        finished(name, done[name])
                board.show()
        except BaseException:
            board.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return {name: done[name] for name in jobs}


class _Board:
    """How far every job is; shown by the thread that waits for them."""

    def __init__(self, names: list[str], progress: Progress) -> None:
        self.shares = dict.fromkeys(names, 0.0)
        self.ended = 0
        self.stopped = threading.Event()
        self._progress = progress

    def teller(self, name: str, *, at_once: bool = False) -> Progress:
        """The progress function of one job."""

        def tell(what: str, share: float) -> None:
            if self.stopped.is_set():
                raise KeyboardInterrupt
            self.shares[name] = min(max(share, 0.0), 1.0)
            if at_once:
                self.show()

        return tell

    def close(self, name: str) -> None:
        """Count a job as done."""
        self.shares[name] = 1.0
        self.ended += 1

    def show(self) -> None:
        """Tell how far all jobs are together."""
        share = sum(self.shares.values()) / len(self.shares)
        what = f"{self.ended} of {len(self.shares)} runs" if share > 0.0 else "preparing"
        self._progress(what, share)
