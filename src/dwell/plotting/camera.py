"""A camera far away, and the box round what it sees: far sides with a grid, numbers along edges.

Points of space go on a sheet without perspective, so lengths keep their scale. The plane between
two agents has one cell on each side, so the cell of the agent nearer to the camera is never behind
the other: cells drawn in the order of their agents, farthest first, are in the right order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import NamedTuple, final

import numpy as np

from dwell._types import Floats, Points, lengths
from dwell.geometry import Workspace, is_flat
from dwell.plotting.maps import axis_name, is_slim, round_origin

AZIMUTHS = (-60.0, -40.0, -25.0, -75.0, 30.0, 55.0)  # the usual one, and alternatives
LARGE = 0.1  # of the boundary: facets that should not be seen edge-on
EDGE_ON = 0.15  # cosine between a facet's normal and the direction to the camera
ELEVATION = math.radians(22.0)
GAP, FAR_GAP = 0.045, 0.14  # from an edge to its numbers and to its name, on the sheet
LONG, FLAT = 0.45, 0.2  # edges long enough for many numbers, and too short for two
SIDEWAYS = 0.3  # how far an edge must face sideways for its name to begin, or end, beside it
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
        a, e = math.radians(self.azimuth), ELEVATION
        ca, sa, ce, se = math.cos(a), math.sin(a), math.cos(e), math.sin(e)
        return np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])

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
        return np.array(list(product(*self.bounds.T)))

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


def camera_for(workspace: Workspace) -> Camera:
    """A camera at the first azimuth from which no large facet is seen edge-on."""
    solid = workspace.hull
    if not is_flat(solid):
        return Camera(workspace, AZIMUTHS[0])
    vertices = np.asarray(solid.vertices)
    rings = [vertices[face] - vertices[face[0]] for face in solid.faces]
    vectors = np.array([np.cross(ring[1:-1], ring[2:]).sum(axis=0) for ring in rings])
    areas = lengths(vectors)
    large = areas >= LARGE * areas.sum()
    normals = vectors[large] / areas[large, None]
    cameras = [Camera(workspace, azimuth) for azimuth in AZIMUTHS]
    seen = [float(np.abs(normals @ camera.axes[2]).min(initial=1.0)) for camera in cameras]
    return cameras[int(np.argmax(np.minimum(seen, EDGE_ON)))]


class Label(NamedTuple):
    """Words beside an edge of the box: a number, or the name of a coordinate."""

    place: Points  # on the sheet
    words: str
    name: bool = False
    end: str = "center"  # which part of the words is at the place
    turned: float = 0.0  # degrees


def panes(camera: Camera) -> list[Points]:
    """The far sides of the box, on the sheet."""
    rings = camera.corners[[[0, 1, 3, 2], [0, 1, 5, 4], [0, 2, 6, 4]]]  # sides at the lower bounds
    fixed = np.eye(3, dtype=bool)[:, None]
    return list(camera.on_sheet(np.where(fixed, camera.far, rings)))


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
            at = camera.on_sheet(np.where(np.arange(3) == k, value, edge[0]))
            words = f"{value - origin:.6g}".replace("-", "\u2212")
            found.append(Label(at + GAP * out + _step_back(at, ends), words))
        sideways = 0.0 if k == 2 else float(out[0])
        end = "left" if sideways > SIDEWAYS else "right" if sideways < -SIDEWAYS else "center"
        middle = ends.mean(axis=0) + FAR_GAP * out
        name = axis_name(camera.workspace, k)
        found.append(Label(middle, name, True, end, 90.0 if k == 2 else 0.0))
    return found


def _ticks(camera: Camera, k: int) -> Floats:
    """Round values along coordinate k; where it is short, only the last."""
    from matplotlib.ticker import MaxNLocator

    lower, upper = camera.bounds[:, k]
    length, slack = (upper - lower) / camera.unit[k], 1e-9 * (upper - lower)
    locator = MaxNLocator(nbins=4 if length > LONG else 2, steps=[1, 2, 5, 10])
    origin = round_origin(camera.workspace, k)
    values = np.asarray(locator.tick_values(lower - origin, upper - origin)) + origin
    inside: Floats = values[(values >= lower - slack) & (values <= upper + slack)]
    return inside if length > FLAT else inside[-1:]


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
