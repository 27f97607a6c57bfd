"""What it costs to hand cases out and gather rows: overhead, and memory with a million cases.

    python -m bench.sweeps                    10 000 short cases, here and on a Dask cluster
    python -m bench.sweeps --million          10^6 synthetic cases on a Dask cluster, memory watched

Overhead is the time of all workers that was not spent on cases, over the time that was. The start
of processes is counted apart, since it does not grow with the number of cases.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from dwell.sweep import parse_sweep, plan_of
from dwell.sweep.cases import Chunk, Result, blank_row, run_chunk, versions
from dwell.sweep.executors import Executor, RunChunk
from dwell.sweep.plan import Plan
from dwell.sweep.run import _executor, _SweepRun
from dwell.sweep.store import open_folder

WORKERS = 2
SCENARIO: dict[str, Any] = {
    "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [30.0, 20.0]},
    "agents": {"start": {"count": 12}},
    "controller": {"kind": "timer", "k1": 0.5, "nu": 0.5, "t1": 0.2, "t2": 0.65},
    "run": {"horizon": 20.0, "record": {"sample_every": "off"}},  # short cases are the hard ones
}


def plan_for(cases: int) -> Plan:
    """Ten values of t2, the rest repeats."""
    t2 = [float(value) for value in np.linspace(0.3, 1.2, 10)]
    grid = {"controller.t2": t2}
    return plan_of(parse_sweep({"scenario": SCENARIO, "repeats": cases // 10, "grid": grid}))


def synthetic(chunk: Chunk) -> Result:
    """Rows without runs: what remains is what a sweep costs."""
    template = chunk.template
    rows = []
    for spec in chunk.cases:
        case = template.case(spec)
        figures = {"cost.final": case.seed * 0.5, "events.total": case.repeat, "stop.ok": True}
        beside = {"_seconds": 1e-4, "_worker": str(os.getpid())}
        rows.append({**blank_row(case, template), **figures, **beside})
    return Result(rows, versions())


class Watched:
    """An executor that notes when the first result came and how many were under way."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.began, self.live, self.most_live = 0.0, 0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)

    def submit(self, chunk: Chunk) -> None:
        """Counted."""
        self.live += 1
        self.most_live = max(self.most_live, self.live)
        self._executor.submit(chunk)

    def collect(self, timeout: float) -> Any:
        """From the first answer on, all workers are there."""
        back = self._executor.collect(timeout)
        self.live -= len(back)
        if back and not self.began:
            self.began = time.perf_counter()
        return back


def swept(plan: Plan, cluster: str | None, run: RunChunk, out: Path) -> dict[str, Any]:
    """One sweep, and where its time went."""
    executors: list[Watched] = []

    def start() -> Any:
        executors.append(Watched(_executor(cluster, WORKERS, 60.0, print, run)))
        return executors[0]

    with open_folder(out, plan, versions(), mixed=False, retry=False) as folder:
        sweep_run = _SweepRun(folder, None, False, lambda what, share: None, None)
        began = time.perf_counter()
        sweep_run.run(start)
        ended = time.perf_counter()
        found = sweep_run.outcome()
        whole = time.perf_counter()
    wall = ended - executors[0].began
    return {
        "where": "here" if cluster is None else f"Dask {cluster}",
        "cases": found.cases,
        "busy_seconds": found.busy_seconds,
        "starting_seconds": executors[0].began - began,
        "wall_seconds": wall,
        "table_seconds": whole - ended,
        "overhead": wall * WORKERS / found.busy_seconds - 1.0,
        "most_live_orders": executors[0].most_live,
        "largest_portion": int(_portions(out)),
    }


def _portions(out: Path) -> float:
    """The largest number of cases that one worker answered at once, from the chunk of rows."""
    workers = pq.read_table(out / "timings.parquet").column("worker").to_pylist()
    changes = [0, *(k for k in range(1, len(workers)) if workers[k] != workers[k - 1])]
    return max(np.diff([*changes, len(workers)]), default=0)


def memory_of(process: int) -> float:
    """The largest resident memory of a process so far, in MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024.0
    return 0.0


def million(cases: int) -> dict[str, Any]:
    """Synthetic cases on a scheduler of its own process; its memory and ours."""
    import subprocess
    import sys

    with tempfile.TemporaryDirectory() as name:
        port = 18_786
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": env}
        address = f"tcp://127.0.0.1:{port}"
        scheduler = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1",
             "--port", str(port), "--no-dashboard"], **quiet,
        )  # fmt: skip
        time.sleep(3.0)
        workers = [
            subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1",
                 "--no-nanny", "--no-dashboard", "--local-directory", name], **quiet,
            )
            for _ in range(WORKERS)
        ]  # fmt: skip
        try:
            curve: list[tuple[float, float]] = []
            stop = threading.Event()
            threading.Thread(target=_watch, args=(scheduler.pid, curve, stop), daemon=True).start()
            found = swept(plan_for(cases), address, synthetic, Path(name) / "out")
            stop.set()
            found["client_MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
            found["scheduler_MB"] = memory_of(scheduler.pid)
            found["MB_of_client_and_scheduler_by_tenths"] = [
                curve[int(k * (len(curve) - 1) / 10)] for k in range(11)
            ]
        finally:
            for process in [*workers, scheduler]:
                process.kill()
                process.wait()
    return found


def _watch(scheduler: int, curve: list[tuple[float, float]], stop: threading.Event) -> None:
    """Resident memory of client and scheduler, twice a second."""
    while not stop.wait(0.5):
        curve.append((round(_resident(os.getpid())), round(_resident(scheduler))))


def _resident(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    """Print a line of JSON for each sweep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--million", action="store_true")
    asked = parser.parse_args()
    if asked.million:
        cases = asked.cases if asked.cases != 10_000 else 1_000_000
        print(json.dumps(million(cases)))
        return
    for cluster in (None, "local"):
        with tempfile.TemporaryDirectory() as name:
            found = swept(plan_for(asked.cases), cluster, run_chunk, Path(name) / "out")
        print(json.dumps(found))


if __name__ == "__main__":
    main()
