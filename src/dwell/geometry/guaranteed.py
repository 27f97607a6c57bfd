"""Cells of an agent that knows the others only roughly: what is certainly its own, what may be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points, columns
from dwell.errors import WorkspaceError
from dwell.geometry.box import Box
from dwell.geometry.ellipsoid import Ball, Ellipsoid
from dwell.geometry.guaranteed_base import GuaranteedBase
from dwell.geometry.guaranteed_interval import StarInterval
from dwell.geometry.guaranteed_region import StarRegion
from dwell.geometry.polytope import Polytope
from dwell.geometry.region import Interval, Polygon
from dwell.geometry.validation import as_others, as_place, as_radii, refuse_outside

SAMPLES = 33  # points of each arc that are compared before the best one is refined
ZOOMS = 50  # halvings of the window round a maximum
RIVALS = 1e-3  # pairs this close to the widest, relative, are refined as well
MAX_CIRCLES = 60


@final
@dataclass(frozen=True, eq=False)
class StarCell(GuaranteedBase):
    """The guaranteed cell of an agent, or the dual one: star-shaped about its position.

    The agent's own position is exact; agent j lies somewhere within `radii[j]` of `others[j]`. With
    p, q and R for these, the guaranteed cell is the set of z in the workspace with
    |z - p| + R <= |z - q| for all j: the part of the Voronoi cell that is certain. The dual one is
    that with |z - p| <= |z - q| + R: all that the Voronoi cell may reach. Guaranteed cells are
    convex, with arcs of hyperbolas that bulge outwards; in dual cells they curve inwards.

    `borders[k]` says what bounds the piece from corner k to corner k + 1: agent `borders[k]` if
    that is >= 0, else edge `-1 - borders[k]` of the workspace.
    """

    workspace: Polygon

    @property
    def offsets(self) -> Points:
        """Corners relative to the agent, (k, 2)."""
        return self._ring[0]

    @property
    def borders(self) -> Ints:
        """What bounds the cell after each corner, (k,)."""
        return self._ring[1]

    def radius(self, angles: object) -> Floats:
        """How far the cell reaches from the agent in each direction; 0 if it is empty."""
        angles = np.asarray(angles, dtype=np.float64)
        if self.empty:
            return np.zeros(angles.shape)
        x, y = np.cos(angles)[..., None], np.sin(angles)[..., None]
        b, c = self._gauge
        reach: Floats = 1.0 / (x * b[:, 0] + y * b[:, 1] + c).max(axis=-1)
        return reach

    @cached_property
    def volume(self) -> float:
        """Area."""
        from dwell._kernels.common.density_terms import Terms
        from dwell._kernels.polygon.guaranteed import star_moments_of

        found = star_moments_of(*self.kernel_arguments(), Terms(1.0), 0.0, 0.0, _env(self))
        return float(found[1])

    def distance_to_boundary(self, point: object) -> float:
        """How far `point` may move in any direction and stay in the cell; 0 if it is outside."""
        from dwell._kernels.polygon.guaranteed import gap_of

        place = as_place(point, "the point", 2) - self.position
        dual, *rest = self.kernel_arguments()
        return max(0.0, float(gap_of(dual, float(place[0]), float(place[1]), *rest)))

    def outline(self, points_per_arc: int = 24) -> Points:
        """The boundary as a polygon for drawing: edges as they are, each arc in many pieces."""
        pieces = [
            arc.at(np.linspace(arc.start, arc.end, points_per_arc, endpoint=False))
            if arc.is_curved
            else self.offsets[k : k + 1]
            for k, arc in enumerate(self._arcs)
        ]
        ring: Points = self.position + np.concatenate([np.empty((0, 2)), *pieces])
        return ring

    def kernel_arguments(self) -> tuple[Any, ...]:
        """(dual, p, n, q, R, workspace) as the kernels take them."""
        x, y = (float(v) for v in self.position)
        q, w = columns(self.others), columns(self.workspace.vertices)
        return self.dual, x, y, len(self.radii), *q, self.radii, *w

    @cached_property
    def _halves(self) -> Floats:
        """(|D|**2 - R**2) / 2 of each other agent, D = q - p."""
        dx, dy = (self.others - self.position).T
        halves: Floats = 0.5 * (dx * dx + dy * dy - self.radii * self.radii)
        return halves

    @cached_property
    def _ring(self) -> tuple[Points, Ints]:
        from dwell._kernels.polygon.guaranteed import corners_of

        env = _env(self)
        n = corners_of(*self.kernel_arguments(), env)
        return np.column_stack([env.x[:n], env.y[:n]]), env.label[:n].copy()

    @cached_property
    def _gauge(self) -> tuple[Points, Floats]:
        """B (k, 2) and c (k,) of 1 / radius >= u . B + c: workspace edges, then agents."""
        from dwell._kernels.polygon.guaranteed_workspace import NEAREST

        v = self.workspace.vertices
        edges = np.roll(v, -1, axis=0) - v
        normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.hypot(*edges.T)[:, None]
        gaps = ((v - self.position) * normals).sum(axis=1)
        gaps = np.maximum(gaps, NEAREST * self.workspace.diameter)
        sign = -1.0 if self.dual else 1.0
        apart = self._halves > 0.0
        d, r, half = (self.others - self.position)[apart], self.radii[apart], self._halves[apart]
        b = np.vstack([normals / gaps[:, None], d / half[:, None]])
        return b, np.concatenate([np.zeros(len(v)), sign * r / half])

    @cached_property
    def _arcs(self) -> list[_Arc]:
        after = np.roll(self.offsets, -1, axis=0)
        return [
            self._arc(int(label), first, last)
            for label, first, last in zip(self.borders, self.offsets, after, strict=True)
        ]

    def _arc(self, label: int, first: Points, last: Points) -> _Arc:
        """The piece of boundary from `first` to `last`."""
        if label < 0 or self.radii[label] == 0.0:
            return _Arc(first, last - first, np.zeros(2), 0.0, 1.0)
        middle = 0.5 * (self.others[label] - self.position)
        axis = middle / np.hypot(*middle)
        squared = 0.5 * float(self._halves[label])
        side = math.sqrt(squared) * np.array([-axis[1], axis[0]])
        t = [math.asinh((z[0] * side[0] + z[1] * side[1]) / squared) for z in (first, last)]
        curl = 0.5 * (self.radii[label] if self.dual else -self.radii[label]) * axis
        return _Arc(middle, side, curl, *t)

    @cached_property
    def _extent(self) -> tuple[float, float]:
        from dwell._kernels.polygon.guaranteed_shape import circle_round

        if self.empty:
            return 0.0, 0.0
        if self.dual:
            diameter, _, _, radius = circle_round(len(self.offsets), *columns(self.offsets))
            return float(diameter), float(radius)
        return _widest(self._arcs), _circumradius(self._arcs)


class _Arc(NamedTuple):
    """A piece of boundary: middle + side sinh(t) + curl cosh(t), or middle + side t if straight."""

    middle: Points
    side: Points
    curl: Points
    start: float
    end: float

    @property
    def is_curved(self) -> bool:
        """Whether it is part of a hyperbola."""
        return bool(self.curl.any())

    def at(self, t: object) -> Points:
        """The points at parameters t."""
        t = np.asarray(t, dtype=np.float64)[..., None]
        if not self.is_curved:
            return self.middle + t * self.side
        place: Points = self.middle + np.sinh(t) * self.side + np.cosh(t) * self.curl
        return place

    def samples(self) -> Floats:
        """Parameters all along the arc; only the ends of a straight one."""
        return np.linspace(self.start, self.end, SAMPLES if self.is_curved else 2)

    def window(self, t: float) -> Floats:
        """A few parameters round t, as far as the neighbouring samples."""
        step = (self.end - self.start) / (SAMPLES - 1)
        return np.clip(t + step * np.linspace(-1.0, 1.0, 9), self.start, self.end)


Star = StarCell | StarInterval | StarRegion


def guaranteed_cell(workspace: object, position: object, others: object, radii: object) -> Star:
    """What is certainly nearest to the agent at `position`, on the line, in the plane or in space.

    Agent j is somewhere within radii[j] (or `radii`, one number for all) of others[j].

    >>> cell = guaranteed_cell(Box((0, 0), (4, 1)), (1, 0.5), [(3, 0.5)], 1.0)
    >>> float(cell.radius(0.0))  # half of what is left of the distance, 2 - 1
    0.5
    """
    return _cell(workspace, position, others, radii, dual=False)


def dual_guaranteed_cell(
    workspace: object, position: object, others: object, radii: object
) -> Star:
    """All that may be nearest to the agent at `position`; arguments as for `guaranteed_cell`.

    >>> cell = dual_guaranteed_cell(Box((0, 0), (4, 1)), (1, 0.5), [(3, 0.5)], 1.0)
    >>> float(cell.radius(0.0))
    1.5
    """
    return _cell(workspace, position, others, radii, dual=True)


def _cell(workspace: object, position: object, others: object, radii: object, dual: bool) -> Star:
    region = _star_workspace(workspace)
    n = region.dimension
    place = as_place(position, "the agent", n)
    refuse_outside(place, float(region.outside_by(place[None])[0]), region.diameter)
    points = as_others(others, n)
    balls = as_radii(radii, len(points))
    if isinstance(region, Interval):
        return StarInterval(region, place, points, balls, dual)
    if isinstance(region, Polygon):
        return StarCell(region, place, points, balls, dual)
    return StarRegion(region, place, points, balls, dual)


def _star_workspace(workspace: object) -> Interval | Polygon | Box | Polytope | Ball | Ellipsoid:
    """The workspace, if there are guaranteed cells in it."""
    if isinstance(workspace, Polygon | Interval):
        return workspace
    if not isinstance(workspace, Box | Polytope | Ball | Ellipsoid):
        return Polygon(workspace)
    n = workspace.dimension
    if n == 1:
        return workspace.interval
    if n > 3:
        raise WorkspaceError(
            f"the workspace is {_named(workspace)} in {n} dimensions; there are guaranteed cells "
            "in 1, 2 and 3 dimensions only",
            code="geometry.dimension",
            key="workspace",
        )
    if isinstance(workspace, Ball | Ellipsoid):
        return workspace
    return workspace.polygon if n == 2 else workspace


def _named(workspace: object) -> str:
    name = type(workspace).__name__
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"


def _env(cell: StarCell) -> Any:
    from dwell._kernels.polygon.guaranteed_envelope import make_envelope

    return make_envelope(len(cell.radii), len(cell.workspace.vertices))


def _widest(arcs: list[_Arc]) -> float:
    """Largest distance between two points of the arcs.

    Samples first; then each pair that may beat all others is refined.
    """
    sampled = [arc.at(arc.samples()) for arc in arcs]
    best = 0.0
    rivals: list[tuple[float, _Arc, float, _Arc, float]] = []
    for j, second in enumerate(arcs):
        for i, first in enumerate(arcs[: j + 1]):
            gaps = np.hypot(*np.moveaxis(sampled[i][:, None] - sampled[j][None], -1, 0))
            k, m = np.unravel_index(np.argmax(gaps), gaps.shape)
            rivals.append((gaps[k, m], first, first.samples()[k], second, second.samples()[m]))
            best = max(best, float(gaps[k, m]))
    close = [rival for rival in rivals if rival[0] >= (1.0 - RIVALS) * best]
    return max([best, *(_widened(*rival[1:]) for rival in close)])


def _widened(first: _Arc, s: float, second: _Arc, t: float) -> float:
    """The distance between the arcs at (s, t), made as large as it gets nearby."""
    near, far = first.window(s) - s, second.window(t) - t
    best = 0.0
    for _ in range(ZOOMS):
        a, b = np.clip(s + near, first.start, first.end), np.clip(t + far, second.start, second.end)
        gaps = np.hypot(*np.moveaxis(first.at(a)[:, None] - second.at(b)[None], -1, 0))
        k, m = np.unravel_index(np.argmax(gaps), gaps.shape)
        s, t, best = float(a[k]), float(b[m]), float(gaps[k, m])
        near, far = 0.5 * near, 0.5 * far
    return best


def _circumradius(arcs: list[_Arc]) -> float:
    """Radius of the smallest circle round the arcs.

    The circle round some of their points is enlarged by the point farthest outside, until there is
    none: from below and from above the two bounds meet.
    """
    from dwell._kernels.polygon.guaranteed_shape import circle_round

    points = np.concatenate([arc.at(arc.samples()) for arc in arcs])
    radius = 0.0
    for _ in range(MAX_CIRCLES):
        _, x, y, radius = circle_round(len(points), *columns(points))
        middle = np.array([x, y])
        beyond = np.array([_farthest(arc, middle) for arc in arcs])
        far = float(np.hypot(*(beyond - middle).T).max())
        if far <= radius * (1.0 + 1e-13):
            break
        points = np.concatenate([points, beyond])
    return float(radius)


def _farthest(arc: _Arc, middle: Points) -> Points:
    """The point of an arc farthest from `middle`."""
    t = arc.samples()
    best = float(t[np.argmax(np.hypot(*(arc.at(t) - middle).T))])
    near = arc.window(best) - best
    for _ in range(ZOOMS):
        t = np.clip(best + near, arc.start, arc.end)
        best = float(t[np.argmax(np.hypot(*(arc.at(t) - middle).T))])
        near = 0.5 * near
    return arc.at(best)
