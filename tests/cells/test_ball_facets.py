"""Narrow hills on the faces of cells in balls and ellipsoids, against closed forms and mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest

from dwell import Ball, Ellipsoid
from dwell.cells.cones import borders
from dwell.cells.weighted_region import weighted_region
from dwell.density import Gaussian, Mixture, Uniform

UNIT = Ball((0, 0, 0), 1)
TURN = np.array([[2, 2, 1], [-2, 1, 2], [1, -2, 2]]) / 3  # orthonormal rows
EGG = Ellipsoid((1.0, 2.0, -1.0), (3.0, 1.0, 0.5), TURN)
PAIR = np.array([(0.3, 0.0, 0.0), (-0.3, 0.0, 0.0)])  # their face is the unit disc x = 0
WIDTHS = [1e-2, 1e-3, 1e-5]
GOOD = 1e-9


def faces(density, places=PAIR, shape=UNIT):
    return borders(weighted_region(shape, density), places)


def mass_of(density, places=PAIR, shape=UNIT):
    """Mass of the first facet."""
    return weight_of(borders(weighted_region(shape, density), places, agents=1))


def weight_of(found, k=0):
    return found.m0[k] * math.exp(found.log_scales[found.agent[k]])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("place", [(0.31, 0.17), (0.05, -0.9)])
def test_a_hill_within_a_face(width, place):
    """All of it lies on the face but for less than e**-50."""
    center = np.array([0.0, *place])
    found = faces(Gaussian(center, 1 / width**2))
    weight = math.pi * width**2
    for k in range(2):
        middle = center - PAIR[found.agent[k]]
        own = np.diag([0.0, width**2 / 2, width**2 / 2])
        assert found.m0[k] == pytest.approx(weight, rel=GOOD)
        assert found.m1[k] == pytest.approx(weight * middle, rel=GOOD, abs=weight * GOOD)
        expected = weight * (middle[:, None] * middle + own)
        assert found.m2[k] == pytest.approx(expected, rel=GOOD, abs=weight * GOOD * width)


@pytest.mark.parametrize("width", WIDTHS)
def test_hills_beside_the_face_and_on_a_plain(width):
    rate = 1 / width**2
    beside = Gaussian((0.7 * width, -0.4, 0.23), rate)
    on = Gaussian((0.0, 0.3, 0.3), 4 * rate, weight=3.0)
    found = mass_of(Mixture([beside, on, Uniform(width**2)]))
    expected = math.pi * (width**2 * (math.exp(-0.49) + 3 / 4) + width**2)
    assert found == pytest.approx(expected, rel=GOOD)


def test_many_hills_of_many_widths():
    rng = np.random.default_rng(3)
    widths = 10 ** rng.uniform(-5, -1.5, 25)
    hills = [Gaussian((0.0, *rng.uniform(-0.5, 0.5, 2)), 1 / w**2, weight=1 / w) for w in widths]
    assert mass_of(Mixture(hills)) == pytest.approx(math.pi * widths.sum(), rel=GOOD)


@pytest.mark.parametrize("width", [1e-2, 1e-3])
@pytest.mark.parametrize("beyond", [-3.0, -0.5, 0.0, 2.0])
@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_hill_on_the_rim_of_a_face(width, beyond, turn):
    """Cut by the ball: along the rim by quadrature, across it by the error function."""
    away = 1 + beyond * width
    center = (0.0, away * math.cos(turn), away * math.sin(turn))
    found = faces(Gaussian(center, 1 / width**2))
    with mp.workdps(30):

        def across(u):
            edge = (mp.sqrt(1 - (u * width) ** 2) - away) / width
            return mp.exp(-u * u) * mp.erfc(-edge)

        total = mp.quad(across, [-9, -6, -4, -2, -1, 0, 1, 2, 4, 6, 9])
        expected = float(mp.sqrt(mp.pi) / 2 * width**2 * total)
    assert weight_of(found) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("width", [1e-2, 1e-3])
def test_a_ridge_cut_by_a_slanting_edge(width):
    """A hill whose middle is in a third cell: what the face has of it lies at the face's corner."""
    places = np.array([(0.3, 0.0, 0.0), (-0.3, 0.0, 0.0), (0.0, 0.6, 0.3)])
    edge = (0.6**2 + 0.3**2 - 0.3**2) / 2  # on x = 0: 0.6 y + 0.3 z <= edge
    size = math.hypot(0.6, 0.3)
    for depth in (0.5, 3.0, 6.0):
        away = edge / size + depth * width
        normal = np.array([0.6, 0.3]) / size
        center = (0.0, *(away * normal))
        found = faces(Gaussian(center, 1 / width**2), places)
        k = int(np.flatnonzero((found.agent == 0) & (found.other == 1))[0])
        expected = math.pi * width**2 * math.erfc(depth) / 2
        assert weight_of(found, k) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("scale", [1e-2, 1e-3])
def test_a_slanting_hill_in_an_ellipsoid(scale):
    """Not round, and turned against the face and the axes."""
    normal = np.array([0.3, -0.2, 0.4])
    places = EGG.center + np.array([normal, -normal])
    unit = normal / math.sqrt(normal @ normal)
    side = np.cross(unit, (1.0, 0.0, 0.0))
    side /= math.sqrt(side @ side)
    flat = np.array([side, np.cross(unit, side)])
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    spread = scale**2 * turn @ np.diag([1.0, 0.03, 0.2]) @ turn.T
    hill = Gaussian(EGG.center + 0.1 * flat[0], covariance=((spread + spread.T) / 2).tolist())
    found = mass_of(hill, places, EGG)
    form = flat @ (np.linalg.inv(spread) / 2) @ flat.T
    expected = math.pi / math.sqrt(np.linalg.det(form))
    assert found == pytest.approx(expected, rel=1e-8)
