"""Kernels of cells in discs and ellipses, with what they work on: see dwell._kernels.star.disc."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells.adaptive import Boxes
from dwell.cells.simplices import over_facet
from dwell.cells.weighted_region import WeightedRegion
from dwell.geometry import Curved, Workspace

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms


@lru_cache(maxsize=16)
def general_terms_of(ground: WeightedRegion) -> GeneralTerms:
    """The terms of a planar density as those of space, in the plane z = 0."""
    from dwell._kernels.common.density_terms import Terms, general_terms

    terms = ground.terms
    assert isinstance(terms, Terms)  # not a function, and planar
    where = np.argwhere(terms.polynomials != 0.0)
    powers = np.column_stack([where[:, 1:], np.zeros(len(where), dtype=np.int64)])
    origins = np.column_stack([terms.origins[where[:, 0]], np.zeros(len(where))])
    rows = terms.gaussians
    forms, roots = np.tile(np.eye(3), (2, len(rows), 1, 1))
    roots[:, 0, 0], roots[:, 0, 1], roots[:, 1, 1] = rows[:, 6:9].T
    centers = np.column_stack([rows[:, 1:3], np.zeros(len(rows))])
    monomials = (powers, terms.polynomials[tuple(where.T)], origins)
    return general_terms(3, terms.constant, monomials, (rows[:, 0].copy(), centers, forms, roots))


@final
class DiscCells:
    """Cells of agents at `places` (R, N, 2) in an ellipse, with the buffers of one thread."""

    def __init__(self, workspace: Workspace, places: Points) -> None:
        from dwell._kernels.polygon.buffers import make_scratch
        from dwell._kernels.star.buffers import Frame, make_boundary
        from dwell._kernels.star.ellipse import make_ring

        self.points = places[0]
        self.x, self.y = (np.ascontiguousarray(places[..., k]) for k in range(2))
        center, root = cast(Curved, workspace).root
        matrix = np.eye(3)
        matrix[:2, :2] = root
        self.frame = Frame(np.append(center, 0.0), matrix)
        self.walls = rectangle_round(workspace)
        ring = make_ring(places.shape[1])
        scratch = make_scratch(places.shape[1], len(ring.x))
        self.buffers = (scratch, ring, make_boundary(1, len(ring.x), 2 * len(ring.x) + 16))

    def measured(self, terms: Any, row: Ints, agent: Ints) -> Floats:
        """Rows of measurements: see dwell._kernels.star.total."""
        from dwell._kernels.star.disc import measure_many
        from dwell._kernels.star.total import COLUMNS

        out = np.empty((len(row), COLUMNS))
        measure_many(
            0, len(row), row, agent, self.x, self.y, *self.walls, self.frame, terms, *self.buffers,
            out,
        )  # fmt: skip
        return out

    def _given(self, row: int, agent: int) -> tuple[Any, ...]:
        return agent, self.x[row], self.y[row], *self.walls, self.frame

    def boxes_of(self, row: int, agent: int) -> Boxes:
        """The cell of an agent as boxes; one at a time."""
        from dwell._kernels.star.disc import boxes_of
        from dwell._kernels.star.surface import nodes_of_facet

        table = np.empty((len(self.buffers[2].piece), 8))
        count = boxes_of(*self._given(row, agent), *self.buffers, table)

        def nodes(boxes: Floats, rule: int, count: int) -> Floats:
            out = np.empty((len(boxes), count**2, 4))
            nodes_of_facet(rule, 0, boxes, self.frame, self.buffers[2], out)
            return out

        return Boxes(table[:count], nodes)

    def outline(self, agent: int) -> tuple[int, Points, Ints, int]:
        """(status, corners, labels of edges and arcs, the last agent compared with) of a cell.

        Of the first configuration.
        """
        from dwell._kernels.star.disc import ring_of

        status, corners, compared = ring_of(*self._given(0, agent), *self.buffers)
        scratch, ring, _ = self.buffers
        count, other = max(corners, 0), int(scratch.seen[compared - 1]) if compared else -1
        offsets = np.column_stack([ring.x[:count], ring.y[:count]])
        return status, offsets, ring.label[:count].copy(), other

    def facets(
        self, ground: WeightedRegion, agent: int, log_scale: float
    ) -> list[tuple[int, int, Floats]]:
        """(agent, other, moments 1, x, y, xx, xy, yy) of each edge of a cell."""
        from dwell._kernels.polygon.facets import borders_of

        place, (_, offsets, labels, _) = self.points[agent], self.outline(agent)
        own = np.flatnonzero(labels >= 0)
        a, b = offsets[own], np.roll(offsets, -1, axis=0)[own]
        moments = np.empty((len(own), 6))
        if ground.terms is None:
            for k, q in enumerate(labels[own]):
                edge, gap = np.array([[a[k], b[k]]]), self.points[q] - place
                moments[k] = over_facet(ground, place, edge, gap, log_scale)
        else:
            frame = np.zeros_like(own), a, b, place[None], np.array([log_scale])
            borders_of(0, len(own), *frame, ground.terms, moments)
        return [(agent, int(q), row) for q, row in zip(labels[own], moments, strict=True)]


def rectangle_round(workspace: Workspace) -> tuple[Floats, Floats]:
    """x and y of the corners of a rectangle that clearly holds the ellipse."""
    from dwell._kernels.star.ellipse import MARGIN

    (x, y), ((w11, w12), (_, w22)) = cast(Curved, workspace).root
    across = MARGIN * math.hypot(1.0 / w11, w12 / (w11 * w22))
    up = MARGIN / w22
    return (
        np.array([x - across, x + across, x + across, x - across]),
        np.array([y - up, y - up, y + up, y + up]),
    )
