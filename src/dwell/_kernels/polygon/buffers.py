"""Buffers of one thread for planar cells, made once and passed along."""

import threading
from typing import Any, NamedTuple

import numpy as np

from dwell._kernels.common.quadrature import MAX_NODES

MAX_PANELS = 32  # pieces of edges that are integrated at once
SORTED = 48  # agents that are sorted by distance all at once
MAX_TRIANGLES = 256  # pending halves of a Gaussian triangle
PIECES = 32  # parts of pixels that are integrated at once,
NUMBERS = 18  # ... and how many numbers each has: see raster_cells.py
LINES = 128  # lines along which a border is traced at once; a power of two
CLOSEST = 8  # agents that cut a crowded cell before its vertices are tested: see vertex_search.py
BRANCHES = 8  # of a tree
PENDING = 128  # boxes still to be visited: BRANCHES - 1 for each level of a tree suffice
LARGEST = 0x7FFFFFFFFFFFFFFF  # of the bits of numbers that are compared as if they were integers
KEPT = 4096  # agents and vertices of buffers that a thread keeps, at most
EDGES = 24  # edges of a traced cell, at most; in whole vector registers


class Scratch(NamedTuple):
    """Arrays that kernels overwrite freely; nothing in them outlives a call."""

    x: np.ndarray  # polygon being cut: vertices in the agent's frame, counter-clockwise
    y: np.ndarray
    # What lies behind the edge from this vertex to the next: see halfplane_clip.py.
    label: np.ndarray
    x2: np.ndarray  # the polygon after the next cut
    y2: np.ndarray
    label2: np.ndarray
    side: np.ndarray  # signed distance (scaled) of each vertex to the cutting line
    key: np.ndarray  # heap of candidates: squared distances
    who: np.ndarray  # ... and indices
    rank: np.ndarray  # a few candidates sorted: the rank of each,
    far: np.ndarray  # ... squared distances in order
    sequence: np.ndarray  # ... and indices
    line: np.ndarray  # (5, LINES) lines that may bound a cell: see gift_wrap.py
    line_bits: np.ndarray  # ... the bits of these numbers
    behind: np.ndarray  # ... and their labels
    chain: np.ndarray  # the lines round a cell,
    edge: np.ndarray  # (3, EDGES + 1) ... one after another, the last one also first
    dx: np.ndarray  # displacement of each agent from the measuring one
    dy: np.ndarray
    seen: np.ndarray  # candidates already taken, nearest first
    closest: np.ndarray  # (CLOSEST + 1, 3) the closest agents: see vertex_search.py
    stack: np.ndarray  # (3, PENDING) boxes of a tree still to be visited: see box_tree.py
    stack_bits: np.ndarray
    kept_x: np.ndarray  # a copy of the polygon
    kept_y: np.ndarray
    fan: np.ndarray  # cross products of neighbouring vertices: twice the triangles' areas
    node: np.ndarray  # exponents, then values, at the quadrature nodes
    panels: np.ndarray  # (MAX_PANELS, 8) pieces of edges: see gaussian.py
    value: np.ndarray  # (MAX_PANELS, 16) the Gaussian at their nodes
    ratio: np.ndarray
    pending: np.ndarray  # (MAX_TRIANGLES, 7) triangles still to be integrated
    pieces: np.ndarray  # (NUMBERS * PIECES,) parts of pixels: see raster_cells.py


def whole_lines(count: int) -> np.ndarray:
    """`count` zeros, aligned to a cache line, so that no vector register spans two lines."""
    memory = np.zeros(count + 7)
    begin = -memory.ctypes.data % 64 // 8
    return memory[begin : begin + count]


def make_scratch(agents: int, vertices: int) -> Scratch:
    """Buffers for cells of up to `agents` agents in a polygon of `vertices` vertices."""
    most, many = agents + vertices + 16 + EDGES, max(agents, 1)
    numbers: dict[str, Any] = {
        **dict.fromkeys(("x", "y", "x2", "y2", "side", "kept_x", "kept_y", "fan"), most),
        **dict.fromkeys(("key", "dx", "dy"), most),
        **dict.fromkeys(("value", "ratio"), (MAX_PANELS, 16)),
        "edge": (3, EDGES + 1),
        "far": SORTED,
        "closest": (CLOSEST + 1, 3),
        "node": MAX_NODES * MAX_NODES,
        "panels": (MAX_PANELS, 8),
        "pending": (MAX_TRIANGLES, 7),
        "pieces": NUMBERS * PIECES,
    }
    indices = {"label": most, "label2": most, "who": many + CLOSEST + 2, "rank": SORTED}
    indices |= {"sequence": SORTED, "behind": LINES, "chain": EDGES, "seen": many}
    found = {name: np.zeros(shape) for name, shape in numbers.items()}
    found |= {name: np.zeros(size, dtype=np.int64) for name, size in indices.items()}
    for name, rows, count in (("line", 5, LINES), ("stack", 3, PENDING)):
        found[name] = whole_lines(rows * count).reshape(rows, count)
        found[name + "_bits"] = found[name].view(np.int64)
    return Scratch(**found)


def own_scratch(agents: int, vertices: int) -> Scratch:
    """The buffers that this thread used last if they fit exactly, else new ones."""
    if agents + vertices > KEPT:
        return make_scratch(agents, vertices)
    if getattr(_own, "size", None) != (agents, vertices):
        _own.size, _own.scratch = (agents, vertices), make_scratch(agents, vertices)
    scratch: Scratch = _own.scratch
    return scratch


_own = threading.local()
