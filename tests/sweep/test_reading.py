"""A sweep's table read back: columns, runs without a value, limits of theory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dwell.errors import StoreError
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from dwell.studies import design
from dwell.sweep import parse_sweep, plan_of, run_sweep
from dwell.sweep.reading import limits_of_waits, read_sweep

T2 = "controller.t2"


def paper(**controller: Any) -> dict[str, Any]:
    mapping = text_to_mapping(template_text("paper-12"))
    mapping["controller"] |= controller
    mapping["run"] |= {"horizon": 1.0}
    return mapping


def bases(sweep: dict[str, Any]) -> list[dict[str, Any]]:
    return plan_of(parse_sweep(sweep)).template.bases


def test_columns_and_numbers(tmp_path: Path, in_process: None) -> None:
    grid = {"controller.kind": ["timer", "lloyd"], T2: [0.3, 0.5]}
    sweep = {"scenario": paper(), "laws": {"lloyd": {"dt": 0.5}}, "grid": grid}
    run_sweep(parse_sweep(sweep), tmp_path / "s")
    table = read_sweep(tmp_path / "s")
    assert table.keys == ("controller.kind", T2)
    assert len(table) == 3
    np.testing.assert_array_equal(table.numbers(T2), [0.3, 0.5, np.nan])
    assert list(table.columns["controller.kind"]) == ["timer", "timer", "lloyd"]
    assert "cost.final" in table.columns
    assert "final_positions" not in table.columns
    with pytest.raises(KeyError):
        table.columns["no.such"]


def test_an_unfinished_sweep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no folder of a sweep"):
        read_sweep(tmp_path)


def test_limits_of_waits_are_those_of_design() -> None:
    sweep = {"scenario": paper(), "grid": {T2: [0.3, 0.5]}}
    marks = limits_of_waits(bases(sweep), [T2])[T2]
    found = design(parse_scenario(paper()), samples=0)
    limits = [float(found.setting.max_dwell_times[0]), 1.0 - 1e-8, 2.0 - 2e-8]
    np.testing.assert_allclose([value for value, _ in marks], limits, rtol=1e-12)


@pytest.mark.parametrize("key", ["controller.k1", "controller.nu", "agents.start.count"])
def test_limits_that_move_are_not_marked(key: str) -> None:
    sweep = {"scenario": paper(), "grid": {T2: [0.3, 0.5]}}
    assert limits_of_waits(bases(sweep), [T2, key]) == {}
    assert limits_of_waits(bases(sweep), [key]) == {}
