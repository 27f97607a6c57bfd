"""`dwell rates`: what it prints, draws, refuses and exits with."""

from __future__ import annotations

from pathlib import Path

import pytest

from dwell.scenario.laws import LAW_KINDS
from tests.cli.shell import dwell

KEYS = {
    "spectrum", "gap", "lambda_min", "lambda_max", "kind", "predicted", "observed",
    "world", "stability_limit", "schema", "file", "law", "agents", "notes", "says", "contraction",
    "tolerance", "error", "moved", "whole", "positions", "best_relaxation", "observed_note",
    "gains",
}  # fmt: skip
LAWS = list(LAW_KINDS)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kept run that comes to rest."""
    from tests.cli.conftest import SCENARIO

    folder = tmp_path_factory.mktemp("rates")
    (folder / "small.toml").write_text(SCENARIO)
    path = folder / "run.nc"
    sets = ("--set", "run.horizon=60")
    assert dwell("run", folder / "small.toml", *sets, "--out", path).code == 0
    return path


def test_of_a_scenario_for_programs(scenario: Path) -> None:
    value = dwell("rates", scenario, "--json").json
    assert set(value) == KEYS
    assert value["schema"] == 1
    assert (value["law"], value["agents"], value["kind"]) == ("timer", 4, "minimum")
    assert len(value["spectrum"]) == 8
    assert value["gap"] == 1.0 - value["lambda_max"] == 1.0 - value["spectrum"][0]
    assert value["lambda_min"] == value["spectrum"][-1]
    assert sorted(value["predicted"]) == sorted(LAWS) == sorted(value["notes"])
    assert value["predicted"]["lloyd"] == pytest.approx(value["gap"], rel=0.01)
    assert value["predicted"]["event-triggered"] is None
    assert value["observed"] is None
    assert value["stability_limit"] == pytest.approx(2.0 / 2.0 / (1.0 - value["lambda_min"]))
    assert value["gains"] == {
        "timer": {"k1": 1.0, "nu": 0.5}, "lloyd": {"k2": 1.0}, "self-triggered": {"kappa": 1.0},
        "discrete-lloyd": {"relaxation": 1.0, "step": 1.0},
    }  # fmt: skip


def test_of_a_run_for_programs(long: Path) -> None:
    value = dwell("rates", long, "--json").json
    assert set(value) == KEYS
    seen = value["observed"]
    assert seen["rate"] == pytest.approx(seen["predicted"], rel=0.02)
    assert seen["predicted"] == pytest.approx(value["predicted"]["timer"])
    assert seen["goodness"] > 0.999
    assert 0.0 < seen["since"] < seen["until"] <= 60.0
    assert value["moved"] < 1e-3


def test_for_people(scenario: Path, long: Path) -> None:
    outcome = dwell("rates", scenario)
    assert outcome.out.startswith("result         under timer small displacements shrink to 37 %")
    assert (outcome.code, outcome.err) == (0, "")
    words = ("minimum", "gap", "contracting", "stability", "time constant", "agent's start", *LAWS)
    assert all(word in outcome.out for word in words)
    assert "observed" not in outcome.out
    assert "(with k1 = 1, nu = 0.5)" in outcome.out
    assert "(with its default k2 = 1)" in outcome.out
    of_run = dwell("rates", long)
    assert all(word in of_run.out for word in ("observed", "predicted", "off by", "mode 1"))


def test_another_law(tmp_path: Path) -> None:
    from tests.cli.conftest import SCENARIO

    start, end = SCENARIO.index("[controller]"), SCENARIO.index("[run]")
    path = tmp_path / "lloyd.toml"
    path.write_text(SCENARIO[:start] + '[controller]\nkind = "lloyd"\nk2 = 3.0\n' + SCENARIO[end:])
    value = dwell("rates", path, "--json").json
    assert value["law"] == "lloyd"
    assert value["predicted"]["lloyd"] == pytest.approx(3.0 * value["gap"], rel=0.02)
    assert value["predicted"]["timer"] is None
    assert "no defaults" in value["notes"]["timer"]
    assert value["stability_limit"] == pytest.approx(2.0 / 3.0 / (1.0 - value["lambda_min"]))
    assert value["best_relaxation"] > 1.0


def test_a_short_run_says_what_is_missing(kept: Path) -> None:
    value = dwell("rates", kept, "--json").json
    assert value["observed"] is None
    assert "away from its limit" in value["observed_note"]
    assert "away from its limit" in dwell("rates", kept).out


def test_pictures(scenario: Path, long: Path) -> None:
    pytest.importorskip("matplotlib")
    for source, name in ((scenario, "modes.svg"), (long, "modes.png")):
        out = scenario.parent / name
        outcome = dwell("rates", source, "--out", out)
        assert outcome.code == 0
        assert out.stat().st_size > 2000
        assert name in outcome.out


def test_a_disc_that_may_turn_is_neither_contracting_nor_not(tmp_path: Path) -> None:
    path = tmp_path / "disc.toml"
    path.write_text(
        "workspace = { kind = 'ball', center = [0, 0], radius = 1 }\n"
        "agents = { start = [[-0.4, 0.0], [0.4, 0.1]] }\n"
        "controller = { kind = 'timer', k1 = 0.5, nu = 0.2, t1 = 0.1, t2 = 0.2 }\n"
        "run = { horizon = 1.0, seed = 1 }\n"
    )
    answer = dwell("rates", path)
    assert "one neutral mode" in answer.out
    assert "(neutral)" in answer.out


def test_a_world_that_changes_is_named_and_corners_have_no_rate(tmp_path: Path) -> None:
    """What the linear model is about, and where there is none."""
    path = tmp_path / "site.toml"
    text = """
    [workspace]
    kind = "{kind}"
    {site}
    [agents]
    start = [[0.5, 0.5], [3.0, 1.0], [0.6, 2.4]]
    [controller]
    kind = "timer"
    k1 = 0.5
    nu = 0.5
    t1 = 0.1
    t2 = 0.2
    [run]
    horizon = 4.0
    seed = 1
    """
    box = text.format(kind="box", site="lower = [0, 0]\n    upper = [4, 3]")
    path.write_text(box)
    assert dwell("rates", path, "--json").json["world"] is None
    path.write_text(f'{box}\n[[world]]\nfrom = 2.0\nworkspace.kind = "box"\n'
                    "workspace.lower = [0, 0]\nworkspace.upper = [5, 3]\n")  # fmt: skip
    world = dwell("rates", path, "--json").json["world"]
    assert world == "as at t = 0, as if it stood still; the world switches"
    ell = "[[0, 0], [4, 0], [4, 1.4], [1.6, 1.4], [1.6, 3], [0, 3]]"
    path.write_text(
        text.format(kind="region", site=f"parts = [{{outer = {ell}}}]\n    stay = true")
    )
    value = dwell("rates", path, "--json").json
    assert value["predicted"]["timer"] is None
    assert "corners" in value["notes"]["timer"]
