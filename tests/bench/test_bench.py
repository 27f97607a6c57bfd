"""The bench runs, its table is complete, and all but the clock meets its targets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.__main__ import PARTS, main
from bench.bits import differing
from bench.table import Row, at_most, under

GROUPS = {
    "accuracy", "bits", "speed", "laws", "growth", "optimum", "peers", "parts", "start-up", "memory"
}  # fmt: skip


def measured(folder: Path, *options: str) -> list[dict[str, Any]]:
    file = folder / "figures.json"
    main(["--quick", "--width", "200", "--json", str(file), *options])
    return json.loads(file.read_text(encoding="utf-8"))["rows"]


def test_quick_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One test, so that the bench runs once: the clock is read, never judged."""
    rows = measured(tmp_path)
    shown = capsys.readouterr().out
    assert {row["group"] for row in rows} == GROUPS
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["what"]
        assert row["figure"]
        assert np.isfinite(row["value"])
    judged = [row for row in rows if row["group"] in ("accuracy", "bits")]
    assert len(judged) >= 20
    assert all(row["target"] for row in judged)
    missed = {row["name"] for row in judged if row["met"] is not True}
    assert missed == set()
    assert "events per second" in shown


def test_some_parts_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = measured(tmp_path, "--only", "bits")
    assert {row["group"] for row in rows} == {"bits"}
    assert "bits" in PARTS
    assert "tie order" in capsys.readouterr().out


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
