"""Densities as values: what they weigh, what they refuse."""

import numpy as np
import pytest

from dwell import Ball, Timer, optimize, simulate, tessellate
from dwell.cells import moments
from dwell.density import Gaussian, Mixture, Polynomial, Uniform
from dwell.errors import DensityError
from dwell.geometry import Box

POINTS = np.array([(0.0, 0.0), (1.0, -2.0), (0.3, 0.4)])


def test_rate_and_covariance_say_the_same():
    by_rate = Gaussian((0.5, 0.5), rate=2.0)
    by_covariance = Gaussian((0.5, 0.5), covariance=((0.25, 0.0), (0.0, 0.25)))
    assert by_rate.at(POINTS) == pytest.approx(by_covariance.at(POINTS), rel=1e-15, abs=0.0)


def test_a_mixture_is_a_sum():
    parts = (Uniform(0.5), Gaussian((0, 0), 1.0, weight=3.0), Polynomial([(2, 0, 1.0)]))
    mixture = Mixture(parts)
    assert mixture.at(POINTS) == pytest.approx(sum(p.at(POINTS) for p in parts), rel=1e-15, abs=0.0)
    box = Box((-1, -1), (2, 1)).polygon
    assert moments(box, mixture).mass == pytest.approx(
        sum(moments(box, p).mass for p in parts), rel=1e-14
    )


def test_a_mixture_with_a_function_has_no_terms():
    assert Mixture((Uniform(), lambda z: np.ones(len(z)))).terms() is None


def test_polynomials_of_different_degree_mix():
    low, high = Polynomial([(0, 0, 1.0)]), Polynomial([(3, 2, 1.0)], origin=(1.0, 0.0))
    box = Box((1, 0), (2, 1)).polygon
    mass = moments(box, Mixture((low, high))).mass
    assert mass == pytest.approx(1.0 + (1 / 4) * (1 / 3), rel=1e-14, abs=0.0)


FAULTY = {  # density, what is said
    "negative": (Polynomial([(0, 0, -1.0)]), "negative"),
    "signed": (Polynomial([(0, 0, -0.5), (1, 0, 1.0)]), "negative"),
    "dip-in-a-sum": (Mixture((Uniform(0.1), Polynomial([(1, 0, -1.0)]))), "negative"),
    "needle": (Gaussian((0.5, 0.5), rate=1e300), "range"),
    "spike": (lambda z: np.where(np.hypot(*(z - 0.2037).T) < 1e-5, 1.0, 0.0), "zero"),
}
DOORS = {
    "tessellate": lambda site, density: tessellate(site, [(0.2, 0.3), (0.6, 0.7)], density),
    "moments": moments,
    "optimize": lambda site, density: optimize(site, density, 2, starts=1),
    "simulate": lambda site, density: simulate(
        site, density, [(0.2, 0.3)], Timer(k1=1.0, nu=0.1, t1=0.1, t2=0.2), until=1.0
    ),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("fault", FAULTY)
@pytest.mark.parametrize("site", [Box((0, 0), (1, 1)), Ball((0.5, 0.5), 0.5)])
def test_densities_that_cannot_be_weighed_are_refused_everywhere(site, fault, door):
    density, code = FAULTY[fault]
    with pytest.raises(DensityError) as found:
        DOORS[door](site, density)
    assert found.value.code == f"density.{code}"


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("curved", [False, True])
def test_a_mass_of_zero_is_known_to_no_digit(n, curved):
    """All samples of two cells are 0, which excludes no spike; an empty cell has no mass at all."""
    site = Ball([0.0] * n, 1.0) if curved else Box([-1.0] * n, [1.0] * n)
    agents = np.zeros((4, n))
    agents[:, 0] = (-0.8, -0.5, 0.7, 9.0)
    found = tessellate(site, agents, lambda z: np.where(z[:, 0] > 0.3, 1.0, 0.0))
    assert found.masses[[0, 1, 3]].tolist() == [0.0, 0.0, 0.0]
    assert np.isinf(found.mass_errors).tolist() == [True, True, False, False]
    assert found.mass_errors[3] == 0.0


def test_a_dip_between_the_probes_leaves_no_mass_with_digits():
    """Negative on a sixtieth of the box only, where one cell lies."""
    dips = Polynomial([(2, 0, 1.0), (1, 0, -1.0 / 64.0), (0, 0, 1e-5)], origin=(0.0, 0.0))
    found = tessellate(Box((0, 0), (1, 1)), [(0.007, 0.5), (0.0085, 0.5), (0.01, 0.5)], dips)
    assert found.masses[1] == 0.0
    assert found.mass_errors[1] == np.inf
