"""The bench runs, its table is complete, and all but the clock meets its targets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.__main__ import PARTS, main
from bench.bits import differing
from bench.table import Row, at_most, keep, under

GROUPS = {
    "accuracy", "bits", "speed", "laws", "growth", "optimum", "peers", "parts", "start-up", "memory"
}  # fmt: skip

NOT_HERE = ("installed", "imported", "left out", "not yet", "no checkpoints yet")


def measured(folder: Path, *options: str) -> list[dict[str, Any]]:
    file = folder / "figures.json"
    main(["--quick", "--width", "200", "--json", str(file), *options])
    return json.loads(file.read_text(encoding="utf-8"))["rows"]


@pytest.mark.exhaustive
def test_quick_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One test, so that the bench runs once: the clock is read, never judged."""
    rows = measured(tmp_path)
    shown = capsys.readouterr().out
    assert {row["group"] for row in rows} == GROUPS
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["what"]
        assert row["figure"]
        assert row["value"] is None or np.isfinite(row["value"])
        assert row["value"] is not None or row["met"] is None
    answer = [row["figure"] for row in rows if row["value"] is None]
    assert all(any(word in figure for word in NOT_HERE) for figure in answer), answer
    judged = [row for row in rows if row["group"] in ("accuracy", "bits") and row["target"]]
    assert len(judged) >= 20
    missed = {row["name"] for row in judged if row["met"] is not True}
    assert missed == set()
    assert "events per second" in shown


def test_some_parts_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(tmp_path, "--only", "bits")
    assert {row["group"] for row in rows} == {"bits"}
    assert "bits" in PARTS
    assert "tie order" in capsys.readouterr().out


def test_a_part_that_breaks_off_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(quick: bool) -> Iterator[Row]:
        yield Row("bits", "first", "b", "0", 0.0)
        raise RuntimeError("no more")

    monkeypatch.setitem(PARTS, "bits", broken)
    rows = measured(tmp_path, "--only", "bits")
    assert [row["group"] for row in rows] == ["bits", "broken"]
    assert rows[1]["figure"] == "RuntimeError: no more"
    assert "no more" in capsys.readouterr().err


def test_kept_figures_are_shown_without_measuring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep([Row("bits", "first", "b", "0", 0.0), Row("speed", "x", "b", "9 s", 9.0, "< 1 s", False)],
         tmp_path / "figures.json")  # fmt: skip
    assert main(["--read", str(tmp_path / "figures.json"), "--width", "100"]) == 1
    assert "9 s" in capsys.readouterr().out


def test_differing_counts_bits() -> None:
    ones = np.ones((3, 2))
    assert differing(ones, ones.copy()) == 0
    assert differing(ones, np.nextafter(ones, 2.0)) == 6
    assert differing(np.array([0.0]), np.array([-0.0])) == 1
    assert differing(ones, ones[:2]) == 6 * 64


@pytest.mark.parametrize(("value", "met"), [(1e-13, True), (1e-12, True), (2e-12, False)])
def test_limits_are_kept(value: float, met: bool) -> None:
    row = at_most("accuracy", "a", "b", value, 1e-12)
    assert row == Row("accuracy", "a", "b", f"{value:.2g}", value, "≤ 1e-12", met)


def test_a_limit_of_time_is_shown_in_its_unit() -> None:
    row = under("speed", "a", "b", 0.009, 0.010, "9 ms", "ms")
    assert (row.target, row.met) == ("< 10 ms", True)
