"""Voronoi cells in discs, ellipses, balls and ellipsoids, by the kernels of dwell._kernels.star."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast, final

import numpy as np

from dwell._kernels.common.cell_table import STATUS, WIDTH
from dwell._types import Floats, Ints, Points
from dwell.cells.adaptive import Boxes
from dwell.cells.simplices import over_facet
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.base import Density, general_terms_of
from dwell.density.uniform import Uniform
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
ARC = -1  # what `CurvedCell.borders` says of an arc


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


def terms_of(ground: WeightedRegion) -> GeneralTerms | None:
    """The density of a ground as arrays with three coordinates."""
    return ground.once(_terms_in_space)


def _terms_in_space(ground: WeightedRegion) -> GeneralTerms | None:
    return space_terms(ground.density, ground.dimension)


class Built(NamedTuple):
    """A cell as the kernels have built it."""

    status: int
    cell: Any  # see dwell._kernels.star.buffers
    compared: Ints  # agents that it was compared with
    boundary: Boundary

    @property
    def last(self) -> int:
        """The last agent that it was compared with; -1 if there is none."""
        return int(self.compared[-1]) if len(self.compared) else -1

    def boxes(self, frame: Root) -> Boxes:
        """The cell as boxes."""
        from dwell._kernels.star.voronoi import boxes_of, nodes_of_boxes

        table = np.empty((2 * len(self.boundary.piece), 8))
        count = boxes_of(self.cell, self.boundary, table)
        ways = 2 if self.cell.only >= 0 else SPACE

        def nodes(boxes: Floats, rule: int, count: int) -> Floats:
            out = np.empty((len(boxes), count**ways, 4))
            nodes_of_boxes(rule, self.cell, boxes, frame, self.boundary, out)
            return out

        return Boxes(table[:count], nodes)


@lru_cache(maxsize=32)
def frame_of(workspace: Workspace) -> Root:
    """A curved workspace with three coordinates; in the plane the third one is 0."""
    center, root = cast(Curved, workspace).root
    matrix, middle = np.eye(SPACE), np.zeros(SPACE)
    matrix[: len(center), : len(center)], middle[: len(center)] = root, center
    return Root(middle, matrix)


@final
class DiscCells:
    """Cells of agents at `places` (R, N, 2) in a disc or an ellipse, with buffers of one thread."""

    dimension = 2

    def __init__(self, workspace: Workspace, places: Points) -> None:
        from dwell._kernels.polygon.buffers import make_scratch
        from dwell._kernels.star.buffers import make_boundary

        self.points, self.frame = places[0], frame_of(workspace)
        corners, size = box_round(workspace).polygon.vertices, 2 * (places.shape[1] + 4) + 16
        given = *np.moveaxis(places, 2, 0), *corners.T
        self.scratch = make_scratch(places.shape[1], size)
        self.boundary = make_boundary(1, size, 2 * size + 16)
        self.given = *map(np.ascontiguousarray, given), self.frame, np.arange(size), self.scratch

    def measured(self, terms: GeneralTerms, row: Ints, agents: Ints) -> tuple[Floats, Built]:
        """A table of measurements of agents[k] in configuration row[k].

        And the last of these cells.
        """
        from dwell._kernels.star.voronoi import measure_discs

        out = np.empty((len(row), WIDTH))
        status, cell, compared = measure_discs(row, agents, terms, *self.given, self.boundary, out)
        return out, Built(status, cell, self.scratch.seen[:compared], self.boundary)

    def outline(self, agent: int) -> tuple[int, Points, Ints, int]:
        """(status, corners, labels of edges and arcs, the last agent compared with) of a cell.

        Of the first configuration.
        """
        from dwell._kernels.star.buffers import ANGLE, ENDS, OWNER, START, STEP

        built = built_by(self, 0, agent)
        pieces = built.boundary.piece[: built.cell.pieces]
        edges = pieces[pieces[:, ANGLE] == 0.0]
        starts, steps = (edges[:, k : k + SPACE] for k in (START, STEP))
        corners = np.stack([starts, starts + steps], axis=1)
        labels = np.full((len(edges), 2), ARC)
        labels[:, 0] = self.scratch.label[edges[:, OWNER].astype(np.int64)]
        leaves = np.column_stack([np.ones(len(edges), dtype=bool), edges[:, ENDS] > 0.0])
        offsets = np.linalg.solve(self.frame.matrix, corners[leaves].T).T[:, :2]
        return built.status, offsets, labels[leaves], built.last

    def facets(
        self, ground: WeightedRegion, agent: int, log_scale: float
    ) -> list[tuple[int, int, Floats]]:
        """(agent, other, moments 1, x, y, xx, xy, yy) of each edge of a cell."""
        from dwell._kernels.polygon.region_moments import borders_of

        place, (_, offsets, labels, _) = self.points[agent], self.outline(agent)
        own = np.flatnonzero(labels >= 0)
        a, b = offsets[own], np.roll(offsets, -1, axis=0)[own]
        moments = np.empty((len(own), 6))
        if ground.terms is None:
            for k, q in enumerate(labels[own]):
                edge, gap = np.array([a[k], b[k]]), self.points[q] - place
                moments[k] = over_facet(ground, place, edge, np.array([[0, 1]]), gap, log_scale)
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
class BallCells:
    """Cells of a configuration in a ball or an ellipsoid of space, with buffers of one thread."""

    dimension = 3

    def __init__(self, configuration: Configuration, planes: int = USUAL) -> None:
        from dwell._kernels.space.memory import make_memory
        from dwell._kernels.star.buffers import PIECES, make_boundary

        agents, solid = len(configuration.points), configuration.solid
        self.configuration, self.planes = configuration, min(planes, agents) + 8
        self.frame, self.memory = frame_of(configuration.workspace), make_memory(agents, solid)
        self.boundary = make_boundary(self.planes, len(self.memory.x), PIECES * self.planes)
        self.given = solid, configuration.grid, self.frame, self.memory, self.boundary

    def measured(self, terms: GeneralTerms, row: Ints, agents: Ints) -> tuple[Floats, Built]:
        """A table of measurements of agents, and the last of their cells."""
        from dwell._kernels.star.voronoi import CROWDED, measure_balls

        out, numbers = np.empty((len(agents), WIDTH)), self.configuration.number[agents]
        status, cell, compared = measure_balls(numbers, terms, *self.given, out)
        seen = self.configuration.grid.order[self.memory.seen[:compared]]
        built, lacking = Built(status, cell, seen, self.boundary), out[:, STATUS] == CROWDED
        if lacking.any():
            larger = BallCells(self.configuration, 4 * self.planes)
            out[lacking], last = larger.measured(terms, row[lacking], agents[lacking])
            built = last if status == CROWDED else built
        return out, built

    def _behind(self, built: Built) -> Ints:
        """The agents behind the facets of a cell."""
        from dwell._kernels.star.buffers import BEHIND

        numbers = built.boundary.facet[: built.cell.facets, BEHIND].astype(np.int64)
        behind: Ints = self.configuration.grid.order[numbers]
        return behind

    def outline(self, agent: int) -> tuple[int, Points, Ints, int]:
        """(status, corners: none, agents behind its facets, the last agent compared with)."""
        built = built_by(self, 0, agent)
        return built.status, np.empty((0, SPACE)), np.sort(self._behind(built)), built.last

    def facets(
        self, ground: WeightedRegion, agent: int, log_scale: float
    ) -> list[tuple[int, int, Floats]]:
        """(agent, other, moments 1, z and the upper half of z z') of each facet of a cell."""
        built, place = built_by(self, 0, agent), self.configuration.points[agent]
        rows = []
        for f, q in enumerate(self._behind(built)):
            face = built._replace(cell=built.cell._replace(only=f))
            rows.append((agent, int(q), _over_face(ground, face, self.frame, place, log_scale)))
        return rows


def _over_face(
    ground: WeightedRegion, face: Built, frame: Root, place: Points, log_scale: float
) -> Floats:
    """Moments 1, z and the upper half of z z' over one facet of a cell in space."""
    from dwell._kernels.star.cell import facet_moments

    if ground.terms is None:
        boxes = face.boxes(frame)
        out = boxes.nodes(boxes.table, ON_FACET, ON_FACET)
        z, w = out[..., :3].reshape(-1, 3), out[..., 3].ravel()
        w = w * ground.density.at(place + z)
        m0, m1, m2 = w.sum(), w @ z, np.einsum("k,ki,kj->ij", w, z, z)
    else:
        sums, center = np.zeros(10), tuple(float(v) for v in place)
        facet_moments(face.cell, center, log_scale, frame, ground.terms, face.boundary, sums)
        inverse = np.linalg.inv(frame.matrix)
        m0, m1, m2 = sums[0], inverse @ sums[1:4], np.zeros((3, 3))
        m2[UPPER] = m2.T[UPPER] = sums[4:]
        m2 = inverse @ m2 @ inverse.T
    return np.concatenate([[m0], m1, m2[UPPER]])


def built_by(cells: DiscCells | BallCells, row: int, agent: int) -> Built:
    """The cell of one agent."""
    uniform = cast("GeneralTerms", space_terms(Uniform(), cells.dimension))
    return cells.measured(uniform, np.array([row]), np.array([agent]))[1]


@lru_cache(maxsize=32)
def box_round(workspace: Workspace) -> Box:
    """A box that clearly holds the workspace."""
    low, high = workspace.bounds
    margin = MARGIN * (high - low)
    return Box(low - margin, high + margin)
