"""Pictures of space: translucent cells, agents, paths, and their shadows on the box."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.density import Density
from dwell.errors import AgentsError
from dwell.geometry import Curved, Polytope, Workspace
from dwell.geometry.outlines import PER_TURN, on_ellipsoid
from dwell.geometry.polyhedra import Polyhedron, cells
from dwell.plotting.camera import Camera, camera_for, grid_lines, labels, panes
from dwell.plotting.maps import is_slim, paths_of
from dwell.plotting.style import (
    PLAIN,
    Artist,
    Axes,
    add_lines,
    add_polygons,
    number,
    quantity_label,
    rgba,
)
from dwell.plotting.worlds import scope_of
from dwell.results import Run

SHRUNK = 0.86  # of a cell's size: gaps let the eye see between cells
SOLID, GHOST = 0.26, 0.09  # how much a face hides of what is behind it
CROWD = 30  # agents from which on faces hide less and less
CORNERS = 20  # of the dot that stands for an agent
ROUND = 400  # vertices of the polytope that stands for a ball in pictures
CLOUD, CANDIDATES = 1500, 40_000  # dots that stand for a density, and places to choose them from
GOLDEN = 1.2207440846057596  # its powers spread points over a cube evenly: x**4 = x + 1
LIGHT = np.array([0.3, -0.5, 0.81])  # the direction that light comes from
WHITER = 0.3  # of white in the colour of a cell, so that none is black
SHADOW, GRID, PANE = "#D6D6D6", "#E4E4E4", "#F8F8F8"
CLEAR = (0.0, 0.0, 0.0, 0.0)


class Face(NamedTuple):
    """A flat piece of a cell's boundary, counter-clockwise seen from outside."""

    ring: Points  # (k, 3)
    smooth: bool  # part of a curved boundary, whose seams are not shown


class Shape(NamedTuple):
    """A polygon on the sheet."""

    ring: Points  # (k, 2)
    fill: Any
    edge: Any
    width: float


def _line(points: Points, colour: Any, width: float) -> Shape:
    """A line: a ring that goes there and back."""
    return Shape(np.vstack([points, points[-2:0:-1]]), CLEAR, colour, width)


@final
@dataclass(frozen=True, eq=False)
class View:
    """What a picture of space shows."""

    workspace: Workspace
    positions: Points  # (N, 3)
    paths: Sequence[Points] = ()  # one per agent, (k, 3)
    starts: Points | None = None  # shown as dots
    agents: Ints | None = None  # (N,) their numbers, where some are absent; paths are of all
    scope: Workspace | None = None  # what the box encloses, if not the workspace
    others: Sequence[Points] = ()  # starts of agents that have left, (3,) each
    arrows: Points | None = None  # (N, 3) held velocities, as lengths
    fresh: Floats | None = None  # (N,) how recently each sampled: 1 just now, 0 a while ago
    cells: bool = True
    hiding: float = SOLID
    marker: str = "o"

    def number(self, p: int) -> int:
        """The number of the agent in row p."""
        return p if self.agents is None else int(self.agents[p])


def solid_cells(workspace: Workspace, positions: Points) -> list[list[Face]] | None:
    """The faces of every agent's cell; None where two agents coincide."""
    given = workspace.hull
    solid = _rounded(given) if isinstance(given, Curved) else given
    try:
        found = cells(solid, positions)
    except AgentsError:
        return None
    return [
        [
            Face(cell.vertices[loop], smooth=solid is not given and int(border) < 0)
            for loop, border in zip(cell.faces or (), cell.borders, strict=True)
        ]
        for cell in found
    ]


@lru_cache(maxsize=8)
def _rounded(workspace: Curved) -> Polyhedron:
    """A polytope with vertices spread evenly over a curved boundary, along a spiral."""
    k = np.arange(ROUND) + 0.5
    height = 1.0 - 2.0 * k / ROUND
    angle = k * np.pi * (3.0 - np.sqrt(5.0))
    wide = np.sqrt(1.0 - height * height)
    sphere = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), height])
    return Polytope(vertices=on_ellipsoid(workspace, sphere))


