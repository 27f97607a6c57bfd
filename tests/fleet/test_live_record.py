"""The record of a live run: stored, read back, shown, drawn and exported."""

import hashlib
import json

import numpy as np
import pytest

import dwell
from dwell._netcdf import read_netcdf
from dwell.errors import InputError
from dwell.live.faults import Faults
from dwell.live.settings import LiveSettings
from tests.cli.shell import dwell as command
from tests.fleet.fleets import copied, record_of, run_from, scenario, template


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A live run, and its file."""
    slow = LiveSettings(margin=0.05, silence=5.0, top_speed=0.25)
    live = record_of(scenario(), slow, faults=Faults(loss=0.5, seed=2))
    live = copied(live, uncertainty=1e-4, dropped={"size": 3, "seal": 1}, cut=((2, 0),))
    live.samples["sent_at"][10:] = 1.0 / np.arange(10.0, len(live.samples))
    path = tmp_path_factory.mktemp("live") / "run.nc"
    run = run_from(scenario(), live)
    run.save(path)
    return run, path


def test_it_is_read_back_bit_for_bit(stored):
    run, path = stored
    back = dwell.load_run(path)
    for name in ("samples", "beliefs", "counts", "shifts"):
        one, other = getattr(run.details.live, name), getattr(back.details.live, name)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    for name in ("settings", "uncertainty", "exact", "dropped", "cut"):
        assert getattr(run.details.live, name) == getattr(back.details.live, name)
    for name, column in run.events.columns().items():
        assert np.array_equal(column, back.events.columns()[name]), name
    assert np.array_equal(run.start.first, back.start.first)
    for name, values in run.start.segments.parts().items():
        assert np.array_equal(values, getattr(back.start.segments, name)), name
    assert np.array_equal(run.metrics.costs, back.metrics.costs)
    assert back.intact
    assert json.dumps(back.summary()) == json.dumps(run.summary())


def test_times_of_other_clocks_are_kept(tmp_path):
    live = record_of(template("switching-site", "run.horizon=31"))
    shifts = np.where(live.samples["time"] > 0.0, 1.0 / 3.0, 0.0)
    case = template("switching-site", "run.horizon=32")
    run_from(case, copied(live, shifts=shifts)).save(tmp_path / "run.nc")
    back = dwell.load_run(tmp_path / "run.nc").details.live
    assert back.samples.tobytes() == live.samples.tobytes()
    assert np.array_equal(back.times, live.samples["time"] + shifts)


def test_clocks_that_could_not_be_compared_are_null_in_json(stored, tmp_path):
    run = run_from(scenario(), copied(stored[0].details.live, uncertainty=np.inf))
    run.save(tmp_path / "run.nc")
    back = dwell.load_run(tmp_path / "run.nc")
    assert back.details.live.uncertainty == np.inf
    shown = command("show", tmp_path / "run.nc", "--json")
    assert shown.json["live"]["clock_uncertainty"] is None
    assert command("show", tmp_path / "run.nc").code == 0
    assert command("export", tmp_path / "run.nc", "--html", tmp_path / "run.html").code == 0


@pytest.mark.parametrize("name", ["live_boot", "belief_age", "live_begin_position", "live_shift"])
def test_the_digest_covers_it(stored, tmp_path, name):
    import h5py

    path = tmp_path / "run.nc"
    path.write_bytes(stored[1].read_bytes())
    with h5py.File(path, "r+") as file:
        file[name][0] = file[name][0] + 1
    assert dwell.load_run(path).intact is False


def test_simulated_runs_have_nothing_of_it(tmp_path):
    run = dwell.run_scenario(scenario(), out=tmp_path / "run.nc", progress=False)
    assert run.details.live is None
    assert "live" not in run.summary()
    variables, attributes = read_netcdf(tmp_path / "run.nc")
    assert not [name for name in variables if name.startswith(("live", "belief"))]
    assert "live" not in attributes
    assert "fleet" not in json.loads(attributes["scenario"])  # which older versions do not know


def test_it_can_be_saved_again(stored, tmp_path):
    dwell.load_run(stored[1]).save(tmp_path / "again.nc")
    first, second = (dwell.load_run(p).details.live for p in (stored[1], tmp_path / "again.nc"))
    assert first.beliefs.tobytes() == second.beliefs.tobytes()


def test_its_numbers(stored):
    found = stored[0].summary()["live"]
    assert (found["agents"], found["boots"]) == (6, 6)
    assert found["samples"] == len(stored[0].events) + 6
    assert found["interventions"]["speed limit"] > 0
    assert found["dropped"] == {"size": 3, "seal": 1}
    assert repr(stored[0]).startswith("<Live run of Timer: 6 agents")


def test_show_says_that_it_is_live(stored):
    shown = command("show", str(stored[1])).out
    assert "6 agents, 6 boots" in shown
    assert "0 gaps over T2" in shown
    assert "3 size, 1 seal" in shown
    assert "speed limit" in shown


def test_it_cannot_be_resumed(stored):
    before = hashlib.sha256(stored[1].read_bytes()).digest()
    with pytest.raises(InputError, match="live fleet"):
        dwell.resume_run(stored[1], horizon=9.0, progress=False)
    assert hashlib.sha256(stored[1].read_bytes()).digest() == before


@pytest.mark.parametrize(
    "words",
    [
        ["plot", "{run}", "--out", "{to}/plots"],
        ["animate", "{run}", "--out", "{to}/film.gif", "--seconds", "1", "--fps", "3"],
        ["export", "{run}", "--html", "{to}/page.html"],
    ],
)
def test_what_reads_runs_reads_live_ones(stored, tmp_path, words):
    assert command(*(part.format(run=stored[1], to=tmp_path) for part in words)).code == 0


def test_its_states_and_its_world(stored):
    run = dwell.load_run(stored[1])
    assert np.array_equal(
        run.arc.states[-1].segments.place[int(run.events.agent[-1])], run.events.positions[-1]
    )
    assert run.positions([0.0, 1.7, 4.0]).shape == (3, 6, 2)
    assert len(run.to_xarray()["belief_agent"]) == len(run.details.live.beliefs)


def test_all_events_are_kept_whatever_the_scenario_says():
    case = scenario(run={"horizon": 2.0, "seed": 1, "record": {"kind": "summary"}})
    run = run_from(case, record_of(case))
    assert run.details.record == "events"
    assert len(run.events) == len(run.details.live.samples) - 6
