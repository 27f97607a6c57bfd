"""Peaks much narrower than their cells: masses have the digits that `mass_errors` says."""

import mpmath as mp
import numpy as np
import pytest

from dwell import Box, Gaussian, Mixture, Uniform, moments, tessellate
from tests.oracles.mp_moments import along_axis


def mass_of_box(lower, upper, center, rates):
    """Integral of exp(-sum rate (z - center)**2) over a box."""
    parts = zip(lower, upper, center, rates, strict=True)
    return mp.fprod(along_axis(*ends)[0] for ends in parts)


def peaks(rng, n, width):
    """Inside a unit box, about a wall, about a corner, and beyond a wall: near, and far."""
    inside = rng.uniform(0.0, 1.0, n)
    wall, beyond, far = inside.copy(), inside.copy(), inside.copy()
    wall[0] = rng.normal() * width
    beyond[0] = -4.0 * width * rng.random()
    far[-1] = 1.0 + 20.0 * width * rng.random()
    return [inside, wall, beyond, far, rng.normal(0.0, width, n)]


def assert_digits(mass, error, exact):
    """The mass is within its stated error, or 1e-13."""
    assert abs(float(mp.mpf(float(mass)) / exact - 1)) <= max(1e-13, error)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("decade", range(0, 13, 2))
def test_masses_beside_a_bisector_have_the_digits_that_are_stated(decade, n):
    rng = np.random.default_rng([decade, n])
    rate = 10.0**decade
    with mp.workdps(40):
        for center in peaks(rng, n, rate**-0.5):
            agents = np.tile(rng.uniform(0.1, 0.9, n), (2, 1))
            agents[:, 0] = np.sort(rng.uniform(0.0, 1.0, 2))
            middle = (mp.mpf(agents[0, 0]) + mp.mpf(agents[1, 0])) / 2
            found = tessellate(Box([0.0] * n, [1.0] * n), agents, Gaussian(tuple(center), rate))
            ends = [([0] * n, [middle, *[1] * (n - 1)]), ([middle, *[0] * (n - 1)], [1] * n)]
            for p, (lower, upper) in enumerate(ends):
                exact = mass_of_box(lower, upper, center, [rate] * n)
                if exact > 1e-290:
                    assert_digits(found.masses[p], found.mass_errors[p], exact)


@pytest.mark.parametrize("decade", range(0, 13, 2))
def test_masses_of_polygons_and_mixtures_have_the_digits_that_are_stated(decade):
    rng = np.random.default_rng(decade)
    flat, steep = 0.25 * 10.0**decade, 10.0**decade
    with mp.workdps(40):
        for center in peaks(rng, 2, steep**-0.5):
            hill = Gaussian(tuple(center), covariance=((0.5 / flat, 0.0), (0.0, 0.5 / steep)))
            exact = mass_of_box([0, 0], [1, 1], center, [flat, steep])
            box = moments([(0, 0), (1, 0), (1, 1), (0, 1)], hill)
            assert_digits(box.mass, box.error, exact)
            both = moments(Box((0, 0), (1, 1)), Mixture((Uniform(1e-3), hill)))
            assert_digits(both.mass, both.error, exact + mp.mpf(1e-3))


def test_ordinary_hills_are_exact_to_rounding():
    agents = np.random.default_rng(1).uniform(0.0, 1.0, (20, 2))
    found = tessellate(Box((0, 0), (1, 1)), agents, Gaussian((0.3, 0.4), rate=20.0))
    assert (found.mass_errors == 0.0).all()
