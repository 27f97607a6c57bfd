"""Asking those near gives the same bits as asking everybody."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, Gaussian, Polygon, Uniform
from dwell._kernels import bins
from dwell.density.ground import ground_of
from dwell.density.looking import look_many

SQUARE = Box((0, 0), (1, 1))
SLANTED = Polygon([(5e6, 0), (5e6 + 3, 1), (5e6 + 2, 4), (5e6 - 1, 2)])


def grid(count):
    side = int(np.sqrt(count))
    x, y = np.meshgrid((np.arange(side) + 0.5) / side, (np.arange(side) + 0.5) / side)
    return np.column_stack([x.ravel(), y.ravel()])


def crowd(count):
    """Most of them in one corner, a few far away."""
    rng = np.random.default_rng(1)
    return np.vstack([1e-4 * rng.uniform(0, 1, (count - 5, 2)), rng.uniform(0, 1, (5, 2))])


def row(count):
    return np.column_stack([(np.arange(count) + 0.5) / count, np.full(count, 0.5)])


def pairs(count):
    """Everybody twice, a hair apart."""
    one = np.random.default_rng(2).uniform(0.01, 0.98, (count // 2, 2))
    return np.vstack([one, one + 1e-12])


PLACES = {
    "random": np.random.default_rng(0).uniform(0, 1, (300, 2)),
    "lattice": grid(256),
    "crowd": crowd(150),
    "row": row(120),
    "pairs": pairs(200),
    "sparse-side": np.random.default_rng(3).uniform(0, 1, (200, 2)) * (1.0, 0.02),
}


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


def test_everybody_is_in_exactly_one_bin():
    places = PLACES["crowd"]
    agents = bins.sort(
        bins.make_frame(*SQUARE.bounds, len(places)), *np.ascontiguousarray(places.T)
    )
    assert sorted(agents.who) == list(range(len(places)))
    assert agents.first[-1] == len(places)
    assert (np.diff(agents.first) >= 0).all()
