"""A few of the random scenarios of `bench.refute`: no run contradicts what design says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.refute import Tried, cost_rises, refute, report, scenario_of
from dwell import design, run_scenario
from dwell.scenario import parse_scenario

FEW = (0, 3, 5, 8, 14, 21)


@pytest.mark.parametrize("number", FEW)
def test_no_run_refutes_what_design_says(number: int, tmp_path: Path) -> None:
    tried = Tried()
    refute(number, tried, tmp_path)
    assert tried.refuted == []
    assert list(report(tried))[-1] == "0 refuted"


def test_the_search_finds_what_is_wrong(tmp_path: Path) -> None:
    """Waits beyond the limit, of which design claims nothing: the cost does rise."""
    data = scenario_of(0, tmp_path)
    data |= {
        "workspace": {"kind": "box", "lower": [0.0, 0.0], "upper": [4.0, 3.0]},
        "density": {"kind": "uniform"},
        "agents": {"start": [[0.4, 0.4], [0.9, 0.35], [2.9, 0.7]]},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 0.2, "t1": 0.5, "t2": 0.5},
        "run": {"horizon": 40.0, "seed": 1},
    }
    data.pop("network", None)
    scenario = parse_scenario(data)
    found = design(scenario, samples=0, run=False)
    assert not found.setting.sharper[0].holds
    outcome = cost_rises(run_scenario(scenario), found)
    assert outcome is not None
    assert outcome.startswith("rises by")
