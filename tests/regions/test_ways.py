"""Ways in regions of any size and with thin walls, and runs that cross walls."""

import itertools

import numpy as np
import pytest
import shapely

import dwell
from dwell._types import lengths
from dwell.geometry.routes import Routes
from dwell.verify.reference_ways import ReferenceWays
from tests.geometry.test_routes import coast, inner_points, length_of

U = np.array([(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)], dtype=float)


def by_brute_force(rings, begin, end):
    """The length of the shortest path over all vertices, by shapely; rings of about unit size."""
    site = shapely.Polygon(rings[0], rings[1:])
    nodes = np.vstack([begin, end, *rings])
    first, second = np.triu_indices(len(nodes), 1)
    lines = shapely.linestrings(np.stack([nodes[first], nodes[second]], axis=1))
    open_ = shapely.covers(site.buffer(1e-11), lines)
    far = np.full((len(nodes), len(nodes)), np.inf)
    far[first[open_], second[open_]] = lengths(nodes[first] - nodes[second])[open_]
    far = np.minimum(far, far.T)
    best = far[0].copy()
    for _ in nodes:
        best = np.minimum(best, (best[:, None] + far).min(axis=0))
    return best[1]


@pytest.mark.parametrize("scale", [10.0**k for k in range(-9, 8, 2)])
@pytest.mark.parametrize("seed", range(2))
def test_paths_have_the_same_shape_at_every_scale(scale, seed):
    rng = np.random.default_rng(seed)
    rings = coast(rng)
    routes = Routes([scale * ring for ring in rings])
    other = ReferenceWays([scale * ring for ring in rings])
    for begin, end in itertools.combinations(inner_points(rings, rng, 4), 2):
        expected = scale * by_brute_force(rings, begin, end)
        path = routes.path(scale * begin, scale * end)
        assert length_of(path) == pytest.approx(expected, rel=1e-9)
        way = other.way(scale * begin, scale * end)
        assert float(lengths(way)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("half", [10.0**k for k in range(-11, -1)])
def test_paths_turn_at_both_ends_of_a_wall_however_thin(half):
    ring = [
        (0, 0), (3, 0), (3, 3), (1.5 + half, 3), (1.5 + half, 1), (1.5, 1), (1.5, 3), (0, 3),
    ]  # fmt: skip
    begin, end = np.array([1.0, 2.0]), np.array([2.0, 2.0])
    expected = np.hypot(0.5, 1.0) + half + np.hypot(0.5 - half, 1.0)
    path = Routes([np.array(ring)]).path(begin, end)
    assert length_of(path) == pytest.approx(expected, rel=1e-9)
    way = ReferenceWays([np.array(ring)]).way(begin, end)
    assert float(lengths(way)) == pytest.approx(expected, rel=1e-9)


def test_a_gap_between_two_islands_is_narrow_and_open():
    outer = np.array([(0, 0), (4, 0), (4, 4), (0, 4)], dtype=float)
    gap = 5e-9
    left = np.array([(1, 0.5), (1, 3.5), (2 - gap, 3.5), (2 - gap, 0.5)])
    right = np.array([(2, 0.5), (2, 3.5), (3, 3.5), (3, 0.5)])
    begin, end = np.array([0.5, 3.0]), np.array([3.5, 3.0])
    expected = 2.0 * np.hypot(0.5, 0.5) + 2.0
    assert length_of(Routes([outer, left, right]).path(begin, end)) == pytest.approx(expected)


def simulated(ring, scale=1.0, until=30.0):
    """A run in which an agent has to go round a wall."""
    law = dwell.Timer(k1=0.3 * scale, nu=0.1 * scale, t1=0.2, t2=0.4)
    density = dwell.Gaussian((2.2 * scale, 2.5 * scale), rate=3.0 / scale**2)
    region = dwell.Region(np.array(ring) * scale, stay=True)
    return dwell.simulate(region, density, [(1.0 * scale, 2.5 * scale)], law, until=until, seed=1)


@pytest.mark.parametrize("scale", [1e-9, 1e-8, 1.0, 1e6])
@pytest.mark.parametrize("half", [5e-9, 1e-3, 0.5])
def test_agents_go_round_walls_at_every_scale(scale, half):
    if scale * half < 1e-13:
        half = 0.5
    ring = [
        (0, 0), (3, 0), (3, 3), (1.5 + half, 3), (1.5 + half, 1), (1.5, 1), (1.5, 3), (0, 3),
    ]  # fmt: skip
    run = simulated(ring, scale)
    report = dwell.check(run)
    assert report.ok, str(report)
    assert {f.name: f.status for f in report.findings}["crossings"] == "holds"
    times = np.linspace(0.0, 30.0, 601)
    for place in run.positions(times)[:, 0] / scale:
        assert shapely.Polygon(ring).distance(shapely.Point(place)) < 1e-10


@pytest.mark.parametrize("half", [5e-9, 1e-3, 0.5])
def test_a_run_through_a_wall_is_found(half, monkeypatch):
    """Whatever the table of ways says: here, that no wall is there."""

    def straight(self, positions, errors):
        return np.array(errors), lengths(errors)

    monkeypatch.setattr(Routes, "ways", straight)
    ring = [
        (0, 0), (3, 0), (3, 3), (1.5 + half, 3), (1.5 + half, 1), (1.5, 1), (1.5, 3), (0, 3),
    ]  # fmt: skip
    report = dwell.check(simulated(ring))
    violated = {f.name for f in report.findings if f.status == "violated"}
    assert {"crossings", "by-hand"} <= violated


def test_where_there_is_no_way_an_agent_stands():
    routes = Routes([U])
    hidden = 2
    routes._corner_list.known[:] = hidden
    position, error = np.array([[0.5, 2.9]]), np.array([[2.0, 0.0]])
    assert routes.path(position[0], (position + error)[0]) is None
    found, stretch = routes.ways(position, error)
    assert (found.tolist(), stretch.tolist()) == (error.tolist(), [0.0])


def test_positions_belong_to_the_part_that_holds_them_or_is_nearest():
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], dtype=float)
    bay = [(3, 0), (6, 0), (6, 3), (5, 3), (5, 1), (4, 1), (4, 3), (3, 3)]
    islet = np.array([(4.4, 2.0), (4.6, 2.0), (4.6, 2.2), (4.4, 2.2)])
    site = dwell.Region([square, bay, islet], stay=True)
    positions = [(0.5, 0.5), (3.5, 0.5), (4.5, 2.1), (4.5, 1.2), (4.5, 1.8), (1.9, 0.5), (2.1, 0.5)]
    assert site.parts_at(np.array(positions)).tolist() == [0, 1, 2, 1, 2, 0, 1]
    # Each agent stays in its own part, the second one round the notch.
    start = [(0.5, 0.9), (3.2, 2.8), (5.8, 2.8)]
    law = dwell.Timer(k1=0.5, nu=0.05, t1=0.1, t2=0.2)
    run = dwell.simulate(site, dwell.Gaussian((4.5, 2.1), rate=0.3), start, law, until=20.0, seed=1)
    assert site.parts_at(run.positions(20.0)).tolist() == [0, 1, 1]
    assert dwell.check(run).ok
