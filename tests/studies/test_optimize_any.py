"""Best deployments on the line, in curved regions and in space."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dwell import (
    Ball,
    Box,
    Ellipsoid,
    Gaussian,
    Interval,
    Polynomial,
    Polytope,
    Uniform,
    optimize,
    tessellate,
)
from dwell.studies.deployment import BEST, reference_for
from dwell.studies.random_starts import CornerFrame, random_start

# Mean squared errors of the best quantizers of a normal variable. Max (1960) printed 0.03454,
# 0.009497 and 0.002499 for 8, 16 and 32 levels; later tables have these digits.
NORMAL = {1: 1.0, 2: 0.3634, 3: 0.1902, 4: 0.1175, 8: 0.03455, 16: 0.009501, 32: 0.002505}


@pytest.mark.parametrize("levels", NORMAL)
def test_the_best_quantizers_of_a_normal_variable(levels):
    normal = Gaussian((0.0,), rate=0.5, weight=1.0 / math.sqrt(2.0 * math.pi))
    found = optimize(Interval(-30.0, 30.0), normal, levels, starts=3, seed=1)
    assert found.kind.value == "minimum"
    assert float(f"{found.cost:.4g}") == pytest.approx(NORMAL[levels], rel=1e-9, abs=0.0)
    places = np.sort(found.positions.ravel())
    assert places == pytest.approx(-places[::-1], abs=1e-9)


@pytest.mark.parametrize("levels", [1, 2, 5, 36])
def test_the_best_quantizers_of_an_even_variable(levels):
    found = optimize(Interval(2.0, 5.0), None, levels, starts=2)
    ends = 2.0 + 3.0 * (np.arange(levels) + 0.5) / levels
    assert np.sort(found.positions.ravel()) == pytest.approx(ends, rel=1e-13, abs=0.0)
    assert found.cost == pytest.approx(27.0 / (12.0 * levels**2), rel=1e-12, abs=0.0)
    assert found.reference.value == pytest.approx(found.cost, rel=1e-12, abs=0.0)


def test_eight_agents_share_a_cube():
    found = optimize(Box((0, 0, 0), (2, 2, 2)), None, 8, starts=6, seed=2)
    assert found.cost == pytest.approx(8 * 3 / 12, rel=1e-12, abs=0.0)
    assert {tuple(np.round(p, 9)) for p in found.positions} == {
        (x, y, z) for x in (0.5, 1.5) for y in (0.5, 1.5) for z in (0.5, 1.5)
    }


SQUARE, CORNER = Box((0, 0), (1, 1)), Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])


@pytest.mark.parametrize(
    ("site", "weight", "agents"),
    [
        *((SQUARE, None, agents) for agents in (1, 3, 8)),
        (SQUARE, Gaussian((0.3, 0.3), 3.0), 3),
        (SQUARE, Polynomial([(1, 0, 1.0)]), 8),
        (Box((0, 0, 0), (1, 1, 2)), None, 5),
        (CORNER, Gaussian((0, 0, 0), rate=2.0), 5),
        (Interval(0, 1), Gaussian((0.2,), rate=9.0), 5),
        (Ball((0, 0), 1), None, 5),
    ],
)
def test_no_deployment_is_below_its_bounds(site, weight, agents):
    found = optimize(site, weight, agents, starts=4 if site is SQUARE else 2, seed=1)
    assert found.gradient_norm < 1e-12
    assert found.reference.lower_bounds
    assert all(bound.value <= found.cost for bound in found.reference.lower_bounds)
    assert "bound" not in found.reference.says


def test_body_centred_cubic_cells_are_stationary_and_have_their_constant():
    m = 8  # 1024 agents
    grid = (np.arange(m) + 0.25) / m
    first = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    places = np.vstack([first, first + 0.5 / m])
    cells = tessellate(Box((0, 0, 0), (1, 1, 1)), places)
    inside = (np.abs(places - 0.5) < 0.5 - 1.2 / m).all(axis=1)
    assert inside.sum() > 100
    assert np.abs(cells.errors[inside]).max() < 1e-15
    constants = cells.second_moments[inside] / cells.masses[inside] ** (5.0 / 3.0)
    assert constants == pytest.approx(np.full(inside.sum(), BEST[3][1]), rel=1e-13, abs=0.0)


def test_the_reference_of_a_hill_uses_the_right_power():
    """On the line the integral of density^(1/3), to the third power."""
    hill = Gaussian((0.0,), rate=0.5)
    cells = tessellate(Interval(-40, 40), np.linspace(-3, 3, 9)[:, None], hill)
    expected = (math.sqrt(math.pi / (0.5 / 3.0))) ** 3 / (12.0 * 81.0)
    assert reference_for(cells, hill).value == pytest.approx(expected, rel=1e-12, abs=0.0)


def thin_polytope():
    return Polytope([(0, 0, 0), (1, 1, 1), (1.001, 1, 1), (1, 1.001, 1), (0.001, 0, 0)])


def thin_ellipsoid():
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    return Ellipsoid((0, 0, 0), (1, 1e-4, 1e-4), turned)


SLANTED = {"polytope": thin_polytope, "ellipsoid": thin_ellipsoid}


@pytest.mark.parametrize("shape", SLANTED)
@pytest.mark.parametrize("weight", [Uniform(), Gaussian((0, 0, 0), rate=1e5)], ids=repr)
def test_starts_in_thin_slanted_workspaces_have_all_their_agents(shape, weight):
    frame = CornerFrame(SLANTED[shape](), weight)
    start = random_start(frame, 300, 1, 0)
    assert start.shape == (300, 3)
    assert len(np.unique(start, axis=0)) == 300
    assert frame.workspace.contains(start).all()


@pytest.mark.parametrize(
    "site",
    [
        Box((1, 2, 3), (2, 4, 4)),
        Ball((1, 2, 3), 0.5),
        thin_ellipsoid(),
        thin_polytope(),
        Polytope([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 2, 3), (0, 1, 1)]),
    ],
    ids=lambda site: type(site).__name__,
)
def test_starts_are_spread_evenly(site):
    """A half-space through the centroid holds as many places as volume; means are centroids."""
    frame = CornerFrame(site, Uniform())
    start = random_start(frame, 20_000, 3, 1)
    whole = tessellate(frame.workspace, start[:1])
    centroid, own = whole.centroids[0], whole.second_moments[0] / whole.masses[0]
    assert start.mean(axis=0) == pytest.approx(centroid, abs=4.0 * math.sqrt(own / 20_000))
    assert ((start - centroid) ** 2).sum(axis=1).mean() == pytest.approx(own, rel=0.05)
    cut = tessellate(frame.workspace, [centroid - 1e-5, centroid + 1e-5])
    share = (start @ np.ones(3) < centroid @ np.ones(3)).mean()
    assert share == pytest.approx(cut.masses[0] / cut.masses.sum(), abs=0.02)


@pytest.mark.parametrize("shape", SLANTED)
def test_thin_slanted_workspaces_have_best_deployments(shape):
    found = optimize(SLANTED[shape](), None, 2, starts=2)
    assert found.kind.value == "minimum"
    assert found.positions.shape == (2, 3)
