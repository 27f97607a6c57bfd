"""Samples and facets in space."""

import numpy as np
import pytest

from dwell._kernels.common.density_terms import general_terms
from dwell.cells import polyhedron as space
from dwell.errors import AgentsError
from dwell.geometry import polyhedra
from tests.kernels import space_worlds as worlds

HILL = worlds.hills([1.0], [[0.4, 0.5, 0.7]], np.diag([3.0, 1.0, 2.0]))
PLAIN = general_terms(3, 0.5, (np.array([[1, 0, 2]]), np.array([2.0]), np.array([[0.1, 0.0, 0.0]])))
DENSITIES = {"uniform": worlds.UNIFORM, "polynomial": PLAIN, "hill": HILL}


def test_threads_change_no_bit():
    points = worlds.scattered(5000)
    one, two = (vars(worlds.measure(worlds.cube(), points, threads=k)) for k in (1, 2))
    assert all(np.array_equal(values, two[name]) for name, values in one.items())


def test_samples_of_many_configurations():
    """Crowded rows are sorted into bins, others are not; each look is the same as alone."""
    rng = np.random.default_rng(4)
    places = rng.uniform(0, 1, (4, 100, 3))
    row = np.concatenate([np.full(60, 2), [0, 3, 2, 0], np.full(40, 1)])
    agent = rng.integers(0, 100, len(row))
    ground = worlds.ground(worlds.cube(), PLAIN)
    found = space.measure(ground, places, row, agent)
    for k in range(0, len(row), 7):
        alone = space.measure(ground, places[row[k]][None], np.array([0]), agent[k : k + 1])
        assert found.mass[k] == alone.mass[0]
        assert (found.error[k] == alone.error[0]).all()
        assert found.nearest[k] == alone.nearest[0]


def test_what_a_sample_has():
    points = worlds.scattered(50)
    found = worlds.measure(worlds.cube(), points)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    np.testing.assert_allclose(found.nearest, gaps.min(axis=1), rtol=1e-15)
    cells = polyhedra.cells(worlds.cube(), points)
    assert found.neighbors.tolist() == [int((c.borders >= 0).sum()) for c in cells]
    np.testing.assert_allclose(found.mass, [c.volume for c in cells], rtol=1e-12)
    np.testing.assert_allclose(cells[3].vertices, points[3] + cells[3].offsets)
    assert found.error.shape == (50, 3)


@pytest.mark.parametrize("name", DENSITIES)
def test_both_sides_of_a_border_agree(name):
    points = worlds.scattered(40)
    found = space.borders(worlds.ground(worlds.cube(), DENSITIES[name]), points)
    pairs = list(zip(found.agent.tolist(), found.other.tolist(), strict=True))
    assert len(pairs) > 300
    for k, (p, q) in enumerate(pairs):
        back, gap = pairs.index((q, p)), found.gap[k]
        assert found.m0[k] == pytest.approx(found.m0[back], rel=1e-10, abs=1e-15)
        shifted = found.m1[back] + gap * found.m0[back]
        np.testing.assert_allclose(found.m1[k], shifted, rtol=1e-10, atol=1e-14)
        assert found.m1[k] @ gap == pytest.approx(0.5 * gap @ gap * found.m0[k], rel=1e-9, abs=0.0)
        np.testing.assert_array_equal(found.m2[k], found.m2[k].T)


def test_borders_of_the_first_agents():
    ground, points = worlds.ground(worlds.cube(), HILL), worlds.scattered(70)
    whole, part = space.borders(ground, points), space.borders(ground, points, agents=3)
    few = whole.agent < 3
    assert sorted(zip(part.agent, part.other, part.m0, strict=True)) == sorted(
        zip(whole.agent[few], whole.other[few], whole.m0[few], strict=True)
    )
    assert len(part.masses) == 3
    np.testing.assert_array_equal(part.masses, whole.masses[:3])


def test_borders_out_in_a_tail_do_not_vanish():
    terms = worlds.hills([1.0], [[-80.0, 0.5, 0.5]], np.eye(3))
    found = space.borders(worlds.ground(worlds.cube(), terms), worlds.scattered(6))
    assert (found.log_scales < -600.0).all()
    assert (found.masses > 0.0).all()
    assert (found.m0 >= 0.0).all()
    assert found.m0.max() > 1e-3
    assert not found.empty.any()


def test_faces_of_close_neighbours_keep_their_digits():
    """Two planes as good as parallel: the line where they meet is found all the same."""
    from tests.kernels.test_space_cells import exact_body
    from tests.oracles import rational_polyhedra as oracle

    points = np.array([[0.2, 0.3, 0.4], [0.7, 0.6, 0.5], [0.7, 0.6 + 1e-9, 0.5 + 3e-10]])
    found = space.borders(worlds.ground(worlds.cube()), points)
    for p, q, area in zip(found.agent, found.other, found.m0, strict=True):
        exact = oracle.cell(exact_body(worlds.cube()), points, int(p)).area(int(q))
        assert area == pytest.approx(exact, rel=1e-12, abs=0.0)


def test_borders_refuse_agents_at_one_place():
    points = np.array([[0.5] * 3, [0.2] * 3, [0.5] * 3])
    with pytest.raises(AgentsError, match="same place"):
        space.borders(worlds.ground(worlds.cube()), points)
