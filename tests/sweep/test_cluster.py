"""Sweeps on a Dask cluster: a real scheduler and real workers on loopback, killed at will."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from dwell.errors import InputError
from dwell.sweep import run_sweep
from dwell.sweep.cases import Chunk
from dwell.sweep.executors.dask import DaskExecutor
from dwell.sweep.template import CaseSpec
from tests.cli.shell import command, spawn
from tests.sweep.processes import QUIET, Cluster, kill_all, parts, start, tables
from tests.sweep.worlds import CALLABLE, CASES, DENSITIES, SLOW, file_at
from tests.workers.watch import LONG, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster(tmp_path):
    found = Cluster(tmp_path / "dask")
    yield found
    found.close()


def sweep_on(cluster, file, out, *more):
    return start(command("sweep", file, "--out", out, "--cluster", cluster.address, *more))


def finished(process):
    stdout, stderr = process.communicate(timeout=LONG)
    assert process.returncode == 0, stderr
    return json.loads(stdout)


def test_one_worker_and_two_give_the_table_of_this_machine(tmp_path, cluster, whole):
    cluster.add_worker()
    for name, chunk in (("one", 16), ("two", 5)):
        out = tmp_path / name
        found = run_sweep(
            file_at(tmp_path, **SLOW), out, cluster=cluster.address, chunk=chunk, patience=5.0
        )
        assert (found.ok, found.computed) == (True, CASES)
        assert tables(out) == whole
        cluster.add_worker()


@pytest.mark.exhaustive
def test_killed_workers_and_schedulers_cost_nothing(tmp_path, cluster, whole):
    first = cluster.add_worker()
    cluster.add_worker()
    out = tmp_path / "out"
    process = sweep_on(cluster, file_at(tmp_path, **SLOW), out, "--json", "--chunk", 3)
    wait_for(lambda: len(parts(out)) >= 2, "some rows")
    kill_all(first)
    kept = len(parts(out))
    wait_for(lambda: len(parts(out)) > kept, "more rows")
    kill_all(cluster.scheduler)
    kill_all(cluster.workers[1])
    cluster.start_scheduler()
    cluster.add_worker()
    found = finished(process)
    assert (found["failed"], found["done"]) == (0, CASES)
    assert tables(out) == whole


@pytest.mark.exhaustive
def test_a_killed_command_goes_on_and_a_lost_cluster_is_no_loss(tmp_path, cluster, whole):
    """Killed on the cluster, then the cluster dies too: the rest is run here."""
    cluster.add_worker()
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = sweep_on(cluster, file, out, "--chunk", 3)
    wait_for(lambda: len(parts(out)) >= 2, "some rows")
    kill_all(process)
    process = sweep_on(cluster, file, out, "--chunk", 3, "--patience", "1")
    kept = len(parts(out))
    wait_for(lambda: len(parts(out)) > kept, "more rows")
    kill_all(cluster.scheduler)
    _, complaint = process.communicate(timeout=LONG)
    assert process.returncode == 1
    assert "did not come back" in complaint
    assert "the same command goes on" in complaint
    found = run_sweep(file, out)
    assert 0 < found.computed < CASES
    assert tables(out) == whole


@pytest.mark.exhaustive
def test_a_case_that_kills_workers_is_set_aside(tmp_path, cluster, monkeypatch):
    """A nanny brings its worker back each time; the scheduler counts, and so do we."""
    grid = DENSITIES.format("deadly")
    file = file_at(tmp_path, repeats=1, horizon=0.2, grid=grid, density=CALLABLE)
    worker = start(
        [sys.executable, "-m", "distributed.cli.dask_worker", cluster.address, "--nthreads", "1",
         "--no-dashboard", "--local-directory", str(tmp_path / "dask")]
    )  # fmt: skip
    cluster.workers.append(worker)
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    kill_all(cluster.scheduler)
    cluster.start_scheduler()
    words = ("sweep", file, "--out", tmp_path / "out", "--cluster", cluster.address, "--json")
    done = spawn(*words, "--allow-code", **QUIET)
    found = done.json
    assert (done.code, found["done"], found["failed"]) == (1, 2, 1), found["failures"]
    assert {failure["case"] for failure in found["failures"]} == {1}


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_a_missing_scheduler_is_reported(tmp_path, address):
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        run_sweep(file_at(tmp_path), tmp_path / "out", cluster=address, patience=1.0)


def test_unsuitable_workers_are_refused_and_missing_ones_reported(tmp_path, cluster, monkeypatch):
    worker = cluster.add_worker("import sys; sys.modules['dwell'] = None")
    notes = []
    executor = DaskExecutor(cluster.address, say=notes.append, patience=5.0)
    try:
        executor._client.wait_for_workers(1, timeout=LONG)
        with pytest.raises(InputError, match="cannot run dwell"):
            executor.versions()
        wait_for(lambda: executor.workers and executor._threads == 1, "the worker to be counted")
        kill_all(worker)
        wait_for(lambda: executor.workers and notes, "a note")
        assert "no workers" in notes[0]
        assert cluster.address in notes[0]
    finally:
        executor.close()
    other = {"dwell": "0.0.0", "kernels": "others", "numpy": "1", "numba": "1"}
    monkeypatch.setattr(DaskExecutor, "versions", lambda self: {"tcp://there": other})
    with pytest.raises(InputError, match=r"versions differ.*tcp://there"):
        run_sweep(file_at(tmp_path), tmp_path / "out", cluster=cluster.address)


def test_a_worker_without_dwell_that_joins_late_sets_no_case_aside():
    """It would fail every case at once, and so be given one after another."""

    class Failed:
        status = "error"

        def exception(self, timeout):
            return ModuleNotFoundError("No module named 'dwell'")

    future, executor = Failed(), DaskExecutor.__new__(DaskExecutor)
    executor._given = {future: Chunk("{}", (CaseSpec(0, 0, 0, 0, []),))}
    with pytest.raises(InputError, match="cannot run dwell"):
        executor._received(future, 1)


@pytest.mark.exhaustive
def test_an_interrupt_of_a_cluster_of_its_own_makes_no_noise(tmp_path):
    """Ctrl-C goes to all processes of a terminal; only the command has an answer to it."""
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(
        command("sweep", file, "--out", out, "--cluster", "local", "--workers", 1, "--chunk", 2)
    )
    wait_for(lambda: parts(out), "some rows")
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert "Traceback" not in complaint
