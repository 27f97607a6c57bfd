"""`run_sweep`: rows, folders, retries and refusals; cases run in the process of the test."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import dwell
from dwell.errors import InputError, StoreError
from dwell.results.summary import flat
from dwell.sweep import run_sweep
from tests.cli.shell import dwell as shell
from tests.sweep.processes import parts, tables
from tests.sweep.worlds import CALLABLE, DENSITIES, SCENARIO, FakeExecutor, file_at, small

pytestmark = pytest.mark.usefixtures("in_process")


def rows_of(out):
    return pq.read_table(out / "runs.parquet").to_pylist()


@pytest.fixture
def interrupted(monkeypatch):
    """A function that runs a sweep and interrupts it after some chunks."""

    class Interrupted(FakeExecutor):
        def collect(self, timeout):
            if self.most_back == 0:
                raise KeyboardInterrupt
            self.most_back = min(self.most_back, 4 - len(self.given) + len(self.under_way))
            return super().collect(timeout)

    def run(file, out):
        monkeypatch.setattr("dwell.sweep.run.LocalExecutor", Interrupted)
        found = run_sweep(file, out, chunk=2)
        monkeypatch.setattr("dwell.sweep.run.LocalExecutor", FakeExecutor)
        assert found.interrupted
        assert 0 < found.done < found.cases
        return found

    return run


def test_one_case_can_be_run_again(tmp_path):
    """From the file, from the finished folder and by the command: the numbers of its row."""
    grid = '"controller.kind" = ["timer", "lloyd"]\n"controller.k1" = [0.25, 0.5]'
    file, out = file_at(tmp_path, repeats=2, horizon=2.0, grid=grid), tmp_path / "out"
    run_sweep(file, out)
    rows = rows_of(out)
    assert [row["controller.kind"] for row in rows] == ["timer"] * 4 + ["lloyd"] * 2
    assert len({row["start_seed"] for row in rows}) == 2
    assert rows[5]["coverage.nu"] == 0.2
    assert rows[5]["coverage.reached_at"] is not None  # the scenario's nu, for a law without one
    for case in (3, 5):
        one = dwell.load_sweep(file).scenario(case)
        assert dwell.load_sweep(out).scenario(case) == one
        for source, name in ((file, "a.toml"), (out, "b.toml")):
            done = shell("sweep", source, "--case", case, "--out", tmp_path / name, "--force")
            assert done.code == 0
            assert f"dwell run {tmp_path / name}" in done.out
            assert dwell.load_scenario(tmp_path / name) == one
        assert shell("sweep", file, "--case", case).out == (tmp_path / "a.toml").read_text()
        again = dwell.run_scenario(one)
        assert again.details.record == "events"  # so that it can be checked and drawn
        figures = flat(again.summary(), final=True)
        unseen = {"record", "separation.min", "separation.time", "separation.agents"}
        for name in figures.keys() - unseen:
            assert rows[case][name] == figures[name], name
    assert "cases 0 to 5" in shell("sweep", out, "--case", 6).sentences[0]
    assert "exists already" in shell("sweep", out, "--case", 5, "--out", file).sentences[0]


def test_seeds_beyond_64_bits_keep_their_digits(tmp_path):
    huge = 123456789012345678901234567890
    base = {**SCENARIO, "agents": {"start": {"count": 3, "seed": huge}}}
    assert run_sweep(small(scenario=base, repeats=1, seed=huge), tmp_path / "out").ok
    assert {row["start_seed"] for row in rows_of(tmp_path / "out")} == {str(huge)}


def test_a_finished_folder_is_final_for_its_sweep_and_its_versions(tmp_path):
    file, out = file_at(tmp_path, repeats=5), tmp_path / "out"
    run_sweep(file, out)
    before = tables(out)
    again = run_sweep(file, out)
    assert (again.computed, again.done, again.ok) == (0, 15, True)
    assert tables(out) == before
    values = pq.read_table(out / "runs.parquet").column("cost.final").to_numpy().reshape(-1, 5)
    medians = pq.read_table(out / "summary.parquet").column("cost.final.median").to_numpy()
    np.testing.assert_array_equal(medians, np.median(values, axis=1))

    about = json.loads((out / "sweep.json").read_text())
    about["versions"]["kernels"] = "others"
    (out / "sweep.json").write_text(json.dumps(about))
    with pytest.raises(InputError, match=r"versions differ.*kernels"):
        run_sweep(file, out)
    assert run_sweep(file, out, mixed=True).ok
    file_at(tmp_path, repeats=2)
    with pytest.raises(InputError, match="another sweep"):
        run_sweep(file, out)


def test_a_failed_case_is_run_again_only_on_request(tmp_path):
    grid = DENSITIES.format("broken")
    file = file_at(tmp_path, repeats=1, horizon=0.2, grid=grid, density=CALLABLE)
    out = tmp_path / "out"
    sweep = dwell.load_sweep(file, allow_code=True)
    first = run_sweep(sweep, out)
    assert (first.failed, first.computed, first.ok) == (1, 2, False)
    assert "no density here" in first.failures[0].reason
    before = tables(out)
    again = run_sweep(sweep, out)
    assert (again.failed, again.computed) == (1, 0)
    retried = run_sweep(sweep, out, retry=True)
    assert (retried.failed, retried.computed) == (1, 1)
    assert tables(out) == before


@pytest.mark.parametrize("finished", [True, False])
def test_a_sweep_that_grew_keeps_its_rows(tmp_path, interrupted, finished):
    """More repeats, another value, another key: finished cases are not run again."""
    grown = {
        "repeats": 6,
        "grid": '"controller.t2" = [0.15, 0.3, 0.4]\n"controller.k1" = [0.5, 0.6]',
    }
    run_sweep(file_at(tmp_path, **grown), tmp_path / "fresh")
    out = tmp_path / "out"
    (run_sweep if finished else interrupted)(file_at(tmp_path, repeats=4), out)
    found = run_sweep(file_at(tmp_path, **grown), out, extend=True)
    assert found.cases == 36
    assert found.computed == 36 - 2 * 4 if finished else found.computed < 36
    assert tables(out) == tables(tmp_path / "fresh")
    assert not list(out.glob("parts-*"))


def test_a_damaged_part_is_renamed_and_its_cases_are_run_again(tmp_path, interrupted):
    file, out = file_at(tmp_path), tmp_path / "out"
    interrupted(file, out)
    victim = parts(out)[0]
    victim.write_bytes(victim.read_bytes()[:-100])
    assert run_sweep(file, out).damaged == (f"{victim.name}.damaged",)
    run_sweep(file, tmp_path / "fresh")
    assert tables(out) == tables(tmp_path / "fresh")


def test_a_full_disk_is_reported(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    file = file_at(tmp_path, repeats=1)
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(StoreError, match="No space left on device"):
            run_sweep(file, tmp_path / "out")
    assert run_sweep(file, tmp_path / "out").ok


def test_runs_are_stored_and_final_positions_left_out_on_request(tmp_path):
    file, out = file_at(tmp_path, repeats=1), tmp_path / "out"
    file.write_text(f"keep_runs = true\nrecord = 'scenario'\nfinal = false\n{file.read_text()}")
    run_sweep(file, out)
    for row in rows_of(out):
        kept = dwell.load_run(out / "runs" / f"{row['key']}.nc")
        assert kept.summary()["cost"]["final"] == row["cost.final"]
        assert dwell.check(kept).ok
        assert not [name for name in row if name.startswith("final_")]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        *(
            ({name: k}, "a whole number from 1 on")
            for name in ("workers", "chunk")
            for k in (0, -1)
        ),
        ({"cluster": " "}, "address"),
        ({"patience": -1.0}, "from 0 on"),
        ({"patience": "x"}, "0 on"),
    ],
)
def test_invalid_options(tmp_path, options, says):
    with pytest.raises(InputError, match=says):
        run_sweep(file_at(tmp_path), tmp_path / "out", **options)


def test_invalid_paths(tmp_path):
    file = file_at(tmp_path)
    with pytest.raises(InputError, match=r"sweep file .* does not exist"):
        run_sweep(tmp_path / "nowhere.toml", tmp_path / "out")
    with pytest.raises(StoreError, match="holds other files"):
        run_sweep(file, tmp_path)
    with pytest.raises(StoreError, match="is a file"):
        run_sweep(file, file)
