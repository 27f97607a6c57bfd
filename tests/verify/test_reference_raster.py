"""Reference moments of rasters over regions: rationals, the kernels, and forged runs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dwell
from dwell.verify.reference_centroid import reference_moments
from dwell.verify.reference_raster import raster_reference
from tests.oracles.rational_rasters import raster_moments
from tests.regions.sites import U, agents, archipelago, star

KINDS = ("constant", "bilinear")
LAW = dwell.Timer(k1=0.5, nu=0.1, t1=0.2, t2=0.5)


def raster(seed: int, interpolation: str, mirrored: bool = False, **more: object) -> dwell.Raster:
    rng = np.random.default_rng(seed)
    turned = [[0.8, 0.6], [0.6, -0.8]] if mirrored else None
    values = np.exp(rng.uniform(-3.0, 3.0, (30, 40)))
    options = {"origin": (-2.5, -2.5), "pixel": 0.3, "outside": 0.0, **more}
    return dwell.Raster(values, interpolation=interpolation, axes=turned, **options)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("interpolation", KINDS)
def test_polygons_that_are_not_convex_agree_with_rationals(interpolation, mirrored):
    grid = raster(1, interpolation, mirrored)
    for seed in range(4):
        ring = 2.0 * star(np.random.default_rng(seed), 15, low=0.2)
        place = ((grid.origin, grid.place[6:10]), [tuple(map(Fraction, p)) for p in ring.tolist()])
        m, x, y, _ = raster_moments(grid.grid, interpolation == "bilinear", *place)

        for sign, turned in ((1.0, ring), (-1.0, ring[::-1])):
            mass, first = raster_reference(grid, np.zeros(2), turned)
            assert mass == pytest.approx(sign * float(m), rel=1e-13)
            assert first == pytest.approx([sign * float(x), sign * float(y)], rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("interpolation", KINDS)
def test_cells_of_regions_agree_with_the_kernels(interpolation):
    site, places, density = archipelago(4), agents(4, 8), raster(2, interpolation)
    found = dwell.tessellate(site, places, density)
    mixed = dwell.Mixture([density, dwell.Gaussian((0.3, 0.4), rate=2.0)])
    both = dwell.tessellate(site, places, mixed)

    for p in range(len(places)):
        mass, error = reference_moments(site, places, p, density)
        assert mass == pytest.approx(found.masses[p], rel=1e-12)
        assert error == pytest.approx(found.errors[p], abs=1e-12)
        mass, error = reference_moments(site, places, p, mixed)
        assert mass == pytest.approx(both.masses[p], rel=1e-11)
        assert error == pytest.approx(both.errors[p], abs=1e-11)


def test_one_agent_in_a_u():
    one = dwell.Raster(np.full((6, 6), 2.0), origin=(0, 0), pixel=0.5)

    mass, error = reference_moments(dwell.Region(U), np.array([[1.0, 1.0]]), 0, one)

    assert mass == pytest.approx(14.0, rel=1e-14)
    assert error == pytest.approx([0.5, 19.0 / 14.0 - 1.0], abs=1e-14)


@pytest.mark.parametrize("stay", [False, True])
def test_runs_with_rasters_in_regions_are_recomputed_by_other_code(stay):
    site, density = dwell.Region(U, stay=stay), raster(3, "bilinear")
    start = [[0.4, 0.5], [2.6, 2.5], [1.5, 0.5]]
    run = dwell.simulate(site, density, start, LAW, until=2.0, seed=3)

    found = {one.name: one for one in dwell.check(run).findings}
    assert found["by-hand"].status == "holds"
    assert found["by-hand"].worst < 1e-12
    assert "by-counting" not in found

    errors = run.events.errors.copy()
    errors[-1, 0] += 1e-8
    details = replace(run.details, table=replace(run.details.table, errors=errors))
    forged = {one.name: one for one in dwell.check(replace(run, details=details)).findings}
    assert forged["by-hand"].status == "violated"
