"""Jobs on threads: all results, in order; an interrupt or a fault ends them all."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from dwell import InputError
from dwell.workers.threads import Job, Progress, cores, run_jobs
from tests.workers.watch import LONG, wait_for


def numbered(count: int) -> dict[str, Job[int]]:
    def job(k: int) -> Job[int]:
        def work(progress: Progress) -> int:
            progress("working", 0.5)
            time.sleep(0.002 * (count - k))  # later ones end first
            return k * k

        return work

    return {str(k): job(k) for k in range(count)}


@pytest.mark.parametrize("workers", [None, 1, 2, 7])
def test_results_are_the_same_for_any_number_of_workers(workers: int | None) -> None:
    ended: list[str] = []
    done = run_jobs(numbered(6), workers=workers, finished=lambda name, result: ended.append(name))

    assert list(done.items()) == [(str(k), k * k) for k in range(6)]
    assert sorted(ended) == list(done)


@pytest.mark.parametrize("workers", [1, 3])
def test_progress_rises_from_0_to_1(workers: int) -> None:
    seen: list[tuple[str, float]] = []
    run_jobs(numbered(4), workers=workers, progress=lambda *report: seen.append(report))

    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] <= shares[-1] <= 1.0
    assert seen[-1][0].endswith("of 4 runs")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fault", [KeyboardInterrupt, InputError("no")])
def test_one_that_fails_ends_the_others_and_keeps_what_is_done(
    workers: int, fault: type[BaseException] | BaseException
) -> None:
    kept: list[str] = []
    began, stopped = threading.Event(), threading.Event()

    def good(progress: Progress) -> str:
        return "done"

    def bad(progress: Progress) -> str:
        if workers == 2:
            wait_for(lambda: kept and began.is_set(), "the others")
        raise fault

    def endless(progress: Progress) -> str:
        began.set()
        try:
            while True:
                progress("working", 0.1)
                time.sleep(0.005)
        except KeyboardInterrupt:
            stopped.set()
            raise

    jobs = {"good": good, "bad": bad, "endless": endless}
    expected = KeyboardInterrupt if fault is KeyboardInterrupt else InputError
    with pytest.raises(expected):
        run_jobs(jobs, workers=workers, finished=lambda name, result: kept.append(name))
    assert kept == ["good"]
    assert stopped.is_set() == (workers == 2)


def test_an_interrupt_of_the_waiting_thread_reaches_the_jobs() -> None:
    stopped = threading.Barrier(3)

    def endless(progress: Progress) -> None:
        try:
            while True:
                progress("working", 0.1)
                time.sleep(0.005)
        except KeyboardInterrupt:
            stopped.wait(LONG)
            raise

    def interrupt(what: str, share: float) -> None:
        threading.Thread(target=stopped.wait, args=(LONG,)).start()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs({"a": endless, "b": endless}, workers=2, progress=interrupt)
    assert not stopped.broken


def test_the_number_of_workers_is_checked() -> None:
    with pytest.raises(InputError, match="at least 1"):
        run_jobs(numbered(2), workers=0)
    assert cores() >= 1


def test_threads_of_a_new_process_find_numba_loaded() -> None:
    """Two threads that import Numba at the same time can block each other for ever."""
    code = (
        "import sys; from dwell.workers.threads import run_jobs\n"
        "assert 'numba' not in sys.modules\n"
        "jobs = {n: lambda progress: 'numba' in sys.modules for n in 'ab'}\n"
        "assert all(run_jobs(jobs, workers=2, progress=False).values())"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LONG)
