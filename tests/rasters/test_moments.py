"""Moments of rasters: rationals, closed cases, translation, and other densities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dwell
from dwell.cells.polygon_moments import polygon_moments
from tests.oracles.rational_rasters import raster_moments

KINDS = ("constant", "bilinear")
BOX = dwell.Box((0, 0), (2, 1))


def ring_of(rng: np.random.Generator, middle: np.ndarray, size: float) -> np.ndarray | None:
    """The vertices of a random convex polygon, or of a rectangle."""
    turn = np.sort(rng.uniform(0.0, 2.0 * np.pi, rng.integers(3, 9)))
    points = np.column_stack([np.cos(turn), np.sin(turn) * rng.uniform(0.2, 1.0)])
    points = middle + size * (0.5 * rng.normal(size=2) + points)
    if rng.random() < 0.25:
        low, high = points.min(axis=0), points.max(axis=0)
        points = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    try:
        return dwell.Polygon(points).vertices
    except dwell.InputError:  # nearly collinear
        return None


def exact_moments(raster: dwell.Raster, vertices: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Mass, centroid relative to the first vertex, and second moment, from rationals."""
    offsets = [(Fraction(float(x)), Fraction(float(y))) for x, y in vertices - vertices[0]]
    ox, oy = (Fraction(float(v)) for v in vertices[0])
    ring = [(x + ox, y + oy) for x, y in offsets]
    bilinear = raster.interpolation == "bilinear"
    m, x, y, polar = raster_moments(
        raster.grid, bilinear, (raster.origin, raster.place[6:10]), ring
    )
    if m == 0:
        return 0.0, np.zeros(2), 0.0
    offset = np.array([float(x / m - ox), float(y / m - oy)])
    return float(m), offset, float(polar - (x * x + y * y) / m)


@pytest.mark.parametrize("interpolation", KINDS)
@given(seed=st.integers(0, 2**31), turned=st.booleans(), mirrored=st.booleans())
@settings(max_examples=15, deadline=None)
def test_moments_agree_with_rationals(interpolation, seed, turned, mirrored):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 80, 2)
    angle = rng.uniform(0.0, 6.0) if turned else 0.0
    axes = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    raster = dwell.Raster(
        np.exp(rng.uniform(-9.0, 9.0, shape)),
        origin=(-3.0, 2.0),
        pixel=(0.25, 0.5),
        rows=("south first", "north first")[int(rng.integers(2))],
        interpolation=interpolation,
        axes=axes[::-1] if mirrored else axes,
    )
    size = rng.uniform(0.02, 0.7) * max(0.25 * shape[1], 0.5 * shape[0])
    vertices = ring_of(rng, raster.corners.mean(axis=0), size)
    if vertices is None:
        return
    mass, offset, second = exact_moments(raster, vertices)
    found = polygon_moments(vertices - vertices[0], vertices[0], raster)
    if mass == 0.0:
        assert found.mass == 0.0
        return
    reach = np.ptp(vertices, axis=0).max()
    assert found.mass == pytest.approx(mass, rel=1e-13)
    assert found.offset == pytest.approx(offset, abs=1e-13 * reach)
    assert found.second_moment == pytest.approx(second, rel=1e-13)


def test_two_columns_under_a_triangle():
    raster = dwell.Raster([[1.0, 3.0]], origin=(0, 0), pixel=1.0)
    found = dwell.moments([(0, 0), (2, 0), (0, 1)], raster)
    assert found.mass == pytest.approx(1.5, rel=1e-15)
    assert found.centroid == pytest.approx([8 / 9, 5 / 18], rel=1e-15)


@pytest.mark.parametrize("rows", [40, 250])
@pytest.mark.parametrize("interpolation", KINDS)
def test_equal_values_are_a_uniform_density(interpolation, rows):
    """A cell at the edge of the grid, which rounding puts outside, keeps its digits too."""
    values = np.full((rows, 2 * rows), 7.0)
    raster = dwell.Raster(values, origin=(0, 0), pixel=1.0 / rows, interpolation=interpolation)
    for seed in range(40):
        start = np.random.default_rng(seed).random((8, 2)) * [2, 1]
        ours, other = (dwell.tessellate(BOX, start, d) for d in (raster, dwell.Uniform(7.0)))
        np.testing.assert_allclose(ours.masses, other.masses, rtol=1e-15)
        np.testing.assert_allclose(ours.centroids, other.centroids, rtol=1e-15)
        # each is within 1e-15 of the exact value
        np.testing.assert_allclose(ours.second_moments, other.second_moments, rtol=2e-15)


def test_bilinear_nodes_of_a_linear_function_are_that_function():
    x = np.arange(50) * 0.1 + 0.05
    raster = dwell.Raster(np.tile(x, (50, 1)), origin=(0, 0), pixel=0.1, interpolation="bilinear")
    box = dwell.Box((0.5, 0.5), (4.3, 4.4))
    line = dwell.Polynomial(((1, 0, 1.0),))
    start = np.random.default_rng(4).uniform(0.6, 4.2, (6, 2))
    ours, other = (dwell.tessellate(box, start, d) for d in (raster, line))
    assert ours.masses == pytest.approx(other.masses, rel=3e-15)
    assert ours.centroids == pytest.approx(other.centroids, rel=3e-15)


