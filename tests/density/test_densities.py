"""Densities as values: what they weigh, what they refuse."""

import math

import numpy as np
import pytest

from dwell.density import Gaussian, Mixture, Polynomial, Uniform, as_density, moments
from dwell.density.support import check_density
from dwell.errors import DensityError
from dwell.geometry import Box

POINTS = np.array([(0.0, 0.0), (1.0, -2.0), (0.3, 0.4)])


def test_uniform_is_the_same_everywhere():
    assert Uniform(2.5).at(POINTS).tolist() == [2.5] * 3


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


def test_far_tails_keep_their_weight_as_a_logarithm():
    found = moments(Box((199, -1), (201, 1)).polygon, Gaussian((0, 0), 0.03))
    assert found.mass == 0.0
    assert found.log_mass == pytest.approx(-0.03 * 199**2, rel=1e-2)
    assert 199.0 < found.centroid[0] < 199.2


def test_a_peak_much_narrower_than_the_cell_is_found():
    peak = Gaussian((0.123, 0.456), rate=1e12)
    found = moments(Box((0, 0), (1, 1)).polygon, peak)
    assert found.mass == pytest.approx(math.pi * 1e-12, rel=1e-12, abs=0.0)
    assert found.centroid == pytest.approx((0.123, 0.456), abs=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Uniform(0.0),
        lambda: Uniform(-1.0),
        lambda: Uniform(math.nan),
        lambda: Gaussian((0, 0)),
        lambda: Gaussian((0, 0), rate=1.0, covariance=((1, 0), (0, 1))),
        lambda: Gaussian((0, 0), rate=-1.0),
        lambda: Gaussian((0, 0), rate=math.inf),
        lambda: Gaussian((0, math.nan), rate=1.0),
        lambda: Gaussian((), rate=1.0),
        lambda: Gaussian("ab", rate=1.0),
        lambda: Gaussian((0, 0), covariance=((1, 2), (2, 1))),
        lambda: Gaussian((0, 0), covariance=((1, 0.5), (0.4, 1))),
        lambda: Gaussian((0, 0), rate=1.0, weight=0.0),
        lambda: Mixture(()),
        lambda: Polynomial([]),
        lambda: Polynomial([(0, 0, 0.0)]),
        lambda: Polynomial([(20, 0, 1.0)]),
        lambda: Polynomial([(-1, 0, 1.0)]),
        lambda: Polynomial([(1.5, 0, 1.0)]),
        lambda: Polynomial([(0, 0, math.inf)]),
        lambda: Polynomial([(0, 0)]),
        lambda: as_density(3.0),
    ],
)
def test_what_is_no_density_is_refused(make):
    with pytest.raises(DensityError) as fault:
        make()
    assert fault.value.code.startswith("density.")


def test_a_polynomial_that_dips_below_zero_is_refused_with_the_place():
    dips = Polynomial([(0, 0, 0.1), (1, 0, -1.0)])
    with pytest.raises(DensityError, match=r"negative anywhere") as fault:
        check_density(dips, Box((0, 0), (1, 1)))
    assert fault.value.code == "density.negative"


def test_weight_far_below_doubles_is_accepted():
    check_density(Gaussian((1e4, 0), 0.03), Box((0, 0), (1, 1)))
