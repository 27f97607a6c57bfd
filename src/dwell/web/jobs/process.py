"""A worker process, seen from the server: threads carry messages, so that nothing waits for it."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, cast, final

from dwell.web.limits import Limits
from dwell.web.work.worker import read_message, write_message

# One thread each: workers share the processors, and more would take address space.
QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}

Heard = Callable[["Worker", dict[str, Any] | None], None]  # None: it has ended


@final
class Worker:
    """One worker process."""

    def __init__(self, limits: Limits, what: str, heard: Heard) -> None:
        self.ready = False
        self.tired = False  # it takes no more work, and is about to end
        self.busy: Any = None  # what it is doing, for whoever gives it work
        self._heard, self._loop = heard, asyncio.get_running_loop()
        self._process = subprocess.Popen(
            # -P: what lies in the working directory is no module of ours.
            [
                sys.executable,
                "-P",
                "-m",
                "dwell.web.work.worker",
                json.dumps(limits.as_json()),
                what,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **QUIET},
            start_new_session=True,  # Ctrl-C is for the server, which ends its workers itself
        )
        self._outbox: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        for carry in (self._listen, self._speak):
            threading.Thread(target=carry, daemon=True).start()

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended, which may be known here before `heard` is told."""
        return self._process.poll() is None

    def send(self, message: dict[str, Any]) -> None:
        """Give it an order; returns at once."""
        self._outbox.put(message)

    def kill(self) -> None:
        """End it now; `heard` is told as with any other end."""
        with suppress(OSError):
            self._process.kill()

    def ended_by(self) -> str:
        """How it ended, in words."""
        code = self._process.poll()
        if code is None:
            return "unknown reason"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _listen(self) -> None:
        stream = cast(BinaryIO, self._process.stdout)
        while (message := read_message(stream)) is not None:
            self._post(message)
        self._process.kill()  # whoever closes its output has no more to say
        self._process.wait()
        self._outbox.put(None)
        stream.close()
        self._post(None)

    def _post(self, message: dict[str, Any] | None) -> None:
        with suppress(RuntimeError):  # the loop has closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._heard, self, message)

    def _speak(self) -> None:
        stream = cast(BinaryIO, self._process.stdin)
        while (message := self._outbox.get()) is not None:
            with suppress(OSError, ValueError):  # it has ended, and the other thread says so
                write_message(stream, message)
        with suppress(OSError):
            stream.close()
