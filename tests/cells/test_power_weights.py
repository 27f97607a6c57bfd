"""Power weights for prescribed shares of the mass."""

import math

import numpy as np
import pytest

import dwell
from dwell import Ball, Box, Gaussian, Interval, Polygon, Uniform
from dwell.cells import shares
from tests.cells.test_ranges import DENSITIES, SLANTED


@pytest.mark.parametrize("name", ["uniform", "usual", "mixture"])
@pytest.mark.parametrize("count", [1, 2, 30, 120])
def test_equal_shares(name, count):
    site, points = Polygon(SLANTED), np.random.default_rng(1).uniform((1, 0), (8, 5), (count, 2))
    weights = dwell.power_weights(site, points, DENSITIES[name])
    masses = dwell.tessellate(site, points, DENSITIES[name], weights=weights).masses
    assert np.abs(masses / math.fsum(masses) - 1 / count).max() < 1e-12
    assert abs(math.fsum(weights)) < 1e-9 * (1 + np.abs(weights).max())


def test_prescribed_shares():
    rng = np.random.default_rng(2)
    points, wanted = rng.uniform(0, 1, (25, 2)), rng.dirichlet(np.full(25, 0.7)) + 1e-6
    wanted /= wanted.sum()
    weights = dwell.power_weights(Box((0, 0), (1, 1)), points, shares=wanted)
    found = dwell.tessellate(Box((0, 0), (1, 1)), points, weights=weights)
    assert np.abs(found.masses - wanted).max() < 1e-12


def test_agents_in_a_corner():
    """Cells far from their agents: the iteration must not empty one on its way."""
    points = 1e-3 * np.random.default_rng(3).uniform(0, 1, (20, 2))
    weights = dwell.power_weights(Box((0, 0), (1, 1)), points)
    masses = dwell.tessellate(Box((0, 0), (1, 1)), points, weights=weights).masses
    assert np.abs(masses - 0.05).max() < 1e-12


def test_on_the_line():
    """Borders of equal shares are known, and so are the weights."""
    weights = dwell.power_weights(Interval(0, 1), [0.25, 0.5])
    assert weights == pytest.approx([1 / 32, -1 / 32], abs=1e-15)
    hill = Gaussian((0.2,), rate=9.0)
    found = dwell.tessellate(
        Interval(0, 1), [0.1, 0.5, 0.9], hill,
        weights=dwell.power_weights(Interval(0, 1), [0.1, 0.5, 0.9], hill, [0.2, 0.2, 0.6]),
    )  # fmt: skip
    assert found.masses / math.fsum(found.masses) == pytest.approx([0.2, 0.2, 0.6], abs=1e-12)


def test_equal_cells_need_no_weights():
    weights = dwell.power_weights(Box((0, 0), (2, 1)), [(0.5, 0.5), (1.5, 0.5)])
    assert np.abs(weights).max() < 1e-15


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ([0.5, 0.6], "add up to 1.1"),
        ([1.0, 0.0], "share of agent 1 is 0"),
        ([1.5, -0.5], "share of agent 1 is -0.5"),
        ([math.nan, 1.0], "share of agent 0 is nan"),
        ([1.0], "2 numbers are needed"),
        ("half", "2 numbers are needed"),
        (0.5, "2 numbers are needed"),
    ],
)
def test_bad_shares_are_refused(wanted, says):
    with pytest.raises(dwell.InputError, match=says):
        dwell.power_weights(Interval(0, 1), [0.2, 0.7], shares=wanted)


def test_other_workspaces_and_agents_without_mass_are_refused():
    with pytest.raises(dwell.InputError, match="power weights came with a Ball"):
        dwell.power_weights(Ball((0, 0), 1), [(0, 0)])
    with pytest.raises(dwell.InputError, match=r"cell of agent 1 .* weighs nothing"):
        dwell.power_weights(Interval(0, 1), [0.5, 3.0])


def test_slopes_are_those_of_the_masses():
    points, weights = np.array([(0.2, 0.3), (0.7, 0.4), (0.4, 0.8)]), np.array([0.02, 0.0, -0.01])
    site, h = Box((0, 0), (1, 1)), 1e-6

    def masses(w):
        return shares._measured(site, points, Uniform(), w).masses

    found = shares._measured(site, points, Uniform(), weights)
    for p, q, slope in zip(*found.ends, found.slopes, strict=True):
        step = h * np.eye(3)[q]
        change = (masses(weights + step)[p] - masses(weights - step)[p]) / (2 * h)
        assert change == pytest.approx(-slope, abs=1e-8)


def test_shares_that_add_up_to_one_but_for_rounding_are_those_of_their_quotients():
    site, points = Box((0, 0), (2, 1)), [(0.2, 0.3), (1.1, 0.8), (1.7, 0.2)]
    rounded = dwell.power_weights(site, points, shares=[0.3333333333] * 3)
    assert np.abs(rounded - dwell.power_weights(site, points)).max() < 1e-9
    for off, works in ((0.9, True), (1.1, False)):
        wanted = [0.25, 0.25, 0.5 + off * shares.ROUNDING]
        if works:
            dwell.power_weights(site, points, shares=wanted)
        else:
            with pytest.raises(dwell.errors.AgentsError, match="add up to"):
                dwell.power_weights(site, points, shares=wanted)
