"""What the kernels in space work on: the workspace, the search, and one thread's memory.

A polyhedron is held as its vertices, each with exactly three edges. A corner where more faces meet
is several vertices at one place, joined by edges without length: every cut then makes such vertices
again, and no case is special. Half-edge 4 v + k (k = 0, 1, 2, counter-clockwise seen from outside)
leaves vertex v; `mate` is the same edge from the other end, `left` the face to its left. Half-edge
4 v + 3 is not used: four to a vertex, so that v is found by shifting bits.
"""

from typing import Any, NamedTuple

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


class BinGrid(NamedTuple):
    """Agents in the order of cubic bins, of which the last axis runs fastest: see neighbors.py."""

    x: np.ndarray  # those at rest, in that order; of those that move the ones near one, it first
    y: np.ndarray
    z: np.ndarray
    order: np.ndarray  # (N,) which agent each of them is
    first: np.ndarray  # (bins + 1,) where each bin begins in `order`
    bin: np.ndarray  # (N,) the bin of each agent
    frame: np.ndarray  # (7,) see neighbors.py
    clock: np.ndarray  # (3,) for agents that move: see ../polygon/cell_list.py


class CellBuffers(NamedTuple):
    """Arrays that kernels overwrite freely; nothing in them outlives a call, but for a guess."""

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
    seen: np.ndarray  # ... and numbers in the grid; those compared with at first, nearest first
    ends: np.ndarray  # how far these are sorted: see neighbors.py
    reach: np.ndarray  # (1,) the reach of the cell before: a guess for the next
    low: np.ndarray  # (3, capacity) what vertices have beyond double precision
    face: np.ndarray  # behind each loop of a face, as `plane`
    corner: np.ndarray  # (capacity, 4) triangles of the faces: vertices, and what is behind
    fan: np.ndarray  # ... and six times the volume under them, seen from the agent
    node: np.ndarray  # exponents, then values, at the nodes of a rule
    pending: np.ndarray  # tetrahedra or triangles still to be integrated


def make_memory(agents: int, solid: Solid) -> CellBuffers:
    """Working memory for cells among `agents` agents in a workspace."""
    planes, many = agents + len(solid.label) + 4, max(agents, 1)
    most = 2 * planes + len(solid.x)  # vertices
    numbers: dict[str, Any] = {
        **dict.fromkeys(("x", "y", "z", "side"), most),
        **dict.fromkeys(("born", "low"), (3, most)),
        "key": many,
        "fan": 3 * most,
        "node": MAX_POINTS,
        "pending": (MAX_TETRAHEDRA, 13),
    }
    indices: dict[str, Any] = {
        **dict.fromkeys(("mate", "left"), 4 * most),
        **dict.fromkeys(("crossing", "face"), most),
        "gone": 3 * most,
        "corner": (3 * most, 4),
        "plane": planes,
        "seen": many,
        "ends": many + 1,
    }
    found = {name: np.empty(shape) for name, shape in numbers.items()}
    found |= {name: np.empty(shape, dtype=np.int64) for name, shape in indices.items()}
    zeros = {"mark": np.zeros(most, dtype=np.int64), "reach": np.zeros(1)}
    return CellBuffers(**found, **zeros)
