"""Cells in a disc or an ellipse, arcs and all, with what they weigh.

The boundary is not replaced by a polygon: see dwell._kernels.curved. Densities that have terms are
integrated to within rounding; any other function by adaptive quadrature, with a bound on the error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.density.borders import Borders
from dwell.density.ground import Ground
from dwell.density.looking import Looks, in_blocks
from dwell.density.plane_borders import moments_along
from dwell.density.tessellation import first_coincidence
from dwell.errors import DensityError
from dwell.geometry import Curved, Workspace
from dwell.geometry.cell_shape import SLACK, AnyCell, Measure
from dwell.geometry.limits import as_rows
from dwell.geometry.voronoi import coincident

if TYPE_CHECKING:
    from dwell._kernels.curved.cells import Ring
    from dwell._kernels.scratch import Scratch

TINY = np.finfo(float).tiny
ARC = -1  # what `CurvedCell.borders` says of an arc


class Ellipse(NamedTuple):
    """|W (z - center)| <= 1 with W upper triangular: what the kernels take."""

    x: float
    y: float
    w11: float
    w12: float
    w22: float


@final
@dataclass(frozen=True, eq=False)
class CurvedCell(AnyCell):
    """A Voronoi cell in a disc or an ellipse, in the frame of its own agent.

    The piece from corner k to corner k + 1 is straight if `borders[k]` >= 0, with that agent behind
    it, and an arc of the workspace's boundary if it is -1. A cell without corners is empty, or all
    of the workspace (`whole`).
    """

    agent: int
    position: Points  # (2,)
    offsets: Points  # (n, 2) corners relative to the agent, counter-clockwise
    borders: Ints  # (n,)
    seen: Ints  # agents looked at to make the cell, nearest first
    whole: bool
    ellipse: Ellipse

    @property
    def empty(self) -> bool:
        """Whether the cell has no inside."""
        return len(self.offsets) == 0 and not self.whole

    @property
    def volume(self) -> float:
        """Its area; 0 if it is empty."""
        return self._measure.volume

    @property
    def centroid(self) -> Points:
        """Middle of its area, whatever the density, (2,); the agent's place if it is empty."""
        return self.position + self._measure.middle

    def contains(self, points: object) -> np.ndarray:
        """Whether each point (k, 2) lies in the cell, its boundary included (up to rounding)."""
        rows = as_rows(points, 2)
        if self.empty:
            return np.zeros(len(rows), dtype=bool)
        x, y, w11, w12, w22 = self.ellipse
        dx, dy = rows[:, 0] - x, rows[:, 1] - y
        inside: np.ndarray = np.hypot(w11 * dx + w12 * dy, w22 * dy) <= 1.0 + SLACK
        local = rows - self.position
        for k in np.flatnonzero(self.borders >= 0):
            a, b = self.offsets[[k, (k + 1) % len(self.offsets)]]
            step = (b - a) / max(math.hypot(*(b - a)), TINY)
            left = step[0] * (local[:, 1] - a[1]) - step[1] * (local[:, 0] - a[0])
            inside &= left >= -SLACK / w22
        return inside

    @cached_property
    def _measure(self) -> Measure:
        if self.empty:
            return Measure(0.0, np.zeros(2))
        area, first = _in_circle(self._round_corners, self.borders == ARC, self.whole)
        x, y, w11, w12, w22 = self.ellipse
        dy = first[1] / area / w22
        dx = (first[0] / area - w12 * dy) / w11
        middle = np.array([dx + (x - self.position[0]), dy + (y - self.position[1])])
        return Measure(area / (w11 * w22), middle)

    @property
    def _round_corners(self) -> Points:
        """Corners as seen where the ellipse is the unit circle, (n, 2)."""
        x, y, w11, w12, w22 = self.ellipse
        dx = self.offsets[:, 0] + (self.position[0] - x)
        dy = self.offsets[:, 1] + (self.position[1] - y)
        return np.column_stack([w11 * dx + w12 * dy, w22 * dy])

    @property
    def border_sizes(self) -> Floats:
        """Length of the chord of each piece; of an edge its own length."""
        steps = np.roll(self.offsets, -1, axis=0) - self.offsets
        return np.hypot(steps[:, 0], steps[:, 1])

    def edge_with(self, other: int) -> Points | None:
        """The edge shared with agent `other`, (2, 2) in workspace coordinates; None if none is."""
        k = self._border_with(other)
        if k is None:
            return None
        return self.position + self.offsets[[k, (k + 1) % len(self.offsets)]]

    def outline(self, per_turn: int = 360) -> Points:
        """Points along the boundary, in workspace coordinates: for drawing, not for computing."""
        if self.whole:
            return self.position + self._arc(0.0, 2.0 * math.pi, per_turn)[:-1]
        parts = []
        for k, label in enumerate(self.borders):
            parts.append(self.offsets[k : k + 1])
            if label == ARC:
                ends = self.offsets[[k, (k + 1) % len(self.offsets)]]
                first, last = (self._angle(end) for end in ends)
                last += 2.0 * math.pi if last < first else 0.0
                parts.append(self._arc(first, last, per_turn)[1:-1])
        outline: Points = self.position + np.concatenate([np.empty((0, 2)), *parts])
        return outline

    def _angle(self, offset: Points) -> float:
        """Where a boundary point lies on the circle that W makes of the ellipse."""
        x, y, w11, w12, w22 = self.ellipse
        dx, dy = offset[0] + (self.position[0] - x), offset[1] + (self.position[1] - y)
        return math.atan2(w22 * dy, w11 * dx + w12 * dy)

    def _arc(self, first: float, last: float, per_turn: int) -> Points:
        count = max(2, math.ceil(per_turn * (last - first) / (2.0 * math.pi)) + 1)
        angle = np.linspace(first, last, count)
        x, y, w11, w12, w22 = self.ellipse
        dy = np.sin(angle) / w22
        dx = (np.cos(angle) - w12 * dy) / w11
        return np.column_stack([dx + (x - self.position[0]), dy + (y - self.position[1])])


