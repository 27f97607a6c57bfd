"""Second opinions beyond polygons: right by closed forms, and silent where they cannot be sure."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dwell import Ball, Box, Ellipsoid, Gaussian, Interval, Polynomial, Uniform, tessellate
from dwell.cells.backend import measure_cells
from dwell.cells.ground import ground_of
from dwell.verify.oracle_any import centroid_beyond_polygons

CUBE = Box((0.0, 0.0, 0.0), (4.0, 3.0, 2.0))
LINE = Interval(-1.0, 4.0)
DISC = Ball((1.0, 2.0), 3.0)


def test_half_a_cube_and_half_an_interval():
    left = centroid_beyond_polygons(CUBE, np.array([(1, 1, 1), (3, 1, 1.0)]), 0, Uniform())
    assert left == pytest.approx([0.0, 0.5, 0.0], abs=1e-13)
    first = centroid_beyond_polygons(LINE, np.array([[0.0], [2.0]]), 0, Uniform())
    assert first == pytest.approx([0.0], abs=1e-14)


def test_half_a_disc():
    pair = np.array([(0.0, 2.0), (2.0, 2.0)])
    found = centroid_beyond_polygons(DISC, pair, 0, Uniform())
    assert found == pytest.approx([1.0 - 4.0 * 3.0 / (3.0 * math.pi), 0.0], abs=1e-11)


def test_an_ellipse_is_a_stretched_disc():
    turn = math.radians(30.0)
    axes = [(math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))]
    whole = Ellipsoid((5.0, -2.0), (3.0, 1.0), axes)
    found = centroid_beyond_polygons(whole, np.array([(4.0, -2.0)]), 0, Uniform())
    assert found == pytest.approx([1.0, 0.0], abs=1e-11)


@pytest.mark.parametrize("density", [Uniform(), Gaussian((3.0, 2.0, 1.0), rate=0.5)])
def test_in_space_it_agrees_with_the_kernels(density):
    places = np.random.default_rng(1).uniform(0, 1, (9, 3)) * [4, 3, 2]
    cells = tessellate(CUBE, places, density)
    for p in (0, 4):
        found = centroid_beyond_polygons(CUBE, places, p, density)
        assert found == pytest.approx(cells.errors[p], abs=1e-11)


@pytest.mark.parametrize("density", [Gaussian((1.0,), rate=3.0), Polynomial([(0, 1.0), (2, 0.5)])])
def test_on_a_line_it_agrees_with_the_kernels(density):
    places = np.random.default_rng(2).uniform(-1, 4, (6, 1))
    cells = tessellate(LINE, places, density)
    found = [centroid_beyond_polygons(LINE, places, p, density) for p in range(6)]
    assert np.array(found) == pytest.approx(cells.errors, abs=1e-13)


def test_it_says_nothing_where_it_cannot_be_sure():
    needle = Gaussian((1.0, 1.0, 1.0), rate=1e5)
    places = np.array([(0.9, 1.0, 1.0), (3.0, 1.0, 1.0)])
    assert centroid_beyond_polygons(CUBE, places, 0, needle) is None
    hyper = Box((0,) * 4, (1,) * 4)
    assert centroid_beyond_polygons(hyper, np.full((1, 4), 0.4), 0, Uniform()) is None


def test_three_borders_that_nearly_meet():
    """A short edge cuts a corner off, between two of the directions looked at first."""
    disc = Ball((0.0, 0.0), 1.0)
    places = np.array([(0.0, 0.0), (0.8, 0.0), (0.0, 0.8), (0.7998, 0.7998)])
    ours = centroid_beyond_polygons(disc, places, 0, Uniform())
    seen = measure_cells(
        ground_of(disc, Uniform()), places[None], np.zeros(1, int), np.zeros(1, int)
    )
    assert ours == pytest.approx(seen.error[0], abs=1e-13)
