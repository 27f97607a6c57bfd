"""Pictures of space: translucent cells, agents, paths, and their shadows on the box."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Points
from dwell.density import Density
from dwell.geometry import Curved, Workspace
from dwell.plotting.box import Box3, draw_box
from dwell.plotting.camera import Camera, camera_for
from dwell.plotting.maps import DENSITY, is_slim, paths_of
from dwell.plotting.outlines import PER_TURN, on_ellipsoid
from dwell.plotting.solids import Face, solid_cells
from dwell.plotting.style import PLAIN, Style, annotate, explain, number
from dwell.results import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

SHRUNK = 0.86  # of a cell's size: gaps let the eye see between cells
SOLID, GHOST = 0.26, 0.09  # how much a face hides of what is behind it
CROWD = 30  # agents from which on faces hide less and less
CORNERS = 20  # of the dot that stands for an agent
CLOUD = 1500  # dots that stand for a density
STREWN = 40_000  # places that they are chosen from
LIGHT = np.array([0.3, -0.5, 0.81])  # where light comes from
WHITER = 0.3  # of white in the colour of a cell, so that none is black
SHADOW = "#D6D6D6"


@final
@dataclass
class Ink:
    """Polygons and lines on the sheet, in the order in which they are drawn."""

    rings: list[Points] = field(default_factory=list)
    fills: list[Any] = field(default_factory=list)
    edges: list[Any] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)

    def add(self, ring: Points, fill: Any, edge: Any, width: float) -> None:
        """A closed ring."""
        self.rings.append(ring)
        self.fills.append(fill)
        self.edges.append(edge)
        self.widths.append(width)

    def line(self, points: Points, colour: Any, width: float) -> None:
        """A line: a ring that goes there and back."""
        self.add(np.vstack([points, points[-2:0:-1]]), (0.0, 0.0, 0.0, 0.0), colour, width)

    def onto(self, collection: PolyCollection) -> None:
        """Hand everything to the artist that draws it."""
        collection.set_verts(self.rings)
        collection.set(facecolors=self.fills, edgecolors=self.edges, linewidths=self.widths)


@final
@dataclass(frozen=True, eq=False)
class View:
    """What a picture of space shows."""

    workspace: Workspace
    positions: Points  # (N, 3)
    paths: Sequence[Points] = ()  # one per agent, (k, 3)
    starts: Points | None = None  # shown as dots
    arrows: Points | None = None  # (N, 3) held velocities, as lengths
    fresh: Floats | None = None  # (N,) how recently each sampled: 1 just now, 0 a while ago
    cells: bool = True
    hiding: float = SOLID
    marker: str = "o"


def ink_of(view: View, camera: Camera, style: Style) -> Ink:
    """The picture as polygons, farthest first."""
    ink = Ink()
    _shadows(ink, view, camera, style)
    _frame(ink, view, camera, style, front=False)
    faces = solid_cells(view.workspace, view.positions) if view.cells else None
    pieces = _pieces(view)
    for p in np.argsort(camera.nearness(view.positions), kind="stable").tolist():
        cell = _shrunk(faces[p], view, p) if faces else []
        behind, before = _sides(cell, camera)
        _solid(ink, behind, p, view, camera, style)
        for owner, points in pieces[p]:
            ink.line(camera.on_sheet(points), style.colour(owner), style.line)
        _agent(ink, p, view, camera, style)
        _solid(ink, before, p, view, camera, style)
    _frame(ink, view, camera, style, front=True)
    return ink


def _shrunk(faces: Sequence[Face], view: View, p: int) -> list[Face]:
    """A cell a little smaller than it is, still within itself, round its agent."""
    if not faces:
        return []
    middle = view.positions[p]
    if view.workspace.outside_by(middle[None])[0] > 0.0:
        middle = np.vstack([face.ring for face in faces]).mean(axis=0)
    return [Face(middle + SHRUNK * (face.ring - middle), face.smooth) for face in faces]


def _sides(faces: Iterable[Face], camera: Camera) -> tuple[list[Face], list[Face]]:
    """Faces on the far side and on the near side of a solid."""
    behind: list[Face] = []
    before: list[Face] = []
    for face in faces:
        (before if camera.faces_us(face.ring) else behind).append(face)
    return behind, before


def _solid(
    ink: Ink, faces: Sequence[Face], p: int, view: View, camera: Camera, style: Style
) -> None:
    """Faces of one cell, lit from above."""
    from matplotlib.colors import to_rgb

    base = WHITER + (1.0 - WHITER) * np.array(to_rgb(style.colour(p)))
    hiding = view.hiding * min(1.0, (CROWD / len(view.positions)) ** 0.5)
    for face in faces:
        lit = _lit(face.ring, camera)
        colour = base * (0.55 + 0.45 * lit) + (1.0 - base) * 0.25 * lit
        fill = (*colour, hiding)
        edge = (0.0, 0.0, 0.0, 0.0) if face.smooth else (*(0.75 * base), min(1.0, 2.2 * hiding))
        ink.add(camera.on_sheet(face.ring), fill, edge, style.thin)


def _lit(ring: Points, camera: Camera) -> float:
    arms = (ring[1:] - ring[0]) / camera.unit
    normal = np.cross(arms[:-1], arms[1:]).sum(axis=0)
    size = float(np.sqrt((normal * normal).sum()))
    return 0.5 + 0.5 * float(normal @ LIGHT) / size if size > 0.0 else 0.5


def _agent(ink: Ink, p: int, view: View, camera: Camera, style: Style) -> None:
    from matplotlib.colors import to_rgba

    place = camera.on_sheet(view.positions[p])
    if view.arrows is not None:
        tip = camera.on_sheet(view.positions[p] + view.arrows[p])
        ink.line(np.stack([place, tip]), style.ink, style.bold)
    radius = dot_radius(view, camera)
    if view.starts is not None:
        start = camera.on_sheet(view.starts[p])
        ink.add(start + 0.8 * radius * _disc("o"), to_rgba(style.start), "white", 0.3)
    if view.fresh is not None and view.fresh[p] > 0.0:
        share = float(view.fresh[p])
        ring = place + radius * (1.5 + 1.2 * (1.0 - share)) * _disc("o")
        ink.add(ring, (0.0, 0.0, 0.0, 0.0), to_rgba(style.flash, share), style.bold)
    colour = style.start if view.marker == "o" else style.final
    ink.add(place + radius * _disc(view.marker), to_rgba(colour), "white", 0.3)


def dot_radius(view: View, camera: Camera) -> float:
    """Radius of an agent's dot on the sheet: smaller where there is less space."""
    lower, upper = view.workspace.bounds
    size = math.pow(float(np.prod((upper - lower) / camera.unit)), 1.0 / 3.0)
    return size * float(np.clip(0.06 / len(view.positions) ** 0.33, 0.005, 0.022))


