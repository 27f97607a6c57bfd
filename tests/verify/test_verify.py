"""A judge that cannot be fooled: each kind of tampering is found by the check meant for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dwell
from dwell import Box, Gaussian, Timer, simulate
from dwell.verify import verify
from dwell.verify.finding import VIOLATED
from dwell.verify.solution import Claims

BOX = Box((0.0, 0.0), (4.0, 3.0))
START = np.array([(0.3, 0.4), (0.9, 0.5), (0.6, 1.2), (1.4, 0.2), (3.1, 2.7)])


@pytest.fixture(scope="module", params=["uniform", "dropout", "periodic", "sequence"])
def run(request):
    options = {"dropout": {"loss": 0.4}, "sequence": {"intervals": (0.2, 0.33)}}
    law = Timer(
        k1=0.5, nu=0.4, t1=0.2, t2=0.5, reset=request.param, **options.get(request.param, {})
    )
    return simulate(BOX, Gaussian((2.6, 1.9), 0.4), START, law, until=6.0, seed=2)


def violated(run, **columns):
    """Names of the violated checks once some columns of the table are changed."""
    table = replace(run.events, **columns)
    report = verify(run.system, run.start, table, run.horizon)
    return {finding.name for finding in report.findings if finding.status == VIOLATED}


def changed(column, row, by):
    copy = column.copy()
    copy[row] = copy[row] + by
    return copy


def test_an_honest_run_passes(run):
    report = dwell.check(run)
    assert report.ok, report
    assert report.as_json()["ok"] is True


def test_a_velocity_off_by_one_bit(run):
    hold = run.events.holds.copy()
    hold[17, 0] = np.nextafter(hold[17, 0], 1.0)
    assert "jump" in violated(run, holds=hold)


def test_an_error_off_by_one_bit(run):
    error = run.events.errors.copy()
    error[3, 1] = np.nextafter(error[3, 1], 1.0)
    assert violated(run, errors=error) == {"centroid"}


def test_a_teleport(run):
    assert "flow" in violated(run, positions=changed(run.events.positions, (20, 0), 1e-9))


def test_a_jump_too_early(run):
    assert "due" in violated(run, time=changed(run.events.time, 10, -1e-6))


def test_a_timer_that_was_chosen_freely(run):
    found = violated(run, next_at=changed(run.events.next_at, 25, 0.001))
    assert "reset" in found


def test_an_interval_beyond_t2(run):
    last = int(run.events.of_agent(1)[-1])
    assert "interval" in violated(run, next_at=changed(run.events.next_at, last, 3.0))


def test_too_fast(run):
    assert "speed" in violated(run, holds=changed(run.events.holds, (9, 1), 2.0))


def test_time_that_goes_back(run):
    assert "time-domain" in violated(run, time=changed(run.events.time, 12, -3.0))


def test_an_agent_that_does_not_exist(run):
    assert "agents" in violated(run, agent=changed(run.events.agent, 4, 99))


def test_a_number_that_is_none(run):
    assert "finite" in violated(run, holds=changed(run.events.holds, (4, 0), np.nan))


def test_a_run_cut_short(run):
    table = run.events.head(len(run.events) - 1)
    report = verify(run.system, run.start, table, run.horizon)
    assert "complete" in {f.name for f in report.findings if f.status == VIOLATED}


def test_another_start(run):
    moved = replace(run.start, hold=run.start.hold + 1e-12)
    report = verify(run.system, moved, run.events, run.horizon)
    assert "start-hold" in {f.name for f in report.findings if f.status == VIOLATED}
    places = START + 1e-12
    report = verify(run.system, run.start, run.events, run.horizon, Claims(places=places))
    assert "start-position" in {f.name for f in report.findings if f.status == VIOLATED}


def test_a_changed_file_is_reported(run):
    report = verify(run.system, run.start, run.events, run.horizon, Claims(intact=False))
    assert [f.name for f in report.findings if f.status == VIOLATED] == ["digest"]


def test_a_run_cut_in_half_cannot_pass_for_a_whole_one(run):
    half = run.events.head(len(run.events) // 2)
    until = float(half.time[-1])
    for ended in ("horizon", "jump-limit", "coincident"):
        claims = Claims(ended=ended, horizon=run.horizon, max_jumps=10**6)
        report = verify(run.system, run.start, half, until, claims)
        assert "ending" in {f.name for f in report.findings if f.status == VIOLATED}


@pytest.mark.parametrize(
    ("column", "name"),
    [("hold_error", "hold-error"), ("nearest", "seen"), ("neighbors", "seen"), ("empty", "seen")],
)
def test_recorded_figures_are_checked_too(run, column, name):
    assert name in violated(run, **{column: changed(getattr(run.events, column), 7, 1)})


@pytest.mark.parametrize("name", ["costs", "errors", "hold_errors", "separations"])
def test_samples_are_measured_again(run, name):
    values = getattr(run.metrics, name).copy()
    values[0] += 1e-9
    claims = Claims(metrics=replace(run.metrics, **{name: values}))
    report = verify(run.system, run.start, run.events, run.horizon, claims)
    assert {f.name for f in report.findings if f.status == VIOLATED} == {"samples"}


def test_leaving_the_workspace_is_not_held_against_a_law_that_does_not_promise_it():
    law = Timer(k1=1.0, nu=0.1, t1=2.0, t2=2.0)
    run = simulate(BOX, None, START, law, until=20.0)
    assert {flag.code for flag in run.flags} >= {"overshoot"}
    assert dwell.check(run).ok
