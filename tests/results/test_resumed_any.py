"""Runs on the line and in space, by the compiled engines, go on bit for bit."""

from __future__ import annotations

import tomllib

import pytest

import dwell
from dwell.runner import resume_run, run_scenario
from dwell.scenario import template_text
from tests.results.crashes import KINDS, Crash, ending_at, same, settle

pytestmark = pytest.mark.usefixtures("small_pieces")


def template(name, record):
    """A short run from a template that is put away after every piece."""
    asked = tomllib.loads(template_text(name))
    asked["run"] |= {"horizon": 1.0, "record": record, "checkpoint": {"every": 1e-9}}
    return dwell.Scenario.model_validate(asked)


@pytest.mark.parametrize("kind", ["events", "summary"])
@pytest.mark.parametrize("name", ["line-8", "space-12"])
def test_after_a_crash(name, kind, tmp_path):
    path, asked = tmp_path / "run.nc", template(name, KINDS[kind])
    whole = run_scenario(asked)
    with pytest.raises(Crash):
        run_scenario(asked, out=path, progress=ending_at(3, Crash()))
    settle()
    assert 0 < dwell.load_run(path).details.tally.jumps < whole.details.tally.jumps
    assert same(whole, resume_run(path))
