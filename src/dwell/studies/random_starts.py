"""Random starts, in a frame in which a workspace far from the origin loses no digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells import tessellate
from dwell.cells.weighted_region import weighted_region
from dwell.density import Density, Function, Gaussian, Mixture, Polynomial, Raster, Uniform
from dwell.geometry import Ball, Box, Ellipsoid, Interval, Polygon, Polytope, Region, Workspace
from dwell.studies.newton import Descent
from dwell.studies.objective import Objective

EXTREME = 600.0  # logarithms of weights from which on they are taken out of all sums
POOL = (4096, 16)  # candidates that a start is chosen from: at least, and per agent
ROUNDS = 20  # of drawing such candidates, at most


@final
@dataclass(frozen=True, eq=False)
class CornerFrame:
    """A workspace and a density relative to the lower corner of the workspace."""

    outer: Workspace
    weight: Density

    @cached_property
    def origin(self) -> Points:
        """The lower corner."""
        return self.outer.bounds[0]

    @cached_property
    def workspace(self) -> Workspace:
        """The workspace in this frame."""
        return _moved(self.outer, self.origin)

    @cached_property
    def density(self) -> Density:
        """The density in this frame."""
        return _moved_density(self.weight, self.origin)

    @cached_property
    def log_scale(self) -> float:
        """The logarithm of all weight where that is near or beyond the range of numbers; else 0."""
        if weighted_region(self.workspace, self.density).terms is None:
            return 0.0
        lower, upper = self.workspace.bounds
        log = float(tessellate(self.workspace, [0.5 * (lower + upper)], self.density).log_masses[0])
        return log if EXTREME < abs(log) < math.inf else 0.0

    def objective(self) -> Objective:
        """The cost in this frame, with a new count of cells."""
        return Objective(self.workspace, self.density, self.log_scale)

    def inward(self, positions: Points) -> Points:
        """Positions in this frame."""
        return positions - self.origin

    def outward(self, descent: Descent) -> Descent:
        """A descent of this frame in the coordinates of the outer workspace."""
        return replace(descent, positions=descent.positions + self.origin)


def _moved_density(density: Density, origin: Points) -> Density:
    """The density in coordinates relative to `origin`."""
    match density:
        case Uniform():
            return density
        case Gaussian(center=center):
            return replace(density, center=tuple((np.array(center) - origin).tolist()))
        case Polynomial(origin=own):
            return replace(density, origin=tuple((np.array(own) - origin).tolist()))
        case Raster(origin=(x, y)):
            return density.like(density.grid, (x - origin[0], y - origin[1]))
        case Mixture(parts=parts):
            return Mixture(tuple(_moved_density(part, origin) for part in parts))
    return Function(lambda points: density.at(points + origin))


def _moved(workspace: Workspace, origin: Points) -> Workspace:
    """The workspace in coordinates relative to `origin`."""
    match workspace:
        case Ball():
            return Ball(workspace.center - origin, workspace.radius)
        case Ellipsoid():
            middle = workspace.center - origin
            return Ellipsoid(middle, workspace.semi_axes, workspace.axes)
        case Interval():
            return Interval(workspace.lower - origin[0], workspace.upper - origin[0])
        case Region():
            rings = [
                {"outer": part.outer - origin, "holes": [hole - origin for hole in part.holes]}
                for part in workspace.parts
            ]
            return Region(rings, stay=workspace.stay)
    if workspace.dimension == 2:
        return Polygon(workspace.vertices - origin)
    if isinstance(workspace, Box):
        return Box(np.array(workspace.lower) - origin, np.array(workspace.upper) - origin)
    return Polytope(workspace.vertices - origin)


def random_start(frame: CornerFrame, agents: int, seed: int, number: int) -> Points:
    """Positions in `frame` for a start, (N, n); a function of `seed` and `number` alone.

    They are drawn with the square root of the density, as the best deployments of many agents are
    spread. Where too few candidates have a positive density, the rest is uniform.
    """
    random = np.random.Generator(np.random.PCG64([seed, number]))
    size = max(POOL[0], POOL[1] * agents)
    none = np.empty((0, frame.workspace.dimension))
    positive, weights, others = none, np.empty(0), none
    for _ in range(ROUNDS):
        drawn = _scattered(frame.workspace, random, size)
        with np.errstate(all="ignore"):
            found = np.sqrt(np.maximum(frame.density.at(drawn), 0.0))
        weighs = found > 0.0
        positive, weights = np.vstack([positive, drawn[weighs]]), np.append(weights, found[weighs])
        others = np.vstack([others, drawn[~weighs]])
        if len(positive) >= agents:
            break
    # The smallest of exponential waiting times: drawing without replacement, by weight.
    waits = -np.log1p(-random.random(len(positive))) / weights
    chosen = positive[np.argsort(waits, kind="stable")[:agents]]
    return np.vstack([chosen, others[: agents - len(chosen)]])


def _scattered(workspace: Workspace, random: np.random.Generator, size: int) -> Points:
    """So many positions, uniform over the workspace, however little of its bounds it fills."""
    n = workspace.dimension
    if isinstance(workspace, Polygon | Region):
        return _in_triangles(_triangles(workspace), random.random((size, 3)))
    if isinstance(workspace, Ball | Ellipsoid):
        return _in_ellipsoid(workspace, random, size)
    if isinstance(workspace, Polytope) and n == 3:
        return _in_tetrahedra(workspace, random.random((size, 4)))
    lower, upper = workspace.bounds
    return lower + (upper - lower) * random.random((size, n))


def _in_ellipsoid(workspace: Ball | Ellipsoid, random: np.random.Generator, size: int) -> Points:
    """Positions by rejection in the unit ball, which fills half of its cube in space."""
    unit = np.empty((0, workspace.dimension))
    while len(unit) < size:
        drawn = 2.0 * random.random((size, workspace.dimension)) - 1.0
        unit = np.vstack([unit, drawn[(drawn * drawn).sum(axis=1) < 1.0]])
    positions: Points = np.tile(np.array(workspace.center), (size, 1))
    for k, semi_axis in enumerate(workspace.semi_axes):
        positions += (semi_axis * unit[:size, k : k + 1]) * workspace.axes[k]
    return positions


def _in_tetrahedra(workspace: Polytope, drawn: Floats) -> Points:
    """Positions in a solid from numbers uniform on [0, 1), (k, 4).

    It is divided into tetrahedra over its faces that meet in an inner point.
    """
    base = np.array([(f[0], f[i], f[i + 1]) for f in workspace.faces for i in range(1, len(f) - 1)])
    apex = workspace.vertices.mean(axis=0)
    sides = workspace.vertices[base] - apex
    volumes = np.maximum((np.cross(sides[:, 0], sides[:, 1]) * sides[:, 2]).sum(axis=1), 0.0)
    cuts = np.sort(drawn[:, 1:], axis=1)  # the gaps between them are uniform barycentric weights
    shares = np.diff(cuts, axis=1, prepend=0.0)
    positions: Points = apex + (shares[:, :, None] * sides[_chosen(volumes, drawn)]).sum(axis=1)
    return positions


def _triangles(workspace: Polygon | Region) -> Points:
    """Triangles that make up a polygon or a region, (k, 3, 2)."""
    if isinstance(workspace, Polygon):
        corners = workspace.vertices
        first = np.broadcast_to(corners[0], corners[2:].shape)
        return np.stack([first, corners[1:-1], corners[2:]], axis=1)
    low, high, a, b, d, c = workspace.pieces.piece.T
    below = np.array([(a, low), (b, low), (c, high)])
    above = np.array([(a, low), (c, high), (d, high)])
    local = np.concatenate([below, above], axis=2).transpose(2, 0, 1)
    found: Points = local + workspace.pieces.origin
    return found


def _in_triangles(triangles: Points, drawn: Floats) -> Points:
    """Positions in triangles from numbers uniform on [0, 1), (k, 3)."""
    first, a, b = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    a, b = a - first, b - first
    which = _chosen(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], drawn)
    positions: Points = first[which] + np.sqrt(drawn[:, 1:2]) * (
        a[which] + drawn[:, 2:3] * (b[which] - a[which])
    )
    return positions


def _chosen(sizes: Floats, drawn: Floats) -> Ints:
    """Which simplex each first number of `drawn` selects, in proportion to the sizes."""
    ends = np.cumsum(sizes)
    found: Ints = np.searchsorted(ends / ends[-1], drawn[:, 0], side="right")
    return np.minimum(found, len(sizes) - 1)
