"""Slender cells over rasters: the stated errors of masses are those that occur, or more."""

import numpy as np
import pytest

import dwell
from tests.rasters.test_moments import exact_moments


def triangle(thin: float, far: float = 0.0) -> np.ndarray:
    return np.array([(0.0, 0.0), (1.0, 1.0), (1.0, 1.0 + thin)]) + far


@pytest.mark.parametrize("interpolation", ["constant", "bilinear"])
@pytest.mark.parametrize("power", range(12))
def test_masses_of_slender_triangles_are_as_uncertain_as_they_say(power, interpolation):
    thin = 10.0**-power
    rng = np.random.default_rng(power)
    for shape in ((1, 1), (3, 4), (40, 50)):
        raster = dwell.Raster(
            rng.uniform(1.0, 2.0, shape), origin=(-0.5, -0.5),
            pixel=(3.0 / shape[1], 4.0 / shape[0]), interpolation=interpolation,
        )  # fmt: skip
        site = dwell.Polygon(triangle(thin))
        known = exact_moments(raster, site.vertices)[0]
        found = dwell.moments(site, raster)
        assert abs(found.mass / known - 1.0) <= max(found.error, 1e-13)

        start = [(0.2, 0.2 + thin / 10.0), (0.7, 0.7 + thin / 10.0)]
        cells = dwell.tessellate(site, start, raster)
        least = float(cells.mass_errors.max())
        assert abs(float(cells.masses.sum()) / known - 1.0) <= max(least, 1e-13)
        if power >= 6:
            assert 0.0 < least < 1e5 * np.finfo(float).eps / thin


def test_cells_of_ordinary_shape_are_known_to_rounding():
    raster = dwell.Raster(np.ones((30, 40)), origin=(0, 0), pixel=0.1)
    start = np.random.default_rng(1).uniform((0, 0), (4, 3), (12, 2))
    assert not dwell.tessellate(dwell.Box((0, 0), (4, 3)), start, raster).mass_errors.any()


def test_the_digest_knows_whether_values_are_amounts():
    place = {"origin": (0, 0), "pixel": (2.0, 1.0)}
    one, other = (dwell.Raster([[1.0, 3.0]], **place, amounts=flag) for flag in (False, True))
    assert one.digest != other.digest


@pytest.mark.parametrize(
    "change",
    [
        {"origin": (1, 0)}, {"pixel": (1.0, 2.0)}, {"rows": "north first"},
        {"interpolation": "bilinear"}, {"amounts": True}, {"axes": [(0, 1), (-1, 0)]},
        {"outside": 0.0}, {"values": np.array([[1.0, 3.0], [2.0, 6.0]])},
        {"values": np.array([[1.0, 3.0], [2.0, 5.0]], dtype=np.float32)},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_the_digest_knows_every_option(change):
    given = {
        "values": np.array([[1.0, 3.0], [2.0, 5.0]]), "origin": (0, 0), "pixel": (2.0, 1.0),
        "rows": "south first",
    }  # fmt: skip
    assert dwell.Raster(**given).digest != dwell.Raster(**{**given, **change}).digest
