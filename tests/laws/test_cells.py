"""Laws of cells and moments: tiling, equivariance, parallel axes, gradient, known optima."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dwell.cells import moments, tessellate
from dwell.density import Gaussian, Mixture, Polynomial, Uniform
from dwell.geometry import Box, Polygon
from tests import strategies
from tests.oracles import mp_moments, rational_cells

SQUARE = Box((0.0, 0.0), (1.0, 1.0))
PEAK = Gaussian(center=(0.3, -0.2), rate=0.3)
TILTED = Gaussian(center=(1.0, 0.5), covariance=((2.0, 0.6), (0.6, 0.9)), weight=1.7)
MIXED = Mixture((Uniform(0.2), PEAK, TILTED, Polynomial([(0, 0, 1.0), (2, 0, 0.1), (0, 2, 0.3)])))
DENSITIES = {"uniform": Uniform(), "gaussian": PEAK, "tilted": TILTED, "mixture": MIXED}


def world(seed, count, corners=7):
    rng = np.random.default_rng(seed)
    polygon = strategies.random_convex_polygon(rng, corners=corners, radius=4.0)
    return Polygon(polygon), np.array(strategies.random_positions(rng, polygon, count))


def fat(polygon) -> bool:
    """Whether a polygon is no needle: relative figures of needles say little."""
    try:
        shape = Polygon(polygon)
    except ValueError:
        return False
    return shape.diameter**2 < 1e4 * shape.area


# Tiling


@pytest.mark.parametrize("offset", [(0.0, 0.0), (5e6, -5e6)])
@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("count", [1, 2, 30, 150])
def test_masses_and_first_moments_add_up(name, count, offset):
    workspace, agents = world(count, count)
    offset = np.array(offset)
    moved = Polygon(workspace.vertices + offset)
    agents = moved.nearest(agents + offset)
    density = shifted(DENSITIES[name], offset)

    cells = tessellate(moved, agents, density)

    # One agent at a corner has the whole workspace; all first moments are taken about that corner,
    # in differences that are exact, because at 5e6 a centroid in map coordinates is rounded.
    corner = moved.vertices[0]
    whole = tessellate(moved, [corner], density)
    mass = whole.masses[0]
    assert cells.masses.sum() == pytest.approx(mass, rel=1e-13, abs=0.0)
    first = (cells.masses[:, None] * ((agents - corner) + cells.errors)).sum(axis=0)
    assert np.abs(first - mass * whole.errors[0]).max() <= 1e-13 * mass * moved.diameter
    # In map coordinates the same holds relative to the first moment itself.
    total = (cells.masses[:, None] * cells.centroids).sum(axis=0)
    assert total == pytest.approx(mass * whole.centroids[0], rel=1e-13, abs=1e-13 * mass)


def shifted(density, by):
    """A density moved by `by`."""
    match density:
        case Gaussian():
            center = tuple(np.add(density.center, by))
            return Gaussian(center, density.rate, density.covariance, density.weight)
        case Polynomial():
            return Polynomial(density.coefficients, tuple(np.add(density.origin, by)))
        case Mixture():
            return Mixture(tuple(shifted(part, by) for part in density.parts))
        case _:
            return density


@settings(max_examples=50)
@given(strategies.configurations(max_size=10))
def test_any_configuration_tiles_its_polygon(configuration):
    polygon, agents = configuration
    assume(fat(polygon))
    workspace = Polygon(polygon)
    cells = tessellate(workspace, agents)
    assert cells.masses.sum() == pytest.approx(workspace.area, rel=1e-13, abs=0.0)


# Thin cells


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.2])
@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-5, 1e-8, 1e-11])
def test_a_sliver_between_close_agents_is_as_exact_as_any_cell(gap, turn):
    """Its width is below the rounding of its corners: they are computed with twice the digits."""
    site = [(-8.0, -8.0), (9.0, -7.0), (8.0, 8.0), (-7.0, 9.0)]
    along = gap * np.array([math.cos(turn), math.sin(turn)])
    agents = np.array([3.0, 2.0]) + np.outer([-1.0, 0.0, 1.3], along)
    cell = rational_cells.cell(site, agents.tolist(), 1)
    exact = mp_moments.moments(cell.vertices, mp_moments.Gaussian.isotropic((0.0, 0.0), 0.03))

    found = tessellate(Polygon(site), agents, Gaussian((0.0, 0.0), 0.03))

    assert mp_moments.relative_error(found.masses[1], exact.mass) < 1e-14
    assert mp_moments.relative_error(found.second_moments[1], exact.polar_centroid) < 1e-13
    assert mp_moments.distance(found.centroids[1].tolist(), exact.centroid) < 1e-14 * 17
    plain = tessellate(Polygon(site), agents)
    assert plain.masses[1] == pytest.approx(float(cell.area), rel=1e-14, abs=0.0)


@pytest.mark.parametrize("aspect", [1e2, 1e5, 1e8, 1e11])
@pytest.mark.parametrize("place", [(0.0, 0.0), (37.3, -11.1)])
def test_needles_lose_no_digits(aspect, place):
    needle = np.array([(-3.0, -1.0 / aspect), (4.0, 0.3 / aspect), (-1.0, 2.0 / aspect)])
    needle = needle @ np.array([(0.8, 0.6), (-0.6, 0.8)]) + place
    site = Polygon(needle)
    exact = mp_moments.moments(
        site.vertices.tolist(), mp_moments.Gaussian.isotropic((1.0, 2.0), 0.03)
    )

    found = moments(site, Gaussian((1.0, 2.0), 0.03))

    assert mp_moments.relative_error(found.mass, exact.mass) < 1e-13
    assert mp_moments.relative_error(found.second_moment, exact.polar_centroid) < 1e-12


# Equivariance: to the last bit where the change is exact


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("count", [2, 17])
def test_renumbering_agents_renumbers_the_answer(name, count):
    workspace, agents = world(5 + count, count)
    order = np.random.default_rng(1).permutation(count)
    plain = tessellate(workspace, agents, DENSITIES[name])
    mixed = tessellate(workspace, agents[order], DENSITIES[name])
    assert (mixed.masses == plain.masses[order]).all()
    assert (mixed.errors == plain.errors[order]).all()
    assert (mixed.second_moments == plain.second_moments[order]).all()
    assert mixed.cost == plain.cost


@pytest.mark.parametrize("power", [-40, -3, 1, 30])
def test_scaling_by_a_power_of_two_changes_no_bit(power):
    workspace, agents = world(9, 12)
    s = 2.0**power
    hard = 9.775548555499954  # a rate whose root is hard to round
    pairs = [
        (Gaussian((0.3, -0.2), rate), Gaussian((0.3 * s, -0.2 * s), rate / s**2))
        for rate in (hard, 0.03, 0.3, 1.7)
    ]
    for weight, scaled in ((Uniform(), Uniform()), *pairs):
        plain = tessellate(workspace, agents, weight)
        grown = tessellate(Polygon(workspace.vertices * s), agents * s, scaled)
        assert (grown.errors == plain.errors * s).all()
        assert (grown.masses == plain.masses * s**2).all()
        assert (grown.second_moments == plain.second_moments * s**4).all()


@pytest.mark.parametrize("power", [-900, -60, 4, 800])
def test_scaling_the_density_by_a_power_of_two_changes_no_centroid(power):
    workspace, agents = world(11, 9)
    plain = tessellate(workspace, agents, PEAK)
    heavy = tessellate(workspace, agents, Gaussian(PEAK.center, PEAK.rate, weight=2.0**power))
    assert (plain.errors == heavy.errors).all()


@given(st.floats(0.0, 6.28), st.floats(-50, 50), st.floats(-50, 50))
def test_turning_and_shifting_the_world_turns_and_shifts_the_answer(angle, x, y):
    workspace, agents = world(17, 8)
    c, s = math.cos(angle), math.sin(angle)
    turn, shift = np.array([(c, s), (-s, c)]), np.array([x, y])
    plain = tessellate(workspace, agents, PEAK)
    center = tuple(np.array(PEAK.center) @ turn + shift)
    moved = tessellate(
        Polygon(workspace.vertices @ turn + shift),
        agents @ turn + shift,
        Gaussian(center, PEAK.rate),
    )
    assert moved.errors == pytest.approx(plain.errors @ turn, abs=3e-13 * workspace.diameter)
    assert moved.masses == pytest.approx(plain.masses, rel=3e-13, abs=0.0)


def test_the_frame_of_the_agent_keeps_far_sites_exact():
    """A site at map coordinates is computed as well as one at the origin, to the last bit."""
    workspace, agents = world(19, 20)
    shift = np.array([2.0**22, -(2.0**22)])
    grid = 2.0**-29  # coordinates on this grid stay exact after the shift
    vertices = np.round(workspace.vertices / grid) * grid
    agents = Polygon(vertices).nearest(np.round(agents / grid) * grid)
    agents = np.round(agents / grid) * grid
    near = tessellate(Polygon(vertices), agents)
    far = tessellate(Polygon(vertices + shift), agents + shift)
    assert (near.errors == far.errors).all()
    assert (near.masses == far.masses).all()


# Descent, inclusion


@pytest.mark.parametrize("name", DENSITIES)
def test_a_step_to_the_centroids_lowers_the_cost(name):
    workspace, agents = world(23, 12)
    cells = tessellate(workspace, agents, DENSITIES[name])
    assert tessellate(workspace, cells.centroids, DENSITIES[name]).cost < cells.cost


@given(st.integers(0, 10_000))
def test_one_more_agent_never_costs_more(seed):
    workspace, agents = world(seed, 7)
    fewer = tessellate(workspace, agents[:-1], PEAK)
    more = tessellate(workspace, agents, PEAK)
    assert more.cost <= fewer.cost * (1 + 1e-13)
    assert (more.masses[:-1] <= fewer.masses * (1 + 1e-12)).all()


@given(st.integers(0, 10_000))
def test_a_centroid_lies_in_its_cell(seed):
    workspace, agents = world(seed, 9)
    cells = tessellate(workspace, agents, TILTED)
    gaps = np.hypot(*(cells.centroids[:, None] - agents[None]).transpose(2, 0, 1))
    assert (gaps.argmin(axis=1) == np.arange(9)).all()
    assert workspace.contains(cells.centroids).all()


# Neighbours


@given(st.integers(0, 10_000))
def test_neighbours_are_mutual_and_share_one_edge(seed):
    workspace, agents = world(seed, 11)
    cells = tessellate(workspace, agents)
    for p, near in enumerate(cells.neighbors):
        assert p not in near
        for q in near:
            assert p in cells.neighbors[q]
            edge = cells.shared_edge(p, q)
            assert edge.tobytes() == cells.shared_edge(q, p).tobytes()
            to_p = np.hypot(*(edge - agents[p]).T)
            assert to_p == pytest.approx(np.hypot(*(edge - agents[q]).T), rel=1e-12, abs=0.0)


def test_quarters_of_the_square():
    """Cells that meet in a point touch but are not neighbours; numbers are known by hand."""
    cells = tessellate(SQUARE, [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)])
    assert cells.neighbors == [[1, 2], [0, 3], [0, 3], [1, 2]]
    assert cells.touching == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert cells.shared_edge(0, 3) is None
    assert cells.cost == pytest.approx(1 / 24, rel=1e-15, abs=0.0)
    assert np.abs(cells.errors).max() == 0.0
    assert cells.masses.tolist() == [0.25] * 4


def test_one_agent_sees_the_whole_workspace():
    cells = tessellate(SQUARE, [(0.2, 0.7)])
    assert cells.centroids[0] == pytest.approx((0.5, 0.5), abs=1e-15)
    assert cells.second_moments[0] == pytest.approx(1 / 6, rel=1e-14, abs=0.0)
    assert cells.cost == pytest.approx(1 / 6 + 0.3**2 + 0.2**2, rel=1e-14, abs=0.0)


def test_hexagonal_cells_have_the_hexagon_constant():
    """Inside a hexagonal lattice each cell costs 5 / (18 sqrt 3) times its area squared."""
    step = 0.1
    rows = [
        (step * (i + 0.5 * (j % 2)), step * math.sqrt(3) / 2 * j)
        for j in range(-12, 13)
        for i in range(-12, 13)
    ]
    agents = np.array(rows)
    box = Box(tuple(agents.min(axis=0) - 0.05), tuple(agents.max(axis=0) + 0.05))
    cells = tessellate(box, agents)
    inner = np.hypot(*agents.T) < 0.6
    assert np.abs(cells.errors[inner]).max() < 1e-13 * step
    kappa = cells.second_moments[inner] / cells.masses[inner] ** 2
    assert kappa == pytest.approx(5 / (18 * math.sqrt(3)), rel=1e-12, abs=0.0)
