"""`dwell compare` and `dwell reproduce`: what they print, write, refuse and exit with."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import dwell as package
from tests.cli.shell import dwell

pytest.importorskip("matplotlib")


def test_compare_for_people(scenario: Path) -> None:
    outcome = dwell("compare", scenario, "--laws", "timer,lloyd")

    assert (outcome.code, outcome.err) == (0, "")
    for words in ("timer", "lloyd", "settled to 0.5", "same tessellation", "cost at the end"):
        assert words in outcome.out
    speeds = next(line for line in outcome.out.splitlines() if line.startswith("top speed"))
    assert speeds.split()[2:] == ["1", "1"]
    assert "note" not in outcome.out


def test_compare_with_levels_and_speeds_of_ones_own(scenario: Path) -> None:
    options = ("--no-match", "--level", 0.3, "--level", 0.02, "--json", "--set", "run.horizon=1")
    value = dwell("compare", scenario, "--laws", "timer,discrete-lloyd", *options).json
    assert list(value["laws"]["timer"]["settled_at"]) == ["0.3", "0.02"]
    assert "speed = " not in " ".join(value["notes"])
    free = value["laws"]["discrete-lloyd"]["top_speed"]
    assert free != pytest.approx(1.0)  # no limit: what the first move needs
    wrong = dwell("compare", scenario, "--laws", "timer", "--level", "-1")
    assert "a length above 0 is needed" in wrong.sentences[0]


def test_compare_keeps_runs_and_figures(scenario: Path) -> None:
    out = scenario.parent / "laws"
    outcome = dwell(
        "compare", scenario, "--laws", "timer, self-triggered:paper-like", "--out", out, "--json",
        "--format", "svg", "--format", "pdf", "--set", "run.horizon=1", "--set",
        "self-triggered.v=0.5", "--set", "controller.t2=0.3",
    )  # fmt: skip

    assert outcome.code == 0
    value = outcome.json
    assert value["schema"] == 1
    assert value["scenario"] == "small"
    assert set(value["laws"]) == {"timer", "self-triggered:paper-like"}
    assert value["same_tessellation"]["reference"] == "timer"
    row = value["laws"]["timer"]
    keys = ("error", "settled_at", "cost", "cells", "received", "sent", "distance", "energy")
    assert set(keys) <= set(row)
    assert package.load_run(out / "timer.nc").scenario.controller.t2 == 0.3
    kept = package.load_run(out / "self-triggered-paper-like.nc").scenario
    assert (kept.controller.v, kept.controller.preset) == (0.5, "paper-like")
    names = {path.name for path in out.iterdir()}
    drawn = ("trajectories", "errors", "cells", "costs")
    assert names == {
        "timer.nc",
        "self-triggered-paper-like.nc",
        *(f"{name}.{kind}" for name in drawn for kind in ("svg", "pdf")),
    }
    again = ("compare", scenario, "--laws", "timer", "--out", out, "--set", "run.horizon=0.5")
    before = (out / "timer.nc").read_bytes()
    assert f"{out / 'timer.nc'} exists already" in dwell(*again).sentences[0]
    assert (out / "timer.nc").read_bytes() == before
    assert dwell(*again, "--force").code == 0
    assert (out / "timer.nc").read_bytes() != before


def test_a_run_that_ends_badly_gives_1(scenario: Path) -> None:
    outcome = dwell("compare", scenario, "--laws", "timer,lloyd", "--set", "run.max_jumps=3")

    assert outcome.code == 1
    assert "jump-limit" in outcome.out


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rehearsal even shorter than the usual one."""
    module = importlib.import_module("dwell.studies.paper.reproduce")
    monkeypatch.setitem(module.QUICK, "horizon", 0.2)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("short")
def test_reproduce(tmp_path: Path) -> None:
    outcome = dwell("reproduce", "--quick", "--starts", 0, "--out", tmp_path / "r", "--json")

    assert (outcome.code, outcome.err) == (0, "")
    value = outcome.json
    assert value["schema"] == 1
    assert value["starts"] is None
    assert value["claims"][0]["id"] == "n30-cost"
    assert (tmp_path / "r" / "report.html").is_file()
    shown = dwell("reproduce", "--quick", "--starts", 0, "--out", tmp_path / "r")
    assert shown.code == 0
    assert "n30-dwell-bound" in shown.out
    assert "only on a grid of points whose spacing is our choice. Read" in shown.out


def test_reproduce_refuses(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    assert "is not a file made here" in dwell("reproduce", "--out", tmp_path).sentences[0]
    assert "starts" in dwell("reproduce", "--starts", -1, "--out", tmp_path / "x").sentences[0]
    assert not (tmp_path / "x").exists()
