"""Moments of polygons against 50-digit arithmetic."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dwell._kernels.common.arithmetic import cross
from dwell._kernels.common.density_terms import Terms, gaussian_row
from dwell._kernels.common.quadrature import POINTS, SYMMETRIC, TRIANGLE_R, TRIANGLE_U, TRIANGLE_W
from dwell._kernels.polygon.buffers import MAX_NODES, make_scratch
from dwell._kernels.polygon.entry_points import moments_of
from dwell._kernels.polygon.gaussian import (
    AMPLIFICATION,
    COUNT,
    GENTLE,
    GENTLE_CURVATURE,
    GENTLE_RANGE,
    HALVINGS,
    RANGE,
    gaussian_by_edges,
)
from tests import strategies
from tests.oracles import mp_moments

RATE = 0.03


def kernel_moments(local, terms, origin=(0.0, 0.0), pivot=(0.0, 0.0)):
    """(log scale, mass, first x, first y, polar) of a polygon given in the agent's frame."""
    local = np.asarray(local, dtype=float)
    memory = make_scratch(1, len(local))
    memory.x[: len(local)], memory.y[: len(local)] = local.T
    return moments_of(len(local), *map(float, origin), terms, *map(float, pivot), False, memory)


def isotropic(center, rate=RATE):
    return Terms(gaussians=np.array([gaussian_row(1.0, center, (rate, 0.0, rate), rate)]))


def assert_matches(local, terms, density, limit=1e-12):
    """Mass, centroid and second moment about the centroid, all relative."""
    exact = mp_moments.moments(local, density)
    log_scale, mass, fx, fy, _ = kernel_moments(local, terms)
    size = float(np.ptp(np.asarray(local), axis=0).max())
    assert abs(math.expm1(math.log(mass) + log_scale - float(exact.log_mass))) < limit
    centroid = (fx / mass, fy / mass)
    assert mp_moments.distance(centroid, exact.centroid) < limit * size
    log_scale, mass, _, _, polar = kernel_moments(local, terms, pivot=centroid)
    spread = float(exact.polar_centroid / exact.mass)
    assert polar / mass == pytest.approx(spread, rel=limit, abs=0.0)


def assert_hill(local, center, rate=RATE, limit=1e-12):
    """A Gaussian of one rate in all directions."""
    assert_matches(
        local, isotropic(center, rate), mp_moments.Gaussian.isotropic(center, rate), limit
    )


HEXAGON = np.array(strategies.regular_polygon(6, 2.0, 0.3))
THIN = {
    f"needle-{k}": np.array([(-3.0, -1.7 * 10.0**-k), (4.0, 0.2 * 10.0**-k), (-1.0, 10.0**-k)])
    for k in (1, 3, 6, 8)
}
THIN["sliver"] = np.array([(-2.0, -1e-7), (3.0, -1e-7), (3.0, 1e-7), (0.4, 2e-7), (-2.0, 1e-7)])


@pytest.mark.parametrize("distance", [0.0, 0.7, 2.0, 5.0, 11.0, 20.0, 50.0, 100.0, 157.0, 200.0])
@pytest.mark.parametrize("angle", [0.0, 0.9, 2.5])
def test_gaussian_of_a_hexagon_at_any_distance(distance, angle):
    assert_hill(HEXAGON, (distance * math.cos(angle), distance * math.sin(angle)))


@pytest.mark.parametrize("distance", [0.0, 3.0, 12.0, 60.0, 200.0])
@pytest.mark.parametrize("shape", THIN)
def test_gaussian_of_needles_and_slivers(shape, distance):
    assert_hill(THIN[shape], (distance * 0.8, -distance * 0.6))


@pytest.mark.parametrize("size", [1e-4, 1e-2, 0.3, 8.0, 30.0])
@pytest.mark.parametrize("distance", [0.0, 4.0, 14.0, 90.0])
def test_gaussian_of_small_and_large_cells(size, distance):
    assert_hill(HEXAGON * size, (-distance, 0.25 * distance))


@pytest.mark.parametrize("rate", [1e-8, 1e-3, 1.0, 1e3, 1e8])
def test_gaussian_of_any_width(rate):
    assert_hill(HEXAGON, (0.31, -0.42), rate)


@pytest.mark.parametrize("covariance", [((4.0, 1.5), (1.5, 2.0)), ((30.0, -4.0), (-4.0, 0.6))])
@pytest.mark.parametrize("center", [(0.0, 0.0), (3.0, 1.0), (-9.0, 14.0)])
def test_gaussian_with_a_covariance(covariance, center):
    (a, b), (_, d) = covariance
    det = a * d - b * b
    form = (0.5 * d / det, -0.5 * b / det, 0.5 * a / det)
    terms = Terms(gaussians=np.array([gaussian_row(1.0, center, form, 0.5 / d)]))
    density = mp_moments.Gaussian.from_covariance(center, covariance)
    assert_matches(HEXAGON, terms, density, limit=2e-12)


@settings(max_examples=25)
@given(strategies.random_polygons(span=6.0, max_points=8), st.floats(-12, 12), st.floats(-12, 12))
def test_gaussian_of_random_polygons(polygon, x, y):
    assert_hill(np.asarray(polygon) - np.mean(polygon, axis=0), (x, y))


