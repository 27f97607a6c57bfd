"""Rasters on keyframes."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell.cells.centroid_rate import centroid_rates
from dwell.cells.weighted_region import changing_region
from dwell.engine import run_compiled
from dwell.hybrid import simulate
from tests.rasters.test_runs import BOX, LAW, SCENARIO, START, raster

U = [(0, 0), (8, 0), (8, 6), (5, 6), (5, 3), (3, 3), (3, 6), (0, 6)]


def frames(interpolation: str = "constant", **more: str) -> dwell.MovingRaster:
    made = [raster(interpolation, seed) for seed in range(3)]
    return dwell.MovingRaster([0.0, 0.4, 1.0], made, **more)


@pytest.mark.parametrize("interpolation", ["constant", "bilinear"])
@pytest.mark.parametrize("site", [BOX, dwell.Region(U)])
def test_moments_between_keyframes_are_those_of_the_blended_values(interpolation, site):
    moving, ground = frames(interpolation), changing_region(site, frames(interpolation))
    run = dwell.simulate(site, moving, START, LAW, until=1.0, seed=2)
    for t in (0.0, 0.1, 0.4, 0.7, 1.0):
        share = t / 0.4 if t < 0.4 else (t - 0.4) / 0.6
        k = 0 if t < 0.4 else 1
        values = (1.0 - share) * moving.rasters[k].grid + share * moving.rasters[k + 1].grid
        blended = dwell.Raster(values, origin=(0, 0), pixel=0.1, interpolation=interpolation)
        expected = dwell.tessellate(site, run.positions(t), blended)
        assert run.errors(t) == pytest.approx(np.hypot(*expected.errors.T), abs=1e-12)
        assert ground.at(t).density.at(START) == pytest.approx(blended.at(START), rel=1e-13)
    assert dwell.check(run).ok


@pytest.mark.parametrize("site", [BOX, dwell.Region(U)])
def test_both_loops_give_the_same_bits(site):
    mixed = dwell.Mixture((dwell.Gaussian((4, 3), rate=0.2), frames()))
    system = dwell.simulate(site, mixed, START, LAW, until=0.01, seed=3).system
    begin = system.start(START)
    a, b = (run(system, begin, until=1.0).states[-1] for run in (run_compiled, simulate))
    assert a.segments.place.tobytes() == b.segments.place.tobytes()
    assert a.segments.hold.tobytes() == b.segments.hold.tobytes()


def test_steps_take_the_next_frame_at_once():
    moving = frames(between="step", after="hold")
    assert moving.now(0.39) is moving.rasters[0]
    assert moving.now(0.4) is moving.rasters[1]
    assert moving.now(7.0) is moving.rasters[2]


def test_rates_of_centroids_are_the_derivatives():
    ground, step = changing_region(BOX, frames()), 1e-6
    for t in (0.2, 0.6):
        before, after = (
            dwell.tessellate(BOX, START, ground.at(t + s).density).errors for s in (-step, step)
        )
        found = centroid_rates(ground, START, t)
        assert found == pytest.approx((after - before) / (2.0 * step), abs=1e-8)


def test_feed_forward_takes_frames():
    law = dwell.Timer(k1=1.0, nu=0.5, t1=0.1, t2=0.2, feedforward="own")
    assert dwell.check(dwell.simulate(BOX, frames(), START, law, until=1.0)).ok


@pytest.fixture
def folder(tmp_path):
    for k in range(3):
        np.save(tmp_path / f"{k}.npy", np.random.default_rng(k).random((60, 80)))
    names = '["0.npy", "1.npy", "2.npy"]'
    track = f"{{ times = [0, 0.4, 1.0], values = {names} }}"
    (tmp_path / "site.toml").write_text(SCENARIO.replace('"values.npy"', track))
    return tmp_path


def test_a_stored_run_holds_all_frames(folder, monkeypatch):
    run = dwell.run_scenario(folder / "site.toml", out=folder / "run.nc")
    assert len(run.scenario.density.sha256) == 3
    for k in range(3):
        (folder / f"{k}.npy").unlink()
    monkeypatch.setattr("dwell.scenario.rasters._KNOWN", {})
    monkeypatch.setattr("dwell.scenario.rasters._LATEST", [])
    again = dwell.load_run(folder / "run.nc")
    assert again.positions(1.0).tobytes() == run.positions(1.0).tobytes()
    assert dwell.check(folder / "run.nc").ok


def test_a_run_in_python_is_stored_with_its_frames(tmp_path):
    run = dwell.simulate(BOX, frames("bilinear"), START, LAW, until=1.0)
    run.save(tmp_path / "run.nc")
    again = dwell.load_run(tmp_path / "run.nc")
    assert again.errors(0.5).tolist() == run.errors(0.5).tolist()


def test_a_horizon_beyond_the_last_frame_is_refused(folder):
    with pytest.raises(dwell.InputError, match=r'density\.file\.times.*after = "hold"'):
        dwell.run_scenario(dwell.load_scenario(folder / "site.toml", ["run.horizon=2"]))
    held = (folder / "site.toml").read_text().replace("values = [", 'after = "hold", values = [')
    (folder / "site.toml").write_text(held.replace("horizon = 1.0", "horizon = 2.0"))
    assert dwell.run_scenario(folder / "site.toml").horizon == 2.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[0, 0.4, 1.0]", "[0, 1.0, 0.4]"), r"times\[2\] must be greater"),
        (("[0, 0.4, 1.0]", "[0, 1.0]"), "one value for each of the 2 times"),
        (('"1.npy"', '"none.npy"'), r"none\.npy.*there is no file"),
        (('"1.npy"', '"small.npy"'), r"small\.npy has .* \(2, 2\) instead of .*0\.npy.*one grid"),
        (('"1.npy"', "7"), r"density\.file\.values\[1\]"),
    ],
)
def test_bad_frames(folder, change, words):
    np.save(folder / "small.npy", np.ones((2, 2)))
    (folder / "bad.toml").write_text((folder / "site.toml").read_text().replace(*change))
    with pytest.raises(dwell.InputError, match=words):
        dwell.run_scenario(dwell.load_scenario(folder / "bad.toml"))


@pytest.mark.parametrize(
    ("times", "rasters", "words"),
    [
        ([0.0], [raster(), raster()], "1 times and 2 rasters"),
        ([0.0, 1.0], [raster(), 3], "frame 1 is 3"),
        ([0.0, 1.0], [raster(), raster("bilinear")], "frame 1 has interpolation"),
        ([1.0, 0.0], [raster(), raster()], r"times\[1\]"),
    ],
)
def test_bad_arguments(times, rasters, words):
    with pytest.raises(dwell.InputError, match=words):
        dwell.MovingRaster(times, rasters)