def _in_circle(corners: Points, arcs: np.ndarray, whole: bool) -> tuple[float, Points]:
    """Area and first moments of a convex region whose curved pieces are arcs of the unit circle."""
    if whole:
        return math.pi, np.zeros(2)
    after = np.roll(corners, -1, axis=0)
    cross = corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]
    areas, firsts = [*(0.5 * cross)], [*(cross[:, None] * (corners + after) / 6.0)]
    for (ax, ay), (bx, by) in zip(corners[arcs], after[arcs], strict=True):
        turn = math.atan2(by, bx) - math.atan2(ay, ax)
        turn += 2.0 * math.pi if turn <= 0.0 else 0.0
        half = math.atan2(ay, ax) + 0.5 * turn
        areas.append(0.5 * (turn - math.sin(turn)))  # between the arc and its chord
        pull = 2.0 / 3.0 * math.sin(0.5 * turn) ** 3
        firsts.append(pull * np.array([math.cos(half), math.sin(half)]))
    return math.fsum(areas), np.sum(firsts, axis=0)


def ellipse_of(workspace: Workspace) -> Ellipse:
    """The workspace as the kernels take it; its factor W keeps its digits in thin ellipses."""
    curved = curved_of(workspace)
    rows = [
        [Fraction(float(v)) / Fraction(float(size)) for v in row]
        for row, size in zip(curved.axes, curved.semi_axes, strict=True)
    ]
    square = sum(row[0] * row[0] for row in rows)
    mixed = sum(row[0] * row[1] for row in rows)
    det = rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
    w11 = math.sqrt(float(square))
    x, y = (float(v) for v in curved.center)
    return Ellipse(x, y, w11, float(mixed) / w11, abs(float(det)) / w11)


