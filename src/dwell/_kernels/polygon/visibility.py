"""Straight segments and shortest paths within a polygon with holes, given by its directed edges.

Each edge runs from (ax, ay) to (bx, by), with the interior on its left; `turning` says whether a
shortest path may turn at its first vertex. Distances up to `slack` count as contact: a segment may
touch the boundary and run along it. Edges are listed by the cells of a grid that they pass, and by
its rows, so that a segment is compared with those near it only.
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.common.arithmetic import larger, smaller

PAD = 2.0  # times the slack: by how much cells reach beyond their sides
UNKNOWN, SEEN, HIDDEN = 0, 1, 2  # what is known of two corners
START = -1  # the corner before the first one of a path


class Outline(NamedTuple):
    """The edges of a polygon with holes, and the grid in which they are listed."""

    ax: np.ndarray  # (E,) each; the interior is on the left of a to b
    ay: np.ndarray
    bx: np.ndarray
    by: np.ndarray
    turning: np.ndarray  # (E,) whether a shortest path may turn at a
    slack: float
    west: float  # of the grid
    south: float
    wide: float  # of its cells
    high: float
    columns: int
    rows: int
    begins: np.ndarray  # (cells + 1,) where the edges of each cell begin in `edges`, row by row
    edges: np.ndarray
    row_begins: np.ndarray  # likewise for rows
    row_edges: np.ndarray


class Corners(NamedTuple):
    """Vertices at which shortest paths may turn, their neighbours, and which see each other."""

    x: np.ndarray  # (V,) each
    y: np.ndarray
    next_x: np.ndarray
    next_y: np.ndarray
    last_x: np.ndarray  # of the vertex before
    last_y: np.ndarray
    known: np.ndarray  # (V, V) UNKNOWN, SEEN or HIDDEN; filled as paths are sought


class Search(NamedTuple):
    """Working memory of one search."""

    direct: np.ndarray  # (V,) straight from the start, which may prove hidden: then inf
    far: np.ndarray  # (V,) along corners that are known to see each other
    before: np.ndarray  # (V,) the corner before
    settled: np.ndarray  # (V,)


@inner
def place_of(x, low, side, count):
    """The number of the cell along one axis in which x lies, or the one nearest to it."""
    return math.floor(larger(0.0, smaller((x - low) / side, count - 1.0)))


@inner
def rows_of(outline, ay, by):
    """The first and the last row of cells that a segment touches."""
    pad = PAD * outline.slack
    low, high = smaller(ay, by) - pad, larger(ay, by) + pad
    return (
        place_of(low, outline.south, outline.high, outline.rows),
        place_of(high, outline.south, outline.high, outline.rows),
    )


@inner
def columns_of(outline, row, ax, ay, bx, by):
    """The first and the last cell of a row that a segment touches."""
    pad, dy = PAD * outline.slack, by - ay
    s, r = 0.0, 1.0
    if dy != 0.0:
        # The outermost rows reach as far as anything does.
        low = outline.south + row * outline.high - pad if row > 0 else -math.inf
        high = outline.south + (row + 1.0) * outline.high + pad
        high = high if row < outline.rows - 1 else math.inf
        one, other = (low - ay) / dy, (high - ay) / dy
        s = larger(s, smaller(smaller(one, other), 1.0))
        r = smaller(r, larger(larger(one, other), 0.0))
    one, other = ax + s * (bx - ax), ax + r * (bx - ax)
    low, high = smaller(one, other) - pad, larger(one, other) + pad
    return (
        place_of(low, outline.west, outline.wide, outline.columns),
        place_of(high, outline.west, outline.wide, outline.columns),
    )


@njit
def count_cells(outline, begins, row_begins):
    """Count the edges in each cell and in each row, in the entry after its own."""
    ax, ay, bx, by = outline.ax, outline.ay, outline.bx, outline.by
    for k in range(ax.shape[0]):
        low, high = rows_of(outline, ay[k], by[k])
        for row in range(low, high + 1):
            row_begins[row + 1] += 1
            first, last = columns_of(outline, row, ax[k], ay[k], bx[k], by[k])
            for i in range(first, last + 1):
                begins[row * outline.columns + i + 1] += 1


@njit
def list_cells(outline, cell_ends, row_ends):
    """List the edges in each cell and in each row; *_ends: where to write the next, moved on."""
    ax, ay, bx, by = outline.ax, outline.ay, outline.bx, outline.by
    for k in range(ax.shape[0]):
        low, high = rows_of(outline, ay[k], by[k])
        for row in range(low, high + 1):
            outline.row_edges[row_ends[row]] = k
            row_ends[row] += 1
            first, last = columns_of(outline, row, ax[k], ay[k], bx[k], by[k])
            for i in range(first, last + 1):
                cell = row * outline.columns + i
                outline.edges[cell_ends[cell]] = k
                cell_ends[cell] += 1


@inner
def foot(x, y, ax, ay, bx, by):
    """The displacement from a point to the nearest point of the segment from a to b."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    along = (x - ax) * dx + (y - ay) * dy
    if along <= 0.0 or square == 0.0:
        return ax - x, ay - y
    if along >= square:
        return bx - x, by - y
    t = along / square
    return ax + t * dx - x, ay + t * dy - y


