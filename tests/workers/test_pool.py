"""The pool of processes: outcomes, limits, stops and deaths, of real and of fake processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from dwell.workers import pool as pools
from dwell.workers.child import Ending, TaskOutcome, Work
from dwell.workers.pool import Pool, Task
from tests.workers import work
from tests.workers.watch import LONG

PATHS = [str(Path(__file__).parents[2]), *filter(None, sys.path)]


class Tasks:
    """Tasks of a pool, and their outcomes by order."""

    def __init__(self, pool):
        self.pool, self.outcomes, self.reports = pool, {}, []
        self._waiting = {}

    def start(self, *order, seconds=None):
        over = self._waiting[order] = asyncio.Event()

        def ended(outcome):
            self.outcomes[order] = outcome
            over.set()

        began = asyncio.Event()
        task = Task(order, ended, seconds, began=began.set, reported=self.reports.append)
        self.pool.submit(task)
        return task, began

    async def outcome(self, *order, seconds=None):
        self.start(*order, seconds=seconds)
        return await self.end(*order)

    async def end(self, *order):
        await asyncio.wait_for(self._waiting[order].wait(), LONG)
        return self.outcomes[order]


def with_processes(check, size=1, **options):
    """Run `check(tasks)` with a pool of real processes."""

    async def checking():
        pool = Pool(Work(work.run, **options), "tests", size, paths=PATHS)
        pool.open()
        try:
            await check(Tasks(pool))
        finally:
            await pool.close()
        assert pool.pids == []

    asyncio.run(checking())


def test_outcomes_of_real_processes():
    """A process goes on after failures and requested stops, and is replaced otherwise."""

    async def check(tasks):
        first = await tasks.outcome("report", "half")
        assert tasks.reports == [{"doing": "working", "progress": 0.0}, "half"]
        assert await tasks.outcome("echo", 1) == (Ending.RESULT, 1)
        assert await tasks.outcome("divide", 0) == (
            Ending.FAILED,
            "ZeroDivisionError: division by zero",
        )
        assert await tasks.outcome("loop", None, seconds=0.05) == (Ending.LATE, "0.05 s")
        assert (await tasks.outcome("report", "again")).value == first.value
        for order, how in [(("exit", 3), "exit code 3"), (("function", None), "exit code 1")]:
            assert await tasks.outcome(*order) == (Ending.LOST, how)
        assert await tasks.outcome("sleep", 60.0, seconds=0.05) == (Ending.LATE, "0.05 s")
        assert (await tasks.outcome("report", "new")).value != first.value

    with_processes(check)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_memory_is_limited_and_a_process_that_ran_out_is_replaced(capfd):
    async def check(tasks):
        first = await tasks.outcome("report", "")
        assert await tasks.outcome("allocate", 10_000_000) == (Ending.RESULT, 1.0)
        outcome = await tasks.outcome("allocate", 100_000_000)
        assert outcome.status == Ending.FAILED
        assert "MemoryError" in outcome.value
        assert (await tasks.outcome("report", "")).value != first.value

    with_processes(check, memory=3e8)
    assert "Fatal" not in capfd.readouterr().err  # which the thread that reads would cause


def test_one_process_prepares_before_the_others_begin():
    async def check(tasks):
        pool = tasks.pool
        assert pool.warming
        assert len(pool.pids) == 1
        assert await tasks.outcome("echo", 1) == (Ending.RESULT, 1)
        assert not pool.warming
        assert len(pool.pids) == 3

    with_processes(check, size=3, prepare=work.prepare_slowly)


def test_a_killed_process_and_a_stopped_task():
    async def check(tasks):
        pool = tasks.pool
        task, began = tasks.start("sleep", 60.0)
        waiting, _ = tasks.start("echo", 1)
        await began.wait()
        assert (pool.running, pool.waiting, pool.place(waiting)) == ([task], [waiting], 1)
        pool.stop(waiting)
        assert tasks.outcomes["echo", 1] == (Ending.STOPPED, None)
        os.kill(pool.pids[0], signal.SIGKILL)
        assert await tasks.end("sleep", 60.0) == (Ending.LOST, "signal 9")
        task, began = tasks.start("loop", None)
        await began.wait()
        pool.stop(task)
        assert await tasks.end("loop", None) == (Ending.STOPPED, None)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(pool.pids[0], number)  # which are for the parent
        assert await tasks.outcome("echo", 2) == (Ending.RESULT, 2)

    with_processes(check)


def test_processes_start_when_they_are_needed():
    async def check():
        pool = Pool(Work(work.run), "tests", 3, paths=PATHS)
        tasks = Tasks(pool)
        assert pool.pids == []
        assert await tasks.outcome("echo", 1) == (Ending.RESULT, 1)
        assert len(pool.pids) == pool.ready == 1
        await pool.close()

    asyncio.run(check())


# Fake processes.


class FakeProcess:
    """A process that ends its task when the test says so."""

    made: ClassVar[list] = []

    def __init__(self, work, name, paths, received):
        self.ready, self.worn, self.task, self._received = True, False, None, received
        self.pid, self.killed, self.alive = len(self.made), False, True
        self.made.append(self)

    @property
    def free(self):
        return self.ready and self.alive and self.task is None

    def send(self, kind, task, order=None):
        pass

    def kill(self):
        if not self.killed:
            self.killed = True
            asyncio.get_running_loop().call_soon(self.receive, None)

    def receive(self, message):
        self._received(self, message)

    def start(self):
        self.receive(("ready", None))

    def end(self):
        self.receive(("ended", self.task.id, TaskOutcome(Ending.RESULT), False))

    def ended_by(self):
        return "signal 9"


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(pools, "Process", FakeProcess)
    FakeProcess.made = []
    return FakeProcess.made


def with_fakes(check, **options):
    async def checking():
        pool = Pool(Work(work.run), "tests", 1, **options)
        pool.open()
        await check(pool, Tasks(pool))
        await pool.close()
        assert pool.pids == []

    asyncio.run(checking())


async def until(true):
    async with asyncio.timeout(LONG):
        while not true():
            await asyncio.sleep(0.005)


def test_a_long_task_is_set_aside_only_if_others_wait(made):
    async def check(pool, tasks):
        tasks.start("long")
        await asyncio.sleep(0.06)
        assert len(made) == 1
        tasks.start("short")
        await until(lambda: len(made) == 2)
        first, second = made
        assert second.task is None  # its process has not started yet
        second.start()
        assert second.task.order == ("short",)
        second.end()
        assert list(tasks.outcomes) == [("short",)]
        assert [task.order for task in pool.running] == [("long",)]
        first.end()
        await until(lambda: pool.pids == [second.pid])
        assert tasks.outcomes["long",].status == Ending.RESULT
        assert first.killed

    with_fakes(check, quick=0.02, grace=0.01)


def test_the_number_of_long_tasks_is_limited(made):
    async def check(pool, tasks):
        for k in range(4):
            tasks.start(k)
            if k:
                await until(lambda k=k: len(made) > k or tasks.outcomes)
            made[-1].start()
        await until(lambda: tasks.outcomes)
        assert tasks.outcomes == {(2,): ("crowded", None)}
        await until(lambda: len(pool.pids) == 3)

    with_fakes(check, quick=0.02, grace=0.01)


def test_a_process_that_has_just_died_gets_no_task(made):
    async def check(pool, tasks):
        made[0].alive = False  # and the pool does not know yet
        tasks.start("one")
        assert len(pool.waiting) == 1
        made[0].receive(None)
        made[1].start()
        made[1].end()
        assert tasks.outcomes["one",].status == Ending.RESULT

    with_fakes(check)


def test_late_messages_are_ignored(made):
    async def check(pool, tasks):
        tasks.start("one")
        (process,) = made
        number = process.task.id
        process.end()
        for message in (
            ("report", number, "late"),
            ("ended", number, TaskOutcome(Ending.FAILED), False),
        ):
            process.receive(message)
        tasks.start("two")
        process.receive(("report", number, "late"))
        process.end()
        assert [outcome.status for outcome in tasks.outcomes.values()] == [
            Ending.RESULT,
            Ending.RESULT,
        ]
        assert not tasks.reports

    with_fakes(check)
