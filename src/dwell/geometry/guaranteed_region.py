"""Guaranteed and dual guaranteed cells: what they have in common, and those in space and in discs.

How wide a guaranteed cell between flat sides of space is, polyhedra round it tell, cut closer and
closer. The cell is convex: a plane that touches one of its sheets has all of the cell on one side.
So the polyhedron between such planes holds the cell, and its corners tell sizes that are never too
small. Where corners make it larger than the cell, the sheets below them are touched as well.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.geometry.box import Box
from dwell.geometry.ellipsoid import Ball, Ellipsoid
from dwell.geometry.polytope import Polytope
from dwell.geometry.validation import as_place, as_rows

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms
    from dwell._kernels.star.guaranteed import Enclosure

T = TypeVar("T")
Extent = tuple[float, float]  # diameter and circumradius
SPACE = 3  # coordinates in the kernels, where the plane is the one with z = 0
MARGIN = 1.1  # of the box round a curved workspace
NEAREST = 1e-12  # of the workspace's size: a side counts as no nearer to the agent than this
LEAST_CLEARANCE = 1e-10  # the same for a curved boundary, of 1 - |W (p - center)|**2
CLOSE = 1e-4  # of the size: what it may be too large by
MOST_ROUNDS = 30
AT_ONCE = 40  # corners that are cut off in a round
SURE = 1.0 + 1e-9  # corners are known to rounding only
ON_SHEET = 1e-9  # of the distance from the agent: nearer, a place lies on a sheet, not on a side


@dataclass(frozen=True, eq=False)
class GuaranteedBase(ABC):
    """A guaranteed cell, or the dual one, in any workspace: see `StarCell`."""

    workspace: Any
    position: Points  # (n,)
    others: Points  # (k, n)
    radii: Floats  # (k,)
    dual: bool

    @property
    def empty(self) -> bool:
        """Whether nothing is certain: another agent may be at the same place.

        A dual cell never is.
        """
        return not self.dual and bool((lengths(self.others - self.position) <= self.radii).any())

    @property
    def sign(self) -> float:
        """1 for a guaranteed cell, -1 for a dual one, as the kernels take it."""
        return -1.0 if self.dual else 1.0

    @property
    @abstractmethod
    def offsets(self) -> Points:
        """Corners relative to the agent, (k, n)."""

    @property
    def corners(self) -> Points:
        """Corners in the coordinates of the workspace, (k, n); in polygons counter-clockwise.

        In space in no order. Within curved boundaries only those between sheets.
        """
        corners: Points = self.position + self.offsets
        return corners

    def contains(self, points: object) -> np.ndarray:
        """Whether each point lies in the cell, by its definition; the boundary belongs to it."""
        places = as_rows(points, len(self.position))
        inside: np.ndarray = self.workspace.contains(places)
        own = lengths(places - self.position)
        for q, r in zip(self.others, self.radii, strict=True):
            inside &= own + self.sign * r <= lengths(places - q)
        return inside

    def radius(self, directions: object) -> Floats:
        """How far the cell reaches from the agent in each direction; 0 if it is empty.

        Directions are -1 or 1 on the line, angles in the plane, vectors (..., 3) in space.
        """
        u = np.asarray(directions, dtype=np.float64)
        if len(self.position) < SPACE:
            plane = len(self.position) == 2
            u = np.stack([np.cos(u), np.sin(u)], axis=-1) if plane else u[..., None]
        if self.empty:
            return np.zeros(u.shape[:-1])
        reach: Floats = 1.0 / self._gauge(u / lengths(u)[..., None])
        return reach

    def boundary_at(self, angles: Floats) -> Points:
        """Points of the boundary in the plane, seen from the agent."""
        away = np.column_stack([np.cos(angles), np.sin(angles)])
        places: Points = self.radius(angles)[:, None] * away
        return places

    def _gauge(self, u: Points) -> Floats:
        """1 / radius in directions u: the largest of u . B + c of flat sides and agents."""
        d, r = self.others - self.position, self.radii
        half = 0.5 * (lengths(d) - r) * (lengths(d) + r)
        apart = half > 0.0
        b, c = d[apart] / half[apart, None], self.sign * r[apart] / half[apart]
        found: Floats = (dots(u[..., None, :], b) + c).max(axis=-1, initial=0.0)
        if not self.workspace.flat:
            found = np.maximum(found, self._gauge_of_boundary(u))
            return found
        normals, corners = self.workspace.normals, self.workspace.vertices
        gaps = dots(normals, corners[[face[0] for face in self.workspace.faces]] - self.position)
        sides = normals / np.maximum(gaps, NEAREST * self.workspace.diameter)[:, None]
        found = np.maximum(found, dots(u[..., None, :], sides).max(axis=-1))
        return found

    def _gauge_of_boundary(self, u: Points) -> Floats:
        """1 / distance of a curved workspace's boundary in directions u."""
        a, clearance = self.workspace.root.seen_from(self.position)
        away = dots(u[..., None, :], self.workspace.root.matrix)
        square, along = dots(away, away), dots(away, a)
        clearance = max(clearance, LEAST_CLEARANCE)
        long = np.sqrt(along * along + square * clearance) + np.abs(along)  # without cancellation
        found: Floats = np.where(along < 0.0, square / long, long / clearance)
        return found

    @property
    @abstractmethod
    def volume(self) -> float:
        """Length, area or volume."""

    @property
    def area(self) -> float:
        """Area, in the plane."""
        return self.volume

    def distance_to_boundary(self, point: object) -> float:
        """How far `point` may move in any direction and stay in the cell; 0 if it is outside."""
        place = as_place(point, "the point", len(self.position)) - self.position
        return max(0.0, float(self._depth(place)))

    @abstractmethod
    def _depth(self, place: Points) -> float:
        """Distance from the boundary of a place seen from the agent; 0 or less outside."""

    @property
    @abstractmethod
    def _extent(self) -> Extent:
        """Diameter and circumradius."""

    @property
    def diameter(self) -> float:
        """Largest distance between two points of the cell, or a little more; never less.

        Of a dual cell between flat sides it is exact: it is that of the corners. In a guaranteed
        cell of a polygon the arcs are searched, to about 1e-12. In a polytope of space planes are
        put round it until hardly anything is left between, as a rule less than 1e-3. In a disc or
        an ellipse the diameter of a dual cell is within 1e-4, in a ball or an ellipsoid within a
        few hundredths; round a guaranteed cell there one plane stands for each sheet.
        """
        return self._extent[0]

    @property
    def circumradius(self) -> float:
        """Radius of the smallest ball that holds the cell, or a little more: see `diameter`."""
        return self._extent[1]


