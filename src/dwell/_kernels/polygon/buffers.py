"""The working memory of one thread, made once and handed along."""

from typing import NamedTuple

import numpy as np

from dwell._kernels.common.quadrature import MAX_NODES

MAX_PANELS = 32  # pieces of edges that are integrated at once
SORTED = 48  # agents that are sorted by distance all at once
MAX_TRIANGLES = 256  # pending halves of a Gaussian triangle
LINES = 128  # lines along which a border is traced at once; a power of two
CLOSEST = 8  # agents that cut a crowded cell before its corners are judged: see box_tree.py
BRANCHES = 8  # of a tree
PENDING = 128  # boxes still to be visited: BRANCHES - 1 for each level of a tree suffice
EDGES = 24  # edges of a traced cell, at most; in whole vector registers


class Scratch(NamedTuple):
    """Arrays that kernels overwrite freely; nothing in them outlives a call."""

    x: np.ndarray  # polygon being cut: vertices in the agent's frame, counter-clockwise
    y: np.ndarray
    label: np.ndarray  # who is behind the edge from this vertex to the next; see halfplane_clip.py
    x2: np.ndarray  # the same after the next cut
    y2: np.ndarray
    label2: np.ndarray
    side: np.ndarray  # signed distance (scaled) of each vertex to the cutting line
    key: np.ndarray  # heap of candidates: squared distances
    who: np.ndarray  # ... and indices
    rank: np.ndarray  # a few candidates sorted: the place of each,
    far: np.ndarray  # ... squared distances in order
    sequence: np.ndarray  # ... and indices
    line_x: np.ndarray  # lines that may bound a cell: see gift_wrap.py
    line_y: np.ndarray
    line_offset: np.ndarray
    line_bits: np.ndarray  # ... the bits of line_offset
    behind: np.ndarray  # ... and their labels
    step: np.ndarray  # how far ahead each of them crosses,
    step_bits: np.ndarray  # ... and the bits of that
    back: np.ndarray  # the same astern
    back_bits: np.ndarray
    chain: np.ndarray  # the lines round a cell,
    edge_x: np.ndarray  # ... one after another, the last one also first
    edge_y: np.ndarray
    edge_offset: np.ndarray
    dx: np.ndarray  # displacement of each agent from the measuring one
    dy: np.ndarray
    seen: np.ndarray  # candidates already taken, nearest first
    closest: np.ndarray  # (CLOSEST + 1, 3) the closest agents: see box_tree.py
    stack: np.ndarray  # (3, PENDING) boxes of a tree still to be visited
    kept_x: np.ndarray  # a copy of the polygon
    kept_y: np.ndarray
    fan: np.ndarray  # cross products of neighbouring corners: twice the triangles' areas
    node: np.ndarray  # exponents, then values, at the quadrature nodes
    panels: np.ndarray  # (MAX_PANELS, 8) pieces of edges: see gaussian_edges.py
    value: np.ndarray  # (MAX_PANELS, 16) the Gaussian at their nodes
    ratio: np.ndarray
    pending: np.ndarray  # (MAX_TRIANGLES, 7) triangles still to be integrated


def whole_lines(count: int) -> np.ndarray:
    """So many zeros, from the start of a cache line on: no vector register then meets two."""
    room = np.zeros(count + 7)
    begin = -room.ctypes.data % 64 // 8
    return room[begin : begin + count]


def make_scratch(agents: int, vertices: int) -> Scratch:
    """Working memory for cells of up to `agents` agents in a polygon of `vertices` vertices."""
    room = agents + vertices + 16 + EDGES
    many = max(agents, 1)
    x, y, offset, step, back = (whole_lines(LINES) for _ in range(5))
    return Scratch(
        x=np.empty(room),
        y=np.empty(room),
        label=np.empty(room, dtype=np.int64),
        x2=np.empty(room),
        y2=np.empty(room),
        label2=np.empty(room, dtype=np.int64),
        side=np.empty(room),
        key=np.empty(many),
        who=np.empty(many + CLOSEST + 2, dtype=np.int64),
        rank=np.empty(SORTED, dtype=np.int64),
        far=np.empty(SORTED),
        sequence=np.empty(SORTED, dtype=np.int64),
        line_x=x,
        line_y=y,
        line_offset=offset,
        line_bits=offset.view(np.int64),
        behind=np.zeros(LINES, dtype=np.int64),
        step=step,
        step_bits=step.view(np.int64),
        back=back,
        back_bits=back.view(np.int64),
        chain=np.zeros(EDGES, dtype=np.int64),
        edge_x=np.zeros(EDGES + 1),
        edge_y=np.zeros(EDGES + 1),
        edge_offset=np.zeros(EDGES + 1),
        dx=np.empty(many),
        dy=np.empty(many),
        seen=np.empty(many, dtype=np.int64),
        closest=np.empty((CLOSEST + 1, 3)),
        stack=np.empty((3, PENDING)),
        kept_x=np.empty(room),
        kept_y=np.empty(room),
        fan=np.empty(room),
        node=np.empty(MAX_NODES * MAX_NODES),
        panels=np.empty((MAX_PANELS, 8)),
        value=np.empty((MAX_PANELS, 16)),
        ratio=np.empty((MAX_PANELS, 16)),
        pending=np.empty((MAX_TRIANGLES, 7)),
    )