def _disc(marker: str) -> Points:
    if marker == "s":
        return 0.85 * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _pieces(view: View) -> list[list[tuple[int, Points]]]:
    """Paths cut where they go from cell to cell: for each cell, whose pieces lie in it."""
    pieces: list[list[tuple[int, Points]]] = [[] for _ in view.positions]
    for owner, path in enumerate(view.paths):
        if len(path) < 2:
            continue
        cell = _nearest(0.5 * (path[1:] + path[:-1]), view.positions)
        cuts = [0, *(np.flatnonzero(np.diff(cell)) + 1).tolist(), len(cell)]
        for first, last in pairwise(cuts):
            pieces[int(cell[first])].append((owner, path[first : last + 1]))
    return pieces


def _nearest(points: Points, positions: Points) -> np.ndarray:
    gaps = points[:, None, :] - positions[None, :, :]
    nearest: np.ndarray = np.argmin((gaps * gaps).sum(axis=2), axis=1)
    return nearest


def _shadows(ink: Ink, view: View, camera: Camera, style: Style) -> None:
    """Agents and paths on the three far sides of the box, faintly."""
    from matplotlib.colors import to_rgba

    shadow = to_rgba(SHADOW)
    radius = 0.8 * dot_radius(view, camera)
    for k, value in enumerate(Box3.around(view.workspace).far_sides(camera)):
        for path in view.paths:
            if len(path) > 1:
                ink.line(camera.on_sheet(_pressed(path, k, value)), shadow, style.thin)
        for place in camera.on_sheet(_pressed(view.positions, k, value)):
            ink.add(place + radius * _disc("o"), shadow, "none", 0.0)