def curved_of(workspace: Workspace) -> Curved:
    """The workspace, known to be a ball or an ellipsoid."""
    return cast(Curved, workspace)


def rectangle_round(ellipse: Ellipse) -> tuple[Floats, Floats]:
    """x and y of the corners of a rectangle that clearly holds the ellipse."""
    from dwell._kernels.curved.cells import MARGIN

    x, y, w11, w12, w22 = ellipse
    across = MARGIN * math.hypot(1.0 / w11, w12 / (w11 * w22))
    up = MARGIN / w22
    return (
        np.array([x - across, x + across, x + across, x - across]),
        np.array([y - up, y - up, y + up, y + up]),
    )


def looks(
    ground: Ground, positions: Points, row: Ints, agent: Ints, *, threads: int | None = 1
) -> Looks:
    """agent[k] looks in configuration row[k] of `positions` (R, N, 2).

    The same bits on any number of threads.
    """
    if ground.terms is None:
        from dwell.density.disc_adaptive import looks_by_quadrature

        return looks_by_quadrature(ground, positions, row, agent)
    from dwell._kernels.cells import COINCIDENT
    from dwell._kernels.curved import look as kernel
    from dwell._kernels.look import NO_MASS

    ellipse = ellipse_of(ground.workspace)
    walls = rectangle_round(ellipse)
    x, y = (np.ascontiguousarray(positions[..., k], dtype=np.float64) for k in range(2))
    out = np.empty((len(row), kernel.COLUMNS))

    def work(lo: int, hi: int) -> None:
        kernel.look_many(
            lo, hi, row, agent, x, y, *walls, tuple(ellipse), ground.terms, True, out,
            *_memory(x.shape[1]),
        )  # fmt: skip

    in_blocks(work, len(row), threads)
    column = np.ascontiguousarray(out.T)
    empty = column[kernel.ROW_STATUS] == NO_MASS
    error = np.ascontiguousarray(out[:, kernel.ROW_X : kernel.ROW_Y + 1])
    if empty.any():
        places = np.column_stack([x[row[empty], agent[empty]], y[row[empty], agent[empty]]])
        error[empty] = ground.workspace.nearest(places) - places
    squared = column[kernel.NEAREST]
    return Looks(
        met=column[kernel.ROW_STATUS] == COINCIDENT,
        empty=empty,
        error=error,
        log_scale=column[kernel.ROW_SCALE],
        mass=column[kernel.ROW_MASS],
        polar=column[kernel.ROW_POLAR],
        neighbors=column[kernel.NEIGHBORS].astype(np.int64),
        nearest=np.sqrt(np.where(squared >= 0.0, squared, np.inf)),
        second=column[kernel.SECOND],
    )


def cells(
    workspace: Workspace, positions: Points, agents: Iterable[int] | None = None
) -> list[CurvedCell]:
    """The cells of `agents` (all, by default) among `positions` (N, 2)."""
    from dwell._kernels.cells import COINCIDENT
    from dwell._kernels.curved.cells import WHOLE
    from dwell._kernels.curved.look import corners_of

    ellipse = ellipse_of(workspace)
    walls = rectangle_round(ellipse)
    x, y = (np.ascontiguousarray(positions[:, k], dtype=np.float64) for k in range(2))
    scratch, ring = _memory(len(x))
    found = []
    for p in range(len(x)) if agents is None else agents:
        n, looked = corners_of(p, x, y, *walls, tuple(ellipse), False, scratch, ring)
        seen = scratch.seen[:looked].copy()
        if n == COINCIDENT:
            raise coincident(p, int(seen[-1]), positions[p])
        count = max(n, 0)
        offsets = np.column_stack([ring.x[:count], ring.y[:count]])
        labels = ring.label[:count].copy()
        found.append(CurvedCell(p, positions[p], offsets, labels, seen, n == WHOLE, ellipse))
    return found


