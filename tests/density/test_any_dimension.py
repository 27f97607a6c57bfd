"""Densities and their checks in any dimension."""

import math

import mpmath as mp
import numpy as np
import pytest

from dwell import Ball, Box, Ellipsoid, Gaussian, Interval, Mixture, Polynomial, Polytope, Uniform
from dwell.density.base import dimension_of, general_terms_of
from dwell.density.function import Function
from dwell.density.support import check_density
from dwell.errors import DensityError


def covariance(n, seed=0):
    a = np.random.default_rng(seed).normal(size=(n, n))
    return a @ a.T + 0.3 * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("flat", [1.0, 1e-4])
def test_forms_and_roots_are_right_to_rounding(n, flat):
    s = covariance(n, 3)
    s[-1] *= math.sqrt(flat)
    s[:, -1] *= math.sqrt(flat)
    s = 0.5 * (s + s.T)
    terms = Gaussian([0.0] * n, covariance=s).general_terms(n)
    with mp.workdps(50):
        exact = mp.inverse(mp.matrix(s.tolist())) / 2
        for i in range(n):
            for j in range(n):
                assert abs(terms.forms[0, i, j] / exact[i, j] - 1) < 3e-16
        root = mp.cholesky(exact).T
        for i in range(n):
            for j in range(n):
                if j < i:
                    assert terms.roots[0, i, j] == 0.0
                else:
                    assert abs(terms.roots[0, i, j] / root[i, j] - 1) < 1e-15


def test_general_terms_in_the_plane_are_those_of_the_planar_kernels():
    hill = Gaussian((1, 2), covariance=((2.0, 0.5), (0.5, 1.0)), weight=3.0)
    row, terms = hill.terms().gaussians[0], hill.general_terms(2)
    assert terms.forms[0].ravel()[[0, 1, 3]].tolist() == row[3:6].tolist()
    assert terms.roots[0].ravel()[[0, 1, 3]] == pytest.approx(row[6:9], rel=4e-16, abs=0.0)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_terms_and_values_agree(n):
    rng, s = np.random.default_rng(n), covariance(n)
    mixture = Mixture(
        (
            Uniform(0.5),
            Gaussian(rng.random(n), rate=3.0, weight=2.0),
            Gaussian(rng.random(n), covariance=0.5 * (s + s.T)),
            Polynomial([(*[1] * n, 2.0), (2, *[0] * (n - 1), 1.5)], origin=rng.random(n)),
        )
    )
    assert dimension_of(mixture) == n
    terms = general_terms_of(mixture, n)
    points = rng.random((30, n))
    total = np.full(30, terms.constant)
    for powers, c, origin in zip(terms.powers, terms.coefficients, terms.origins, strict=True):
        total += c * np.prod((points - origin) ** powers, axis=1)
    rows = zip(terms.weights, terms.centers, terms.forms, strict=True)
    for weight, center, form in rows:
        gap = points - center
        total += weight * np.exp(-np.einsum("ki,ij,kj->k", gap, form, gap))
    assert mixture.at(points) == pytest.approx(total, rel=1e-13, abs=0.0)


def test_what_goes_with_any_dimension():
    assert dimension_of(Uniform()) is None
    assert dimension_of(Function(lambda z: z[:, 0])) is None
    assert dimension_of(Mixture((Uniform(), Uniform()))) is None
    assert Uniform(2.0).general_terms(7).powers.shape == (0, 7)
    assert Gaussian((0, 0, 0), rate=1.0).terms() is None
    assert Polynomial([(0, 0, 0, 1.0)]).terms() is None
    assert general_terms_of(Function(lambda z: z[:, 0]), 3) is None
    assert general_terms_of(Mixture((Uniform(), Function(lambda z: z[:, 0]))), 3) is None

    class Own:
        def at(self, points):
            return np.ones(len(points))

        def terms(self):
            return None

    assert dimension_of(Own()) is None
    assert general_terms_of(Own(), 3) is None
    check_density(Own(), Box((0, 0, 0), (1, 1, 1)))


WORKSPACES = [
    Interval(0, 1),
    Box((0, 0, 0), (1, 1, 1)),
    Polytope(np.vstack([np.zeros(4), np.eye(4)])),
    Ball((0, 0, 0), 1),
    Ellipsoid((0, 0, 0, 0, 0), (1, 2, 3, 4, 5)),
    Box([0] * 9, [1] * 9),
]


@pytest.mark.parametrize("workspace", WORKSPACES, ids=lambda w: f"{type(w).__name__}{w.dimension}")
def test_densities_are_checked_on_any_workspace(workspace):
    n = workspace.dimension
    check_density(Uniform(), workspace)
    check_density(Gaussian([0.1] * n, rate=2.0), workspace)
    check_density(Gaussian([500.0] * n, rate=2.0), workspace)  # all but zero, yet never zero
    check_density(Polynomial([(*[2] + [0] * (n - 1), 1.0)]), workspace)

    def refused(density):
        with pytest.raises(DensityError) as fault:
            check_density(density, workspace)
        return fault.value.code

    assert (
        refused(Polynomial([(*[0] * n, 0.01), (*[1] + [0] * (n - 1), -1.0)])) == "density.negative"
    )
    assert refused(Function(lambda z: np.zeros(len(z)))) == "density.zero"
    assert refused(Function(lambda z: np.full(len(z), np.nan))) == "density.nonfinite"
    assert refused(Gaussian([0.0] * (n + 1), rate=1.0)) == "density.dimension"
    assert refused(Polynomial([(*[0] * (n + 1), 1.0)])) == "density.dimension"
    assert refused(Gaussian([1e9] * n, rate=1.0)) == "density.range"
