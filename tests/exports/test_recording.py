"""Recorded runs: what they hold, and that the shipped one is that of today."""

from __future__ import annotations

import gzip
import importlib.util
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.exports.recording import recording_of

PAGE = Path(__file__).parents[2] / "page"


def header_of(packed: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a record, and what follows it."""
    body = gzip.decompress(packed)
    (length,) = struct.unpack_from("<I", body)
    return json.loads(body[4 : 4 + length]), body[4 + length :]


def test_the_shipped_recording_is_the_run_of_today() -> None:
    spec = importlib.util.spec_from_file_location("recordings", PAGE / "recordings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in module.RUNS:
        kept = (module.FOLDER / f"{name}.bin").read_bytes()
        assert len(kept) <= 300_000
        (then, planes), (now, made) = header_of(kept), header_of(module.recorded(name))
        assert now == then, "run page/recordings.py"
        assert made == planes


def test_a_recording_is_the_run_with_its_scenario_and_summary(two_hills: dwell.Run) -> None:
    header, planes = header_of(recording_of(two_hills))
    assert header["scenario"]["name"] == two_hills.scenario.name
    assert header["begin"]["agents"] == two_hills.agents == len(header["start"])
    assert header["events"]["count"] == len(two_hills.events)
    assert header["summary"]["events"]["total"] == len(two_hills.events)
    columns = [*header["events"]["columns"], *header["samples"]["columns"]]
    assert len(planes) == sum(np.prod(one["shape"]) * one["planes"] for one in columns)
    assert recording_of(two_hills) == recording_of(two_hills)


SITE = dwell.Polygon([[0, 0], [4, 0], [4, 3], [0, 3]])
START = [[1.0, 1.0], [3.0, 2.0]]


def test_a_run_without_events_cannot_be_played() -> None:
    run = dwell.simulate(SITE, None, START, dwell.Lloyd(), until=0.2, record="samples")
    with pytest.raises(dwell.InputError, match=r'record\.kind = "events"'):
        recording_of(run)


def test_a_run_that_no_file_describes_cannot_be_played() -> None:
    run = dwell.simulate(SITE, lambda z: 1.0 + z[..., 0], START, dwell.Lloyd(), until=0.2)
    with pytest.raises(dwell.InputError, match="no scenario file describes"):
        recording_of(run)


class TestRasters:
    """Rasters in files are drawn from values in the record."""

    LAW = dwell.Timer(k1=0.5, nu=0.5, t1=0.1, t2=0.3)

    def test_values_take_the_place_of_the_file(self) -> None:
        ramp = np.linspace(1.0, 4.0, 8)[None] * np.ones((6, 1))
        density = dwell.Raster(ramp, origin=(0, 0), pixel=0.5, interpolation="bilinear")
        run = dwell.simulate(SITE, density, START, self.LAW, until=0.5)
        table = header_of(recording_of(run))[0]["scenario"]["density"]
        assert "file" not in table
        values = np.array(table["inline"])
        assert values.shape == (96, 128)
        x = table["origin"][0] + (np.arange(128) + 0.5) * table["pixel"][0]
        points = np.column_stack([x, np.full(128, 1.5)])
        np.testing.assert_allclose(values[48], density.at(points), rtol=1e-4)

    def test_no_folder_of_this_machine_is_in_a_record(self, tmp_path: Path) -> None:
        np.save(tmp_path / "depth.npy", np.ones((3, 4)))
        (tmp_path / "a.toml").write_text(
            '[workspace]\nkind = "box"\nlower = [0, 0]\nupper = [4, 3]\n'
            '[density]\nkind = "raster"\nfile = "depth.npy"\norigin = [0, 0]\npixel = 1.0\n'
            'rows = "south first"\n[agents]\nstart = [[1, 1], [3, 2]]\n'
            '[controller]\nkind = "lloyd"\n[run]\nhorizon = 0.2\n'
        )
        run = dwell.run_scenario(tmp_path / "a.toml")
        body = gzip.decompress(recording_of(run))
        assert b"depth.npy" not in body
        assert str(tmp_path).encode() not in body

    def test_rasters_that_change_over_time_cannot_be_played(self) -> None:
        frames = [dwell.Raster(k * np.ones((3, 4)), origin=(0, 0), pixel=1.0) for k in (1.0, 2.0)]
        density = dwell.MovingRaster((0.0, 1.0), frames)
        run = dwell.simulate(SITE, density, START, self.LAW, until=0.5)
        with pytest.raises(dwell.InputError, match="which the page does not draw"):
            recording_of(run)
