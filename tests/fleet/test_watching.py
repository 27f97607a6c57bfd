"""`dwell fleet --watch`: a fleet of processes that a view follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dwell.exports.foxglove_live import FoxgloveView
from dwell.fleet.launch import FleetProcess, FleetStatus
from dwell.fleet.run import run_fleet
from dwell.scenario import template_text
from tests.cli.shell import dwell as shell
from tests.fleet.fleets import scenario as made


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "two-hills.toml"
    path.write_text(template_text("two-hills"))
    return path


@pytest.mark.parametrize("view", ["page", "foxglove"])
def test_a_view_follows_the_fleet_and_ends_with_it(scenario: Path, view: str) -> None:
    done = shell("fleet", scenario, "--horizon", "1.5", "--watch", view, "--port", "0", "--json")
    assert done.code == 0
    assert json.loads(done.out)["stop"]["time"] == 1.5
    assert "the fleet can be seen at" in done.err


def test_a_view_that_fails_does_not_end_the_fleet(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(view: FoxgloveView, now: float, announcements: object) -> None:
        if now > 0.2:
            raise RuntimeError("no space left")

    monkeypatch.setattr(FoxgloveView, "update", fail)
    words = ("--horizon", "1", "--watch", "foxglove", "--port", "0", "--json")
    done = shell("fleet", scenario, *words)
    assert done.json["stop"]["reason"] == "horizon"
    assert done.err.count("the view has ended (RuntimeError: no space left)") == 1


def test_no_view_opens_if_the_run_cannot_be_stored(scenario: Path, tmp_path: Path) -> None:
    (tmp_path / "live.nc").write_text("mine")
    done = shell("fleet", scenario, "--watch", "page", "--port", "0", "--out", tmp_path / "live.nc")
    assert done.code != 0
    assert "exists" in done.err
    assert "can be seen" not in done.err


def test_segments_have_the_time_of_the_launcher_whatever_the_clocks_of_agents() -> None:
    clocks = {"faults": {"clock_offset": 1.5, "seed": 4}}
    times = list[float]()

    def watch(status: FleetStatus, fleet: FleetProcess) -> None:
        times.extend(status.time - one.stamp for one in status.announcements if one.k > 1)

    run_fleet(made(horizon=2.0, fleet={"patience": 30.0, **clocks}), progress=False, watch=watch)
    assert len(times) > 10
    assert all(-0.05 < late < 1.0 for late in times)


def test_virtual_time_cannot_be_watched(scenario: Path) -> None:
    done = shell("fleet", scenario, "--transport", "memory", "--watch", "page")
    assert done.code == 2
    assert "--watch follows processes" in done.err
