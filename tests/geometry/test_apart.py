"""A quick way to tell that no two points coincide."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dwell.geometry.voronoi import are_apart


@given(
    points=st.tuples(st.integers(1, 9), st.integers(1, 6)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([-0.0, 0.0, 1.0, -2.5]))
    )
)
def test_points_that_coincide_are_never_called_apart(points):
    different = len({tuple(map(float, row + 0.0)) for row in points}) == len(points)
    assert different or not are_apart(points)


def test_points_of_a_lattice_and_random_ones_are_seen_to_be_apart():
    lattice = np.stack(np.meshgrid(np.arange(200.0), np.arange(200.0)), axis=-1).reshape(-1, 2)
    assert are_apart(lattice)
    for dimension in (1, 2, 3, 5):
        assert are_apart(np.random.default_rng(0).random((50_000, dimension)))
    assert are_apart(np.empty((0, 2)))
    assert are_apart(np.zeros((1, 2)))