@inner
def holds(outline, x, y):
    """Whether the polygon holds a point, its boundary included."""
    ax, ay, bx, by, slack = outline.ax, outline.ay, outline.bx, outline.by, outline.slack
    inside = False
    row = place_of(y, outline.south, outline.high, outline.rows)
    for i in range(outline.row_begins[row], outline.row_begins[row + 1]):
        k = outline.row_edges[i]
        gx, gy = foot(x, y, ax[k], ay[k], bx[k], by[k])
        if gx * gx + gy * gy <= slack * slack:
            return True
        if (ay[k] > y) != (by[k] > y):
            side = (bx[k] - ax[k]) * (y - ay[k]) - (x - ax[k]) * (by[k] - ay[k])
            if (side > 0.0) == (by[k] > ay[k]):
                inside = not inside
    return inside


@inner
def nearest(outline, x, y):
    """The displacement from a point to the nearest one of the boundary.

    Of several that are equally near within the slack, the one with the least displacement.
    """
    ax, ay, bx, by = outline.ax, outline.ay, outline.bx, outline.by
    least = math.inf
    for k in range(ax.shape[0]):
        gx, gy = foot(x, y, ax[k], ay[k], bx[k], by[k])
        least = smaller(least, gx * gx + gy * gy)
    most = math.sqrt(least) + outline.slack
    dx, dy = math.inf, math.inf
    for k in range(ax.shape[0]):
        gx, gy = foot(x, y, ax[k], ay[k], bx[k], by[k])
        if math.sqrt(gx * gx + gy * gy) <= most and (gx < dx or (gx == dx and gy < dy)):
            dx, dy = gx, gy
    return dx, dy


@inner
def is_passed(outline, k, px, py, dx, dy, begin, end):
    """Whether the line from p along the unit vector d touches vertex k between two distances."""
    ux, uy, slack = outline.ax[k] - px, outline.ay[k] - py, outline.slack
    return abs(dx * uy - dy * ux) <= slack and begin + slack < ux * dx + uy * dy < end - slack


@inner
def is_crossed(outline, k, px, py, qx, qy, dx, dy, length):
    """Whether the segment from p to q, along the unit vector d, crosses edge k."""
    slack = outline.slack
    ux, uy = outline.ax[k] - px, outline.ay[k] - py
    vx, vy = outline.bx[k] - px, outline.by[k] - py
    side_a = dx * uy - dy * ux
    side_b = dx * vy - dy * vx
    if abs(side_a) <= slack or abs(side_b) <= slack or (side_a > 0.0) == (side_b > 0.0):
        return False
    along = ux * dx + uy * dy
    t = side_a / (side_a - side_b)
    at = along + t * (vx * dx + vy * dy - along)
    if not slack < at < length - slack:
        return False
    ex, ey = vx - ux, vy - uy
    edge = math.sqrt(ex * ex + ey * ey)
    start = ex * -uy + ey * ux
    end = ex * (qy - outline.ay[k]) - ey * (qx - outline.ax[k])
    return abs(start) > slack * edge and abs(end) > slack * edge


