"""No cell is measured, and nothing kept, for nothing: outlines, one agent's facets, other times."""

from __future__ import annotations

import gc
import math
from typing import Any

import numpy as np
import pytest

import dwell
from dwell._kernels.polygon import entry_points
from dwell.cells.backend import backend_for, borders, total_mass
from dwell.cells.guaranteed import boundary_of
from dwell.cells.rings import cell_rings
from dwell.cells.sensitivity import sensitivity
from dwell.cells.weighted_region import WeightedRegion, changing_region, weighted_region
from dwell.density.moving import Moving
from dwell.motion import Circle

BOX = dwell.Box((0.0, 0.0), (4.0, 4.0))
HILL = Moving(dwell.Gaussian, center=Circle((2.0, 2.0), 1.0, 5.0), rate=0.5)
KERNELS = ("measure_few", "measure_many", "measure_all", "outline_few")


def bay(corners: int) -> dwell.Region:
    """A coastline with so many vertices, and an island."""
    angle = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    reach = 2.0 + 0.2 * np.sin(7.0 * angle) + 0.02 * np.cos(0.5 * corners * angle)
    ring = np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])
    island = 0.3 * np.column_stack([np.cos(angle[::50]), np.sin(angle[::50])])
    return dwell.Region([{"outer": ring, "holes": [island]}])


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The kernels that are called from Python, and how many cells each one measures."""
    calls: list[tuple[str, int]] = []
    for name in KERNELS:
        kernel = getattr(entry_points, name)

        def counted(*given: Any, name: str = name, kernel: Any = kernel) -> Any:
            calls.append((name, given[0] if name == "outline_few" else given[1] - given[0]))
            return kernel(*given)

        monkeypatch.setattr(entry_points, name, counted)
    return calls


def places(agents: int) -> np.ndarray:
    return np.random.default_rng(3).uniform(-1.2, 1.2, (agents, 2))


def test_outlines_integrate_no_density(called: list[tuple[str, int]]) -> None:
    site, agents = bay(400), places(30)
    rings = cell_rings(site, agents)
    assert rings is not None
    assert called == [("outline_few", 30)]
    whole = math.fsum(0.5 * abs(_twice_area(ring)) for ring in rings)
    assert whole == pytest.approx(site.hull.area, rel=1e-12)
    called.clear()
    tessellated = dwell.tessellate(site, agents)
    called.clear()
    assert [len(cell.offsets) for cell in tessellated.cells] == [len(ring) for ring in rings]
    assert called == [("outline_few", 30)]


@pytest.mark.parametrize("agents", [30, 100])
def test_outlines_of_many_agents_and_of_power_cells_weigh_no_region(
    agents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = bay(400)

    def refused(*given: Any) -> Any:
        raise AssertionError("the region is weighed")

    monkeypatch.setattr("dwell.cells.weighted_region._weighed", refused)
    assert len(cell_rings(site, places(agents)) or []) == agents
    radius = np.linspace(0.1, 0.5, agents)
    for options in ({"radius": radius}, {"weights": radius}):
        assert cell_rings(site, places(agents), **options)


def test_agents_at_one_place_have_no_outlines() -> None:
    twice = np.vstack([places(5), places(5)[2:3]])
    assert cell_rings(BOX, twice) is None
    with pytest.raises(dwell.errors.AgentsError, match="same place"):
        backend_for(weighted_region(BOX, dwell.Uniform())).cells(BOX, twice)


def test_one_agents_sensitivity_measures_and_outlines_its_own_cell_only(
    called: list[tuple[str, int]],
) -> None:
    points, density = places(8) + 2.0, dwell.Gaussian((2, 3), rate=0.4)
    every = borders(BOX, points, density)
    called.clear()
    sensitivity(BOX, points[0], points[1:], density)
    assert called == [("measure_few", 1), ("outline_few", 1)]
    one = borders(BOX, points, density, agents=1)
    first = every.agent == 0
    for name in ("agent", "other", "m0", "m1", "m2"):
        assert np.array_equal(getattr(one, name), getattr(every, name)[first]), name
    assert np.array_equal(one.errors, every.errors[:1])


def test_of_the_regions_at_other_times_the_last_is_kept() -> None:
    site = dwell.Box((0.0, 0.0), (4.0, 4.0))
    ground = changing_region(site, HILL)
    for t in np.linspace(0.0, 3.0, 20):
        now = ground.at(float(t))
        total_mass(now)
        boundary_of(now)
    gc.collect()
    regions = {one for one in gc.get_objects() if type(one) is WeightedRegion}
    assert {one for one in regions if one.workspace is site} == {ground, now}
    assert ground.at(3.0) is now


def test_what_is_made_of_a_region_is_made_once() -> None:
    ground, made = weighted_region(BOX, dwell.Uniform()), []

    def make(region: WeightedRegion) -> float:
        made.append(region)
        return region.workspace.volume

    assert [ground.once(make), ground.once(make)] == [16.0, 16.0]
    assert made == [ground]


def _twice_area(ring: np.ndarray) -> float:
    x, y = ring.T
    return math.fsum(x * np.roll(y, -1) - np.roll(x, -1) * y)
