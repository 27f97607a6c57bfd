"""A run read from a file goes on like one that was never put away."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import dwell
from dwell._netcdf import digest_of
from dwell.agents import Network, table_of
from dwell.agents.continuous import solve_continuous
from dwell.controllers import SelfTriggered
from dwell.hybrid import simulate as solve
from tests.conftest import differing
from tests.controllers.examples import LAWS
from tests.controllers.worlds import BOX, HILL, START

EVENTFUL = [name for name in LAWS if name != "lloyd-ode"]


def run(law, until, network=None):
    return dwell.simulate(
        BOX, HILL, START, law, until=until, seed=5, network=network, sample_every="off"
    )


@pytest.mark.parametrize("network", [None, Network(loss=0.3, delay=0.13)], ids=["", "lossy"])
@pytest.mark.parametrize("name", EVENTFUL)
def test_it_goes_on_bit_for_bit(name, network, tmp_path):
    whole = run(LAWS[name], 1.6, network)
    run(LAWS[name], 0.9, network).save(tmp_path / "run.nc")
    kept = dwell.load_run(tmp_path / "run.nc")
    rest = solve(kept.system, kept.arc.final, until=1.6)
    made = len(kept.events)
    assert 0 < made < len(whole.events)
    later = whole.events.take(slice(made, None))
    again = table_of(rest)
    for column in ("time", "agent", "positions", "holds", "next_at", "errors"):
        assert getattr(again, column).tobytes("F") == getattr(later, column).tobytes("F"), column
    for column in ("looked", "guaranteed", "sent", "received", "mark"):
        assert (again.count(column) == later.count(column)).all(), column
    assert (rest.final.positions == whole.arc.final.positions).all()


def test_a_differential_equation_goes_on_within_its_tolerance(tmp_path):
    whole = run(LAWS["lloyd-ode"], 3.0)
    run(LAWS["lloyd-ode"], 1.3).save(tmp_path / "run.nc")
    kept = dwell.load_run(tmp_path / "run.nc")
    rest = solve_continuous(kept.system, kept.arc.final, until=3.0)
    assert rest.stop.reason.ok
    assert rest.begins_at == 1.3
    for t in (1.3, 1.7, 3.0):
        assert rest.at(t).positions == pytest.approx(whole.positions(t), abs=1e-8)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["self-triggered-centroid", "event-triggered"])
def test_states_in_the_middle_know_what_was_known_then(name, tmp_path):
    whole = run(LAWS[name], 0.8)
    whole.save(tmp_path / "run.nc")
    kept = dwell.load_run(tmp_path / "run.nc")
    for j in (40, 7, 0, len(kept.events)):
        one, other = whole.arc.states[j], kept.arc.states[j]
        assert one.time == other.time
        assert (one.positions == other.positions).all()
        assert [m.heard.keys() for m in one.mail] == [m.heard.keys() for m in other.mail]
        assert (one.samples_next is None) == (other.samples_next is None)
        assert one.samples_next is None or (one.samples_next == other.samples_next).all()
    rest = solve(kept.system, kept.arc.states[17], until=0.8)
    assert differing(table_of(rest), whole.events.take(slice(17, None))) in ([], ["promise"])


def test_files_of_the_second_format_have_no_marks_at_the_start(path):
    start = np.array([(0.3, 0.4), (0.32, 0.4), (3.0, 2.0)])
    law = SelfTriggered(v=0.5, tau_min=0.1, tau_max=1.0, scan=0.05)
    kept = dwell.simulate(BOX, HILL, start, law, until=1.0)
    assert kept.start.marks.any()
    kept.save(path)
    with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as data:
        assert data.attrs["dwell_format"] == 3
        old = data.load().copy(deep=True)
    old = old.assign(start_spent=(("agent", "kind"), old["start_spent"].values[:, :-1]))
    old.attrs["dwell_format"] = 2
    variables = {str(k): (v.dims, v.values) for k, v in old.variables.items()}
    old.attrs["digest"] = digest_of(variables, old.attrs)
    old.to_netcdf(path, engine="h5netcdf")
    again = dwell.load_run(path)
    assert (again.start.marks == kept.start.marks).all()
    assert dwell.check(again).ok


def test_two_runs_may_go_on_from_one_state():
    """Where looks are late, what is past is shared; neither run may see the other's."""
    network = Network(delay=0.5)
    whole = run(LAWS["timer"], 3.0, network)
    middle = whole.arc.states[20]
    faster = replace(middle.segments, hold=middle.segments.hold + 0.1)
    other = replace(middle, segments=faster)
    first = solve(whole.system, middle, until=3.0)
    solve(whole.system, other, until=3.0)
    second = solve(whole.system, middle, until=3.0)
    assert differing(table_of(first), table_of(second)) == []
    later = whole.events.take(slice(20, None))
    assert table_of(second).positions.tobytes("F") == later.positions.tobytes("F")


def test_the_time_taken_is_without_compiling_and_adds_up(tmp_path):
    from numba.core import event

    def slow(what, share):
        with event.trigger_event("numba:compile"):
            time.sleep(0.3)
            calls.append(what)

    def timed(solved):
        began, before = time.perf_counter(), len(calls)
        return solved(), time.perf_counter() - began - 0.3 * (len(calls) - before)

    calls = []
    scenario = run(LAWS["timer"], 1.0).scenario
    dwell.run_scenario(scenario, out=tmp_path / "first.nc")  # all kernels and libraries are loaded
    file = tmp_path / "run.nc"
    one, first = timed(lambda: dwell.run_scenario(scenario, out=file, progress=slow))
    assert len(calls) > 3
    assert 0.0 < one.details.wall_seconds < first
    more, second = timed(lambda: dwell.resume_run(file, horizon=1.5, progress=slow))
    assert one.details.wall_seconds < more.details.wall_seconds < first + second
