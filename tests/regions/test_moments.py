"""Moments of cells in regions that are not convex."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from bench.regions import coast
from dwell._kernels._jit import ENABLED
from dwell.cells.backend import borders
from dwell.cells.sensitivity import centroid_blocks
from tests.oracles import mp_moments
from tests.oracles.rational_regions import moments
from tests.regions.sites import U, agents, archipelago

HILL = dwell.Gaussian((0.5, 0.25), rate=2.0)
NARROW = dwell.Gaussian((0.5, 0.25), rate=60.0)
WAVE = dwell.Polynomial([(0, 0, 4.0), (1, 0, 0.5), (2, 1, 0.125), (0, 2, 0.25)])
DENSITIES = {"uniform": dwell.Uniform(2.0), "wide": HILL, "narrow": NARROW, "polynomial": WAVE}
ORACLES = {
    "uniform": mp_moments.Uniform(2),
    "wide": mp_moments.Gaussian.isotropic((0.5, 0.25), 2),
    "narrow": mp_moments.Gaussian.isotropic((0.5, 0.25), 60),
    "polynomial": mp_moments.Polynomial(((4, 0, 0), (0.5, 1, 0), (0.125, 2, 1), (0.25, 0, 2))),
}


def test_one_agent_in_a_u() -> None:
    found = dwell.tessellate(dwell.Region(U), [(1.5, 0.5)])
    assert found.masses[0] == 7.0
    np.testing.assert_allclose(found.centroids[0], (1.5, 19 / 14), rtol=1e-15)
    assert found.second_moments[0] == pytest.approx(12.0238095238095, rel=1e-13)


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("seed", range(3 if ENABLED else 1))
def test_moments_are_those_of_exact_arithmetic(name: str, seed: int) -> None:
    site, positions = archipelago(seed), agents(seed, 6)
    found = dwell.tessellate(site, positions, DENSITIES[name])
    for p in range(len(positions)):
        true = moments([r.tolist() for r in site.rings], positions.tolist(), p, ORACLES[name])
        if true is None:
            assert found.masses[p] < 1e-20
            continue
        assert mp_moments.relative_error(found.masses[p], true.mass) < 1e-12
        assert mp_moments.distance(found.centroids[p], true.centroid) < 1e-12 * site.diameter
        gap = mp_moments.relative_error(found.second_moments[p], true.polar_centroid)
        assert gap < (1e-12 if true.mass > 1e-6 else 1e-9)


@pytest.mark.parametrize("moved", [0.0, 5e6])
@pytest.mark.parametrize("count", [1, 7, 30, 200])
def test_masses_add_up_to_that_of_the_region(count: int, moved: float) -> None:
    for seed in range(4):
        site = archipelago(seed, moved=moved)
        found = dwell.tessellate(site, agents(seed, count, moved))
        assert math.fsum(found.masses) == pytest.approx(site.area, rel=1e-13)
        assert site.area == pytest.approx(archipelago(seed).area, rel=1e-15)


@pytest.mark.parametrize("name", ["uniform", "polynomial"])
def test_a_region_moved_far_has_the_same_digits(name: str) -> None:
    near, far = archipelago(2), archipelago(2, moved=5e6)
    density = DENSITIES[name]
    if name == "polynomial":
        density, moved = WAVE, dwell.Polynomial(WAVE.coefficients, origin=(5e6, 5e6))
    else:
        moved = density
    one = dwell.tessellate(near, agents(2, 12), density)
    two = dwell.tessellate(far, agents(2, 12, 5e6), moved)
    np.testing.assert_allclose(one.masses, two.masses, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(one.second_moments, two.second_moments, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("count", [3, 150])
def test_a_convex_region_is_its_polygon(name: str, count: int) -> None:
    ring = [(-1, -1), (2, -1.5), (3.5, 0), (3, 1.2), (0, 2)]
    places = np.random.default_rng(3).uniform((-0.5, -0.5), (2.5, 1.0), (count, 2))
    one = dwell.tessellate(dwell.Region(ring), places, DENSITIES[name])
    two = dwell.tessellate(dwell.Polygon(ring), places, DENSITIES[name])
    np.testing.assert_allclose(one.masses, two.masses, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(one.centroids, two.centroids, rtol=1e-11)


def test_a_coast_of_many_vertices() -> None:
    ring = coast(4096)
    site, places = dwell.Region(ring), np.random.default_rng(1).uniform(-0.8, 0.8, (300, 2))
    for density in (None, HILL):
        found = dwell.tessellate(site, places, density)
        whole = dwell.moments(site, density)
        assert math.fsum(found.masses) == pytest.approx(whole.mass, rel=1e-13)
    inside = np.random.default_rng(2).uniform(-1.0, 1.0, (100_000, 2))
    share = float(site.covers(inside).mean())
    assert 4.0 * share == pytest.approx(dwell.moments(dwell.Region(ring)).mass, abs=0.5)


@pytest.mark.parametrize("radius", [0.4, 1.5])
@pytest.mark.parametrize("name", ["uniform", "wide"])
def test_a_sensing_radius_ends_cells_in_a_region(name: str, radius: float) -> None:
    site, places = archipelago(1), agents(1, 5)
    found = dwell.tessellate(site, places, DENSITIES[name], radius=radius)
    shares = np.random.default_rng(7).random((400_000, 2))
    lower, upper = site.bounds
    points = lower + shares * (upper - lower)
    weights = DENSITIES[name].at(points) * site.covers(points)
    gaps = ((points[:, None] - places) ** 2).sum(axis=2)
    nearest = gaps.argmin(axis=1)
    for p in range(5):
        own = weights * (nearest == p) * (gaps[:, p] <= radius**2)
        mean, spread = own.mean(), own.std() / np.sqrt(len(own))
        area = float(np.prod(upper - lower))
        assert abs(found.masses[p] - area * mean) <= 5.0 * area * spread


def test_a_radius_beyond_the_region_changes_little() -> None:
    site, places = archipelago(1), agents(1, 80)
    one, two = (
        dwell.tessellate(site, places, HILL),
        dwell.tessellate(site, places, HILL, radius=9.0),
    )
    np.testing.assert_allclose(one.masses, two.masses, rtol=1e-13, atol=1e-18)


def test_power_cells_of_a_region_divide_it() -> None:
    site, places = archipelago(0), agents(0, 9)
    found = dwell.tessellate(site, places, HILL, weights=np.linspace(0.0, 0.3, 9))
    assert math.fsum(found.masses) == pytest.approx(dwell.moments(site, HILL).mass, rel=1e-12)


@pytest.mark.parametrize("name", ["uniform", "wide", "polynomial"])
def test_facets_give_the_derivatives_of_centroids(name: str) -> None:
    site, places, step = archipelago(3), agents(3, 6), 1e-6
    density = DENSITIES[name]
    found = borders(site, places, density)
    own, beyond = centroid_blocks(found)
    jacobian = np.zeros((12, 12))
    agent, other = found.agent.tolist(), found.other.tolist()
    for p, q, block in [
        *zip(range(6), range(6), own, strict=True),
        *zip(agent, other, beyond, strict=True),
    ]:
        jacobian[2 * p : 2 * p + 2, 2 * q : 2 * q + 2] += block
    for k in range(12):
        ahead, back = places.copy(), places.copy()
        ahead.flat[k] += step
        back.flat[k] -= step
        change = (
            dwell.tessellate(site, ahead, density).centroids
            - dwell.tessellate(site, back, density).centroids
        )
        np.testing.assert_allclose(jacobian[:, k], change.ravel() / (2 * step), atol=1e-7)


def test_an_agent_without_mass_moves_to_the_region() -> None:
    site = dwell.Region([[(0, 0), (1, 0), (1, 1), (0, 1)], [(9, 0), (10, 0), (10, 1), (9, 1)]])
    law = dwell.Timer(k1=1.0, nu=0.1, t1=0.1, t2=0.2)
    start = [(0.5, 0.5), (5.0, 0.5), (9.5, 0.5)]
    run = dwell.simulate(site, None, start, law, until=30.0, seed=1)
    assert site.covers(run.positions(30.0)).all()
    assert dwell.check(run).ok


@pytest.mark.parametrize("level", [0.4, 2.5])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_all_moments_grow_with_the_level(level: float, count: int) -> None:
    ring = coast(256, seed=5)
    points = np.random.default_rng(count).uniform(-0.5, 0.5, (count, 2))
    one = dwell.tessellate(dwell.Region(ring), points, dwell.Uniform(1.0))
    even, flat = dwell.Uniform(level), dwell.Polynomial([(0, 0, level)])
    for density in (even, flat):
        found = dwell.tessellate(dwell.Region(ring), points, density)
        assert found.cost == pytest.approx(level * one.cost, rel=1e-11)
        np.testing.assert_allclose(found.masses, level * one.masses, rtol=1e-11)
        np.testing.assert_allclose(found.centroids, one.centroids, atol=1e-11)
