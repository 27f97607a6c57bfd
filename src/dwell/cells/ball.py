"""Kernels of cells in balls and ellipsoids of space: see dwell._kernels.star.ball."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells.adaptive import Boxes
from dwell.cells.weighted_region import WeightedRegion
from dwell.geometry import Box, Curved, Workspace, polyhedra

MARGIN = 0.0625  # the box round the ellipsoid is larger by this share of its size
USUAL = 96  # planes that the buffers can hold, at first
ON_FACET = 14  # nodes each way on a facet, for functions
UPPER = np.triu_indices(3)


@final
class Configuration:
    """Agents at `points` in an ellipsoid, sorted by bins: what threads share."""

    def __init__(self, workspace: Workspace, points: Points) -> None:
        from dwell._kernels.star.buffers import Frame

        root = cast(Curved, workspace).root
        self.points = np.ascontiguousarray(points)
        self.frame = Frame(root.center, root.matrix)
        self.inverse = np.linalg.inv(root.matrix)
        self.solid = polyhedra.solid_of(box_round(workspace))
        self.grid = polyhedra.grid_of(self.points, looks=len(points))
        self.number = polyhedra.numbers_in(self.grid)


@final
class BallCells:
    """Cells of a configuration, with the buffers of one thread."""

    def __init__(self, configuration: Configuration, planes: int = USUAL) -> None:
        from dwell._kernels.space.memory import make_memory
        from dwell._kernels.star.buffers import PIECES, make_boundary

        self.configuration, self.planes = configuration, min(planes, len(configuration.points)) + 8
        self.memory = make_memory(len(configuration.points), configuration.solid)
        pieces = PIECES * self.planes
        self.boundary = make_boundary(self.planes, len(self.memory.x), pieces)

    @property
    def _given(self) -> tuple[Any, ...]:
        known = self.configuration
        return known.solid, known.grid, known.frame, self.memory, self.boundary

    def larger(self) -> BallCells:
        """The cells with larger buffers."""
        return BallCells(self.configuration, 4 * self.planes)

    def measured(self, terms: Any, row: Ints, agents: Ints) -> Floats:
        """Measurements of `agents`, all in this configuration: see dwell._kernels.star.total."""
        from dwell._kernels.star.ball import CROWDED, measure_many
        from dwell._kernels.star.total import COLUMNS, STATUS

        out = np.empty((len(agents), COLUMNS))
        measure_many(0, len(agents), self.configuration.number[agents], *self._given, terms, out)
        lacking = out[:, STATUS] == CROWDED
        if lacking.any():
            out[lacking] = self.larger().measured(terms, row[lacking], agents[lacking])
        return out

    def boxes_of(self, row: int, agent: int) -> Boxes:
        """The cell of an agent as boxes."""
        from dwell._kernels.star.ball import boxes_of, nodes_of_boxes
        from dwell._kernels.star.facets import FULL

        table = np.empty((2 * len(self.boundary.piece), 8))
        number = self.configuration.number[agent]
        count = boxes_of(number, *self._given, table)
        if count == FULL:
            return self.larger().boxes_of(row, agent)

        def nodes(boxes: Floats, rule: int, count: int) -> Floats:
            out = np.empty((len(boxes), count**3, 4))
            nodes_of_boxes(rule, number, boxes, *self._given, out)
            return out

        return Boxes(table[:count], nodes)

    def _facets_of(self, agent: int) -> tuple[int, Ints, Ints, BallCells]:
        """(status, agents behind its facets, agents compared with, where its boundary is)."""
        from dwell._kernels.star.ball import CROWDED, facets_of
        from dwell._kernels.star.buffers import BEHIND

        status, count, compared = facets_of(self.configuration.number[agent], *self._given)
        if status == CROWDED:
            return self.larger()._facets_of(agent)
        behind = self.boundary.facet[:count, BEHIND].astype(np.int64)
        order = self.configuration.grid.order
        return status, order[behind], order[self.memory.seen[:compared]], self

    def outline(self, agent: int) -> tuple[int, Points, Ints, int]:
        """(status, corners: none, agents behind its facets, the last agent compared with)."""
        status, behind, compared, _ = self._facets_of(agent)
        return status, np.empty((0, 3)), np.sort(behind), int(compared[-1]) if len(compared) else -1

    def facets(
        self, ground: WeightedRegion, agent: int, log_scale: float
    ) -> list[tuple[int, int, Floats]]:
        """(agent, other, moments 1, z and the upper half of z z') of each facet of a cell."""
        _, behind, _, where = self._facets_of(agent)
        place = self.configuration.points[agent]
        return [
            (agent, int(q), where._facet_moments(ground, f, place, log_scale))
            for f, q in enumerate(behind)
        ]

    def _facet_moments(
        self, ground: WeightedRegion, f: int, place: Points, log_scale: float
    ) -> Floats:
        from dwell._kernels.star.ball import facet_moments
        from dwell._kernels.star.buffers import FIRST, LAST
        from dwell._kernels.star.surface import nodes_of_facet

        inverse, b = self.configuration.inverse, self.boundary
        if ground.terms is None:
            pieces = np.arange(b.facet[f, FIRST], b.facet[f, LAST])
            boxes = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], (len(pieces), 1))
            boxes[:, 1] = pieces
            out = np.empty((len(pieces), ON_FACET**2, 4))
            nodes_of_facet(ON_FACET, f, boxes, self.configuration.frame, b, out)
            z, w = out[..., :3].reshape(-1, 3), out[..., 3].ravel()
            w = w * ground.density.at(place + z)
            m0, m1, m2 = w.sum(), w @ z, np.einsum("k,ki,kj->ij", w, z, z)
        else:
            upper = tuple(float(v) for v in inverse[UPPER])
            sums, center = np.zeros(10), tuple(float(v) for v in place)
            facet_moments(f, center, log_scale, upper, ground.terms, b, sums)
            m0, m1, m2 = sums[0], inverse @ sums[1:4], np.zeros((3, 3))
            m2[UPPER] = m2.T[UPPER] = sums[4:]
            m2 = inverse @ m2 @ inverse.T
        return np.concatenate([[m0], m1, m2[UPPER]])


def box_round(workspace: Workspace) -> Box:
    """A box that clearly holds the workspace."""
    lower, upper = workspace.bounds
    return _larger_box(tuple(lower.tolist()), tuple(upper.tolist()))


@lru_cache(maxsize=32)
def _larger_box(lower: tuple[float, ...], upper: tuple[float, ...]) -> Box:
    low, high = np.array(lower), np.array(upper)
    margin = MARGIN * (high - low)
    return Box(low - margin, high + margin)
