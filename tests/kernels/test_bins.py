"""Asking those near gives the same bits as asking everybody."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, Gaussian, Polygon, Uniform
from dwell._kernels import bins
from dwell.density.ground import ground_of
from dwell.density.looking import look_many
from tests.crowds import PLACES

SQUARE = Box((0, 0), (1, 1))
SLANTED = Polygon([(5e6, 0), (5e6 + 3, 1), (5e6 + 2, 4), (5e6 - 1, 2)])


@pytest.mark.parametrize(
    "weight", [Uniform(), Gaussian((0.3, 0.7), rate=5.0)], ids=["even", "hill"]
)
@pytest.mark.parametrize("name", PLACES)
def test_cells_at_rest(name, weight):
    places = PLACES[name]
    ground = ground_of(SQUARE, weight)
    everybody = np.arange(len(places))
    none = np.zeros_like(everybody)
    near = look_many(ground, places[None], none, everybody)
    turned = everybody[::-1]  # not in order: everybody is asked
    brute = look_many(ground, places[None], none, turned)
    for field in ("error", "mass", "polar", "neighbors", "nearest", "log_scale", "empty", "met"):
        assert np.array_equal(getattr(near, field), getattr(brute, field)[::-1]), field


def test_far_from_the_origin():
    rng = np.random.default_rng(5)
    places = np.array([p for p in rng.uniform((5e6 - 1, 0), (5e6 + 3, 4), (900, 2))
                       if SLANTED.contains(p[None])[0]])  # fmt: skip
    assert len(places) > 200
    ground, everybody = ground_of(SLANTED, Uniform()), np.arange(len(places))
    near = look_many(ground, places[None], np.zeros_like(everybody), everybody)
    brute = look_many(ground, places[None], np.zeros_like(everybody), everybody[::-1])
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