def _pressed(points: Points, k: int, value: float) -> Points:
    flat = np.array(points)
    flat[..., k] = value
    return flat


def _frame(ink: Ink, view: View, camera: Camera, style: Style, *, front: bool) -> None:
    """Edges of the workspace: those behind everything, or those before it; an outline if round."""
    colour = style.ink if front else style.cell
    if isinstance(view.workspace, Curved):
        if front:
            ink.add(_outline(view.workspace, camera), (0.0, 0.0, 0.0, 0.0), colour, style.frame)
        return
    polytope = view.workspace
    near: dict[tuple[int, int], bool] = {}  # whether a face beside the edge is seen
    for loop in polytope.faces:
        seen = camera.faces_us(polytope.vertices[loop])
        for a, b in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True):
            edge = (min(a, b), max(a, b))
            near[edge] = near.get(edge, False) or seen
    for edge, seen in near.items():
        if seen == front:
            ink.line(camera.on_sheet(polytope.vertices[list(edge)]), colour, style.frame)


def _outline(workspace: Curved, camera: Camera) -> Points:
    """The outline of an ellipsoid: of the unit sphere's points u, those with u . w = 0."""
    ray = camera.axes[2] * camera.unit
    w = (workspace.axes @ ray) / np.asarray(workspace.semi_axes)
    w = w / np.sqrt((w * w).sum())
    a = np.cross(w, np.eye(3)[int(np.argmin(np.abs(w)))])
    a = a / np.sqrt((a * a).sum())
    angle = np.linspace(0.0, 2.0 * np.pi, PER_TURN, endpoint=False)[:, None]
    circle = np.cos(angle) * a + np.sin(angle) * np.cross(w, a)
    return camera.on_sheet(on_ellipsoid(workspace, circle))


# Whole pictures.


def draw_scene(ax: Axes, view: View, *, camera: Camera | None = None, style: Style = PLAIN) -> None:
    """A picture of space on axes without a frame; the box round it carries the numbers."""
    from matplotlib.collections import PolyCollection

    camera = camera or camera_for(view.workspace)
    prepare(ax, view.workspace, [camera])
    draw_box(ax, view.workspace, camera, style)
    ink = ink_of(view, camera, style)
    collection = PolyCollection([], joinstyle="round", capstyle="round", zorder=3)
    ink.onto(collection)
    ax.add_collection(collection, autolim=False)
    if view.cells and solid_cells(view.workspace, view.positions) is None:
        annotate(ax, style, "two agents coincide: no cells", at=(0.5, 0.03))
    if is_slim(view.workspace):
        annotate(ax, style, "not to scale", at=(0.86, 0.97))


def prepare(ax: Axes, workspace: Workspace, cameras: Sequence[Camera]) -> None:
    """Axes that hold the box and the words round it, as any of the cameras sees them."""
    low, high = limits(workspace, cameras)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    ax.set_axis_off()


def limits(workspace: Workspace, cameras: Sequence[Camera]) -> tuple[Floats, Floats]:
    """The part of the sheet that a picture takes."""
    corners = Box3.around(workspace).corners
    seen = np.vstack([camera.on_sheet(corners) for camera in cameras])
    right = 0.1 if len(cameras) == 1 else 0.15
    return seen.min(axis=0) - np.array([0.2, 0.17]), seen.max(axis=0) + np.array([right, 0.03])


def proportion(workspace: Workspace) -> float:
    """Height over width of a picture."""
    low, high = limits(workspace, [camera_for(workspace)])
    return float((high[1] - low[1]) / (high[0] - low[0]))


