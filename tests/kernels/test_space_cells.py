"""Cells in space against exact rational arithmetic, SciPy, and what lattices are known for."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, Voronoi

from dwell._kernels.space.memory import make_memory
from dwell.errors import AgentsError, WorkspaceError
from dwell.geometry import Box, Polytope, polyhedra
from tests.kernels import space_worlds as worlds
from tests.oracles import rational_polyhedra as oracle


def exact_body(workspace):
    """The workspace as the kernels take it, faces that are not flat cut into triangles."""
    points = np.asarray(workspace.vertices)
    walls = tuple(tuple(map(int, face)) for face in workspace.faces)
    loops, labels = polyhedra._flat_faces(points, walls)
    return [
        (name, [oracle.exact(points[i]) for i in loop])
        for loop, name in zip(loops, labels, strict=True)
    ]


def assert_exact(workspace, agents, rel=1e-12):
    """Volumes, centroids and second moments agree with rational arithmetic."""
    found = worlds.measure(workspace, agents)
    body = exact_body(workspace)
    whole = float(workspace.volume)
    for p in range(len(agents)):
        cell = oracle.cell(body, agents, p)
        volume = float(cell.volume)
        assert abs(found.mass[p] - volume) <= rel * volume + 1e-40 * whole
        if volume > 1e-40 * whole:
            size = max(abs(float(c)) for _, loop in cell.faces for v in loop for c in v)
            miss = np.abs(found.error[p] - [float(c) for c in cell.centroid]).max()
            assert miss <= rel * size
            assert found.second[p] == pytest.approx(float(cell.second_moment), rel=2 * rel)


def assert_tiles(workspace, points):
    """Volumes and first moments add up to those of the workspace."""
    found = worlds.measure(workspace, points)
    corner = workspace.bounds[0]
    body = exact_body(workspace)
    whole = oracle.RationalCell(
        [(name, [oracle.minus(v, oracle.exact(corner)) for v in loop]) for name, loop in body]
    )
    volume, arms = float(whole.volume), (points - corner) + found.error
    assert not found.coincident.any()
    assert math.fsum(found.mass) == pytest.approx(volume, rel=1e-12, abs=0.0)
    for k in range(3):
        first = volume * float(whole.centroid[k])
        assert math.fsum(found.mass * arms[:, k]) == pytest.approx(first, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("offset", [0.0, worlds.FAR])
@pytest.mark.parametrize("name", worlds.HARD)
def test_cells_tile_the_cube(name, offset):
    assert_tiles(worlds.cube(offset), np.unique(worlds.HARD[name] + offset, axis=0))


@pytest.mark.parametrize("offset", [0.0, worlds.FAR])
@pytest.mark.parametrize("name", worlds.polytopes())
def test_cells_tile_slanted_workspaces(name, offset):
    workspace = Polytope(worlds.polytopes()[name].vertices + offset)
    lower, upper = workspace.bounds
    points = lower + worlds.scattered(200, 11) * (upper - lower)
    points = points[workspace.contains(points)]
    assert len(points) > 15
    assert_tiles(workspace, points)


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=7, unique=True))
def test_lattice_points_against_rational_arithmetic(points):
    assert_exact(worlds.cube(side=4.0), np.array(points, dtype=float))


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from(sorted(worlds.polytopes())))
def test_slanted_workspaces_against_rational_arithmetic(seed, name):
    workspace = worlds.polytopes()[name]
    lower, upper = workspace.bounds
    points = np.random.default_rng(seed).uniform(lower, upper, (30, 3))
    points = points[workspace.contains(points)][:4]
    if len(points):
        assert_exact(workspace, points)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12])
def test_slabs_needles_and_clusters_keep_their_digits(gap):
    """Cells as thin, or as small, as the agents are near to each other."""
    rng = np.random.default_rng(5)
    u, v = rng.normal(size=(2, 3))
    middle = np.array([0.4, 0.5, 0.6])
    slab = np.array([middle - gap * u, middle, middle + 1.3 * gap * u])
    needle = np.vstack([slab, [middle + gap * v], [middle - 1.1 * gap * v]])
    for agents in (slab, needle, middle + gap * rng.normal(size=(8, 3))):
        assert_exact(worlds.cube(), agents, rel=2e-12)


@pytest.mark.parametrize("name", ["scattered", "cubic", "body-centred", "on walls", "pairs 1e-9"])
def test_neighbours_are_those_of_rational_arithmetic(name):
    points = np.unique(worlds.HARD[name], axis=0)
    picks = [0, len(points) // 2]
    near = {p: np.argsort(((points - points[p]) ** 2).sum(axis=1))[:80] for p in picks}
    for cell in polyhedra.cells(worlds.cube(), points, picks):
        exact = oracle.cell(exact_body(worlds.cube()), points[near[cell.agent]], 0)
        wanted = {int(near[cell.agent][q]) for q in exact.neighbours}
        wide = cell.border_sizes > 1e-11
        assert {int(q) for q in cell.borders[wide] if q >= 0} == wanted
        for k in np.flatnonzero(wide & (cell.borders >= 0)):
            q = int(np.flatnonzero(near[cell.agent] == cell.borders[k])[0])
            assert cell.areas[k] == pytest.approx(exact.area(q), rel=1e-9, abs=0.0)


def test_interior_cells_against_scipy():
    points = worlds.scattered(400)
    diagram = Voronoi(points)
    compared = 0
    for cell in polyhedra.cells(worlds.cube(), points):
        region = diagram.regions[diagram.point_region[cell.agent]]
        if (cell.borders >= 0).all() and region and -1 not in region:
            corners = diagram.vertices[region]
            assert cell.volume == pytest.approx(ConvexHull(corners).volume, rel=1e-9, abs=0.0)
            assert len(cell.offsets) == len(region)
            compared += 1
    assert compared > 100


def test_every_face_is_a_loop_and_every_edge_is_shared():
    for name in ("scattered", "cubic", "face-centred", "on walls"):
        for cell in polyhedra.cells(worlds.cube(), np.unique(worlds.HARD[name], axis=0), range(40)):
            edges = [
                (int(a), int(b))
                for loop in cell.faces
                for a, b in zip(loop, np.roll(loop, -1), strict=True)
            ]
            assert len(set(edges)) == len(edges)
            assert {(b, a) for a, b in edges} == set(edges)
            corners, faces = len(cell.offsets), len(cell.faces)
            assert corners - len(edges) // 2 + faces == 2
            assert len(edges) == 3 * corners
            assert len(cell.borders) == faces
            assert all(cell.face_with(int(q)) is not None for q in cell.borders if q >= 0)
            assert cell.face_with(10**6) is None


def test_places_belong_to_the_nearest_agent():
    """A place drawn at random lies in the cell of the agent that is nearest to it."""
    points = worlds.scattered(60, 9)
    cells = polyhedra.cells(worlds.cube(), points)
    for place in worlds.scattered(500, 10):
        holder = cells[int(((points - place) ** 2).sum(axis=1).argmin())]
        for loop in holder.faces:
            a, b, c = holder.offsets[loop[:3]]
            assert np.cross(b - a, c - a) @ (place - holder.position - a) <= 1e-14


@pytest.mark.parametrize(
    ("points", "faces", "volume"),
    [
        (worlds.cubic(), 6, 8.0**-3),
        (worlds.body_centred(), 14, 6.0**-3 / 2),
        (worlds.face_centred(), 12, 5.0**-3 / 4),
    ],
    ids=["cubes", "truncated octahedra", "rhombic dodecahedra"],
)
def test_cells_of_lattices(points, faces, volume):
    """Cells of agents that have neighbours on all sides."""
    cells = polyhedra.cells(worlds.cube(), points)
    inside = [c for c in cells if np.abs(c.position - 0.5).max() < 0.31]
    assert len(inside) > 50
    for cell in inside:
        assert (cell.border_sizes > 1e-12).sum() == faces
        assert cell.volume == pytest.approx(volume, rel=1e-13, abs=0.0)
    if faces == 14:
        second = worlds.measure(worlds.cube(), points).second[[c.agent for c in inside]]
        exact = 3 * 19 / (192 * 2 ** (1 / 3)) * volume ** (5 / 3)  # 0.2356298437 of the power
        np.testing.assert_allclose(second, exact, rtol=1e-13)


def bits(found):
    parts = (found.error, found.mass, found.polar, found.second, found.nearest, found.neighbors)
    return np.column_stack([np.asarray(part).reshape(len(found.mass), -1) for part in parts])


@pytest.mark.parametrize("name", worlds.HARD)
def test_numbering_the_agents_otherwise_changes_no_bit(name):
    points = np.unique(worlds.HARD[name], axis=0)
    order = np.random.default_rng(3).permutation(len(points))
    straight = bits(worlds.measure(worlds.cube(), points))
    turned = bits(worlds.measure(worlds.cube(), points[order]))
    assert (turned == straight[order]).all()


@pytest.mark.parametrize("name", worlds.HARD)
def test_bins_change_no_bit(name, monkeypatch):
    points = np.unique(worlds.HARD[name], axis=0)
    monkeypatch.setattr(polyhedra, "FEW", 4)
    binned = bits(worlds.measure(worlds.cube(), points))
    seen = [c.seen.tolist() for c in polyhedra.cells(worlds.cube(), points)]
    monkeypatch.setattr(polyhedra, "FEW", 10**9)
    assert (bits(worlds.measure(worlds.cube(), points)) == binned).all()
    assert [c.seen.tolist() for c in polyhedra.cells(worlds.cube(), points)] == seen


def test_agents_come_by_distance_and_only_as_far_as_needed():
    points = worlds.scattered(200)
    for cell in polyhedra.cells(worlds.cube(), points):
        gaps = np.linalg.norm(points[cell.seen] - cell.position, axis=1)
        assert (np.diff(gaps) >= 0.0).all()
        reach = 2.0 * np.linalg.norm(cell.offsets, axis=1).max()
        beyond = np.linalg.norm(np.delete(points, cell.seen, axis=0) - cell.position, axis=1)
        assert (beyond[beyond > 0.0] > reach).all()
        assert set(cell.borders[cell.borders >= 0]) <= set(cell.seen)


def test_agents_at_one_place_are_named():
    points = np.array([[0.5, 0.5, 0.5], [0.2, 0.2, 0.2], [0.5, 0.5, 0.5]])
    with pytest.raises(AgentsError, match="agents 0 and 2 stand at the same place"):
        polyhedra.cells(worlds.cube(), points)
    found = worlds.measure(worlds.cube(), points)
    assert found.coincident.tolist() == [True, False, True]


def test_far_agents_leave_an_empty_cell():
    """An agent outside the workspace, shadowed by one inside."""
    found = worlds.measure(worlds.cube(), [[0.5, 0.5, 0.5], [0.5, 0.5, 9.0]])
    assert found.empty.tolist() == [False, True]
    np.testing.assert_allclose(found.error[1], [0.0, 0.0, -8.0], atol=1e-15)
    assert found.nearest[1] == 8.5
    assert polyhedra.cells(worlds.cube(), np.array([[0.5] * 3, [0.5, 0.5, 9.0]]))[1].volume == 0.0


def test_an_agent_outside_still_has_its_share():
    """Its tetrahedra would count with both signs: another apex is taken."""
    found = worlds.measure(worlds.cube(), [[0.5, 0.5, 0.75], [0.5, 0.5, -0.25]])
    np.testing.assert_allclose(found.mass, [0.75, 0.25], rtol=1e-14)
    np.testing.assert_allclose(found.error[1], [0.0, 0.0, 0.375], atol=1e-15)
    second = 0.25 * (1 + 1 + 0.25**2) / 12
    assert found.second[1] == pytest.approx(second, rel=1e-13, abs=0.0)
    assert found.polar[1] == pytest.approx(second + 0.25 * 0.375**2, rel=1e-13, abs=0.0)


def test_open_faces_are_refused():
    box = worlds.cube()
    for faces, says in (
        (box.faces[:5], "do not close up"),
        ([*box.faces[:5], box.faces[5][::-1]], "alike"),
    ):
        with pytest.raises(WorkspaceError, match=says):
            polyhedra.solid_of(SimpleNamespace(vertices=box.vertices, faces=faces))


def test_corners_of_many_faces_are_split():
    solid = polyhedra.solid_of(worlds.polytopes()["octahedron"])
    assert len(solid.x) == 12
    used = np.arange(len(solid.mate)) % 4 != 3
    mates = solid.mate[used]
    assert (solid.mate[mates] == np.flatnonzero(used)).all()
    memory = make_memory(3, solid)
    assert len(memory.x) >= 12
    assert len(memory.gone) >= 3 * len(memory.x)  # the loops of all faces: three edges a vertex


def test_a_single_agent():
    found = worlds.measure(Box((0, 0, 0), (2, 1, 1)), [[0.5, 0.5, 0.5]])
    assert (found.nearest[0], found.neighbors[0]) == (math.inf, 0)
    np.testing.assert_allclose(found.error[0], [0.5, 0.0, 0.0], atol=1e-15)
