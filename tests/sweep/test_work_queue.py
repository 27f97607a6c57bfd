"""The queue of chunks: sizes, limits, and retries of those that are lost or fail."""

from __future__ import annotations

import random

import pytest

from dwell.sweep import plan_of
from dwell.sweep.cases import CaseStatus, Result, versions
from dwell.sweep.executors import Done, Lost
from dwell.sweep.run import AHEAD, MOST_LIVE, _SweepRun
from dwell.sweep.store import open_folder
from dwell.sweep.work_queue import LARGEST, TRIES, ChunkSizer, WorkQueue
from tests.sweep.worlds import FakeExecutor, quick_work, small


def sweep_with(tmp_path, plan, executor, chunk=None, mixed=False):
    with open_folder(tmp_path / "out", plan, versions(), mixed=mixed, retry=False) as folder:
        sweep_run = _SweepRun(folder, chunk, mixed, lambda what, share: None, None)
        sweep_run.run(lambda: executor)
        return sweep_run.outcome()


@pytest.fixture(scope="module")
def plan():
    return plan_of(small(repeats=50))  # 300 cases


@pytest.fixture(scope="module")
def whole(plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    sweep_with(folder, plan, FakeExecutor(run=quick_work))
    return (folder / "out" / "runs.parquet").read_bytes()


def test_chunks_that_are_lost_without_suspicion_are_run_again(tmp_path, plan, whole):
    chance = random.Random(5)

    def lose(chunk):
        return Lost(chunk, "the cable was pulled", False) if chance.random() < 0.5 else None

    found = sweep_with(tmp_path, plan, FakeExecutor(run=quick_work, lose=lose))
    assert found.ok
    assert (tmp_path / "out" / "runs.parquet").read_bytes() == whole


def test_the_case_that_kills_is_found_and_the_others_are_kept(tmp_path, plan):
    deaths = 0

    def lose(chunk):
        nonlocal deaths
        if any(spec[0] == 137 for spec in chunk.cases):
            deaths += 1
            return Lost(chunk, "its process died (signal 9)", True)
        return None

    found = sweep_with(tmp_path, plan, FakeExecutor(run=quick_work, lose=lose), chunk=100)
    assert (found.done, found.failed) == (300, 1)
    assert found.failures[0].case == 137
    assert found.failures[0].reason == "its process died (signal 9), 3 times"
    assert deaths <= 3 + TRIES  # cut into eight, thrice, and then alone


def test_other_chunks_of_a_dead_worker_do_not_fail(tmp_path, plan):
    """A Dask worker that dies loses all its chunks, of which any may be the cause."""

    class Unsure(FakeExecutor):
        def collect(self, timeout):
            if not any(spec[0] == 137 for chunk in self.under_way for spec in chunk.cases):
                return super().collect(timeout)
            lost, self.under_way = self.under_way, []
            return [Lost(chunk, "KilledWorker", True, certain=False) for chunk in lost]

    found = sweep_with(tmp_path, plan, Unsure(), chunk=1)
    assert (found.done, found.failed) == (300, 1)
    assert found.failures[0].case == 137


def test_a_temporary_failure_is_retried(plan):
    chunks = WorkQueue(plan, iter(range(300)), 300)
    chunk = chunks.next(2)
    rows = quick_work(chunk).rows
    rows[1] |= {"status": CaseStatus.AGAIN, "failure": "MemoryError: no room"}
    kept = chunks.split_retries(chunk, Result(rows, versions()))
    assert [row["case"] for row in kept.rows] == [0]
    again = chunks.next(50)
    assert [spec[0] for spec in again.cases] == [1]
    for _ in range(TRIES - 2):
        back = chunks.split_retries(again, Result([rows[1]], versions()))
        assert not back.rows
        again = chunks.next(50)
    last = chunks.split_retries(again, Result([rows[1]], versions()))
    assert last.rows[0]["status"] == CaseStatus.FAILED
    assert last.rows[0]["failure"] == f"MemoryError: no room, {TRIES} times"


@pytest.mark.parametrize(
    ("workers", "limit", "most"), [(4, MOST_LIVE, 4 * (1 + AHEAD)), (100_000, 7, 7)]
)
def test_few_chunks_are_under_way_at_a_time(tmp_path, plan, monkeypatch, workers, limit, most):
    monkeypatch.setattr("dwell.sweep.run.MOST_LIVE", limit)
    executor = FakeExecutor(workers, quick_work)
    assert sweep_with(tmp_path, plan, executor, chunk=1).ok
    assert executor.most_live == most
    assert len(executor.given) == 300


def test_chunks_grow_to_half_a_second_and_shrink_towards_the_end():
    sizer = ChunkSizer(None)
    assert sizer.size(10**6, 2) == 1
    for _ in range(10):
        sizer.learn([{"_seconds": 0.005}])
    assert sizer.size(10**6, 2) == 100
    assert sizer.size(60, 2) == 10
    for _ in range(10):
        sizer.learn([{"_seconds": 1e-9}])
    assert sizer.size(10**6, 2) == LARGEST
    sizer.learn([{"_seconds": 10.0}])
    assert sizer.size(10**6, 2) == 1
    assert ChunkSizer(13).size(2, 8) == 13


def test_rows_of_another_version_stop_the_sweep(tmp_path, plan):
    class Strange(FakeExecutor):
        def collect(self, timeout):
            back = super().collect(timeout)
            return [
                Done(d.chunk, Result(d.result.rows, {**versions(), "dwell": "9"})) for d in back
            ]

    with pytest.raises(ValueError, match="versions differ"):
        sweep_with(tmp_path, plan, Strange())
    assert sweep_with(tmp_path, plan, Strange(), mixed=True).ok


def test_progress_shows_cases_rate_and_failures(tmp_path, plan):
    reports = []

    def lose(chunk):
        bad = any(spec[0] == 5 for spec in chunk.cases)
        return Lost(chunk, "its process died", True) if bad else None

    with open_folder(tmp_path / "out", plan, versions(), mixed=False, retry=False) as folder:
        sweep_run = _SweepRun(
            folder, 10, False, lambda what, share: reports.append((what, share)), None
        )
        sweep_run.run(lambda: FakeExecutor(run=quick_work, lose=lose))
        sweep_run.outcome()
    shares = [share for _, share in reports]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any("of 300 cases" in what and "/s" in what for what, _ in reports)
    assert any("1 failed" in what for what, _ in reports)
