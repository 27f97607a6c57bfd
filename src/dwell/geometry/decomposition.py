"""Regions of the plane as trapezoids, for the kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Floats, Points
from dwell.errors import WorkspaceError

if TYPE_CHECKING:
    from dwell._kernels.polygon.pieces import Pieces
    from dwell._kernels.polygon.region_cut import Cutting

MARGIN = 0.0317  # of the extent: the first box is so much larger
WRONG = 1e-11  # relative: by so much area and moments of the pieces may differ from the rings',
ROUNDINGS = 16.0  # ... or by so many times what rounding changes
SLENDER = 1e-6  # of the area: regions of which rounding changes more are refused


def pieces_of(rings: Sequence[Points]) -> Pieces:
    """The region inside rings that have it on their left, as trapezoids in a tree of boxes."""
    from dwell._kernels.polygon.pieces import DEEPEST, Pieces, fill_nodes, skip_below
    from dwell._kernels.polygon.region_cut import cut_region
    from dwell._kernels.polygon.region_cut import make_cutting as make

    corners = np.concatenate(rings)
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    origin = corners[int(np.argmin(np.abs(corners - middle).sum(axis=1)))].copy()
    local = [ring - origin for ring in rings]
    starts, ends = np.concatenate(local), np.concatenate([np.roll(r, -1, axis=0) for r in local])
    edges = [np.ascontiguousarray(c) for c in (*starts.T, *ends.T)]
    low, high = starts.min(axis=0), starts.max(axis=0)
    box = np.concatenate([low - MARGIN * (high - low), high + MARGIN * (high - low)])
    size = 6 * len(starts) + 64
    cutting = make(len(starts), size)
    while not cut_region(box, *edges, cutting):
        size *= 2
        cutting = make(len(starts), size)
    piece, first, depth = _filled(cutting)
    skip, node = np.empty_like(depth), np.empty((len(depth), 8))
    skip_below(depth, np.empty(DEEPEST + 1, dtype=np.int64), skip)
    fill_nodes(piece, first, skip, node)
    _refuse_wrong(node[0], local)
    return Pieces(origin, piece, node, first, skip)


def _filled(cutting: Cutting) -> tuple[Floats, np.ndarray, np.ndarray]:
    """The pieces, the first one of each node with their number at the end, and the levels."""
    count, nodes = cutting.filled
    first = np.append(cutting.first[:nodes], count)
    return cutting.piece[:count].copy(), first, cutting.depth[:nodes].copy()


def moments_of(rings: Sequence[Points]) -> tuple[float, float, float]:
    """Area and first moments of the region inside rings, by the shoelace formula."""
    sums: list[list[float]] = [[], [], []]
    for ring in rings:
        after = np.roll(ring, -1, axis=0)
        cross = ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]
        middle = ring + after
        for total, values in zip(sums, (cross / 2, *(cross / 6 * middle.T)), strict=True):
            total.extend(values.tolist())
    area, x, y = map(math.fsum, sums)
    return area, x, y


def rounding_of_pieces(rings: Sequence[Points]) -> float:
    """The area by which rounding may change the pieces of a region inside rings.

    The ends of pieces are rounded at the size of the region, each edge on its own.
    """
    corners = np.concatenate(rings)
    ends = np.concatenate([np.roll(ring, -1, axis=0) for ring in rings])
    size = float(np.ptp(corners, axis=0).max())
    length = math.sqrt(float(((ends - corners) ** 2).sum()))  # the root of the sum of squares
    return float(np.finfo(np.float64).eps) * size * length


def _refuse_wrong(root: Floats, rings: Sequence[Points]) -> None:
    """Refuse pieces that are not the region inside the rings: these cross or overlap."""
    from dwell._kernels.polygon.pieces import MASS, MEAN_X, MEAN_Y

    area, x, y = moments_of(rings)
    size = float(np.abs(np.concatenate(rings)).max())
    share = rounding_of_pieces(rings) / area if area > 0.0 else 0.0
    if share > SLENDER:
        digits = f"{area / size:.3g} wide at an extent of {size:.3g}, were it one straight strip"
        raise WorkspaceError(
            f"the region is too slender: {digits}, so that rounding of its coordinates changes its "
            f"area by a share of {share:.1g}; at most {SLENDER:g} is allowed: leave out what is so "
            "thin, or make it wider",
            code="workspace.degenerate",
            key="workspace.parts",
        )
    found = root[MASS], root[MASS] * root[MEAN_X], root[MASS] * root[MEAN_Y]
    gaps = abs(found[0] - area), abs(found[1] - x) / size, abs(found[2] - y) / size
    if not max(gaps) <= max(WRONG, ROUNDINGS * share) * area:
        raise WorkspaceError(
            f"the region's pieces have the area {found[0]:.12g}, but its rings {area:.12g}: some "
            "of its rings cross or overlap; every point must be inside one part only, and holes "
            "inside their parts",
            code="workspace.overlap",
            key="workspace.parts",
        )
