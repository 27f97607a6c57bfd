"""One worker process, as its pool sees it: threads carry messages, so that nothing waits for it."""

from __future__ import annotations

import asyncio
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast, final

from dwell.workers.child import Work

START = "from dwell.workers.child import main; main()"
# One thread each: workers share the processors, and more would take address space.
QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}


@final
class Process:
    """A process that does `work`.

    `received` is called in the running loop with each message, and with None when the process has
    ended. `name` is shown in the process list; `paths`, if given, is where it finds modules.
    """

    def __init__(
        self,
        work: Work,
        name: str,
        paths: list[str] | None,
        received: Callable[[Process, Any], None],
    ) -> None:
        self.ready = False
        self.worn = False  # it takes no more work, and is about to end
        self.task: Any = None  # what it is doing
        self._loop, self._received = asyncio.get_running_loop(), received
        env = {**os.environ, **QUIET}
        if paths is not None:
            env["PYTHONPATH"] = os.pathsep.join(paths)
        # A fresh interpreter, as multiprocessing would run the user's script once more.
        # -P: modules in the working directory are not imported.
        command = [sys.executable, "-P", "-c", START, name]
        with _signals_blocked():
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
            )
        self._outbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._outbox.put(work)
        for target in (self._read, self._write):
            threading.Thread(target=target, daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    @property
    def free(self) -> bool:
        """Whether it can take a task; it may have ended before `received` is called."""
        return self.ready and not self.worn and self.task is None and self._process.poll() is None

    def send(self, kind: str, task: int, order: Any = None) -> None:
        """Send a message; returns at once."""
        self._outbox.put((kind, task, order))

    def kill(self) -> None:
        """End it now; `received` is called as with any other end."""
        with suppress(OSError):
            self._process.kill()

    def ended_by(self) -> str:
        """How it ended, in words."""
        code = self._process.poll()
        if code is None:
            return "unknown reason"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _read(self) -> None:
        stream = cast(BinaryIO, self._process.stdout)
        with suppress(Exception):  # the end of the stream, or something that is no message
            while True:
                self._post(pickle.load(stream))
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)  # by itself, so that the reason is known
        self._process.kill()
        self._process.wait()
        self._outbox.put(None)
        stream.close()
        self._post(None)

    def _post(self, message: Any) -> None:
        with suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(self._received, self, message)

    def _write(self) -> None:
        stream = cast(BinaryIO, self._process.stdin)
        while (message := self._outbox.get()) is not None:
            with suppress(OSError, ValueError):  # it has ended, and the other thread reports that
                stream.write(pickle.dumps(message))
                stream.flush()
        with suppress(OSError):
            stream.close()


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Processes started inside receive no Ctrl-C: their parent ends them.

    Blocked from their first moment, as a handler of their own would come after seconds of imports.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, kept)
