"""Real commands, schedulers and workers, to be started and killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.cli.shell import environment
from tests.workers.watch import wait_for

QUIET = {"DASK_LOGGING__DISTRIBUTED": "error"}


def start(words: Sequence[str]) -> subprocess.Popen[str]:
    """A process in a group of its own, so that all of it can be killed."""
    return subprocess.Popen(
        words, env=environment(**QUIET), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def kill_all(process: subprocess.Popen[str]) -> None:
    """A process and all that it started, without a word of warning."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def parts(out: Path) -> list[Path]:
    """What is committed so far."""
    return sorted(out.glob("parts-*/*.parquet"))


def tables(out: Path) -> list[bytes]:
    """The tables of a finished sweep."""
    return [(out / name).read_bytes() for name in ("runs.parquet", "summary.parquet")]


class Cluster:
    """A scheduler and workers on loopback, each a process."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder = folder
        self.workers: list[subprocess.Popen[str]] = []
        self.start_scheduler()

    def start_scheduler(self) -> None:
        """At the same address each time."""
        self.scheduler = start(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1",
             "--port", str(self.port), "--no-dashboard"]
        )  # fmt: skip
        wait_for(self._listens, "the scheduler")

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def add_worker(self, before: str = "") -> subprocess.Popen[str]:
        """One thread, no nanny: when it is killed it is gone. `before`: code that it runs first."""
        begin = f"{before}\nfrom distributed.cli.dask_worker import main; main()"
        worker = start(
            [sys.executable, "-c", begin, self.address, "--nthreads", "1",
             "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder),
             "--death-timeout", "60"]
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """Kill them all."""
        for process in [*self.workers, self.scheduler]:
            kill_all(process)
