"""Best deployments in regions that are not convex, and for rasters."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell.studies.deployment import reference_for, root_mass
from dwell.studies.newton import Kind
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
