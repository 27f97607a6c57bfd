"""A server under load: many runs at once, and whether it still answers meanwhile.

    python -m bench.serving --jobs 50

Starts `dwell serve` with two workers, hands it all jobs at once from as many threads, and asks for
/api/health until all are done. Also: how soon a run under way is ended, and how soon an event of a
run reaches whoever listens.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from bench.table import Row

JOBS = 50
PAUSE = 0.005  # seconds between two questions about health
PROMISED = 0.2  # seconds at the 99th percentile
CODE = "from dwell.cli import main; main()"


@contextmanager
def server() -> Iterator[str]:
    """The address of a server of our own."""
    command = [sys.executable, "-c", CODE, "serve", "--port", "0", "--no-browser", "--drain", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[3].rstrip("/")
        try:
            yield address
        finally:
            process.terminate()
            process.wait(30.0)


def scenario(name: str, **run: Any) -> dict[str, Any]:
    """A template, with keys of its run changed."""
    from dwell.scenario import template_text, text_to_mapping

    data = text_to_mapping(template_text(name))
    return {**data, "run": {**data["run"], **run}}


def under_load(address: str, jobs: int) -> tuple[np.ndarray, float, int]:
    """Seconds of every answer about health; seconds until all jobs were done; how many were."""
    import httpx

    times: list[float] = []
    over = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=address, timeout=60.0, verify=False) as client:
            while not over.is_set():
                began = time.perf_counter()
                client.get("/api/health").raise_for_status()
                times.append(time.perf_counter() - began)
                time.sleep(PAUSE)

    def run(k: int) -> str:
        with httpx.Client(base_url=address, timeout=600.0, verify=False) as client:
            body = scenario("paper-30" if k % 2 else "paper-12", seed=k)
            name = client.post("/api/runs", json=body).raise_for_status().json()["id"]
            while True:
                status: str = client.get(f"/api/runs/{name}").json()["status"]
                if status not in ("queued", "running"):
                    return status
                time.sleep(0.25)

    asking = threading.Thread(target=ask)
    began = time.perf_counter()
    asking.start()
    with ThreadPoolExecutor(jobs) as pool:
        ended = list(pool.map(run, range(jobs)))
    took = time.perf_counter() - began
    over.set()
    asking.join()
    return np.array(times), took, ended.count("done")


def seconds_to_end(address: str, times: int = 5) -> list[float]:
    """From asking for the end of a run under way until its worker is free."""
    import httpx

    found = []
    with httpx.Client(base_url=address, timeout=60.0, verify=False) as client:
        for k in range(times):
            body = {**scenario("two-hills", horizon=2000.0, seed=k), "network": {"loss": 0.1}}
            name = client.post("/api/runs", json=body).raise_for_status().json()["id"]
            while not client.get(f"/api/runs/{name}").json()["events"]:
                time.sleep(0.02)
            began = time.perf_counter()
            client.delete(f"/api/runs/{name}").raise_for_status()
            found.append(time.perf_counter() - began)
    return found


def seconds_to_first_event(address: str, times: int = 5) -> list[float]:
    """From asking for a run until its first events are here."""
    import httpx
    from websockets.sync.client import connect

    found = []
    with httpx.Client(base_url=address, timeout=60.0, verify=False) as client:
        for k in range(times):
            began = time.perf_counter()
            answer = client.post("/api/runs", json=scenario("paper-12", seed=k))
            name = answer.raise_for_status().json()["id"]
            with connect(f"{address.replace('http', 'ws')}/api/live?run={name}") as socket:
                while isinstance(socket.recv(), str):
                    pass
            found.append(time.perf_counter() - began)
            client.delete(f"/api/runs/{name}")
    return found


def rows(quick: bool, jobs: int | None = None) -> Iterator[Row]:
    """What was measured; not a part of `python -m bench`, as it needs a machine for itself."""
    count = jobs or (6 if quick else JOBS)
    with server() as address:
        first = seconds_to_first_event(address)
        yield _row("first events of paper-12", "median, from the request on", np.median(first))
        yield _row("a run is ended", "slowest of five", max(seconds_to_end(address)), 1.0)
        times, took, done = under_load(address, count)
    says = f"99th percentile of {len(times)}, while {count} runs queue on two workers"
    yield _row("/api/health", says, np.percentile(times, 99), PROMISED)
    yield _row("/api/health", "the slowest of them", times.max())
    yield Row(
        "serving", f"{count} runs at once", "paper-12 and paper-30, half each, kept and summed up",
        f"{done} done in {took:.1f} s", took, f"{count} done", done == count,
    )  # fmt: skip


def _row(name: str, what: str, seconds: float, promised: float | None = None) -> Row:
    seconds = float(seconds)
    if promised is None:
        return Row("serving", name, what, f"{1e3 * seconds:.3g} ms", seconds)
    wanted = f"< {1e3 * promised:g} ms"
    return Row(
        "serving", name, what, f"{1e3 * seconds:.3g} ms", seconds, wanted, seconds < promised
    )


def main() -> int:
    """Print the rows; 1 if a promise was not kept."""
    parser = argparse.ArgumentParser(prog="python -m bench.serving", description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    found = list(rows(False, parser.parse_args().jobs))
    for row in found:
        print(
            json.dumps({"name": row.name, "what": row.what, "figure": row.figure, "met": row.met})
        )
    return 1 if any(row.met is False for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
