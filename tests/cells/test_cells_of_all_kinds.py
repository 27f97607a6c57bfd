"""Whatever the workspace, `Tessellation.cells` can be asked the same things."""

import numpy as np
import pytest

import dwell

CUBE = np.array([[x, y, z] for x in (0.0, 2.0) for y in (0.0, 1.0) for z in (0.0, 1.5)])
TURNED = [[0.8, 0.6], [-0.6, 0.8]]
WORKSPACES = {
    "interval": dwell.Interval(-1, 3),
    "ball-1": dwell.Ball((1,), 2),
    "polygon": dwell.Polygon([(0, 0), (4, 0), (5, 3), (1, 4)]),
    "box-2": dwell.Box((0, 0), (3, 2)),
    "disc": dwell.Ball((1, 2), 2),
    "ellipse": dwell.Ellipsoid((3, 2), (4, 2.5), TURNED),
    "box-3": dwell.Box((0, 0, 0), (4, 3, 2)),
    "polytope": dwell.Polytope(CUBE),
    "ball": dwell.Ball((0, 0, 0), 2),
    "ellipsoid": dwell.Ellipsoid((1, 0, 0), (3, 2, 1)),
    "box-4": dwell.Box((0, 0, 0, 0), (2, 1, 1, 1)),
    "ball-4": dwell.Ball((0, 0, 0, 0), 1),
}
ROUGH = {"ball": 1e-9, "ellipsoid": 1e-9, "ball-4": 3e-3}  # what docs/dimensions.md promises


def scattered(workspace, count=7, seed=1):
    lower, upper = workspace.bounds
    drawn = np.random.default_rng(seed).uniform(lower, upper, (400, workspace.dimension))
    return drawn[workspace.contains(drawn)][:count]


@pytest.fixture(scope="module", params=WORKSPACES)
def world(request):
    workspace = WORKSPACES[request.param]
    return request.param, workspace, dwell.tessellate(workspace, scattered(workspace))


def test_cells_are_those_of_the_tessellation(world):
    """Volume and centroid are those of a uniform density; corners and centroids are inside."""
    name, workspace, found = world
    digits = ROUGH.get(name, 1e-12)
    for p, cell in enumerate(found.cells):
        assert cell.volume == pytest.approx(found.masses[p], rel=digits)
        assert np.allclose(cell.centroid, found.centroids[p], atol=digits * workspace.diameter)
        assert not cell.empty
        assert cell.contains(np.vstack([cell.vertices, cell.centroid, cell.position])).all()
        assert cell.neighbors.tolist() == found.neighbors[p]
    assert sum(cell.volume for cell in found.cells) == pytest.approx(workspace.volume, rel=digits)


def test_a_point_lies_in_the_cell_of_the_nearest_agent(world):
    _, workspace, found = world
    lower, upper = workspace.bounds
    margin = 0.2 * (upper - lower)
    drawn = np.random.default_rng(2).uniform(lower - margin, upper + margin, (2000, len(lower)))
    inside = workspace.contains(drawn)
    gaps = np.linalg.norm(drawn[:, None] - found.positions[None], axis=2)
    nearest = gaps.argmin(axis=1)
    for cell in found.cells:
        assert np.array_equal(cell.contains(drawn), inside & (nearest == cell.agent))


def test_the_only_agent_has_everything(world):
    name, workspace, _ = world
    cell = dwell.tessellate(workspace, scattered(workspace, 1)).cell(0)
    assert cell.volume == pytest.approx(workspace.volume, rel=ROUGH.get(name, 1e-12))
    assert cell.neighbors.tolist() == []


def test_an_agent_behind_others_has_nothing(world):
    _, workspace, _ = world
    lower, upper = workspace.bounds
    places = np.array([0.5 * (lower + upper), upper + 3.0 * (upper - lower)])
    mine, nothing = dwell.tessellate(workspace, places).cells
    assert nothing.empty
    assert nothing.volume == 0.0
    assert nothing.neighbors.tolist() == []
    assert not nothing.contains(places).any()
    assert np.array_equal(nothing.centroid, places[1])
    assert not mine.empty
    assert mine.contains(places[:1]).all()


def test_an_agent_just_outside_and_behind_others_has_nothing_either(world):
    """Within the box round a ball, but not within the ball."""
    _, workspace, _ = world
    lower, upper = workspace.bounds
    middle = 0.5 * (lower + upper)
    far = upper + 0.001 * (upper - lower)
    places = np.array([workspace.nearest(far[None])[0] * 0.9 + 0.1 * middle, far, middle])
    cell = dwell.tessellate(workspace, places).cells[1]
    mass = dwell.tessellate(workspace, places).masses[1]
    assert cell.volume == pytest.approx(mass, rel=1e-2, abs=1e-9 * workspace.volume)


@pytest.mark.parametrize("number", [2, -1, 0.5, "first", True])
def test_a_cell_that_nobody_has_is_refused(number):
    found = dwell.tessellate(dwell.Box((0, 0, 0), (1, 1, 1)), [(0.5, 0.5, 0.5), (0.2, 0.5, 0.5)])
    with pytest.raises(dwell.InputError, match="numbered from 0 to 1"):
        found.cell(number)
