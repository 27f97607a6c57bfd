"""A camera far away, and the box round what it sees: far sides with a grid, numbers along edges.

Points of space go on a sheet without perspective, so lengths keep their scale. The plane between
two agents has one cell on each side, so the cell of the agent nearer to the camera is never behind
the other: cells drawn in the order of their agents, farthest first, are in the right order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.geometry import Workspace, is_flat
from dwell.plotting.maps import coordinate_name, is_slim, round_origin

AZIMUTHS = (-60.0, -40.0, -25.0, -75.0, 30.0, 55.0)  # the usual one, and alternatives
LARGE = 0.1  # of the boundary: facets that should not be seen edge-on
EDGE_ON = 0.15  # cosine between a facet's normal and the direction to the camera
ELEVATION = math.radians(22.0)
GAP, FAR_GAP = 0.045, 0.14  # from an edge to its numbers and to its name, on the sheet
LONG, SHORT = 0.45, 0.2  # edges long enough for many, some, or few numbers
CORNER, APART = 0.05, 0.04  # how near to a corner numbers step back from it, and how far


@final
@dataclass(frozen=True, eq=False)
class Camera:
    """Directed at the middle of a workspace, from an azimuth in degrees."""

    workspace: Workspace
    azimuth: float

    @cached_property
    def bounds(self) -> Floats:
        """Lower and upper corner of the box round the workspace, (2, 3)."""
        return np.array(self.workspace.bounds, dtype=float)

    @cached_property
    def unit(self) -> Floats:
        """Lengths that are 1 on the sheet, (3,); they differ where it is not drawn to scale."""
        size = self.bounds[1] - self.bounds[0]
        return size if is_slim(self.workspace) else np.full(3, size.max())

    @cached_property
    def axes(self) -> Floats:
        """Unit vectors to the right, up, and towards the camera, one per row."""
        return _axes(self.azimuth)

    @cached_property
    def far(self) -> Floats:
        """The coordinate of the side of the box turned away from the camera, along each axis."""
        far: Floats = np.where(self.axes[2] > 0.0, self.bounds[0], self.bounds[1])
        return far

    @property
    def near(self) -> Floats:
        """The coordinate of the side of the box turned to the camera, along each axis."""
        near: Floats = self.bounds.sum(axis=0) - self.far
        return near

    @property
    def corners(self) -> Points:
        """The corners of the box, (8, 3)."""
        picks = np.indices((2, 2, 2)).reshape(3, 8)
        return np.stack([self.bounds[picks[k], k] for k in range(3)], axis=1)

    def on_sheet(self, points: Points) -> Points:
        """Points (..., 3) on the sheet, (..., 2)."""
        flat: Points = ((points - self.bounds.mean(axis=0)) / self.unit) @ self.axes[:2].T
        return flat

    def nearness(self, points: Points) -> Floats:
        """What orders agents from the farthest to the nearest, also where the picture is skew."""
        near: Floats = (points - self.bounds.mean(axis=0)) @ (self.axes[2] * self.unit)
        return near

    def faces_us(self, ring: Points) -> bool:
        """Whether a facet, counter-clockwise seen from outside, is seen from outside."""
        x, y = (self.on_sheet(ring[1:]) - self.on_sheet(ring[:1])).T
        return bool((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() > 0.0)


def _axes(azimuth: float) -> Floats:
    a, e = math.radians(azimuth), ELEVATION
    ca, sa, ce, se = math.cos(a), math.sin(a), math.cos(e), math.sin(e)
    return np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])


def camera_for(workspace: Workspace) -> Camera:
    """A camera at the first azimuth from which no large facet is seen edge-on."""
    if not is_flat(workspace):
        return Camera(workspace, AZIMUTHS[0])
    vertices = np.asarray(workspace.vertices)
    rings = [vertices[face] - vertices[face[0]] for face in workspace.faces]
    vectors = np.array([np.cross(ring[1:-1], ring[2:]).sum(axis=0) for ring in rings])
    areas = lengths(vectors)
    large = areas >= LARGE * areas.sum()
    normals = vectors[large] / areas[large, None]
    seen = [float(np.abs(normals @ _axes(a)[2]).min(initial=1.0)) for a in AZIMUTHS]
    good = [k for k, least in enumerate(seen) if least >= EDGE_ON]
    return Camera(workspace, AZIMUTHS[good[0] if good else int(np.argmax(seen))])


class Label(NamedTuple):
    """Words beside an edge of the box: a number, or the name of a coordinate."""

    place: Points  # on the sheet
    words: str
    name: bool


def panes(camera: Camera) -> list[Points]:
    """The far sides of the box, on the sheet."""
    found = []
    for k in range(3):
        ring = np.empty((4, 3))
        ring[:, k] = camera.far[k]
        a, b = (i for i in range(3) if i != k)
        ring[:, a], ring[:, b] = camera.bounds[[0, 1, 1, 0], a], camera.bounds[[0, 0, 1, 1], b]
        found.append(camera.on_sheet(ring))
    return found


def grid_lines(camera: Camera) -> list[Points]:
    """The grid on the far sides, on the sheet."""
    lines = []
    for side, axis in permutations(range(3), 2):
        along = 3 - side - axis
        for value in _ticks(camera, axis):
            ends = np.stack([camera.far, camera.far])
            ends[:, axis], ends[:, along] = value, camera.bounds[:, along]
            lines.append(camera.on_sheet(ends))
    return lines


def labels(camera: Camera) -> list[Label]:
    """Numbers and names along three edges of the outline; as many from every azimuth."""
    found = []
    for k in range(3):
        edge = _edge(camera, k)
        ends = camera.on_sheet(edge)
        out = _outward(ends)
        origin = round_origin(camera.workspace, k)
        for value in _ticks(camera, k):
            place = edge[0].copy()
            place[k] = value
            at = camera.on_sheet(place)
            words = f"{value - origin:.6g}".replace("-", "\u2212")
            found.append(Label(at + GAP * out + _step_back(at, ends), words, False))
        middle = ends.mean(axis=0) + FAR_GAP * out
        found.append(Label(middle, coordinate_name(camera.workspace, k), True))
    return found


def _ticks(camera: Camera, k: int) -> Floats:
    """Round values along coordinate k; few where it is short."""
    from matplotlib.ticker import MaxNLocator

    lower, upper = camera.bounds[:, k]
    length = (upper - lower) / camera.unit[k]
    bins = 4 if length > LONG else 2 if length > SHORT else 1
    origin = round_origin(camera.workspace, k)
    found = MaxNLocator(nbins=bins, steps=[1, 2, 5, 10]).tick_values(lower - origin, upper - origin)
    slack = 1e-9 * (upper - lower)
    values = np.asarray(found, dtype=float) + origin
    inside: Floats = values[(values >= lower - slack) & (values <= upper + slack)]
    return inside


def _edge(camera: Camera, k: int) -> Points:
    """The edge of the box that carries the numbers of coordinate k: always on the outline."""
    near, far = camera.near, camera.far
    fixed = np.array([near[0], near[1], far[2]])
    if k == 2:  # of the two upright edges on the outline, the left one
        both = np.array([[near[0], far[1], far[2]], [far[0], near[1], far[2]]])
        fixed = both[int(np.argmin(camera.on_sheet(both)[:, 0]))]
    ends = np.stack([fixed, fixed])
    ends[:, k] = camera.bounds[:, k]
    return ends


def _outward(ends: Points) -> Points:
    """At right angles to an edge, away from the middle of the sheet."""
    along = ends[1] - ends[0]
    across = np.array([-along[1], along[0]])
    size = float(np.hypot(*across))
    across = across / size if size > 0.0 else np.array([0.0, -1.0])
    return across if float(across @ ends.mean(axis=0)) > 0.0 else -across


def _step_back(place: Points, ends: Points) -> Points:
    """A step along the edge from its lowest end, where the numbers of another edge begin."""
    low, other = ends[np.argsort(ends[:, 1], kind="stable")]
    if float(np.hypot(*(place - low))) > CORNER:
        return np.zeros(2)
    step: Points = APART * (other - low) / float(np.hypot(*(other - low)))
    return step
