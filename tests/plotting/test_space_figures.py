"""Runs in space: scenes with the right order of depth, cells, shadows, and a camera that turns."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import PolyCollection

import dwell
from dwell import Ball, Box, Ellipsoid, Gaussian, InputError, Polytope
from dwell.agents.world import Timeline, World
from dwell.density import Uniform, as_density
from dwell.plotting import FIGURES, PLAIN, animate, save_figures
from dwell.plotting.camera import Camera, camera_for, labels
from dwell.plotting.figures import blank, deployment, draw_paths
from dwell.plotting.film import canvas_of, frames_of
from dwell.plotting.panels import compared_trajectories
from dwell.plotting.scene import View, cloud_of, draw_scene, shapes_of, solid_cells

from .conftest import CUBOID, in_cuboid, run_named, words

MAPS = ("configurations", "trajectories")


WORKSPACES: dict[str, Any] = {
    "box": CUBOID,
    "tetrahedron": Polytope([(0, 0, 0), (9, 0, 0), (0, 9, 0), (0, 0, 9)]),
    "ball": Ball((2, 1.5, 1), 3),
    "ellipsoid": Ellipsoid((2, 1.5, 1), (5, 4, 3)),
    "slim": Box((0, 0, 0), (400, 3, 2)),
    "tall": Box((0, 0, 0), (4, 3, 18)),
    "flat": Box((0, 0, 0), (100, 80, 10)),
}


@pytest.mark.parametrize("name", WORKSPACES)
def test_no_numbers_overlap(name: str) -> None:
    figure = blank(2.9, 4.5)
    ax = figure.subplots()
    draw_scene(ax, View(WORKSPACES[name], in_cuboid(5)))
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in ax.texts if t.get_text()]

    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert all(b.x0 >= 0.0 and b.x1 <= figure.bbox.x1 for b in boxes)


@pytest.mark.parametrize("azimuth", [-60.0, 10.0, 135.0, 250.0])
def test_the_camera_keeps_lengths_and_knows_its_sides(azimuth: float) -> None:
    camera = Camera(CUBOID, azimuth)

    np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(camera.axes) == pytest.approx(1.0)
    up = camera.on_sheet(np.array([[0.0, 0, 0], [0, 0, 1]]))
    assert up[0, 0] == pytest.approx(up[1, 0])  # upright edges are upright
    assert up[1, 1] > up[0, 1]
    for k, loop in enumerate(CUBOID.faces):
        assert camera.faces_us(CUBOID.vertices[loop]) == (CUBOID.normals[k] @ camera.axes[2] > 0.0)
    assert camera.nearness(camera.near) > camera.nearness(camera.far)


@pytest.mark.parametrize("name", ["box", "tetrahedron", "slim"])
@pytest.mark.parametrize("azimuth", [-60.0, 33.0, 171.0])
def test_cells_are_drawn_from_the_farthest_to_the_nearest(name: str, azimuth: float) -> None:
    """Along any line of sight, cells come in the order of their agents' nearness."""
    workspace = WORKSPACES[name]
    lower, upper = workspace.bounds
    rng = np.random.default_rng(3)
    inside = lower + rng.uniform(size=(4000, 3)) * (upper - lower)
    inside = inside[workspace.contains(inside)]
    sites = inside[:15]
    camera = Camera(workspace, azimuth)
    ray = camera.axes[2] * camera.unit  # towards the camera
    rank = np.empty(len(sites), dtype=int)
    rank[np.argsort(camera.nearness(sites))] = np.arange(len(sites))

    starts = inside[15:400]
    for step in (0.01, 0.1, 0.4):
        ends = starts + step * ray
        kept = workspace.contains(ends)
        owner = [np.argmin(((p[:, None] - sites) ** 2).sum(axis=2), axis=1)
                 for p in (starts[kept], ends[kept])]  # fmt: skip
        assert (rank[owner[1]] >= rank[owner[0]]).all()
        assert camera.on_sheet(ends) == pytest.approx(camera.on_sheet(starts), abs=1e-12)


def test_far_faces_come_before_the_agent_and_near_faces_after_it() -> None:
    shapes = list(shapes_of(View(CUBOID, np.array([[2.0, 1.5, 1.0]])), camera_for(CUBOID)))
    solid = [k for k, shape in enumerate(shapes) if 0.0 < shape.fill[3] < 1.0]
    colour = matplotlib.colors.to_rgba(PLAIN.start)
    (dot,) = (k for k, shape in enumerate(shapes) if shape.fill == colour)

    assert len(solid) == 6
    assert solid[2] < dot < solid[3]
    np.testing.assert_allclose(shapes[dot].ring.mean(axis=0), 0.0, atol=1e-12)


