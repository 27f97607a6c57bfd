"""Guaranteed and dual guaranteed cells in discs, ellipses, balls and ellipsoids."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.geometry.ball import Ball
from dwell.geometry.ellipsoid import Ellipsoid
from dwell.geometry.known import as_place
from dwell.geometry.limits import as_rows
from dwell.geometry.whitened import Root, root_of, seen_from

if TYPE_CHECKING:
    from dwell._kernels.general_terms import GeneralTerms
    from dwell._kernels.shells.rim import Rim
    from dwell._kernels.shells.round_pair import Region

T = TypeVar("T")
SPACE = 3  # coordinates in the kernels, where the plane is the one with z = 0


@final
@dataclass(frozen=True, eq=False)
class StarRound:
    """The guaranteed cell of an agent in a disc, an ellipse, a ball or an ellipsoid, or the dual.

    See `StarCell`. The boundary of the workspace is one more piece of its own: the cell ends, in
    each direction, at the nearest of all sheets and of that boundary.
    """

    workspace: Ball | Ellipsoid
    position: Points  # (n,)
    others: Points  # (k, n)
    radii: Floats  # (k,)
    dual: bool

    @property
    def empty(self) -> bool:
        """Whether nothing is certain: another agent may stand at the same place."""
        return not self.dual and bool((lengths(self.others - self.position) <= self.radii).any())

    def radius(self, directions: object) -> Floats:
        """How far the cell reaches from the agent in each direction; 0 if it is empty.

        In the plane directions are angles, in space vectors (..., 3).
        """
        u = np.asarray(directions, dtype=np.float64)
        if self.workspace.dimension == 2:
            u = np.stack([np.cos(u), np.sin(u)], axis=-1)
        if self.empty:
            return np.zeros(u.shape[:-1])
        u = u / lengths(u)[..., None]
        d, r = self.others - self.position, self.radii
        half = 0.5 * (lengths(d) - r) * (lengths(d) + r)
        apart = half > 0.0
        asked = dots(u[..., None, :], d[apart] / half[apart, None])
        asked = asked + self.sign * r[apart] / half[apart]
        reach: Floats = 1.0 / np.maximum(asked.max(axis=-1, initial=0.0), self._wall(u))
        return reach

    def contains(self, points: object) -> np.ndarray:
        """Whether each point lies in the cell, by its definition; the boundary belongs to it."""
        places = as_rows(points, len(self.position))
        inside = self.workspace.contains(places)
        own = lengths(places - self.position)
        for q, r in zip(self.others, self.radii, strict=True):
            inside &= own + self.sign * r <= lengths(places - q)
        return inside

    @cached_property
    def volume(self) -> float:
        """Area, or volume; in the plane to rounding, in space to about 1e-9 of it."""
        from dwell._kernels.general_terms import general_terms

        return 0.0 if self.empty else float(self.moments(general_terms(SPACE, 1.0))[1])

    @property
    def area(self) -> float:
        """Area, in the plane."""
        return self.volume

    @property
    def diameter(self) -> float:
        """Largest distance between two points of the cell, or a little more; never less.

        In the plane within 1e-4 of it for a dual cell, in space within a few hundredths. Round a
        guaranteed cell each sheet is replaced by the line or plane that touches it on the way to
        the other agent.
        """
        return self._extent[0]

    @property
    def circumradius(self) -> float:
        """Radius of the smallest ball that holds the cell, or a little more: see `diameter`."""
        return self._extent[1]

    def distance_to_boundary(self, point: object) -> float:
        """How far `point` may move in any direction and stay in the cell; 0 if it is outside."""
        from dwell._kernels.shells.round_pair import gap_of

        n = self.workspace.dimension
        z = in_space(as_place(point, "the point", n) - self.position)
        region, p, _, _, *known = self.kernel_arguments()
        return max(0.0, float(gap_of(self.sign, z, region, p, *known)))

    def outline(self, points: int = 720) -> Points:
        """The boundary in the plane as a polygon for drawing."""
        angles = np.linspace(0.0, 2.0 * math.pi, points, endpoint=False)
        away = np.column_stack([np.cos(angles), np.sin(angles)])
        ring: Points = self.position + self.radius(angles)[:, None] * away
        return ring

    @property
    def sign(self) -> float:
        """1 for a guaranteed cell, -1 for a dual one, as the kernels take it."""
        return -1.0 if self.dual else 1.0

    def kernel_arguments(self) -> tuple[Any, ...]:
        """(region, p, lean, room, n, q, R) as the kernels take them."""
        return seen_in(self.workspace, self.position, self.others, self.radii)

    def moments(self, terms: GeneralTerms) -> tuple[float, ...]:
        """(log_scale, mass, first moments, polar, error): see dwell._kernels.shells.round_pair."""
        from dwell._kernels.shells.round_pair import moments_of

        def weighed(rim: Rim) -> tuple[float, ...]:
            found: tuple[float, ...] = moments_of(self.sign, *self.kernel_arguments(), terms, rim)
            return found

        return in_rim(weighed, len(self.radii))

    def rays(self, parts: int) -> Floats:
        """Rays through the cell, (k, 5): direction, reach, and angle or solid angle."""
        from dwell._kernels.general_terms import general_terms
        from dwell._kernels.shells.round_pair import rays_of

        plain = general_terms(SPACE, 1.0)

        def sent(rim: Rim) -> Floats:
            known = (parts, self.sign, *self.kernel_arguments(), plain, rim)
            rays = np.empty((rays_of(*known, np.empty((0, 5))), 5))
            rays_of(*known, rays)
            return rays

        return in_rim(sent, len(self.radii))

    def _wall(self, u: Points) -> Floats:
        """1 / distance of the workspace's boundary in directions u."""
        root = whitened_of(self.workspace)
        a, room = seen_from(root, self.position)
        away = dots(u[..., None, :], root.matrix)
        square, along = dots(away, away), -dots(away, a)
        room = max(room, 1e-10)
        bend = np.sqrt(along * along + square * room)
        asked: Floats = np.where(
            along > 0.0, square / np.where(along > 0.0, along + bend, 1.0), (bend - along) / room
        )
        return asked

    @cached_property
    def _extent(self) -> tuple[float, float]:
        from dwell._kernels.general_terms import general_terms
        from dwell._kernels.shells.round_pair import extent_of, outline_of

        if self.empty:
            return 0.0, 0.0
        plain = general_terms(SPACE, 1.0)

        def sized(rim: Rim) -> tuple[float, float]:
            n = outline_of(self.sign, *self.kernel_arguments(), plain, rim)
            diameter, circumradius = extent_of(region_of(self.workspace), n, rim)
            return float(diameter), float(circumradius)

        return in_rim(sized, len(self.radii))


