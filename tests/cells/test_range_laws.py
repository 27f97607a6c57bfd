"""Laws of cells with sensing radii or power weights: tiling, bits, cells as values, derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dwell
from dwell import Box, Gaussian, Interval, Polygon, Uniform
from dwell._kernels._jit import ENABLED
from dwell.cells.backend import borders, measure_cells
from dwell.cells.sensitivity import centroid_blocks
from dwell.cells.weighted_region import weighted_region
from tests.cells.test_ranges import DENSITIES, SLANTED, SQUARE, measured

radii = st.lists(st.floats(0.05, 4.0), min_size=1, max_size=12)


@given(radii, st.integers(0, 2**31), st.booleans())
@settings(max_examples=40 if ENABLED else 3, deadline=None)
def test_points_belong_to_the_agent_of_least_power(radius, seed, equal):
    """Random points lie in the cell of the agent whose power there is least, if it is negative."""
    rng = np.random.default_rng(seed)
    radius = np.full(len(radius), radius[0]) if equal else np.array(radius)
    points = rng.uniform((0, 0), (9, 5), (len(radius), 2))
    site = Polygon(SLANTED)
    cells = dwell.tessellate(site, points, radius=radius)
    lower, upper = site.bounds
    z = rng.uniform(lower, upper, (400, 2))
    z = z[site.contains(z)]
    power = ((z[:, None] - points) ** 2).sum(axis=2) - radius**2
    best = np.sort(np.column_stack([power, np.zeros(len(z))]), axis=1)
    clear = (np.abs(power).min(axis=1) > 1e-9) & (best[:, 1] - best[:, 0] > 1e-9)
    for p, cell in enumerate(cells.cells):
        inside = (power[:, p] < 0) & (power.argmin(axis=1) == p)
        assert (cell.contains(z) == inside)[clear].all()
        assert cell.volume == pytest.approx(cells.masses[p], rel=1e-10, abs=1e-13)
        assert cell.empty == (cells.masses[p] == 0.0)
        if not cell.empty:
            assert cell.centroid == pytest.approx(cells.centroids[p], abs=1e-9)


@pytest.mark.parametrize("count", [5, 40, 200])
def test_masses_add_up_to_that_of_the_union(count):
    """Equal radii large enough to cover all: the whole mass; else that of sampled points."""
    rng = np.random.default_rng(count)
    points, density = rng.uniform((1, 0), (8, 5), (count, 2)), DENSITIES["mixture"]
    site = Polygon(SLANTED)
    whole = dwell.moments(site, density).mass
    radius = rng.uniform(0.3, 2.0, count)
    for wide in (radius + 12.0, np.full(count, 12.0)):
        found = measured(site, points, density, radius=wide)
        assert math.fsum(found.mass) == pytest.approx(whole, rel=1e-13)
    found = measured(site, points, density, radius=radius)
    side = np.linspace(0, 1, 1500, endpoint=False) + 1 / 3000
    lower, upper = site.bounds
    z = lower + np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2) * (upper - lower)
    covered = np.zeros(len(z), dtype=bool)
    for x, r in zip(points, radius, strict=True):
        covered |= ((z - x) ** 2).sum(axis=1) < r * r
    z = z[covered & site.contains(z)]
    mass = density.at(z).sum() * np.prod(upper - lower) / len(side) ** 2
    assert math.fsum(found.mass) == pytest.approx(mass, rel=2e-4)


def test_the_cost_is_the_integral_that_it_says():
    points, radius = np.array([(1.0, 1.0), (2.2, 1.4), (6.0, 3.0)]), np.array([1.0, 1.6, 0.7])
    cells = dwell.tessellate(Box((0, 0), (8, 4)), points, Gaussian((3, 2), rate=0.1), radius=radius)
    side = (np.arange(1200) + 0.5) / 1200
    z = np.stack(np.meshgrid(8 * side, 4 * side), axis=-1).reshape(-1, 2)
    power = (((z[:, None] - points) ** 2).sum(axis=2) - radius**2).min(axis=1)
    height = 1.6**2 + np.minimum(0.0, power)
    weight = Gaussian((3, 2), rate=0.1).at(z) * 32 / len(z)
    assert cells.cost == pytest.approx((height * weight).sum(), rel=1e-6)


def test_the_cost_descends_along_the_errors():
    """Its derivative with respect to a position is -2 m e, with arcs or not."""
    points = np.array([(1.0, 1.0), (2.2, 1.4), (2.4, 2.9), (6.0, 3.0)])
    radius, site = np.array([1.0, 1.6, 1.2, 0.7]), Box((0, 0), (8, 4))
    density = Gaussian((3, 2), rate=0.1)

    def cost(x):
        return dwell.tessellate(site, x, density, radius=radius).cost

    cells, h = dwell.tessellate(site, points, density, radius=radius), 1e-5
    for p in range(len(points)):
        for k in range(2):
            step = np.zeros_like(points)
            step[p, k] = h
            slope = (cost(points + step) - cost(points - step)) / (2 * h)
            assert slope == pytest.approx(-2 * cells.masses[p] * cells.errors[p, k], abs=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(scale):
    points, radius = np.array([(1.0, 1.0), (2.2, 1.4), (2.4, 2.9)]), np.array([1.0, 1.6, 1.2])
    one = measured(Box((0, 0), (4, 4)), points, radius=radius)
    other = measured(Box((0, 0), (4 * scale, 4 * scale)), scale * points, radius=scale * radius)
    assert other.mass / scale**2 == pytest.approx(one.mass, rel=1e-13)
    assert other.error / scale == pytest.approx(one.error, abs=1e-13)


def test_an_offset_costs_no_digits():
    points, radius = np.array([(1.0, 1.0), (2.25, 1.5), (2.5, 3.0)]), np.array([1.0, 1.6, 1.2])
    one = measured(Box((0, 0), (4, 4)), points, radius=radius)
    far = 2.0**30
    other = measured(Box((far, far), (far + 4, far + 4)), far + points, radius=radius)
    assert other.mass == pytest.approx(one.mass, rel=1e-14)
    assert other.error == pytest.approx(one.error, abs=1e-14)


@pytest.mark.parametrize("count", [40, 150])
def test_renumbering_changes_no_bit(count):
    rng = np.random.default_rng(count)
    points, radius = rng.uniform(0, 4, (count, 2)), rng.uniform(0.2, 1.0, count)
    radius[::3] = 0.7
    turn = rng.permutation(count)
    one = measured(Box((0, 0), (4, 4)), points, DENSITIES["usual"], radius=radius)
    other = measured(Box((0, 0), (4, 4)), points[turn], DENSITIES["usual"], radius=radius[turn])
    for name in ("mass", "error", "polar", "neighbors", "nearest"):
        assert np.array_equal(getattr(one, name)[turn], getattr(other, name))


def lattice():
    x = np.arange(12) / 12 + 1 / 24
    return np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)


def scattered(count):
    return np.random.default_rng(count).uniform(0, 1, (count, 2))


LAYOUTS = {
    "few": scattered(30),
    "many": scattered(400),
    "lattice": lattice(),
    "needles": np.column_stack([scattered(80)[:, 0], 0.5 + 1e-9 * scattered(80)[:, 1]]),
    "outside": np.vstack([scattered(20), [(1.5, 0.5), (-0.2, -0.3)]]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["uniform", "usual", "mixture"])
@pytest.mark.parametrize("r", [3.0, 1e6])
def test_a_radius_beyond_the_workspace_changes_no_bit(layout, name, r):
    points, site = LAYOUTS[layout], Box((0, 0), (1, 1))
    plain = measured(site, points, DENSITIES[name])
    within = measured(site, points, DENSITIES[name], radius=np.full(len(points), r))
    for field in ("mass", "error", "polar", "log_scale", "neighbors", "nearest", "empty"):
        a, b = getattr(plain, field), getattr(within, field)
        if field == "error":  # an agent whose cell weighs nothing stands still
            a, b = a[~plain.empty], b[~plain.empty]
        assert a.tobytes() == b.tobytes()
    if not plain.empty.any():
        costs = (dwell.tessellate(site, points, DENSITIES[name], radius=s) for s in (None, r))
        assert math.fsum(plain.polar) == pytest.approx(next(costs).cost, rel=1e-12)


@pytest.mark.parametrize("layout", ["few", "many"])
def test_cells_within_their_discs_have_the_bits_of_voronoi_cells(layout):
    """A radius that cuts some cells leaves the others as they are."""
    points, site = LAYOUTS[layout], Box((0, 0), (1, 1))
    plain = dwell.tessellate(site, points)
    reach = np.array([np.sqrt((cell.offsets**2).sum(axis=1).max()) for cell in plain.cells])
    for r in np.quantile(reach, [0.3, 0.9]):
        found = dwell.tessellate(site, points, radius=float(r))
        free = reach <= r * (1 - 1e-12)
        assert free.any()
        assert found.masses[free].tobytes() == plain.masses[free].tobytes()
        assert found.errors[free].tobytes() == plain.errors[free].tobytes()
        assert (found.masses < plain.masses)[reach > 1.0001 * r].all()


@pytest.mark.parametrize("threads", [1, 4])
def test_threads_and_selections_change_no_bit(threads):
    rng = np.random.default_rng(5)
    points, ground = rng.uniform(0, 1, (3, 300, 2)), weighted_region(Box((0, 0), (1, 1)), Uniform())
    row, agent = np.divmod(rng.permutation(900)[:500], 300)
    for radius in (np.full(300, 0.05), np.full(300, 0.4), rng.uniform(0.02, 0.1, 300)):
        whole = measure_cells(ground, points, *np.divmod(np.arange(900), 300), radius=radius)
        some = measure_cells(ground, points, row, agent, threads=threads, radius=radius)
        assert some.mass.tobytes() == whole.mass[300 * row + agent].tobytes()
        assert some.error.tobytes() == whole.error[300 * row + agent].tobytes()


# Cells as values.


def test_an_outline_follows_edges_and_arcs():
    cells = dwell.tessellate(SQUARE, [(-4.6, 0.0), (-3.9, 0.0)], radius=1.0)
    for cell in cells.cells:
        assert cell.arcs.any()
        assert not cell.arcs.all()
        ring = cell.outline(2000)
        x, y = ring.T
        area = 0.5 * (x * np.roll(y, -1) - np.roll(x, -1) * y).sum()
        assert area == pytest.approx(cell.volume, rel=1e-5)
        assert (np.hypot(*(ring - cell.position).T) <= 1.0 + 1e-12).all()
    assert cells.neighbors == [[1], [0]]
    edge = cells.shared_edge(0, 1)
    assert edge is not None
    assert edge[:, 0] == pytest.approx([-4.25, -4.25])


def test_agents_out_of_reach_are_no_neighbours():
    cells = dwell.tessellate(SQUARE, [(-2.0, 0.0), (0.0, 0.0), (3.0, 0.0)], radius=1.2)
    assert cells.neighbors == [[1], [0], []]
    assert cells.touching == cells.neighbors
    assert cells.cells[2].arcs.tolist() == [True] * 4


def test_weights_move_borders_and_nothing_else():
    cells = dwell.tessellate(SQUARE, [(-1.0, 0.0), (1.0, 0.0)], weights=[1.0, 0.0])
    assert cells.masses == pytest.approx([52.5, 47.5])
    assert math.fsum(cells.masses) == pytest.approx(100.0)
    assert cells.cell(0).edge_with(1)[:, 0] == pytest.approx([0.25, 0.25])
    shifted = dwell.tessellate(SQUARE, [(-1.0, 0.0), (1.0, 0.0)], weights=[8.0, 7.0])
    assert shifted.masses.tolist() == cells.masses.tolist()


@pytest.mark.parametrize("power", [{"radius": 1.0}, {"weights": [0.2, 0.0]}])
def test_cells_are_drawn(power):
    for site, points in ((SQUARE, [(-1, 0), (0.3, 0)]), (Interval(-2, 2), [-0.5, 0.5])):
        figure = dwell.tessellate(site, points, **power).plot()
        assert figure.axes


# Derivatives.


@pytest.mark.parametrize("name", ["uniform", "polynomial", "usual", "narrow"])
@pytest.mark.parametrize("kind", ["equal", "unequal", "weights"])
def test_centroids_change_as_their_derivatives_say(name, kind):
    points = np.array([(1, 1), (2, 3.5), (4, 1.0), (4.5, 4), (6, 2.5), (8, 2.6)])
    count = len(points)
    power = {
        "equal": {"radius": np.full(count, 1.3)},
        "unequal": {"radius": np.array([0.9, 1.7, 1.2, 1.9, 1.1, 1.4])},
        "weights": {"weights": np.array([0.3, -0.2, 0.1, 0.4, -0.5, 0.0])},
    }[kind]
    site, density = Polygon(SLANTED), DENSITIES[name]
    if name == "narrow":
        density = Gaussian((4.4, 2.0), rate=3.0)
    found = borders(site, points, density, **power)
    own, towards = centroid_blocks(found)
    exact = np.zeros((count, 2, count, 2))
    exact[np.arange(count), :, np.arange(count)] += own
    np.add.at(exact, (found.agent, slice(None), found.other), towards)
    h = 1e-5
    for q in range(count):
        for k in range(2):
            step = np.zeros_like(points)
            step[q, k] = h
            ahead, back = (
                measured(site, x, density, **power) for x in (points + step, points - step)
            )
            slope = (ahead.error - back.error) / (2 * h)
            slope[q, k] += 1.0
            assert exact[:, :, q, k] == pytest.approx(slope, abs=1e-7)


def test_derivatives_on_the_line():
    points, radius = np.array([0.1, 0.35, 0.8]), np.array([0.2, 0.15, 0.12])
    density = Gaussian((0.3,), rate=2.0)
    found = borders(Interval(0, 1), points[:, None], density, radius=radius)
    own, towards = centroid_blocks(found)
    exact = np.zeros((3, 3))
    exact[np.arange(3), np.arange(3)] = own[:, 0, 0]
    exact[found.agent, found.other] = towards[:, 0, 0]
    for q in range(3):
        step = 1e-6 * np.eye(3)[q]
        pair = (points + step)[:, None], (points - step)[:, None]
        ahead, back = (measured(Interval(0, 1), x, density, radius=radius) for x in pair)
        slope = (ahead.error - back.error)[:, 0] / 2e-6 + np.eye(3)[q]
        assert exact[:, q] == pytest.approx(slope, abs=1e-7)
