"""Processes of this machine, each with one chunk at a time: the cause of a death is known."""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
from functools import partial
from typing import final

from dwell.errors import DwellError
from dwell.sweep.cases import Chunk, Result, run_chunk
from dwell.sweep.executors import Done, Lost, RunChunk
from dwell.workers.child import Ending, Link, TaskOutcome, Work
from dwell.workers.pool import Pool, Task

MOST_DEATHS = 12  # before the first result: the cause is not a case


@final
class LocalExecutor:
    """A pool of processes, whose event loop runs in a thread of its own."""

    about = ""

    def __init__(self, workers: int, run: RunChunk = run_chunk) -> None:
        self.workers = workers
        self._finished: queue.SimpleQueue[Done | Lost | DwellError] = queue.SimpleQueue()
        self._deaths, self._results = 0, 0
        paths = [path or os.getcwd() for path in sys.path]  # the modules of the user's script
        self._pool = Pool(Work(partial(_run, run)), "sweep", workers, paths=paths)
        self._pool.died = self._died
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def versions(self) -> dict[str, dict[str, str]]:
        """Return nothing: the processes have the versions of this one."""
        return {}

    def submit(self, chunk: Chunk) -> None:
        """Queue a chunk for the next free process."""
        task = Task(chunk, lambda outcome: self._ended(chunk, outcome))
        self._loop.call_soon_threadsafe(self._pool.submit, task)

    def collect(self, timeout: float) -> list[Done | Lost]:
        """Return finished chunks; wait for the first one, at most `timeout` seconds."""
        found: list[Done | Lost] = []
        try:
            while True:
                one = self._finished.get(block=not found, timeout=timeout)
                if isinstance(one, DwellError):
                    raise one
                found.append(one)
        except queue.Empty:
            return found

    def _ended(self, chunk: Chunk, outcome: TaskOutcome) -> None:
        if outcome.status == Ending.LOST:
            self._finished.put(Lost(chunk, f"its process died ({outcome.value})", suspect=True))
            return
        self._results += 1
        if outcome.status == Ending.RESULT:
            self._finished.put(Done(chunk, outcome.value))
        else:
            self._finished.put(Lost(chunk, str(outcome.value), suspect=True))

    def _died(self, how: str) -> None:
        self._deaths += 1
        if not self._results and self._deaths >= MOST_DEATHS:
            text = (
                f"{self._deaths} worker processes died ({how}) before any of them returned a "
                "result. No case was marked as failed; remove the cause, and run the same command "
                "to continue"
            )
            self._finished.put(DwellError(text))

    def close(self) -> None:
        """Stop all processes."""
        asyncio.run_coroutine_threadsafe(self._pool.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _run(run: RunChunk, chunk: Chunk, link: Link) -> Result:
    return run(chunk)
