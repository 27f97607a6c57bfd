"""The worked studies: their files are sweeps that run, and their pictures are there."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from dwell.scenario import text_to_mapping
from dwell.sweep import load_sweep, parse_sweep, plan_of
from dwell.sweep.cases import CaseStatus, Chunk, run_chunk
from tests.docs.blocks import ROOT

FOLDER = ROOT / "docs" / "studies"
PICTURED = ("wait", "loss", "size", "laws")
STUDIES = (*PICTURED, "speed")
WORLDS = ("hill", "team", "boats")  # those of docs/worlds-studies.md


def mapping_of(name: str) -> dict[str, Any]:
    path = FOLDER / f"{name}.toml"
    return text_to_mapping(path.read_text(encoding="utf-8"), source=str(path))


def ends(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The first and the last value of each key."""
    return {key: values[:: max(1, len(values) - 1)] for key, values in table.items()}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_a_sweep_of_at_least_ten_starts(name: str) -> None:
    plan = plan_of(load_sweep(FOLDER / f"{name}.toml"))
    assert plan.sweep.repeats >= 10
    assert plan.points >= 3


@pytest.mark.parametrize("name", STUDIES)
def test_a_shrunk_study_runs(name: str) -> None:
    sweep = mapping_of(name)
    scenario = mapping_of(Path(sweep["scenario"]).stem)
    scenario["run"] |= {"horizon": 1.0}
    tables = {key: ends(sweep[key]) for key in ("grid", "zip") if key in sweep}
    if "controller.kind" in sweep.get("grid", {}):
        tables["grid"] |= {"controller.kind": sweep["grid"]["controller.kind"]}
    plan = plan_of(parse_sweep({**sweep, **tables, "scenario": scenario, "repeats": 1}))
    result = run_chunk(Chunk(plan.template, tuple(plan.spec(case) for case in range(len(plan)))))
    assert [row["status"] for row in result.rows] == [CaseStatus.DONE] * len(plan)
    assert all(row["stop.reason"] == "horizon" for row in result.rows)
    assert not any("coverage-unseen" in row["flags"] for row in result.rows)


def test_studies_are_those_of_the_folder() -> None:
    files = {path.stem for path in FOLDER.glob("*.toml")} - {"twelve"}
    assert files == {*STUDIES, *WORLDS}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_a_place_on_the_page(name: str) -> None:
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    assert f"scripts/study {name}" in page
    if name in PICTURED:
        assert f"(studies/{name}.png)" in page
        assert (FOLDER / f"{name}.png").stat().st_size < 150_000


def test_the_scenario_of_the_studies_is_the_papers_but_for_its_start() -> None:
    from dwell.scenario import parse_scenario, template_text

    own = json.loads(parse_scenario(mapping_of("twelve")).model_dump_json())
    paper = json.loads(parse_scenario(text_to_mapping(template_text("paper-12"))).model_dump_json())
    differ = {key for key in own if own[key] != paper[key]}
    assert differ == {"name", "agents", "run"}


@pytest.fixture(scope="module")
def worlds() -> Any:
    """The script of the studies of worlds that change and of unequal teams."""
    spec = importlib.util.spec_from_file_location("worlds_of_studies", FOLDER / "worlds.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", WORLDS)
def test_a_study_of_worlds_is_on_its_page(name: str) -> None:
    page = (ROOT / "docs" / "worlds-studies.md").read_text(encoding="utf-8")
    assert f"`scripts/study {name}`" in page
    assert f"(studies/{name}.png)" in page
    assert f"studies/{name}.toml" in page
    assert (FOLDER / f"{name}.png").stat().st_size < 300_000


@pytest.mark.parametrize(("name", "horizon"), [("hill", 2.0), ("team", 2.0), ("boats", 20.0)])
def test_a_short_study_of_worlds_has_a_table_and_a_picture(
    worlds: Any, name: str, horizon: float, tmp_path: Path
) -> None:
    measure, draw = worlds.STUDIES[name]
    rows, found = measure(horizon, 1)
    assert len(worlds.table(rows).splitlines()) == len(rows) + 2
    draw(found).savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_lags_of_a_hill_are_the_predicted_ones(worlds: Any) -> None:
    """Of laws whose lag is steady soon; the page has all of them, over a longer time."""
    import numpy as np

    import dwell
    from dwell.theory.derivatives import derivatives

    laws = worlds.laws()
    for name in ("timer, neighbours, [0.2, 0.6]", "tvd C"):
        run = dwell.run_scenario(worlds.scenario_of("hill", 40.0, controller=laws[name]))
        world, places = run.world(40.0), run.positions(40.0)
        jacobian = derivatives(world.workspace, places, world.density).jacobian.toarray()
        lag = worlds.predicted_lag(laws[name], jacobian, run.agents)
        assert np.allclose(run.errors(40.0), lag, rtol=0.0, atol=3e-5)