def draw_space_trajectories(
    ax: Axes, run: Run, *, style: Style = PLAIN, explained: bool = True
) -> None:
    """Every agent's path, in the final cells."""
    from matplotlib.lines import Line2D

    view = View(
        run.workspace, run.positions(run.horizon), paths_of(run, 20_000), run.positions(0.0),
        hiding=GHOST, marker="s",
    )  # fmt: skip
    draw_scene(ax, view, style=style)
    entries: list[tuple[str, dict[str, Any]]] = [
        ("$t = 0$", {"marker": "o", "color": style.start, "ls": "none"}),
        (f"$t = {number(run.horizon, 6)}$", {"marker": "s", "color": style.final, "ls": "none"}),
        (r"path of $x_p$", {"color": style.colour(0), "lw": style.line}),
    ]
    for label, properties in entries:
        ax.add_line(Line2D([], [], label=label, ms=4.0, mec="white", mew=0.3, **properties))
    if explained:
        explain(ax, style, 3)


def draw_space_configurations(axes: Any, run: Run, *, style: Style = PLAIN) -> None:
    """Before (above) and after (below): cells on the left, density on the right; axes (2, 2)."""
    grid = np.asarray(axes, dtype=object)
    image = None
    for row, t in enumerate((0.0, run.horizon)):
        positions = run.positions(t)
        draw_scene(grid[row, 0], View(run.workspace, positions), style=style)
        draw_scene(grid[row, 1], View(run.workspace, positions, cells=False), style=style)
        image = draw_cloud(grid[row, 1], run.workspace, run.system.density, style=style)
        for ax, what in zip(grid[row], ("Cells", "Density"), strict=True):
            title = f"{what}, $t = {number(t, 6)}$"
            ax.set_title(title, fontsize=style.label_size, pad=2.0)
    bar = grid[0, 1].figure.colorbar(image, ax=list(grid.ravel()), aspect=30, pad=0.02)
    bar.set_label(DENSITY, fontsize=style.label_size)
    bar.ax.tick_params(labelsize=style.text_size, width=style.frame, length=3.0)
    bar.outline.set_linewidth(style.frame)


def draw_cloud(ax: Axes, workspace: Workspace, density: Density, *, style: Style = PLAIN) -> Any:
    """Dots that are the denser the more a place matters, and of its colour."""
    camera = camera_for(workspace)
    points, values = cloud_of(workspace, density)
    order = np.argsort(camera.nearness(points), kind="stable")
    x, y = camera.on_sheet(points[order]).T
    return ax.scatter(
        x, y, c=values[order], s=1.6, lw=0, cmap=style.density_map, vmin=0.0,
        vmax=float(values.max(initial=0.0)) or 1.0, zorder=2.5, alpha=0.8,
    )  # fmt: skip


def cloud_of(workspace: Workspace, density: Density) -> tuple[Points, Floats]:
    """Points strewn over the workspace in proportion to the density, always the same, and values.

    Out of evenly strewn points, each comes as often as it weighs; the second time and later, a
    little beside itself.
    """
    lower, upper = workspace.bounds
    strewn = _evenly(STREWN)
    points = lower + strewn * (upper - lower)
    points = points[workspace.contains(points)]
    heaped = np.cumsum(np.maximum(np.asarray(density.at(points), dtype=float), 0.0))
    if not len(points) or not heaped[-1] > 0.0:
        return np.empty((0, 3)), np.empty(0)
    picks = np.searchsorted(heaped, (np.arange(CLOUD) + 0.5) / CLOUD * heaped[-1])
    again = np.append(False, picks[1:] == picks[:-1])
    aside = (strewn[:CLOUD] - 0.5) * (upper - lower) / STREWN ** (1.0 / 3.0)
    cloud = workspace.nearest(points[picks] + np.where(again[:, None], aside, 0.0))
    return cloud, np.asarray(density.at(cloud), dtype=float)


def _evenly(count: int) -> Points:
    """Points of the unit cube by the generalised golden ratio, (count, 3): no clumps, no rows."""
    ratio = 1.0
    for _ in range(60):
        ratio = math.pow(1.0 + ratio, 0.25)
    steps = np.array([ratio**-1, ratio**-2, ratio**-3])
    even: Points = (0.5 + np.outer(np.arange(1, count + 1), steps)) % 1.0
    return even
