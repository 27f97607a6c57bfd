"""Slender regions and slender cells on rasters: masses have the digits that `mass_errors` says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dwell

Ring = list[tuple[float, float]]
WIDTHS = [1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-9]
ONES = dwell.Raster(np.ones((9, 9)), origin=(-0.5, -0.5), pixel=0.25)
DENSITIES = {
    "raster": ONES,
    "bilinear": dwell.Raster(
        np.ones((9, 9)), origin=(-0.5, -0.5), pixel=0.25, interpolation="bilinear"
    ),
    "gaussian": dwell.Gaussian((0.4, 0.5), rate=3.0),
    "polynomial": dwell.Polynomial([(2, 0, 1.0), (0, 0, 0.5)]),
}


def triangle(width: float) -> Ring:
    return [(0.0, 0.0), (1.0, 1.0), (1.0, 1.0 + width)]


def strip(width: float) -> Ring:
    return [(0.0, 0.0), (1.0, 0.3), (1.0, 0.3 + width), (0.0, width)]


SHAPES = {"triangle": triangle, "strip": strip}


def places(ring: Ring) -> Ring:
    """Agents near the axis of a shape that begins at (0, 0)."""
    far = np.mean(np.array(ring)[np.array(ring)[:, 0] > 0.5], axis=0)
    return [(float(s * far[0]), float(s * far[1])) for s in (0.2, 0.55, 0.8)]


def exact_masses(ring: Ring, agents: Ring) -> np.ndarray:
    """Areas of Voronoi cells in a convex ring, in rationals."""
    found = []
    points = [tuple(map(Fraction, p)) for p in agents]
    for own in points:
        cell = [tuple(map(Fraction, p)) for p in ring]
        for other in points:
            if other != own:
                normal = other[0] - own[0], other[1] - own[1]
                level = sum((b * b - a * a for a, b in zip(own, other, strict=True)), Fraction(0))
                cell = clipped(cell, normal, level / 2)
        pairs = zip(cell, cell[1:] + cell[:1], strict=True)
        found.append(float(sum((a[0] * b[1] - a[1] * b[0] for a, b in pairs), Fraction(0)) / 2))
    return np.array(found)


def clipped(cell, normal, level):
    found = []
    for k, q in enumerate(cell):
        p = cell[k - 1]
        one, two = (normal[0] * z[0] + normal[1] * z[1] - level for z in (p, q))
        if (one < 0) != (two < 0) and one != two:
            share = one / (one - two)
            found.append(tuple(a + share * (b - a) for a, b in zip(p, q, strict=True)))
        if two <= 0:
            found.append(q)
    return found


def assert_honest(cells: dwell.Tessellation, exact: np.ndarray, most: float) -> None:
    """The stated errors are not exceeded, and not beyond what slenderness explains."""
    errors = np.abs(cells.masses / exact - 1.0)
    assert (errors <= np.maximum(cells.mass_errors, 1e-13)).all()
    assert (cells.mass_errors <= most).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_masses_in_slender_regions(shape, width):
    ring = SHAPES[shape](width)
    agents = places(ring)
    exact = exact_masses(ring, agents)
    assert_honest(dwell.tessellate(dwell.Region(ring), agents), exact, 1e-14 / width)
    assert_honest(dwell.tessellate(dwell.Polygon(ring), agents), exact, 0.0)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shape", SHAPES)
def test_masses_of_slender_cells_on_rasters(shape, width):
    ring = SHAPES[shape](width)
    agents = places(ring)
    exact = exact_masses(ring, agents)
    for kind in (dwell.Polygon, dwell.Region):
        for name in ("raster", "bilinear"):
            cells = dwell.tessellate(kind(ring), agents, DENSITIES[name])
            assert_honest(cells, exact, 1e-14 / width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["gaussian", "polynomial"])
def test_masses_in_slender_regions_under_densities(name, width):
    ring = strip(width)
    agents = places(ring)
    polygon = dwell.tessellate(dwell.Polygon(ring), agents, DENSITIES[name])
    assert_honest(
        dwell.tessellate(dwell.Region(ring), agents, DENSITIES[name]), polygon.masses, 1e-14 / width
    )


@pytest.mark.parametrize("size", [1e3, 1e5, 1e6])
def test_corridors_a_metre_wide(size):
    """Bent by a right angle, at an angle to the axes."""
    ring = [(0, 0), (size, 0), (size, size), (size - 1, size), (size - 1, 1), (0, 1)]
    c, s = 0.8, 0.6
    turned = [(c * x - s * y, s * x + c * y) for x, y in ring]
    agents = [(c * x - s * y, s * x + c * y) for x, y in [(0.1 * size, 0.5), (size - 0.5, size)]]
    cells = dwell.tessellate(dwell.Region(turned), agents)
    total = 2.0 * size - 1.0
    assert abs(cells.masses.sum() / total - 1.0) <= max(cells.mass_errors.max(), 1e-13)
    assert cells.mass_errors.max() <= 1e-14 * size


@pytest.mark.parametrize("width", [1e-11, 5e-12])
def test_what_is_too_slender_is_refused_for_that(width):
    with pytest.raises(dwell.InputError, match="too slender") as caught:
        dwell.Region(triangle(width))
    assert "cross" not in str(caught.value)
    assert caught.value.code == "workspace.degenerate"


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-8])
def test_spirals_are_accepted(width):
    turns = np.linspace(0.0, 4.0 * math.pi, 200)
    radius = 0.2 + 0.05 * turns
    way = np.column_stack([np.cos(turns), np.sin(turns)])
    ring = np.vstack([way * radius[:, None], (way * (radius + width)[:, None])[::-1]])
    region = dwell.Region(ring)
    cells = dwell.tessellate(region, [(0.2, 0.0), (-0.5, 0.1), (0.4, 0.4)])
    doubt = max(float(cells.mass_errors.max()), 1e-13)
    assert abs(cells.masses.sum() / region.area - 1.0) <= doubt
    assert doubt <= 1e-13 / width


def test_rings_that_overlap_are_still_refused_for_that():
    square = [(0, 0), (4, 0), (4, 4), (0, 4)]
    with pytest.raises(dwell.InputError, match="overlap"):
        dwell.Region([square, [(1, 1), (2, 1), (2, 2)]])


def test_ordinary_regions_have_nothing_to_state():
    ring = [(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]
    agents = np.random.default_rng(1).uniform(0.0, 3.0, (20, 2))
    for site in (dwell.Region(ring), dwell.Box((-0.4, -0.4), (1.7, 1.7))):
        for density in (None, *([] if isinstance(site, dwell.Region) else [ONES])):
            assert (dwell.tessellate(site, agents % 1.6, density).mass_errors == 0.0).all()
