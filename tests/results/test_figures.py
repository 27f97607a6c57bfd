"""One table of the figures of a run: everything that shows some selects them from it."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.results import figures as table
from dwell.results.figures import FIGURES, NUMBER, Figure, Kind, figures
from dwell.results.summary import SHOWN, flat
from dwell.results.words import REMARKS, SENTENCES, rows_of
from dwell.scenario import parse_scenario, template_text, text_to_mapping
from dwell.studies.paper import variations
from dwell.sweep.table import arrow_table
from tests.docs.blocks import ROOT

LIVE = {"live", "units"}  # of fleets and of sites alone
ADDED = Figure(
    "path.straight", "straight way", "distance from the first to the last position", NUMBER,
    lambda run: float(np.hypot(*(run.positions(run.horizon) - run.start.positions).T).sum()),
    (1, 0), row="straight way", compared="straight",
)  # fmt: skip


def run_of(template: str, **changes: Any) -> dwell.Run:
    data = text_to_mapping(template_text(template)) | changes
    data["run"] |= {"horizon": 1.0, "seed": 1}
    return dwell.run_scenario(parse_scenario(data), progress=False)


@pytest.fixture(scope="module")
def certified() -> dwell.Run:
    return run_of("paper-12", certificate={"eta_max": 0.4, "lipschitz": 5.0})


@pytest.fixture(scope="module")
def switching() -> dwell.Run:
    return run_of("switching-site")


def value_at(summary: dict[str, Any], key: str) -> Any:
    value: Any = summary
    for part in key.split("."):
        value = value[part]
    return value


def test_every_figure_is_in_the_summary(certified: dwell.Run, switching: dwell.Run) -> None:
    both = certified.summary() | {"world": switching.summary()["world"]}
    for key, one in figures().items():
        if key in LIVE:
            assert key not in both
            continue
        value = value_at(both, key)
        assert not one.spread or set(value) == {"min", "mean", "max"}
        if value is not None and not one.spread:
            kinds = {
                Kind.NUMBER: float, Kind.WHOLE: int, Kind.WORD: str, Kind.FLAG: bool,
                Kind.TABLE: dict, Kind.EITHER: float,
            }  # fmt: skip
            assert type(value) is kinds.get(one.kind, list), key


def test_the_summary_has_figures_alone(certified: dwell.Run, switching: dwell.Run) -> None:
    tables = [key for key, one in figures().items() if one.kind is Kind.TABLE]
    names = {name for one in FIGURES for name in one.columns}
    for run in (certified, switching):
        for name in flat(run.summary()):
            within = any(name.startswith(f"{key}.measured") for key in tables)
            assert name in names or within or name.startswith("certificate.measured_lipschitz.")


def test_every_figure_is_explained() -> None:
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for key, one in figures().items():
        assert f"| `{key}` | {one.sentence} |" in text
    assert len(figures()) == len(FIGURES)


def test_selections_are_parts_of_the_table() -> None:
    known, columns = set(figures()), table.column_kinds()
    rows = {one.row for one in FIGURES if one.row}
    assert set(SHOWN) <= set(columns)
    assert set(SENTENCES) <= rows
    assert rows - set(SENTENCES) == {"ended", "time taken"}
    assert REMARKS & rows == {"live", "world", "cells", "coverage", "certificate"}
    assert set(variations.FIGURES.values()) <= known
    source = (ROOT / "src" / "dwell" / "plotting" / "sweeps" / "quantities.py").read_text(
        encoding="utf-8"
    )
    named = set(re.findall(r'"((?:cost|error|coverage|hold_error|separation)\.\w+)"', source))
    assert len(named) > 5
    assert named <= set(columns)
    page = json.loads((ROOT / "page" / "src" / "state" / "figures.json").read_text())
    assert set(page["figures"]) <= known
    wanted = set()
    for file in (ROOT / "page" / "src").rglob("*.ts*"):
        wanted |= set(re.findall(r'(?:labelOf|columnOf)\("([\w.]+)"', file.read_text()))
    assert {"distance", "cost.final", "hold_error.max"} <= wanted <= set(page["figures"])


def test_columns_of_a_batch_are_figures(certified: dwell.Run) -> None:
    assert certified.scenario is not None
    batch = dwell.simulate_many(certified.scenario, seeds=[1], progress=False)
    assert set(batch.columns) <= set(table.column_kinds())
    assert not {"record", "flags", "coverage.reached_at"} & set(batch.columns)


def test_a_figure_that_is_added_appears_everywhere(
    monkeypatch: pytest.MonkeyPatch, certified: dwell.Run
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(table, "FIGURES", (*FIGURES, ADDED))
    summary = certified.summary()
    value = summary["path"]["straight"]
    assert value > 0.0
    assert dict(rows_of(summary))["straight way"] == f"{value:.6g}"
    # A column of a sweep has the type of its kind, also where no run has a value.
    column = arrow_table([{"path.straight": None}], []).column("path.straight")
    assert column.type == pyarrow.float64()
    assert flat(summary)["path.straight"] == value
    found = dwell.compare(certified.scenario, ["timer"], workers=1, progress=False)
    assert found.as_json()["laws"]["timer"]["straight"] == pytest.approx(value)
    assert any(row[0] == "straight way" for row in found.rows())
    batch = dwell.simulate_many(certified.scenario, seeds=[1], progress=False)
    assert batch["path.straight"].tolist() == [value]
