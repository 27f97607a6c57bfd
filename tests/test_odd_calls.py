"""Arguments of a wrong type: accepted where the meaning is plain, else refused in one sentence."""

import numpy as np
import pytest

import dwell
from dwell.agents import Network
from dwell.plotting import save_figures
from dwell.scenario import dump_toml, parse_scenario
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
        assert dwell.simulate_many(given).costs == dwell.simulate_many(scenario).costs
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
