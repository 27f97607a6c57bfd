"""P21 to P30: scenario files, result files, and the process around them."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import dwell
from dwell.errors import StoreError
from tests.catalogue.kit import Bench, case, holds_words, table
from tests.cli.shell import dwell as command
from tests.cli.shell import spawn
from tests.scenario.test_scenario_files import GOOD


@case("P25-link", "P25-relative")
def test_links_and_relative_paths(tmp_path: Path, case: str, monkeypatch) -> None:
    (tmp_path / "real.toml").write_text(GOOD)
    (tmp_path / "link.toml").symlink_to("real.toml")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    name = "../link.toml" if case == "P25-link" else "../sub/../real.toml"
    assert command("validate", name).code == 0


# where the run is to be kept, and the words of the refusal, which comes before the run
TARGETS = {
    "P26-exists": ("old.nc", ["exists already", "--force"]),
    "P26-no-folder": ("none/run.nc", ["does not exist", "make it first"]),
    "P26-folder": ("sub", ["is a folder"]),
    "P26-device": ("/dev/null", ["device"]),
    "P26-long": ("x" * 300, ["characters long", "no file system"]),
    "P26-long-by-a-suffix": ("x" * 250 + ".nc", ["cannot be written"]),
    "P26-newline": ("none\n/run.nc", ["does not exist"]),
    "P26-proc": ("/proc/run.nc", ["cannot be written"]),
}


@table(TARGETS)
def test_odd_targets(bench: Bench, row: tuple[str, list[str]]) -> None:
    name, words = row
    (bench.folder / "old.nc").write_text("kept")
    (bench.folder / "sub").mkdir()
    never = "run.horizon=1e8"  # would take for ever: the refusal must come first
    target = bench.folder / name
    outcome = command(
        "run", bench.file, "--out", target, "--set", never, "--set", "run.record.sample_every='off'"
    )
    (sentence,) = outcome.sentences
    assert holds_words(sentence, words)
    assert bench.left() == {"scenario.json", "old.nc", "sub"}
    assert (bench.folder / "old.nc").read_text() == "kept"


@case("P26-force")
def test_replaced_with_force(bench: Bench, case: str) -> None:
    (bench.folder / "run.nc").write_text("old")
    assert bench.run(options=["--force"]).code == 0
    assert dwell.load_run(bench.folder / "run.nc").agents == 3
    device = command("run", bench.file, "--out", "/dev/null", "--force")
    assert "device" in device.sentences[0]
    assert not Path("/dev/null").is_file()


@case("P26-readonly")
def test_a_folder_that_takes_nothing(bench: Bench, case: str, monkeypatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    assert holds_words(bench.refused(), ["run.nc cannot be written", "Read-only"])


@case("P26-full")
def test_a_full_disk_leaves_nothing_behind(bench: Bench, case: str, monkeypatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (bench.folder / "run.nc").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    outcome = bench.run(options=["--force"])
    assert outcome.code == 3
    assert holds_words(outcome.err, ["run.nc", "No space left", "another folder", "summary"])
    assert "cost" in outcome.out  # the numbers are there all the same
    assert "kept in" not in outcome.out
    assert bench.run(options=["--force", "--json"]).json["stop"]["ok"]
    assert bench.left() == {"scenario.json", "run.nc"}
    assert (bench.folder / "run.nc").read_text() == "old"


@case("P26-tmpfs")
def test_a_disk_that_is_really_full(bench: Bench, case: str) -> None:
    disk = bench.folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a small disk cannot be mounted here")
    try:
        outcome = command("run", bench.file, "--out", disk / "run.nc", "--set", "run.horizon=300")
        assert outcome.code == 3
        assert holds_words(outcome.err, ["run.nc", "could not be written"])
        assert "cost" in outcome.out
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@case("P26-stdout")
def test_output_that_cannot_be_written(bench: Bench, case: str) -> None:
    with open("/dev/full", "w") as full:
        done = spawn("run", bench.file, "--json", stdout=full)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "No space left" in done.err


@case("P26-python")
def test_saving_from_python(tmp_path: Path, case: str) -> None:
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
    site = dwell.Box((0, 0), (1, 1))
    run = dwell.simulate(site, None, [(0.2, 0.2)], law, until=1.0)
    run.save(tmp_path / "run.nc")
    with pytest.raises(StoreError, match="exists already"):
        run.save(tmp_path / "run.nc")
    nameless = dwell.simulate(site, lambda p: np.ones(len(p)), [(0.2, 0.2)], law, until=0.0)
    with pytest.raises(StoreError, match="cannot be kept"):
        nameless.save(tmp_path / "other.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]


# Each with several surroundings at once, as none may matter.
SURROUNDINGS = {
    "P29": {
        "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "PYTHONHASHSEED": "12345",
        "TZ": "Asia/Kathmandu", "COLUMNS": "20", "TERM": "dumb", "NO_COLOR": "1",
    },
    "P29-ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}  # fmt: skip


@table(SURROUNDINGS)
def test_surroundings_change_nothing(bench: Bench, row: dict[str, str]) -> None:
    bench.write('name = "Überwachung 覆盖"\n' + GOOD, "s.toml")
    here = bench.run(keep=False).json
    there = spawn("run", bench.file, "--json", **row)
    assert (there.code, there.err) == (0, "")
    assert {**there.json, "wall_seconds": 0} == {**here, "wall_seconds": 0}
