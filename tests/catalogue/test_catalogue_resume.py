"""P27 and P28: runs taken up again, and two processes at one file."""

from __future__ import annotations

import json
import subprocess
import time

import dwell
from tests.catalogue.kit import Bench, case, holds_words, small, table
from tests.cli.shell import REPOSITORY, command, environment
from tests.cli.shell import dwell as here


def resumed(bench: Bench, *words: object):
    return here("run", "--resume", bench.folder / "run.nc", "--json", *words)


def stopped(bench: Bench, *overrides: str) -> None:
    """A run that used up its jumps is in run.nc."""
    outcome = bench.run("run.max_jumps=7", *overrides)
    assert outcome.code == 1
    assert outcome.json["stop"]["reason"] == "jump-limit"


MORE = ("--set", "run.max_jumps=1000")


@table({kind: kind for kind in ("P27-events", "P27-samples", "P27-summary")})
def test_the_same_run(bench: Bench, row: str) -> None:
    kind = f"run.record.kind={row.removeprefix('P27-')}"
    stopped(bench, kind)
    rest = resumed(bench, *MORE)
    assert (rest.code, rest.err) == (0, "")
    whole = bench.run(kind, keep=False)
    others = {"wall_seconds": 0, "file": None}
    assert {**rest.json, **others} == {**whole.json, **others}
    assert bench.left() == {"scenario.json", "run.nc"}


def other(**changes: object) -> str:
    scenario = small()
    scenario["controller"] |= changes
    return json.dumps(scenario)


@case("P27-other-scenario")
def test_another_scenario(bench: Bench, case: str) -> None:
    stopped(bench)
    (bench.folder / "other.json").write_text(other(k1=0.7))
    (sentence,) = here(
        "run", bench.folder / "other.json", "--resume", bench.folder / "run.nc", *MORE
    ).sentences
    assert holds_words(sentence, ["another scenario", "start a new run"])
    same = here("run", bench.file, "--resume", bench.folder / "run.nc", "--json", *MORE)
    assert same.code == 0


REFUSED = {
    "P27-key": (["--set", "controller.k1=2.0"], ["controller.k1", "run.horizon"]),
    "P27-out": (["--out", "elsewhere.nc"], ["continues in", "copy"]),
    "P27-used-up": ([], ["7 jumps", "run.max_jumps"]),
    "P27-earlier": (["--horizon", "0.01"], ["already", "later"]),
    "P27-word": (["--set", "run.max_jumps=many"], ["max_jumps is 'many'"]),
}


@table(REFUSED)
def test_refused(bench: Bench, row: tuple[list[str], list[str]]) -> None:
    words, needed = row
    stopped(bench)
    before = (bench.folder / "run.nc").read_bytes()
    (sentence,) = here("run", "--resume", bench.folder / "run.nc", *words).sentences
    assert holds_words(sentence, needed)
    assert (bench.folder / "run.nc").read_bytes() == before
    assert bench.left() == {"scenario.json", "run.nc"}


@case("P27-finished")
def test_a_run_that_is_over(bench: Bench, case: str) -> None:
    assert bench.run().code == 0
    (sentence,) = here("run", "--resume", bench.folder / "run.nc").sentences
    assert holds_words(sentence, ["has reached its horizon", "later"])
    assert resumed(bench, "--horizon", "1.5").json["stop"]["time"] == 1.5


@case("P27-truncated", "P27-edited", "P27-foreign")
def test_files_that_are_not_what_was_written(bench: Bench, case: str) -> None:
    import h5py
    import xarray as xr

    stopped(bench)
    path = bench.folder / "run.nc"
    if case == "P27-truncated":
        path.write_bytes(path.read_bytes()[:2000])
    elif case == "P27-edited":
        with h5py.File(path, "r+") as file:
            file["event_hold"][3, 0] += 1e-9
    else:
        xr.Dataset({"numbers": ("row", [1, 2, 3])}).to_netcdf(path, engine="h5netcdf")
    before = path.read_bytes()
    (sentence,) = resumed(bench, *MORE).sentences
    assert "run.nc" in sentence
    assert path.read_bytes() == before


@case("P27-version")
def test_a_file_of_other_kernels(bench: Bench, case: str, monkeypatch) -> None:
    stopped(bench)
    known = dwell.runner.provenance()
    monkeypatch.setattr(
        "dwell.runner.provenance", lambda system=None: {**known, "kernels": "others"}
    )
    (sentence,) = resumed(bench, *MORE).sentences
    assert holds_words(sentence, ["other kernels", "the version that made it"])


@case("P28")
def test_two_processes_at_one_file(bench: Bench, case: str) -> None:
    record = "run.record={kind='summary', sample_every='off'}"
    sets = ["run.horizon=1e7", record, "run.checkpoint.every=0.2"]
    words = [word for one in sets for word in ("--set", one)]
    path = bench.folder / "run.nc"
    first = subprocess.Popen(
        command("run", bench.file, "--out", path, *words),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=REPOSITORY, env=environment(),
    )  # fmt: skip
    try:
        for _ in range(1200):
            if path.exists():
                break
            time.sleep(0.1)
        shown = here("show", path, "--json")  # while it goes on
        assert shown.json["stop"]["reason"] == "interrupted"
        (sentence,) = here("run", bench.file, "--out", path, "--force").sentences
        assert holds_words(sentence, [f"process {first.pid}", "another name"])
        (sentence,) = here("run", "--resume", path).sentences
        assert f"process {first.pid}" in sentence
    finally:
        first.kill()
        first.wait()
    before = here("show", path, "--json").json["events"]["total"]
    assert before > 0
    reached = dwell.load_run(path).horizon
    after = here("run", "--resume", path, "--horizon", repr(reached + 1.0), "--json")  # no lock now
    assert after.json["events"]["total"] >= before
    assert bench.left() == {"scenario.json", "run.nc"}
