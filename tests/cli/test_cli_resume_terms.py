"""A scenario beside --resume must be that of the run, its table `run` included."""

from __future__ import annotations

from pathlib import Path

import pytest

import dwell
from dwell.cli.running import _same_scenario
from tests.cli.shell import dwell as shell

TEXT = """
[workspace]
kind = "box"
lower = [0, 0]
upper = [4, 3]
[agents]
start = [[0.6, 0.5], [3.1, 1.2]]
[controller]
kind = "lloyd"
[run]
horizon = 0.1
seed = 3
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("horizon = 0.1", "horizon = 0.5", True),
        ("seed = 3", "seed = 3\nmax_jumps = 9", True),
        ("seed = 3", "", True),  # left to chance: the run has its own
        ("seed = 3", "seed = 4", False),
        ("seed = 3", "seed = 0", False),
        ("seed = 3", "seed = 3\ncheckpoint = { every = 7.0 }", True),
        ("seed = 3", "seed = 3\nnu = 0.2", False),
        ("seed = 3", 'seed = 3\nrecord = { kind = "summary" }', False),
        ("seed = 3", 'seed = 3\nintegration = { kind = "grid", spacing = 0.5 }', False),
        ("upper = [4, 3]", "upper = [4, 3.5]", False),
        ('kind = "lloyd"', 'kind = "lloyd"\nk2 = 2.0', False),
    ],
)
def test_terms_of_a_run_that_goes_on(tmp_path: Path, old: str, new: str, same: bool) -> None:
    (tmp_path / "a.toml").write_text(TEXT)
    dwell.run_scenario(tmp_path / "a.toml", out=tmp_path / "run.nc", progress=False)
    (tmp_path / "b.toml").write_text(TEXT.replace(old, new))
    if same:
        _same_scenario(tmp_path / "run.nc", tmp_path / "b.toml", [])
        return
    with pytest.raises(dwell.InputError, match="another scenario"):
        _same_scenario(tmp_path / "run.nc", tmp_path / "b.toml", [])


def test_another_seed_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    (tmp_path / "a.toml").write_text(TEXT)
    assert shell("run", tmp_path / "a.toml", "--out", path).code == 0
    before = path.read_bytes()
    (tmp_path / "b.toml").write_text(TEXT.replace("seed = 3", "seed = 4"))
    resumed = shell("run", tmp_path / "b.toml", "--resume", path, "--set", "run.horizon=0.2")
    assert resumed.code == 2
    assert "run.nc was made from another scenario" in resumed.sentences[0]
    assert path.read_bytes() == before
    resumed = shell("run", tmp_path / "a.toml", "--resume", path, "--set", "run.horizon=0.2")
    assert resumed.code == 0
