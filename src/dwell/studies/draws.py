"""Random starts, in a frame in which a workspace far from the origin loses no digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from dwell._types import Floats, Points
from dwell.cells import tessellate
from dwell.cells.weighted_region import weighted_region
from dwell.density import Density
from dwell.geometry import Ball, Box, Ellipsoid, Interval, Polygon, Polytope, Workspace
from dwell.studies.landscape import Landscape
from dwell.studies.newton import Descent

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms, Terms

EXTREME = 600.0  # logarithms of weights from which on they are taken out of all sums
POOL = (4096, 16)  # places that a start is chosen from: at least, and per agent
ROUNDS = 20  # of drawing such places, at most


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """A workspace and a density, seen from the lower corner of the workspace."""

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
        return _Moved(self.weight, self.origin)

    @cached_property
    def log_scale(self) -> float:
        """The logarithm of all weight where that is near or beyond the range of numbers; else 0."""
        if weighted_region(self.workspace, self.density).terms is None:
            return 0.0
        lower, upper = self.workspace.bounds
        log = float(tessellate(self.workspace, [0.5 * (lower + upper)], self.density).log_masses[0])
        return log if EXTREME < abs(log) < math.inf else 0.0

    def landscape(self) -> Landscape:
        """The cost in this frame, nothing counted yet."""
        return Landscape(self.workspace, self.density, self.log_scale)

    def inward(self, positions: Points) -> Points:
        """Positions in this frame."""
        moved: Points = positions - self.origin
        return moved

    def outward(self, descent: Descent) -> Descent:
        """A descent in this frame, with its positions where they really are."""
        return replace(descent, positions=descent.positions + self.origin)


@final
@dataclass(frozen=True, eq=False)
class _Moved:
    """The density `inner`, seen from `origin`."""

    inner: Density
    origin: Points

    def at(self, points: Points) -> Floats:
        """The weight at each point."""
        return self.inner.at(points + self.origin)

    def terms(self) -> Terms | None:
        """The terms of `inner`, moved."""
        terms = self.inner.terms()
        if terms is None:
            return None
        gaussians = terms.gaussians.copy()
        gaussians[:, 1:3] -= self.origin
        frame = terms.frame.copy()
        frame[:2] -= self.origin
        return terms._replace(origins=terms.origins - self.origin, gaussians=gaussians, frame=frame)

    def general_terms(self, dimension: int) -> GeneralTerms | None:
        """The terms of the moved density, in any dimension."""
        general = getattr(self.inner, "general_terms", None)
        terms: GeneralTerms | None = None if general is None else general(dimension)
        if terms is None:
            return None
        return terms._replace(
            origins=terms.origins - self.origin, centers=terms.centers - self.origin
        )


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
    if workspace.dimension == 2:
        return Polygon(workspace.vertices - origin)
    if isinstance(workspace, Box):
        return Box(np.array(workspace.lower) - origin, np.array(workspace.upper) - origin)
    return Polytope(workspace.vertices - origin)


def random_start(frame: Frame, agents: int, seed: int, number: int) -> Points:
    """Places in `frame` for a start, (N, n); a function of `seed` and `number` alone.

    They are drawn with the square root of the density, as the best deployments of many agents are
    spread. Where it hardly weighs anything, the rest is drawn evenly.
    """
    random = np.random.Generator(np.random.PCG64([seed, number]))
    size = max(POOL[0], POOL[1] * agents)
    none = np.empty((0, frame.workspace.dimension))
    weighty, weights, others = none, np.empty(0), none
    for _ in range(ROUNDS):
        places = _scattered(frame.workspace, random, size)
        with np.errstate(all="ignore"):
            found = np.sqrt(np.maximum(frame.density.at(places), 0.0))
        weighs = found > 0.0
        weighty, weights = np.vstack([weighty, places[weighs]]), np.append(weights, found[weighs])
        others = np.vstack([others, places[~weighs]])
        if len(weighty) >= agents:
            break
    # The smallest of exponential waiting times: drawing without putting back, by weight.
    waits = -np.log1p(-random.random(len(weighty))) / weights
    chosen = weighty[np.argsort(waits, kind="stable")[:agents]]
    start: Points = np.vstack([chosen, others[: agents - len(chosen)]])
    return start


def _scattered(workspace: Workspace, random: np.random.Generator, size: int) -> Points:
    """So many places spread evenly over the workspace, however little of its bounds it fills."""
    if isinstance(workspace, Polygon):
        return _spread(workspace, random.random((size, 3)))
    if isinstance(workspace, Ball | Ellipsoid):
        return _stretched(workspace, _in_unit_ball(random, size, workspace.dimension))
    if isinstance(workspace, Polytope) and workspace.dimension == 3:
        return _in_tetrahedra(workspace, random.random((size, 4)))
    lower, upper = workspace.bounds
    places: Points = lower + (upper - lower) * random.random((size, workspace.dimension))
    return places


def _in_unit_ball(random: np.random.Generator, size: int, dimension: int) -> Points:
    """Places in the ball of radius 1, which fills half of its cube in space, and more below."""
    places = np.empty((0, dimension))
    while len(places) < size:
        drawn = 2.0 * random.random((size, dimension)) - 1.0
        places = np.vstack([places, drawn[(drawn * drawn).sum(axis=1) < 1.0]])
    return places[:size]


def _stretched(workspace: Ball | Ellipsoid, unit: Points) -> Points:
    """Places of the unit ball as places of the workspace."""
    places: Points = np.tile(np.array(workspace.center), (len(unit), 1))
    for k, size in enumerate(workspace.semi_axes):
        places += (size * unit[:, k : k + 1]) * workspace.axes[k]
    return places


def _in_tetrahedra(workspace: Polytope, drawn: Floats) -> Points:
    """Places spread evenly over a solid, from numbers spread evenly over [0, 1), (k, 4).

    It is cut into tetrahedra that stand on its faces and meet in an inner point.
    """
    base = np.array([(f[0], f[i], f[i + 1]) for f in workspace.faces for i in range(1, len(f) - 1)])
    apex = workspace.vertices.mean(axis=0)
    sides = workspace.vertices[base] - apex
    ends = np.cumsum(
        np.maximum((np.cross(sides[:, 0], sides[:, 1]) * sides[:, 2]).sum(axis=1), 0.0)
    )
    which = np.minimum(np.searchsorted(ends / ends[-1], drawn[:, 0], side="right"), len(base) - 1)
    cuts = np.sort(drawn[:, 1:], axis=1)  # the gaps between them are even weights of corners
    shares = np.diff(cuts, axis=1, prepend=0.0)
    places: Points = apex + (shares[:, :, None] * sides[which]).sum(axis=1)
    return places


def _spread(workspace: Polygon, drawn: Floats) -> Points:
    """Places spread evenly over a polygon, from numbers spread evenly over [0, 1), (n, 3)."""
    first = workspace.vertices[0]
    sides = workspace.vertices[1:] - first
    a, b = sides[:-1], sides[1:]  # triangles that share the first corner
    ends = np.cumsum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    which = np.minimum(np.searchsorted(ends / ends[-1], drawn[:, 0], side="right"), len(a) - 1)
    far = np.sqrt(drawn[:, 1:2])
    along = drawn[:, 2:3]
    places: Points = first + far * (a[which] + along * (b[which] - a[which]))
    return places
