"""Where processes are the point: queue, cancel, lost workers, lost clients, the end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from dwell.web.http_server import own_folder
from tests.web.servers import Server, scenario, slow
from tests.workers.watch import LONG, wait_for

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


def test_places_in_the_queue(server):
    first = server.start(slow())
    runs = [server.start(scenario(horizon=1.0, seed=k)) for k in range(3)]
    server.running(first)
    assert [server.job(run)["position"] for run in runs] == [1, 2, 3]
    health = server.http.get("/api/health").json()
    assert (health["running"], health["queued"]) == (1, 3)
    with server.listen(runs[2]) as listener:
        assert '"position": 3' in listener.recv()
        assert server.http.delete(f"/api/runs/{runs[0]}").status_code == 204
        assert '"position": 2' in listener.recv()
    assert [server.job(run)["position"] for run in runs[1:]] == [1, 2]
    server.http.delete(f"/api/runs/{first}")
    for run in runs[1:]:
        assert server.wait(run)["position"] == 0


@pytest.mark.parametrize("responsive", [True, False])
def test_a_cancelled_run_frees_its_worker_or_replaces_it(server, responsive):
    run = server.start(slow())
    server.running(run)
    (worker,) = server.workers()
    if not responsive:
        os.kill(worker, signal.SIGSTOP)
    assert server.http.delete(f"/api/runs/{run}").status_code == 204
    if responsive:
        assert server.http.get("/api/health").json()["running"] == 0
    else:
        wait_for(lambda: worker not in server.workers(), "the worker to be killed")
    server.wait(server.start(scenario(horizon=1.0)))
    assert (server.workers() == [worker]) == responsive


def test_a_worker_that_is_killed_takes_one_job_with_it(server):
    run, after = server.start(slow(horizon=1e4)), server.start(scenario(horizon=1.0))
    server.running(run)
    (tasks,), (runs,) = server.workers("tasks"), server.workers("runs")
    os.kill(tasks, signal.SIGKILL)
    wait_for(lambda: tasks not in server.workers("tasks"), "the worker to be gone")
    assert server.post(scenario(), "/api/validate").status_code == 200
    assert server.job(run)["status"] == "running"
    os.kill(runs, signal.SIGKILL)
    job = server.wait(run, "failed")
    assert job["error"]["code"] == "web.worker-lost"
    assert "signal 9" in job["error"]["message"]
    texts, _ = server.hear(run)  # those who come later hear how it ended
    assert texts[-1]["job"]["error"] == job["error"]
    server.wait(after)


def test_a_client_that_vanishes_frees_its_job(server):
    run = server.start(slow(), live=True)
    with server.listen(run) as listener:
        listener.recv()
        server.running(run)
        listener.socket.shutdown(socket.SHUT_RDWR)  # as if its process were killed: no farewell
        job = server.wait(run, "cancelled")
    assert job["error"]["code"] == "web.absent"
    server.wait(server.start(scenario(horizon=1.0)))


def test_a_live_job_without_listeners_is_ended_also_in_the_queue(server):
    first = server.start(slow())
    run = server.start(slow(), live=True)
    assert server.wait(run, "cancelled")["error"]["code"] == "web.absent"
    assert server.job(first)["status"] == "running"


@pytest.mark.exhaustive
def test_a_film_without_a_request_is_not_made(server):
    run = server.start(scenario(horizon=5.0, seed=7))
    server.wait(run)
    with pytest.raises(httpx.ReadTimeout):
        server.http.get(f"/api/runs/{run}/film?seconds=20", timeout=0.3)
    wait_for(lambda: server.http.get("/api/health").json()["running"] == 0, "the film to end")
    wait_for(lambda: not list(server.folder.glob(f"*/*{run}.20.gif*")), "its draft to be gone")


@pytest.mark.exhaustive
def test_a_film_of_a_run_that_is_deleted_meanwhile(server):
    run = server.start(scenario(horizon=5.0, seed=7))
    server.wait(run)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(httpx.get, f"{server.url}/api/runs/{run}/film?seconds=2", timeout=LONG)
        wait_for(lambda: server.http.get("/api/health").json()["running"], "the film to begin")
        assert server.http.delete(f"/api/runs/{run}").status_code == 204
        assert asking.result().status_code == 404


def test_a_job_that_is_not_live_goes_on_without_listeners(server):
    run = server.start(slow(horizon=100.0))
    with server.listen(run) as listener:
        listener.recv()
    assert server.wait(run, "done", "cancelled")["status"] == "done"


def test_sigterm_lets_runs_end_and_leaves_nothing_behind(tmp_path):
    with Server("--workers", "1", "--queued", "1", folder=tmp_path) as server:
        run = server.start(slow(horizon=100.0))
        server.running(run)
        waiting = server.start(scenario(horizon=1.0))
        full = server.post(scenario())
        assert full.status_code == 503
        assert full.json()["error"]["code"] == "web.queue-full"
        children = server.workers() + server.workers("tasks")
        assert list(tmp_path.glob("dwell-serve-*/*.frames"))
        with server.listen(run) as one, server.listen(waiting) as other:
            other.recv()
            for process in (*children, server.process.pid):  # all of them, as systemd does
                os.kill(process, signal.SIGTERM)
            wait_for(
                lambda: server.http.get("/api/health").json()["draining"], "the end to be near"
            )
            late = server.post(scenario())
            assert late.status_code == 503
            assert late.json()["error"]["code"] == "web.draining"
            assert '"end"' in [m for m in one if isinstance(m, str)][-1]
            assert '"web.draining"' in list(other)[-1]
        assert server.process.wait(30.0) == 0
        with pytest.raises(httpx.ConnectError):
            server.http.get("/api/health")
    assert list(tmp_path.iterdir()) == []
    _all_gone(children)


def test_workers_end_with_a_killed_server_and_the_next_deletes_its_files(tmp_path, monkeypatch):
    with Server("--workers", "1", folder=tmp_path) as server:
        server.running(server.start(slow()))
        children = server.workers() + server.workers("tasks")
        assert len(children) == 2
        server.process.kill()
        _all_gone(children)
    (left,) = tmp_path.iterdir()
    stranger = tmp_path / "dwell-serve-of-somebody"  # without a lock: its owner is not known
    stranger.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with own_folder() as second:
        assert not left.exists()
        with own_folder() as third:
            assert set(tmp_path.iterdir()) == {second, third, stranger}
        assert second.exists()
    assert list(tmp_path.iterdir()) == [stranger]


def _all_gone(pids):
    for pid in pids:
        wait_for(lambda pid=pid: not Path(f"/proc/{pid}").exists(), "the workers to be gone")


def test_an_address_that_is_taken(server):
    port = server.url.rsplit(":", 1)[1]
    code = "import sys; from dwell.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", port, "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr
    assert "--port" in done.stderr