@inner
def next_touch(outline, px, py, qx, qy, dx, dy, begin, length):
    """How far from p the segment to q touches the next vertex after `begin`; its length if none."""
    end = length
    low, high = rows_of(outline, py, qy)
    for row in range(low, high + 1):
        first, last = columns_of(outline, row, px, py, qx, qy)
        cell = row * outline.columns
        for i in range(outline.begins[cell + first], outline.begins[cell + last + 1]):
            k = outline.edges[i]
            if is_passed(outline, k, px, py, dx, dy, begin, end):
                end = (outline.ax[k] - px) * dx + (outline.ay[k] - py) * dy
    return end


@inner
def sees(outline, px, py, qx, qy):
    """Whether the segment from p to q lies in the polygon and passes no turning vertex on its way.

    A shortest path that passes a turning vertex has it among its vertices. Other vertices may be
    touched: the segment is then tested between each two of them.
    """
    dx, dy = qx - px, qy - py
    length = math.sqrt(dx * dx + dy * dy)
    if length <= outline.slack:
        return True
    dx, dy = dx / length, dy / length
    touched = False
    low, high = rows_of(outline, py, qy)
    for row in range(low, high + 1):
        first, last = columns_of(outline, row, px, py, qx, qy)
        cell = row * outline.columns
        for i in range(outline.begins[cell + first], outline.begins[cell + last + 1]):
            k = outline.edges[i]
            if is_passed(outline, k, px, py, dx, dy, 0.0, length):
                if outline.turning[k]:
                    return False
                touched = True
            if is_crossed(outline, k, px, py, qx, qy, dx, dy, length):
                return False
    begin = 0.0
    while begin < length:
        end = length
        if touched:
            end = next_touch(outline, px, py, qx, qy, dx, dy, begin, length)
        middle = 0.5 * (begin + end)
        if not holds(outline, px + middle * dx, py + middle * dy):
            return False
        begin = end
    return True


@inner
def may_turn(corners, slack, k, px, py):
    """Whether a shortest path along the segment from p to corner k may turn there.

    Not where the outline's two edges there lie clearly on different sides of the segment's line.
    """
    dx, dy = corners.x[k] - px, corners.y[k] - py
    ux, uy = corners.next_x[k] - corners.x[k], corners.next_y[k] - corners.y[k]
    vx, vy = corners.last_x[k] - corners.x[k], corners.last_y[k] - corners.y[k]
    one, other = dx * uy - dy * ux, dx * vy - dy * vx
    length = math.sqrt(dx * dx + dy * dy)
    sure = 2.0 * slack
    return not (
        (one > 0.0) != (other > 0.0)
        and abs(one) > sure * (math.sqrt(ux * ux + uy * uy) + length)
        and abs(other) > sure * (math.sqrt(vx * vx + vy * vy) + length)
    )


@inner
def are_joined(outline, corners, i, k):
    """Whether a shortest path may go straight from corner i to corner k: found out once."""
    known = corners.known[i, k]
    if known == UNKNOWN:
        ax, ay, bx, by = corners.x[i], corners.y[i], corners.x[k], corners.y[k]
        joined = (
            may_turn(corners, outline.slack, k, ax, ay)
            and may_turn(corners, outline.slack, i, bx, by)
            and sees(outline, ax, ay, bx, by)
        )
        known = SEEN if joined else HIDDEN
        # Another thread may write the same.
        corners.known[i, k] = known
        corners.known[k, i] = known
    return known == SEEN


@inner
def between(ax, ay, bx, by):
    """The distance between two points."""
    return math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))


