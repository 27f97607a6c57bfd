"""All agents in the bins round one bin, among which an agent in it finds its neighbours.

They are gathered once for all agents in the bin. See cell_list.py for cells that reach beyond.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.polygon.buffers import LINES
from dwell._kernels.polygon.cell_list import COLUMNS, ROWS, SIDE, SPARE, X, Y, rounding_margin

ASIDE = 2  # bins on each side
HALF_DIAGONAL = 0.71  # of a bin's side; rounded up


@inner
def first_aside(k):
    """The first column or row of the block round the k-th."""
    return larger(k - ASIDE, 0)


@inner
def last_aside(k, count):
    """The last column or row of the block round the k-th."""
    return smaller(k + ASIDE, count - 1)


@inner
def gather_block(b, bins, x, y, near):
    """List the agents round bin b; return their number, and where those in the bin itself begin.

    x, y: all positions in the order of the bins, with some to spare. The number is 0 if there are
    too many. Each row of bins is copied in whole vector registers; what is too much is overwritten.
    """
    across = int(bins.frame[COLUMNS])
    row = b // across
    left = first_aside(b - row * across)
    right = last_aside(b - row * across, across)
    m = 0
    own = 0
    for k in range(first_aside(row), last_aside(row, int(bins.frame[ROWS])) + 1):
        begin = bins.first[k * across + left]
        count = bins.first[k * across + right + 1] - begin
        if m + count > LINES:
            return 0, 0
        if k == row:
            own = m + bins.first[b] - begin
        for i in range(SPARE * ((count + SPARE - 1) // SPARE)):
            near.x[m + i] = x[begin + i]
            near.y[m + i] = y[begin + i]
        m += count
    return m, own


@inner
def gap_to_sides(z, k, low, side, count):
    """How far z in column or row k is from the nearer end of the block; inf if it has none.

    The outermost bins hold those beyond them, too.
    """
    gap = np.inf
    if k - ASIDE > 0:
        gap = z - (low + (k - ASIDE) * side)
    if k + ASIDE < count - 1:
        gap = smaller(gap, low + (k + ASIDE + 1) * side - z)
    return gap


@inner
def block_limit(b, px, py, frame):
    """The squared distance from (px, py) in bin b up to which all agents are in the block."""
    across = int(frame[COLUMNS])
    row = b // across
    gap = gap_to_sides(px, b - row * across, frame[X], frame[SIDE], frame[COLUMNS])
    gap = smaller(gap, gap_to_sides(py, row, frame[Y], frame[SIDE], frame[ROWS]))
    gap -= rounding_margin(frame)
    return gap * gap if gap > 0.0 else -1.0


@inner
def touches_boundary(b, frame, wx, wy):
    """Whether the boundary may touch a cell of an agent in bin b that the block suffices for.

    Such a cell reaches no farther than half the distance to an end of the block, if it has one.
    """
    if frame[COLUMNS] <= ASIDE + 1 and frame[ROWS] <= ASIDE + 1:
        return True
    across = int(frame[COLUMNS])
    side = frame[SIDE]
    x = frame[X] + (b % across + 0.5) * side
    y = frame[Y] + (b // across + 0.5) * side
    least = (0.5 * (ASIDE + 1) + HALF_DIAGONAL) * side + rounding_margin(frame)
    n = wx.shape[0]
    for k in range(n):
        j = k + 1 if k + 1 < n else 0
        dx = wx[j] - wx[k]
        dy = wy[j] - wy[k]
        inside = dx * (y - wy[k]) - dy * (x - wx[k])
        if inside <= least * math.sqrt(dx * dx + dy * dy):
            return True
    return False
