"""From the front door in other dimensions than two: plain numbers on the line, moments of cells."""

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Ellipsoid, Gaussian, Interval, Polygon, Polynomial, Polytope


def test_on_the_line_plain_numbers_will_do():
    """In Python as in a scenario file."""
    assert Box(0, 2).interval.upper == Ball(1, 1).interval.upper == 2.0
    assert Ellipsoid(1, 1).interval.lower == 0.0
    assert Gaussian(center=1, rate=0.5) == Gaussian(center=(1,), rate=0.5)
    assert Gaussian(center=1, covariance=2.0) == Gaussian(center=(1,), covariance=((2.0,),))
    assert Polynomial([(1, 1.0)], origin=3) == Polynomial([(1, 1.0)], origin=(3,))
    assert dwell.tessellate(Box(0, 2), [0.5, 1.5]).masses == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("region", "volume", "second"),
    [
        (Interval(0, 2), 2.0, 2 / 3),
        (Box((0, 0), (2, 1)), 2.0, 2 * (4 + 1) / 12),
        (Polytope([(0, 0), (2, 0), (2, 1), (0, 1)]), 2.0, 2 * (4 + 1) / 12),
        (Ball((1, 2), 2), 4 * np.pi, 8 * np.pi),
        (Box((0, 0, 0), (1, 2, 3)), 6.0, 6 * (1 + 4 + 9) / 12),
        (Ball((1, 2, 3), 1), 4 * np.pi / 3, 4 * np.pi / 5),
        (Box((0,) * 4, (1,) * 4), 1.0, 4 / 12),
    ],
)
def test_moments_of_any_workspace(region, volume, second):
    found = dwell.moments(region)
    lower, upper = region.bounds
    assert found.mass == pytest.approx(volume, rel=1e-10, abs=0.0)
    assert found.second_moment == pytest.approx(second, rel=1e-9, abs=0.0)
    assert np.allclose(found.centroid, 0.5 * (lower + upper), rtol=0.0, atol=1e-9)
    assert dwell.moments(region, dwell.Uniform(3.0)).mass == pytest.approx(
        3 * volume, rel=1e-10, abs=0.0
    )


def test_moments_of_a_polygon_have_not_changed():
    corners = [(0, 0), (4, 0), (5, 3), (1, 4)]
    weight = Gaussian(center=(2, 2), rate=0.3)
    one, other = dwell.moments(corners, weight), dwell.moments(Polygon(corners), weight)
    assert one.mass == other.mass
    assert np.array_equal(one.offset + np.array(corners[0]), one.centroid)
