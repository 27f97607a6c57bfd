"""The box round a scene: its three far sides with a grid, and numbers along its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from dwell._types import Floats, Points
from dwell.geometry import Workspace
from dwell.plotting.camera import Camera
from dwell.plotting.maps import coordinate_name, round_origin
from dwell.plotting.style import Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

GRID = "#E4E4E4"
PANE = "#F8F8F8"
GAP = 0.045  # from an edge to its numbers, on the sheet
FAR_GAP = 0.14  # from an edge to its name
LONG, SHORT = 0.45, 0.2  # edges long enough for many, some, or few numbers
CORNER, APART = 0.05, 0.04  # how near to a corner numbers step back from it, and how far


@final
@dataclass(frozen=True, eq=False)
class Box3:
    """An upright box: lower and upper corner."""

    lower: Floats
    upper: Floats

    @classmethod
    def around(cls, workspace: Workspace) -> Box3:
        """The smallest box that holds the workspace."""
        lower, upper = workspace.bounds
        return cls(np.asarray(lower), np.asarray(upper))

    @property
    def corners(self) -> Points:
        """All eight, (8, 3)."""
        ends = np.stack([self.lower, self.upper])
        picks = np.indices((2, 2, 2)).reshape(3, 8)
        return np.stack([ends[picks[k], k] for k in range(3)], axis=1)

    def far_sides(self, camera: Camera) -> Floats:
        """The coordinate of the side turned away from the camera, along each axis."""
        towards = camera.axes[2]
        return np.where(towards > 0.0, self.lower, self.upper)

    def near_sides(self, camera: Camera) -> Floats:
        """The coordinate of the side turned to the camera, along each axis."""
        return self.lower + self.upper - self.far_sides(camera)

    def side(self, k: int, value: float) -> Points:
        """The rectangle where coordinate k has this value, (4, 3)."""
        a, b = (i for i in range(3) if i != k)
        ring = np.empty((4, 3))
        ring[:, k] = value
        ring[:, a] = np.array([self.lower, self.upper, self.upper, self.lower])[:, a]
        ring[:, b] = np.array([self.lower, self.lower, self.upper, self.upper])[:, b]
        return ring


def ticks_of(workspace: Workspace, camera: Camera, k: int) -> Floats:
    """Round values along coordinate k; few where it is short."""
    from matplotlib.ticker import MaxNLocator

    lower, upper = (float(end[k]) for end in workspace.bounds)
    length = (upper - lower) / float(camera.unit[k])  # the same from all sides
    bins = 4 if length > LONG else 2 if length > SHORT else 1
    origin = round_origin(workspace, k)
    found = MaxNLocator(nbins=bins, steps=[1, 2, 5, 10]).tick_values(lower - origin, upper - origin)
    slack = 1e-9 * (upper - lower)
    values: Floats = np.asarray(found, dtype=float) + origin
    return values[(values >= lower - slack) & (values <= upper + slack)]


def pane_lines(workspace: Workspace, camera: Camera) -> list[Points]:
    """The grid on the far sides, on the sheet."""
    box = Box3.around(workspace)
    far, lines = box.far_sides(camera), []
    for k in range(3):
        for axis in (i for i in range(3) if i != k):
            (along,) = (i for i in range(3) if i not in (k, axis))
            for value in ticks_of(workspace, camera, axis):
                ends = np.stack([far, far])
                ends[:, axis] = value
                ends[:, along] = box.lower[along], box.upper[along]
                lines.append(camera.on_sheet(ends))
    return lines


def labels(workspace: Workspace, camera: Camera) -> list[tuple[Points, str, bool]]:
    """Places on the sheet, words, and whether they are the name of an axis."""
    found = []
    for k in range(3):
        edge = _edge(workspace, camera, k)
        ends = camera.on_sheet(edge)
        out = _outward(ends)
        origin = round_origin(workspace, k)
        for value in ticks_of(workspace, camera, k):
            place = edge[0].copy()
            place[k] = value
            at = camera.on_sheet(place) + GAP * out + _apart(camera.on_sheet(place), ends)
            found.append((at, f"{value - origin:.6g}".replace("-", "\u2212"), False))
        found.append((ends.mean(axis=0) + FAR_GAP * out, coordinate_name(workspace, k), True))
    return found


def _apart(place: Points, ends: Points) -> Points:
    """A step back along the edge from its lowest end, where the numbers of another edge begin."""
    low, other = ends[np.argsort(ends[:, 1], kind="stable")]
    if float(np.hypot(*(place - low))) > CORNER:
        return np.zeros(2)
    step: Points = APART * (other - low) / float(np.hypot(*(other - low)))
    return step


def _edge(workspace: Workspace, camera: Camera, k: int) -> Points:
    """The edge of the box that carries the numbers of coordinate k: always on the outline."""
    box = Box3.around(workspace)
    near, far = box.near_sides(camera), box.far_sides(camera)
    if k < 2:
        fixed = np.array([near[0], near[1], far[2]])
    else:  # of the two upright edges on the outline, the left one
        both = np.array([[near[0], far[1], 0.0], [far[0], near[1], 0.0]])
        both[:, 2] = far[2]
        fixed = both[int(np.argmin(camera.on_sheet(both)[:, 0]))]
    ends = np.stack([fixed, fixed])
    ends[:, k] = box.lower[k], box.upper[k]
    return ends


def _outward(ends: Points) -> Points:
    """At right angles to an edge, away from the middle of the sheet."""
    along = ends[1] - ends[0]
    across = np.array([-along[1], along[0]])
    size = float(np.hypot(*across))
    across = across / size if size > 0.0 else np.array([0.0, -1.0])
    return across if float(across @ ends.mean(axis=0)) > 0.0 else -across


def draw_box(ax: Axes, workspace: Workspace, camera: Camera, style: Style) -> list[Artist]:
    """Far sides, grid and numbers; gives the artists, for those who move them."""
    from matplotlib.collections import LineCollection, PolyCollection

    panes = PolyCollection([], facecolors=PANE, edgecolors=GRID, lw=style.frame, zorder=1)
    grid = LineCollection([], colors=GRID, lw=style.thin, zorder=1.5)
    ax.add_collection(panes, autolim=False)
    ax.add_collection(grid, autolim=False)
    words = [
        ax.text(0.0, 0.0, "", ha="center", va="center", zorder=4, fontsize=style.text_size)
        for _ in labels(workspace, camera)
    ]
    artists: list[Artist] = [panes, grid, *words]
    move_box(artists, workspace, camera, style)
    return artists


def move_box(artists: list[Any], workspace: Workspace, camera: Camera, style: Style) -> None:
    """Bring the box to where a camera sees it."""
    box = Box3.around(workspace)
    panes, grid, *words = artists
    sides = enumerate(box.far_sides(camera).tolist())
    panes.set_verts([camera.on_sheet(box.side(k, value)) for k, value in sides])
    grid.set_segments(pane_lines(workspace, camera))
    for text, (place, said, name) in zip(words, labels(workspace, camera), strict=True):
        text.set_position(place)
        text.set_text(said)
        text.set_fontsize(style.label_size if name else style.text_size)
