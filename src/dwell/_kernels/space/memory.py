"""What the kernels in space work on: the workspace, the search, and one thread's memory.

A polyhedron is held as its vertices, each with exactly three edges. A corner where more faces meet
is several vertices at one place, joined by edges without length: every cut then makes such vertices
again, and no case is special. Half-edge 4 v + k (k = 0, 1, 2, counter-clockwise seen from outside)
leaves vertex v; `mate` is the same edge from the other end, `left` the face to its left. Half-edge
4 v + 3 is not used: four to a vertex, so that v is found by shifting bits.
"""

from typing import NamedTuple

import numpy as np

MAX_TETRAHEDRA = 512  # pending halves of a Gaussian tetrahedron
MAX_POINTS = 1000  # nodes of the largest rule


class Solid(NamedTuple):
    """The workspace as the polyhedron that cutting starts from."""

    x: np.ndarray  # vertices
    y: np.ndarray
    z: np.ndarray
    mate: np.ndarray
    left: np.ndarray  # numbers of faces, 0 to len(label) - 1
    label: np.ndarray  # label of each face: -1 - facet
    base: np.ndarray  # (faces, 3) vertices that span each face, counter-clockwise


class Grid(NamedTuple):
    """Agents sorted by bins: those of bin b are start[b] to start[b + 1] - 1 of x, y, z."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    order: np.ndarray  # which agent each of them is
    start: np.ndarray
    shape: np.ndarray  # (3,) bins along each axis; the last one runs fastest
    lower: np.ndarray  # (3,) where bins begin
    width: float  # of a bin; all are cubes


class CellBuffers(NamedTuple):
    """Arrays that kernels overwrite freely; nothing in them outlives a call."""

    x: np.ndarray  # the polyhedron being cut, in the agent's frame
    y: np.ndarray
    z: np.ndarray
    mate: np.ndarray
    left: np.ndarray
    side: np.ndarray  # of each vertex: above 0 if the cutting plane takes it away
    mark: np.ndarray  # 1 for vertices that go
    gone: np.ndarray  # list of these; later all loops of faces
    crossing: np.ndarray  # half-edges from those that stay to those that go, around the cut
    born: np.ndarray  # (3, capacity) vertices that the cut makes
    plane: np.ndarray  # behind each face: -1 - facet, or an agent's number in the grid
    key: np.ndarray  # agents to come: squared distances
    who: np.ndarray  # ... and numbers in the grid
    ends: np.ndarray  # how far these are sorted: see search.py
    seen: np.ndarray  # agents compared with, nearest first
    low: np.ndarray  # (3, capacity) what vertices have beyond double precision
    face: np.ndarray  # behind each loop of a face, as `plane`
    corner: np.ndarray  # (capacity, 4) triangles of the faces: vertices, and what is behind
    fan: np.ndarray  # ... and six times the volume under them, seen from the agent
    node: np.ndarray  # exponents, then values, at the nodes of a rule
    pending: np.ndarray  # tetrahedra or triangles still to be integrated


def make_memory(agents: int, solid: Solid) -> CellBuffers:
    """Working memory for cells among `agents` agents in a workspace."""
    planes = agents + len(solid.label) + 4
    capacity = 2 * planes + len(solid.x)
    return CellBuffers(
        x=np.empty(capacity),
        y=np.empty(capacity),
        z=np.empty(capacity),
        mate=np.empty(4 * capacity, dtype=np.int64),
        left=np.empty(4 * capacity, dtype=np.int64),
        side=np.empty(capacity),
        mark=np.zeros(capacity, dtype=np.int64),
        gone=np.empty(3 * capacity, dtype=np.int64),
        crossing=np.empty(capacity, dtype=np.int64),
        born=np.empty((3, capacity)),
        plane=np.empty(planes, dtype=np.int64),
        key=np.empty(max(agents, 1)),
        who=np.empty(max(agents, 1), dtype=np.int64),
        ends=np.empty(max(agents, 1) + 1, dtype=np.int64),
        seen=np.empty(max(agents, 1), dtype=np.int64),
        low=np.empty((3, capacity)),
        face=np.empty(capacity, dtype=np.int64),
        corner=np.empty((3 * capacity, 4), dtype=np.int64),
        fan=np.empty(3 * capacity),
        node=np.empty(MAX_POINTS),
        pending=np.empty((MAX_TETRAHEDRA, 13)),
    )
