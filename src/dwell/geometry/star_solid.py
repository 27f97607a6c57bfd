"""Guaranteed and dual guaranteed cells in space: solids with curved sheets."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.geometry.box import Box
from dwell.geometry.known import as_place
from dwell.geometry.limits import as_rows
from dwell.geometry.polytope import Polytope

if TYPE_CHECKING:
    from dwell._kernels.shells.demands import Shell

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False)
class StarSolid:
    """The guaranteed cell of an agent in space, or the dual one; see `StarCell`.

    Its sheets are parts of hyperboloids turned about the lines to the other agents. Those of a
    guaranteed cell bulge outwards, those of a dual one curve inwards: so the hull of a dual cell
    is that of its corners.
    """

    workspace: Box | Polytope
    position: Points  # (3,)
    others: Points  # (k, 3)
    radii: Floats  # (k,)
    dual: bool

    @property
    def empty(self) -> bool:
        """Whether nothing is certain: another agent may stand at the same place."""
        return not self.dual and bool((lengths(self.others - self.position) <= self.radii).any())

    @property
    def corners(self) -> Points:
        """Where three or more walls or sheets meet, in the coordinates of the workspace, (k, 3).

        In no order. Cells bounded by few sheets may have none on them.
        """
        corners: Points = self.position + self.offsets
        return corners

    @cached_property
    def offsets(self) -> Points:
        """Corners relative to the agent, (k, 3)."""
        shell, _, _, count = self.found()
        found = shell.corner[:count]
        near = np.round(found / (1e-9 * self.workspace.diameter))  # each was found several times
        _, first = np.unique(near, axis=0, return_index=True)
        offsets: Points = found[np.sort(first)].copy()
        return offsets

    def radius(self, directions: object) -> Floats:
        """How far the cell reaches from the agent in each direction (..., 3); 0 if it is empty."""
        u = np.asarray(directions, dtype=np.float64)
        if self.empty:
            return np.zeros(u.shape[:-1])
        u = u / lengths(u)[..., None]
        b, c = self._demands
        reach: Floats = 1.0 / (dots(u[..., None, :], b) + c).max(axis=-1)
        return reach

    def contains(self, points: object) -> np.ndarray:
        """Whether each point lies in the cell, by its definition; the boundary belongs to it."""
        places = as_rows(points, len(self.position))
        inside = self.workspace.contains(places)
        own = lengths(places - self.position)
        sign = -1.0 if self.dual else 1.0
        for q, r in zip(self.others, self.radii, strict=True):
            inside &= own + sign * r <= lengths(places - q)
        return inside

    @cached_property
    def volume(self) -> float:
        """Volume, to about 1e-11 of it."""
        from dwell._kernels.general_terms import general_terms
        from dwell._kernels.shells.pair import moments_of

        if self.empty:
            return 0.0
        shell, *found = self.found()
        return float(moments_of(*found, self.position, general_terms(3, 1.0), shell)[1])

    @property
    def diameter(self) -> float:
        """Largest distance between two points of the cell, or a little more; never less.

        That of its corners, for a dual cell. For a guaranteed one that of a polyhedron round it,
        which is cut closer until it is hardly larger than the cell, as a rule by less than 1e-3.
        """
        return self._extent[0]

    @property
    def circumradius(self) -> float:
        """Radius of the smallest ball that holds the cell, or a little more: see `diameter`."""
        return self._extent[1]

    def distance_to_boundary(self, point: object) -> float:
        """How far `point` may move in any direction and stay in the cell; 0 if it is outside."""
        from dwell._kernels.shells.pair import gap_of

        place = as_place(point, "the point", 3) - self.position
        _, p, _, n, q, radius, normals, offsets = self.kernel_arguments()
        return max(0.0, float(gap_of(self.sign, place, p, n, q, radius, normals, offsets)))

    @property
    def sign(self) -> float:
        """1 for a guaranteed cell, -1 for a dual one, as the kernels take it."""
        return -1.0 if self.dual else 1.0

    def kernel_arguments(self) -> tuple[Any, ...]:
        """(sign, p, size, n, q, R, normals, offsets of the walls) as the kernels take them."""
        normals, offsets, size = walls_of(self.workspace)
        known = len(self.radii), self.others, self.radii
        return self.sign, self.position, size, *known, normals, offsets

    def found(self) -> tuple[Shell, int, int, int]:
        """The cell in working memory, and how many demands, borders and corners it has.

        The memory serves the next cell as well.
        """
        from dwell._kernels.shells.pair import corners_of

        return in_shell(
            lambda shell: (shell, *corners_of(*self.kernel_arguments(), shell)),
            len(self.radii),
            len(self.workspace.offsets),
        )

    @cached_property
    def _demands(self) -> tuple[Points, Floats]:
        """B (k, 3) and c (k,) of 1 / radius >= u . B + c: walls, then agents."""
        from dwell._kernels.shells.demands import HUGGING

        normals, offsets, size = walls_of(self.workspace)
        gaps = np.maximum(offsets - dots(normals, self.position), HUGGING * size)
        d, r = self.others - self.position, self.radii
        half = 0.5 * (lengths(d) - r) * (lengths(d) + r)
        apart = half > 0.0
        b = np.vstack([normals / gaps[:, None], d[apart] / half[apart, None]])
        return b, np.concatenate([np.zeros(len(gaps)), self.sign * r[apart] / half[apart]])

    @cached_property
    def _extent(self) -> tuple[float, float]:
        from dwell._kernels.shells.pair import extent_of
        from dwell.geometry.star_extent import extent_of_guaranteed

        if self.empty:
            return 0.0, 0.0
        if not self.dual:
            return extent_of_guaranteed(self)
        shell, _, _, count = self.found()
        diameter, circumradius = extent_of(count, shell.corner)
        return float(diameter), float(circumradius)

    @cached_property
    def rough_extent(self) -> tuple[float, float]:
        """Diameter and circumradius, up to two thirds too large but quickly told.

        Those of a polyhedron in which one plane stands for each sheet.
        """
        from dwell._kernels.shells.pair import extent_of, outer_corners

        if self.empty or self.dual:
            return self._extent
        shell, count = in_shell(
            lambda shell: (shell, outer_corners(*self.kernel_arguments()[1:], shell)),
            len(self.radii),
            len(self.workspace.offsets),
        )
        diameter, circumradius = extent_of(count, shell.corner)
        return float(diameter), float(circumradius)


_LOCAL = threading.local()  # working memory, for each thread its own


def in_shell(work: Callable[[Shell], T], others: int, walls: int) -> T:
    """What `work` gives with working memory for so many agents and walls, large enough for it."""
    from dwell._kernels.shells.demands import make_shell

    shell: Shell | None = getattr(_LOCAL, "kept", None)
    if shell is None or len(shell.label) < others + walls:
        shell = make_shell(max(2 * others, 16), walls)
    found = work(shell)
    while shell.flag[0]:  # a cell with more borders than cells have as a rule
        shell = make_shell(max(2 * others, 16), walls, 2 * len(shell.arc))
        found = work(shell)
    _LOCAL.kept = shell
    return found


@lru_cache(maxsize=8)
def walls_of(workspace: Box | Polytope) -> tuple[Points, Floats, float]:
    """Normals and offsets of the walls, and the size of the workspace, as the kernels take them."""
    normals = np.ascontiguousarray(workspace.normals, dtype=np.float64)
    offsets = np.ascontiguousarray(workspace.offsets, dtype=np.float64)
    return normals, offsets, float(workspace.diameter)
