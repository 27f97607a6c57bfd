"""Moments over polyhedra: closed forms by mpmath, tensor Gauss rules, exact polynomials."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dwell._kernels.common.density_terms import general_terms
from dwell._kernels.common.quadrature import TOLERANCE
from dwell.geometry import Box, polyhedra
from tests.kernels import space_worlds as worlds
from tests.oracles.mp_moments import in_box

BOX = Box((0, 0, 0), (1, 2, 3))
PEAKS = [
    ((0.5, 0.5, 0.5), (1.0, 1.0, 1.0)),
    ((0.5, 0.5, 0.5), (10.0, 3.0, 1.0)),
    ((0.5, 0.5, 0.5), (1e-3, 1e-4, 1e-5)),
    ((0.5, 0.5, 0.5), (30.0, 30.0, 30.0)),
    ((-3.0, 1.0, 1.0), (2.0, 2.0, 2.0)),
    ((-30.0, -20.0, 40.0), (5.0, 2.0, 0.1)),
    ((300.0, 1.0, 1.0), (0.1, 0.1, 0.1)),
    ((0.1, 0.1, 0.1), (400.0, 200.0, 100.0)),
    ((0.1, 1.9, 0.1), (1e5, 1e4, 1e6)),
    ((1.0, 2.0, 3.0), (50.0, 60.0, 70.0)),
    ((-1.0, 1.0, 1.5), (20.0, 20.0, 20.0)),
    ((-1.2, 2.5, 1.5), (1.0, 4.0, 2.0)),
]


def anywhere(seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(-4.0, 8.0, 3), 10.0 ** rng.uniform(-0.5, 1.0, 3)


CASES = [(BOX, (0.3, 0.7, 1.1), *peak, TOLERANCE) for peak in PEAKS]
LARGE = Box((0, 0, 0), (3, 4, 5))  # by faces or by tetrahedra, whichever is taken
CASES += [(LARGE, (1.0, 2.0, 2.0), *anywhere(seed), 1e-12) for seed in range(25)]


@pytest.mark.parametrize(("box", "agent", "center", "rates", "tolerance"), CASES)
def test_one_agent_in_a_box_against_closed_forms(box, agent, center, rates, tolerance):
    terms = worlds.hills([1.0], [center], np.diag(rates))
    found = worlds.measure(box, np.array([agent]), terms)
    log_mass, mean, second = in_box(*box.bounds, center, rates)
    with mp.workdps(60):
        log_found = mp.log(mp.mpf(float(found.mass[0]))) + mp.mpf(float(found.log_scale[0]))
        assert abs(mp.expm1(log_found - log_mass)) <= tolerance
        for k in range(3):
            miss = mean[k] - mp.mpf(float(agent[k])) - mp.mpf(float(found.error[0, k]))
            assert abs(miss) <= 3.0 * tolerance
    assert found.second[0] / found.mass[0] == pytest.approx(float(second), rel=1e-10, abs=0.0)
    assert found.doubt[0] == TOLERANCE


@pytest.mark.parametrize("rate", [0.3, 3.0, 30.0, 3e3])
def test_cells_share_out_a_hill(rate):
    """Masses, first and second moments of all cells make those of the box."""
    center, rates = (0.6, 0.5, 0.4), (rate, 0.5 * rate, rate)
    points = worlds.scattered(60)
    found = worlds.measure(worlds.cube(), points, worlds.hills([2.0], [center], np.diag(rates)))
    log_mass, mean, second = in_box(*worlds.cube().bounds, center, rates)
    mass, mean = 2.0 * math.exp(log_mass), np.array([float(m) for m in mean])
    scale = np.exp(found.log_scale)
    masses, seconds, polars = (scale * part for part in (found.mass, found.second, found.polar))
    assert math.fsum(masses) == pytest.approx(mass, rel=1e-11, abs=0.0)
    centroids = points + found.error
    np.testing.assert_allclose(masses @ centroids / mass, mean, rtol=1e-11)
    assert (found.second > 0.0).all()
    spread = seconds + masses * ((centroids - mean) ** 2).sum(axis=1)
    assert math.fsum(spread) == pytest.approx(mass * float(second), rel=1e-10, abs=0.0)
    np.testing.assert_allclose(polars, seconds + masses * (found.error**2).sum(axis=1), rtol=1e-13)


def by_tensor_rule(cell, density, nodes=24):
    """Mass, first moments and polar moment about the agent, tetrahedron by tetrahedron."""
    r, w = np.polynomial.legendre.leggauss(nodes)
    r, w = 0.5 * (1.0 + r), 0.5 * w
    s, u, v = (t.ravel() for t in np.meshgrid(r, r, r, indexing="ij"))
    weight = (w[:, None, None] * w[None, :, None] * w[None, None, :]).ravel() * s * s * u
    total = np.zeros(5)
    for loop in cell.faces:
        for b, c in itertools.pairwise(loop[1:]):
            corners = cell.offsets[[loop[0], b, c]]
            z = np.column_stack([s * (1 - u), s * u * (1 - v), s * u * v]) @ corners
            f = weight * np.linalg.det(corners) * density(cell.position + z)
            total += [f.sum(), *(f @ z), (f * (z * z).sum(axis=1)).sum()]
    return total


def test_slanted_hills_against_a_tensor_rule():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(2, 3, 3))
    forms = root @ root.transpose(0, 2, 1) + 0.2 * np.eye(3)
    centers, weights = rng.uniform(0, 1, (2, 3)), np.array([1.0, 0.3])
    powers = np.array([[2, 0, 0], [0, 1, 3], [0, 0, 0]])
    origins = np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    terms = worlds.hills(weights, centers, forms)._replace(
        constant=0.5, powers=powers, coefficients=np.array([1.0, 2.0, 0.25]), origins=origins
    )

    def density(places):
        x, y, z = places.T
        value = 0.75 + (x - 0.1) ** 2 + 2.0 * y * z**3
        for weight, center, form in zip(weights, centers, forms, strict=True):
            d = places - center
            value = value + weight * np.exp(-np.einsum("ij,jk,ik->i", d, form, d))
        return value

    points = worlds.scattered(7)
    found = worlds.measure(worlds.cube(), points, terms)
    for p, cell in enumerate(polyhedra.cells(worlds.cube(), points)):
        mass, *first, polar = by_tensor_rule(cell, density)
        assert found.mass[p] == pytest.approx(mass, rel=1e-12, abs=0.0)
        np.testing.assert_allclose(found.error[p], np.array(first) / mass, atol=1e-12)
        assert found.polar[p] == pytest.approx(polar, rel=1e-12, abs=0.0)
        second = polar - np.dot(first, first) / mass
        assert found.second[p] == pytest.approx(second, rel=1e-11, abs=0.0)


@settings(max_examples=20)
@example((16, 0, 0))
@given(st.tuples(*[st.integers(0, 6)] * 3).filter(lambda p: sum(p) <= 16))
def test_monomials_are_exact(power):
    """Over a box cut in many cells: the integral of x**i y**j z**k."""
    terms = general_terms(3, 0.0, (np.array([power]), np.array([3.0]), np.zeros((1, 3))))
    points = np.array([1.0, 2.0, 3.0]) * worlds.scattered(6, 12)
    found = worlds.measure(BOX, points, terms)
    sides = [top ** (k + 1) / (k + 1) for top, k in zip(BOX.upper, power, strict=True)]
    mass = 3.0 * math.prod(sides)
    assert math.fsum(found.mass) == pytest.approx(mass, rel=2e-14, abs=0.0)
    means = [top * (k + 1) / (k + 2) for top, k in zip(BOX.upper, power, strict=True)]
    centroids = points + found.error
    np.testing.assert_allclose(found.mass @ centroids / mass, means, rtol=2e-14)
    squares = [top**2 * (k + 1) / (k + 3) for top, k in zip(BOX.upper, power, strict=True)]
    about = found.second + found.mass * (centroids**2).sum(axis=1)
    assert math.fsum(about) == pytest.approx(mass * sum(squares), rel=4e-14, abs=0.0)
    assert not found.doubt.any()


def test_masses_beyond_the_doubles_keep_their_logarithm():
    terms = worlds.hills([1.0], [[-100.0, 0.5, 0.5]], np.eye(3))
    points = worlds.scattered(5)
    found = worlds.measure(worlds.cube(), points, terms)
    assert (found.log_scale < -9000.0).all()
    assert (found.mass > 0.0).all()
    assert np.argmax(np.log(found.mass) + found.log_scale) == points[:, 0].argmin()
    log_mass, _, _ = in_box(*worlds.cube().bounds, (-100.0, 0.5, 0.5), (1.0, 1.0, 1.0))
    total = np.logaddexp.reduce(np.log(found.mass) + found.log_scale)
    assert total == pytest.approx(float(log_mass), abs=1e-10)


def test_a_density_far_away_from_everything():
    """Scales differ from cell to cell; the centroid is at the nearest corner."""
    terms = worlds.hills([1.0], [[-1e4, -1e4, -1e4]], np.eye(3))
    found = worlds.measure(worlds.cube(), [[0.5, 0.5, 0.5]], terms)
    np.testing.assert_allclose(found.error[0], -0.5 + 0.5e-4, atol=1e-8)