def shapes_of(view: View, camera: Camera) -> Iterator[Shape]:
    """The picture as polygons, farthest first."""
    yield from _shadows(view, camera)
    yield from _frame(view, camera, front=False)
    faces = solid_cells(view.workspace, view.positions) if view.cells else None
    pieces, small = _pieces(view), 0.8 * _dot_radius(view, camera) * _disc("o")
    for place in view.others:
        yield Shape(camera.on_sheet(place) + small, rgba(PLAIN.start), "white", 0.3)
    for p in np.argsort(camera.nearness(view.positions), kind="stable").tolist():
        cell = _shrunk(faces[p], view, p) if faces else []
        seen = [camera.faces_us(face.ring) for face in cell]
        lit = [_lit(face, p, view, camera) for face in cell]
        yield from (face for face, front in zip(lit, seen, strict=True) if not front)
        for owner, points in pieces[p]:
            yield _line(camera.on_sheet(points), PLAIN.colour(owner), PLAIN.line)
        yield from _agent(p, view, camera)
        yield from (face for face, front in zip(lit, seen, strict=True) if front)
    yield from _frame(view, camera, front=True)


def _shrunk(faces: Sequence[Face], view: View, p: int) -> list[Face]:
    """A cell a little smaller than it is, still within itself, round its agent."""
    middle = view.positions[p]
    if faces and view.workspace.outside_by(middle[None])[0] > 0.0:
        middle = np.vstack([face.ring for face in faces]).mean(axis=0)
    return [Face(middle + SHRUNK * (face.ring - middle), face.smooth) for face in faces]


def _lit(face: Face, p: int, view: View, camera: Camera) -> Shape:
    """One face of a cell, lit from above."""
    arms = (face.ring[1:] - face.ring[0]) / camera.unit
    normal = np.cross(arms[:-1], arms[1:]).sum(axis=0)
    size = float(np.sqrt((normal * normal).sum()))
    lit = 0.5 + 0.5 * float(normal @ LIGHT) / size if size > 0.0 else 0.5
    base = WHITER + (1.0 - WHITER) * np.array(rgba(PLAIN.colour(view.number(p)))[:3])
    colour = base * (0.55 + 0.45 * lit) + (1.0 - base) * 0.25 * lit
    hiding = view.hiding * min(1.0, (CROWD / len(view.positions)) ** 0.5)
    edge = CLEAR if face.smooth else (*(0.75 * base), min(1.0, 2.2 * hiding))
    return Shape(camera.on_sheet(face.ring), (*colour, hiding), edge, PLAIN.thin)


def _agent(p: int, view: View, camera: Camera) -> Iterator[Shape]:
    place, radius = camera.on_sheet(view.positions[p]), _dot_radius(view, camera)
    if view.arrows is not None:
        tip = camera.on_sheet(view.positions[p] + view.arrows[p])
        yield _line(np.stack([place, tip]), PLAIN.ink, PLAIN.bold)
    if view.starts is not None and np.isfinite(view.starts[p]).all():
        start = camera.on_sheet(view.starts[p])
        yield Shape(start + 0.8 * radius * _disc("o"), rgba(PLAIN.start), "white", 0.3)
    if view.fresh is not None and view.fresh[p] > 0.0:
        share = float(view.fresh[p])
        ring = place + radius * (1.5 + 1.2 * (1.0 - share)) * _disc("o")
        yield Shape(ring, CLEAR, rgba(PLAIN.flash, share), PLAIN.bold)
    colour = PLAIN.start if view.marker == "o" else PLAIN.final
    yield Shape(place + radius * _disc(view.marker), rgba(colour), "white", 0.3)


def _dot_radius(view: View, camera: Camera) -> float:
    """Radius of an agent's dot on the sheet: smaller where there is less space."""
    size = math.pow(float(np.prod((camera.bounds[1] - camera.bounds[0]) / camera.unit)), 1.0 / 3.0)
    return size * float(np.clip(0.06 / len(view.positions) ** 0.33, 0.005, 0.022))


def _disc(marker: str) -> Points:
    if marker == "s":
        return 0.85 * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _pieces(view: View) -> list[list[tuple[int, Points]]]:
    """Paths cut where they go from cell to cell: for each cell, the agent and each piece in it."""
    from scipy.spatial import cKDTree

    pieces: list[list[tuple[int, Points]]] = [[] for _ in view.positions]
    nearest = cKDTree(view.positions)
    for owner, path in enumerate(view.paths):
        if len(path) < 2:
            continue
        cell = nearest.query(0.5 * (path[1:] + path[:-1]))[1]
        cuts = np.flatnonzero(np.diff(cell, prepend=-1, append=-1)).tolist()
        for first, last in pairwise(cuts):
            pieces[int(cell[first])].append((owner, path[first : last + 1]))
    return pieces


