"""Every law goes on bit for bit, whatever ended it and whatever was kept."""

from __future__ import annotations

import pytest

import dwell
from dwell.errors import InputError
from dwell.runner import resume_run, run_scenario
from tests.controllers.examples import LAWS
from tests.results.crashes import KINDS, LOSSY, Crash, ending_at, same, scenario, settle

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_pieces")]

EVENTFUL = [name for name in LAWS if name != "lloyd-ode"]


@pytest.mark.parametrize("kind", ["events", "summary"])
@pytest.mark.parametrize("name", EVENTFUL)
def test_after_a_crash(name, kind, tmp_path):
    path = tmp_path / "run.nc"
    asked = scenario(LAWS[name], KINDS[kind])
    whole = run_scenario(asked)
    with pytest.raises(Crash):
        run_scenario(asked, out=path, progress=ending_at(2, Crash()))
    settle()
    assert {p.suffix for p in tmp_path.iterdir()} == {".nc", ".journal"}
    kept = dwell.load_run(path)
    assert kept.stop.reason.value == "interrupted"
    assert 0 < kept.tally.jumps < whole.tally.jumps
    assert same(whole, resume_run(path))
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["timer", "discrete-lloyd", "self-triggered-centroid"])
def test_after_an_interrupt(name, kind, tmp_path):
    path = tmp_path / "run.nc"
    asked = scenario(LAWS[name], KINDS[kind])
    whole = run_scenario(asked)
    with pytest.raises(dwell.Interrupted) as stopped:
        run_scenario(asked, out=path, progress=ending_at(2, KeyboardInterrupt()))
    assert dwell.load_run(path).horizon == stopped.value.run.horizon
    assert dwell.load_run(path).stop.reason.value == "interrupted"
    assert same(whole, resume_run(path))
    assert same(whole, dwell.load_run(path))


@pytest.mark.parametrize("kind", ["events", "samples"])
@pytest.mark.parametrize("name", ["timer", "event-triggered", "self-triggered"])
def test_over_a_lossy_network(name, kind, tmp_path):
    path = tmp_path / "run.nc"
    asked = scenario(LAWS[name], KINDS[kind], network=LOSSY)
    whole = run_scenario(asked)
    with pytest.raises(Crash):
        run_scenario(asked, out=path, progress=ending_at(3, Crash()))
    settle()
    assert same(whole, resume_run(path))


@pytest.mark.parametrize("name", ["timer", "self-triggered"])
@pytest.mark.parametrize("kind", KINDS)
def test_jumps_that_were_used_up(name, kind, tmp_path):
    path = tmp_path / "run.nc"
    law, record = LAWS[name], KINDS[kind]
    run_scenario(scenario(law, record, max_jumps=20), out=path)
    assert dwell.load_run(path).stop.reason.value == "jump-limit"
    with pytest.raises(InputError, match="20 jumps it was allowed"):
        resume_run(path)
    whole = run_scenario(scenario(law, record, max_jumps=1000))
    assert same(whole, resume_run(path, max_jumps=1000))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["timer", "self-triggered", "lloyd-ode"])
def test_a_finished_run_goes_further(name, kind, tmp_path):
    path, record = tmp_path / "run.nc", {**KINDS[kind], "sample_every": 0.3}
    run_scenario(scenario(LAWS[name], record, until=1.0), out=path)
    whole = run_scenario(scenario(LAWS[name], record, until=1.7))
    assert same(whole, resume_run(path, horizon=1.7))
    assert same(whole, dwell.load_run(path))
