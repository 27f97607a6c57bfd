"""Asking those near gives the same bits as asking everybody."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dwell import Box, Gaussian, Polygon, Uniform
from dwell._kernels import bins
from dwell._kernels._jit import njit
from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import weighted_region
from tests.crowds import PLACES

SQUARE = Box((0, 0), (1, 1))
SLANTED = Polygon([(5e6, 0), (5e6 + 3, 1), (5e6 + 2, 4), (5e6 - 1, 2)])


@pytest.mark.parametrize(
    "weight", [Uniform(), Gaussian((0.3, 0.7), rate=5.0)], ids=["even", "hill"]
)
@pytest.mark.parametrize("name", PLACES)
def test_cells_at_rest(name, weight):
    places = PLACES[name]
    ground = weighted_region(SQUARE, weight)
    everybody = np.arange(len(places))
    none = np.zeros_like(everybody)
    near = measure_cells(ground, places[None], none, everybody)
    turned = everybody[::-1]  # not in order: everybody is asked
    brute = measure_cells(ground, places[None], none, turned)
    for field in (
        "error",
        "mass",
        "polar",
        "neighbors",
        "nearest",
        "log_scale",
        "empty",
        "coincident",
    ):
        assert np.array_equal(getattr(near, field), getattr(brute, field)[::-1]), field


def test_far_from_the_origin():
    rng = np.random.default_rng(5)
    places = np.array([p for p in rng.uniform((5e6 - 1, 0), (5e6 + 3, 4), (900, 2))
                       if SLANTED.contains(p[None])[0]])  # fmt: skip
    assert len(places) > 200
    ground, everybody = weighted_region(SLANTED, Uniform()), np.arange(len(places))
    near = measure_cells(ground, places[None], np.zeros_like(everybody), everybody)
    brute = measure_cells(ground, places[None], np.zeros_like(everybody), everybody[::-1])
    assert np.array_equal(near.error, brute.error[::-1])


@pytest.mark.parametrize("name", PLACES)
def test_everybody_is_in_exactly_one_bin(name):
    x, y = np.ascontiguousarray(PLACES[name].T)
    found = bins.make_bins(len(x))
    bins.put_at_rest(x, y, found)
    count = int(found.frame[bins.COLUMNS] * found.frame[bins.ROWS])
    assert count <= 2 * len(x)
    assert sorted(found.who) == list(range(len(x)))
    assert found.first[0] == 0
    assert found.first[count] == len(x)
    assert (np.diff(found.first[: count + 1]) >= 0).all()
    left, low, side, columns, rows = found.frame
    across = np.clip((x - left) // side, 0, columns - 1)
    up = np.clip((y - low) // side, 0, rows - 1)
    for b in range(count):
        inside = found.who[found.first[b] : found.first[b + 1]]
        assert (np.diff(inside) > 0).all()
        assert (up[inside] * columns + across[inside] == b).all()


@njit
def listed(k, radius, found, x, y, near):
    return bins.gather_at_rest(k, 1, -1.0, radius, x.shape[0], found, x, y, near)


def test_no_agent_within_the_stated_limit_is_missing_however_places_are_rounded():
    """Agents on the lines between bins, far from the origin, at the rim of the disc."""
    rng = np.random.default_rng(1)
    missing = 0
    for _ in range(200):
        x, y = rng.uniform(0.0, 1.0, (2, 400))
        x[:2] = y[:2] = [0.0, 1.0]  # they keep the frame
        x, y = np.array([x, y]) + rng.choice([-0.3, 0.0, 1e3], (2, 1))
        found = bins.make_bins(len(x))
        bins.put_at_rest(x, y, found)
        left, low, side, columns, rows = found.frame
        x[2:200] = left + side * rng.integers(1, columns, 198)
        y[200:] = low + side * rng.integers(1, rows, 200)
        x[100:300:2] = x[300]
        y[100:300:3] = y[100]
        bins.put_at_rest(x, y, found)
        there, up = (bins.in_order(values, found) for values in (x, y))
        near = bins.make_near(len(x))
        for k in np.flatnonzero((found.who >= 100) & (found.who < 300))[::5]:
            d2 = (there[: len(x)] - there[k]) ** 2 + (up[: len(x)] - up[k]) ** 2
            beside = (up[: len(x)] == up[k]) | (there[: len(x)] == there[k])
            radius = math.sqrt(float(rng.choice(d2[(d2 > 0.0) & beside], 1)[0]))
            count, limit = listed(int(k), radius, found, there, up, near)
            missing += int((d2 <= limit).sum()) - count
    assert missing == 0