def test_edges_and_triangles_agree_where_edges_are_trusted():
    rng = np.random.default_rng(8)
    root = math.sqrt(RATE)
    trusted = 0
    for _ in range(60):
        local = strategies.random_convex_polygon(rng, corners=6, radius=rng.uniform(0.5, 8.0))
        local = np.asarray(local) - np.mean(local, axis=0)
        center = rng.uniform(-15, 15, 2)
        memory = make_scratch(1, len(local))
        memory.x[: len(local)], memory.y[: len(local)] = local.T
        rho = float(np.hypot(*local.T).max())
        grown, *by_edges = gaussian_by_edges(
            len(local), *center, root, 0.0, root, rho, memory.x, memory.y, memory.x2, memory.y2,
            memory.panels, memory.value, memory.ratio,
        )  # fmt: skip
        if grown <= AMPLIFICATION:
            trusted += 1
            tiny = 1e-300  # any pivot but (0, 0) goes by triangles
            _, *by_triangles = kernel_moments(local, isotropic(tuple(center)), pivot=(tiny, 0.0))
            scale = by_triangles[0] * np.array([1.0, rho, rho, rho * rho])
            gaps = np.abs(np.array(by_edges) - by_triangles) / scale
            assert gaps[:3].max() <= 2e-14
            assert gaps[3] <= 8e-14
    assert trusted > 30


def test_the_table_of_rules_is_ordered_and_covers_its_ranges():
    count, halvings = COUNT[:GENTLE], HALVINGS[:GENTLE]
    assert len(RANGE) == GENTLE == len(COUNT) - 1 == len(HALVINGS) - 1
    assert (np.diff(RANGE) > 0).all()
    assert (np.diff(count) >= 0).all()
    assert count.max() <= MAX_NODES
    assert (RANGE * 0.5**halvings <= 0.16 + 1e-12).all()
    assert GENTLE_RANGE <= 0.16
    assert (COUNT[GENTLE], HALVINGS[GENTLE]) == (SYMMETRIC, 0)


def test_the_symmetric_rule_is_of_degree_8_positive_and_inside():
    nodes = POINTS[SYMMETRIC]
    assert nodes == 16
    r, u, w = (t[SYMMETRIC, :nodes] for t in (TRIANGLE_R, TRIANGLE_U, TRIANGLE_W))
    assert (w > 0.0).all()
    assert (np.array([r, 1.0 - r, u, 1.0 - u]) > 0.0).all()
    a, b = r * (1.0 - u), r * u
    for i in range(10):
        for j in range(10 - i):
            exact = math.factorial(i) * math.factorial(j) / math.factorial(i + j + 2)
            error = abs(math.fsum(w * a**i * b**j) - exact) / exact
            assert error < 4e-15 if i + j <= 8 else error > 1e-7


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("angle", [0.2, 1.3, 4.0])
@pytest.mark.parametrize("shape", ["hexagon", "triangle"])
def test_gentle_gaussians_lose_no_digit(shape, share, angle):
    """As far as exponents may curve and slope for the rule of 16 nodes."""
    triangle = [(0.0, 0.0), (1.99, 0.1), (1.1, 1.6)]  # sides of at most 2, like the hexagon's parts
    local = HEXAGON if shape == "hexagon" else np.array(triangle)
    rate = GENTLE_CURVATURE / 2.0**2
    away = share * (GENTLE_RANGE - GENTLE_CURVATURE) / (2.0 * rate * 2.0)
    center = (away * math.cos(angle), away * math.sin(angle))
    assert_hill(local, center, rate, limit=2e-15)


@settings(max_examples=40)
@given(strategies.random_polygons(span=5.0, max_points=7))
def test_constant_density(polygon):
    local = np.asarray(polygon) - np.mean(polygon, axis=0)
    assert_matches(local, Terms(constant=2.5), mp_moments.Uniform(2.5), limit=1e-13)


@pytest.mark.parametrize("degree", [1, 2, 5, 9, 16])
def test_polynomial_density_is_exact(degree):
    coefficients = np.zeros((degree + 1, degree + 1))
    coefficients[0, 0], coefficients[degree, 0], coefficients[0, degree] = 40.0**degree, 1.5, 0.25
    terms = Terms(polynomials=coefficients[None], origins=np.array([[-3.0, 2.0]]))
    listed = ((40.0**degree, 0, 0), (1.5, degree, 0), (0.25, 0, degree))
    density = mp_moments.Polynomial(listed, origin=(-3.0, 2.0))
    assert_matches(HEXAGON, terms, density, limit=1e-13)


def test_moments_about_a_pivot_follow_the_parallel_axes():
    terms = isotropic((3.0, -1.0))
    _, mass, fx, fy, polar = kernel_moments(HEXAGON, terms)
    cx, cy = fx / mass, fy / mass
    _, _, _, _, about_centroid = kernel_moments(HEXAGON, terms, pivot=(cx, cy))
    assert polar == pytest.approx(about_centroid + mass * (cx * cx + cy * cy), rel=1e-13, abs=0.0)


def test_an_apex_outside_the_polygon_changes_nothing():
    terms = isotropic((1.0, 2.0))
    _, mass, fx, fy, _ = kernel_moments(HEXAGON, terms)
    shifted = HEXAGON + np.array([7.0, -4.0])
    _, mass2, fx2, fy2, _ = kernel_moments(shifted, terms, origin=(-7.0, 4.0))
    assert mass2 == pytest.approx(mass, rel=1e-13, abs=0.0)
    assert (fx2 / mass2 - 7.0, fy2 / mass2 + 4.0) == pytest.approx(
        (fx / mass, fy / mass), abs=1e-13
    )


def test_a_flat_polygon_weighs_nothing():
    flat = [(-1.0, 0.0), (1.0, 0.0), (0.5, 0.0)]
    assert cross(-1.0, 0.0, 1.0, 0.0) == 0.0
    assert kernel_moments(flat, isotropic((0.0, 0.0)))[1] == 0.0
