"""Real servers with real workers, and how tests talk to them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
from websockets.sync.client import connect

from dwell.scenario import template_text, text_to_mapping
from dwell.web.wire_format import unpack
from tests.workers.watch import LONG, children, wait_for


def scenario(name: str = "two-hills", **run):
    """A template, with keys of its run changed."""
    data = text_to_mapping(template_text(name))
    data["run"] = {**data["run"], **run}
    return data


def slow(horizon: float = 2000.0, **run):
    """A scenario that takes long, with no more to compile than the others: lost samples."""
    return {**scenario(horizon=horizon, seed=3, **run), "network": {"loss": 0.1}}


CHANGING = {  # a hill and walls that move, agents that come and go, sensors
    "workspace": {
        "kind": "polygon",
        "vertices": {
            "times": [0.0, 4.0],
            "values": [
                [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]],
                [[0.0, 0.0], [5.0, 0.5], [5.0, 5.0], [0.0, 4.0]],
            ],
        },
    },
    "sensor": [
        {"name": "smoke", "density": {"kind": "gaussian", "center": [1.0, 1.0], "rate": 0.5}},
        {
            "name": "heat",
            "density": {
                "kind": "gaussian",
                "center": {"center": [2.0, 2.0], "radius": 1.0, "period": 3.0},
                "rate": 0.5,
            },
        },
    ],
    "agents": {
        "start": [[0.5, 0.5], [1.5, 0.7], [3.0, 3.0], [2.0, 2.0]],
        "sensors": [["smoke"], ["smoke", "heat"], ["heat"], ["heat"], ["smoke"]],
    },
    "world": [{"from": 2.0, "leave": [2], "arrive": [[3.5, 0.5]]}],
    "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.3},
    "run": {"horizon": 4.0, "seed": 1},
}


class Server:
    """`dwell serve` as a process of its own."""

    def __init__(self, *options: str, folder: Path | None = None, port: int = 0) -> None:
        code = "import sys; from dwell.cli import main; sys.argv[0] = 'dwell'; main()"
        self.folder, env = folder, dict(os.environ)
        if folder is not None:
            env["TMPDIR"] = str(folder)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", "--port", str(port), "--no-browser", *options],
            stdout=subprocess.PIPE, text=True, env=env,
        )  # fmt: skip
        line = self.process.stdout.readline()
        assert line.startswith("dwell: serving at http://127.0.0.1:"), line
        self.url = line.split()[3].partition("#")[0].rstrip("/")
        self.port = int(self.url.rpartition(":")[2])
        self.http = httpx.Client(base_url=self.url, timeout=LONG)

    def workers(self, name: str = "runs") -> list[int]:
        """Return the numbers of worker processes."""
        return children(self.process.pid, name)

    def post(self, body, path: str = "/api/runs", **options):
        return self.http.post(path, json=body, **options)

    def start(self, body, live: bool = False) -> str:
        answer = self.http.post("/api/runs", json=body, params={"live": live})
        assert answer.status_code == 202, answer.text
        return answer.json()["id"]

    def job(self, run: str):
        return self.http.get(f"/api/runs/{run}").json()

    def wait(self, run: str, *statuses: str):
        """The job, once it has one of these states."""
        wanted = statuses or ("done",)
        return wait_for(
            lambda: (job := self.job(run))["status"] in wanted and job, f"{run} to be {wanted}"
        )

    def running(self, run: str):
        """The job, once it has made events."""
        return wait_for(lambda: (job := self.job(run))["events"] > 0 and job, f"{run} to run")

    def listen(self, run: str, **query):
        address = self.url.replace("http", "ws")
        more = "".join(f"&{key}={value}" for key, value in query.items())
        return connect(f"{address}/api/live?run={run}{more}", max_size=None, compression=None)

    def hear(self, run: str, enough=None, **query):
        """Return the messages of a listener, until `enough(texts, frames)`."""
        texts, frames = [], []
        with self.listen(run, **query) as socket:
            for message in socket:
                if isinstance(message, str):
                    texts.append(json.loads(message))
                else:
                    frames.append(unpack(message))
                if enough is not None and enough(texts, frames):
                    break
        return texts, frames

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def end(self) -> int:
        """Tell it to end, once and again; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10.0)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.http.close()
        self.process.stdout.close()
        return self.process.wait(10.0)
