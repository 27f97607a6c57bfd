"""Moments on a lattice of points against brute force."""

import numpy as np
import pytest

from dwell.cells.backend import measure_cells
from dwell.cells.weighted_region import weighted_region
from dwell.density import Gaussian, Uniform
from dwell.geometry import Box, Polygon
from tests import strategies
from tests.oracles import brute


def measured(workspace, agents, spacing, density):
    """(masses, centroids) of all agents by the kernel."""
    numbers = np.arange(len(agents))
    ground = weighted_region(workspace, density, spacing)
    seen = measure_cells(ground, agents[None], np.zeros_like(numbers), numbers)
    return seen.mass, agents + seen.error


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [1, 2, 9])
def test_against_brute_force(seed, count):
    rng = np.random.default_rng(seed)
    polygon = strategies.random_convex_polygon(rng, corners=6, radius=3.0)
    agents = np.array(strategies.random_positions(rng, polygon, count))
    weight = Gaussian(center=(0.4, -0.3), rate=0.2)
    reference = brute.grid_cells(
        polygon, agents, 0.11, lambda x, y: weight.at(np.column_stack([np.ravel(x), np.ravel(y)]))
    )

    masses, centroids = measured(Polygon(polygon), agents, 0.11, weight)

    owned = reference.mass > 0
    assert masses == pytest.approx(reference.mass, rel=1e-12)
    assert centroids[owned] == pytest.approx(reference.centroid[owned], abs=1e-12)


def test_ties_are_owned_by_exactly_one_agent():
    """Four agents around a lattice point, and lattice points on every bisector."""
    box = Box((0.0, 0.0), (3.0, 3.0))
    agents = np.array([(0.5, 0.5), (2.5, 0.5), (0.5, 2.5), (2.5, 2.5)])

    masses, _ = measured(box, agents, 1.0, Uniform())

    assert masses.sum() == 9.0


def test_a_cell_without_points_keeps_its_agent_where_it_is():
    box = Box((0.0, 0.0), (4.0, 4.0))
    agents = np.array([(1.0, 1.0), (1.004, 1.0), (1.002, 1.003), (1.002, 1.001)])

    masses, centroids = measured(box, agents, 1.0, Uniform())

    empty = masses == 0.0
    assert empty.any()
    assert (centroids[empty] == agents[empty]).all()
    assert masses.sum() == 16.0
