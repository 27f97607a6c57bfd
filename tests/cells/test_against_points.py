"""Cells without symmetry against sums over many points, and tables of measurements by hand."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Ellipsoid, Gaussian, Interval, Polygon, Polytope, Region, Uniform
from dwell.cells.facets import as_borders
from dwell.cells.grid import lattice_axes, lattice_terms
from dwell.cells.measurement import CellMeasurements, absent, in_one, together
from dwell.cells.polygon_moments import exact_fan
from dwell.cells.rings import cell_rings
from dwell.errors import AgentsError, DensityError, WorkspaceError

TURN = [[0.8, 0.6], [-0.6, 0.8]]
PLACES = np.array([(7.3, 4.2), (9.5, 4.4), (8.2, 6.1), (9.1, 5.2), (7.9, 4.9)])
HILL = Gaussian((8.0, 5.5), None, [[1.5, 0.5], [0.5, 0.8]], 2.0)
SITES: dict[str, Any] = {
    "polygon": Polygon([(7, 3), (11, 4), (10, 8), (6.5, 6)]),
    "box": Box((7, 3), (10, 8)),
    "disc": Ball((8.5, 5), 1.9),
    "ellipse": Ellipsoid((8.5, 5), (2.5, 1.2), TURN),
    "region": Region(
        [{"outer": [(6, 3), (11, 3), (11, 8), (6, 8)], "holes": [[(8, 4), (9, 4), (9, 4.8)]]},
         [(12, 3), (13, 3), (13, 6)]]
    ),
}  # fmt: skip


def grid(site: Any, count: int = 700) -> tuple[np.ndarray, float]:
    """Midpoints of small boxes in a workspace, and the content of one."""
    lower, upper = (np.array(end) for end in site.bounds)
    axes = [
        a + (b - a) * (np.arange(count) + 0.5) / count for a, b in zip(lower, upper, strict=True)
    ]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(lower))
    content = float((upper - lower).prod()) / len(points)
    if isinstance(site, Region):
        return points[site.covers(points)], content
    if isinstance(site, Ball | Ellipsoid):
        local = (points - np.array(site.center)) @ np.array(site.axes).T
        return points[((local / np.array(site.semi_axes)) ** 2).sum(axis=1) <= 1.0], content
    return points[(points @ site.normals.T <= site.offsets).all(axis=1)], content


def sums(site: Any, places: np.ndarray, weight: Any, power: Any, radius: Any, count: int) -> Any:
    """Masses, centroids and costs by sums over points."""
    points, content = grid(site, count)
    square = ((points[:, None] - places[None]) ** 2).sum(axis=2)
    owner = (square - np.asarray(power)).argmin(axis=1)
    own = square[np.arange(len(points)), owner]
    rho = weight.at(points) * content
    kept = own <= np.broadcast_to(np.asarray(radius) ** 2, len(places))[owner]
    rho = np.where(kept, rho, 0.0)
    mass = np.bincount(owner, rho, len(places))
    first = np.array([np.bincount(owner, rho * x, len(places)) for x in points.T]).T
    return mass, first / mass[:, None], np.bincount(owner, rho * own, len(places))


RADII = np.array([0.9, 0.5, 1.1, 0.6, 0.8])
POWERS = np.array([0.3, -0.2, 0.1, 0.2, 0.0])
CASES = [(name, weight, "") for name in SITES for weight in (Uniform(2.0), HILL)]
CASES += [(name, HILL, how) for name in ("polygon", "box") for how in ("radius", "weights")]


@pytest.mark.parametrize(("name", "weight", "how"), CASES)
def test_cells_in_the_plane(name: str, weight: Any, how: str) -> None:
    site, options = SITES[name], {}
    power, radius = np.zeros(5), np.full(5, np.inf)
    if how == "radius":
        power, radius, options = RADII**2, RADII, {"radius": RADII}
    if how == "weights":
        power, options = POWERS, {"weights": POWERS}
    cells = dwell.tessellate(site, PLACES, weight, **options)
    mass, centroid, cost = sums(site, PLACES, weight, power, radius, 700)
    np.testing.assert_allclose(cells.masses, mass, rtol=8e-3)
    np.testing.assert_allclose(cells.log_masses, np.log(cells.masses))
    np.testing.assert_allclose(cells.centroids, centroid, atol=8e-3)
    np.testing.assert_allclose(cells.costs, cost, rtol=2e-2)
    about = ((cells.centroids - PLACES) ** 2).sum(axis=1)
    np.testing.assert_allclose(cells.costs, cells.second_moments + cells.masses * about)
    if how == "radius":  # what no agent reaches costs the square of the largest radius
        points, content = grid(site)
        square = ((points[:, None] - PLACES[None]) ** 2).sum(axis=2)
        most = RADII.max() ** 2
        least = np.minimum(square + most - RADII**2, most).min(axis=1)
        assert cells.cost == pytest.approx((weight.at(points) * least).sum() * content, rel=5e-3)
    else:
        assert cells.cost == pytest.approx(cells.costs.sum())
    # Neighbours: agents that are nearest and second nearest at some point of the hull.
    for p, others in enumerate(cells.neighbors):
        assert others == sorted(others)
        assert p not in others
        for q in others:
            assert p in cells.neighbors[q]
    if not how and name in ("polygon", "box"):
        points, _ = grid(site)
        square = ((points[:, None] - PLACES[None]) ** 2).sum(axis=2)
        order = np.argsort(square, axis=1)
        gap = np.sqrt(square[np.arange(len(points)), order[:, 1]])
        gap -= np.sqrt(square[np.arange(len(points)), order[:, 0]])
        pairs = {(int(a), int(b)) for a, b in order[gap < 0.004, :2]}
        found = {(p, q) for p, others in enumerate(cells.neighbors) for q in others}
        assert {(min(pair), max(pair)) for pair in pairs} == {
            (min(pair), max(pair)) for pair in found
        }
        for p, q in found:
            edge = cells.shared_edge(p, q)
            assert edge is not None
            twice = cells.shared_edge(q, p)
            assert twice is not None
            assert edge.tobytes() == twice.tobytes()
            gaps = np.linalg.norm(edge[:, None] - PLACES[[p, q]][None], axis=2)
            np.testing.assert_allclose(gaps[:, 0], gaps[:, 1])
    areas = np.array([0.5 * _turn(ring) for ring in cell_rings(site, PLACES, **options) or []])
    assert (areas > 0.0).all()
    if name != "region" and isinstance(weight, Uniform):
        np.testing.assert_allclose(2.0 * areas, cells.masses, rtol=1e-3)
    with pytest.raises(AgentsError):
        cells.cell(5)


def _turn(ring: np.ndarray) -> float:
    x, y = ring.T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


LINE, SPACE = np.array([[1.2], [3.4], [2.1]]), np.array([(1, 1, 1), (1.7, 1.2, 2.5), (0.5, 2, 3.0)])
SOLIDS = [
    (Interval(1.0, 3.5), LINE, Gaussian((2.0,), 0.5), ""),
    (Interval(1.0, 3.5), LINE, Uniform(2.0), "radius"),
    (Interval(1.0, 3.5), LINE, Uniform(2.0), "weights"),
    (Box((0, 0, 0), (2, 3, 4)), SPACE, Gaussian((1, 1, 2), 0.3), ""),
    (Polytope([(0, 0, 0), (4, 0, 0), (0, 5, 0), (0, 0, 6)]), SPACE[[0, 2]] * 0.6, Uniform(2.0), ""),
]


@pytest.mark.parametrize(("site", "places", "weight", "how"), SOLIDS)
def test_cells_on_the_line_and_in_space(site: Any, places: Any, weight: Any, how: str) -> None:
    power, radius, options = np.zeros(len(places)), np.full(len(places), np.inf), {}
    if how == "radius":
        radius = np.array([0.5, 0.4, 0.6])
        power, options = radius**2, {"radius": radius}
    if how == "weights":
        power = np.array([0.3, -0.2, 0.1])
        options = {"weights": power}
    cells = dwell.tessellate(site, places, weight, **options)
    count = 90 if site.dimension == 3 else 20_000
    mass, centroid, cost = sums(site, places, weight, power, radius, count)
    np.testing.assert_allclose(cells.masses, mass, rtol=4e-2)
    np.testing.assert_allclose(cells.centroids, centroid, atol=4e-2)
    np.testing.assert_allclose(cells.costs, cost, rtol=5e-2)
    with pytest.raises(WorkspaceError, match="share no edges"):
        cells.shared_edge(0, 1)


def test_both_radii_and_weights_are_refused() -> None:
    for options in (
        {"radius": RADII, "weights": POWERS},
        {"radius": RADII[:4]},
        {"radius": 0.0},
        {"weights": POWERS[:4]},
    ):
        with pytest.raises(AgentsError):
            dwell.tessellate(SITES["box"], PLACES, **options)
    same = PLACES.copy()
    same[3] = same[1]
    with pytest.raises(AgentsError, match="1 and 3"):
        dwell.tessellate(SITES["box"], same)


@pytest.mark.parametrize("name", SITES)
def test_moments_of_whole_workspaces(name: str) -> None:
    site = SITES[name]
    found = dwell.moments(site, HILL)
    points, content = grid(site)
    rho = HILL.at(points) * content
    middle = (rho[:, None] * points).sum(axis=0) / rho.sum()
    assert found.mass == pytest.approx(rho.sum(), rel=5e-3)
    assert found.log_mass == pytest.approx(np.log(found.mass))
    np.testing.assert_allclose(found.centroid, middle, atol=5e-3)
    second = (rho * ((points - middle) ** 2).sum(axis=1)).sum()
    assert found.second_moment == pytest.approx(second, rel=1e-2)
    if name in ("polygon", "box"):
        np.testing.assert_allclose(found.offset, found.centroid - site.vertices[0])
        fan = exact_fan(site.vertices)
        local = site.vertices - site.vertices[0]
        after = np.roll(local, -1, axis=0)
        np.testing.assert_allclose(
            fan, local[:, 0] * after[:, 1] - local[:, 1] * after[:, 0], atol=1e-12
        )


def measured(k: int, mass: list[float], empty: list[bool], **more: Any) -> CellMeasurements:
    """Two agents, with values that no other table has."""
    two = np.arange(2.0)
    return CellMeasurements(
        coincident=np.array([False, k == 2]), empty=np.array(empty),
        error=k + np.arange(4.0).reshape(2, 2), log_scale=0.5 * k + two, mass=np.array(mass),
        polar=3.0 * k + two, neighbors=np.array([k, k + 1]), nearest=np.array([4.0 - k, k]), **more,
    )  # fmt: skip


def test_cells_of_several_sensors_are_one() -> None:
    one = measured(1, [2.0, 0.0], [False, True], doubt=np.array([0.1, 0.4]))
    other = measured(2, [1.0, 0.0], [False, False], doubt=np.array([0.3, 0.2]))
    whole = together([one, other])
    scale = np.exp(whole.log_scale)
    masses = [m.mass * np.exp(m.log_scale) for m in (one, other)]
    np.testing.assert_allclose(whole.mass * scale, masses[0] + masses[1])
    first = (masses[0][0] * one.error[0] + masses[1][0] * other.error[0]) / (
        masses[0][0] + masses[1][0]
    )
    np.testing.assert_allclose(whole.error[0], first)
    np.testing.assert_allclose(whole.error[1], one.error[1])  # inward, where all weigh nothing
    polars = [m.polar * np.exp(m.log_scale) for m in (one, other)]
    np.testing.assert_allclose((whole.polar * scale)[0], (polars[0] + polars[1])[0])
    assert whole.empty.tolist() == [False, True]
    assert whole.coincident.tolist() == [False, True]
    assert whole.neighbors.tolist() == [3, 5]
    assert whole.nearest.tolist() == [2.0, 1.0]
    assert whole.doubt is not None
    assert whole.doubt.tolist() == [0.3, 0.4]


def test_parts_of_a_table_come_to_their_places() -> None:
    one, other = measured(1, [2.0, 3.0], [False, True]), measured(2, [5.0, 7.0], [True, False])
    other = replace(other, second=np.array([8.0, 9.0]))
    whole = in_one([(np.array([4, 1]), one), (np.array([0, 3]), other)], 5, 2)
    blank = absent(5, 2)
    for field in fields(CellMeasurements):
        values, usual = getattr(whole, field.name), getattr(blank, field.name)
        if field.name in ("doubt", "stretch"):
            assert values is None
            continue
        if field.name == "second":
            assert values.tolist() == [8.0, 0.0, 0.0, 9.0, 0.0]
            continue
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        expected = [theirs[0], mine[1], usual[2], theirs[1], mine[0]]
        assert values.tolist() == np.array(expected).tolist(), field.name
    assert blank.nearest.tolist() == [np.inf] * 5
    assert not blank.empty.any()


def test_borders_have_their_moments_in_order() -> None:
    points = np.array([(0.0, 0.0), (2.0, 1.0), (1.0, 4.0)])
    rows = [(0, 2, np.arange(1.0, 7.0)), (2, 1, np.arange(11.0, 17.0))]
    found = as_borders(points, np.ones(3), np.zeros(3), np.zeros((3, 2)), np.zeros(3, bool), rows)
    assert (found.agent.tolist(), found.other.tolist()) == ([0, 2], [2, 1])
    assert found.gap.tolist() == [[1.0, 4.0], [1.0, -3.0]]
    assert found.m0.tolist() == [1.0, 11.0]
    assert found.m1.tolist() == [[2.0, 3.0], [12.0, 13.0]]
    assert found.m2.tolist() == [[[4.0, 5.0], [5.0, 6.0]], [[14.0, 15.0], [15.0, 16.0]]]


def test_grids_over_unlike_sides() -> None:
    site = SITES["polygon"]
    x, y = lattice_axes(site, 0.3)
    lower, upper = site.bounds
    assert (x[0], y[0]) == pytest.approx((lower[0] + 0.15, lower[1] + 0.15))
    assert (len(x), len(y)) == (int((upper[0] - lower[0]) / 0.3) + 1, 17)
    for place in ("polygon", "region"):
        terms = lattice_terms(HILL, SITES[place], 0.3)
        x, y = lattice_axes(SITES[place], 0.3)
        points = np.stack(np.meshgrid(x, y), axis=-1)
        flat = points.reshape(-1, 2)
        one = SITES[place]
        held = one.covers(flat) if place == "region" else one.polygon.holds(flat)
        exact = np.where(held, HILL.at(flat) * 0.09, 0.0).reshape(len(y), len(x))
        np.testing.assert_allclose(terms.lattice, exact)
        assert terms.frame.tolist() == [x[0], y[0], 0.3]
    with pytest.raises(DensityError):
        lattice_axes(site, 1e-5)
    run = dwell.simulate(SITES["box"], HILL, PLACES, dwell.Lloyd(dt=0.1), until=0.1, spacing=0.5)
    x, y = lattice_axes(SITES["box"], 0.5)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    points = points[SITES["box"].polygon.holds(points)]
    square = ((points[:, None] - PLACES[None]) ** 2).sum(axis=2)
    rho, owner = HILL.at(points) * 0.25, square.argmin(axis=1)
    assert run.cost(0.0) == pytest.approx((rho * square.min(axis=1)).sum())
    first = np.array([np.bincount(owner, rho * c, 5) for c in points.T]).T
    centroids = first / np.bincount(owner, rho, 5)[:, None]
    np.testing.assert_allclose(run.errors(0.0), np.linalg.norm(centroids - PLACES, axis=1))
