"""The references judged by closed forms, by each other and by exact identities."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf  # type: ignore[import-untyped]

from tests import strategies as sg
from tests.oracles import brute
from tests.oracles import rational_cells as rc
from tests.oracles.mp_moments import (
    Gaussian,
    Moments,
    Polynomial,
    Uniform,
    distance,
    in_box,
    moments,
    monomial,
    relative_error,
)

SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
HEPTAGON: list[tuple[float, float]]
HEPTAGON = [(-8, 3), (-3, -7), (8, -11), (19, -6), (23, 6), (13, 18), (-2, 15)]
PEAK = Gaussian.isotropic((7.5, 4.5), 0.03)
TILTED = Gaussian.from_covariance((1.0, -2.0), ((9.0, 7.0), (7.0, 6.0)))

relaxed = settings(
    max_examples=40, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip

GAUSSIAN_CASES: dict[str, tuple[list[tuple[float, float]], Gaussian]] = {
    "near": ([(0, 0), (3, 1), (4, 3), (2, 5), (-1, 3)], PEAK),
    "whole workspace": (HEPTAGON, PEAK),
    "far along x": ([(207, 0), (210, 1), (211, 3), (209, 5), (206, 3)], PEAK),
    "far, oblique": ([(150, 145), (160, 147), (155, 155)], PEAK),
    "far, large": ([(150, 145), (1160, 147), (155, 1155)], PEAK),
    "very far": ([(1e4, 3), (1e4 + 10, 2), (1e4 + 10, 12), (1e4, 9)], PEAK),
    "needle": ([(0, 0), (10, 10), (10, 10 + 1e-7)], PEAK),
    "far needle": ([(200, 100), (210, 110), (210, 110 + 1e-7)], PEAK),
    "sliver": ([(7, 0), (7 + 1e-13, 0), (7 + 1e-13, 9), (7, 9)], PEAK),
    "narrow peak": ([(0, 0), (10, 0), (9, 10), (0, 11)], Gaussian.isotropic((5.1, 5.2), 1e4)),
    "tilted": ([(-3, -4), (4, -5), (6, 2), (0, 3)], TILTED),
    "narrow ridge": (
        [(0, 0), (10, 0), (10, 10), (0, 10)],
        Gaussian.from_covariance((5.1, 5.2), ((2.0, 1.99), (1.99, 2.0))),
    ),
    "map offset": (
        [(5e6, 5e6), (5e6 + 1, 5e6), (5e6 + 1, 5e6 + 2)],
        Gaussian.isotropic((5e6, 5e6 + 1), 0.03),
    ),
}


def assert_same(a: Moments, b: Moments, tolerance: float = 1e-28) -> None:
    assert relative_error(a.mass, b.mass) < tolerance
    size = math.sqrt(float(a.polar_centroid / a.mass))
    assert distance(a.centroid, b.centroid) < tolerance * size
    assert relative_error(a.polar_centroid, b.polar_centroid) < tolerance


def test_square_of_four_agents() -> None:
    agents = [(0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75)]
    cells = rc.tessellation(SQUARE, agents)
    assert [c.area for c in cells] == [Fraction(1, 4)] * 4
    assert [c.centroid for c in cells] == [rc.exact(a) for a in agents]
    assert sum(c.polar_moment(c.site) for c in cells) == Fraction(1, 24)
    assert cells[0].edge_neighbours == {1, 3}
    assert cells[0].contact_neighbours == {1, 2, 3}
    assert sorted(rc.to_float(cells[0].vertices)) == [(0, 0), (0, 0.5), (0.5, 0), (0.5, 0.5)]


def test_agent_outside_may_have_a_degenerate_or_empty_cell() -> None:
    touching, _ = rc.tessellation(SQUARE, [(-0.5, 0.5), (0.5, 0.5)])
    assert (touching.area, len(touching.vertices), touching.edge_neighbours) == (0, 2, {1})
    empty, _ = rc.tessellation(SQUARE, [(-0.75, 0.5), (0.5, 0.5)])
    assert empty.vertices == ()
    assert empty.contact_neighbours == set()
    with pytest.raises(ValueError, match="no centroid"):
        _ = empty.centroid


@relaxed
@given(sg.configurations(max_size=8))
def test_exact_cells_partition_the_workspace(case: tuple[sg.Polygon, sg.Agents]) -> None:
    polygon, agents = case
    vertices = rc.exact_polygon(polygon)
    cells = rc.tessellation(polygon, agents)
    whole = rc.area(vertices)
    assert sum(c.area for c in cells) == whole
    for i in (0, 1):
        assert sum(c.area * c.centroid[i] for c in cells) == whole * rc.centroid(vertices)[i]
    q = (1.5, -0.25)
    assert sum(c.polar_moment(q) for c in cells) == rc.polar_moment(vertices, q)
    for p, c in enumerate(cells):
        assert rc.contains(c.vertices, agents[p])
        assert rc.signed_area(c.vertices) > 0
        assert c.edge_neighbours <= c.contact_neighbours
        assert all(p in cells[q].edge_neighbours for q in c.edge_neighbours)
        assert all(p in cells[q].contact_neighbours for q in c.contact_neighbours)


@relaxed
@given(sg.configurations(max_size=6))
def test_cell_vertices_are_nearest_to_their_agent(case: tuple[sg.Polygon, sg.Agents]) -> None:
    polygon, agents = case
    sites = [rc.exact(a) for a in agents]
    for p, c in enumerate(rc.tessellation(polygon, agents)):
        for v in c.vertices:
            gaps = [rc.squared_distance(v, s) for s in sites]
            assert gaps[p] == min(gaps)
            assert {q for q, g in enumerate(gaps) if g == gaps[p]} - {p} <= c.contact_neighbours


@pytest.mark.parametrize(
    "box",
    [(0, 15, 0, 9), (200, 210, 3, 8), (150, 160, 145, 150), (7, 7 + 1e-13, 0, 9), (-90, 3, 4, 80)],
)
def test_gaussian_over_rectangles_is_a_product_of_error_functions(box: tuple[float, ...]) -> None:
    x0, x1, y0, y1 = box
    result = moments([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], PEAK)
    rates, digits = (0.03, 0.03), 1500  # the differences cancel as much as they like
    log_m, (cx, cy), spread = in_box((x0, y0), (x1, y1), (7.5, 4.5), rates, digits)
    with mp.workdps(digits):
        m = mp.exp(log_m)
        j = m * (spread + (cx - mpf(7.5)) ** 2 + (cy - mpf(4.5)) ** 2)
    with mp.workdps(60):
        assert_same(result, Moments(+m, +log_m, (+cx, +cy), m * spread), 1e-38)
    assert relative_error(result.log_mass, log_m) < 1e-38
    assert relative_error(result.polar_about((7.5, 4.5)), j) < 1e-38


@pytest.mark.parametrize("name", GAUSSIAN_CASES)
def test_slabs_along_either_axis_agree(name: str) -> None:
    polygon, density = GAUSSIAN_CASES[name]
    assert_same(moments(polygon, density, slabs="x"), moments(polygon, density, slabs="y"))


def test_far_cell_underflows_doubles_but_not_the_reference() -> None:
    far = moments(GAUSSIAN_CASES["far along x"][0], PEAK)
    assert float(far.mass) == 0.0
    assert -1250 < far.log_mass < -1150
    assert 206 < far.centroid[0] < 206.5
    # Beyond a straight side the density decays like exp(-s (x - x0)), s = 2 * 0.03 * 1e4.
    origin = Gaussian.isotropic((0, 0), 0.03)
    strip = moments([(1e4, -5), (1e4 + 10, -5), (1e4 + 10, 5), (1e4, 5)], origin)
    assert float(strip.centroid[0]) - 1e4 == pytest.approx(1 / 600, rel=1e-4)


@relaxed
@given(sg.convex_polygons())
def test_uniform_moments_equal_the_rational_ones(polygon: sg.Polygon) -> None:
    vertices = rc.exact_polygon(polygon)
    result = moments(polygon, Uniform(2))
    assert relative_error(result.mass, 2 * rc.area(vertices)) < 1e-55
    assert distance(result.centroid, rc.centroid(vertices)) < 1e-50
    about = rc.polar_moment(vertices, (1, 2))
    assert relative_error(result.polar_about((1, 2)), 2 * about) < 1e-50


def test_monomials_in_closed_form() -> None:
    triangle = rc.exact_polygon([(0, 0), (1, 0), (0, 1)])
    for i in range(5):
        for j in range(5):
            f = math.factorial
            assert monomial(triangle, i, j) == Fraction(f(i) * f(j), f(i + j + 2))
    box = rc.exact_polygon([(1, -1), (3, -1), (3, 2), (1, 2)])
    assert monomial(box, 2, 3) == Fraction(26, 3) * Fraction(15, 4)


def test_polynomial_about_an_origin() -> None:
    polygon = GAUSSIAN_CASES["tilted"][0]
    ramp = Polynomial(((1, 1, 0), (Fraction(1, 2), 0, 2)), (-10, -20))
    expanded = Polynomial(((210, 0, 0), (1, 1, 0), (20, 0, 1), (Fraction(1, 2), 0, 2)), (0, 0))
    assert_same(moments(polygon, ramp), moments(polygon, expanded), 1e-50)


@pytest.mark.exhaustive
@settings(relaxed, max_examples=12)
@given(st.data())
def test_gaussian_masses_add_up_over_random_cells(data: st.DataObject) -> None:
    polygon = data.draw(sg.convex_polygons())
    agents = data.draw(sg.uniform_agents(polygon, max_size=3))
    density = data.draw(sg.gaussians())
    cells = [moments(c.vertices, density) for c in rc.tessellation(polygon, agents)]
    with mp.workdps(60):
        total = sum(c.mass for c in cells)
    assert relative_error(total, moments(polygon, density).mass) < 1e-28


def test_grid_ties_go_to_the_lexicographically_smaller_position() -> None:
    agents = [(0.875, 0.5), (0.125, 0.5)]
    odd = brute.grid_cells(SQUARE, agents, 1 / 5)
    on_middle = np.isclose(odd.points[:, 0], 0.5, atol=1e-9)
    exact_ties = [z for z in odd.points[on_middle] if z[0] == 0.5]
    assert exact_ties
    even = brute.grid_cells(SQUARE, agents, 1.0)
    assert even.owner.tolist() == [1]
    assert np.isnan(even.centroid[0]).all()


def test_grid_cells_agree_with_the_exact_ones() -> None:
    rng = np.random.default_rng(7)
    for corners, n in ((5, 1), (7, 2), (9, 12)):
        polygon = sg.random_convex_polygon(rng, corners)
        agents = sg.random_positions(rng, polygon, n)
        exact_cells = rc.tessellation(polygon, agents)
        grid = brute.grid_cells(polygon, agents, 0.05)
        assert grid.mass.sum() == pytest.approx(sg.polygon_area(polygon), rel=5e-3)
        for p, cell in enumerate(exact_cells):
            assert grid.mass[p] == pytest.approx(float(cell.area), abs=0.5)
            assert math.dist(grid.centroid[p], rc.to_float(cell.centroid)) < 0.1


def test_timer_loop_with_one_agent_in_closed_form() -> None:
    events = brute.timer_run(
        [(8.0, 0.0)], [1.0], lambda positions, p: (0.0, 0.0), lambda p, k: 1.0 + k % 2,
        gain=1.0, nu=2.0, horizon=7.0,
    )  # fmt: skip
    # Saturated holds shorten the error by their length, the others by 1 - T/2.
    assert [e.t for e in events] == [1.0, 2.0, 4.0, 5.0, 7.0]
    assert [e.x[0] for e in events] == [7.0, 6.0, 4.0, 3.0, 1.0]
    assert [e.next_at for e in events] == [2.0, 4.0, 5.0, 7.0, 8.0]
    assert events[-1].eta == (-0.5, 0.0)


def test_timer_loop_ties_and_two_agents_on_a_line() -> None:
    def centroid(x: list[tuple[float, float]], p: int) -> tuple[float, float]:
        return (x[0][0] + x[1][0]) / 4 + 0.5 * p, 0.0

    def run(horizon: float) -> list[brute.TimerEvent]:
        start = [(0.125, 0.0), (0.5, 0.0)]
        return brute.timer_run(
            start, [0.5, 0.5], centroid, lambda p, k: 0.5, gain=1.0, nu=1.0, horizon=horizon
        )

    events = run(30.0)
    assert [e.agent for e in events[:4]] == [0, 1, 0, 1]
    assert [e.t for e in events[:4]] == [0.5, 0.5, 1.0, 1.0]
    assert len(events) == 120  # the jumps at the horizon are done
    assert events[-2].x[0] == pytest.approx(0.25, abs=1e-3)
    assert events[-1].x[0] == pytest.approx(0.75, abs=1e-3)
    assert run(10.0) == events[:40]
    assert run(0.0) == []


@relaxed
@given(st.data())
def test_generated_inputs_are_valid(data: st.DataObject) -> None:
    polygon = data.draw(sg.convex_polygons())
    assert polygon == rc.to_float(rc.exact_polygon(polygon))
    assert sg.convex_hull(polygon)
    assert len(sg.convex_hull(polygon)) == len(polygon)
    agents = data.draw(sg.agents_in(polygon))
    assert agents
    assert len(set(agents)) == len(agents)
    assert all(sg.is_inside(polygon, a) for a in agents)
    data.draw(sg.gaussians())
