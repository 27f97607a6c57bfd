"""Neighbour search by bins and by the tree: the bits of a search through all, at bounded work."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dwell import Box, Gaussian, Polygon, Uniform, tessellate
from dwell._kernels._jit import ENABLED, njit
from dwell._kernels.common.cell_table import PLANAR
from dwell._kernels.polygon.box_tree import AT_REST, build_at_rest, make_tree
from dwell._kernels.polygon.buffers import BRANCHES, make_scratch
from dwell._kernels.polygon.cell_list import (
    FEW,
    gather,
    in_order,
    make_bins,
    make_near,
    put_at_rest,
)
from dwell._kernels.polygon.entry_points import measure_all
from dwell._kernels.polygon.grid_stencil import touches_boundary
from dwell._types import columns
from dwell.cells.backend import measure_cells
from dwell.cells.polygon import outlines
from dwell.cells.weighted_region import weighted_region
from tests.crowds import LAYOUTS, PLACES

SQUARE = Box((0, 0), (1, 1))
COUNT = 401 if ENABLED else 141
FIELDS = ("error", "mass", "polar", "neighbors", "nearest", "log_scale", "empty", "coincident")


def assert_same_bits(workspace, positions, weight=None, step=1):
    """All cells at once against the cells of every `step`-th agent, each among all others."""
    ground, agents = weighted_region(workspace, weight or Uniform()), np.arange(len(positions))
    near = measure_cells(ground, positions[None], np.zeros_like(agents), agents)
    some = agents[::step][::-1]  # not in order: a search through all agents
    brute = measure_cells(ground, positions[None], np.zeros_like(some), some)
    for field in FIELDS:
        assert np.array_equal(getattr(near, field)[some], getattr(brute, field)), field
    return near


SOME = 1 if ENABLED else 10


@pytest.mark.parametrize(
    "weight", [Uniform(), Gaussian((0.3, 0.7), rate=5.0)], ids=["even", "gaussian"]
)
@pytest.mark.parametrize("name", PLACES)
def test_cells_by_bins(name, weight):
    assert_same_bits(SQUARE, PLACES[name], weight)


def test_cells_by_bins_far_from_the_origin():
    site = Polygon([(5e6, 0), (5e6 + 3, 1), (5e6 + 2, 4), (5e6 - 1, 2)])
    positions = np.random.default_rng(5).uniform((5e6 - 1, 0), (5e6 + 3, 4), (900, 2))
    positions = positions[site.contains(positions)]
    assert len(positions) > 200
    assert_same_bits(site, positions)


@pytest.mark.parametrize("name", PLACES)
def test_every_agent_is_in_exactly_one_bin(name):
    x, y = np.ascontiguousarray(PLACES[name].T)
    found = make_bins(len(x))
    put_at_rest(x, y, found)
    left, low, side, columns, rows = found.frame
    count = int(columns * rows)
    assert count <= 2 * len(x)
    assert sorted(found.who) == list(range(len(x)))
    assert found.first[0] == 0
    assert found.first[count] == len(x)
    assert (np.diff(found.first[: count + 1]) >= 0).all()
    across = np.clip((x - left) // side, 0, columns - 1)
    up = np.clip((y - low) // side, 0, rows - 1)
    for b in range(count):
        inside = found.who[found.first[b] : found.first[b + 1]]
        assert (np.diff(inside) > 0).all()
        assert (up[inside] * columns + across[inside] == b).all()


@njit
def listed(k, radius, found, x, y, near):
    near.x[0], near.y[0] = x[k], y[k]
    return gather(k, 0.0, 1, -1.0, radius, x.shape[0], 0.0, None, found, x, y, near)


def test_no_agent_within_the_stated_limit_is_missing_however_positions_are_rounded():
    """Agents on the lines between bins, far from the origin, at the edge of the disc."""
    rng = np.random.default_rng(1)
    missing = 0
    for _ in range(200):
        x, y = rng.uniform(0.0, 1.0, (2, 400))
        x[:2] = y[:2] = [0.0, 1.0]  # they keep the frame
        x, y = np.array([x, y]) + rng.choice([-0.3, 0.0, 1e3], (2, 1))
        found = make_bins(len(x))
        put_at_rest(x, y, found)
        left, low, side, columns, rows = found.frame
        x[2:200] = left + side * rng.integers(1, columns, 198)
        y[200:] = low + side * rng.integers(1, rows, 200)
        x[100:300:2] = x[300]
        y[100:300:3] = y[100]
        put_at_rest(x, y, found)
        there, up = (in_order(values, found) for values in (x, y))
        near = make_near(len(x))
        for k in np.flatnonzero((found.who >= 100) & (found.who < 300))[::5]:
            d2 = (there[: len(x)] - there[k]) ** 2 + (up[: len(x)] - up[k]) ** 2
            beside = (up[: len(x)] == up[k]) | (there[: len(x)] == there[k])
            radius = math.sqrt(float(rng.choice(d2[(d2 > 0.0) & beside], 1)[0]))
            count, limit = listed(int(k), radius, found, there, up, near)
            missing += int((d2 <= limit).sum()) - count
    assert missing == 0


@njit
def may_touch(b, frame, wx, wy):
    return touches_boundary(b, frame, wx, wy)


def test_bins_near_the_boundary_are_known_to_be_near():
    """Cells that a block of bins suffices for reach a bin and a half at most."""
    x, y = np.random.default_rng(2).uniform(0.0, 1.0, (2, 800))
    found = make_bins(len(x))
    put_at_rest(x, y, found)
    left, low, side, columns, rows = found.frame
    far = 0
    for tilt in (0.0, 0.3):
        corners = np.array([[0.0, 0.0], [1.0, tilt], [1.0, 1.0 + tilt], [0.0, 1.0]])
        site = Polygon(corners)
        wx, wy = np.ascontiguousarray(site.vertices.T)
        for b in range(int(columns * rows)):
            at = np.array([b % columns, b // columns])
            corner = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
            ends = np.array([left, low]) + side * (at + corner)
            gap = (site.offsets - ends @ site.normals.T).min()
            if gap <= 1.5 * side:
                assert may_touch(b, found.frame, wx, wy)
            far += not may_touch(b, found.frame, wx, wy)
    assert far > 100


@pytest.mark.parametrize("name", LAYOUTS)
def test_cells_have_the_bits_of_a_search_through_all_agents(name):
    assert_same_bits(SQUARE, LAYOUTS[name](COUNT), step=SOME)


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("name", sorted(set(LAYOUTS) | set(PLACES)))
def test_outlines_of_few_agents_have_the_bits_of_the_search(name, sharp, monkeypatch):
    places = (LAYOUTS[name](COUNT) if name in LAYOUTS else PLACES[name])[:: COUNT // 50]
    ground = weighted_region(SQUARE, Gaussian((0.3, 0.7), rate=5.0))
    table, cells = outlines(ground, places[:FEW], sharp=sharp)
    monkeypatch.setattr("dwell._kernels.polygon.cell_list.FEW", 0)
    searched, found = outlines(ground, cells.positions, sharp=sharp)
    assert table.tobytes() == searched.tobytes()
    for field in ("first", "vertices", "behind"):
        assert np.array_equal(getattr(cells, field), getattr(found, field)), field


@pytest.mark.parametrize("name", ["line", "parabola", "decades", "ring"])
def test_cells_far_from_the_origin(name):
    site = Polygon([(5e6, -3e6), (5e6 + 1, -3e6), (5e6 + 1.1, -3e6 + 1), (5e6 - 0.2, -3e6 + 1)])
    places = LAYOUTS[name](COUNT) + np.array([5e6, -3e6])
    assert_same_bits(site, places, Gaussian((5e6, -3e6), rate=3.0), SOME)


@pytest.mark.parametrize("seed", range(12 if ENABLED else 2))
def test_random_mixtures_of_layouts(seed):
    rng = np.random.default_rng(seed)
    names = rng.choice(list(LAYOUTS), 3, replace=False)
    places = np.vstack([LAYOUTS[name](COUNT)[: rng.integers(40, COUNT)] for name in names])
    places = np.unique(places + 1e-3 * rng.uniform(-1, 1, 2), axis=0)
    assert_same_bits(SQUARE, rng.permutation(places), step=SOME)


@pytest.mark.parametrize("name", sorted(set(LAYOUTS) - {"outside"}))
def test_crowded_cells_tile_the_workspace(name):
    masses = tessellate(SQUARE, LAYOUTS[name](COUNT)).masses
    assert masses.sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("per_leaf", [1, 8, 32])
@pytest.mark.parametrize("name", ["line", "parabola", "decades", "twins"])
def test_boxes_hold_their_agents(name, per_leaf):
    x, y = columns(LAYOUTS[name](COUNT))
    found = make_tree(len(x), per_leaf)
    build_at_rest(x, y, found)
    assert (np.diff(found.first) <= per_leaf).all()
    assert sorted(found.who) == list(range(len(x)))
    for q in range(len(x)):
        k = found.leaf[q]
        at = k - len(found.box)
        assert q in found.who[found.first[at] : found.first[at + 1]]
        while k > 0:
            k, slot = divmod(k - 1, BRANCHES)
            ox, oy, c, s, left, low, right, high = found.box[k, :8, slot]
            u, w = c * (x[q] - ox) + s * (y[q] - oy), c * (y[q] - oy) - s * (x[q] - ox)
            assert left <= u <= right
            assert low <= w <= high


def visits(places):
    """Boxes that searches in the tree visit, per agent, when all cells are measured."""
    x, y = columns(places)
    found = make_bins(len(x))
    put_at_rest(x, y, found)
    x, y = in_order(x, found), in_order(y, found)
    built = make_tree(len(places), AT_REST)
    build_at_rest(x, y, built)
    near, out = make_near(len(places)), np.empty((len(places), PLANAR))
    vertices, memory = columns(SQUARE.vertices), make_scratch(len(places), 4)
    measure_all(
        0, len(places), found, built, x, y, *vertices, Uniform().terms(), None, near,
        np.empty_like(out), out, np.empty(0), None, memory,
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
