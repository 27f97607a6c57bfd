"""What rasters refuse, one by one."""

from __future__ import annotations

import numpy as np
import pytest

import dwell

GOOD = {"origin": (0, 0), "pixel": 1.0}
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("values", "changes", "code", "words"),
    [
        ([[1.0, NAN], [2.0, 3.0]], {}, "density.nonfinite", ["1 of 4", "0.25", "row 0, column 1"]),
        ([[1.0, 2.0], [INF, 3.0]], {"nodata": 0.0}, "density.nonfinite", ["row 1, column 0"]),
        ([[1.0, -2.0]], {}, "density.negative", ["1 of 2", "-2.0", "column 1"]),
        ([[0.0, 0.0]], {}, "density.zero", ["all 0"]),
        ([1.0, 2.0], {}, "density.raster", ["(2,)", "rows and columns"]),
        (np.ones((2, 2), dtype=complex), {}, "density.raster", ["complex128", "float32"]),
        (np.ones((2, 2), dtype=np.int64), {}, "density.raster", ["int64", "astype"]),
        ([["a"]], {}, "density.raster", ["type"]),
        ([[1.0]], {"pixel": 0.0}, "density.raster", ["pixel", "positive"]),
        ([[1.0]], {"pixel": (1.0, -1.0)}, "density.raster", ["pixel", "positive"]),
        ([[1.0]], {"origin": (0.0, INF)}, "density.raster", ["origin", "[x, y]"]),
        ([[1.0]], {"rows": "top"}, "density.raster", ["rows", "north first"]),
        ([[1.0]], {"interpolation": "cubic"}, "density.raster", ["bilinear"]),
        ([[1.0]], {"axes": [[1, 0], [2, 0]]}, "density.raster", ["axes", "parallel"]),
        ([[1.0]], {"nodata": -1.0}, "density.raster", ["nodata", "from 0 on"]),
        ([[1.0]], {"outside": 2.0}, "density.raster", ["outside", "0.0"]),
        ([[1.0]], {"coarsen": 0}, "density.raster", ["coarsen", "whole number"]),
        (np.ones((3, 4)), {"coarsen": 2}, "density.raster", ["3 rows", "divides"]),
    ],
)
def test_bad_input(values, changes, code, words):
    with pytest.raises(dwell.InputError) as caught:
        dwell.Raster(values, **(GOOD | changes))
    assert caught.value.code == code
    assert all(word in str(caught.value) for word in words)


def test_too_many_pixels():
    many = np.broadcast_to(np.ones(1, dtype=np.uint8), (20_000, 20_000))
    with pytest.raises(dwell.InputError, match=r"400000000 pixels.*coarsen = 2"):
        dwell.Raster(many, **GOOD)


def test_nodata_takes_the_place_of_nan():
    raster = dwell.Raster([[1.0, NAN]], nodata=4.0, **GOOD)
    assert dwell.moments(dwell.Box((0, 0), (2, 1)), raster).mass == pytest.approx(5.0)


def test_coarse_pixels_are_means():
    raster = dwell.Raster(np.arange(16.0).reshape(4, 4), coarsen=2, **GOOD)
    assert raster.values.tolist() == [[2.5, 4.5], [10.5, 12.5]]
    assert raster.sides == (2.0, 2.0)
    assert "2 x 2" in raster.repairs[0]


def test_a_workspace_that_is_not_covered():
    raster = dwell.Raster([[1.0, 3.0]], **GOOD)
    with pytest.raises(dwell.InputError, match=r"0\.5 of the workspace.*outside = 0\.0") as caught:
        dwell.moments(dwell.Box((0, 0), (2, 2)), raster)
    assert caught.value.code == "density.coverage"
    accepted = dwell.Raster([[1.0, 3.0]], outside=0.0, **GOOD)
    assert dwell.moments(dwell.Box((0, 0), (2, 2)), accepted).mass == pytest.approx(4.0)


def test_zeros_all_round_the_workspace():
    values = np.zeros((4, 4))
    values[0, 0] = 1.0
    with pytest.raises(dwell.InputError) as caught:
        dwell.moments(dwell.Box((2, 2), (4, 4)), dwell.Raster(values, **GOOD))
    assert caught.value.code == "density.zero"


def test_curved_workspaces_and_other_dimensions():
    raster = dwell.Raster([[1.0, 3.0]], **GOOD)
    with pytest.raises(dwell.InputError, match="curved sides"):
        dwell.moments(dwell.Ball((1, 0.5), 0.3), raster)
    with pytest.raises(dwell.InputError, match="2 coordinates"):
        dwell.moments(dwell.Interval(0, 1), raster)


def test_rasters_of_a_mixture_lie_on_one_grid():
    raster, finer = dwell.Raster([[1.0, 3.0]], **GOOD), dwell.Raster([[1.0]], **GOOD)
    moving = dwell.MovingRaster([0.0, 1.0], [raster, raster])
    with pytest.raises(dwell.InputError, match=r"raster 1 of a mixture has values of the shape"):
        dwell.Mixture((raster, finer))
    with pytest.raises(dwell.InputError, match="changes over time beside another raster"):
        dwell.Mixture((raster, moving))
    box = dwell.Box((0, 0), (2, 1))
    both = dwell.moments(box, dwell.Mixture((raster, dwell.Uniform(2.0), raster)))
    assert both.mass == pytest.approx(12.0, rel=1e-15)
    assert both.centroid == pytest.approx((14.0 / 12.0, 0.5), rel=1e-14)


def test_sensing_radii_are_refused():
    raster = dwell.Raster([[1.0, 3.0]], **GOOD)
    with pytest.raises(dwell.InputError, match="came with a raster"):
        dwell.tessellate(dwell.Box((0, 0), (2, 1)), [(0.5, 0.5)], raster, radius=0.2)


def test_laws_with_guaranteed_cells_are_refused():
    raster = dwell.Raster([[1.0, 3.0]], **GOOD)
    law = dwell.SelfTriggered()
    start = [(0.5, 0.5), (1.5, 0.5)]
    with pytest.raises(dwell.InputError, match="guaranteed cells") as caught:
        dwell.simulate(dwell.Box((0, 0), (2, 1)), raster, start, law, until=1.0)
    assert caught.value.code == "density.raster"
