"""Bounded Voronoi cells of a set of agents."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dwell._types import Points, columns
from dwell.errors import AgentsError
from dwell.geometry.cell import Cell
from dwell.geometry.polygon import Polygon


def voronoi_cells(
    polygon: Polygon, positions: Points, agents: Iterable[int] | None = None
) -> list[Cell]:
    """The cells of `agents` (all, by default) among `positions` (n, 2)."""
    from dwell._kernels.cells import COINCIDENT
    from dwell._kernels.doors import cell_of
    from dwell._kernels.scratch import make_scratch

    xs, ys = columns(positions)
    wx, wy = columns(polygon.vertices)
    scratch = make_scratch(len(xs), len(wx))
    cells = []
    for p in range(len(xs)) if agents is None else agents:
        n, looked, _ = cell_of(p, xs, ys, wx, wy, scratch)
        seen = scratch.seen[:looked].copy()
        if n == COINCIDENT:
            raise coincident(p, int(seen[0]), positions[p])
        offsets = np.column_stack([scratch.x[:n], scratch.y[:n]])
        cells.append(Cell(p, positions[p], offsets, scratch.label[:n].copy(), seen))
    return cells


def coincident(first: int, second: int, place: Points) -> AgentsError:
    """The error for two agents at one place."""
    a, b = sorted((first, second))
    return AgentsError(
        f"agents {a} and {b} stand at the same place {place.tolist()}, so their cells are not "
        "defined; move one of them",
        code="agents.coincident",
        key=f"agents.start[{b}]",
    )
