"""Workers and those who wait for one: first come, first served, each with a time limit."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

from dwell.web.jobs.process import Worker
from dwell.web.limits import Limits
from dwell.web.refusals import Refusal, problem

GRACE = 0.5  # seconds from asking a worker to stop until it is killed
LOST, BUSY = "web.worker-lost", "web.busy"
ASIDE = 2  # workers that may go on with something long beside those that take new work
PAUSE = 1.0  # seconds before a worker is replaced that ended before it was ready

Outcome = dict[str, Any]  # {"result": ...}, {"error": ...} or {"stopped": True}


@final
@dataclass(eq=False)
class Task:
    """Something to be done by a worker."""

    id: str
    order: dict[str, Any]
    seconds: float  # that it may take
    began: Callable[[], None]
    heard: Callable[[dict[str, Any]], None]  # what the worker says meanwhile
    ended: Callable[[Outcome], None]
    worker: Worker | None = None
    since: float | None = None  # when a worker took it
    reason: dict[str, Any] | None = None  # why it is being stopped, if not at somebody's wish
    stopping: bool = False
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


@final
class Crew:
    """A few workers and a queue.

    A task may go on after it was asked to stop for `grace` seconds, then its worker is killed.
    With `quick`, a task that takes longer than so many seconds while others wait is set aside: its
    worker goes on with it alone, and a fresh one serves the others.
    """

    def __init__(
        self,
        limits: Limits,
        what: str,
        workers: int,
        queued: int,
        *,
        grace: float = GRACE,
        quick: float | None = None,
    ) -> None:
        self._limits, self._what, self._size, self._queued = limits, what, workers, queued
        self._grace, self._quick = grace, quick
        self._workers: list[Worker] = []
        self._aside: list[Worker] = []
        self._queue: deque[Task] = deque()
        self._closed = False
        self.moved: Callable[[], None] = lambda: None  # told when places in the queue change

    def open(self) -> None:
        """Start the workers."""
        for _ in range(self._size):
            self._hire()

    @property
    def running(self) -> list[Task]:
        """What is being done."""
        return [worker.busy for worker in self._all if worker.busy is not None]

    @property
    def waiting(self) -> list[Task]:
        """What waits, in order."""
        return list(self._queue)

    @property
    def ready(self) -> int:
        """Workers that have started."""
        return sum(worker.ready for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [worker.pid for worker in self._all]

    @property
    def _all(self) -> list[Worker]:
        return self._workers + self._aside

    def place(self, task: Task) -> int:
        """Its place in the queue from 1; 0 if it does not wait."""
        return self._queue.index(task) + 1 if task in self._queue else 0

    def submit(self, task: Task) -> None:
        """Let `task` be done when its turn comes."""
        if self._closed:
            raise Refusal(503, "web.draining", "the server is about to end; it takes no more jobs")
        if len(self._queue) >= self._queued:
            says = f"{len(self._queue)} jobs wait already, and no more may; try again later"
            raise Refusal(503, "web.queue-full", says)
        self._queue.append(task)
        self._assign()

    def stop(self, task: Task, reason: dict[str, Any] | None = None) -> None:
        """End `task`: at once if it waits; else it is asked, and soon its worker is killed."""
        if task in self._queue:
            self._queue.remove(task)
            self._finish(task, {"error": reason} if reason else {"stopped": True})
            self.moved()
        elif task.worker is not None and not task.stopping:
            task.stopping, task.reason = True, reason
            task.worker.send({"do": "stop", "id": task.id})
            loop = asyncio.get_running_loop()
            task.timers.append(loop.call_later(self._grace, task.worker.kill))

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        for task in self.waiting:
            self.stop(task)
        for worker in self._all:
            worker.kill()
        until = time.monotonic() + 5.0
        while self._all and time.monotonic() < until:
            await asyncio.sleep(0.01)

    def _hire(self) -> None:
        if not self._closed:
            self._workers.append(Worker(self._limits, self._what, self._hear))

    def _assign(self) -> None:
        for worker in [one for one in self._workers if _is_free(one)][: len(self._queue)]:
            task = self._queue.popleft()
            task.worker, worker.busy, task.since = worker, task, time.monotonic()
            worker.send({**task.order, "id": task.id})
            loop = asyncio.get_running_loop()
            task.timers.append(loop.call_later(task.seconds, self._late, task))
            if self._quick is not None:
                task.timers.append(loop.call_later(self._quick, self._let_others_by, task))
            task.began()
            self.moved()

    def _late(self, task: Task) -> None:
        says = (
            f"the job took longer than the {task.seconds:g} s that this server gives to one; take "
            "a shorter horizon or fewer agents, or use dwell run"
        )
        self.stop(task, problem("web.time", says))

    def _let_others_by(self, task: Task) -> None:
        """A task takes long: that is its own affair, unless somebody waits behind it."""
        worker, again = task.worker, max(self._quick or 0.0, 0.1) / 4.0
        if worker is None or task.stopping:
            return
        if not self._queue:
            loop = asyncio.get_running_loop()
            task.timers.append(loop.call_later(again, self._let_others_by, task))
        elif len(self._aside) < ASIDE:
            self._workers.remove(worker)
            self._aside.append(worker)
            self._hire()
        else:
            says = "too many long questions are being answered, and others wait; ask again later"
            self.stop(task, problem(BUSY, says))

    def _hear(self, worker: Worker, message: dict[str, Any] | None) -> None:
        task: Task | None = worker.busy
        if message is None:
            self._lost(worker, task)
        elif "ready" in message:
            worker.ready = True
            self._assign()
        elif task is None or message.get("id") != task.id:
            return  # the last words of something that is over
        elif message.keys() & {"result", "error", "stopped"}:
            worker.busy = None
            worker.tired = bool(message.get("tired"))
            if worker in self._aside:
                worker.kill()  # it has its successor
            self._finish(task, _verdict(task, message))
            self._assign()
        else:
            task.heard(message)

    def _lost(self, worker: Worker, task: Task | None) -> None:
        """A worker has ended, by our own hand or not; another takes its place."""
        aside = worker in self._aside
        (self._aside if aside else self._workers).remove(worker)
        if task is not None:
            worker.busy = None
            says = (
                f"the worker process ended unexpectedly ({worker.ended_by()}), perhaps for want "
                "of memory; take fewer agents or a shorter horizon, or try again"
            )
            self._finish(task, _verdict(task, {"error": problem(LOST, says)}))
        if aside:
            return
        if worker.ready:
            self._hire()
        else:
            asyncio.get_running_loop().call_later(PAUSE, self._hire)

    def _finish(self, task: Task, outcome: Outcome) -> None:
        for timer in task.timers:
            timer.cancel()
        task.timers.clear()
        task.worker = None
        task.ended(outcome)


def _is_free(worker: Worker) -> bool:
    """Whether it can take work."""
    return worker.ready and not worker.tired and worker.busy is None and worker.alive


def _verdict(task: Task, outcome: Outcome) -> Outcome:
    """What came of a task that somebody may have stopped meanwhile."""
    if not task.stopping or "result" in outcome:
        return outcome
    return {"error": task.reason} if task.reason is not None else {"stopped": True}
