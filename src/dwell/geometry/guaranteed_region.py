"""Guaranteed and dual guaranteed cells in space, and in discs and ellipses."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.geometry.box import Box
from dwell.geometry.ellipsoid import Ball, Ellipsoid
from dwell.geometry.guaranteed_base import GuaranteedBase
from dwell.geometry.polytope import Polytope
from dwell.geometry.validation import as_place

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms
    from dwell._kernels.star.buffers import SheetBuffers
    from dwell._kernels.star.guaranteed import Enclosure

T = TypeVar("T")
SPACE = 3  # coordinates in the kernels, where the plane is the one with z = 0
MARGIN = 1.1  # of the box round a curved workspace


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

        n = self.workspace.dimension
        found = self.in_kernel(
            lambda buffers, *known: buffers.corner[
                : corners_of(self.sign, *known, buffers), :n
            ].copy()
        )
        near = np.round(found / (1e-9 * self.workspace.diameter))  # each was found several times
        _, first = np.unique(near, axis=0, return_index=True)
        offsets: Points = found[np.sort(first)]
        return (
            offsets[self.workspace.contains(self.position + offsets)] if self._curved else offsets
        )

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
        b, c = self._gauge
        found = (dots(u[..., None, :], b) + c).max(axis=-1, initial=0.0)
        if self._curved:
            found = np.maximum(found, self._boundary_gauge(u))
        reach: Floats = 1.0 / found
        return reach

    @cached_property
    def volume(self) -> float:
        """Volume, or area; to about 1e-9 of it."""
        from dwell._kernels.common.density_terms import general_terms

        return 0.0 if self.empty else float(self.moments(general_terms(SPACE, 1.0))[1])

    def distance_to_boundary(self, point: object) -> float:
        """How far `point` may move in any direction and stay in the cell; 0 if it is outside."""
        from dwell._kernels.star.guaranteed import gap

        z = in_space(as_place(point, "the point", len(self.position)) - self.position)
        return max(0.0, float(gap(self.sign, tuple(z.tolist()), *self.kernel_arguments())))

    def outline(self, points: int = 720) -> Points:
        """The boundary in the plane as a polygon for drawing."""
        angles = np.linspace(0.0, 2.0 * math.pi, points, endpoint=False)
        away = np.column_stack([np.cos(angles), np.sin(angles)])
        ring: Points = self.position + self.radius(angles)[:, None] * away
        return ring

    def kernel_arguments(self) -> tuple[Any, Enclosure]:
        """(what is known of all agents, workspace) as the kernels take them."""
        return known_in(self.workspace, self.position, self.others, self.radii)

    def in_kernel(self, work: Callable[..., T], components: int = 0) -> T:
        """`work(buffers, known, workspace)` with enough working memory."""
        known = self.kernel_arguments()
        return with_buffers(lambda buffers: work(buffers, *known), known, components)

    def moments(self, terms: GeneralTerms) -> tuple[float, ...]:
        """(log_scale, mass, first moments, polar, error): see dwell._kernels.star.guaranteed."""
        from dwell._kernels.star.guaranteed import moments_of

        found: tuple[float, ...] = self.in_kernel(
            lambda buffers, *known: moments_of(self.sign, *known, terms, buffers),
            len(terms.weights),
        )
        return found

    def nodes(self, parts: int) -> Floats:
        """Points of the boundary, seen from the agent, and flux of y through them, (k, n + 1)."""
        from dwell._kernels.star.guaranteed import nodes_of

        def listed(buffers: SheetBuffers, *known: Any) -> Floats:
            count = nodes_of(parts, self.sign, *known, buffers, np.empty((0, 4)))
            table = np.empty((count, 4))
            nodes_of(parts, self.sign, *known, buffers, table)
            return table

        table: Floats = self.in_kernel(listed)
        return table if self.workspace.dimension == SPACE else np.delete(table, 2, axis=1)

    @property
    def _curved(self) -> bool:
        return isinstance(self.workspace, Ball | Ellipsoid)

    @cached_property
    def _gauge(self) -> tuple[Points, Floats]:
        """B (k, n) and c (k,) of 1 / radius >= u . B + c: flat sides, then agents."""
        from dwell._kernels.star.arrangement import NEAREST

        n = self.workspace.dimension
        d, r = self.others - self.position, self.radii
        half = 0.5 * (lengths(d) - r) * (lengths(d) + r)
        apart = half > 0.0
        b, c = d[apart] / half[apart, None], self.sign * r[apart] / half[apart]
        if self._curved:
            return b, c
        site = enclosure_of(self.workspace)
        normals = site.normals[:, :n]
        gaps = np.maximum(site.offsets - dots(normals, self.position), NEAREST * site.size)
        return np.vstack([normals / gaps[:, None], b]), np.concatenate([np.zeros(len(gaps)), c])

    def _boundary_gauge(self, u: Points) -> Floats:
        """1 / distance of a curved workspace's boundary in directions u."""
        assert isinstance(self.workspace, Ball | Ellipsoid)
        root = self.workspace.root
        a, clearance = root.seen_from(self.position)
        away = dots(u[..., None, :], root.matrix)
        square, along = dots(away, away), -dots(away, a)
        clearance = max(clearance, 1e-10)
        curve = np.sqrt(along * along + square * clearance)
        found: Floats = np.where(
            along > 0.0,
            square / np.where(along > 0.0, along + curve, 1.0),
            (curve - along) / clearance,
        )
        return found

    @cached_property
    def _extent(self) -> tuple[float, float]:
        from dwell.geometry.guaranteed_extent import extent_of_guaranteed

        if self.empty:
            return 0.0, 0.0
        return self.rough_extent if self.dual or self._curved else extent_of_guaranteed(self)

    @cached_property
    def rough_extent(self) -> tuple[float, float]:
        """Diameter and circumradius, with one plane for each sheet of a guaranteed cell.

        Of a guaranteed cell up to two thirds too large, but quick.
        """
        from dwell._kernels.star.guaranteed import outer_extent

        if self.empty:
            return 0.0, 0.0
        diameter, circumradius = self.in_kernel(
            lambda buffers, *known: outer_extent(self.sign, *known, buffers)
        )
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


