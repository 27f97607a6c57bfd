"""A queue of tasks and the worker processes that serve it, first come, first served."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

from dwell.workers.child import Ending, TaskOutcome, Work
from dwell.workers.process import Process

GRACE = 0.5  # seconds from a request to stop until the process is killed
SPARE = 2  # processes that may go on with something long beside those that take new tasks
PAUSE = 0.25  # seconds before a process is replaced that ended before it was ready
CLOSING = 5.0  # seconds in which killed processes are waited for
ON_REQUEST = TaskOutcome(Ending.STOPPED)


@final
@dataclass(eq=False)
class Task:
    """Something for a worker process to do. Callbacks run in the loop of the pool."""

    order: Any
    ended: Callable[[TaskOutcome], None]
    seconds: float | None = None  # time limit, from when a process begins
    began: Callable[[], None] = lambda: None
    reported: Callable[[Any], None] = lambda message: None
    id: int = field(default_factory=itertools.count().__next__)
    process: Process | None = None
    stopping: TaskOutcome | None = None  # how it ends if it was stopped
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


@final
class Pool:
    """At most `size` processes that do `work`, and a queue.

    A stopped task may go on for `grace` seconds, then its process is killed. With `quick`, a task
    that takes longer than so many seconds while others wait is set aside: its process goes on with
    it alone, and a new one serves the queue. The first process prepares alone: the others find in
    caches what it has compiled. All methods are called in one running event loop.
    """

    def __init__(
        self,
        work: Work,
        name: str,
        size: int,
        *,
        paths: list[str] | None = None,
        grace: float = GRACE,
        quick: float | None = None,
    ) -> None:
        self._work, self._name, self._size, self._paths = work, name, size, paths
        self._grace, self._quick = grace, quick
        self._processes: list[Process] = []
        self._aside: list[Process] = []
        self._queue: deque[Task] = deque()
        self._least = 0  # processes to keep when the queue is empty
        self._prepared = work.prepare is None  # else one process prepares, and fills caches
        self.closed = False
        self.moved: Callable[[], None] = lambda: None  # called when places in the queue change
        self.died: Callable[[str], None] = lambda how: None  # called when a process was lost

    def open(self) -> None:
        """Start all processes, rather than each when it is needed."""
        self._least = self._size
        self._spawn()

    @property
    def running(self) -> list[Task]:
        """Tasks under way."""
        return [process.task for process in self._all if process.task is not None]

    @property
    def waiting(self) -> list[Task]:
        """Tasks in the queue, in order."""
        return list(self._queue)

    @property
    def ready(self) -> int:
        """Number of processes that have started."""
        return sum(process.ready for process in self._processes)

    @property
    def warming(self) -> bool:
        """Whether all processes are still preparing."""
        return bool(self._processes) and not self.ready

    @property
    def pids(self) -> list[int]:
        """Process numbers."""
        return [process.pid for process in self._all]

    @property
    def _all(self) -> list[Process]:
        return self._processes + self._aside

    def place(self, task: Task) -> int:
        """Return the place of a task in the queue from 1; 0 if it does not wait."""
        return self._queue.index(task) + 1 if task in self._queue else 0

    def submit(self, task: Task) -> None:
        """Put a task into the queue."""
        self._queue.append(task)
        self._assign()

    def stop(self, task: Task, outcome: TaskOutcome = ON_REQUEST) -> None:
        """End a task: at once if it waits, else on request, and after `grace` by force."""
        if task in self._queue:
            self._queue.remove(task)
            self._finish(task, outcome)
            self.moved()
        elif task.process is not None and task.stopping is None:
            task.stopping = outcome
            task.process.send("stop", task.id)
            self._time(task, self._grace, _kill)

    async def close(self) -> None:
        """End all tasks and processes."""
        self.closed = True
        for task in self.waiting:
            self.stop(task)
        for process in self._all:
            process.kill()
        until = time.monotonic() + CLOSING
        while self._all and time.monotonic() < until:
            await asyncio.sleep(0.01)

    def _spawn(self) -> None:
        """Start the processes that are missing."""
        busy = sum(process.task is not None for process in self._processes)
        most = self._size if self._prepared else 1
        wanted = min(most, max(self._least, busy + len(self._queue)))
        while not self.closed and len(self._processes) < wanted:
            process = Process(self._work, self._name, self._paths, self._receive)
            self._processes.append(process)

    def _assign(self) -> None:
        for process in [one for one in self._processes if one.free][: len(self._queue)]:
            task = self._queue.popleft()
            task.process, process.task = process, task
            process.send("do", task.id, task.order)
            self._time(task, task.seconds, self._late)
            self._time(task, self._quick, self._set_aside)
            task.began()
            self.moved()
        self._spawn()

    def _time(self, task: Task, seconds: float | None, call: Callable[[Task], None]) -> None:
        if seconds is not None:
            loop = asyncio.get_running_loop()
            task.timers.append(loop.call_later(seconds, call, task))

    def _late(self, task: Task) -> None:
        self.stop(task, TaskOutcome(Ending.LATE, f"{task.seconds:g} s"))

    def _set_aside(self, task: Task) -> None:
        """Let a long task go on beside the queue, if others wait."""
        process = task.process
        if process is None or task.stopping is not None:
            return
        if not self._queue:
            self._time(task, max(self._quick or 0.0, 0.1) / 4.0, self._set_aside)
        elif len(self._aside) < SPARE:
            self._processes.remove(process)
            self._aside.append(process)
            self._spawn()
        else:
            self.stop(task, TaskOutcome(Ending.CROWDED))

    def _receive(self, process: Process, message: Any) -> None:
        task: Task | None = process.task
        if message is None:
            self._lost(process, task)
            return
        kind, number, *values = message
        if kind == "ready":
            process.ready = self._prepared = True
            self._assign()
        elif task is None or number != task.id:
            return  # late messages of a task that has ended
        elif kind == "ended":
            outcome, process.worn = values
            process.task = None
            if process in self._aside:
                process.kill()  # it was replaced
            self._finish(task, outcome)
            self._assign()
        else:
            task.reported(values[0])

    def _lost(self, process: Process, task: Task | None) -> None:
        """A process has ended, by `kill` or not; another takes its place."""
        aside = process in self._aside
        (self._aside if aside else self._processes).remove(process)
        if not process.worn and not self.closed:
            self.died(process.ended_by())
        if task is not None:
            process.task = None
            self._finish(task, TaskOutcome(Ending.LOST, process.ended_by()))
        if process.ready:
            self._spawn()
        else:
            asyncio.get_running_loop().call_later(PAUSE, self._spawn)

    def _finish(self, task: Task, outcome: TaskOutcome) -> None:
        for timer in task.timers:
            timer.cancel()
        task.timers.clear()
        task.process = None
        if task.stopping is not None and outcome.status != Ending.RESULT:
            outcome = task.stopping
        task.ended(outcome)


def _kill(task: Task) -> None:
    if task.process is not None:
        task.process.kill()
