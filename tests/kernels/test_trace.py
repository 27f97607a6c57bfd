"""Cells by gift wrapping: those of any other algorithm, or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell import Box, Gaussian, Polygon
from dwell._kernels._jit import njit
from dwell._kernels.common.cell_table import PLANAR
from dwell._kernels.polygon.buffers import EDGES, LINES, make_scratch
from dwell._kernels.polygon.entry_points import cell_of, measure_few, measure_many
from dwell._kernels.polygon.gift_wrap import DX, DY, OFFSET, fill_block, follow, trace_cell
from dwell.cells.weighted_region import weighted_region
from tests.kernels.test_neighbor_search import assert_same_bits
from tests.oracles import rational_cells

SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
SLANTED = [(-0.5, 0.0), (0.7, -0.6), (1.3, 0.3), (1.0, 1.1), (0.1, 1.2)]


def scattered(rng, count, hair):
    return rng.uniform(0.01, 0.99, (count, 2))


def clusters(rng, count, hair):
    """Five heaps, as wide as a hair."""
    middle = rng.uniform(0.1, 0.9, (5, 2))[rng.integers(0, 5, count)]
    return middle + np.clip(hair * rng.normal(size=(count, 2)), -0.09, 0.09)


def shaken_lattice(rng, count, hair):
    """Corners where four cells meet, but for a hair."""
    side = int(np.sqrt(count))
    x, y = np.meshgrid(np.arange(side) + 0.5, np.arange(side) + 0.5)
    return np.column_stack([x.ravel(), y.ravel()]) / side + 1e-3 * hair * rng.normal(
        size=(side * side, 2)
    )


def twins(rng, count, hair):
    """Two by two, a hair apart."""
    one = rng.uniform(0.01, 0.99, (count // 2, 2))
    return np.vstack([one, one + 1e-2 * hair * rng.normal(size=one.shape)])


def on_a_circle(rng, count, hair):
    angle = rng.uniform(0.0, 2.0 * np.pi, count)
    return 0.5 + 0.4 * np.column_stack([np.cos(angle), np.sin(angle)])


SHAPES = (scattered, clusters, shaken_lattice, twins, on_a_circle)


@settings(max_examples=60)
@given(
    shape=st.sampled_from(SHAPES),
    polygon=st.sampled_from([SQUARE, SLANTED]),
    far=st.sampled_from([0.0, 5e6]),
    power=st.integers(-12, -1),
    count=st.integers(70, 200),
    seed=st.integers(0, 2**32 - 1),
)
def test_candidates_and_all_agents_give_the_same_bits(shape, polygon, far, power, count, seed):
    rng = np.random.default_rng(seed)
    places = rng.permutation(np.unique(shape(rng, count, 10.0**power) + far, axis=0))
    assert_same_bits(Polygon([(x + far, y + far) for x, y in polygon]), places)


def corners_of(polygon, places, p):
    """(corners, labels) of one cell."""
    memory = make_scratch(len(places), len(polygon))
    (wx, wy), (xs, ys) = (np.ascontiguousarray(np.transpose(a)) for a in (polygon, places))
    n, _, _ = cell_of(p, xs, ys, wx, wy, memory)
    return np.column_stack([memory.x[:n], memory.y[:n]]), memory.label[:n].copy()


@pytest.mark.parametrize("polygon", [SQUARE, SLANTED], ids=["square", "slanted"])
def test_corners_are_right_to_the_last_digits(polygon):
    """In the frame of each agent, against rational arithmetic."""
    places = np.random.default_rng(4).uniform(0.05, 0.95, (25, 2))
    exact = rational_cells.tessellation(polygon, places)
    for p, reference in enumerate(exact):
        corners, _ = corners_of(polygon, places, p)
        x, y = corners.T
        area = 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())
        assert area == pytest.approx(float(reference.area), rel=3e-15, abs=0.0)


def test_a_trace_begins_on_the_nearest_line():
    """So that the order of corners does not depend on how the cell was found."""
    places = np.random.default_rng(5).uniform(0.2, 0.8, (30, 2))
    for p in range(len(places)):
        _, label = corners_of(SQUARE, places, p)
        gap = np.linalg.norm(places - places[p], axis=1)
        gap[p] = np.inf
        if 0.5 * gap.min() < min(places[p].min(), 1.0 - places[p].max()):
            assert label[0] == gap.argmin()


def test_corners_of_the_workspace_are_kept():
    corners, labels = corners_of(SQUARE, [(0.3, 0.4)], 0)
    assert labels.tolist() == [-4, -1, -2, -3]  # the left edge is nearest
    assert corners.tolist() == [[-0.3, 0.6], [-0.3, -0.4], [0.7, -0.4], [0.7, 0.6]]


@njit
def wrap(first, m, s):
    return follow(first, fill_block(m, s.line), s.line, s.line_bits, s.chain)


@pytest.mark.parametrize("count", [1, 2, *range(3, EDGES + 4)])
def test_both_ways_round_meet_once_and_all_are_listed_in_order(count):
    """Lines round a polygon: as many as fit, odd or even."""
    angle = 2.0 * np.pi * np.arange(count) / count
    buffers = make_scratch(count, 0)
    shuffled = np.random.default_rng(count).permutation(count)
    buffers.line[DX, :count] = np.cos(angle)[shuffled]
    buffers.line[DY, :count] = np.sin(angle)[shuffled]
    buffers.line[OFFSET, :count] = 0.5
    found = wrap(0, count, buffers)
    assert found == (count if 3 <= count <= EDGES else 0)
    assert ((shuffled[buffers.chain[:found]] - shuffled[0]) % count).tolist() == list(range(found))


@pytest.mark.parametrize("count", [EDGES - 2, EDGES + 2, LINES + 8])
def test_more_edges_or_lines_than_fit(count):
    """An agent within a ring of others: its cell has as many edges as they are."""
    angle = 2.0 * np.pi * (np.arange(count) + 0.3) / count
    ring = (0.3 + 0.001 * (np.arange(count) % 2))[:, None]
    places = np.vstack([(0.51, 0.5), 0.5 + ring * np.column_stack([np.cos(angle), np.sin(angle)])])
    near = assert_same_bits(Box((0, 0), (1, 1)), places)
    exact = rational_cells.tessellation(SQUARE, places)
    assert near.mass[0] == pytest.approx(float(exact[0].area), rel=1e-14, abs=0.0)


@njit
def traced(m, wx, s):
    return trace_cell(m, 0.0, 0.0, wx, wx, s.x, s.y, s.label, s)


@pytest.mark.parametrize(("aside", "corners"), [(1e-3, 4), (3e-9, 4), (3e-10, 0), (1e-13, 0)])
def test_a_line_that_passes_a_corner_too_closely_ends_the_trace(aside, corners):
    """Four agents bound a quadrilateral; the bisector with a fifth passes one of its corners."""
    buffers, far = make_scratch(5, 0), 2.0 + aside
    for j, (dx, dy) in enumerate([(2.0, 0.1), (-0.1, 2.0), (-2.0, 0.0), (0.0, -1.9), (far, far)]):
        buffers.line[: OFFSET + 1, j] = dx, dy, 0.5 * (dx * dx + dy * dy)
        buffers.behind[j] = j
    corner = np.linalg.solve([[2.0, 0.1], [-0.1, 2.0]], buffers.line[OFFSET, :2])
    buffers.line[OFFSET, 4] = far * corner.sum() + aside * corner @ corner
    assert traced(5, np.empty(0), buffers)[0] == corners


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("hair", [1e-12, 1e-6, 1e-2])
def test_few_agents_get_the_bits_of_many(shape, hair):
    rng = np.random.default_rng(7)
    vertices = np.array(SLANTED)
    for count in (1, 2, 9, 30, 64):
        points = shape(rng, count, hair)
        x, y = (np.ascontiguousarray(points[None, :, k]) for k in range(2))
        agents = np.arange(len(points))
        ground = weighted_region(Polygon(SLANTED), Gaussian((0.4, 0.3), 3.0))
        few, many = np.empty((2, len(points), PLANAR))
        for measure, out in ((measure_few, few), (measure_many, many)):
            scratch = make_scratch(len(points), len(vertices))
            edges = (np.ascontiguousarray(vertices[:, k]) for k in range(2))
            rows = 0 * agents, agents, np.zeros(1)
            measure(0, len(points), *rows, x, y, *edges, ground.terms, None, out, scratch)
        assert few.tobytes() == many.tobytes()
