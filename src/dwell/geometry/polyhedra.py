"""Bounded Voronoi cells in space: convex polyhedra with faces, edges and neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dwell._types import Ints, Points, columns, lengths
from dwell.errors import WorkspaceError
from dwell.geometry.cell import Cell
from dwell.geometry.voronoi import coincident

if TYPE_CHECKING:
    from dwell._kernels.space.memory import BinGrid, Solid

FLAT = 1e-14  # of the workspace's size: faces bent by less change no volume that matters
FEW = 48  # agents that are searched one by one
Loop = tuple[int, ...]
Edge = tuple[int, int]


class Polyhedron(Protocol):
    """A workspace in space."""

    @property
    def vertices(self) -> Points:
        """(V, 3)."""

    @property
    def faces(self) -> tuple[Ints, ...]:
        """Loops of vertex numbers, counter-clockwise seen from outside."""


def cells(
    workspace: Polyhedron, positions: Points, agents: Iterable[int] | None = None
) -> list[Cell]:
    """The cells of `agents` (all, by default) among `positions` (N, 3)."""
    from dwell._kernels.common.status import COINCIDENT
    from dwell._kernels.space.measure import cell_of
    from dwell._kernels.space.memory import make_memory

    points = np.ascontiguousarray(positions, dtype=np.float64)
    solid = solid_of(workspace)
    chosen = range(len(points)) if agents is None else list(agents)
    grid = grid_of(points, measurements=len(chosen))
    memory = make_memory(len(points), solid)
    number = numbers_in(grid)
    found = []
    for p in chosen:
        vertices, compared, faces = cell_of(number[p], solid, grid, memory)
        seen = grid.order[memory.seen[:compared]]
        if vertices == COINCIDENT:
            raise coincident(p, int(seen[0]), points[p])
        # What the kernel leaves in its memory: see `list_loops` in _kernels/space/cells.py.
        offsets = np.column_stack([memory.x[:vertices], memory.y[:vertices], memory.z[:vertices]])
        borders = memory.face[:faces].copy()
        real = borders >= 0
        borders[real] = grid.order[borders[real]]
        loops = tuple(memory.gone[a:b].copy() for a, b in pairwise(memory.crossing[: faces + 1]))
        found.append(Cell(p, points[p], offsets, borders, loops, seen))
    return found


def grid_of(points: Points, *, measurements: int) -> BinGrid:
    """Agents sorted into bins for a number of measurements; one bin where that is quicker."""
    from dwell._kernels.space.neighbors import make_grid, put_at_rest

    x, y, z = columns(points)
    many = bool(pays(len(points), np.array(measurements)))
    grid = make_grid(len(points), many)
    if many:
        put_at_rest(x, y, z, grid)
    return grid._replace(x=x[grid.order], y=y[grid.order], z=z[grid.order])


def pays(agents: int, measurements: Ints) -> np.ndarray:
    """Whether sorting `agents` into bins pays for so many measurements."""
    worth: np.ndarray = (measurements > 4) & (agents > FEW)
    return worth


def numbers_in(grid: BinGrid) -> Ints:
    """The number of each agent in a grid."""
    numbers = np.empty(len(grid.order), dtype=np.int64)
    numbers[grid.order] = np.arange(len(numbers))
    return numbers


def solid_of(workspace: Polyhedron) -> Solid:
    """The workspace as the kernels take it; cached."""
    vertices = np.ascontiguousarray(workspace.vertices, dtype=np.float64)
    loops = tuple(tuple(int(v) for v in face) for face in workspace.faces)
    return _solid(vertices.tobytes(), loops)


@lru_cache(maxsize=32)
def _solid(vertices: bytes, facets: tuple[Loop, ...]) -> Solid:
    from dwell._kernels.space.memory import Solid

    points = np.frombuffer(vertices).reshape(-1, 3)
    loops, labels = _flat_faces(points, facets)
    places, mate, left = _three_to_a_vertex(loops)
    at = {v: k for k, v in reversed(list(enumerate(places)))}
    base = [[at[loop[k * len(loop) // 3]] for k in range(3)] for loop in loops]
    x, y, z = np.ascontiguousarray(points[places].T)
    return Solid(x, y, z, np.array(mate), np.array(left), np.array(labels), np.array(base))


def _flat_faces(points: Points, facets: Sequence[Loop]) -> tuple[list[Loop], list[int]]:
    """Faces and their labels, those that are not flat cut into triangles.

    Far from the origin the vertices of a slanted face are rounded out of its plane. Triangles are
    always flat, so that cells keep adding up to the workspace.
    """
    size = float(np.ptp(points, axis=0).max())
    loops: list[Loop] = []
    labels: list[int] = []
    for k, loop in enumerate(facets):
        arms = points[list(loop)] - points[loop[0]]
        normal = np.cross(arms[1:-1], arms[2:]).sum(axis=0)
        bent = np.abs(arms @ normal).max() > FLAT * size * float(lengths(normal))
        parts = [(loop[0], a, b) for a, b in pairwise(loop[1:])]
        for part in parts if bent else [loop]:
            loops.append(part)
            labels.append(-1 - k)
    return loops, labels


def _three_to_a_vertex(loops: Sequence[Loop]) -> tuple[list[int], list[int], list[int]]:
    """Vertices (as numbers of corners), mates and left faces: see _kernels/space/memory.py."""
    face, turn = _around_corners(loops)
    places: list[int] = []
    half: dict[tuple[int, int], int] = {}  # edge of the workspace -> half-edge
    links: list[tuple[int, int]] = []
    left: dict[int, int] = {}
    for corner in sorted({a for a, _ in face}):
        around = _star(corner, face, turn)
        last = len(around) - 3
        for j in range(last + 1):
            v = len(places)
            places.append(corner)
            slots: list[Edge | None] = [around[0], around[1]] if j == 0 else [None, around[j + 1]]
            slots.append(around[-1] if j == last else None)
            for k, edge in enumerate(slots):
                if edge is not None:
                    half[edge], left[4 * v + k] = 4 * v + k, face[edge]
            if j > 0:
                links.append((4 * v - 2, 4 * v))
                left[4 * v - 2], left[4 * v] = face[around[-1]], face[around[j]]
    mate = [0] * (4 * len(places))
    for (a, b), h in half.items():
        mate[h] = half[b, a]
    for g, h in links:
        mate[g], mate[h] = h, g
    return places, mate, [left.get(h, 0) for h in range(4 * len(places))]


def _around_corners(loops: Sequence[Loop]) -> tuple[dict[Edge, int], dict[Edge, Edge]]:
    """The face left of each edge, and the edge that follows it counter-clockwise at its corner."""
    face: dict[Edge, int] = {}
    turn: dict[Edge, Edge] = {}
    for f, loop in enumerate(loops):
        for k, v in enumerate(loop):
            after, before = loop[(k + 1) % len(loop)], loop[k - 1]
            if (v, after) in face:
                raise _open(f"two faces run along the edge from vertex {v} to {after} alike")
            face[v, after] = f
            turn[v, after] = (v, before)
    for a, b in face:
        if (b, a) not in face:
            raise _open(f"the edge between vertices {a} and {b} has a face on one side only")
    return face, turn


def _star(corner: int, face: dict[Edge, int], turn: dict[Edge, Edge]) -> list[Edge]:
    """All edges that leave a corner, counter-clockwise."""
    first = min(edge for edge in face if edge[0] == corner)
    around = [first]
    while turn[around[-1]] != first:
        around.append(turn[around[-1]])
    if len(around) < 3:
        raise _open(f"vertex {corner} has {len(around)} edges; a corner has three or more")
    return around


def _open(fault: str) -> WorkspaceError:
    return WorkspaceError(
        f"the faces of the workspace do not close up: {fault}; give each face as a loop of vertex "
        "numbers, counter-clockwise seen from outside",
        code="workspace.faces",
        key="workspace",
    )
