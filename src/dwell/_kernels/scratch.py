"""The working memory of one thread, made once and handed along."""

from typing import NamedTuple

import numpy as np

MAX_NODES = 12  # Gauss-Legendre nodes per direction, at most
MAX_PANELS = 32  # pieces of edges that are integrated at once
SORTED = 48  # agents that are sorted by distance all at once
MAX_TRIANGLES = 256  # pending halves of a Gaussian triangle


class Scratch(NamedTuple):
    """Arrays that kernels overwrite freely; nothing in them outlives a call."""

    x: np.ndarray  # polygon being cut: vertices in the agent's frame, counter-clockwise
    y: np.ndarray
    label: np.ndarray  # who is behind the edge from this vertex to the next; see cells.py
    x2: np.ndarray  # the same after the next cut
    y2: np.ndarray
    label2: np.ndarray
    side: np.ndarray  # signed distance (scaled) of each vertex to the cutting line
    key: np.ndarray  # heap of candidates: squared distances
    who: np.ndarray  # ... and indices
    rank: np.ndarray  # a few candidates sorted: the place of each,
    far: np.ndarray  # ... squared distances in order
    sequence: np.ndarray  # ... and indices
    dx: np.ndarray  # displacement of each agent from the one that looks
    dy: np.ndarray
    seen: np.ndarray  # candidates already taken, nearest first
    kept_x: np.ndarray  # a copy of the polygon
    kept_y: np.ndarray
    fan: np.ndarray  # cross products of neighbouring corners: twice the triangles' areas
    node: np.ndarray  # exponents, then values, at the quadrature nodes
    panels: np.ndarray  # (MAX_PANELS, 8) pieces of edges: see gaussian_edges.py
    value: np.ndarray  # (MAX_PANELS, 16) the Gaussian at their nodes
    ratio: np.ndarray
    pending: np.ndarray  # (MAX_TRIANGLES, 7) triangles still to be integrated


def make_scratch(agents: int, vertices: int) -> Scratch:
    """Working memory for cells of up to `agents` agents in a polygon of `vertices` vertices."""
    room = agents + vertices + 16
    many = max(agents, 1)
    return Scratch(
        x=np.empty(room),
        y=np.empty(room),
        label=np.empty(room, dtype=np.int64),
        x2=np.empty(room),
        y2=np.empty(room),
        label2=np.empty(room, dtype=np.int64),
        side=np.empty(room),
        key=np.empty(many),
        who=np.empty(many, dtype=np.int64),
        rank=np.empty(SORTED, dtype=np.int64),
        far=np.empty(SORTED),
        sequence=np.empty(SORTED, dtype=np.int64),
        dx=np.empty(many),
        dy=np.empty(many),
        seen=np.empty(many, dtype=np.int64),
        kept_x=np.empty(room),
        kept_y=np.empty(room),
        fan=np.empty(room),
        node=np.empty(MAX_NODES * MAX_NODES),
        panels=np.empty((MAX_PANELS, 8)),
        value=np.empty((MAX_PANELS, 16)),
        ratio=np.empty((MAX_PANELS, 16)),
        pending=np.empty((MAX_TRIANGLES, 7)),
    )
