"""All cells of the plane at once: the cells that a search through all agents finds."""

from __future__ import annotations

import numpy as np
import pytest

from dwell import Box, Gaussian, Polygon, tessellate
from dwell.cells import polygon as plane
from dwell.cells.backend import borders
from dwell.cells.tessellation import SHORTEST_EDGE
from dwell.errors import AgentsError
from dwell.geometry import voronoi_cells
from tests.crowds import LAYOUTS

SQUARE = Box((0, 0), (1, 1))
NAMES = sorted(LAYOUTS)


TRIANGLE = Polygon([(0, 0), (1, 0), (0, 1)])
WORLDS = {(name, count): (SQUARE, LAYOUTS[name](count)) for name in NAMES for count in (60, 400)}
WORLDS["outside"] = TRIANGLE, np.random.default_rng(2).uniform(-0.2, 1.0, (200, 2))


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_cells_are_those_among_all_agents(world):
    site, places = WORLDS[world]
    for cell, known in zip(
        tessellate(site, places).cells, voronoi_cells(site.polygon, places), strict=True
    ):
        assert cell.agent == known.agent
        assert cell.offsets.tobytes() == known.offsets.tobytes()
        assert cell.borders.tolist() == known.borders.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_neighbors_are_those_that_both_cells_name(name):
    places = LAYOUTS[name](300)
    shortest = SHORTEST_EDGE * SQUARE.diameter
    seen = [
        {int(q) for q in cell.borders[cell.border_sizes > shortest] if q >= 0}
        for cell in voronoi_cells(SQUARE, places)
    ]
    expected = [sorted(q for q in near if p in seen[q]) for p, near in enumerate(seen)]
    assert tessellate(SQUARE, places).neighbors == expected


def test_cells_of_a_lattice_touch_in_corners():
    x, y = np.meshgrid(np.arange(20) + 0.5, np.arange(20) + 0.5)
    found = tessellate(SQUARE, np.column_stack([x.ravel(), y.ravel()]) / 20)
    sides = np.full((20, 20), 8)
    sides[[0, -1]] = sides[:, [0, -1]] = 5
    sides[[0, 0, -1, -1], [0, -1, 0, -1]] = 3
    assert [len(near) for near in found.touching] == sides.ravel().tolist()
    assert all(p in found.touching[q] for p, near in enumerate(found.touching) for q in near)


def test_facets_of_many_agents_are_those_of_few():
    """The facets of an agent are unchanged by agents beyond its neighbours."""
    rng, weight = np.random.default_rng(3), Gaussian((0.4, 0.3), rate=2.0)
    places = rng.uniform(0, 1, (500, 2))
    many = borders(SQUARE, places, weight)
    cells = tessellate(SQUARE, places)
    for p in (0, 17, 250):
        near = [p, *sorted({r for q in cells.neighbors[p] for r in [q, *cells.neighbors[q]]} - {p})]
        few = borders(SQUARE, places[near], weight, agents=1)
        mine = many.agent == p
        order = np.argsort(many.other[mine])
        again = np.argsort([near[q] for q in few.other])
        assert many.other[mine][order].tolist() == [near[few.other[k]] for k in again]
        scale = np.exp(many.log_scales[p] - few.log_scales[0])
        np.testing.assert_allclose(many.m0[mine][order] * scale, few.m0[again], rtol=1e-12)


def test_cells_are_a_sequence():
    places = np.random.default_rng(1).uniform(0, 1, (100, 2))
    cells = tessellate(SQUARE, places).cells
    assert len(cells) == 100
    assert [cell.agent for cell in cells[-3:]] == [97, 98, 99]
    assert cells[-1].agent == 99
    with pytest.raises(IndexError):
        cells[100]
    places[70] = places[20]
    with pytest.raises(AgentsError, match="agents 20 and 70"):
        plane.cells(SQUARE, places)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_agents(count):
    places = np.random.default_rng(count).uniform(0, 1, (count, 2))
    found = tessellate(SQUARE, places)
    assert found.masses.sum() == pytest.approx(1.0, rel=1e-14)
    assert [cell.agent for cell in found.cells] == list(range(count))
    assert found.neighbors == [[q for q in range(count) if q != p] for p in range(count)]
