"""What a stranger types in other dimensions than two: understood, or refused in one sentence."""

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Ellipsoid, Gaussian, Interval, Mixture, Polygon, Polynomial, Polytope

CUBE = Box((0, 0, 0), (1, 1, 1))
SQUARE = Box((0, 0), (1, 1))
LINE = Interval(0, 1)
HILL = Gaussian(center=(0.1, 0.2, 0.3), rate=1.0)
FLAT_WALLS = [[1, 0], [-1, 0], [0, 1], [0, -1]]

REFUSED = {
    "text for a corner": (lambda: Box("a", "b"), "list of finite numbers, one per dimension"),
    "no corner": (lambda: Box([], []), "list of finite numbers, one per dimension"),
    "a corner that is no number": (lambda: Box((0, 0, np.nan), (1, 1, 1)), "three finite numbers"),
    "corners that disagree": (lambda: Box((0, 0, 0), (1, 1)), "3 coordinates and upper"),
    "a flat box": (lambda: Box((0, 0, 0), (1, 1, 0)), "lower < upper"),
    "vertices in space of a polygon": (
        lambda: dwell.tessellate([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0.1, 0.1, 0.1)]),
        "Polytope",
    ),
    "no workspace": (lambda: dwell.tessellate(None, [0.1]), "Interval, Box, Polytope, Ball"),
    "a ball beyond its digits": (lambda: Ball((1e18, 0, 0), 1), "nearer to 0"),
    "an ellipsoid beyond its digits": (lambda: Ellipsoid((0, 1e17), (100, 1)), "nearer to 0"),
    "flat half-spaces": (
        lambda: Polytope.from_halfspaces(FLAT_WALLS, [1, -1, 1, 1]),
        "leave nothing but a flat between them; loosen one of them",
    ),
    "flat vertices": (
        lambda: Polytope([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]),
        "lie in one plane",
    ),
    "a center of nothing": (lambda: Gaussian(center=(), rate=1), "one per dimension, is needed"),
    "a center without a number": (
        lambda: Gaussian(center=(1, 2, np.nan), rate=1),
        "a list of finite numbers, one per dimension, is needed",
    ),
    "terms that disagree": (
        lambda: Polynomial([[0, 0, 0, 1.0], [1, 0, 1.0]]),
        "like the first term [0, 0, 0, 1.0], 3 powers and a coefficient are needed",
    ),
    "a term without powers": (lambda: Polynomial([[1.0]]), "one power per dimension"),
    "no terms": (lambda: Polynomial([]), "powers, one per dimension, and a coefficient"),
    "an origin elsewhere": (lambda: Polynomial([[0, 0, 1.0]], origin=3), "two finite numbers"),
    "one power in space": (
        lambda: dwell.tessellate(CUBE, [(0.5, 0.5, 0.5)], Polynomial([[1, 1.0]])),
        "one of 1 coordinate, but the workspace has 3 dimensions",
    ),
    "a hill of space in the plane": (
        lambda: dwell.tessellate(SQUARE, [(0.5, 0.5)], HILL),
        "one of 3 coordinates, but the workspace has 2 dimensions",
    ),
    "a hill of space in a disc": (
        lambda: dwell.tessellate(Ball((0, 0), 1), [(0.5, 0.5)], HILL),
        "one of 3 coordinates, but the workspace has 2 dimensions",
    ),
    "a part of space in the plane": (
        lambda: dwell.tessellate(SQUARE, [(0.5, 0.5)], Mixture((dwell.Uniform(), HILL))),
        "one of 3 coordinates, but the workspace has 2 dimensions",
    ),
    "moments of it": (
        lambda: dwell.moments(SQUARE, HILL),
        "3 coordinates, but the workspace has 2",
    ),
    "half an agent": (lambda: dwell.optimize(CUBE, None, 3.5), "positions with 3 coordinates each"),
    "no agent": (lambda: dwell.optimize(LINE, None, 0), "positions with 1 coordinate each"),
    "agents of the plane": (
        lambda: dwell.tessellate(CUBE, [(0.5, 0.5)]),
        "a triple [x, y, z] is needed in space",
    ),
    "a place of the plane": (
        lambda: dwell.geometry.guaranteed_cell(CUBE, (0.5, 0.5), [(0.2, 0.2, 0.2)], 0.1),
        "three finite numbers [x, y, z] are needed",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused_in_words(case):
    ask, words = REFUSED[case]
    with pytest.raises(dwell.InputError) as caught:
        ask()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.code


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
