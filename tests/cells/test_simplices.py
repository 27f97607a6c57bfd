"""Cells in any dimension by simplices: against closed forms, other dimensions, and sums."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from dwell import Box, Gaussian, Interval, Mixture, Polynomial, Polytope, Uniform
from dwell.cells import interval as line
from dwell.cells import polygon as plane
from dwell.cells import simplices
from dwell.cells.adaptive import Rule, conical, nested
from dwell.cells.weighted_region import weighted_region
from dwell.density.function import Function
from dwell.errors import AgentsError
from dwell.geometry.halfspace_cells import cell_pieces


def all_looks(way, workspace, density, points):
    who = np.arange(len(points))
    return way.measure(weighted_region(workspace, density), points[None], np.zeros_like(who), who)


def volumes(workspace, points, agents=None):
    found = []
    for p in range(len(points)) if agents is None else agents:
        corners = cell_pieces(workspace, points, p).corners
        found.append(np.linalg.det(corners[:, 1:] - corners[:, :1]).sum())
    return np.array(found) / math.factorial(points.shape[1])


def unit_box(n, offset=0.0):
    return Box(np.full(n, offset), np.full(n, offset + 1.0))


def lattice(n, side):
    return (np.array(list(itertools.product(range(side), repeat=n))) + 0.5) / side


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_rules_are_exact_to_their_degree(k):
    rng = np.random.default_rng(k)
    pair = nested(k, 4)
    columns = [(Rule(pair.nodes, pair.weights[:, c : c + 1]), 9 - 2 * c) for c in range(3)]
    for rule, degree in [(conical(k, 6), 7), (conical(k, 1), 1), *columns]:
        for _ in range(20):
            powers = rng.multinomial(rng.integers(0, degree + 1), np.ones(k) / k)
            exact = math.factorial(k) * math.prod(map(math.factorial, powers.tolist()))
            exact /= math.factorial(k + int(powers.sum()))
            value = (rule.weights[:, 0] * np.prod(rule.nodes[:, 1:] ** powers, axis=1)).sum()
            assert value == pytest.approx(exact, rel=1e-12, abs=0.0)


def tilings(n):
    """Workspaces and agents: anywhere, far from the origin, on a sphere, on the boundary, in pairs
    and outside."""
    rng = np.random.default_rng(n)
    yield unit_box(n), rng.random((12, n))
    yield unit_box(n, 5e6), rng.random((12, n)) + 5e6
    if n in (3, 4):
        arms = rng.normal(size=(12, n))
        sphere = 0.5 + 0.3 * arms / np.linalg.norm(arms, axis=1)[:, None]
        corners, close = np.array(list(itertools.product((0.0, 1.0), repeat=n))), rng.random((5, n))
        yield unit_box(n), np.vstack([sphere, np.full((1, n), 0.5)])
        yield unit_box(n), np.vstack([corners[:6], close])
        yield unit_box(n), np.vstack([close, close + 1e-9 * rng.normal(size=close.shape)])
        shape = Polytope(rng.normal(size=(3 * n, n)))
        yield shape, shape.vertices.mean(axis=0) + rng.normal(size=(10, n))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_cells_tile_the_workspace(n):
    for workspace, points in tilings(n):
        total = math.fsum(volumes(workspace, points))
        assert total == pytest.approx(workspace.volume, rel=1e-12, abs=0.0)


@pytest.mark.parametrize(
    ("n", "side", "noise"),
    [(n, side, noise) for n, side in ((3, 3), (4, 2)) for noise in (0.0, 1e-15, 1e-13, 1e-11, 1e-9)]
    + [(5, 2, noise) for noise in (0.0, 1e-15, 1e-11)],  # each takes seconds there
)
def test_lattices_in_which_many_cells_meet_in_a_corner(n, side, noise):
    points = lattice(n, side)
    points = points + noise * np.random.default_rng(0).normal(size=points.shape)
    found = volumes(unit_box(n), points)
    assert found == pytest.approx(np.full(len(points), side**-n), rel=1e-12 + 40 * noise)
    assert math.fsum(found) == pytest.approx(1.0, rel=1e-12 if n < 5 else 1e-11)


def test_the_cell_of_the_densest_lattice_in_four_dimensions_is_the_24_cell():
    points = [v for v in itertools.product(range(-2, 3), repeat=4) if sum(v) % 2 == 0]
    points = np.array(points, dtype=float)
    middle = int(np.argmin((points**2).sum(axis=1)))
    pieces = cell_pieces(Box(np.full(4, -3.0), np.full(4, 3.0)), points, middle)
    assert len(pieces.vertices) == 24
    assert len(np.unique(pieces.behind)) == 24
    assert volumes(Box(np.full(4, -3.0), np.full(4, 3.0)), points, [middle])[0] == pytest.approx(
        2.0
    )


@pytest.mark.parametrize("n", [2, 3, 4])
def test_cells_fill_a_box_of_unequal_sides(n):
    sides = 1.0 + np.arange(n)
    points = 5.0 + np.random.default_rng(n).random((7, n)) * sides
    volume = math.fsum(volumes(Box(np.full(n, 5.0), 5.0 + sides), points))
    assert volume == pytest.approx(math.prod(sides), rel=1e-12)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_polynomials_are_exact(n):
    points = np.random.default_rng(n).random((6, n))
    density = Polynomial(
        [(2, *[0] * (n - 1), 1.0), (*[1] * 2, *[0] * (n - 2), 3.0), (*[0] * n, 0.1)]
    )
    seen = all_looks(simplices, unit_box(n), density, points)
    assert math.fsum(seen.mass) == pytest.approx(1 / 3 + 3 / 4 + 0.1, rel=1e-13, abs=0.0)
    first = (seen.mass[:, None] * (points + seen.error)).sum(axis=0)
    assert first[0] == pytest.approx(1 / 4 + 1 / 2 + 0.05, rel=1e-12, abs=0.0)
    assert first[-1] == pytest.approx(1 / 6 + 3 / 8 + 0.05, rel=1e-12, abs=0.0)
    assert (seen.doubt == 0.0).all()
    # The second moment about the centroids, by parallel axes about the origin.
    center = points + seen.error
    polar = math.fsum(seen.second + seen.mass * (center**2).sum(axis=1))
    axis = {0: 1 / 5 + 3 / 8 + 0.1 / 3, 1: 1 / 9 + 3 / 8 + 0.1 / 3}
    rest = 1 / 9 + 3 / 12 + 0.1 / 3
    assert polar == pytest.approx(axis[0] + axis[1] + (n - 2) * rest, rel=1e-12, abs=0.0)


def erf_product(rate, center, n):
    root = math.sqrt(rate)
    ends = math.erf(root * (1 - center)) + math.erf(root * center)
    return (math.sqrt(math.pi / rate) / 2 * ends) ** n


@pytest.mark.parametrize(("n", "rate"), [(3, 2.0), (3, 30.0), (4, 1.0)])
def test_gaussians_within_the_error_they_state(n, rate):
    points = np.random.default_rng(1).random((6, n))
    seen = all_looks(simplices, unit_box(n), Gaussian([0.4] * n, rate=rate), points)
    total = math.fsum(seen.mass)
    wrong = abs(total / erf_product(rate, 0.4, n) - 1.0)
    assert wrong <= seen.doubt.max() + 1e-13
    assert seen.doubt.max() <= {3: 1e-9, 4: 1e-6}[n]


def test_a_narrow_hill_is_not_missed():
    seen = all_looks(
        simplices, unit_box(3), Gaussian([0.31, 0.62, 0.47], rate=5e2), np.full((1, 3), 0.9)
    )
    assert seen.mass[0] == pytest.approx((math.pi / 5e2) ** 1.5, rel=1e-6)
    assert (0.9 + seen.error[0]) == pytest.approx([0.31, 0.62, 0.47], abs=1e-6)


@pytest.mark.parametrize("n", [3, 4])
def test_a_hill_far_out_and_one_much_narrower_than_its_cell(n):
    """As products of integrals over the sides of a box, whose halves are the two cells."""
    for place, rate in ((0.31, 1e5), (9.0, 3.0)):
        hill, points = Gaussian([place] * n, rate=rate), np.full((2, n), 0.2)
        points[1, 0] = -0.2
        found = all_looks(simplices, Box([-1] * n, [1] * n), hill, points)
        with mp.workdps(30):
            root = mp.sqrt(rate)
            edges = [mp.erfc(root * (place - x)) for x in (-1, 0, 1)]
            sides = [edges[2] - edges[1], edges[1] - edges[0]]
            rest = (n - 1) * mp.log(edges[2] - edges[0])
            wanted = [mp.log(side) + rest + n * mp.log(mp.sqrt(mp.pi) / 2 / root) for side in sides]
        logs = np.log(found.mass) + found.log_scale
        assert logs[0] == pytest.approx(float(wanted[0]), abs=2e-6)
        assert abs(logs[1] - float(wanted[1])) <= found.doubt[1] + 1e-9


def test_functions_on_the_line_agree_with_closed_forms():
    points, hill = np.random.default_rng(0).random((9, 1)), Gaussian((0.3,), rate=20.0)
    exact = all_looks(line, Interval(0, 1), hill, points)
    seen = all_looks(line, Interval(0, 1), Function(hill.at), points)
    assert seen.mass == pytest.approx(exact.mass, rel=1e-12, abs=0.0)
    assert seen.error == pytest.approx(exact.error, abs=1e-13)
    assert seen.second == pytest.approx(exact.second, rel=1e-10, abs=0.0)
    assert (seen.neighbors == exact.neighbors).all()
    assert (seen.nearest == exact.nearest).all()
    jump = Function(lambda z: np.where(z[:, 0] > 0.37, 2.0, 1.0))
    rough = all_looks(line, Interval(0, 1), jump, points)
    assert abs(math.fsum(rough.mass) - 1.63) <= 1.63 * rough.doubt.max() + 1e-12


def test_in_the_plane_it_agrees_with_the_planar_kernels():
    points = np.random.default_rng(0).random((8, 2))
    hill = Mixture((Uniform(0.2), Gaussian((0.3, 0.4), covariance=((0.05, 0.02), (0.02, 0.03)))))
    exact = all_looks(plane, unit_box(2), hill, points)
    seen = all_looks(simplices, unit_box(2), Function(hill.at), points)
    assert seen.mass == pytest.approx(exact.mass, rel=1e-10, abs=0.0)
    assert seen.error == pytest.approx(exact.error, abs=1e-10)
    assert (seen.neighbors == exact.neighbors).all()
    ours, theirs = simplices.cells(unit_box(2), points), plane.cells(unit_box(2), points)
    for cell, other in zip(ours, theirs, strict=True):
        assert set(cell.borders.tolist()) == set(other.borders.tolist())
        assert len(cell.vertices) == len(other.vertices)


def test_functions_in_space():
    points, hill = np.random.default_rng(4).random((4, 3)), Gaussian((0.4,) * 3, rate=2.0)
    by_terms = all_looks(simplices, unit_box(3), hill, points)
    by_calls = all_looks(simplices, unit_box(3), Function(hill.at), points)
    assert by_calls.mass == pytest.approx(by_terms.mass, rel=1e-10, abs=0.0)
    ball = Function(lambda z: (((z - 0.5) ** 2).sum(axis=1) < 0.16).astype(float))
    seen = all_looks(simplices, unit_box(3), ball, points[:1])
    exact = 4 / 3 * math.pi * 0.4**3
    assert abs(seen.mass[0] / exact - 1.0) <= seen.doubt[0]
    assert seen.doubt[0] < 0.5


@pytest.mark.parametrize("n", [3, 4])
def test_the_walls_of_a_cell_balance(n):
    """The integral of the outward normal over a closed surface is zero."""
    points = np.random.default_rng(5).random((9, n)) * 0.2 + 0.4
    found = simplices.borders(weighted_region(unit_box(n), Uniform()), points)
    for p in range(len(points)):
        cell = simplices.cells(unit_box(n), points, [p])[0]
        if (cell.borders < 0).any():
            continue
        own = found.agent == p
        normal = found.gap[own] / np.linalg.norm(found.gap[own], axis=1)[:, None]
        assert np.abs((found.m0[own, None] * normal).sum(axis=0)).max() <= 1e-12
    order = {(p, q): m for p, q, m in zip(found.agent, found.other, found.m0, strict=True)}
    assert all(order[q, p] == pytest.approx(m, rel=1e-9, abs=0.0) for (p, q), m in order.items())


def test_agents_at_one_place_are_found():
    points = np.array([[0.1] * 4, [0.5] * 4, [0.1] * 4])
    assert all_looks(simplices, unit_box(4), Uniform(), points).coincident.tolist() == [
        True,
        False,
        True,
    ]
    with pytest.raises(AgentsError, match="agents 0 and 2"):
        simplices.cells(unit_box(4), points)
