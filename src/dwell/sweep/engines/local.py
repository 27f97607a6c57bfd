"""Processes of this machine, each with one order at a time: it is known who died of what."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from multiprocessing.connection import Connection, wait
from typing import Any, final

from dwell.sweep.engines import Done, Lost, Work
from dwell.sweep.work import Order, run_order


@final
class _Worker:
    """A process, the pipe to it, and what it is busy with."""

    def __init__(self, work: Work) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would copy threads and locks
        self.pipe, theirs = context.Pipe()
        self.process: Any = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()
        self.order: Order | None = None

    def take(self, order: Order) -> bool:
        """Give it an order; false if it is no longer there."""
        try:
            self.pipe.send(order)
        except (BrokenPipeError, OSError):
            return False
        self.order = order
        return True

    def stop(self) -> None:
        """At once."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _serve(pipe: Connection, work: Work) -> None:
    """A worker's life: orders in, results out, until there is nobody at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who gives orders
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        while True:
            order = pipe.recv()
            try:
                answer: Any = work(order)
            except BaseException as fault:  # whatever it was, the order was not carried out
                answer = f"{type(fault).__name__}: {fault}"
            pipe.send(answer)
    except (EOFError, OSError):
        return


@final
class LocalEngine:
    """Some processes and a queue."""

    about = ""

    def __init__(self, workers: int, work: Work = run_order) -> None:
        self.workers = workers
        self._work = work
        self._queue: deque[Order] = deque()
        self._team: list[_Worker] = []

    def submit(self, order: Order) -> None:
        """Have an order carried out as soon as a process is free."""
        self._queue.append(order)
        self._hand_out()

    def _hand_out(self) -> None:
        for worker in self._team:
            if worker.order is None and self._queue and worker.take(self._queue[0]):
                self._queue.popleft()
        while self._queue and len(self._team) < self.workers:
            worker = _Worker(self._work)
            self._team.append(worker)
            if worker.take(self._queue[0]):
                self._queue.popleft()

    def collect(self, patience: float) -> list[Done | Lost]:
        """What came back, and what was lost with a process that died."""
        watched: list[Any] = [worker.pipe for worker in self._team]
        watched += [worker.process.sentinel for worker in self._team]
        wait(watched, timeout=patience)
        found = [heard for worker in list(self._team) if (heard := self._hear(worker)) is not None]
        self._hand_out()  # before anybody looks at what came: nobody waits for that
        return found

    def _hear(self, worker: _Worker) -> Done | Lost | None:
        order = worker.order
        try:
            if worker.pipe.poll():
                answer = worker.pipe.recv()
                worker.order = None
                assert order is not None
                if isinstance(answer, str):
                    return Lost(order, answer, blamed=True)
                return Done(order, answer)
        except (EOFError, OSError):
            pass  # it is dead
        else:
            if worker.process.is_alive():
                return None
        self._team.remove(worker)
        worker.stop()
        code = worker.process.exitcode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return None if order is None else Lost(order, f"its process died ({how})", blamed=True)

    def close(self) -> None:
        """Stop all processes."""
        for worker in self._team:
            worker.stop()
        self._team.clear()
        self._queue.clear()
