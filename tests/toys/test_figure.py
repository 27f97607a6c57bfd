"""A toy figure, added as CONTRIBUTING says: in summaries, files, sweeps, plots, docs and pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.toys.overlay import Overlay

pytestmark = pytest.mark.slow

ROW = """    Figure(
        "path.straight", "straight way", "distances from the first to the last positions, summed",
        NUMBER, lambda run: float(abs(run.positions(run.horizon) - run.start.positions).sum()),
        LENGTH, row="straight way", compared="straight",
    ),
"""
SCENARIO = """
[workspace]
kind = "interval"
bounds = [0.0, 1.0]

[agents]
start = [0.1, 0.2]

[controller]
kind = "lloyd"
dt = 0.1

[run]
horizon = 30.0
seed = 1
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Overlay:
    package = Overlay(tmp_path_factory.mktemp("figure") / "package")
    package.insert("src/dwell/results/figures.py", (ROW, '    Figure(\n        "top_speed",'))
    return package


def test_it_is_used(package: Overlay, tmp_path_factory: pytest.TempPathFactory) -> None:
    axis = '"controller.dt" = [0.1, 0.2]'
    used: dict[str, Any] = package.used(SCENARIO, axis, tmp_path_factory.mktemp("used"))
    assert used["run"]["path"] == used["stored"]["path"] == {"straight": pytest.approx(0.7)}
    assert "straight way" in used["shown"]
    assert used["check"]["ok"]
    assert "path.straight" in used["columns"]


def test_it_is_served(package: Overlay) -> None:
    found = package.served(SCENARIO)
    assert found["job"]["summary"]["path"] == {"straight": pytest.approx(0.7)}


def test_docs_and_page_get_it(package: Overlay) -> None:
    pages = [f"docs/{name}.md" for name in ("scenario", "compare", "sweeps", "reference")]
    package.generate("docs/tables.py", "docs/results.md", *pages, "docs/compatibility.md")
    row = "| `path.straight` | distances from the first to the last positions, summed | length |"
    assert row in package.text("docs/results.md")
    assert "| straight way |" in package.text("docs/compare.md")
    package.insert("page/tables.py", ('"path.straight", ', '"separation.min", "distance"'))
    shared = [f"page/src/state/{name}.json" for name in ("tables", "keys", "counted", "figures")]
    package.generate("page/tables.py", *shared)
    figures = json.loads(package.text("page/src/state/figures.json"))["figures"]
    assert figures["path.straight"] == {"label": "straight way", "unit": [1, 0]}
    assert package.touched == ["src/dwell/results/figures.py", "page/tables.py"]
