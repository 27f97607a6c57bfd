"""Cells of an agent that knows the others only roughly: what is certainly its own, what may be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from dwell._types import Floats, Ints, Points, columns, lengths
from dwell.errors import WorkspaceError
from dwell.geometry.convex import ConvexRegion, Interval, Polygon
from dwell.geometry.guaranteed_region import Extent, GuaranteedBase, StarRegion, in_space
from dwell.geometry.validation import as_others, as_place, as_radii, refuse_outside

if TYPE_CHECKING:
    from dwell.geometry import Convex

SAMPLES = 33  # points of each arc that are compared before the best one is refined
WINDOW = np.linspace(-1.0, 1.0, 9) / (SAMPLES - 1)  # round the best sample, in lengths of the arc
ZOOMS = 50  # halvings of the window
RIVALS = 1e-3  # pairs this close to the widest, relative, are refined as well
MAX_CIRCLES = 60
SAME = 1e-9  # corners at angles that differ by less are one


@final
@dataclass(frozen=True, eq=False)
class StarInterval(GuaranteedBase):
    """The guaranteed cell of an agent on the line, or the dual one; see `StarCell`.

    An agent within R of the place q takes everything beyond the point at (|q - p| - R) / 2 towards
    it from the guaranteed cell, or at (|q - p| + R) / 2 from the dual one.
    """

    workspace: Interval

    @property
    def offsets(self) -> Points:
        """Both ends relative to the agent, (2, 1)."""
        return self._ends[0]

    @property
    def borders(self) -> Ints:
        """What bounds each end: another agent if >= 0, else end -1 - k of the workspace; (2,)."""
        return self._ends[1]

    @property
    def volume(self) -> float:
        """Length."""
        return 0.0 if self.empty else float(self.offsets[1, 0] - self.offsets[0, 0])

    @property
    def _extent(self) -> Extent:
        return self.volume, 0.5 * self.volume

    def _depth(self, place: Points) -> float:
        if self.empty:
            return 0.0
        low, high = self.offsets[:, 0]
        return min(float(place[0] - low), float(high - place[0]))

    @cached_property
    def _ends(self) -> tuple[Points, Ints]:
        from dwell._kernels.line.cells import ends_of

        q = np.ascontiguousarray(self.others[:, 0])
        ends, labels, _ = ends_of(
            self.sign, float(self.position[0]), len(q), q, self.radii, self.workspace.lower,
            self.workspace.upper,
        )  # fmt: skip
        kept = 0 if self.empty else 2
        return np.array(ends[:kept]).reshape(kept, 1), np.array(labels[:kept], dtype=np.int64)


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

    @cached_property
    def volume(self) -> float:
        """Area."""
        from dwell._kernels.common.density_terms import Terms
        from dwell._kernels.polygon.guaranteed import star_moments_of

        memory = self.envelope()
        return float(star_moments_of(*self.kernel_arguments(), Terms(1.0), 0.0, 0.0, memory)[1])

    def _depth(self, place: Points) -> float:
        from dwell._kernels.polygon.guaranteed import gap_of

        dual, *rest = self.kernel_arguments()
        depth: float = gap_of(dual, float(place[0]), float(place[1]), *rest)
        return depth

    def outline(self, points_per_arc: int = 24) -> Points:
        """The boundary as a polygon for drawing: edges as they are, each arc in many pieces."""
        ring = [np.empty((0, 2))]
        for corner, arc in zip(self.offsets, self._arcs, strict=True):
            ring.append(corner[None])
            if arc is not None:
                ring.append(self.boundary_at(np.linspace(*arc, points_per_arc, endpoint=False)[1:]))
        return self.position + np.concatenate(ring)

    def kernel_arguments(self) -> tuple[Any, ...]:
        """(dual, p, n, q, R, workspace) as the kernels take them."""
        x, y = (float(v) for v in self.position)
        q, w = columns(self.others), columns(self.workspace.vertices)
        return self.dual, x, y, len(self.radii), *q, self.radii, *w

    def envelope(self) -> Any:
        """Working memory for the kernels."""
        from dwell._kernels.polygon.guaranteed_envelope import make_envelope

        return make_envelope(len(self.radii), len(self.workspace.vertices))

    @cached_property
    def _ring(self) -> tuple[Points, Ints]:
        from dwell._kernels.polygon.guaranteed import corners_of

        env = self.envelope()
        n = corners_of(*self.kernel_arguments(), env)
        return env.corner[:n, :2].copy(), env.label[:n].copy()

    @property
    def _arcs(self) -> list[tuple[float, float] | None]:
        """Angles at which the piece after each corner begins and ends; None for straight ones."""
        start = np.arctan2(self.offsets[:, 1], self.offsets[:, 0])
        turn = np.mod(np.roll(start, -1) - start, 2.0 * math.pi)
        turn[turn > 2.0 * math.pi - SAME] = 0.0
        curved = [label >= 0 and self.radii[label] > 0.0 for label in self.borders]
        ends = zip(start.tolist(), (start + turn).tolist(), strict=True)
        return [arc if bent else None for arc, bent in zip(ends, curved, strict=True)]

    @cached_property
    def _extent(self) -> Extent:
        if self.empty:
            return 0.0, 0.0
        if self.dual:
            diameter, _, radius = _circle_round(self.offsets)
            return diameter, radius
        arcs = [_BoundaryPiece(self.boundary_at, *arc) for arc in self._arcs if arc is not None]
        pieces = [*map(_at_point, self.offsets), *arcs]
        return _widest(pieces), _circumradius(pieces)


class _BoundaryPiece(NamedTuple):
    """A piece of boundary: points at parameters from start to end."""

    at: Callable[[Floats], Points]
    start: float
    end: float

    def samples(self) -> Floats:
        """Parameters all along the piece."""
        return np.linspace(self.start, self.end, SAMPLES if self.start < self.end else 1)


def _at_point(place: Points) -> _BoundaryPiece:
    """A piece that is a single point."""
    return _BoundaryPiece(lambda t: np.tile(place, (len(t), 1)), 0.0, 0.0)


Star = StarCell | StarInterval | StarRegion


def guaranteed_cell(workspace: object, position: object, others: object, radii: object) -> Star:
    """What is certainly nearest to the agent at `position`, on the line, in the plane or in space.

    Agent j is somewhere within radii[j] (or `radii`, one number for all) of others[j].

    >>> from dwell.geometry import Box
    >>> cell = guaranteed_cell(Box((0, 0), (4, 1)), (1, 0.5), [(3, 0.5)], 1.0)
    >>> float(cell.radius(0.0))  # half of what is left of the distance, 2 - 1
    0.5
    """
    return _cell(workspace, position, others, radii, dual=False)


def dual_guaranteed_cell(
    workspace: object, position: object, others: object, radii: object
) -> Star:
    """All that may be nearest to the agent at `position`; arguments as for `guaranteed_cell`.

    >>> from dwell.geometry import Box
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