def with_buffers(
    work: Callable[[SheetBuffers], T], known: tuple[Any, Enclosure], components: int
) -> T:
    """The result of `work` with working memory for what is known, large enough for it."""
    from dwell._kernels.star.buffers import make_sheet_buffers

    others, flat = known[0][3], len(known[1].offsets)
    buffers: SheetBuffers | None = getattr(_LOCAL, "kept", None)
    if buffers is None or len(buffers.label) < others + flat or len(buffers.base) < components:
        buffers = make_sheet_buffers(max(2 * others, 16), flat, components)
    found = work(buffers)
    scale = 1
    while buffers.flag[0]:  # a cell with more borders than cells have as a rule
        scale *= 4
        buffers = make_sheet_buffers(max(2 * others, 16), flat, components, scale)
        found = work(buffers)
    _LOCAL.kept = buffers
    return found


@lru_cache(maxsize=8)
def enclosure_of(workspace: Box | Polytope | Ball | Ellipsoid) -> Enclosure:
    """The workspace as the kernels take it, with a third axis of its own in the plane."""
    from dwell._kernels.star.guaranteed import Enclosure

    n, size = workspace.dimension, float(workspace.diameter)
    matrix, axes = np.eye(SPACE) / size, np.eye(SPACE)
    center, sizes = np.zeros(SPACE), np.full(SPACE, size)
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
    curved = isinstance(workspace, Ball | Ellipsoid)
    upper = matrix[np.triu_indices(SPACE)]
    return Enclosure(n == 2, curved, size, normals, offsets, upper, center, sizes, axes)
