"""Cells of agents with sensing radii or power weights: closed forms, oracles, laws, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Gaussian, Interval, Mixture, Polygon, Polynomial, Uniform
from dwell.cells import ranges
from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import weighted_region
from tests.oracles import disc_moments as oracle

SQUARE = Box((-5, -5), (5, 5))
SLANTED = [(0.0, 0.0), (7.0, -1.0), (10.0, 3.0), (6.0, 7.0), (-1.0, 5.0)]
DENSITIES = {
    "uniform": Uniform(),
    "polynomial": Polynomial([(0, 0, 1.0), (2, 0, 0.3), (1, 1, 0.05), (0, 3, 0.02)]),
    "wide": Gaussian((2, 2), rate=0.01),
    "usual": Gaussian((2, 2), rate=0.4),
    "narrow": Gaussian((4.4, 2.0), rate=30.0),
    "slanted": Gaussian((3, 1), covariance=((2.0, 0.7), (0.7, 0.5))),
    "mixture": Mixture((Uniform(0.1), Gaussian((2, 2), rate=0.4), Gaussian((8, 3), rate=2.0))),
}
DISCS = [
    ((5.0, 3.0), 1.3),
    ((1.0, 1.0), 1.8),
    ((5.0, 3.0), 4.5),
    ((9.0, 2.5), 2.0),
    ((-1.0, 2), 2.2),
]


def measured(site, points, density=None, **power):
    """Measurements of all agents."""
    points = np.asarray(points, dtype=float)
    every = np.arange(len(points))
    power = {name: np.asarray(values, dtype=float) for name, values in power.items()}
    ground = weighted_region(site, density or Uniform())
    return measure_cells(ground, points[None], np.zeros_like(every), every, **power)


def parts_of(density):
    """A density for the oracle."""
    if isinstance(density, Mixture):
        return [part for own in density.parts for part in parts_of(own)]
    if isinstance(density, Gaussian):
        rows = density.terms().gaussians
        return [oracle.gaussian((g[1], g[2]), (g[3], g[4], g[5]), g[0]) for g in rows]
    if isinstance(density, Uniform):
        return [oracle.polynomial([(0, 0, density.level)])]
    return [oracle.polynomial([(int(i), int(j), c) for i, j, c in density.coefficients])]


# Closed forms.


@pytest.mark.parametrize("r", [1e-3, 0.7, 1.5])
def test_a_disc_inside_a_uniform_workspace(r):
    cells = dwell.tessellate(SQUARE, [(0.3, 0.2)], radius=r)
    assert cells.masses[0] == pytest.approx(math.pi * r**2, rel=1e-14, abs=0)
    assert np.abs(cells.errors).max() < 1e-15 * r
    assert cells.cost == pytest.approx(100 * r**2 - math.pi / 2 * r**4, rel=1e-14, abs=0)


def test_a_tilted_density():
    density = Polynomial([(0, 0, 1.0), (1, 0, 0.2)])
    found = measured(SQUARE, [(0.5, 0.0)], density, radius=[1.0])
    assert found.error[0] == pytest.approx([0.2 / (4 * 1.1), 0.0], abs=1e-15)


def test_a_disc_on_a_straight_boundary():
    found = measured(SQUARE, [(-5.0, 0.3)], radius=[1.7])
    assert found.error[0] == pytest.approx([4 * 1.7 / (3 * math.pi), 0.0], abs=1e-14)


def test_two_agents_close_to_each_other():
    found = measured(SQUARE, [(-0.6, 0.0), (0.6, 0.0)], radius=[1.0, 1.0])
    assert found.mass == pytest.approx(2 * [2.694297436], abs=1e-9)
    assert found.error[:, 0] == pytest.approx([-0.126687324, 0.126687324], abs=1e-9)
    assert found.neighbors.tolist() == [1, 1]


def test_power_cells_on_the_line():
    line = Interval(0, 1)
    found = dwell.tessellate(line, [0.3, 0.8], weights=[0.05, 0.0])
    assert found.masses == pytest.approx([0.6, 0.4], abs=1e-15)
    assert np.abs(found.errors).max() < 1e-15


def test_radii_on_the_line():
    """Agent 0 ends at its radius on the left and at the power bisector on the right."""
    found = dwell.tessellate(Interval(0, 2), [0.5, 1.0], radius=[0.4, 0.3])
    border = 0.5 * (0.5 + (0.16 - 0.09) / 0.5)
    assert found.masses == pytest.approx([0.4 + border, 0.8 - border], abs=1e-15)
    assert found.cells[0].borders.tolist() == [-3, 1]
    assert found.neighbors == [[1], [0]]
    x = np.linspace(0, 2, 2_000_001)
    squares = [(x - c) ** 2 + 0.16 - r * r for c, r in ((0.5, 0.4), (1.0, 0.3))]
    height = np.minimum(0.16, np.minimum(*squares))
    assert found.cost == pytest.approx(np.trapezoid(height, x), rel=1e-9)


def test_unequal_discs_and_their_lens():
    """Two discs that overlap: masses by areas of circular segments."""
    a, b, d = 1.3, 0.8, 1.5
    found = measured(SQUARE, [(0.0, 0.0), (d, 0.0)], radius=[a, b])
    h = (d * d + a * a - b * b) / (2 * d)

    def without_segment(r, h):
        return r * r * (math.pi - math.acos(h / r)) + h * math.sqrt(r * r - h * h)

    assert found.mass == pytest.approx(
        [without_segment(a, h), without_segment(b, d - h)], rel=1e-14
    )


def test_an_agent_outside_its_own_cell():
    """The border of a small disc near the edge of a large one lies beyond its agent."""
    found = measured(SQUARE, [(0.0, 0.0), (1.0, 0.0)], radius=[1.5, 0.6])
    border = (1.0 + 1.5**2 - 0.6**2) / 2
    assert border > 1.0
    assert found.error[1, 0] > border - 1.0
    h, r = border - 1.0, 0.6
    area = r * r * math.acos(h / r) - h * math.sqrt(r * r - h * h)
    assert found.mass[1] == pytest.approx(area, rel=1e-13)
    assert not found.empty.any()


def test_an_empty_cell_is_a_state():
    """A small disc inside a large one: no cell, no neighbour, no motion."""
    found = measured(SQUARE, [(0.0, 0.0), (0.3, 0.0)], radius=[1.5, 0.6])
    assert found.empty.tolist() == [False, True]
    assert found.mass.tolist() == [pytest.approx(math.pi * 1.5**2, rel=1e-14), 0.0]
    assert found.error[1].tolist() == [0.0, 0.0]
    assert found.neighbors.tolist() == [0, 0]
    alone = measured(SQUARE, [(9.0, 9.0)], radius=[0.5])
    assert alone.empty.all()
    assert not alone.error.any()


def test_a_border_through_the_agent():
    """w_q - w_p = d**2 exactly: radii 4 and 5 at distance 3."""
    found = measured(Box((-20, -20), (20, 20)), [(0.0, 0.0), (3.0, 0.0)], radius=[4.0, 5.0])
    assert found.mass[0] == pytest.approx(math.pi * 16 / 2, rel=1e-14)
    assert found.error[0] == pytest.approx([-4 * 4 / (3 * math.pi), 0.0], abs=1e-14)


def test_coincident_agents_stay_coincident():
    assert measured(SQUARE, [(0, 0), (0, 0), (1, 1)], radius=[1, 2, 3]).coincident.tolist() == [
        True, True, False,
    ]  # fmt: skip


# Oracles.


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize(("center", "r"), DISCS)
def test_moments_within_a_disc(name, center, r):
    """Mass, centroid and polar moment with 30 digits."""
    density = DENSITIES[name]
    seen = measured(Polygon(SLANTED), [center], density, radius=[r])
    pieces = {"narrow": 40, "usual": 4, "mixture": 8, "slanted": 8}.get(name, 2)
    m, fx, fy, polar = oracle.moments(SLANTED, center, r, parts_of(density), pieces)
    assert seen.log_scale[0] == 0.0
    gap = 1e-12 if name == "narrow" else 1e-13
    assert float(abs(seen.mass[0] / m - 1)) < gap
    assert float(abs(seen.polar[0] / polar - 1)) < gap
    assert float(max(abs(seen.error[0, 0] - fx / m), abs(seen.error[0, 1] - fy / m))) < gap * r


@pytest.mark.parametrize("degree", [3, 8, 16])
def test_polynomials_of_high_degree(degree):
    rows = [(0, 0, 1.0), (degree, 0, 0.2 * 6.0**-degree), (1, degree - 1, 0.1 * 6.0**-degree)]
    seen = measured(Polygon(SLANTED), [(5.0, 3.0)], Polynomial(rows), radius=[4.5])
    m, _, _, polar = oracle.moments(SLANTED, (5.0, 3.0), 4.5, [oracle.polynomial(rows)], 2)
    assert float(abs(seen.mass[0] / m - 1)) < 1e-13
    assert float(abs(seen.polar[0] / polar - 1)) < 1e-13


@pytest.mark.parametrize("degree", [4, 6, 10, 16])
def test_powers_over_a_whole_disc(degree):
    """Powers of x, and of (x + y) / sqrt(2): largest at the end, or in the middle, of an arc."""
    turned = [
        (k, degree - k, math.comb(degree, k) * 0.5 ** (degree / 2)) for k in range(degree + 1)
    ]
    around = 2 * math.sqrt(math.pi) * math.gamma((degree + 1) / 2) / math.gamma(degree / 2 + 1)
    for rows in ([(degree, 0, 1.0)], turned):
        seen = measured(SQUARE, [(0.0, 0.0)], Polynomial(rows), radius=[2.0])
        mass, polar = (around * 2.0 ** (degree + k) / (degree + k) for k in (2, 4))
        assert seen.mass[0] == pytest.approx(mass, rel=2e-14, abs=0)
        assert seen.polar[0] == pytest.approx(polar, rel=2e-14, abs=0)


def test_far_tails_keep_their_digits():
    density = Gaussian((40, -30), rate=0.4)
    for center, r in (((5.0, 3.0), 1.3), ((9.0, 2.5), 2.0)):
        seen = measured(Polygon(SLANTED), [center], density, radius=[r])
        m, fx, fy, _ = oracle.moments(SLANTED, center, r, parts_of(density), 16)
        assert seen.log_scale[0] < -700
        assert float(oracle.mp.log(m)) == pytest.approx(
            math.log(seen.mass[0]) + seen.log_scale[0], rel=1e-14
        )
        assert seen.error[0] == pytest.approx([float(fx / m), float(fy / m)], abs=1e-12)


def test_caps_far_above_their_polygon():
    """The density on an arc is e**1200 times the largest one on the chords."""
    density, box = Gaussian((12 * 0.5**0.5, 12 * 0.5**0.5), rate=60.0), Box((-5, -5), (5, 5))
    seen = measured(box, [(0.0, 0.0)], density, radius=[4.0])
    corners = [(float(x), float(y)) for x, y in box.polygon.vertices]
    m, fx, fy, _ = oracle.moments(corners, (0.0, 0.0), 4.0, parts_of(density), 60)
    log_mass = math.log(seen.mass[0]) + seen.log_scale[0]
    assert log_mass == pytest.approx(float(oracle.mp.log(m)), rel=1e-13)
    assert seen.error[0] == pytest.approx([float(fx / m), float(fy / m)], abs=1e-11)


@pytest.mark.parametrize("name", ["uniform", "usual", "polynomial"])
def test_one_disc_is_a_disc_as_a_workspace(name):
    """The kernels of curved workspaces integrate the same disc."""
    density = DENSITIES[name]
    inner = measured(Box((-9, -9), (19, 19)), [(4.0, 2.0)], density, radius=[2.5])
    whole = measured(Ball((4.0, 2.0), 2.5), [(4.0, 2.0)], density)
    assert inner.mass == pytest.approx(whole.mass, rel=1e-13)
    assert inner.error[0] == pytest.approx(whole.error[0], abs=1e-13)
    assert inner.polar == pytest.approx(whole.polar, rel=1e-12)


# Refusals.


@pytest.mark.parametrize(
    "radius",
    [0, -1.0, math.nan, math.inf, [1.0], [1.0, 0.0], [1.0, math.nan], "1", ["1", "2"], [[1, 2]],
     True, [1.0, None], {}],
)  # fmt: skip
def test_bad_radii_are_refused(radius):
    with pytest.raises(dwell.InputError, match=r"radius.* needed") as caught:
        ranges.as_radii(radius, 2)
    assert caught.value.key == caught.value.code == "agents.radius"


def test_good_radii_are_one_per_agent():
    assert ranges.as_radii(2, 3) == (2.0, 2.0, 2.0)
    assert ranges.as_radii(np.array([1, 2]), 2) == (1.0, 2.0)


@pytest.mark.parametrize("site", [Ball((0, 0), 1), Box((0, 0, 0), (1, 1, 1)), Ball((0,) * 3, 1)])
def test_other_workspaces_are_refused(site):
    points = np.full((1, site.dimension), 0.25)
    for power in ({"radius": 1.0}, {"weights": [1.0]}):
        with pytest.raises(dwell.InputError, match="flat-sided workspace of the plane") as caught:
            dwell.tessellate(site, points, **power)
        assert caught.value.key == "agents.radius"


def test_functions_are_refused_in_the_plane_and_accepted_on_the_line():
    with pytest.raises(dwell.InputError, match="only Python evaluates") as caught:
        dwell.tessellate(SQUARE, [(0, 0)], lambda z: 1 + 0 * z[:, 0], radius=1.0)
    assert caught.value.key == "agents.radius"
    found = dwell.tessellate(Interval(0, 1), [0.5], lambda z: 2 * z[:, 0], radius=0.25)
    assert found.masses == pytest.approx([0.5], rel=1e-9)


@pytest.mark.parametrize("weights", [[1.0], [1.0, math.inf], "12", 3.0])
def test_bad_weights_are_refused(weights):
    with pytest.raises(dwell.InputError, match="needed"):
        dwell.tessellate(SQUARE, [(0, 0), (1, 1)], weights=weights)


def test_radii_and_weights_exclude_each_other():
    with pytest.raises(dwell.InputError, match="leave one out"):
        dwell.tessellate(SQUARE, [(0, 0), (1, 1)], radius=1.0, weights=[0.0, 1.0])
