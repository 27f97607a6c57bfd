"""How wide a guaranteed cell in space is: polyhedra round it, cut closer and closer.

The cell is convex: a plane that touches one of its sheets has all of the cell on one side. So the
polyhedron between such planes holds the cell, and its corners tell sizes that are never too small.
Where corners make it larger than the cell, the sheets below them are touched as well.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from dwell._types import Floats, Points, dots, lengths

if TYPE_CHECKING:
    from dwell.geometry.guaranteed_region import StarRegion

CLOSE = 1e-4  # of the size: what it may be too large by
MOST_ROUNDS = 30
AT_ONCE = 40  # corners that are cut off in a round
SURE = 1.0 + 1e-9  # corners are known to rounding only
ON_SHEET = 1e-9  # of the distance from the agent: nearer, a place lies on a sheet, not on a side
Extent = tuple[float, float]  # diameter and circumradius


def extent_of_guaranteed(cell: StarRegion) -> Extent:
    """Upper bounds on diameter and circumradius of a guaranteed cell that is not empty."""
    from scipy.spatial import HalfspaceIntersection, QhullError

    best = cell.rough_extent
    normals, gaps = _first_planes(cell)
    try:
        round_it = HalfspaceIntersection(
            np.column_stack([normals, -gaps]), _inside(cell), incremental=True
        )
        for _ in range(MOST_ROUNDS):
            corners = round_it.intersections
            corners = np.ascontiguousarray(corners[np.isfinite(corners).all(axis=1)])
            best, wrong = _judged(cell, corners, best)
            if not len(wrong):
                break
            normals, gaps = _planes_towards(cell, wrong)
            round_it.add_halfspaces(np.column_stack([normals, -gaps]))
    except QhullError:  # so flat that nothing lies inside, or corners that cannot be distinguished
        pass
    return best


def _judged(cell: StarRegion, corners: Points, best: Extent) -> tuple[Extent, Points]:
    """The better bounds, and the corners that make them too large."""
    found = _extent_of(corners)
    best = min(best[0], SURE * found[0]), min(best[1], SURE * found[1])
    far = lengths(corners)
    inner = corners * np.minimum(cell.radius(corners) / far, 1.0)[:, None]
    least = _extent_of(inner)
    apart = lengths(corners[:, None] - corners[None]).max(axis=1) / least[0]
    # The smallest ball is not at hand; no point farther from its middle than the radius matters.
    wide = (apart > 1.0 + CLOSE) & (best[0] > (1.0 + CLOSE) * least[0])
    if best[1] > (1.0 + CLOSE) * least[1]:
        wide |= lengths(corners - inner) > CLOSE * least[1]
    order = np.argsort(-apart, kind="stable")
    return best, corners[order[wide[order]][:AT_ONCE]]


def _extent_of(points: Points) -> Extent:
    from dwell._kernels.star.buffers import make_ball_buffers
    from dwell._kernels.star.extent import extent

    diameter, circumradius = extent(len(points), points, make_ball_buffers())
    return float(diameter), float(circumradius)


def _inside(cell: StarRegion) -> Points:
    """A point well inside: the mean of some points of the boundary."""
    grid = np.array(list(product((-1.0, 0.0, 1.0), repeat=3)))
    grid = grid[grid.any(axis=1)]
    unit = grid / lengths(grid)[:, None]
    middle: Points = (cell.radius(unit)[:, None] * unit).mean(axis=0)
    return middle


def _first_planes(cell: StarRegion) -> tuple[Points, Floats]:
    """The workspace's sides, and for each sheet the plane that touches it on its axis."""
    sides = np.asarray(cell.workspace.normals)
    gaps = np.maximum(np.asarray(cell.workspace.offsets) - dots(sides, cell.position), 0.0)
    apart = cell.others - cell.position
    far = lengths(apart)
    return (
        np.vstack([sides, apart / far[:, None]]),
        np.concatenate([gaps, 0.5 * (far - cell.radii)]),
    )


def _planes_towards(cell: StarRegion, corners: Points) -> tuple[Points, Floats]:
    """Planes that touch the sheets below these corners."""
    places = corners * (cell.radius(corners) / lengths(corners))[:, None]
    apart = cell.others - cell.position
    slack = np.abs(lengths(places[:, None] - apart) - lengths(places)[:, None] - cell.radii)
    sheet = slack.argmin(axis=1)
    own, theirs = places, places - apart[sheet]
    steep = own / lengths(own)[:, None] - theirs / lengths(theirs)[:, None]
    size = lengths(steep)
    ready = (slack.min(axis=1) <= ON_SHEET * lengths(places)) & (size > 0.0)
    normals = steep[ready] / size[ready, None]
    return normals, dots(normals, places[ready])