@final
@dataclass(frozen=True, eq=False)
class StarRegion(GuaranteedBase):
    """The guaranteed cell of an agent in space, in a disc or an ellipse, or the dual one.

    See `StarCell`. In space the sheets are parts of hyperboloids turned about the lines to the
    other agents. Those of a guaranteed cell bulge outwards, those of a dual one curve inwards.
    """

    workspace: Box | Polytope | Ball | Ellipsoid

    @cached_property
    def offsets(self) -> Points:
        """Corners relative to the agent, (k, n)."""
        from dwell._kernels.star.guaranteed import corners_of

        def listed(*known: Any) -> Points:
            count, corner = corners_of(self.sign, *known), known[-1].corner
            found: Points = corner[:count, : len(self.position)].copy()
            return found

        found = self.in_kernel(listed)
        near = np.round(found / (1e-9 * self.workspace.diameter))  # each was found several times
        _, first = np.unique(near, axis=0, return_index=True)
        offsets: Points = found[np.sort(first)]
        if not self.workspace.flat:
            offsets = offsets[self.workspace.contains(self.position + offsets)]
        return offsets

    @cached_property
    def volume(self) -> float:
        """Volume, or area; to about 1e-9 of it."""
        from dwell._kernels.common.density_terms import general_terms

        return 0.0 if self.empty else float(self.moments(general_terms(SPACE, 1.0))[1])

    def _depth(self, place: Points) -> float:
        from dwell._kernels.star.guaranteed import gap

        known = known_in(self.workspace, self.position, self.others, self.radii)
        depth: float = gap(self.sign, tuple(in_space(place).tolist()), *known)
        return depth

    def outline(self, points: int = 720) -> Points:
        """The boundary in the plane as a polygon for drawing."""
        angles = np.linspace(0.0, 2.0 * math.pi, points, endpoint=False)
        return self.position + self.boundary_at(angles)

    def in_kernel(self, work: Callable[..., T], components: int = 0) -> T:
        """`work(known, workspace, buffers)`, see `known_in`, with enough working memory."""
        known = known_in(self.workspace, self.position, self.others, self.radii)
        return with_buffers(work, known, components)

    def moments(self, terms: GeneralTerms) -> tuple[float, ...]:
        """(log_scale, mass, first moments, polar, error): see dwell._kernels.star.guaranteed."""
        from dwell._kernels.star.guaranteed import moments_of

        found: tuple[float, ...] = self.in_kernel(
            lambda *known: moments_of(self.sign, terms, *known), len(terms.weights)
        )
        return found

    @cached_property
    def _extent(self) -> Extent:
        if self.dual or self.empty or not self.workspace.flat:
            return self.rough_extent
        return _extent_of_guaranteed(self)

    @cached_property
    def rough_extent(self) -> Extent:
        """Diameter and circumradius, with one plane for each sheet of a guaranteed cell.

        Of a guaranteed cell up to two thirds too large, but quick.
        """
        from dwell._kernels.star.guaranteed import outer_extent

        if self.empty:
            return 0.0, 0.0
        diameter, circumradius = self.in_kernel(lambda *known: outer_extent(self.sign, *known))
        return float(diameter), float(circumradius)


