"""Arguments of a wrong type: accepted where the meaning is plain, else refused in one sentence."""

import numpy as np
import pytest

import dwell
from dwell.agents import Network
from dwell.plotting import save_figures
from dwell.scenario import dump_toml, parse_scenario
from tests.odd_values import faults_of, good_calls, odd_values, truths_taken
from tests.test_refused_calls import PLACES, SCENARIO, SQUARE, started, timer


@pytest.fixture(scope="module")
def run():
    return dwell.simulate(SQUARE, None, PLACES[:2], timer(), until=1.0, sample_every=0.25)


def test_a_scenario_may_be_a_path_a_mapping_or_itself(tmp_path):
    file = tmp_path / "site.toml"
    file.write_text(dump_toml(SCENARIO), encoding="utf-8")
    scenario = parse_scenario(SCENARIO)
    wanted = dwell.run_scenario(scenario)
    for given in (file, str(file), SCENARIO):
        assert (dwell.run_scenario(given).events.time == wanted.events.time).all()
        costs, same = (dwell.simulate_many(one)["cost.final"] for one in (given, scenario))
        assert costs == same
        assert dwell.design(given, run=False, samples=0).setting.agents == 2
        assert dwell.optimize(given, starts=1).agents == 2
        found = dwell.compare(given, {"timer": timer()}, workers=1)
        assert (found.runs["timer"].events.time == wanted.events.time).all()
    assert len(dwell.simulate_many([file, scenario])) == 2
    assert dwell.load_scenario(file, "run.horizon=2").run.horizon == 2.0
    with pytest.raises(dwell.InputError, match="key=value"):
        dwell.load_scenario(file, 3)


def test_a_run_may_be_a_path(run, tmp_path):
    file = tmp_path / "run.nc"
    run.save(file)
    for given in (file, str(file), run):
        assert dwell.check(given).ok
        assert len(save_figures(given, tmp_path / "out", names="cost")) == 1
    film = dwell.animate(file, tmp_path / "run.gif", seconds=0.2, fps=10, size=(160, 160))
    assert film.is_file()


def test_a_damaged_file_is_checked_and_not_refused(run, tmp_path):
    import xarray as xr

    file = tmp_path / "run.nc"
    run.save(file)
    with xr.load_dataset(file, engine="h5netcdf", decode_times=False) as data:
        data["event_agent"][0] = 99
        data.to_netcdf(tmp_path / "odd.nc", engine="h5netcdf")
    assert not dwell.check(tmp_path / "odd.nc").ok


def test_a_seed_may_be_left_to_chance():
    one, two = (started(seed=None) for _ in range(2))
    assert one.system.seed != two.system.seed
    again = started(seed=one.system.seed)
    assert (one.events.next_at == again.events.next_at).all()
    assert started().system.seed == 0


def test_run_scenario_takes_a_seed_in_the_place_of_the_scenarios():
    own, other = dwell.run_scenario(SCENARIO), dwell.run_scenario(SCENARIO, seed=7)
    assert (own.system.seed, other.system.seed) == (5, 7)
    assert other.scenario.run.seed == 7
    large = 123456789012345678901234567890
    assert dwell.run_scenario(SCENARIO, seed=large).system.seed == large


def test_numpy_and_fractions_are_numbers(run):
    from decimal import Decimal
    from fractions import Fraction

    for t in (np.float32(0.5), np.int64(0), Fraction(1, 2), np.array(0.5), [Decimal("0.5")]):
        assert np.isfinite(run.positions(t)).all()
        assert np.isfinite(run.timers(t)).all()
    assert run.arc.at(np.float64(0.5)).time == 0.5
    assert Network(loss=np.float32(0.5)).loss == 0.5


# Of these each call takes a while; the rest takes every value.
SLOW = {
    "animate", "check", "compare", "design", "export_gis", "export_html", "export_mcap", "load_run",
    "optimize", "player", "power_weights", "resume_run", "run_scenario", "simulate",
    "simulate_many",
}  # fmt: skip
NO_ODD_CALLS = {
    # results, what laws exchange, errors; run_sweep and run_fleet start processes
    "Command", "DwellError", "Information", "InputError", "Interrupted", "Observation", "Run",
    "Scenario", "Site", "Tessellation", "Traits", "run_fleet", "run_sweep",
}  # fmt: skip


def test_every_public_callable_is_called_oddly():
    callables = {name for name in dwell.__all__ if callable(getattr(dwell, name))}
    assert set(good_calls()) == callables - NO_ODD_CALLS
    assert len(odd_values()) >= 130


@pytest.mark.parametrize("name", sorted(set(good_calls()) - SLOW))
def test_odd_values_are_accepted_or_refused_in_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(faults_of(name)) == []


@pytest.mark.parametrize("name", sorted(SLOW))
def test_some_odd_values_are_accepted_or_refused_in_one_sentence(name, tmp_path, monkeypatch):
    """A tenth of the values for each parameter, others for the next one."""
    monkeypatch.chdir(tmp_path)
    assert list(faults_of(name, every=10)) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sorted(SLOW))
def test_all_odd_values_of_slow_calls(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(faults_of(name)) == []


@pytest.mark.parametrize("name", sorted(good_calls()))
def test_true_and_false_are_no_numbers(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(truths_taken(name)) == []


ACCEPTED_ONCE = [
    "design(SCENARIO, samples=0, run=False, lipschitz=True)",
    "design(SCENARIO, samples=0, run=False, lipschitz='1')",
    "design(SCENARIO, samples=0, run=False, lipschitz=np.timedelta64(1, 's'))",
    "design(SCENARIO, samples=2**63, run=False)",
    "optimize(SQUARE, None, 2, starts=2**63)",
    "Ball((True, 0.0), 1.0)",
    "Switch(at=1.0, arrive=True)",
    "export_gis(run, 'x.gpkg', frames=2**63)",
    "Ball((0, 0), bytearray(b'x'))",
    "Ball((0, 0), memoryview(b'x'))",
    "tessellate(SQUARE, [np.ma.masked, 0.5])",
    "tessellate(SQUARE, np.ma.masked_all((1, 2)))",
    "simulate_many(SCENARIO, seeds=b'abc')",
    "Switch(at=1.0, leave=pd.DataFrame())",
    "Switch(at=1.0, leave={})",
    "simulate(SQUARE, None, PLACES, timer(), until=0.1, switches={})",
    "simulate(SQUARE, None, PLACES, timer(), until=0.1, sensors='')",
    "compare(SCENARIO, ['timer'], levels=b'abc')",
    "compare(SCENARIO, ['timer'], match='no')",
    "compare(SCENARIO, ['timer'], finished=5)",
    "check(run, thorough='yes')",
    "load_run('run.nc', even_if_damaged='yes')",
    "run_scenario(SCENARIO, watch=5)",
    "Lloyd(k2=np.timedelta64(1, 's'))",
    "Circle((0, 0), 1.0, 5e-324)",
    "animate(run, 'x.gif', fps=1e308)",
    "animate(run, 'x.gif', seconds=2**63)",
    "load_run('x' * 5000)",
]


@pytest.mark.parametrize("call", ACCEPTED_ONCE)
def test_what_means_nothing_is_refused(call, run):
    import pandas as pd

    names = {"np": np, "pd": pd, "run": run, "SCENARIO": SCENARIO, "SQUARE": SQUARE}
    names |= {"PLACES": PLACES, "timer": timer, **{n: getattr(dwell, n) for n in dwell.__all__}}
    with pytest.raises(dwell.InputError) as caught:
        eval(call, names)
    assert len(str(caught.value)) < 300
