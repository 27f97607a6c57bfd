"""A scenario and a kept run for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.shell import dwell

SCENARIO = """
name = "small"
[workspace]
kind = "box"
lower = [0, 0]
upper = [4, 4]
[density]
kind = "gaussian"
center = [3, 1]
rate = 0.1
[agents]
start = [[1, 1], [2, 2], [3, 3.5], [0.5, 3]]
[controller]
kind = "timer"
k1 = 1.0
nu = 0.5
t1 = 0.1
t2 = 0.2
[certificate]
eta_max = 0.9
lipschitz = 5.0
[run]
horizon = 4.0
seed = 1
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario file in a folder of its own."""
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="session")
def kept_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "small.toml").write_text(SCENARIO)
    assert dwell("run", folder / "small.toml", "--out", folder / "run.nc").code == 0
    return folder / "run.nc"


@pytest.fixture
def kept(kept_once: Path, tmp_path: Path) -> Path:
    """A kept run that may be spoiled."""
    return Path(shutil.copy(kept_once, tmp_path / "run.nc"))
