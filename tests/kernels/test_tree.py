"""Agents on lines, on curves and in clusters: the bits of a search through all, at bounded work."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, Gaussian, Polygon, Uniform, tessellate
from dwell._kernels import bins, doors, tree
from dwell._kernels._jit import ENABLED
from dwell._kernels.scratch import make_scratch
from dwell._types import columns
from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import weighted_region
from tests.crowds import LAYOUTS

SQUARE = Box((0, 0), (1, 1))
COUNT = 401 if ENABLED else 141
FIELDS = ("error", "mass", "polar", "neighbors", "nearest", "log_scale", "empty", "coincident")


def assert_same_bits(workspace, places, weight=None):
    """All looks at once against looks of some agents, each among all others."""
    ground, everybody = weighted_region(workspace, weight or Uniform()), np.arange(len(places))
    near = measure_cells(ground, places[None], np.zeros_like(everybody), everybody)
    some = everybody[:: 1 if ENABLED else 10][::-1]  # not in order: a search through all agents
    brute = measure_cells(ground, places[None], np.zeros_like(some), some)
    for field in FIELDS:
        assert np.array_equal(getattr(near, field)[some], getattr(brute, field)), field


@pytest.mark.parametrize("name", LAYOUTS)
def test_cells_have_the_bits_of_a_search_through_all_agents(name):
    assert_same_bits(SQUARE, LAYOUTS[name](COUNT))


@pytest.mark.parametrize("name", ["line", "parabola", "decades", "ring"])
def test_cells_far_from_the_origin(name):
    site = Polygon([(5e6, -3e6), (5e6 + 1, -3e6), (5e6 + 1.1, -3e6 + 1), (5e6 - 0.2, -3e6 + 1)])
    places = LAYOUTS[name](COUNT) + np.array([5e6, -3e6])
    assert_same_bits(site, places, Gaussian((5e6, -3e6), rate=3.0))


@pytest.mark.parametrize("seed", range(12 if ENABLED else 2))
def test_random_mixtures_of_layouts(seed):
    rng = np.random.default_rng(seed)
    names = rng.choice(list(LAYOUTS), 3, replace=False)
    places = np.vstack([LAYOUTS[name](COUNT)[: rng.integers(40, COUNT)] for name in names])
    places = np.unique(places + 1e-3 * rng.uniform(-1, 1, 2), axis=0)
    assert_same_bits(SQUARE, rng.permutation(places))


@pytest.mark.parametrize("name", sorted(set(LAYOUTS) - {"outside"}))
def test_crowded_cells_tile_the_workspace(name):
    masses = tessellate(SQUARE, LAYOUTS[name](COUNT)).masses
    assert masses.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("per_leaf", [1, 8, 32])
@pytest.mark.parametrize("name", ["line", "parabola", "decades", "twins"])
def test_boxes_hold_their_agents(name, per_leaf):
    x, y = columns(LAYOUTS[name](COUNT))
    found = tree.make_tree(len(x), per_leaf)
    tree.build_at_rest(x, y, found)
    leaves = len(found.first) - 1
    assert (np.diff(found.first) <= per_leaf).all()
    assert sorted(found.who) == list(range(len(x)))
    for q in range(len(x)):
        k = found.leaf[q]
        place = list(found.who).index(q)
        at = k - (found.box.shape[1] - leaves)
        assert found.first[at] <= place < found.first[at + 1]
        while k >= 0:
            ox, oy, c, s, left, low, right, high = found.box[:8, k]
            u, w = c * (x[q] - ox) + s * (y[q] - oy), c * (y[q] - oy) - s * (x[q] - ox)
            assert left <= u <= right
            assert low <= w <= high
            k = (k - 1) // 8 if k else -1


def visits(places):
    """Boxes that searches in the tree visit, per agent, when all agents look."""
    x, y = columns(places)
    found = bins.make_bins(len(x))
    bins.put_at_rest(x, y, found)
    x, y = bins.in_order(x, found), bins.in_order(y, found)
    built = tree.make_tree(len(places), tree.AT_REST)
    tree.build_at_rest(x, y, built)
    near, out = bins.make_near(len(places)), np.empty((len(places), doors.COLUMNS))
    walls, memory = columns(SQUARE.vertices), make_scratch(len(places), 4)
    doors.look_all(
        0, len(places), found, built, x, y, *walls, Uniform().terms(), near, np.empty_like(out),
        out, np.empty(0), None, memory,
    )  # fmt: skip
    return near.visits[0] / len(places)


@pytest.mark.parametrize("name", sorted(set(LAYOUTS) - {"ring"}))
def test_work_does_not_grow_with_the_number_of_agents(name):
    few, many = (
        visits(LAYOUTS[name](count)) for count in ((2000, 8000) if ENABLED else (150, 600))
    )
    assert 0 < many < 250
    assert many < (2.0 if ENABLED else 4.0) * few + 10  # plain Python has time for small sets only


def test_evenly_spread_agents_need_no_tree():
    assert visits(np.random.default_rng(0).uniform(0, 1, (2000 if ENABLED else 200, 2))) == 0
