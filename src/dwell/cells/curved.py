"""Voronoi cells in discs, ellipses, balls and ellipsoids, by the kernels of dwell._kernels.star."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast, final

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.cells.adaptive import Boxes
from dwell.cells.curved_cell import ARC
from dwell.cells.simplices import over_facet
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.base import Density, general_terms_of
from dwell.geometry import Box, Curved, Workspace, polyhedra
from dwell.geometry.ellipsoid import Root

if TYPE_CHECKING:
    from dwell._kernels.common.density_terms import GeneralTerms
    from dwell._kernels.star.buffers import Boundary

SPACE = 3  # coordinates in the kernels, where the plane is the one with z = 0
MARGIN = 0.0625  # the box round the workspace is larger by this share of its size: clearly outside
USUAL = 96  # planes that the buffers can hold, at first
ON_FACET = 14  # nodes each way on a facet, for functions
UPPER = np.triu_indices(SPACE)


def space_terms(density: Density, dimension: int) -> GeneralTerms | None:
    """The density as arrays with three coordinates; in the plane the third one does not matter."""
    terms = general_terms_of(density, dimension)
    if terms is None or dimension == SPACE:
        return terms
    row, matrix = ((0, 0), (0, 1)), ((0, 0), (0, 1), (0, 1))
    roots = np.pad(terms.roots, matrix)
    roots[:, 2, 2] = 1.0
    return terms._replace(
        powers=np.pad(terms.powers, row),
        origins=np.pad(terms.origins, row),
        centers=np.pad(terms.centers, row),
        forms=np.pad(terms.forms, matrix),
        roots=roots,
    )


@lru_cache(maxsize=16)
def terms_of(ground: WeightedRegion) -> GeneralTerms | None:
    """The density of a ground as arrays with three coordinates."""
    return space_terms(ground.density, ground.dimension)


class Built(NamedTuple):
    """A cell as the kernels have built it."""

    status: int
    cell: Any  # see dwell._kernels.star.buffers
    compared: Ints  # agents that it was compared with
    boundary: Boundary


class CurvedCells(ABC):
    """Cells in a curved workspace, with the buffers of one thread; one cell at a time."""

    def __init__(self, workspace: Workspace) -> None:
        center, root = cast(Curved, workspace).root
        self.dimension = len(center)
        matrix, middle = np.eye(SPACE), np.zeros(SPACE)
        matrix[: len(center), : len(center)], middle[: len(center)] = root, center
        self.frame = Root(middle, matrix)

    @abstractmethod
    def measured(self, terms: GeneralTerms, row: Ints, agents: Ints) -> Floats:
        """Measurements of agents[k] in configuration row[k]: see dwell._kernels.star.cell."""

    @abstractmethod
    def built(self, row: int, agent: int) -> Built:
        """The cell of an agent."""

    def boxes_of(self, row: int, agent: int) -> Boxes:
        """The cell of an agent as boxes."""
        built = self.built(row, agent)
        return self._boxes(built.cell, built.boundary)

    def _boxes(self, cell: Any, boundary: Boundary) -> Boxes:
        from dwell._kernels.star.cell import boxes_of, nodes_of_boxes

        table = np.empty((2 * len(boundary.piece), 8))
        count = boxes_of(cell, boundary, table)
        ways = 2 if cell.only >= 0 else SPACE

        def nodes(boxes: Floats, rule: int, count: int) -> Floats:
            out = np.empty((len(boxes), count**ways, 4))
            nodes_of_boxes(rule, cell, boxes, self.frame, boundary, out)
            return out

        return Boxes(table[:count], nodes)


@final
class DiscCells(CurvedCells):
    """Cells of agents at `places` (R, N, 2) in a disc or an ellipse."""

    def __init__(self, workspace: Workspace, places: Points) -> None:
        from dwell._kernels.polygon.buffers import make_scratch
        from dwell._kernels.star.buffers import make_boundary

        super().__init__(workspace)
        self.points = places[0]
        self.x, self.y = (np.ascontiguousarray(places[..., k]) for k in range(2))
        corners = box_round(workspace).polygon.vertices
        self.rectangle = tuple(np.ascontiguousarray(corners[:, k]) for k in range(2))
        size = 2 * (places.shape[1] + 4) + 16
        self.boundary = make_boundary(1, size, 2 * size + 16)
        self.buffers = np.arange(size), make_scratch(places.shape[1], size), self.boundary

    def measured(self, terms: GeneralTerms, row: Ints, agents: Ints) -> Floats:
        """Rows of measurements."""
        from dwell._kernels.star.cell import COLUMNS
        from dwell._kernels.star.voronoi import measure_discs

        out = np.empty((len(row), COLUMNS))
        measure_discs(
            0, len(row), row, agents, self.x, self.y, *self.rectangle, self.frame, terms,
            *self.buffers, out,
        )  # fmt: skip
        return out

    def built(self, row: int, agent: int) -> Built:
        """The cell of an agent."""
        from dwell._kernels.star.voronoi import disc_cell_of

        status, cell, compared = disc_cell_of(
            agent, self.x[row], self.y[row], *self.rectangle, self.frame, *self.buffers
        )
        return Built(status, cell, self.buffers[1].seen[:compared], self.boundary)

    def outline(self, agent: int) -> tuple[int, Points, Ints, int]:
        """(status, corners, labels of edges and arcs, the last agent compared with) of a cell.

        Of the first configuration.
        """
        from dwell._kernels.star.buffers import ANGLE, ENDS, OWNER, START, STEP

        status, cell, compared, b = self.built(0, agent)
        last = int(compared[-1]) if len(compared) else -1
        pieces = b.piece[: cell.pieces]
        edges = pieces[pieces[:, ANGLE] == 0.0]
        starts, steps = (edges[:, k : k + SPACE] for k in (START, STEP))
        corners = np.stack([starts, starts + steps], axis=1)
        labels = np.full((len(edges), 2), ARC)
        labels[:, 0] = self.buffers[1].label[edges[:, OWNER].astype(np.int64)]
        leaves = np.column_stack([np.ones(len(edges), dtype=bool), edges[:, ENDS] > 0.0])
        offsets = np.linalg.solve(self.frame.matrix, corners[leaves].T).T[:, :2]
        return status, offsets, labels[leaves], last

    def facets(
        self, ground: WeightedRegion, agent: int, log_scale: float
    ) -> list[tuple[int, int, Floats]]:
        """(agent, other, moments 1, x, y, xx, xy, yy) of each edge of a cell."""
        from dwell._kernels.polygon.moments import borders_of

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


@final
class Configuration:
    """Agents at `points` in an ellipsoid, sorted by bins: what threads share."""

    def __init__(self, workspace: Workspace, points: Points) -> None:
        self.workspace, self.points = workspace, np.ascontiguousarray(points)
        self.solid = polyhedra.solid_of(box_round(workspace))
        self.grid = polyhedra.grid_of(self.points, measurements=len(points))
        self.number = polyhedra.numbers_in(self.grid)


@final
class BallCells(CurvedCells):
    """Cells of a configuration in a ball or an ellipsoid of space."""

    def __init__(self, configuration: Configuration, planes: int = USUAL) -> None:
        from dwell._kernels.space.memory import make_memory
        from dwell._kernels.star.buffers import PIECES, make_boundary

        super().__init__(configuration.workspace)
        agents, solid = len(configuration.points), configuration.solid
        self.configuration, self.planes = configuration, min(planes, agents) + 8
        self.memory = make_memory(agents, solid)
        self.boundary = make_boundary(self.planes, len(self.memory.x), PIECES * self.planes)
        self.given = solid, configuration.grid, self.frame, self.memory, self.boundary

    def larger(self) -> BallCells:
        """The cells with larger buffers."""
        return BallCells(self.configuration, 4 * self.planes)

    def measured(self, terms: GeneralTerms, row: Ints, agents: Ints) -> Floats:
        """Rows of measurements."""
        from dwell._kernels.star.cell import COLUMNS, STATUS
        from dwell._kernels.star.voronoi import CROWDED, measure_balls

        out = np.empty((len(agents), COLUMNS))
        measure_balls(0, len(agents), self.configuration.number[agents], *self.given, terms, out)
        lacking = out[:, STATUS] == CROWDED
        if lacking.any():
            out[lacking] = self.larger().measured(terms, row[lacking], agents[lacking])
        return out

    def built(self, row: int, agent: int) -> Built:
        """The cell of an agent."""
        from dwell._kernels.star.voronoi import CROWDED, ball_cell_of

        status, cell, compared = ball_cell_of(self.configuration.number[agent], *self.given)
        if status == CROWDED:
            return self.larger().built(row, agent)
        seen = self.configuration.grid.order[self.memory.seen[:compared]]
        return Built(status, cell, seen, self.boundary)

    def _behind(self, built: Built) -> Ints:
        """The agents behind the facets of a cell."""
        from dwell._kernels.star.buffers import BEHIND

        numbers = built.boundary.facet[: built.cell.facets, BEHIND].astype(np.int64)
        behind: Ints = self.configuration.grid.order[numbers]
        return behind

    def outline(self, agent: int) -> tuple[int, Points, Ints, int]:
        """(status, corners: none, agents behind its facets, the last agent compared with)."""
        built = self.built(0, agent)
        last = int(built.compared[-1]) if len(built.compared) else -1
        return built.status, np.empty((0, SPACE)), np.sort(self._behind(built)), last

    def facets(
        self, ground: WeightedRegion, agent: int, log_scale: float
    ) -> list[tuple[int, int, Floats]]:
        """(agent, other, moments 1, z and the upper half of z z') of each facet of a cell."""
        built = self.built(0, agent)
        return [
            (agent, int(q), self._facet_moments(ground, built, f, agent, log_scale))
            for f, q in enumerate(self._behind(built))
        ]

    def _facet_moments(
        self, ground: WeightedRegion, built: Built, f: int, agent: int, log_scale: float
    ) -> Floats:
        from dwell._kernels.star.cell import facet_moments

        face, place = built.cell._replace(only=f), self.configuration.points[agent]
        if ground.terms is None:
            boxes = self._boxes(face, built.boundary)
            out = boxes.nodes(boxes.table, ON_FACET, ON_FACET)
            z, w = out[..., :3].reshape(-1, 3), out[..., 3].ravel()
            w = w * ground.density.at(place + z)
            m0, m1, m2 = w.sum(), w @ z, np.einsum("k,ki,kj->ij", w, z, z)
        else:
            sums, center = np.zeros(10), tuple(float(v) for v in place)
            facet_moments(face, center, log_scale, self.frame, ground.terms, built.boundary, sums)
            inverse = np.linalg.inv(self.frame.matrix)
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
