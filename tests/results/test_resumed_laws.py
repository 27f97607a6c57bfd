"""Every law goes on bit for bit, whatever ended it and whatever was kept."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import numpy as np
import pytest

import dwell
from dwell.agents import Command
from dwell.errors import ControllerError, InputError
from dwell.runner import resume_run, run_scenario
from dwell.scenario import template_text
from tests.controllers.examples import LAWS
from tests.results.crashes import KINDS, LOSSY, crash, ending_at, few, same, scenario

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_pieces")]


@dataclass(frozen=True)
class Trace:
    """What `Winding` remembers."""

    turns: int
    seen: np.ndarray


@dataclass(frozen=True)
class Winding:
    """A law in Python that remembers: it turns a little further aside at each look."""

    gain: float = 0.6
    nu: float = 0.2

    def begin(self, view):
        return self.decide(view)

    def decide(self, view):
        past = view.memory or Trace(0, np.zeros(2))
        side = np.array([-past.seen[1], past.seen[0]]) * 0.1 * past.turns
        memory = Trace(past.turns + 1, 0.5 * (past.seen + view.measurement.error))
        return Command(
            self.gain * view.measurement.error + side,
            view.time + 0.05 + 0.1 * view.draw,
            memory=memory,
        )


@dataclass(frozen=True)
class Forgetful(Winding):
    """One whose memory no file can hold."""

    def decide(self, view):
        return Command(0.1 * view.measurement.error, view.time + 0.3, memory={1, 2})


@dataclass(frozen=True)
class Hoarding(Winding):
    """One whose memory no file can hold from a time on."""

    def decide(self, view):
        memory = {1, 2} if view.time > 1.0 else None
        return Command(0.1 * view.measurement.error, view.time + 0.3, memory=memory)


EVENTFUL = [name for name in LAWS if name != "lloyd-ode"]


def interrupt(asked, path, count):
    """Interrupt a run during chunk `count`."""
    with pytest.raises(dwell.Interrupted) as stopped:
        run_scenario(asked, out=path, progress=ending_at(count, KeyboardInterrupt()))
    assert dwell.load_run(path).horizon == stopped.value.run.horizon


def goes_on(asked, path, end=crash, count=2):
    """Whether a run that ended during chunk `count` goes on as if it had not."""
    whole = run_scenario(asked)
    end(asked, path, count)
    left = {".nc", ".journal"} if end is crash else {".nc"}
    assert {p.suffix for p in path.parent.iterdir()} == left
    kept = dwell.load_run(path)
    assert kept.stop.reason.value == "interrupted"
    assert 0 < kept.details.tally.jumps < whole.details.tally.jumps
    assert same(whole, resume_run(path))
    assert [p.name for p in path.parent.iterdir()] == ["run.nc"]
    return same(whole, dwell.load_run(path))


@pytest.mark.parametrize("kind", ["events", "summary"])
@pytest.mark.parametrize("name", ["line-8", "space-12"])
def test_after_a_crash_in_other_dimensions(name, kind, path):
    asked = tomllib.loads(template_text(name))
    asked["run"] |= {"horizon": 1.0, "record": KINDS[kind], "checkpoint": {"every": 1e-9}}
    assert goes_on(dwell.Scenario.model_validate(asked), path, count=3)


@pytest.mark.parametrize("kind", few("events", "summary"))
@pytest.mark.parametrize("name", few(*EVENTFUL, first=3))
def test_after_a_crash(name, kind, path):
    assert goes_on(scenario(LAWS[name], KINDS[kind]), path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", few(*KINDS))
@pytest.mark.parametrize("name", ["timer", "discrete-lloyd", "self-triggered-centroid"])
def test_after_an_interrupt(name, kind, path):
    assert goes_on(scenario(LAWS[name], KINDS[kind]), path, interrupt)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", few("events", "samples"))
@pytest.mark.parametrize("name", ["timer", "event-triggered", "self-triggered"])
def test_over_a_lossy_network(name, kind, path):
    assert goes_on(scenario(LAWS[name], KINDS[kind], network=LOSSY), path, count=3)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["timer", "self-triggered"])
@pytest.mark.parametrize("kind", few(*KINDS))
def test_jumps_that_were_used_up(name, kind, path):
    law, record = LAWS[name], KINDS[kind]
    run_scenario(scenario(law, record, max_jumps=20), out=path)
    assert dwell.load_run(path).stop.reason.value == "jump-limit"
    with pytest.raises(InputError, match="20 jumps it was allowed"):
        resume_run(path)
    whole = run_scenario(scenario(law, record, max_jumps=1000))
    assert same(whole, resume_run(path, max_jumps=1000))


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", few(*KINDS))
@pytest.mark.parametrize("name", ["timer", "self-triggered", "lloyd-ode"])
def test_a_finished_run_goes_further(name, kind, path):
    record = {**KINDS[kind], "sample_every": 0.3}
    run_scenario(scenario(LAWS[name], record, until=1.0), out=path)
    whole = run_scenario(scenario(LAWS[name], record, until=1.7))
    assert same(whole, resume_run(path, horizon=1.7))
    assert same(whole, dwell.load_run(path))


@pytest.mark.parametrize("kind", few(*KINDS))
def test_a_law_in_python_that_remembers(kind, path):
    asked = scenario(Winding(0.7), KINDS[kind])
    assert asked.controller.law == f"{__name__}:Winding"
    assert goes_on(asked, path, interrupt)
    path.unlink()
    assert goes_on(asked, path, crash, 3)


def test_a_memory_that_no_file_can_hold_is_refused_before_the_run(tmp_path):
    asked = scenario(Forgetful(), KINDS["events"])
    words = "the law remembers or sends a set, which a file cannot hold"
    with pytest.raises(ControllerError, match=words):
        run_scenario(asked, out=tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []
    assert run_scenario(asked).stop.reason.ok


def test_a_memory_that_no_file_can_hold_later_ends_no_run(path):
    with pytest.warns(
        dwell.errors.DwellWarning, match="remembers or sends a set.* the run goes on"
    ):
        run = run_scenario(scenario(Hoarding(), KINDS["events"]), out=path)
    assert run.stop.reason.ok
    assert run.horizon == 2.0
    assert "checkpoint-failed" in [flag["code"] for flag in run.summary()["flags"]]
