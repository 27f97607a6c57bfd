"""Keys of a raster density in a scenario."""

from __future__ import annotations

import numpy as np
import pytest

import dwell
from dwell.errors import DwellError

VALUES = np.array([[-4.0, -1.0, 2.0], [-3.0, -6.0, -5.0]])


def scenario(**density):
    return {
        "workspace": {"kind": "box", "lower": [0, 0], "upper": [6, 2]},
        "density": {"kind": "raster", **density},
        "agents": {"start": [[1.0, 0.5], [4.0, 1.5]]},
        "controller": {"kind": "timer", "k1": 0.1, "nu": 0.1, "t1": 1.0, "t2": 2.0},
        "run": {"horizon": 2.0, "seed": 1},
    }


def placed(**more):
    return {"origin": [0, 0], "pixel": [2.0, 1.0], "rows": "south first", **more}


def test_scale_and_clip_change_the_values_of_a_file_of_numpy(tmp_path):
    np.save(tmp_path / "a.npy", VALUES)
    path = str(tmp_path / "a.npy")
    found = dwell.run_scenario(scenario(file=path, scale=-1, clip=0, **placed()))
    place = {"origin": (0, 0), "pixel": (2.0, 1.0)}
    same = dwell.Raster(np.maximum(-VALUES, 0.0), **place)
    cells = dwell.tessellate(dwell.Box((0, 0), (6, 2)), [(1.0, 0.5), (4.0, 1.5)], same)
    assert found.cost(0.0) == pytest.approx(cells.cost, rel=1e-14)
    both = dwell.run_scenario(scenario(file=path, scale=-2, clip=[3, 9], **placed()))
    other = dwell.tessellate(
        dwell.Box((0, 0), (6, 2)),
        [(1.0, 0.5), (4.0, 1.5)],
        dwell.Raster(np.clip(-2.0 * VALUES, 3.0, 9.0), **place),
    )
    assert both.cost(0.0) == pytest.approx(other.cost, rel=1e-14)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("scale", 0, "other than 0"),
        ("scale", "two", "a number"),
        ("clip", -1, "from 0 on"),
        ("clip", [2, 1], "larger"),
        ("clip", [1, 2, 3], "two"),
        ("clip", "all", "a number"),
        ("time", 1.5, "date"),
        ("time", True, "date"),
        ("time", -1, "date|at least|0"),
        ("variable", 3, "text"),
    ],
)
def test_wrong_values_of_these_keys_are_refused(tmp_path, key, value, says):
    np.save(tmp_path / "a.npy", -VALUES[1:])
    density = {"file": str(tmp_path / "a.npy"), **placed(), key: value}
    with pytest.raises(DwellError, match=says) as error:
        dwell.run_scenario(scenario(**density))
    assert f"density.{key}" in str(error.value)


def test_a_band_and_a_variable_are_one_choice(tmp_path):
    with pytest.raises(DwellError, match="beside band"):
        dwell.run_scenario(scenario(file="a.nc", band=1, variable="depth"))