def test_shadows_lie_on_the_far_sides() -> None:
    place, camera = in_cuboid(1), camera_for(CUBOID)
    shapes = list(shapes_of(View(CUBOID, place, cells=False), camera))

    for k in range(3):
        shadow = place[0].copy()
        shadow[k] = camera.far[k]
        middle = shapes[k].ring.mean(axis=0)
        np.testing.assert_allclose(middle, camera.on_sheet(shadow), atol=1e-12)


def test_paths_are_cut_at_the_borders_of_cells_and_lose_nothing() -> None:
    run, camera = run_named("flight"), camera_for(CUBOID)
    paths = list(run.positions(np.linspace(0.0, run.horizon, 50)).transpose(1, 0, 2))
    final = run.positions(run.horizon)

    def length(*lines: np.ndarray) -> float:
        return sum(float(np.hypot(*np.diff(line, axis=0).T).sum()) for line in lines)

    def drawn_length(*given: Any) -> float:
        rings = [s.ring for s in shapes_of(View(CUBOID, final, *given), camera)
                 if s.fill[3] == 0.0]  # fmt: skip
        return 0.5 * length(*(np.vstack([ring, ring[:1]]) for ring in rings))

    total = length(*map(camera.on_sheet, paths))
    for onto in np.eye(3, dtype=bool):
        total += length(*(camera.on_sheet(np.where(onto, camera.far, path)) for path in paths))
    assert drawn_length(paths) - drawn_length() == pytest.approx(total, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("name", WORKSPACES)
def test_cells_fill_the_workspace(name: str) -> None:
    workspace = WORKSPACES[name]
    cells = solid_cells(workspace, in_cuboid(7))
    assert cells is not None
    volume = 0.0
    for cell in cells:
        for face in cell:
            arms = face.ring[1:] - face.ring[0]
            volume += face.ring[0] @ np.cross(arms[:-1], arms[1:]).sum(axis=0) / 6.0

    round_off = 0.02 if name in ("ball", "ellipsoid") else 1e-9
    assert volume == pytest.approx(workspace.volume, rel=round_off)
    assert any(face.smooth for cell in cells for face in cell) == (round_off > 0.01)


@pytest.mark.parametrize(
    ("workspace", "positions", "says"),
    [("box", np.ones((2, 3)), "coincide"), ("slim", in_cuboid(3), "not to scale")],
)
def test_a_picture_says_what_it_lacks(workspace: str, positions: np.ndarray, says: str) -> None:
    figure = blank(3.5, 3.5)
    draw_scene(figure.subplots(), View(WORKSPACES[workspace], positions))
    assert says in words(figure)


def test_agents_outside_are_drawn_too() -> None:
    places = np.array([[-1.0, 1.0, 1.0], [2.0, 1.0, 1.0]])

    view = View(CUBOID, places, arrows=np.ones((2, 3)), fresh=np.ones(2))
    assert len(list(shapes_of(view, camera_for(CUBOID)))) > 12


def test_labels_name_the_axes_and_stay_as_many_from_all_sides() -> None:
    counts = {len(labels(Camera(CUBOID, float(azimuth)))) for azimuth in range(-180, 180, 7)}

    assert len(counts) == 1
    names = {label.words for label in labels(camera_for(CUBOID)) if label.name}
    assert names == {"position $x$", "position $y$", "position $z$"}


@pytest.mark.parametrize("rate", [8.0, 50.0, 4000.0])
def test_the_cloud_follows_the_density(rate: float) -> None:
    hill = Gaussian(center=(3.0, 2.0, 1.0), rate=rate)
    points, values = cloud_of(CUBOID, hill)

    assert len(points) == len(values) == 1500
    assert CUBOID.contains(points).all()
    np.testing.assert_allclose(values, hill.at(points))
    np.testing.assert_allclose(points.mean(axis=0), (3.0, 2.0, 1.0), atol=0.1)
    if rate < 1000.0:  # else it is as wide as the places are apart
        np.testing.assert_allclose(points.var(axis=0), 0.5 / rate, rtol=0.15)
    assert (cloud_of(CUBOID, hill)[0] == points).all()


# Films.


def test_the_agent_is_where_the_camera_sees_it() -> None:
    run = run_named("flight")
    stage = canvas_of(frames_of(run, fps=5, seconds=2), (480, 270), 60.0)
    stage.frame(6)
    shots = frames_of(run, fps=5, seconds=2)
    camera = Camera(CUBOID, -60.0 + float(shots.camera[6]))
    (solids,) = (
        a
        for a in stage.parts[0].artists
        if isinstance(a, PolyCollection) and len(a.get_paths()) > 20
    )
    middles = np.array([path.vertices[:-1].mean(axis=0) for path in solids.get_paths()])

    for place in camera.on_sheet(run.positions(float(shots.times[6]))):
        assert np.abs(middles - place).max(axis=1).min() < 1e-9


def test_a_turning_film_goes_once_round_at_the_end(tmp_path: Path) -> None:
    run = run_named("flight")
    shots = frames_of(run, fps=5, seconds=2, turn=True)

    np.testing.assert_allclose(np.diff(shots.camera), 36.0)
    assert (shots.times == run.horizon).all()
    np.testing.assert_allclose(shots.trail(0)[0], run.positions(0.0))
    np.testing.assert_allclose(shots.trail(0)[-1], run.positions(run.horizon))
    path = animate(run, tmp_path / "turn.gif", fps=5, seconds=1, size=(320, 180), turn=True)
    assert path.read_bytes().startswith(b"GIF89a")


def test_compared_laws_and_deployments_are_drawn_in_space(tmp_path: Path) -> None:
    run = run_named("flight")
    both = compared_trajectories({"one": run, "other": run})
    assert [ax.get_aspect() for ax in both.axes] == [1.0, 1.0]
    assert deployment(CUBOID, run.system.density, run.positions(1.0), 1.0).axes
    paths = save_figures(run, tmp_path, ["svg", "pdf"], MAPS)
    assert all(path.stat().st_size > 5000 for path in paths)


# More coordinates than a picture has.


def many_dimensions(n: int) -> Any:
    """What the pictures need of a run, in n dimensions."""
    rng = np.random.default_rng(n)
    first, last = rng.uniform(0, 1, (2, 5, n))

    def positions(t: Any) -> np.ndarray:
        share = np.asarray(t, dtype=float)[..., None, None]
        return first + share * (last - first)

    stay = {"arrivals": np.zeros(5), "departures": np.full(5, np.inf)}
    events = SimpleNamespace(of_agent=lambda p: np.arange(1000), bend=None, positions=None)
    site = Box((0,) * n, (1,) * n)
    still = Timeline((World(0.0, site, Uniform()),))
    return SimpleNamespace(
        workspace=site, positions=positions, horizon=1.0, agents=5,
        events=events, system=SimpleNamespace(timeline=still, **stay),
        world=lambda t: SimpleNamespace(density=None, agents=np.arange(5)),
    )  # fmt: skip


@pytest.mark.parametrize("n", [4, 5, 8])
@pytest.mark.parametrize("name", MAPS)
def test_pairs_of_coordinates_stand_in_for_places(n: int, name: str) -> None:
    figure = FIGURES[name](many_dimensions(n))
    figure.canvas.draw()
    said = figure.get_suptitle()

    shown = min(n, 5)
    framed = [ax for ax in figure.axes if ax.axison]
    assert len(framed) == shown * (shown - 1) // (1 if name == "configurations" else 2)
    assert (f"the first 5 of {n} coordinates" in said) == (n > 5)
    assert f"{n} coordinates" in said


def test_a_film_in_more_dimensions_is_refused_by_name(tmp_path: Path) -> None:
    law = dwell.Timer(k1=0.5, nu=0.2, t1=0.2, t2=0.6)
    run = dwell.simulate(Box((0,) * 4, (1,) * 4), None, [(0.5,) * 4], law, until=0.1)
    with pytest.raises(InputError, match="these have 4") as caught:
        animate(run, tmp_path / "film.gif")
    assert caught.value.code == "film.dimension"


CORNER = dwell.Polytope([(0, 0, 0), (4, 0, 0), (0, 4, 0), (0, 0, 4)])
WEDGE = dwell.Polytope.from_halfspaces(
    [[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1], [1, 0, 0]], [0, 0, 0, 4, 3]
)


@pytest.mark.parametrize("workspace", [CORNER, WEDGE, CUBOID])
def test_no_large_facet_is_seen_edge_on(workspace: dwell.Polytope) -> None:
    """From the usual side the slanted facet of a corner of space would be a line."""
    camera = camera_for(workspace)
    seen = np.abs(workspace.normals @ camera.axes[2])
    assert seen.min() > 0.15
    many = dwell.Polytope(np.random.default_rng(1).normal(size=(60, 3)))  # no facet is large
    for usual in (CUBOID, dwell.Ball((0, 0, 0), 1), many):
        assert camera_for(usual).azimuth == -60.0


def test_a_density_of_nothing_has_no_cloud() -> None:
    assert len(cloud_of(CUBOID, as_density(lambda z: np.zeros(len(z))))[0]) == 0


def test_one_panel_shows_two_coordinates_and_says_so() -> None:
    ax = blank(3.5, 3.5).subplots()
    draw_paths(ax, many_dimensions(4))

    assert "2 of 4 coordinates" in words(ax.figure)
