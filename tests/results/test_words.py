"""What is said of a run beside its figures: for the terminal and for the page."""

from __future__ import annotations

from typing import Any

import pytest

from dwell.results.words import remarks_of, rows_of
from dwell.runner import run_scenario
from dwell.scenario import parse_scenario, template_text, text_to_mapping


def summary_of(template: str, horizon: float, **law: Any) -> dict[str, Any]:
    """The summary of a template, run for a while."""
    data = text_to_mapping(template_text(template))
    data["run"] |= {"horizon": horizon, "seed": 1}
    data["controller"] |= law
    return run_scenario(parse_scenario(data), progress=False).summary()


@pytest.mark.parametrize(
    ("template", "horizon", "law", "first"),
    [
        ("paper-12-self-triggered", 3.0, {"tau_min": 0.2}, "longer than the trigger allows"),
        ("two-hills", 2.0, {"reset": "adaptive", "eta_max": 0.001}, "cut off at t1"),
    ],
)
def test_what_did_not_hold_comes_first(
    template: str, horizon: float, law: dict[str, Any], first: str
) -> None:
    summary = summary_of(template, horizon, **law)
    remarks = remarks_of(summary)
    assert remarks[0]["broken"]
    assert any(first in one["says"] for one in remarks if one["broken"])
    kinds = [one["broken"] for one in remarks]
    assert kinds == sorted(kinds, reverse=True)


@pytest.mark.parametrize("template", ["switching-site", "moving-hill", "paper-12-self-triggered"])
def test_remarks_are_rows_of_the_shell(template: str) -> None:
    summary = summary_of(template, 2.0)
    remarks = [(one["label"], one["says"]) for one in remarks_of(summary)]
    rows = rows_of(summary)
    assert set(remarks) <= set(rows)
    notes = [row for row in rows if row[0] in ("note", "world", "repaired", "certificate")]
    assert set(notes) <= set(remarks)
    assert ("coverage" in dict(remarks)) is (summary["coverage"]["nu"] is None)
