"""Sweeps in processes of this machine, which are killed at will: no row is lost or doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import dwell
from dwell.errors import DwellError, StoreError
from dwell.results.summary import flat
from dwell.sweep import plan_file, run_sweep
from tests.cli.shell import command, environment, spawn
from tests.sweep.processes import kill_all, parts, start, tables
from tests.sweep.worlds import CALLABLE, CASES, SLOW, FakeExecutor, file_at
from tests.workers.watch import LONG, children, wait_for

pytestmark = pytest.mark.slow


def test_rows_are_those_of_run_scenario(tmp_path, in_process):
    file = file_at(tmp_path, repeats=2)
    found = run_sweep(file, tmp_path / "out")
    assert (found.cases, found.points, found.done, found.failed) == (6, 3, 6, 0)
    plan = plan_file(file)
    for row in pq.read_table(tmp_path / "out" / "runs.parquet").to_pylist():
        case = plan.case(row["case"])
        assert (row["key"], row["seed"], row["status"]) == (case.key, case.seed, "done")
        assert row["start_seed"] == case.mapping["agents"]["start"]["seed"]
        summary = dwell.run_scenario(case.scenario()).summary()
        for name, value in flat(summary, final=True).items():
            assert row[name] == value, name
        assert row["controller.t2"] == case.mapping["controller"]["t2"]


@pytest.mark.parametrize(
    ("workers", "chunk"),
    [(2, 7), *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in [(1, None), (3, 1)])],
)
def test_workers_and_chunks_change_no_bit(tmp_path, whole, workers, chunk):
    run_sweep(file_at(tmp_path, **SLOW), tmp_path / "out", workers=workers, chunk=chunk)
    assert tables(tmp_path / "out") == whole


def test_a_killed_command_can_be_repeated(tmp_path, whole, in_process):
    """SIGKILL to the command alone, then to its workers as well; the rest is run here."""
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    words = command("sweep", file, "--out", out, "--chunk", 3, "--workers", 1)
    process = start(words)
    _wait_for_more(out, 1, process)
    with pytest.raises(StoreError, match="is being written by process"):
        run_sweep(file, out)
    workers = children(process.pid, "sweep")
    assert workers
    process.kill()
    process.communicate()
    wait_for(lambda: not any(os.path.exists(f"/proc/{w}") for w in workers), "workers to end")

    process = start(words)
    _wait_for_more(out, len(parts(out)) + 1, process)
    assert process.poll() is None
    kill_all(process)
    for path in parts(out):
        pq.read_table(path)  # none is half a file

    found = run_sweep(file, out)
    assert found.ok
    assert found.computed < CASES
    assert tables(out) == whole


def _wait_for_more(out, than, process):
    wait_for(lambda: len(parts(out)) > than or process.poll() is not None, "some rows")


def test_scripts_need_no_guard(tmp_path):
    """A script that calls run_sweep at its top level is not run again in the workers."""
    file = file_at(tmp_path, repeats=1)
    script = tmp_path / "script.py"
    script.write_text(
        "import dwell\nprint('once')\n"
        f"print(dwell.run_sweep({str(file)!r}, {str(tmp_path / 'out')!r}, workers=1).ok)\n"
    )
    done = subprocess.run(
        [sys.executable, script], env=environment(), capture_output=True, text=True, timeout=LONG
    )
    assert done.stdout.split() == ["once", "True"], done.stderr


@pytest.mark.exhaustive
def test_killed_workers_cost_nothing(tmp_path, whole):
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out, "--json", "--chunk", 5))
    for _ in range(2):
        _wait_for_more(out, len(parts(out)), process)
        for worker in children(process.pid, "sweep")[:1]:
            os.kill(worker, signal.SIGKILL)
    stdout, _ = process.communicate(timeout=LONG)
    assert process.returncode == 0
    assert json.loads(stdout)["failed"] == 0
    assert tables(out) == whole


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive)],
)
def test_an_interrupted_command_says_how_to_continue(tmp_path, whole, in_process, number):
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out, "--chunk", 2, "--workers", 1))
    wait_for(lambda: parts(out), "some rows")
    process.send_signal(number)
    stdout, _ = process.communicate(timeout=LONG)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "the same command goes on" in stdout
    assert run_sweep(file, out).computed < CASES
    assert tables(out) == whole


def test_an_interrupt_while_workers_start_makes_no_noise(tmp_path):
    """Ctrl-C goes to all processes of a terminal, also to those that have no handler yet."""
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out, "--workers", 1))
    workers = wait_for(lambda: children(process.pid, "sweep"), "workers")
    status = Path(f"/proc/{workers[0]}/status").read_text()
    blocked = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk"))
    assert int(blocked, 16) & 1 << signal.SIGINT - 1  # before its first line of Python
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=LONG)
    assert process.returncode == 130
    assert complaint == "dwell: interrupted\n"


def test_a_case_that_kills_its_process_fails_alone(tmp_path):
    """And what a density prints is not part of the output."""
    grid = '"density.function" = ["tests.sweep.worlds:chatty", "tests.sweep.worlds:deadly"]'
    file = file_at(tmp_path, repeats=1, horizon=0.2, grid=grid, density=CALLABLE)
    out = tmp_path / "out"
    words = ("--json", "--workers", 1, "--allow-code")
    done = spawn("sweep", file, "--out", out, *words)
    assert done.code == 1
    assert "how dense it is" in done.err
    assert (done.json["done"], done.json["failed"]) == (2, 1)
    (failure,) = done.json["failures"]
    assert (failure["case"], "signal 9" in failure["reason"]) == (1, True)
    rows = pq.read_table(out / "runs.parquet").to_pylist()
    assert [row["status"] for row in rows] == ["done", "failed"]
    assert rows[0]["cost.final"] > 0.0
    assert rows[1]["cost.final"] is None


@pytest.mark.exhaustive
def test_a_full_disk_costs_nothing(tmp_path, whole):
    """On a file system of 256 KiB, if this machine can make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file systems can be mounted here")
    file = file_at(tmp_path, **SLOW)
    try:
        done = spawn("sweep", file, "--out", disk / "out", "--chunk", 2)
        assert done.code != 0
        assert "No space left" in done.err
        for path in parts(disk / "out"):
            pq.read_table(path)
        assert not list((disk / "out").glob("parts-*/.*"))  # no halves either
        larger = ["mount", "-o", "remount,size=64m", str(disk)]
        subprocess.run(larger, check=True)
        done = spawn("sweep", file, "--out", disk / "out", "--json")
        assert (done.code, done.json["done"]) == (0, CASES)
        assert done.json["computed"] < CASES
        assert tables(disk / "out") == whole
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def test_workers_that_cannot_start_are_no_failures_of_cases(tmp_path, monkeypatch):
    monkeypatch.setattr("dwell.workers.process.START", "raise SystemExit(3)")
    with pytest.raises(DwellError, match=r"exit code 3.*before any of them returned a result"):
        run_sweep(file_at(tmp_path), tmp_path / "out", workers=2)
    monkeypatch.setattr("dwell.sweep.run.LocalExecutor", FakeExecutor)
    assert run_sweep(file_at(tmp_path), tmp_path / "out").ok
