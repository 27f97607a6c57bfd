"""Cells against exact rational arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings

from dwell._kernels.common.density_terms import Terms
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.polygon.buffers import make_scratch
from dwell._kernels.polygon.entry_points import cell_of as kernel_cell
from dwell._kernels.polygon.entry_points import moments_of
from tests import strategies
from tests.oracles import rational_cells


def cell_of(polygon, agents, p):
    """Vertices relative to the agent, labels, and the status of one cell."""
    polygon, agents = np.asarray(polygon, dtype=float), np.asarray(agents, dtype=float)
    memory = make_scratch(len(agents), len(polygon))
    (wx, wy), (xs, ys) = (np.ascontiguousarray(a.T) for a in (polygon, agents))
    n, _, nearest = kernel_cell(p, xs, ys, wx, wy, memory)
    count = max(n, 0)
    local = np.column_stack([memory.x[:count], memory.y[:count]])
    return local, memory.label[:count].copy(), n, nearest


def area_of(local):
    """Area of a cell in its agent's frame."""
    memory = make_scratch(1, len(local))
    memory.x[: len(local)], memory.y[: len(local)] = local.T
    return moments_of(len(local), 0.0, 0.0, Terms(1.0), 0.0, 0.0, False, memory)[1]


@settings(max_examples=40)
@given(strategies.configurations(max_size=8))
def test_area_against_rational_arithmetic(configuration):
    polygon, agents = configuration
    whole = float(rational_cells.area(rational_cells.exact_polygon(polygon)))
    # Corners seen from an agent are rounded: all that counts for polygons thinner than that.
    rounding = 4e-16 * float(np.ptp(np.asarray(polygon), axis=0).max()) ** 2
    exact = rational_cells.tessellation(polygon, agents)

    for p, reference in enumerate(exact):
        local, _, n, _ = cell_of(polygon, agents, p)
        area = area_of(local) if n > 0 else 0.0
        assert abs(area - float(reference.area)) <= 1e-13 * whole + rounding


@settings(max_examples=40)
@given(strategies.configurations(max_size=8))
def test_neighbours_with_a_real_edge_are_found(configuration):
    polygon, agents = configuration
    polygon = np.asarray(polygon)
    size = float(np.ptp(polygon, axis=0).max())
    for p, reference in enumerate(rational_cells.tessellation(polygon, agents)):
        local, labels, n, _ = cell_of(polygon, agents, p)
        steps = np.hypot(*(np.roll(local, -1, axis=0) - local).T) if n > 0 else np.empty(0)
        clear = {int(q) for q in labels[steps > 1e-9 * size] if q >= 0}
        for q in clear:  # or an agent so near to q that doubles cannot tell them apart
            gaps = [np.hypot(*np.subtract(agents[q], agents[r])) for r in reference.edge_neighbours]
            assert min(gaps) <= 1e-9 * size


def test_every_label_is_a_border():
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    local, labels, n, nearest = cell_of(square, [(0.25, 0.5), (0.75, 0.5)], 0)

    assert n == 4
    assert sorted(labels.tolist()) == [-4, -3, -1, 1]
    assert nearest == 0.25
    assert local[labels == 1][0].tolist() == [0.25, -0.5]


def test_one_agent_has_everything():
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    local, labels, n, nearest = cell_of(square, [(0.5, 0.25)], 0)

    assert n == 4
    assert nearest == -1.0
    assert labels.tolist() == [-1, -2, -3, -4]
    assert area_of(local) == 1.0


def test_coincident_agents_are_reported():
    _, _, n, _ = cell_of([(0, 0), (1, 0), (0, 1)], [(0.2, 0.2), (0.2, 0.2)], 1)
    assert n == COINCIDENT


def test_an_agent_far_outside_may_have_no_cell():
    _, _, n, _ = cell_of([(0, 0), (1, 0), (1, 1), (0, 1)], [(9.0, 0.5), (0.5, 0.5)], 0)
    assert n == 0


@pytest.mark.parametrize("gap", [1e-3, 1e-9, 1e-15, np.spacing(0.5)])
def test_nearly_coincident_agents_still_share_the_square(gap):
    square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    agents = [(0.5, 0.5), (0.5 + gap, 0.5), (0.1, 0.9)]
    areas = [area_of(cell_of(square, agents, p)[0]) for p in range(3)]
    assert sum(areas) == pytest.approx(1.0, rel=1e-15, abs=0.0)
    assert min(areas) > 0.05


@pytest.mark.parametrize("count", [5, 64, 100, 333])
def test_many_lines_through_one_point(count):
    """All bisectors of agents on a circle meet in its middle: rounding must not lose a cell."""
    angle = 2 * np.pi * np.arange(count) / count
    agents = np.column_stack([np.cos(angle), np.sin(angle)])
    square = [(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)]
    areas = [area_of(cell_of(square, agents, p)[0]) for p in range(count)]
    assert min(areas) > 0.5 * 16.0 / (2 * count)
    assert sum(areas) == pytest.approx(16.0, rel=1e-13, abs=0.0)
