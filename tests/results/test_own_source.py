"""A run does not replace the scenario that it is computed from."""

from __future__ import annotations

import os

import pytest

import dwell
from dwell.scenario import dump_toml
from tests.cli.shell import dwell as command
from tests.test_refused_calls import SCENARIO


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(dump_toml(SCENARIO), "utf-8")
    return path


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", ["itself", "another way", "a link"])
def test_a_run_is_not_written_over_its_scenario(file, kind, force):
    text = file.read_bytes()
    out = file if kind == "itself" else file.parent / "." / ".." / file.parent.name / file.name
    if kind == "a link":
        out = file.parent / "link.toml"
        os.link(file, out)
    with pytest.raises(dwell.InputError, match="is the scenario itself"):
        dwell.run_scenario(file, out=out, force=force)
    done = command("run", file, "--out", out, *(["--force"] if force else []))
    assert done.code == 2
    assert "is the scenario itself" in done.err
    assert file.read_bytes() == text


@pytest.mark.parametrize("leads", ["loop", "nowhere"])
def test_a_link_that_leads_nowhere_is_replaced_with_force_only(file, leads):
    out = file.parent / "run.nc"
    out.symlink_to(out if leads == "loop" else file.parent / "gone" / "run.nc")
    with pytest.raises(dwell.InputError, match="exists already"):
        dwell.run_scenario(file, out=out)
    assert out.is_symlink()


def test_shares_without_digits_are_refused():
    site, places = dwell.Box((0, 0), (1, 1)), [(0.2, 0.2), (0.7, 0.3), (0.5, 0.8)]
    with pytest.raises(dwell.InputError, match=r"share of agent 0 is 1e-300; .* from 1e-09 on"):
        dwell.power_weights(site, places, shares=[1e-300, 0.5, 0.5])
    weights = dwell.power_weights(site, places, shares=[1e-9, 0.5, 0.5 - 1e-9])
    masses = dwell.tessellate(site, places, weights=weights).masses
    assert masses == pytest.approx([1e-9, 0.5, 0.5 - 1e-9], abs=1e-12)