def in_space(place: Points) -> Points:
    """A place as the kernels take it: with three coordinates, the last 0 in the plane."""
    padded = np.zeros((*place.shape[:-1], SPACE))
    padded[..., : place.shape[-1]] = place
    return padded


def known_in(
    workspace: Box | Polytope | Ball | Ellipsoid, position: Points, others: Points, radii: Floats
) -> tuple[Any, Enclosure]:
    """(what is known of all agents, workspace) as the kernels take them."""
    lean, clearance = np.zeros(SPACE), 1.0
    if isinstance(workspace, Ball | Ellipsoid):
        a, clearance = workspace.root.seen_from(position)
        lean = in_space(-a)
    reach = np.ascontiguousarray(radii, dtype=np.float64)
    places = in_space(np.asarray(others, dtype=np.float64).reshape(len(reach), len(position)))
    known = (in_space(position), lean, float(clearance), len(reach), places, reach)
    return known, enclosure_of(workspace)


_LOCAL = threading.local()  # working memory, for each thread its own


def with_buffers(work: Callable[..., T], known: tuple[Any, Enclosure], components: int) -> T:
    """`work(*known, buffers)` with working memory that is large enough for it."""
    from dwell._kernels.star.buffers import make_sheet_buffers

    others, flat = known[0][3], len(known[1].offsets)
    buffers = _LOCAL.__dict__.pop("kept", None)  # not there for cells within `work`
    if buffers is None or len(buffers.label) < others + flat or len(buffers.base) < components:
        buffers = make_sheet_buffers(max(2 * others, 16), flat, components)
    found = work(*known, buffers)
    scale = 1
    while buffers.flag[0]:  # a cell with more borders than cells have as a rule
        scale *= 4
        buffers = make_sheet_buffers(max(2 * others, 16), flat, components, scale)
        found = work(*known, buffers)
    _LOCAL.kept = buffers
    return found


@lru_cache(maxsize=8)
def enclosure_of(workspace: Box | Polytope | Ball | Ellipsoid) -> Enclosure:
    """The workspace as the kernels take it, with a third axis of its own in the plane."""
    from dwell._kernels.star.guaranteed import Enclosure

    n, size = workspace.dimension, float(workspace.diameter)
    matrix, axes = np.eye(SPACE) / size, np.eye(SPACE)
    center, sizes = np.zeros(SPACE), np.full(SPACE, size)
    curved = isinstance(workspace, Ball | Ellipsoid)
    if isinstance(workspace, Ball | Ellipsoid):
        root = workspace.root
        matrix[:n, :n], axes[:n, :n] = root.matrix, workspace.axes
        center[:n], sizes[:] = root.center, max(workspace.semi_axes)
        sizes[:n] = workspace.semi_axes
        normals = in_space(np.vstack([workspace.axes, -np.asarray(workspace.axes)]))
        offsets = dots(normals, center) + MARGIN * np.tile(workspace.semi_axes, 2)
    else:
        normals = np.ascontiguousarray(workspace.normals, dtype=np.float64)
        offsets = np.ascontiguousarray(workspace.offsets, dtype=np.float64)
    upper = matrix[np.triu_indices(SPACE)]
    return Enclosure(n == 2, curved, size, normals, offsets, upper, center, sizes, axes)


