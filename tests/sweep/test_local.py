"""Sweeps on this machine: real processes, killed at will; nothing lost, nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import dwell
from dwell.errors import DwellError, InputError, StoreError
from dwell.sweep import plan_file, run_sweep
from dwell.sweep.plan import Frame
from dwell.sweep.work import flat_figures
from tests.cli.shell import dwell as shell
from tests.sweep.processes import (
    children,
    command,
    environment,
    kill_all,
    parts,
    run,
    start,
    wait_for,
)
from tests.sweep.worlds import SCENARIO, file_at, small

pytestmark = pytest.mark.slow

SLOW = {"repeats": 40, "horizon": 60.0}  # some 10 ms a case: time enough to be killed in between


def tables(out):
    return [(out / name).read_bytes() for name in ("runs.parquet", "summary.parquet")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The table of the slow sweep, made without any trouble."""
    folder = tmp_path_factory.mktemp("whole")
    found = run_sweep(file_at(folder, **SLOW), folder / "out")
    assert found.ok
    assert found.computed == 120
    return tables(folder / "out")


def test_rows_are_what_run_scenario_gives(tmp_path):
    file = file_at(tmp_path, repeats=2)
    found = run_sweep(file, tmp_path / "out", workers=2)
    assert (found.cases, found.points, found.done, found.failed) == (6, 3, 6, 0)
    plan = plan_file(file)
    frame = Frame(plan.frame)
    for row in pq.read_table(tmp_path / "out" / "runs.parquet").to_pylist():
        case = frame.case(plan.brief(row["case"]))
        assert (row["key"], row["seed"], row["status"]) == (case.key, case.seed, "done")
        assert row["start_seed"] == case.mapping["agents"]["start"]["seed"]
        summary = dwell.run_scenario(case.scenario()).summary()
        for name, value in flat_figures(summary, final=True).items():
            assert row[name] == value, name
        assert row["controller.t2"] == case.mapping["controller"]["t2"]


def test_one_case_can_be_run_again(tmp_path):
    """From the file, from the finished folder and by the command: the numbers of its row."""
    grid = '"controller.kind" = ["timer", "lloyd"]\n"controller.k1" = [0.25, 0.5]'
    file, out = file_at(tmp_path, repeats=2, horizon=2.0, grid=grid), tmp_path / "out"
    run_sweep(file, out, workers=1)
    rows = pq.read_table(out / "runs.parquet").to_pylist()
    assert [row["controller.kind"] for row in rows] == ["timer"] * 4 + ["lloyd"] * 2
    assert len({row["start_seed"] for row in rows}) == 2
    assert rows[5]["coverage.nu"] == 0.2
    assert rows[5]["coverage.reached_at"] is not None  # the scenario's nu, for a law without one
    for case in (3, 5):
        one = dwell.load_sweep(file).scenario(case)
        assert dwell.load_sweep(out).scenario(case) == one
        for source, name in ((file, "a.toml"), (out, "b.toml")):
            told = shell("sweep", source, "--case", case, "--out", tmp_path / name, "--force")
            assert told.code == 0
            assert f"dwell run {tmp_path / name}" in told.out
            assert dwell.load_scenario(tmp_path / name) == one
        assert shell("sweep", file, "--case", case).out == (tmp_path / "a.toml").read_text()
        again = dwell.run_scenario(one)
        assert again.record == "events"  # so that it can be checked and drawn
        figures = flat_figures(again.summary(), final=True)
        unseen = {"record", "separation.min", "separation.time", "separation.agents"}
        for name in figures.keys() - unseen:
            assert rows[case][name] == figures[name], name
    assert "cases 0 to 5" in shell("sweep", out, "--case", 6).sentences[0]
    assert "exists already" in shell("sweep", out, "--case", 5, "--out", file).sentences[0]


def test_seeds_beyond_64_bits_keep_their_digits(tmp_path):
    huge = 123456789012345678901234567890
    base = {**SCENARIO, "agents": {"start": {"count": 3, "seed": huge}}}
    assert run_sweep(small(scenario=base, repeats=1, seed=huge), tmp_path / "out").ok
    rows = pq.read_table(tmp_path / "out" / "runs.parquet").to_pylist()
    assert {row["start_seed"] for row in rows} == {str(huge)}


