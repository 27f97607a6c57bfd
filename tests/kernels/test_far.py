"""Kernels end for every number, and give what plain Python gives: far turns, peaks and bins."""

import json
import math

import numpy as np
import pytest

import dwell
from dwell._kernels import _jit
from dwell._kernels.common.cell_table import MASS, PLANAR, STATUS
from dwell._kernels.common.tracks import value_on_track
from tests.plain import printed

TURNS = [0.3, -0.3, 1e9 + 0.25, -1e15 - 0.25, 2.0**53, 2.0**63, -(2.0**64), 1e19, -1e300, math.inf]
PROGRAM = f"""
import json, math, numpy as np
from dwell._kernels import _jit
from dwell._kernels.common.cell_table import MASS, PLANAR, STATUS
from dwell._kernels.common.tracks import CIRCLE, value_on_track
from dwell._kernels.polygon.cell_list import bin_of
def placed(x, frame):
    return bin_of(x, 0.6, frame)
if _jit.ENABLED:
    placed = _jit.load().njit(placed)
inf = math.inf
rows = np.array([[0.0, 0.0], [1.0, 1.0]])
found = [
    [value_on_track(i, float(t), CIRCLE, 0, 2, np.array([1.0, 0.0]), rows) for i in (0, 1)]
    for t in {TURNS}
]
frame = np.zeros(8)
frame[:5] = 0.0, 0.0, 0.25, 4.0, 4.0
places = [placed(x, frame) for x in (0.3, 1e10, 1e30, -1e30, 1e300, inf, -inf)]
print(json.dumps([found, places]))
"""


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled")
def test_places_beyond_all_whole_numbers_are_the_same_compiled_and_plain():
    compiled, plain = (json.loads(printed(PROGRAM, jit)) for jit in (True, False))
    assert compiled == plain
    turns, places = plain
    for (x, y), turn in zip(turns, TURNS, strict=True):
        assert math.hypot(x, y) == pytest.approx(1.0)
        if abs(turn) < 1e9:
            assert (x, y) == pytest.approx((math.cos(math.tau * turn), math.sin(math.tau * turn)))
    assert places[2:] == [places[1], places[2] - 3, places[1], places[1], places[2] - 3]


@pytest.mark.parametrize("period", [1e-20, -1e-20, 1e-300])
def test_a_circle_with_more_turns_than_whole_numbers_ends(period):
    center = dwell.Circle((2.0, 2.0), 1.0, period)
    assert value_on_track(0, 3.0, *center.table[:1], 0, 2, *center.table[1:]) <= 3.0
    density = dwell.Moving(dwell.Gaussian, center=center, rate=1.0)
    law = dwell.Timer(k1=0.3, nu=0.1, t1=0.2, t2=0.4)
    run = dwell.simulate(
        dwell.Box((0, 0), (4, 4)), density, [(0.5, 0.5), (1.5, 0.7), (3, 3)], law, until=1.0
    )
    assert np.isfinite(run.positions(1.0)).all()
    assert dwell.check(run).ok


def test_a_circle_whose_speed_is_beyond_all_numbers_is_refused():
    with pytest.raises(dwell.InputError, match=r"period .* is 5e-324; .* speed"):
        dwell.Circle((2.0, 2.0), 1.0, 5e-324)


@pytest.mark.parametrize("center", [math.inf, -math.inf, math.nan, 1e308])
def test_a_peak_that_is_nowhere_has_no_mass(center):
    """No scenario gives such a center; a kernel must still end, as nothing interrupts it."""
    from dwell._kernels.polygon import entry_points as kernel
    from dwell._kernels.polygon.buffers import make_scratch
    from dwell.cells.weighted_region import weighted_region

    box, peaks = dwell.Box((0, 0), (1, 1)), [dwell.Gaussian((0.5, 0.5), rate=r) for r in (1.0, 9.0)]
    terms = weighted_region(box, dwell.Mixture(tuple(peaks))).terms
    places = np.array([[0.2, 0.7]]), np.array([[0.3, 0.6]])
    rows = np.zeros(2, dtype=np.int64), np.arange(2), np.zeros(1)
    corners, out = np.ascontiguousarray(box.vertices.T), np.empty((2, PLANAR))
    masses = []
    for lost in ((), (0,), (0, 1)):
        far = terms._replace(gaussians=terms.gaussians.copy())
        far.gaussians[list(lost), 1] = center
        given = (*rows, *places, *corners, far, None, out, make_scratch(2, 4))
        kernel.measure_few(0, 2, *given)
        masses.append(np.where(out[:, STATUS] == 0, out[:, MASS], 0.0))
    assert (masses[2] == 0.0).all() or not np.isfinite(masses[2]).all()
    assert not (masses[1] > masses[0]).any()


@pytest.mark.parametrize("pixel", [1e-12, 1e-17, 1e-100])
@pytest.mark.parametrize("interpolation", ["constant", "bilinear"])
def test_a_raster_too_small_to_be_told_from_a_point_ends(pixel, interpolation):
    raster = dwell.Raster(
        np.ones((4, 4)), origin=(0, 0), pixel=pixel, interpolation=interpolation, outside=0.0
    )
    cells = dwell.tessellate(dwell.Box((0, 0), (1, 1)), [(0.9, 0.9), (0.2, 0.7)], raster)
    assert (cells.masses <= 17.0 * pixel**2).all()
    assert np.isinf(cells.mass_errors[0])