@pytest.mark.parametrize("interpolation", KINDS)
def test_a_place_far_away_has_the_same_digits(interpolation):
    values, away = np.random.default_rng(5).random((33, 70)), np.array([5e6, -5e6])
    start = np.random.default_rng(6).integers(1, 31, (6, 2)) / 32.0 * [2, 1]
    found = []
    for shift in (np.zeros(2), away):
        raster = dwell.Raster(
            values, origin=shift, pixel=1 / 32, interpolation=interpolation, outside=0.0
        )
        region = dwell.Box(shift, shift + np.array([2.0, 1.0]))
        seen = dwell.tessellate(region, start + shift, raster)
        found.append((seen.masses, seen.errors))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-13)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-13)


@pytest.mark.parametrize("interpolation", KINDS)
@pytest.mark.parametrize("kind", ["uint8", "uint16", "int16", "float32", "float64"])
def test_masses_add_up(kind, interpolation):
    values = np.random.default_rng(7).integers(0, 200, (70, 140)).astype(kind)
    raster = dwell.Raster(values, origin=(0, 0), pixel=1 / 70, interpolation=interpolation)
    assert raster.terms().raster.values.dtype == kind
    start = np.random.default_rng(8).random((9, 2)) * [2, 1]
    total = dwell.tessellate(BOX, start, raster).masses.sum()
    assert total == pytest.approx(values.sum(dtype=float) / 70**2, rel=1e-14)


def test_amounts_are_divided_by_the_area():
    raster = dwell.Raster([[1.0, 3.0]], origin=(0, 0), pixel=(1.0, 1.0), amounts=True)
    wide = dwell.Raster([[1.0, 3.0]], origin=(0, 0), pixel=(10.0, 10.0), amounts=True)
    assert dwell.moments(BOX, raster).mass == pytest.approx(4.0)
    assert dwell.moments(dwell.Box((0, 0), (20, 10)), wide).mass == pytest.approx(4.0)


@pytest.mark.parametrize("interpolation", KINDS)
def test_a_peak_does_not_drown_its_neighbours(interpolation):
    """A difference of prefix sums would lose the small values to the right of the peak."""
    values = np.full((64, 256), 1e-6)
    values[:, :8] = 1e6
    raster = dwell.Raster(values, origin=(0, 0), pixel=1.0, interpolation=interpolation)
    part = dwell.Box((100.25, 3.5), (220.75, 60.5))
    found = dwell.moments(part, raster)
    assert found.mass == pytest.approx(1e-6 * 120.5 * 57.0, rel=1e-14)
    assert found.centroid == pytest.approx([160.5, 32.0], rel=1e-14)


def test_a_mixture_adds_one_raster():
    raster = dwell.Raster([[1.0, 3.0]], origin=(0, 0), pixel=1.0)
    hill = dwell.Gaussian((1, 0), rate=2.0)
    both = dwell.tessellate(BOX, [(0.5, 0.5), (1.6, 0.2)], dwell.Mixture((raster, hill)))
    each = [dwell.tessellate(BOX, [(0.5, 0.5), (1.6, 0.2)], d).masses for d in (raster, hill)]
    assert both.masses == pytest.approx(each[0] + each[1], rel=1e-14)


@pytest.mark.parametrize("interpolation", KINDS)
def test_values_at_points(interpolation):
    raster = dwell.Raster(
        [[1.0, 3.0], [5.0, 9.0]],
        origin=(10, 20),
        pixel=2.0,
        rows="north first",
        interpolation=interpolation,
    )
    points = [(11, 21), (13, 21), (11, 23), (13, 23), (12, 22), (10, 20), (14.1, 22), (9.9, 22)]
    middle = 3.0 if interpolation == "constant" else 4.5
    assert raster.at(points).tolist() == [5.0, 9.0, 1.0, 3.0, middle, 5.0, 0.0, 0.0]


@pytest.mark.parametrize("interpolation", KINDS)
def test_facets_are_the_derivative_of_masses(interpolation):
    """Moving an agent changes its mass by the integral over its facets."""
    rng = np.random.default_rng(9)
    raster = dwell.Raster(
        1.0 + rng.random((37, 74)), origin=(0, 0), pixel=1 / 37, interpolation=interpolation
    )
    start, step = rng.random((5, 2)) * [2, 1], 1e-5
    from dwell.cells.backend import borders

    found = borders(BOX, start, raster)
    for axis in (0, 1):
        masses = []
        for sign in (-1.0, 1.0):
            moved = start.copy()
            moved[0, axis] += sign * step
            masses.append(dwell.tessellate(BOX, moved, raster).masses[0])
        slope = (masses[1] - masses[0]) / (2.0 * step)
        own = found.agent == 0
        gap = found.gap[own]
        first = np.column_stack([found.m1[own, 0], found.m1[own, 1]])
        speed = first[:, axis] / np.hypot(*gap.T)
        assert speed.sum() == pytest.approx(slope, rel=1e-4)
