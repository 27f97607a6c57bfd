"""Best deployments in regions that are not convex, and for rasters."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dwell
from dwell.studies.confined import confine
from dwell.studies.deployment import reference_for, root_mass
from dwell.studies.newton import Descent, Kind
from dwell.studies.random_starts import CornerFrame, random_start

ISLAND = [(1, 1), (3, 1), (3, 3), (1, 3)]
SEA = dwell.Region({"outer": [(0, 0), (4, 0), (4, 4), (0, 4)], "holes": [ISLAND]})
THIN = dwell.Region([(0, 0), (9, 0), (9, 9), (8.99, 0.01), (0, 0.01)])
SQUARE = dwell.Polygon([(0, 0), (4, 0), (4, 4), (0, 4)])
VALUES = [[1.0, 3.0], [2.0, 1.0]]


def raster(interpolation: str = "constant", amounts: bool = False) -> dwell.Raster:
    return dwell.Raster(
        VALUES, origin=(0, 0), pixel=2.0, interpolation=interpolation, amounts=amounts
    )


@pytest.mark.parametrize("site", [SEA, THIN])
def test_random_starts_lie_in_the_region(site):
    frame = CornerFrame(site, dwell.Uniform())

    start = random_start(frame, 300, 1, 1)

    assert frame.workspace.covers(start).all()
    assert np.unique(start, axis=0).shape == start.shape


def test_random_starts_fill_a_region_evenly():
    start = random_start(CornerFrame(SEA, dwell.Uniform()), 3000, 5, 2)

    below = np.mean(start[:, 1] < 1.0)  # a third of the area

    assert below == pytest.approx(1 / 3, abs=0.04)


def test_every_start_in_a_region_leads_somewhere():
    found = dwell.optimize(SEA, None, 12, starts=8, seed=3)

    assert Kind.WEIGHTLESS not in {descent.kind for descent in found.descents.values()}


@pytest.mark.parametrize("interpolation", ["constant", "bilinear"])
@pytest.mark.parametrize("site", [SQUARE, SEA])
def test_a_raster_has_a_best_deployment_and_a_reference(site, interpolation):
    found = dwell.optimize(site, raster(interpolation), 6, starts=2, seed=1)

    assert found.kind is Kind.MINIMUM
    assert 0.5 < found.cost / found.reference.value < 2.0
    assert found.as_json()["reference"]["ratio"] == found.cost / found.reference.value


@pytest.mark.parametrize("amounts", [False, True])
def test_the_root_of_a_raster_is_integrated_pixel_by_pixel(amounts):
    density = raster(amounts=amounts)
    cells = dwell.tessellate(SQUARE, [(1, 1), (3, 2)], density)

    scale = 0.25 if amounts else 1.0
    expected = 4.0 * sum(math.sqrt(scale * value) for row in VALUES for value in row)
    assert root_mass(cells, density) == pytest.approx(expected, rel=1e-12)


def test_a_root_in_a_region_agrees_with_that_of_its_convex_parts():
    density = dwell.Polynomial([(0, 0, 1.0), (2, 0, 0.5), (0, 1, 0.2)])
    boxes = [((0, 0), (4, 1)), ((0, 3), (4, 4)), ((0, 1), (1, 3)), ((3, 1), (4, 3))]
    parts = [dwell.tessellate(dwell.Box(*box), [np.mean(box, axis=0)], density) for box in boxes]

    found = root_mass(dwell.tessellate(SEA, [(0.5, 0.5), (3.5, 3)], density), density)

    assert found == pytest.approx(math.fsum(root_mass(p, density) for p in parts), rel=1e-5)


def test_the_bound_of_hexagons_is_for_convex_polygons():
    cells = dwell.tessellate(SEA, [(0.5, 0.5), (3.5, 3)])

    names = [bound.name for bound in reference_for(cells, dwell.Uniform()).lower_bounds]

    assert names == ["disc"]


def u_of(scale: float = 1.0) -> dwell.Region:
    outline = [(0, 0), (3, 0), (3, 3.2), (2, 3.2), (2, 1), (1, 1), (1, 3), (0, 3)]
    return dwell.Region(np.array(outline) * scale, stay=True)


@pytest.mark.parametrize("agents", [1, 2, 3, 5])
@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_agents_that_stay_are_deployed_in_the_region_where_they_stop(agents, scale):
    site = u_of(scale)
    found = dwell.optimize(site, None, agents, starts=4, seed=2)

    for descent in found.descents.values():
        away = site.nearest_inside(descent.positions) - descent.positions
        assert np.abs(away).max() < 1e-8 * scale
    law = dwell.Timer(k1=0.1 * scale, nu=0.05 * scale, t1=0.2, t2=0.4)
    run = dwell.simulate(site, None, found.positions, law, until=2.0, seed=1)
    assert run.errors(0.0).max() < 1e-8 * scale
    assert run.cost(0.0) == pytest.approx(found.cost, rel=1e-12)


def test_a_confined_deployment_says_so_and_costs_no_more_than_neighbours():
    site = u_of()
    found = dwell.optimize(site, None, 1, starts=3, seed=2)

    assert found.kind is Kind.CONFINED
    assert "nearest to its centroid" in found.says
    assert any("agents stay in the region" in note for note in found.notes)
    assert found.as_json()["spectral_gap"] is None
    assert found.gradient_norm < 1e-9
    inside = dwell.Region([part.outer for part in site.parts])
    free = dwell.optimize(inside, None, 1, starts=3, seed=2)
    assert free.cost < found.cost
    assert not site.covers(free.positions).any()
    for x, y in np.random.default_rng(1).uniform(0.0, 3.0, (400, 2)):
        if site.covers((x, y))[0]:
            assert dwell.tessellate(site, [(x, y)]).cost > found.cost * (1.0 - 1e-12)


def test_a_descent_whose_nearest_points_are_one_begins_at_its_start():
    arrow = [(0, 0), (2, 0), (2, 1.4), (4, 2), (2, 2.6), (2, 4), (0, 4)]
    site = dwell.Region(arrow, stay=True)
    beyond, start = np.array([(5.0, 2.0), (6.0, 2.0)]), np.array([(1.0, 1.0), (1.0, 3.0)])
    assert len(np.unique(site.nearest_inside(beyond), axis=0)) == 1
    found = Descent(beyond, 1.0, 0.0, None, Kind.MINIMUM, 2, (1.0,))
    objective = CornerFrame(site, dwell.Uniform()).objective()
    end = confine(objective, site, found, start)
    assert end.kind is Kind.CONFINED
    assert site.covers(end.positions).all()
    assert all(later <= sooner * (1.0 + 1e-12) for sooner, later in itertools.pairwise(end.costs))


def test_confined_agents_move_to_nearest_points_until_none_moves():
    turn = np.linspace(0.3, 2.0 * np.pi - 0.3, 41)
    around = np.column_stack([np.cos(turn), np.sin(turn)])
    site = dwell.Region(np.vstack([2.0 * around, 1.8 * around[::-1]]), stay=True)
    objective = CornerFrame(site, dwell.Uniform()).objective()
    inside = objective.workspace
    start = inside.nearest_inside(np.array([(1.9, 0.5), (2.1, 0.4), (0.5, 1.0)]))
    found = Descent(start, 1.0, 0.0, None, Kind.MINIMUM, 3, (1.0,))

    end = confine(objective, inside, found, start)

    assert end.kind is Kind.CONFINED
    assert len(end.costs) > 3
    assert all(later <= sooner * (1.0 + 1e-12) for sooner, later in itertools.pairwise(end.costs))
    now = objective.evaluate(end.positions)
    assert np.abs(inside.nearest_inside(end.positions) - end.positions).max() < 1e-12
    assert not inside.covers(end.positions + now.errors).all()
    targets = inside.nearest_inside(end.positions + now.errors)
    assert np.abs(targets - end.positions).max() < 1e-8