def _extent_of_guaranteed(cell: StarRegion) -> Extent:
    """Upper bounds on the size of a guaranteed cell in a polytope of space that is not empty."""
    from scipy.spatial import HalfspaceIntersection, QhullError

    best = cell.rough_extent
    try:
        round_it = HalfspaceIntersection(_first_planes(cell), _inside(cell), incremental=True)
        for _ in range(MOST_ROUNDS):
            corners = round_it.intersections
            corners = np.ascontiguousarray(corners[np.isfinite(corners).all(axis=1)])
            best, wrong = _judged(cell, corners, best)
            if not len(wrong):
                break
            round_it.add_halfspaces(_planes_towards(cell, wrong))
    except QhullError:  # so flat that nothing lies inside, or corners that cannot be distinguished
        pass
    return best


def _judged(cell: StarRegion, corners: Points, best: Extent) -> tuple[Extent, Points]:
    """The better bounds, and the corners that make them too large."""
    found = _extent_of(corners)
    best = min(best[0], SURE * found[0]), min(best[1], SURE * found[1])
    inner = corners * np.minimum(cell.radius(corners) / lengths(corners), 1.0)[:, None]
    least = _extent_of(inner)
    apart = lengths(corners[:, None] - corners[None]).max(axis=1) / least[0]
    # The smallest ball is not at hand; no point farther from its middle than the radius matters.
    wide = (apart > 1.0 + CLOSE) & (best[0] > (1.0 + CLOSE) * least[0])
    if best[1] > (1.0 + CLOSE) * least[1]:
        wide |= lengths(corners - inner) > CLOSE * least[1]
    order = np.argsort(-apart, kind="stable")
    return best, corners[order[wide[order]][:AT_ONCE]]


def _extent_of(points: Points) -> Extent:
    from dwell._kernels.common.extent import make_ball_buffers
    from dwell._kernels.star.extent import extent

    diameter, circumradius = extent(len(points), points, make_ball_buffers())
    return float(diameter), float(circumradius)


def _inside(cell: StarRegion) -> Points:
    """A point well inside: the mean of some points of the boundary."""
    grid = np.array([u for u in product((-1.0, 0.0, 1.0), repeat=SPACE) if any(u)])
    middle: Points = ((cell.radius(grid) / lengths(grid))[:, None] * grid).mean(axis=0)
    return middle


def _first_planes(cell: StarRegion) -> Points:
    """The workspace's sides, and for each sheet the plane that touches it on its axis.

    As rows (n, -g) of n . z <= g.
    """
    sides, apart = np.asarray(cell.workspace.normals), cell.others - cell.position
    gaps = np.maximum(np.asarray(cell.workspace.offsets) - dots(sides, cell.position), 0.0)
    far = lengths(apart)
    normals = np.vstack([sides, apart / far[:, None]])
    return np.column_stack([normals, -np.concatenate([gaps, 0.5 * (far - cell.radii)])])


def _planes_towards(cell: StarRegion, corners: Points) -> Points:
    """Planes that touch the sheets below these corners."""
    places = corners * (cell.radius(corners) / lengths(corners))[:, None]
    apart = cell.others - cell.position
    slack = np.abs(lengths(places[:, None] - apart) - lengths(places)[:, None] - cell.radii)
    theirs = places - apart[slack.argmin(axis=1)]
    steep = places / lengths(places)[:, None] - theirs / lengths(theirs)[:, None]
    size = lengths(steep)
    ready = (slack.min(axis=1) <= ON_SHEET * lengths(places)) & (size > 0.0)
    normals = steep[ready] / size[ready, None]
    return np.column_stack([normals, -dots(normals, places[ready])])
