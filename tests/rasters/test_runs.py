"""Runs on rasters: both loops, scenarios, stored runs, and the independent check."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell.agents import CoverageSystem
from dwell.engine import run_compiled
from dwell.hybrid import simulate
from dwell.verify.reference_centroid import reference_moments

BOX = dwell.Box((0, 0), (8, 6))
LAW = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2)
START = np.array([(1.0, 1.0), (2.0, 5.0), (7.0, 3.0), (4.0, 2.0)])
SCENARIO = """
[workspace]
kind = "box"
lower = [0, 0]
upper = [8, 6]
[density]
kind = "raster"
file = "values.npy"
origin = [0, 0]
pixel = 0.1
rows = "north first"
[agents]
start = [[1, 1], [2, 5], [7, 3], [4, 2]]
[controller]
kind = "timer"
k1 = 1.0
nu = 0.5
t1 = 0.1
t2 = 0.2
[run]
horizon = 1.0
seed = 1
record = { sample_every = 0.1 }
"""


def raster(interpolation: str = "constant", seed: int = 0) -> dwell.Raster:
    values = np.random.default_rng(seed).random((60, 80))
    return dwell.Raster(values, origin=(0, 0), pixel=0.1, interpolation=interpolation)


@pytest.fixture
def folder(tmp_path):
    values = np.random.default_rng(0).random((60, 80))
    np.save(tmp_path / "values.npy", values)
    (tmp_path / "site.toml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.parametrize("interpolation", ["constant", "bilinear"])
def test_both_loops_give_the_same_bits(interpolation):
    system = CoverageSystem(BOX, raster(interpolation), LAW, len(START), 3)
    start = system.start(START)
    ours, other = (run(system, start, until=1.0) for run in (run_compiled, simulate))
    a, b = ours.states[-1], other.states[-1]
    assert a.segments.place.tobytes() == b.segments.place.tobytes()
    assert a.segments.hold.tobytes() == b.segments.hold.tobytes()


@pytest.mark.parametrize("interpolation", ["constant", "bilinear"])
def test_the_reference_agrees(interpolation):
    mixed = dwell.Mixture((raster(interpolation), dwell.Gaussian((4, 3), rate=0.2)))
    for density in (raster(interpolation), mixed):
        found = dwell.tessellate(BOX, START, density)
        for p in range(len(START)):
            mass, offset = reference_moments(BOX, START, p, density)
            assert mass == pytest.approx(found.masses[p], rel=1e-11)
            assert offset == pytest.approx(found.errors[p], abs=1e-10)


def test_a_stored_run_needs_no_other_file(folder):
    dwell.run_scenario(folder / "site.toml", out=folder / "run.nc")
    (folder / "values.npy").unlink()
    report = dwell.check(folder / "run.nc")
    assert report.ok
    longer = dwell.resume_run(folder / "run.nc", horizon=1.5)
    np.save(folder / "values.npy", np.random.default_rng(0).random((60, 80)))
    whole = dwell.load_scenario(folder / "site.toml", ["run.horizon=1.5"])
    straight = dwell.run_scenario(whole)
    assert longer.positions(1.5).tobytes() == straight.positions(1.5).tobytes()


def test_a_run_in_python_is_stored_with_its_raster(tmp_path):
    run = dwell.simulate(BOX, raster("bilinear"), START, LAW, until=0.5)
    run.save(tmp_path / "run.nc")
    assert (
        dwell.load_run(tmp_path / "run.nc").positions(0.5).tolist() == run.positions(0.5).tolist()
    )


def test_a_large_raster_stays_in_its_file(folder, monkeypatch):
    monkeypatch.setattr("dwell.results.dataset.MOST_BYTES", 100)
    dwell.run_scenario(folder / "site.toml", out=folder / "run.nc")
    assert dwell.check(folder / "run.nc").ok
    np.save(folder / "values.npy", np.random.default_rng(1).random((60, 80)))
    monkeypatch.setattr("dwell.scenario.rasters._KNOWN", {})
    for use in (dwell.resume_run, dwell.check):
        with pytest.raises(dwell.InputError, match=r"not those that density\.sha256 names"):
            use(folder / "run.nc")


def test_zeros_in_part_are_flagged_where_a_cell_is_empty():
    values = np.zeros((60, 80))
    values[:, :30] = 1.0
    part = dwell.Raster(values, origin=(0, 0), pixel=0.1)
    run = dwell.simulate(BOX, part, START, LAW, until=0.5)
    assert any(flag.code == "empty-cells" for flag in run.flags)
    assert dwell.check(run).ok


def test_worlds_switch_between_rasters():
    later = dwell.Switch(at=0.5, density=raster(seed=4))
    run = dwell.simulate(BOX, raster(), START, LAW, until=1.0, switches=[later])
    assert dwell.check(run).ok


def test_sensors_have_rasters_of_their_own():
    sensors = [dwell.Sensor(name, raster(seed=k), (k, k + 1)) for k, name in enumerate("ab")]
    run = dwell.simulate(BOX, None, START[:3], LAW, until=1.0, sensors=sensors)
    assert dwell.check(run).ok


def test_equal_shares_of_a_raster():
    weights = dwell.power_weights(BOX, START, raster())
    found = dwell.tessellate(BOX, START, raster(), weights=weights)
    whole = raster().values.sum() * 0.01
    assert found.masses == pytest.approx(np.full(4, whole / 4.0), rel=1e-9)


@pytest.mark.parametrize("site", [BOX, dwell.Region([(0, 0), (8, 0), (8, 6), (4, 2), (0, 6)])])
def test_optimize_on_a_raster(site):
    best = dwell.optimize(site, raster(), 3, starts=2, seed=1)
    found = dwell.tessellate(site, best.positions, raster())
    assert best.cost == pytest.approx(found.cost, rel=1e-12)
    assert np.abs(found.errors).max() < 1e-6


def test_validate_says_what_values_count_as(folder):
    from tests.cli.shell import dwell as shell

    done = shell("validate", str(folder / "site.toml"))
    assert "values.npy count per unit of area" in done.out
    (folder / "site.toml").write_text(SCENARIO.replace("pixel", 'values = "amount"\npixel'))
    assert "per unit of area" not in shell("validate", str(folder / "site.toml")).out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('rows = "north first"', ""), "density.rows is missing"),
        (("pixel = 0.1", ""), "density.pixel is missing"),
        (("values.npy", "absent.npy"), "there is no file"),
        (("values.npy", "site.toml.npy"), "no array of NumPy"),
        (("values.npy", "values.tif"), "is no GeoTIFF, NetCDF or PNG"),
    ],
)
def test_bad_tables(folder, change, words):
    (folder / "site.toml.npy").write_text("no array")
    (folder / "values.tif").write_text("no raster")
    (folder / "bad.toml").write_text(SCENARIO.replace(*change))
    with pytest.raises(dwell.InputError, match=words):
        dwell.run_scenario(folder / "bad.toml")
