"""Kernels of space at their limits: agents on the faces of bins, and agents sorted by bins."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dwell._kernels.common.segments import COLUMNS
from dwell._kernels.space.neighbors import LOWER, SIDE, gather, make_grid, put_all, put_at_rest
from tests.agents.test_many_any import callable_from_python

AT_REST = (0.0, 1.0)  # time and longest motion; neither matters without velocities


def put(points: np.ndarray):
    """Agents without velocities in bins: the engine's table and the grid."""
    row, grid = np.zeros((len(points), COLUMNS[3])), make_grid(len(points), True)
    row[:, :3] = points
    put_all(*AT_REST, row, grid)
    return row, grid


def lowest_in(slab: int, axis: int, frame: np.ndarray) -> float:
    """The least number in a slab of bins along an axis."""
    low, side = frame[LOWER + axis], frame[SIDE]
    face = low + slab * side
    while math.floor((face - low) / side) < slab:
        face = math.nextafter(face, math.inf)
    while math.floor((math.nextafter(face, -math.inf) - low) / side) >= slab:
        face = math.nextafter(face, -math.inf)
    return face


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize(("along", "across"), [(0, 1), (1, 2), (0, 2), (1, 0)])
def test_no_agent_on_a_face_of_a_bin_is_missing(offset: float, along: int, across: int) -> None:
    """Two agents on both sides of a face, as near to it as floats are, and a radius apart.

    Rounding alone decides which bins the ball touches: the limit stays below the distance, and a
    radius that is larger by the error of rounding reaches it.
    """
    points = 100.0 * np.random.default_rng(1).uniform(0.0, 1.0, (300, 3)) + offset
    points[0], points[1] = offset, offset + 100.0
    frame = put(points)[1].frame
    rounding = 1e-11 * (300.0 + 3.0 * offset)
    p, q = 2, 3
    for slab, other in itertools.product(range(2, 5), range(1, 5)):
        points[p] = points[q] = offset + 50.0
        points[q, along] = lowest_in(slab, along, frame)
        points[p, along] = points[q, along] - 1.5 * frame[SIDE]
        points[q, across] = lowest_in(other, across, frame)
        points[p, across] = math.nextafter(points[q, across], -math.inf)
        row, grid = put(points)
        grid.x[0], grid.y[0], grid.z[0] = points[p]
        lists = np.empty(len(points)), np.empty(len(points), dtype=np.int64)
        gaps = points - points[p]
        squares = gaps[:, 0] * gaps[:, 0] + gaps[:, 1] * gaps[:, 1] + gaps[:, 2] * gaps[:, 2]
        distance = math.sqrt(squares[q])
        for radius, reaches in ((distance, False), (distance + rounding, True)):
            size, limit = callable_from_python(gather)(
                p, AT_REST[0], 0, -1.0, radius, AT_REST[1], row, grid, *lists
            )
            listed = np.column_stack([grid.x, grid.y, grid.z])[: size + 1]
            assert sorted(map(tuple, listed)) == sorted(map(tuple, points[squares <= limit]))
            assert bool(limit >= squares[q]) is reaches
            assert math.sqrt(limit) == pytest.approx(radius, abs=rounding)


@pytest.mark.parametrize("agents", [1, 2, 60])
def test_sorting_by_bins_touches_its_own_agents_alone(agents: int) -> None:
    """Arrays lie within longer ones, so that what is read or written beyond their ends shows."""
    beyond, grid = 4, make_grid(agents, True)
    points = np.random.default_rng(agents).uniform(-1.0, 2.0, (agents + beyond, 3))
    first, order, bins = (np.full(len(v) + beyond, -7) for v in (grid.first, grid.order, grid.bin))
    longer = grid._replace(first=first, order=order[:agents], bin=bins[:agents])
    put_at_rest(*np.ascontiguousarray(points.T), longer)
    lower, side, shape = grid.frame[:3], grid.frame[3], grid.frame[4:].astype(int)
    slabs = np.clip(np.floor((points[:agents] - lower) / side), 0, shape - 1).astype(int)
    wanted = np.ravel_multi_index(tuple(slabs.T), tuple(shape))
    assert bins.tolist() == [*wanted, *[-7] * beyond]
    assert order.tolist() == [*np.argsort(wanted, kind="stable"), *[-7] * beyond]
    ends = np.searchsorted(np.sort(wanted), np.arange(shape.prod() + 1))
    assert first.tolist() == [*ends, *[-7] * (len(first) - len(ends))]
    assert len(ends) <= len(grid.first)
