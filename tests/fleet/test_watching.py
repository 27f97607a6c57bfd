"""`dwell fleet --watch`: a fleet of processes that a view follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dwell.scenario import template_text
from tests.cli.shell import dwell as shell


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


def test_virtual_time_cannot_be_watched(scenario: Path) -> None:
    done = shell("fleet", scenario, "--transport", "memory", "--watch", "page")
    assert done.code == 2
    assert "--watch follows processes" in done.err
