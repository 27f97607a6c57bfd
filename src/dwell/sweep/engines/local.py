"""Processes of this machine, each with one order at a time: it is known who died of what.

They are started as fresh interpreters and not by `multiprocessing`, which would run the user's
script once more in each of them.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, final

from dwell.errors import DwellError, InputError
from dwell.sweep.engines import Done, Lost, Work
from dwell.sweep.work import Order, run_order

HOPELESS = 12  # deaths before the first answer: it is not the cases that kill
PULSE = 0.5  # seconds between two looks at whether the one who gives orders is still there
BEGIN = "import sys; from dwell.sweep.engines.local import serve; serve(int(sys.argv[1]))"


@final
class _Worker:
    """A process, the pipe to it, and what it is busy with."""

    def __init__(self, work: Work) -> None:
        ours, theirs = socket.socketpair()
        paths = os.pathsep.join(path for path in sys.path if path)
        with theirs, _deaf_to_interrupts():
            self.process = subprocess.Popen(
                [sys.executable, "-c", BEGIN, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], env={**os.environ, "PYTHONPATH": paths},
                stdin=subprocess.DEVNULL, stdout=2,  # what a density prints is no figure
            )  # fmt: skip
        self.pipe = Connection(ours.detach())
        self.order: Order | None = None
        self._send(pickle.dumps(work))

    def take(self, order: Order) -> bool:
        """Give it an order; false if it is no longer there."""
        self.order = order if self._send(order) else None
        return self.order is not None

    def _send(self, thing: object) -> bool:
        try:
            self.pipe.send(thing)
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """At once."""
        self.pipe.close()
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started inside hear no Ctrl-C, which is for the one who gives orders.

    From their first moment: a handler of their own would come after seconds of imports.
    """
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, kept)


def serve(handle: int) -> None:
    """A worker's life: orders in, results out, until there is nobody at the other end."""
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    pipe = Connection(handle)
    try:
        work = pickle.loads(pipe.recv())
        while True:
            order = pipe.recv()
            try:
                answer: Any = work(order)
            except Exception as fault:  # whatever it was, the order was not carried out
                answer = f"{type(fault).__name__}: {fault}"
            pipe.send(answer)
    except (EOFError, OSError):
        return


def _leave_with(parent: int) -> None:
    """End when the one who gives orders does, also in the middle of a long case."""
    while os.getppid() == parent:
        time.sleep(PULSE)
    os._exit(1)


@final
class LocalEngine:
    """Some processes and a queue."""

    about = ""

    def __init__(self, workers: int, work: Work = run_order) -> None:
        if not hasattr(os, "fork"):
            raise InputError(
                "worker processes need a POSIX system; use --cluster local here",
                code="sweep.system",
            )
        self.workers = workers
        self._work = work
        self._queue: deque[Order] = deque()
        self._team: list[_Worker] = []
        self._deaths, self._answers = 0, 0

    def versions(self) -> dict[str, dict[str, str]]:
        """Nothing to ask: they run what we run."""
        return {}

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
        wait([worker.pipe for worker in self._team], timeout=patience)  # a dead one's ends
        found = [heard for worker in list(self._team) if (heard := self._hear(worker)) is not None]
        self._hand_out()  # before anybody looks at what came: nobody waits for that
        return found

    def _hear(self, worker: _Worker) -> Done | Lost | None:
        order = worker.order
        try:
            if worker.pipe.poll():
                answer = worker.pipe.recv()
                worker.order = None
                self._answers += 1
                assert order is not None
                if isinstance(answer, str):
                    return Lost(order, answer, blamed=True)
                return Done(order, answer)
            if worker.process.poll() is None:
                return None
        except (EOFError, OSError):
            self._expect(worker)  # it has closed its end: it is dead, or about to be
        self._team.remove(worker)
        worker.stop()
        code = worker.process.returncode
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self._deaths += 1
        if not self._answers and self._deaths >= HOPELESS:
            raise DwellError(
                f"{self._deaths} worker processes died ({how}) before any of them gave an answer; "
                "nothing was set aside for it, and the same command goes on once they can run"
            )
        return None if order is None else Lost(order, f"its process died ({how})", blamed=True)

    @staticmethod
    def _expect(worker: _Worker) -> None:
        """Let a process end by itself, so that it can be said how."""
        try:
            worker.process.wait(PULSE)
        except subprocess.TimeoutExpired:
            return

    def close(self) -> None:
        """Stop all processes."""
        for worker in self._team:
            worker.stop()
        self._team.clear()
        self._queue.clear()
