"""What the kernels of curved and of guaranteed cells work on.

Coordinates are v = W (z - position), in which the workspace, an ellipsoid, is the unit ball about
-g with g = W (position - center): |v|**2 + 2 g . v <= sigma, sigma = 1 - |g|**2. In the plane the
third coordinate is 0, and the cell itself is the only facet.

A facet is the part of a plane in the ball; its boundary is made of pieces, each a segment or an arc
of less than a radian. The arcs of all facets, backwards, bound the patch of the sphere.
"""

from typing import NamedTuple

import numpy as np

from dwell._kernels.common.extent import BallBuffers, make_ball_buffers

# Columns of a piece: start, what it was rounded by, then the step of a segment and what that was
# rounded by, or the radius to the start of an arc and the radius a quarter turn on; the angle (0: a
# segment); the facet of an arc, or the vertex at which the edge of a segment begins. For arcs of
# thin cells: LEVEL + TILT . v is the height over a plane. Of a segment: 1 if it ends on the circle.
START, LOW, STEP, QUARTER, ANGLE, OWNER, TILT, LEVEL = 0, 3, 6, 9, 12, 13, 14, 17
ENDS = LEVEL
PIECE_COLUMNS = 18
# Columns of a facet: unit normal, offset, the agent behind it, pieces, apex of the fan, circle, and
# what the normal was rounded by.
NORMAL, OFFSET, BEHIND, FIRST, LAST, FAN, CENTER, RADIUS, STRETCH = 0, 3, 4, 5, 6, 7, 10, 13, 14
NORMAL_LOW = 15
FACET_COLUMNS = 18
# Columns of an arc that is not yet cut into pieces: start, low part, radius, angle.
ARC_COLUMNS = 10
BOXES = 128  # pending halves of a piece
NODES = 784  # of a box: the square of the largest rule
PIECES = 20  # per plane, at most
CONSTRAINT_COLUMNS = 9
# Columns of sums over a region: 1, x, y, z, xx, xy, xz, yy, yz, zz about an apex, and the sum of
# what counts positively and negatively, without signs.
SUMS = 11
WEIGHED = 10
REGION = 13  # numbers that describe a curved workspace: see sheets.py


class CellExtent(NamedTuple):
    """One cell, or one facet of it, whose boundary is in the tables below."""

    facets: int
    pieces: int
    whole: bool  # whether it is the whole ball
    only: int  # the facet that is meant: that of a planar cell; -1 for the cell itself
    ball: tuple[tuple[float, float, float], float, float]  # see frame_at in ring.py


class Boundary(NamedTuple):
    """The boundary of one cell; arrays that kernels overwrite freely."""

    vertex: np.ndarray  # (vertices, 7) those of the polyhedron, low parts, how far outside the ball
    facet: np.ndarray
    piece: np.ndarray
    arc: np.ndarray
    box: np.ndarray  # (BOXES, 4)
    node: np.ndarray  # (NODES, 4) nodes of a surface, and what they weigh
    sums: np.ndarray  # (3, SUMS) over a cell; over a box with all nodes, and with fewer


def make_boundary(facets: int, vertices: int, pieces: int) -> Boundary:
    """Buffers for a cell with so many facets, cut from a polyhedron with so many vertices."""
    return Boundary(
        vertex=np.zeros((vertices, 7)),
        facet=np.zeros((facets, FACET_COLUMNS)),
        piece=np.zeros((pieces, PIECE_COLUMNS)),
        arc=np.zeros((vertices, ARC_COLUMNS)),
        box=np.zeros((BOXES, 4)),
        node=np.zeros((NODES, 4)),
        sums=np.zeros((3, SUMS)),
    )


class SheetBuffers(NamedTuple):
    """Working memory for one cell."""

    gauge: np.ndarray  # (K, 9) constraints, the largest first
    label: np.ndarray  # (K,) whose it is: agent j, or -1 - side
    arc: np.ndarray  # (E, 14) borders between two constraints: see arrangement.py
    owner: np.ndarray  # (E, 2) the two constraints: the first lies left of the arc
    pieces: np.ndarray  # (2, A, 8) pieces of one circle, before and after the next cut
    corner: np.ndarray  # (2 E, 3) corners, relative to the agent
    stack: np.ndarray  # (S, 4) pieces of an arc, or boxes of a sector, that wait
    region: np.ndarray  # (13,) the curved workspace: see sheets.py
    frame: np.ndarray  # (K, 9) frames of sheets
    sector: np.ndarray  # (4 E, 8) sectors of the boundary
    quartic: np.ndarray  # (5,)
    cuts: np.ndarray  # (2, 6) where an arc leaves the workspace
    node: np.ndarray  # (400, 6) points of the boundary, and their vector areas
    sums: np.ndarray  # (3, SUMS) over the cell; over a box by one rule, and by another
    base: np.ndarray  # (G,) e-folds of Gaussian components
    point: np.ndarray  # (P, 3) points whose hull holds the cell
    ball: BallBuffers
    flag: np.ndarray  # (1,) 1: memory was too small


def make_sheet_buffers(others: int, sides: int, components: int, scale: int = 1) -> SheetBuffers:
    """Memory for a cell among so many agents and flat sides, `scale` times the usual."""
    k = others + sides
    arcs = scale * (24 * k + 64)
    return SheetBuffers(
        np.empty((k, CONSTRAINT_COLUMNS)),
        np.empty(k, dtype=np.int64),
        np.empty((arcs, 14)),
        np.empty((arcs, 2), dtype=np.int64),
        np.empty((2, k + 8, 8)),
        np.empty((2 * arcs, 3)),
        np.empty((128, 4)),
        np.empty(REGION),
        np.empty((k, 9)),
        np.empty((4 * arcs, 8)),
        np.empty(5),
        np.empty((2, 6)),
        np.empty((400, 6)),
        np.empty((3, SUMS)),
        np.empty(max(1, components)),
        np.empty((4096 * scale, 3)),
        make_ball_buffers(),
        np.zeros(1, dtype=np.int64),
    )