def _star_workspace(workspace: object) -> Convex:
    """The workspace, if there are guaranteed cells in it."""
    if not isinstance(workspace, ConvexRegion):
        return Polygon(workspace)
    n, name = workspace.dimension, type(workspace).__name__
    if n > 3:
        raise WorkspaceError(
            f"the workspace is {'an' if name[0] in 'AEIOU' else 'a'} {name} in {n} dimensions; "
            "there are guaranteed cells in 1, 2 and 3 dimensions only",
            code="geometry.dimension",
            key="workspace",
        )
    return workspace.hull


def _circle_round(points: Points) -> tuple[float, Points, float]:
    """Diameter of some points, center and radius of the smallest circle round them."""
    from dwell._kernels.common.extent import circle_round, make_ball_buffers

    diameter, x, y, radius = circle_round(len(points), in_space(points), make_ball_buffers())
    return float(diameter), np.array([x, y]), float(radius)


def _apart(first: Points, second: Points) -> tuple[float, int, int]:
    """The largest distance between points of two sets, and which ones they are."""
    gaps = lengths(first[:, None] - second[None])
    k, m = np.unravel_index(np.argmax(gaps), gaps.shape)
    return float(gaps[k, m]), int(k), int(m)


def _widest(pieces: list[_BoundaryPiece]) -> float:
    """Largest distance between two points of the pieces.

    Samples first; then each pair that may beat all others is refined.
    """
    places = [piece.at(piece.samples()) for piece in pieces]
    pairs = [(i, j) for j in range(len(pieces)) for i in range(j + 1)]
    rough = [_apart(places[i], places[j])[0] for i, j in pairs]
    least = (1.0 - RIVALS) * max(rough)
    close = [pair for pair, gap in zip(pairs, rough, strict=True) if gap >= least]
    return max([*rough, *(_refined(pieces[i], pieces[j])[0] for i, j in close)])


def _refined(first: _BoundaryPiece, second: _BoundaryPiece) -> tuple[float, Points]:
    """Largest distance between two pieces, and the point of the first: the best samples, moved."""
    s, t = first.samples(), second.samples()
    near, far = (WINDOW * (piece.end - piece.start) for piece in (first, second))
    best, place = 0.0, np.zeros(2)
    for _ in range(1 + ZOOMS):
        points = first.at(s)
        best, k, m = _apart(points, second.at(t))
        place = points[k]
        s = np.clip(s[k] + near, first.start, first.end)
        t = np.clip(t[m] + far, second.start, second.end)
        near, far = 0.5 * near, 0.5 * far
    return best, place


def _circumradius(pieces: list[_BoundaryPiece]) -> float:
    """Radius of the smallest circle round the pieces.

    The circle round some of their points is enlarged by the point farthest outside, until there is
    none: from below and from above the two bounds meet.
    """
    points = np.concatenate([piece.at(piece.samples()) for piece in pieces])
    radius = 0.0
    for _ in range(MAX_CIRCLES):
        _, middle, radius = _circle_round(points)
        far = [_refined(piece, _at_point(middle)) for piece in pieces]
        if max(gap for gap, _ in far) <= radius * (1.0 + 1e-13):
            break
        points = np.vstack([points, *(place for _, place in far)])
    return radius