@pytest.mark.parametrize(
    ("workers", "chunk"),
    [(2, 7), *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in [(1, None), (3, 1)])],
)
def test_workers_and_portions_change_no_bit(tmp_path, whole, workers, chunk):
    run_sweep(file_at(tmp_path, **SLOW), tmp_path / "out", workers=workers, chunk=chunk)
    assert tables(tmp_path / "out") == whole


def test_what_is_done_is_not_done_again(tmp_path):
    file = file_at(tmp_path)
    run_sweep(file, tmp_path / "out")
    before = tables(tmp_path / "out")
    again = run_sweep(file, tmp_path / "out")
    assert (again.computed, again.done, again.ok) == (0, 15, True)
    assert tables(tmp_path / "out") == before


def test_a_killed_command_goes_on(tmp_path, whole):
    """SIGKILL to the command and its workers, again and again, until it is done."""
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    kept, killed = 0, 0
    for _ in range(3):
        process = start(command("sweep", file, "--out", out, "--chunk", 3))
        _wait_for_more(out, kept + 2, process)
        if process.poll() is None:
            killed += 1
        kill_all(process)
        kept = len(parts(out))
        for path in parts(out):
            pq.read_table(path)  # none is half a file
    assert killed >= 2
    code, found, _ = run("sweep", file, "--out", out, "--json")
    assert code == 0
    assert found["done"] == 120
    assert found["computed"] < 120
    assert tables(out) == whole


def _wait_for_more(out, than, process):
    wait_for(lambda: len(parts(out)) > than or process.poll() is not None, "some rows")


def test_workers_outlive_no_command(tmp_path):
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out))
    wait_for(lambda: parts(out), "some rows")
    workers = children(process)
    assert workers
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not any(os.path.exists(f"/proc/{w}") for w in workers), "them to leave")


def test_scripts_need_no_guard(tmp_path):
    """What calls run_sweep at its top level is not run again in the workers."""
    file = file_at(tmp_path, repeats=1)
    script = tmp_path / "script.py"
    script.write_text(
        "import dwell\nprint('once')\n"
        f"print(dwell.run_sweep({str(file)!r}, {str(tmp_path / 'out')!r}, workers=2).ok)\n"
    )
    done = subprocess.run(
        [sys.executable, script], env=environment(), capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["once", "True"], done.stderr


@pytest.mark.exhaustive
def test_killed_workers_cost_nothing(tmp_path, whole):
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out, "--json", "--chunk", 5))
    for _ in range(2):
        _wait_for_more(out, len(parts(out)), process)
        for worker in children(process)[:1]:
            os.kill(worker, signal.SIGKILL)
    stdout, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert json.loads(stdout)["failed"] == 0
    assert tables(out) == whole


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive)],
)
def test_an_interrupted_command_says_how_to_go_on(tmp_path, whole, number):
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out, "--chunk", 2))
    wait_for(lambda: parts(out), "some rows")
    process.send_signal(number)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "the same command goes on" in stdout
    assert run_sweep(file, out).computed < 120
    assert tables(out) == whole


def test_only_one_command_at_a_time(tmp_path):
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out))
    try:
        wait_for(lambda: parts(out), "some rows")
        with pytest.raises(StoreError, match="is being written by process"):
            run_sweep(file, out)
    finally:
        kill_all(process)