def _shadows(view: View, camera: Camera) -> Iterator[Shape]:
    """Agents and paths on the three far sides of the box, faintly."""
    shadow = rgba(SHADOW)
    disc = 0.8 * _dot_radius(view, camera) * _disc("o")
    for onto in np.eye(3, dtype=bool):
        for path in (path for path in view.paths if len(path) > 1):
            yield _line(camera.on_sheet(np.where(onto, camera.far, path)), shadow, PLAIN.thin)
        for place in camera.on_sheet(np.where(onto, camera.far, view.positions)):
            yield Shape(place + disc, shadow, "none", 0.0)


def _frame(view: View, camera: Camera, *, front: bool) -> Iterator[Shape]:
    """Edges of the faces behind all else, or before it; the outline if it is curved."""
    colour = PLAIN.ink if front else PLAIN.cell
    solid = view.workspace.hull
    if isinstance(solid, Curved):
        if front:
            yield Shape(_outline(solid, camera), CLEAR, colour, PLAIN.frame)
        return
    for loop in solid.faces:
        ring = solid.vertices[loop]
        if camera.faces_us(ring) == front:
            yield Shape(camera.on_sheet(ring), CLEAR, colour, PLAIN.frame)


def _outline(workspace: Curved, camera: Camera) -> Points:
    """The outline of an ellipsoid: of the unit sphere's points u, those with u . w = 0."""
    w = (workspace.axes @ (camera.axes[2] * camera.unit)) / np.asarray(workspace.semi_axes)
    a, b = np.linalg.svd(w[None])[2][1:]  # unit vectors at right angles to w and to one another
    angle = np.linspace(0.0, 2.0 * np.pi, PER_TURN, endpoint=False)[:, None]
    return camera.on_sheet(on_ellipsoid(workspace, np.cos(angle) * a + np.sin(angle) * b))


# Whole pictures.


def draw_scene(ax: Axes, view: View) -> None:
    """A picture of space on axes without a frame; the box round it carries the numbers."""
    camera = camera_for(view.scope or view.workspace)
    moving_scene(ax, [camera])[1](view, camera)
    if view.cells and solid_cells(view.workspace, view.positions) is None:
        PLAIN.annotate(ax, "two agents coincide: no cells", at=(0.5, 0.03))
    if is_slim(view.scope or view.workspace):
        PLAIN.annotate(ax, "not to scale", at=(0.86, 0.97))


def draw_places(ax: Axes, workspace: Workspace, density: Density, positions: Points) -> None:
    """The agents and their cells."""
    draw_scene(ax, View(workspace, positions))


def draw_moment(ax: Axes, run: Run, t: float) -> None:
    """The agents of a run and their cells at time t."""
    draw_scene(ax, view_of(run, t))
    _note_sensors(ax, run)


def view_of(run: Run, t: float, positions: Points | None = None, **parts: Any) -> View:
    """What a picture shows of a run at time t; no cells where agents have different sensors."""
    world = run.world(t)
    places = (run.positions(t) if positions is None else positions)[world.agents]
    parts = {"agents": world.agents, "scope": scope_of(run), **parts}
    return View(world.workspace, places, **{"cells": not _sensors_differ(run), **parts})


def _sensors_differ(run: Run) -> bool:
    return len(run.system.sensors) > 1


def _note_sensors(ax: Axes, run: Run) -> None:
    if _sensors_differ(run):
        PLAIN.annotate(ax, "no cells: each sensor has its own", at=(0.5, 0.03))


def moving_scene(
    ax: Axes, cameras: Sequence[Camera]
) -> tuple[list[Artist], Callable[[View, Camera], None]]:
    """Axes that hold what any of the cameras sees; gives artists, and what shows a view on them."""
    low, high = limits(cameras)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.set_axis_off()
    sides = add_polygons(ax, [], facecolors=PANE, edgecolors=GRID, lw=PLAIN.frame, zorder=1)
    grid = add_lines(ax, [], colors=GRID, lw=PLAIN.thin, zorder=1.5)
    solids = add_polygons(ax, [], joinstyle="round", capstyle="round", zorder=3)
    sizes = [PLAIN.label_size if label.name else PLAIN.text_size for label in labels(cameras[0])]
    texts = [ax.text(0.0, 0.0, "", va="center", zorder=4, fontsize=size) for size in sizes]

    def show(view: View, camera: Camera) -> None:
        sides.set_verts(panes(camera))
        grid.set_segments(grid_lines(camera))
        for text, label in zip(texts, labels(camera), strict=True):
            text.set(position=label.place, text=label.words, ha=label.end, rotation=label.turned)
        rings, fills, edges, widths = zip(*shapes_of(view, camera), strict=True)
        solids.set_verts(rings)
        solids.set(facecolors=fills, edgecolors=edges, linewidths=widths)

    return [sides, grid, solids, *texts], show