def in_space(place: Points) -> Points:
    """A place as the kernels take it: with three coordinates, the last 0 in the plane."""
    padded = np.zeros((*place.shape[:-1], SPACE))
    padded[..., : place.shape[-1]] = place
    return padded


def seen_in(
    workspace: Ball | Ellipsoid, position: Points, others: Points, radii: Floats
) -> tuple[Any, ...]:
    """(region, p, lean, room, n, q, R) as the kernels take them."""
    a, room = seen_from(whitened_of(workspace), position)
    reach = np.ascontiguousarray(radii, dtype=np.float64)
    known = len(reach), in_space(np.asarray(others, dtype=np.float64)), reach
    return region_of(workspace), in_space(position), in_space(-a), room, *known


_LOCAL = threading.local()  # working memory, for each thread its own


def in_rim(work: Callable[[Rim], T], others: int) -> T:
    """What `work` gives with working memory for so many agents, large enough for it."""
    from dwell._kernels.shells.rim import make_rim

    rim: Rim | None = getattr(_LOCAL, "kept", None)
    if rim is None or len(rim.demand) < others:
        rim = make_rim(max(2 * others, 16))
    found = work(rim)
    while rim.flag[0]:  # a cell with more changes than cells have as a rule
        rim = make_rim(max(2 * others, 16), 2 * len(rim.spot), 2 * len(rim.point))
        found = work(rim)
    _LOCAL.kept = rim
    return found


@lru_cache(maxsize=8)
def whitened_of(workspace: Ball | Ellipsoid) -> Root:
    """W and the center, kept."""
    return root_of(workspace)


@lru_cache(maxsize=8)
def region_of(workspace: Ball | Ellipsoid) -> Region:
    """The workspace as the kernels take it, with a third axis of its own in the plane."""
    from dwell._kernels.shells.round_pair import Region

    n, root = workspace.dimension, whitened_of(workspace)
    longest = max(workspace.semi_axes)
    matrix, axes, sizes = np.eye(SPACE) / longest, np.eye(SPACE), np.full(SPACE, longest)
    matrix[:n, :n], axes[:n, :n], sizes[:n] = root.matrix, workspace.axes, workspace.semi_axes
    return Region(n == 2, in_space(root.center), matrix, sizes, axes)