def test_an_interrupt_while_workers_start_makes_no_noise(tmp_path):
    """Ctrl-C goes to all processes of a terminal, also to those that are not ready for it."""
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out, "--workers", 2))
    workers = wait_for(lambda: children(process), "workers")
    status = Path(f"/proc/{workers[0]}/status").read_text()
    blocked = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk"))
    assert int(blocked, 16) & 1 << signal.SIGINT - 1  # before its first line of Python
    os.killpg(process.pid, signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint == "dwell: interrupted\n"


def test_what_a_density_prints_is_not_among_the_figures(tmp_path):
    density = CALLABLE.replace("calm", "chatty")
    grid = '"controller.t2" = [0.2]'
    file = file_at(tmp_path, repeats=1, horizon=0.2, grid=grid, density=density)
    code, found, complaint = run("sweep", file, "--out", tmp_path / "out", "--json")
    assert (code, found["done"]) == (0, 1)
    assert "how dense it is" in complaint


DENSITIES = '"density.function" = ["tests.sweep.worlds:calm", "tests.sweep.worlds:{}"]'
CALLABLE = '[scenario.density]\nkind = "callable"\nfunction = "tests.sweep.worlds:calm"'


def test_a_case_that_kills_its_process_is_set_aside(tmp_path):
    grid = DENSITIES.format("deadly")
    file = file_at(tmp_path, repeats=2, horizon=0.2, grid=grid, density=CALLABLE)
    out = tmp_path / "out"
    code, found, _ = run("sweep", file, "--out", out, "--json", "--workers", 2)
    assert code == 1
    assert (found["done"], found["failed"]) == (4, 2)
    assert {failure["case"] for failure in found["failures"]} == {2, 3}
    assert all("signal 9" in failure["reason"] for failure in found["failures"])
    rows = pq.read_table(out / "runs.parquet").to_pylist()
    assert [row["status"] for row in rows] == ["done", "done", "failed", "failed"]
    assert rows[0]["cost.final"] > 0.0
    assert rows[2]["cost.final"] is None


def test_a_case_that_fails_is_set_aside_and_tried_again_only_when_asked(tmp_path):
    grid = DENSITIES.format("broken")
    file = file_at(tmp_path, repeats=1, horizon=0.2, grid=grid, density=CALLABLE)
    out = tmp_path / "out"
    first = run_sweep(file, out, workers=1)
    assert (first.failed, first.computed, first.ok) == (1, 2, False)
    assert "no density here" in first.failures[0].reason
    before = tables(out)
    again = run_sweep(file, out, workers=1)
    assert (again.failed, again.computed) == (1, 0)
    retried = run_sweep(file, out, workers=1, retry=True)
    assert (retried.failed, retried.computed) == (1, 1)
    assert tables(out) == before


def test_a_point_out_of_range_is_set_aside_with_its_sentence(tmp_path):
    file = file_at(tmp_path, repeats=1, grid='"controller.t2" = [0.3, 0.05]')
    found = run_sweep(file, tmp_path / "out", workers=1)
    assert found.failed == 1
    assert "t2" in found.failures[0].reason


def test_another_sweep_does_not_go_into_the_folder(tmp_path):
    file = file_at(tmp_path, repeats=1)
    run_sweep(file, tmp_path / "out", workers=1)
    file_at(tmp_path, repeats=2)
    with pytest.raises(InputError, match="another sweep"):
        run_sweep(file, tmp_path / "out")


@pytest.mark.parametrize("whole_first", [True, pytest.param(False, marks=pytest.mark.exhaustive)])
def test_a_sweep_that_grew_keeps_what_it_has(tmp_path, whole_first):
    """More repeats, another value, another key: cases that were there are not run again."""
    grown = {
        "repeats": 6,
        "grid": '"controller.t2" = [0.15, 0.3, 0.4]\n"controller.k1" = [0.5, 0.6]',
    }
    run_sweep(file_at(tmp_path, **grown), tmp_path / "fresh", workers=1)
    out = tmp_path / "out"
    if whole_first:
        run_sweep(file_at(tmp_path, repeats=4), out, workers=1)
    else:
        process = start(command("sweep", file_at(tmp_path, repeats=4), "--out", out, "--chunk", 1))
        wait_for(lambda: len(parts(out)) >= 2 or process.poll() is not None, "some rows")
        kill_all(process)
    found = run_sweep(file_at(tmp_path, **grown), out, workers=1, extend=True)
    assert found.cases == 36
    assert found.computed == 36 - 2 * 4 if whole_first else found.computed <= 36
    assert tables(out) == tables(tmp_path / "fresh")
    assert not list(out.glob("parts-*"))


def test_other_versions_are_refused_unless_asked_for(tmp_path):
    file, out = file_at(tmp_path, repeats=1), tmp_path / "out"
    run_sweep(file, out, workers=1)
    about = json.loads((out / "sweep.json").read_text())
    about["versions"]["kernels"] = "others"
    (out / "sweep.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"versions differ.*kernels"):
        run_sweep(file, out)
    assert run_sweep(file, out, mixed=True).ok


@pytest.mark.exhaustive
def test_a_damaged_part_is_put_aside_and_made_again(tmp_path, whole):
    file, out = file_at(tmp_path, **SLOW), tmp_path / "out"
    process = start(command("sweep", file, "--out", out, "--chunk", 4))
    wait_for(lambda: len(parts(out)) >= 3, "some rows")
    kill_all(process)
    victim = parts(out)[0]
    victim.write_bytes(victim.read_bytes()[:-100])
    found = run_sweep(file, out)
    assert found.damaged == (f"{victim.name}.damaged",)
    assert tables(out) == whole


@pytest.mark.exhaustive
def test_a_full_disk_is_said_and_costs_nothing(tmp_path, whole):
    """On a file system of one MiB, if this machine lets us make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no file systems can be mounted here")
    file = file_at(tmp_path, **SLOW)
    try:
        code, _, says = run("sweep", file, "--out", disk / "out", "--chunk", 2)
        assert code != 0
        assert "No space left" in says
        for path in parts(disk / "out"):
            pq.read_table(path)
        assert not list((disk / "out").glob("parts-*/.*"))  # no halves either
        larger = ["mount", "-o", "remount,size=64m", str(disk)]
        subprocess.run(larger, check=True)
        code, found, _ = run("sweep", file, "--out", disk / "out", "--json")
        assert (code, found["done"]) == (0, 120)
        assert found["computed"] < 120
        assert tables(disk / "out") == whole
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def test_a_disk_that_fills_up_is_said(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    file = file_at(tmp_path, repeats=1)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        run_sweep(file, tmp_path / "out", workers=1)
    monkeypatch.undo()
    assert run_sweep(file, tmp_path / "out", workers=1).ok


def test_runs_are_kept_when_asked_for(tmp_path):
    file = file_at(tmp_path, repeats=1)
    file.write_text(f"keep_runs = true\nrecord = 'scenario'\n{file.read_text()}")
    run_sweep(file, tmp_path / "out", workers=1)
    rows = pq.read_table(tmp_path / "out" / "runs.parquet").to_pylist()
    for row in rows:
        kept = dwell.load_run(tmp_path / "out" / "runs" / f"{row['key']}.nc")
        assert kept.summary()["cost"]["final"] == row["cost.final"]
        assert dwell.check(kept).ok


def test_final_places_may_be_left_out(tmp_path):
    file = file_at(tmp_path, repeats=1)
    file.write_text(f"final = false\n{file.read_text()}")
    run_sweep(file, tmp_path / "out", workers=1)
    names = pq.read_schema(tmp_path / "out" / "runs.parquet").names
    assert not [name for name in names if name.startswith("final_")]


@pytest.mark.parametrize("number", [0, -1])
def test_workers_and_portions_are_counted_from_one(tmp_path, number):
    with pytest.raises(InputError, match="a whole number from 1 on is needed"):
        run_sweep(file_at(tmp_path), tmp_path / "out", workers=number)
    with pytest.raises(InputError, match="a whole number from 1 on is needed"):
        run_sweep(file_at(tmp_path), tmp_path / "out", chunk=number)


@pytest.mark.parametrize(
    ("options", "says"),
    [({"cluster": " "}, "address"), ({"patience": -1.0}, "from 0 on"), ({"patience": "x"}, "0 on")],
)
def test_odd_options_are_refused(tmp_path, options, says):
    with pytest.raises(InputError, match=says):
        run_sweep(file_at(tmp_path), tmp_path / "out", **options)


def test_a_sweep_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"sweep file .* does not exist"):
        run_sweep(tmp_path / "nowhere.toml", tmp_path / "out")


def test_workers_that_cannot_run_at_all_are_said(tmp_path, monkeypatch):
    """A broken environment is nobody's case: nothing is set aside."""
    monkeypatch.setattr("dwell.sweep.engines.local.BEGIN", "raise SystemExit(3)")
    with pytest.raises(DwellError, match=r"exit code 3.*before any of them gave an answer"):
        run_sweep(file_at(tmp_path), tmp_path / "out", workers=2)
    monkeypatch.undo()
    assert run_sweep(file_at(tmp_path), tmp_path / "out", workers=2).ok


def test_a_folder_with_other_files_is_refused(tmp_path):
    file = file_at(tmp_path)
    with pytest.raises(StoreError, match="holds other files"):
        run_sweep(file, tmp_path)
    with pytest.raises(StoreError, match="is a file"):
        run_sweep(file, file)


def test_all_cells_of_a_median_are_medians(tmp_path):
    run_sweep(file_at(tmp_path, repeats=5), tmp_path / "out", workers=1)
    runs = pq.read_table(tmp_path / "out" / "runs.parquet")
    summary = pq.read_table(tmp_path / "out" / "summary.parquet")
    values = runs.column("cost.final").to_numpy().reshape(-1, 5)
    np.testing.assert_array_equal(
        summary.column("cost.final.median").to_numpy(), np.median(values, axis=1)
    )