def limits(cameras: Sequence[Camera]) -> tuple[Floats, Floats]:
    """The part of the sheet that a picture takes, with the words round the box."""
    seen = np.vstack([camera.on_sheet(camera.corners) for camera in cameras])
    right = 0.1 if len(cameras) == 1 else 0.15
    return seen.min(axis=0) - np.array([0.2, 0.17]), seen.max(axis=0) + np.array([right, 0.03])


def proportion(workspace: Workspace) -> float:
    """Height over width of a picture."""
    low, high = limits([camera_for(workspace)])
    return float((high[1] - low[1]) / (high[0] - low[0]))


def draw_space_trajectories(ax: Axes, run: Run) -> None:
    """Every agent's path, in the final cells."""
    first, last = run.world(0.0).agents, run.world(run.horizon).agents
    places, paths = run.positions(0.0), paths_of(run, 20_000)
    starts = np.where(np.isin(last, first)[:, None], places[last], np.nan)
    others = list(places[np.setdiff1d(first, last)])
    shown: Any = {"paths": paths, "starts": starts, "others": others, "hiding": GHOST}
    draw_scene(ax, view_of(run, run.horizon, marker="s", **shown))
    _note_sensors(ax, run)
    dot: dict[str, Any] = {"ls": "none", "ms": 4.0, "mec": "white", "mew": 0.3}
    end = f"$t = {number(run.horizon, 6)}$"
    ax.plot([], [], "o", color=PLAIN.start, label="$t = 0$", **dot)
    ax.plot([], [], "s", color=PLAIN.final, label=end, **dot)
    ax.plot([], [], color=PLAIN.colour(0), lw=PLAIN.line, label=r"path of $x_p$")


def draw_space_configurations(axes: Any, run: Run) -> None:
    """Before (above) and after (below): cells on the left, density on the right; axes (2, 2)."""
    image, ends = None, (0.0, run.horizon)
    clouds = [cloud_of(run.world(t).workspace, run.world(t).density) for t in ends]
    peak = max(float(values.max(initial=0.0)) for _, values in clouds) or 1.0
    for row, t, cloud in zip(axes, ends, clouds, strict=True):
        draw_moment(row[0], run, t)
        draw_scene(row[1], view_of(run, t, cells=False))
        image = _draw_cloud(row[1], camera_for(scope_of(run)), cloud, peak)
        for ax, what in zip(row, ("Cells", "Density"), strict=True):
            PLAIN.entitle(ax, f"{what}, $t = {number(t, 6)}$", 2.0)
    PLAIN.colour_bar(image, list(np.ravel(axes)), quantity_label("density"))


def _draw_cloud(ax: Axes, camera: Camera, cloud: tuple[Points, Floats], peak: float) -> Any:
    """Dots that are the denser the larger the density, and of its colour."""
    points, values = cloud
    order = np.argsort(camera.nearness(points), kind="stable")
    x, y = camera.on_sheet(points[order]).T
    return ax.scatter(
        x, y, c=values[order], s=1.6, lw=0, cmap=PLAIN.density_map, vmin=0.0, vmax=peak,
        zorder=2.5, alpha=0.8,
    )  # fmt: skip


def cloud_of(workspace: Workspace, density: Density) -> tuple[Points, Floats]:
    """Points over the workspace in proportion to the density, without random numbers, and values.

    Out of evenly spread points, each comes as often as it weighs; the second time and later, a
    little beside itself.
    """
    lower, upper = workspace.bounds
    even = (0.5 + np.outer(np.arange(1, CANDIDATES + 1), GOLDEN ** -np.arange(1.0, 4.0))) % 1.0
    points = lower + even * (upper - lower)
    points = points[workspace.contains(points)]
    total = np.cumsum(np.maximum(np.asarray(density.at(points), dtype=float), 0.0))
    if not len(points) or not total[-1] > 0.0:
        return np.empty((0, 3)), np.empty(0)
    picks = np.searchsorted(total, (np.arange(CLOUD) + 0.5) / CLOUD * total[-1])
    again = np.append(False, picks[1:] == picks[:-1])
    aside = (even[:CLOUD] - 0.5) * (upper - lower) / CANDIDATES ** (1.0 / 3.0)
    cloud = workspace.nearest(points[picks] + np.where(again[:, None], aside, 0.0))
    return cloud, np.asarray(density.at(cloud), dtype=float)
