"""Intervals, and boxes in any dimension."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell import Ball, Box, Interval, Polytope
from dwell.errors import InputError
from dwell.geometry import as_workspace, interval_of, is_flat, polygon_of


def test_what_an_interval_is():
    line = Interval(-1, 3)
    assert (line.dimension, line.volume, line.diameter) == (1, 4.0, 4.0)
    assert line.vertices.tolist() == [[-1.0], [3.0]]
    assert [b.tolist() for b in line.bounds] == [[-1.0], [3.0]]
    assert ((line.normals * line.vertices).sum(axis=1) == line.offsets).all()
    assert line.repairs == ()


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_nearest_point_of_an_interval(x, y):
    low, high = min(x, y), max(x, y)
    if not high - low > 1e-60:
        return
    line = Interval(low, high)
    places = np.array([[x - 1.0], [y + 1.0], [0.5 * (x + y)]])
    nearest = line.nearest(places)
    assert ((nearest >= low) & (nearest <= high)).all()
    missed = np.abs(nearest - places)[:, 0] - line.outside_by(places)
    assert np.abs(missed).max() <= 1e-160  # squares of less are 0
    assert line.contains([[low], [high]]).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_boxes_in_any_dimension(n):
    lower, upper = -np.arange(1.0, n + 1), np.arange(2.0, n + 2)
    box = Box(lower, upper)
    assert box.dimension == n
    assert box.volume == pytest.approx(np.prod(upper - lower), rel=1e-15, abs=0.0)
    assert box.diameter == pytest.approx(np.sqrt(((upper - lower) ** 2).sum()), rel=1e-15, abs=0.0)
    assert box.vertices.shape == (2**n, n)
    assert box.contains(box.vertices).all()
    heights = box.vertices @ box.normals.T - box.offsets
    assert heights.max() <= 1e-14
    for k, face in enumerate(box.faces):
        assert len(face) == 2 ** (n - 1)
        assert np.abs(heights[face, k]).max() <= 1e-14
    far = np.full((1, n), 100.0)
    assert box.nearest(far).tolist() == [upper.tolist()]
    assert box.outside_by(far)[0] == pytest.approx(np.sqrt(((100 - upper) ** 2).sum()))


def test_faces_of_a_cuboid_go_round_seen_from_outside():
    box = Box((0, 0, 0), (1, 2, 3))
    for face, normal in zip(box.faces, box.normals, strict=True):
        corners = box.vertices[face]
        for k in range(4):
            a, b, c = corners[k], corners[(k + 1) % 4], corners[(k + 2) % 4]
            assert np.cross(b - a, c - b) @ normal > 0


def test_a_planar_box_is_its_polygon():
    box = Box((0, 0), (2, 1))
    assert polygon_of(box) is box.polygon
    assert (box.area, box.volume) == (2.0, 2.0)
    assert box.vertices.tolist() == [[0, 0], [2, 0], [2, 1], [0, 1]]
    assert box.normals.tolist() == [[0, -1], [1, 0], [0, 1], [-1, 0]]


@pytest.mark.parametrize(
    "region",
    [
        Interval(0, 2),
        Box([0], [2]),
        Polytope([[2], [0], [1]]),
        Polytope(halfspaces=([[1], [-2], [1]], [2, 0, 5])),
        Ball([1], 1),
    ],
)
def test_everything_on_the_line_is_an_interval(region):
    line = interval_of(as_workspace(region))
    assert (line.lower, line.upper) == (0.0, 2.0)
    assert region.vertices.tolist() == [[0.0], [2.0]]


def test_parts_that_are_not_there_are_named():
    for region in (Box((0, 0, 0), (1, 1, 1)), Ball((0, 0, 0), 1)):
        with pytest.raises(InputError, match="has no area"):
            _ = region.area
        assert not hasattr(region, "area")
    with pytest.raises(InputError, match="polygon"):
        polygon_of(Interval(0, 1))
    with pytest.raises(InputError, match="interval"):
        interval_of(Box((0, 0), (1, 1)))
    assert is_flat(Box((0, 0, 0), (1, 1, 1)))
    assert not is_flat(Ball((0, 0), 1))


def test_points_of_another_dimension_are_refused():
    with pytest.raises(InputError) as fault:
        Box((0, 0, 0), (1, 1, 1)).contains(np.zeros((4, 2)))
    assert fault.value.code == "agents.dimension"
