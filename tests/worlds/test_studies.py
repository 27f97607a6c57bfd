"""Studies of worlds that change: one time, several laws, sweeps, batches, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

import dwell
from dwell.errors import InputError
from dwell.scenario import dump_toml, parse_scenario
from dwell.scenario.frozen import scenario_at
from tests.cli.shell import dwell as shell
from tests.worlds.test_runs import CHANGES, same, scenario


@pytest.mark.parametrize("name", CHANGES)
def test_files_hold_the_whole_world(name: str, tmp_path: Path) -> None:
    whole = parse_scenario(scenario(**CHANGES[name]))
    path = tmp_path / "site.toml"
    path.write_text(dump_toml(whole))
    assert dwell.load_scenario(path) == whole


@pytest.mark.parametrize("name", ["switch", "moving", "lives", "walls"])
def test_a_scenario_at_one_time(name: str) -> None:
    whole = parse_scenario(scenario(**CHANGES[name]))
    still = scenario_at(whole, 2.25)
    assert still.world is None
    run = dwell.run_scenario(whole)
    world = run.system.ground_at(2.25)
    start = dwell.run_scenario(still).positions(0.0)
    cells = dwell.tessellate(world.workspace, start, world.density)
    there = run.system.world_at(2.25).present
    assert still.agents.count == (8 if there is None and name == "lives" else len(cells.positions))
    assert dwell.run_scenario(still).cost(0.0) == pytest.approx(cells.cost, rel=1e-12)
    with pytest.raises(InputError, match="from 0 to the horizon"):
        scenario_at(whole, 9.0)


def test_the_best_deployment_and_rates_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(dump_toml(parse_scenario(scenario(**CHANGES["switch"]))))
    late = shell("optimize", path, "--at", 1.5, "--starts", 3, "--json").json
    square = dwell.optimize(dwell.Box((0, 0), (4, 4)), None, 6, starts=3)
    assert late["cost"] == pytest.approx(square.cost, rel=0.1)
    assert shell("rates", path, "--at", 1.5, "--json").code == 0
    assert shell("design", path, "--at", 1.5, "--samples", 0, "--json").code == 0
    assert shell("rates", path, "--at", 9).code == 2


def test_laws_are_compared_in_the_same_world() -> None:
    whole = parse_scenario(scenario(**CHANGES["lives"]))
    found = dwell.compare(whole, ["timer", "lloyd"])
    assert found.runs["timer"].agents == found.runs["lloyd"].agents == 8
    same(found.runs["timer"].events, dwell.run_scenario(whole).events)


def test_batches_are_runs_in_the_same_world() -> None:
    whole = parse_scenario(scenario(**CHANGES["lives"]))
    batch = dwell.simulate_many(whole, seeds=[5, 6])
    alone = dwell.run_scenario(whole)
    np.testing.assert_array_equal(batch["final_positions"][0], alone.positions(alone.horizon))
    assert batch["cost.final"][0] == alone.summary()["cost"]["final"]


@pytest.mark.parametrize("study", ["optimize", "rates", "design"])
def test_studies_of_one_time_refuse_what_they_do_not_know(study: str, tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(dump_toml(parse_scenario(scenario(agents={"start": [[1, 1]], "radius": 1.0}))))
    outcome = shell(study, path)
    assert outcome.code == 2
    assert "agents.radius" in outcome.err


def test_the_certificate_is_silent_about_limited_ranges() -> None:
    assumed = {"eta_max": 0.4, "lipschitz": 1.0}
    agents = {"start": {"count": 6, "seed": 2}, "radius": 1.5}
    run = dwell.run_scenario(scenario(certificate=assumed, agents=agents))
    assert {f.status for f in dwell.check(run).certificate} == {"not applicable"}


@pytest.mark.parametrize("name", ["moving", "lives", "walls"])
def test_threads_change_no_bit(name: str) -> None:
    many = scenario(**CHANGES[name], agents={"start": {"count": 90, "seed": 2}})
    one, two = (dwell.run_scenario(many, threads=k) for k in (1, 2))
    same(one.events, two.events)
    np.testing.assert_array_equal(one.metrics.costs, two.metrics.costs)
    np.testing.assert_array_equal(one.metrics.errors, two.metrics.errors)


def test_a_sweep_of_a_world_with_several_switches(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(dump_toml(parse_scenario(scenario(**CHANGES["switch"]))))
    words = 'scenario = "site.toml"\nrepeats = 2\n[grid]\n"controller.k1" = [0.5, 1.0]\n'
    (tmp_path / "sweep.toml").write_text(words)
    assert dwell.run_sweep(tmp_path / "sweep.toml", tmp_path / "out", workers=1).ok
    column = parquet.read_table(tmp_path / "out" / "runs.parquet").column("world.switches")
    assert [len(json.loads(text)) for text in column.to_pylist()] == [2] * 4
