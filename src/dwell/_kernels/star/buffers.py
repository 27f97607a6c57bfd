"""What the kernels of curved cells work on: the ellipsoid, and the boundary of one cell.

Coordinates are v = W (z - position), in which the ellipsoid is the unit ball about -g with
g = W (position - center): |v|**2 + 2 g . v <= sigma, sigma = 1 - |g|**2. In the plane the third
coordinate is 0, and the cell itself is the only facet.

A facet is the part of a plane in the ball; its boundary is made of pieces, each a segment or an arc
of less than a radian. The arcs of all facets, backwards, bound the patch of the sphere.
"""

from typing import NamedTuple

import numpy as np

# Columns of a piece: start, what it was rounded by, then the step of a segment and what that was
# rounded by, or the radius to the start of an arc and the radius a quarter turn on; the angle (0: a
# segment), and the facet. For arcs of thin cells: LEVEL + TILT . v is the height over a plane.
START, LOW, STEP, QUARTER, ANGLE, FACET, TILT, LEVEL = 0, 3, 6, 9, 12, 13, 14, 17
PIECE_COLUMNS = 18
# Columns of a facet: unit normal, offset, what is behind, pieces, apex of the fan, circle, and what
# the normal was rounded by.
NORMAL, OFFSET, BEHIND, FIRST, LAST, FAN, CENTER, RADIUS, STRETCH = 0, 3, 4, 5, 6, 7, 10, 13, 14
NORMAL_LOW = 15
FACET_COLUMNS = 18
# Columns of an arc that is not yet cut into pieces: start, low part, radius, angle.
ARC_COLUMNS = 10
BOXES = 128  # pending halves of a piece
NODES = 784  # of a box: the square of the largest rule
PIECES = 20  # per plane, at most


class Frame(NamedTuple):
    """The workspace {z: |W (z - center)| <= 1} with W upper triangular."""

    center: np.ndarray  # (3,)
    root: np.ndarray  # (3, 3) W


class Boundary(NamedTuple):
    """The boundary of one cell; arrays that kernels overwrite freely."""

    vertex: np.ndarray  # (vertices, 7) those of the polyhedron, low parts, how far outside the ball
    facet: np.ndarray
    piece: np.ndarray
    arc: np.ndarray
    box: np.ndarray  # (BOXES, 4)
    node: np.ndarray  # (NODES, 4) nodes of a surface, and what they weigh
    sums: np.ndarray  # (2, 10) sums over a cell or a facet, with all nodes and with fewer


def make_boundary(facets: int, vertices: int, pieces: int) -> Boundary:
    """Buffers for a cell with so many facets, cut from a polyhedron with so many vertices."""
    return Boundary(
        vertex=np.zeros((vertices, 7)),
        facet=np.zeros((facets, FACET_COLUMNS)),
        piece=np.zeros((pieces, PIECE_COLUMNS)),
        arc=np.zeros((vertices, ARC_COLUMNS)),
        box=np.zeros((BOXES, 4)),
        node=np.zeros((NODES, 4)),
        sums=np.zeros((2, 10)),
    )
