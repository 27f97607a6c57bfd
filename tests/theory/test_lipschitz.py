"""Lipschitz constants of the centroids: against formulas, finite differences and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell import Box, Gaussian, Mixture, Polygon, Polynomial, Uniform
from dwell.agents import CoverageSystem, scatter
from dwell.cells import tessellate
from dwell.density import Density, Function
from dwell.errors import DensityError, InputError
from dwell.geometry import Workspace
from dwell.theory.derivatives import derivatives
from dwell.theory.lipschitz import (
    MOST_TIMES,
    closest_pair,
    lipschitz_along,
    lipschitz_at,
    lipschitz_sampled,
    separated,
    visited_times,
)
from dwell.theory.lipschitz_bound import density_range, disc_area, lipschitz_bound

SQUARE = Box((0, 0), (1, 1))
HEPTAGON = Polygon([(-8, 0), (-3, -9), (10, -11), (22, -5), (24, 8), (12, 18), (-4, 14)])
HILL = Gaussian(center=(7.5, 4.5), rate=0.03)
TIMER = dwell.Timer(k1=0.5, nu=0.5, t1=0.2, t2=0.65)

DENSITIES: dict[str, Density] = {
    "uniform": Uniform(2.0),
    "gaussian": Gaussian(center=(4.0, 1.0), covariance=((9.0, 2.0), (2.0, 5.0)), weight=3.0),
    "gaussian outside": Gaussian(center=(40.0, 30.0), rate=0.001),
    "polynomial": Polynomial(((0, 0, 5.0), (2, 0, 0.3), (0, 2, 0.1), (1, 1, -0.1)), (5.0, 2.0)),
    "mixture": Mixture((Uniform(0.1), HILL)),
}


def system_of(workspace: Workspace, density: Density, agents: int, seed: int = 0) -> CoverageSystem:
    return CoverageSystem(workspace, density, TIMER, agents, seed)


def side_by_side(d: float) -> list[tuple[float, float]]:
    return [(0.5 - 0.5 * d, 0.5), (0.5 + 0.5 * d, 0.5)]


# One configuration.


@pytest.mark.parametrize("d", [0.6, 0.5, 0.125, 0.05, 0.005, 2.0**-12, 1e-6])
def test_two_agents_side_by_side_have_the_known_constant(d: float) -> None:
    found = lipschitz_at(SQUARE, side_by_side(d), Uniform())

    a, b = side_by_side(d)
    assert found.values * (b[0] - a[0]) == pytest.approx(math.sqrt(2.0) / 6.0, rel=1e-10, abs=0.0)
    assert found.neighbors.tolist() == [1, 1]


@pytest.mark.parametrize("name", DENSITIES)
def test_constants_and_rates_are_norms_of_the_jacobian(name: str) -> None:
    places = scatter(HEPTAGON, 7, seed=3)
    found = lipschitz_at(HEPTAGON, places, DENSITIES[name])
    jacobian = derivatives(HEPTAGON, places, DENSITIES[name]).jacobian.toarray()
    for p, rows in enumerate(jacobian.reshape(7, 2, 7, 2)):
        assert found.values[p] == pytest.approx(np.linalg.norm(rows.reshape(2, 14), 2), rel=1e-12)
        blocks = rows.transpose(1, 0, 2).copy()
        blocks[p] -= np.eye(2)
        assert found.rates[p] == pytest.approx(np.linalg.norm(blocks, 2, axis=(1, 2)).sum(), 1e-12)
    assert found.value == found.values.max() == found.values[found.agent]
    assert found.neighbors.tolist() == [*map(len, tessellate(HEPTAGON, places).neighbors)]


@pytest.mark.parametrize(
    "pair", [[(0.5, 0.5), (0.5, 0.5)], [(0.5, 0.5), (np.nextafter(0.5, 1.0), 0.5)]]
)
def test_agents_within_rounding_of_each_other_have_no_constant(pair: list) -> None:
    found = lipschitz_at(SQUARE, [(0.1, 0.1), *pair], Uniform())

    assert found.value == math.inf
    assert "infinite: agents 1 and 2 coincide" in found.says
    assert found.as_json()["value"] is None


def test_close_agents_are_named() -> None:
    found = lipschitz_at(SQUARE, [(0.1, 0.1), (0.5, 0.5), (0.5 + 1e-15, 0.5)], Uniform())
    assert found.value > 1e12
    assert "agents 1 and 2 are only" in found.says
    assert "infinite where they meet" in found.says
    assert "infinite" not in lipschitz_at(SQUARE, side_by_side(1e-3), Uniform()).says
    found = lipschitz_at(SQUARE, [(0.49, 0.5), (0.51, 0.5), (0.1, 0.9)], Uniform())
    assert found.agent in (0, 1)
    assert f"(0.02 from agent {1 - found.agent}: the closest pair)" in found.says
    assert "closest" not in lipschitz_at(SQUARE, [(0.4, 0.5)], Uniform()).says


def half_empty(points: np.ndarray) -> np.ndarray:
    return np.maximum(0.5 - points[:, 0], 0.0) ** 4


@pytest.mark.parametrize("seed", range(20))
def test_the_closest_pair(seed: int) -> None:
    points = np.random.default_rng(seed).uniform(size=(seed + 2, 2))
    if seed % 3 == 0:
        points[:, 0] = 0.5
    gaps = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    np.fill_diagonal(gaps, np.inf)
    a, b, gap = closest_pair(points)

    assert gap == pytest.approx(gaps.min(), rel=1e-15, abs=0.0)
    assert gaps[a, b] == gaps.min()
    assert a < b


# Samples.


def test_samples_keep_their_distance_and_depend_on_their_number_alone() -> None:
    system = system_of(HEPTAGON, HILL, 12, seed=4)
    for s in range(5):
        places = separated(system, 3.0, s)
        assert closest_pair(places)[2] >= 3.0
        assert (HEPTAGON.outside_by(places) == 0.0).all()
        assert (separated(system, 3.0, s) == places).all()
        assert not (separated(system_of(HEPTAGON, HILL, 12, seed=5), 3.0, s) == places).any()
    few, many = (lipschitz_sampled(system, 3.0, count) for count in (5, 20))
    assert few.value <= many.value
    assert (separated(system, 3.0, many.sample) == many.positions).all()
    assert lipschitz_at(HEPTAGON, many.positions, HILL).value == many.value
    assert f"configuration {many.sample} of 20, separation at least 3" in many.says
    assert (many.values == many.value).all()


def test_a_separation_that_does_not_fit_is_refused_with_one_that_does() -> None:
    with pytest.raises(InputError, match=r"too large to draw 12 agents.* about 4.53") as caught:
        lipschitz_sampled(system_of(HEPTAGON, HILL, 12), 15.0, 3)
    assert caught.value.code == "design.separation"
    lipschitz_sampled(system_of(HEPTAGON, HILL, 12), 4.53, 2)


@pytest.mark.parametrize(
    ("separation", "samples", "words"),
    [
        *((separation, 1, "a positive length") for separation in (0.0, -1.0, math.nan, "1")),
        *((0.1, samples, "a whole number from 1 on") for samples in (0, -1, 1.5)),
    ],
)
def test_refused_samples(separation: object, samples: object, words: str) -> None:
    with pytest.raises(InputError, match=f"{words} is needed"):
        lipschitz_sampled(system_of(SQUARE, Uniform(), 2), separation, samples)


def test_samples_with_weightless_cells_are_left_out_and_counted() -> None:
    found = lipschitz_sampled(system_of(SQUARE, Function(half_empty), 3), 0.05, 12)

    assert found.skipped > 0
    assert found.configurations == 12 - found.skipped
    assert f"{found.skipped} left out, where some cell weighs nothing" in found.says
    corner = Function(lambda z: np.maximum(1e-3 - z.max(axis=1), 0.0))
    with pytest.raises(DensityError, match="weighs nothing in every configuration"):
        lipschitz_sampled(system_of(SQUARE, corner, 4), 0.1, 3)


def test_a_density_that_fails_is_not_taken_for_a_weightless_cell() -> None:
    def fails(points: np.ndarray) -> np.ndarray:
        raise RuntimeError("no")

    with pytest.raises(DensityError, match="RuntimeError"):
        lipschitz_sampled(system_of(SQUARE, Function(fails), 2), 0.1, 3)


# A run.


@pytest.fixture(scope="module")
def run() -> dwell.Run:
    start = [(-3.3, -4.4), (-2.3, -6.9), (-2.9, -4.9), (0.4, -0.3), (0.3, -0.9), (-0.4, -6.6)]
    return dwell.simulate(HEPTAGON, HILL, start, TIMER, until=40.0, seed=1, sample_every=0.5)


def test_along_a_run_the_largest_is_found_and_placed(run: dwell.Run) -> None:
    found = lipschitz_along(run.system, run.start, run.events, run.metrics, run.horizon)

    start, end = (lipschitz_at(HEPTAGON, run.positions(t), HILL) for t in (0.0, run.horizon))
    assert (found.values >= np.maximum(start.values, end.values)).all()
    at = lipschitz_at(HEPTAGON, run.positions(found.time), HILL)
    assert at.value == pytest.approx(found.value, rel=1e-12, abs=0.0)
    assert at.agent == found.agent
    known = len(np.unique(np.concatenate([run.metrics.times, run.events.time])))
    assert f"{found.configurations} of {known} times evaluated" in found.says
    assert found.configurations <= MOST_TIMES


def test_thinning_keeps_the_ends_and_the_closest_encounters(run: dwell.Run) -> None:
    times, known = visited_times(run.events, run.metrics, run.horizon, 40)

    assert 30 <= len(times) <= 40 < known
    assert (times[0], times[-1]) == (0.0, run.horizon)
    assert (np.diff(times) > 0.0).all()
    assert run.events.time[np.argmin(run.events.nearest)] in times
    everything, _ = visited_times(run.events, run.metrics, run.horizon, 10**6)
    assert len(everything) == known
    assert set(times) <= set(everything)
    all_of_it = lipschitz_along(
        run.system, run.start, run.events, run.metrics, run.horizon, most=10**6
    )
    thin = lipschitz_along(run.system, run.start, run.events, run.metrics, run.horizon, most=40)
    assert 0.9 * all_of_it.value <= thin.value <= all_of_it.value


# The bound.


@pytest.mark.parametrize("name", DENSITIES)
def test_the_bound_is_above_everything_measured(name: str) -> None:
    generator = np.random.default_rng(7)
    for case in range(12):
        corners = generator.uniform(-5.0, 15.0, size=(int(generator.integers(3, 9)), 2))
        workspace = Polygon.hull_of(corners)
        places = scatter(workspace, int(generator.integers(2, 10)), seed=case)
        rho = closest_pair(places)[2]
        bound = lipschitz_bound(workspace, DENSITIES[name], rho)
        measured = lipschitz_at(workspace, places, DENSITIES[name]).value
        assert measured <= bound.value
        assert lipschitz_bound(workspace, DENSITIES[name], 0.5 * rho).value > bound.value


def test_the_bound_in_numbers() -> None:
    found = lipschitz_bound(SQUARE, Uniform(7.0), 0.2)
    assert found.value == pytest.approx(256.0 / (math.pi * 0.2**3), rel=1e-12, abs=0.0)
    assert "separation at least 0.2" in found.says
    with pytest.raises(InputError, match="a length from 0 on is needed"):
        lipschitz_bound(SQUARE, Uniform(), -1.0)


@pytest.mark.parametrize(
    ("density", "separation", "value", "says"),
    [
        (Uniform(), 0.0, math.inf, "infinite: without a separation there is no bound"),
        (Polynomial(((2, 0, 1.0),)), 0.1, math.inf, "infinite: the density comes too near 0"),
        (Gaussian((0.0, 0.0), rate=5000.0), 0.1, math.inf, "infinite: the density comes too near"),
        (Function(half_empty), 0.1, None, "unknown: the range of a density"),
        (Mixture((Uniform(), Function(half_empty))), 0.1, None, "unknown: the range"),
    ],
)
def test_there_may_be_no_bound(density, separation, value, says) -> None:
    found = lipschitz_bound(SQUARE, density, separation)
    assert found.value == value
    assert found.says.startswith(says)
    assert found.as_json()["value"] is None


@pytest.mark.parametrize("name", DENSITIES)
def test_densities_stay_in_their_range(name: str) -> None:
    ends = density_range(DENSITIES[name], HEPTAGON)
    low, high = ends
    places = np.vstack([scatter(HEPTAGON, 3000, seed=1), HEPTAGON.vertices])
    values = DENSITIES[name].at(places)
    assert 0.0 < low <= values.min() * (1.0 + 1e-12)
    assert values.max() <= high * (1.0 + 1e-12)
    if name != "mixture":  # of which only the parts' ranges are added
        assert low >= 0.8 * values.min()
        assert high <= 1.1 * values.max()


@pytest.mark.parametrize("radius", [0.01, 0.7, 3.0, 8.0, 60.0])
def test_the_area_of_a_disc_in_a_polygon(radius: float) -> None:
    from shapely import Point
    from shapely import Polygon as Shape

    shape = Shape(HEPTAGON.vertices)
    inside = scatter(HEPTAGON, 10, seed=2)
    for center in (*inside, *HEPTAGON.vertices, 0.5 * HEPTAGON.vertices[:2].sum(axis=0)):
        area = disc_area(HEPTAGON.vertices, center, radius)
        disc = Point(center).buffer(radius, quad_segs=4000)
        assert area == pytest.approx(shape.intersection(disc).area, rel=1e-6)
    corners = [disc_area(HEPTAGON.vertices, corner, radius) for corner in HEPTAGON.vertices]
    assert all(disc_area(HEPTAGON.vertices, x, radius) >= min(corners) for x in inside)
    assert disc_area(SQUARE.vertices, np.array([0.0, 0.0]), 0.5) == pytest.approx(math.pi / 16.0)


@pytest.mark.parametrize("dimension", [1, 3, 4])
def test_polynomials_stay_in_their_range_on_both_sides_of_their_origin(dimension: int) -> None:
    """Even powers are least at the origin, which lies within the workspace, or beside it."""
    rng = np.random.default_rng(dimension)
    lower, upper = np.full(dimension, -1.0), np.linspace(0.8, 1.4, dimension)
    site = dwell.Interval(-1.0, 0.8) if dimension == 1 else Box(tuple(lower), tuple(upper))
    points = rng.uniform(lower, upper, (4000, dimension))
    for shift in (0.0, 0.3, -0.7, 1.5):
        origin = np.full(dimension, shift)
        points[0] = np.clip(origin, lower, upper)
        powers = rng.integers(0, 5, (4, dimension))
        powers[0] = 2
        terms = [
            (*map(int, row), float(c)) for row, c in zip(powers, (1.0, 0.5, -0.2, 0.3), strict=True)
        ]
        terms.append((*[0] * dimension, 60.0))
        density = Polynomial(terms, tuple(origin))
        values = density.at(points)
        low, high = density_range(density, site)
        assert low <= max(values.min(), 0.0) + 1e-12
        assert values.max() - 1e-12 <= high
        square = Polynomial([(2, *[0] * (dimension - 1), 1.0)], tuple(origin))
        ends = [(lower[0] - shift) ** 2, (upper[0] - shift) ** 2]
        within = lower[0] < shift < upper[0]
        least = 0.0 if within else min(ends)
        assert density_range(square, site) == pytest.approx((least, max(ends)), abs=1e-12)