def borders(ground: Ground, positions: Points, *, agents: int | None = None) -> Borders:
    """All borders of the tessellation by `positions`, (N, 2); of its first `agents` cells only.

    The workspace's own boundary is no border: it does not move with the agents.
    """
    points = np.ascontiguousarray(positions, dtype=np.float64)
    count = len(points) if agents is None else agents
    if ground.terms is None:
        return _borders_by_quadrature(ground, points, count)
    from dwell._kernels import borders as columns
    from dwell._kernels.cells import COINCIDENT
    from dwell._kernels.curved.look import borders_of
    from dwell._kernels.look import NO_MASS
    from dwell._kernels.terms import Terms, is_exact

    assert isinstance(ground.terms, Terms)
    if not is_exact(ground.terms):
        raise DensityError(
            "on a grid of points centroids are piecewise constant and have no derivatives; "
            "integrate exactly",
            code="density.derivatives",
        )
    ellipse = ellipse_of(ground.workspace)
    walls = rectangle_round(ellipse)
    x, y = (np.ascontiguousarray(points[:, k]) for k in range(2))
    room, filled = 8 * count + 16, columns.FULL
    memory = _memory(len(x))
    while filled == columns.FULL:
        found, rows = np.empty((count, columns.CELL_COLUMNS)), np.empty((room, columns.COLUMNS))
        filled = borders_of(
            0, count, x, y, *walls, tuple(ellipse), ground.terms, found, rows, *memory
        )
        room *= 2
    if (found[:, columns.STATUS] == COINCIDENT).any():
        raise first_coincidence(points)
    rows = rows[:filled]
    moments = rows[:, columns.M :]
    agent, other = (rows[:, k].astype(np.int64) for k in (columns.AGENT, columns.OTHER))
    empty = found[:, columns.STATUS] == NO_MASS
    errors = found[:, columns.ERROR_X : columns.ERROR_Y + 1]
    if empty.any():
        places = points[:count][empty]
        errors[empty] = ground.workspace.nearest(places) - places
    return Borders(
        masses=found[:, columns.MASS],
        log_scales=found[:, columns.LOG_SCALE],
        errors=errors,
        empty=empty,
        agent=agent,
        other=other,
        gap=points[other] - points[agent],
        m0=moments[:, 0],
        m1=moments[:, 1:3],
        m2=moments[:, [3, 4, 4, 5]].reshape(-1, 2, 2),
    )


def _borders_by_quadrature(ground: Ground, points: Points, count: int) -> Borders:
    """The same for densities that only Python can evaluate."""
    from dwell.density.disc_adaptive import looks_by_quadrature

    everybody = np.arange(count)
    seen = looks_by_quadrature(ground, points[None], np.zeros_like(everybody), everybody)
    if seen.met.any():
        raise first_coincidence(points)
    rows = []
    for cell in cells(ground.workspace, points, range(count)):
        for k in np.flatnonzero(cell.borders >= 0):
            a, b = cell.offsets[k], cell.offsets[(k + 1) % len(cell.offsets)]
            moments = moments_along(ground.density, cell.position, a, b)
            rows.append((cell.agent, int(cell.borders[k]), moments))
    agent = np.array([row[0] for row in rows], dtype=np.int64)
    other = np.array([row[1] for row in rows], dtype=np.int64)
    along = np.array([row[2] for row in rows]).reshape(-1, 6)
    return Borders(
        masses=seen.mass,
        log_scales=seen.log_scale,
        errors=seen.error,
        empty=seen.empty,
        agent=agent,
        other=other,
        gap=points[other] - points[agent],
        m0=along[:, 0],
        m1=along[:, 1:3],
        m2=along[:, [3, 4, 4, 5]].reshape(-1, 2, 2),
    )


def _memory(agents: int) -> tuple[Scratch, Ring]:
    """Working memory of one thread."""
    from dwell._kernels.curved.cells import make_ring
    from dwell._kernels.scratch import make_scratch

    ring = make_ring(agents)
    return make_scratch(agents, len(ring.x)), ring