@inner
def last_corner(outline, corners, search, px, py, qx, qy):
    """The last corner of the shortest path from p to q, which do not see each other.

    START if there is no path. The corners are settled in the order of the shortest path on which
    each may lie (A*); that p or q sees one is tested when it is settled.
    """
    count = corners.x.shape[0]
    for k in range(count):
        search.direct[k] = between(px, py, corners.x[k], corners.y[k])
        if not may_turn(corners, outline.slack, k, px, py):
            search.direct[k] = math.inf
        search.far[k] = math.inf
        search.settled[k] = False
    while True:
        u, least = START, math.inf
        for k in range(count):
            if not search.settled[k]:
                known = smaller(search.direct[k], search.far[k])
                if known < math.inf:
                    whole = known + between(qx, qy, corners.x[k], corners.y[k])
                    if whole < least:
                        u, least = k, whole
        if u == START:
            return START
        ux, uy = corners.x[u], corners.y[u]
        if search.direct[u] <= search.far[u]:
            if not sees(outline, px, py, ux, uy):
                search.direct[u] = math.inf
                continue
            search.far[u], search.before[u] = search.direct[u], START
        search.settled[u] = True
        if may_turn(corners, outline.slack, u, qx, qy) and sees(outline, ux, uy, qx, qy):
            return u
        for k in range(count):
            if not search.settled[k]:
                whole = search.far[u] + between(ux, uy, corners.x[k], corners.y[k])
                if whole < search.far[k] and are_joined(outline, corners, u, k):
                    search.far[k], search.before[k] = whole, u


@njit
def find_path(outline, corners, search, px, py, qx, qy, path):
    """Write the corners of the shortest path from p to q, the last one first; return their number.

    -1 if there is no path.
    """
    if sees(outline, px, py, qx, qy):
        return 0
    k, count = last_corner(outline, corners, search, px, py, qx, qy), 0
    if k == START:
        return -1
    while k != START:
        path[count] = k
        count += 1
        k = search.before[k]
    return count


@njit
def find_ways(outline, corners, search, x, y, error, stretch):
    """Put errors along the ways of agents at x, y to the nearest points to their targets.

    error : (K, 2) from each agent to its target; becomes a vector along the first straight stretch
    of the way, as long as all of it. stretch : the length of that stretch; 0 where there is no way,
    and the error is then the straight one.
    """
    for i in range(x.shape[0]):
        qx, qy = x[i] + error[i, 0], y[i] + error[i, 1]
        if not holds(outline, qx, qy):
            gx, gy = nearest(outline, qx, qy)
            qx, qy = qx + gx, qy + gy
            error[i, 0], error[i, 1] = qx - x[i], qy - y[i]
        px, py = x[i], y[i]
        if not holds(outline, px, py):
            gx, gy = nearest(outline, px, py)
            px, py = px + gx, py + gy
        straight = math.sqrt(error[i, 0] * error[i, 0] + error[i, 1] * error[i, 1])
        stretch[i] = straight
        if sees(outline, px, py, qx, qy):
            continue
        k = last_corner(outline, corners, search, px, py, qx, qy)
        if k == START:
            stretch[i] = 0.0
            continue
        whole, ux, uy = 0.0, qx, qy
        while k != START:
            # A corner at which the agent is begins no stretch.
            if between(px, py, corners.x[k], corners.y[k]) > outline.slack:
                whole += between(ux, uy, corners.x[k], corners.y[k])
                ux, uy = corners.x[k], corners.y[k]
            k = search.before[k]
        dx, dy = ux - x[i], uy - y[i]
        first = math.sqrt(dx * dx + dy * dy)
        whole += first
        error[i, 0], error[i, 1] = dx * (whole / first), dy * (whole / first)
        stretch[i] = first


@njit
def find_nearest(outline, x, y, away):
    """Write to `away`, (K, 2), the displacement of each point to the nearest one of the polygon."""
    for i in range(x.shape[0]):
        away[i, 0], away[i, 1] = 0.0, 0.0
        if not holds(outline, x[i], y[i]):
            away[i, 0], away[i, 1] = nearest(outline, x[i], y[i])


@njit
def are_held(outline, x, y, found):
    """Write to `found` whether the polygon holds each point."""
    for i in range(x.shape[0]):
        found[i] = holds(outline, x[i], y[i])
