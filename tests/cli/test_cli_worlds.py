"""What the terminal says of a world that changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import dwell

SAYS = {
    "moving-hill": ("30", "world       density moves until the end"),
    "two-sensors": ("2", "sensors     smoke (agents 0 to 3), heat (agents 3 to 6)"),
    "switching-site": ("31", "2 agents leave, 1 arrives)"),
}


@pytest.mark.parametrize("name", SAYS)
def test_run_and_show_say_what_changes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    horizon, says = SAYS[name]
    dwell("init", name)
    ran = dwell("run", f"{name}.toml", "--set", f"run.horizon={horizon}", "--out", "run.nc")
    shown = dwell("show", "run.nc")
    for outcome in (ran, shown):
        assert says in outcome.out
        assert max(map(len, outcome.out.splitlines())) <= 80
    assert "switches, so" not in ran.out or name == "switching-site"
    world = dwell("show", "run.nc", "--json").json["world"]
    assert set(world) == {"moves", "switches", "moving", "sensors"}


def test_many_switches_and_owners_are_shortened() -> None:
    from dwell._units import OPEN
    from dwell.results.words import _world, numbers_in_words

    switch = {"time": 1.0, "cost_before": None, "cost_after": None, "leave": [3], "arrive": []}
    moving = [{"what": "workspace", "from": 2.0, "until": 3.0}]
    world = {"switches": [switch] * 9, "moving": moving, "sensors": []}
    rows = dict(_world({"world": world}, OPEN))
    assert rows["world"].startswith("workspace moves from t = 2 until t = 3; switches at t = 1 (1")
    assert rows["world"].endswith("5 more switches")
    assert numbers_in_words([4]) == "agent 4"
    assert numbers_in_words([0, 2]) == "agents 0, 2"
    assert numbers_in_words(list(range(0, 40, 2))).endswith("22 and 8 more")
