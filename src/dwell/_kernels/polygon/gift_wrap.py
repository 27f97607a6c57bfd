"""A cell by gift wrapping: its boundary is traced from line to line.

Every edge lies on a line: the bisector with an agent at displacement d, or an edge of the
workspace, which counts as the bisector with the agent's mirror image. A line is d . z = offset,
offset = d . d / 2, in the agent's own frame. The trace begins on the nearest line, both ways, and
turns from each line onto the first one that crosses ahead. That is a search through all lines
without branches, which vector registers do eight at a time; clipping a polygon line by line
mispredicts every other branch.

The result is checked: each vertex is computed from its two lines, with all digits, and every other
line must pass it by a clear distance. Then the boundary is that of the cell, and its vertices do
not depend on the way it was found or on the other candidates.
Where lines come too close to tell (lattices, agents on a circle, two at nearly one place), or an
agent is outside or on the boundary of the workspace, the cell is left to halfplane_clip.py.
"""

import numpy as np

from dwell._kernels._jit import inlined, inner, spliced
from dwell._kernels.common.arithmetic import product_error, smaller
from dwell._kernels.polygon.buffers import CLOSEST, EDGES, LARGEST, LINES
from dwell._kernels.polygon.halfplane_clip import CLOSER, farthest, voronoi_cell
from dwell._kernels.polygon.vertex_search import cell_by_vertices

BLOCK = 16  # lines tested at once: loops over so many have no remainder
LOW_BITS = LINES - 1  # of a number that is compared: these name the line
CLEAR = 1e-9  # of the squared reach of a cell: other lines must pass its vertices by that
VERTICES = 8  # computed at once

# Rows of Scratch.line: displacement and offset of each line; how far ahead, and astern, it crosses.
DX, DY, OFFSET, STEP, BACK = range(5)


@inner
def full_cross(ax, ay, bx, by):
    """ax * by - ay * bx to a few units in the last place, without branches."""
    p = ax * by
    q = ay * bx
    return (p - q) + (product_error(ax, by, p) - product_error(ay, bx, q))


@inner
def agent_lines(agents, own, px, py, xs, ys, line, behind):
    """The lines of agents 0..agents seen from (px, py), who is number `own` of them."""
    x, y, offset = line[DX], line[DY], line[OFFSET]
    for j in range(agents):
        dx = xs[j] - px
        dy = ys[j] - py
        x[j] = dx
        y[j] = dy
        offset[j] = 0.5 * (dx * dx + dy * dy)
        behind[j] = j
    x[own] = 0.0
    y[own] = 0.0
    offset[own] = np.inf


@inner
def line_of_edge(k, px, py, wx, wy):
    """The line of workspace edge k seen from (px, py), which is inside if the offset exceeds 0."""
    n = wx.shape[0]
    j = k + 1 if k + 1 < n else 0
    a = wy[j] - wy[k]
    b = wx[k] - wx[j]
    o = full_cross(a, b, py - wy[k], wx[k] - px)
    double = 2.0 * o / (a * a + b * b)
    return a * double, b * double, abs(o) * double


@inner
def edge_lines(m, within, px, py, wx, wy, line, behind):
    """Append the workspace edges whose offset is `within` to m lines; return the new number.

    It exceeds LINES if they do not fit, or if (px, py) is not inside.
    """
    for k in range(wx.shape[0]):
        gx, gy, o = line_of_edge(k, px, py, wx, wy)
        if o <= 0.0:
            return LINES + 1
        if o <= within:
            if m == LINES:
                return LINES + 1
            line[DX, m] = gx
            line[DY, m] = gy
            line[OFFSET, m] = o
            behind[m] = -1 - k
            m += 1
    return m


@inner
def fill_block(m, line):
    """Pad with lines that cross nothing, up to whole blocks; return their number."""
    blocks = (m + BLOCK - 1) // BLOCK
    for j in range(m, BLOCK * blocks):
        line[DX, j] = 0.0
        line[DY, j] = 0.0
        line[OFFSET, j] = np.inf
    return blocks


@inner
def nearest_line(blocks, line_bits):
    """The line with the least offset, from the bits of all; -1 if there are two of them.

    Numbers that are not negative are ordered like their bits.
    """
    bits = line_bits[OFFSET]
    least = LARGEST
    for j in range(BLOCK * blocks):
        least = bits[j] if bits[j] < least else least
    first = 0
    count = 0
    for j in range(BLOCK * blocks):
        here = bits[j] == least
        first += j if here else 0
        count += 1 if here else 0
    return first if count == 1 else -1


@inlined
def next_lines(blocks, z, ahead, w, astern, line, line_bits):
    """The lines that cross first, ahead of z and astern of w; fills line[STEP] and line[BACK].

    Both at once: each waits for its own division and comparisons, and the other fills the gaps.
    """
    x, y, offset, step, back = line[DX], line[DY], line[OFFSET], line[STEP], line[BACK]
    bits, back_bits = line_bits[STEP], line_bits[BACK]
    for j in range(BLOCK * blocks):
        gap = offset[j] - (x[j] * z[0] + y[j] * z[1])
        speed = x[j] * ahead[0] + y[j] * ahead[1]
        crosses = speed > 0.0
        step[j] = (gap if crosses else np.inf) / (speed if crosses else 1.0)
        gap = offset[j] - (x[j] * w[0] + y[j] * w[1])
        speed = x[j] * astern[0] + y[j] * astern[1]
        crosses = speed > 0.0
        back[j] = (gap if crosses else np.inf) / (speed if crosses else 1.0)
    least = LARGEST
    rear = LARGEST
    for j in range(BLOCK * blocks):
        named = (bits[j] & ~LOW_BITS) | j
        least = named if named < least else least
        named = (back_bits[j] & ~LOW_BITS) | j
        rear = named if named < rear else rear
    return least & LOW_BITS, rear & LOW_BITS


@inner
def follow(first, blocks, line, line_bits, chain):
    """Trace round the origin from line to line, both ways until they meet; 0 if that fails.

    Returns how many lines there are, listed in `chain`, `first` before all. Those found on the way
    back wait at its end.
    """
    if first < 0:
        return 0
    x, y, step, back = line[DX], line[DY], line[STEP], line[BACK]
    head = tail = first
    z = w = (0.5 * x[first], 0.5 * y[first])
    chain[0] = first
    n = 1
    end = EDGES
    closed = False
    while not closed and n < end:
        ahead = (-y[head], x[head])
        astern = (y[tail], -x[tail])
        g, h = next_lines(blocks, z, ahead, w, astern, line, line_bits)
        if not (step[g] < np.inf and back[h] < np.inf):
            return 0
        closed = g == tail
        if not closed:
            chain[n] = g
            n += 1
            closed = g == h
        if not closed:
            end -= 1
            chain[end] = h
        z = (z[0] + step[g] * ahead[0], z[1] + step[g] * ahead[1])
        w = (w[0] + back[h] * astern[0], w[1] + back[h] * astern[1])
        head = g
        tail = h
    if not closed:
        return 0
    for i in range(end, EDGES):
        chain[n] = chain[i]
        n += 1
    return n if n >= 3 else 0


@inner
def meet_lines(n, chain, line, edge, x, y):
    """The vertices between neighbouring lines of a closed chain, into x, y."""
    for k in (DX, DY, OFFSET):
        for i in range(n):
            edge[k, i + 1] = line[k, chain[i]]
        edge[k, 0] = edge[k, n]
    edge_x, edge_y, edge_offset = edge[DX], edge[DY], edge[OFFSET]
    for i in range(VERTICES * ((n + VERTICES - 1) // VERTICES)):  # some too many
        ax = edge_x[i]
        ay = edge_y[i]
        ao = edge_offset[i]
        bx = edge_x[i + 1]
        by = edge_y[i + 1]
        bo = edge_offset[i + 1]
        area = full_cross(ax, ay, bx, by)
        area = area if area != 0.0 else 1.0
        x[i] = full_cross(ao, ay, bo, by) / area
        y[i] = full_cross(ax, ao, bx, bo) / area


@inner
def keep_workspace_vertices(n, px, py, wx, wy, label, x, y):
    """Copy the vertices where two workspace edges meet, which need not be computed."""
    before = label[n - 1]
    for i in range(n):
        here = label[i]
        k = -1 - here
        if here < 0 and before == -1 - (k - 1 if k > 0 else wx.shape[0] - 1):
            x[i] = wx[k] - px
            y[i] = wy[k] - py
        before = here


@inner
def are_clear(n, blocks, distance, line, x, y):
    """Whether each of n vertices lies on its own two lines, and clearly inside all others."""
    dx, dy, offset = line[DX], line[DY], line[OFFSET]
    count = 0
    for i in range(n):
        zx = x[i]
        zy = y[i]
        for j in range(BLOCK * blocks):
            count += 1 if offset[j] - (dx[j] * zx + dy[j] * zy) <= distance else 0
    return count == 2 * n


@spliced
def trace_cell(m, px, py, wx, wy, x, y, label, s):
    """The cell bounded by the m lines in s.line, with the labels s.behind.

    Leaves vertices and labels in x, y, label. Returns its vertices, the number of the nearest line
    and the squared reach; 0 vertices where the lines do not tell clearly.
    """
    n = first = 0
    reach = 0.0
    if m <= LINES:
        blocks = fill_block(m, s.line)
        first = nearest_line(blocks, s.line_bits)
        n = follow(first, blocks, s.line, s.line_bits, s.chain)
        meet_lines(n, s.chain, s.line, s.edge, x, y)
        on_boundary = False
        for i in range(n):
            label[i] = s.behind[s.chain[i]]
            on_boundary = on_boundary | (label[i] < 0)
        if on_boundary:
            keep_workspace_vertices(n, px, py, wx, wy, label, x, y)
        reach = farthest(n, x, y)
        if not are_clear(n, blocks, CLEAR * reach, s.line, x, y):
            n = 0
    return n, first, reach


@spliced
def trace_near(agents, own, within, px, py, xs, ys, wx, wy, s):
    """The cell of agent `own` at (px, py) among agents 0..agents, in s.x, s.y, s.label.

    Workspace edges whose offset is not `within` are left out. Return (vertices, squared distance
    of the nearest agent, squared reach); no vertices as above.
    """
    m = agents
    if agents <= LINES:
        agent_lines(agents, own, px, py, xs, ys, s.line, s.behind)
        if within > 0.0:
            m = edge_lines(m, within, px, py, wx, wy, s.line, s.behind)
    n, first, reach = trace_cell(m, px, py, wx, wy, s.x, s.y, s.label, s)
    nearest = -1.0
    if n > 0:
        nearest = 2.0 * s.line[OFFSET, first]
        if first >= agents:
            least = np.inf
            for j in range(agents):
                least = smaller(least, s.line[OFFSET, j])
            nearest = 2.0 * least if least < np.inf else -1.0
    return n, nearest, reach


@spliced
def retrace_cell(n, candidates, px, py, xs, ys, wx, wy, s):
    """Replace the n vertices of a clipped cell by those of a trace, where that is clear.

    Only the candidates (s.seen) and workspace edges that may touch the cell count. Return the
    vertices, and whether the cell is crowded: more than LINES agents may touch it.
    """
    if n <= 0:
        return n, False
    within = 0.5 * CLOSER * farthest(n, s.x, s.y)
    m = 0
    for k in range(candidates):
        q = s.seen[k]
        dx = xs[q] - px
        dy = ys[q] - py
        o = 0.5 * (dx * dx + dy * dy)
        if o <= within:
            if m == LINES:
                return n, True
            s.line[DX, m] = dx
            s.line[DY, m] = dy
            s.line[OFFSET, m] = o
            s.behind[m] = q
            m += 1
    m = edge_lines(m, within, px, py, wx, wy, s.line, s.behind)
    found, _, _ = trace_cell(m, px, py, wx, wy, s.x2, s.y2, s.label2, s)
    if found == 0:
        return n, False
    for k in range(found):
        s.x[k] = s.x2[k]
        s.y[k] = s.y2[k]
        s.label[k] = s.label2[k]
    return found, False


@inner
def clipped_cell(p, px, py, xs, ys, wx, wy, s):
    """Cell of agent p at (px, py) among agents (xs, ys) in the polygon (wx, wy).

    Returns what `cut_cell` returns, and whether the cell is crowded: see `retrace_cell`.
    """
    n, candidates, nearest = voronoi_cell(p, px, py, xs, ys, wx, wy, s)
    n, crowded = retrace_cell(n, candidates, px, py, xs, ys, wx, wy, s)
    return n, candidates, nearest, crowded


@spliced
def traced_cell(p, quick, px, py, xs, ys, wx, wy, s):
    """Cell of agent p at (px, py) among agents (xs, ys) in the polygon (wx, wy): see cut_cell.

    A crowded cell is found by its vertices; but for the agents in s.seen alone, if not `quick`.
    """
    n, candidates, nearest, crowded = clipped_cell(p, px, py, xs, ys, wx, wy, s)
    if crowded and quick:
        for k in range(CLOSEST):
            q = s.seen[k]
            s.who[k + 1] = q
            s.closest[k, 1] = s.dx[q]
            s.closest[k, 2] = s.dy[q]
        n, nearest, _ = cell_by_vertices(p, 0.0, px, py, xs, ys, 0.0, None, None, None, wx, wy, s)
    return n, candidates, nearest


@spliced
def cell_among_few(p, quick, px, py, xs, ys, wx, wy, s):
    """Cell of agent p at (px, py) among at most LINES agents, with the bits of `traced_cell`.

    Among more it is clipped. The candidates are listed in s.seen unless `quick`.
    """
    n = candidates = 0
    nearest = -1.0
    if quick:
        n, nearest, _ = trace_near(xs.shape[0], p, np.inf, px, py, xs, ys, wx, wy, s)
    if n == 0:
        n, candidates, nearest, _ = clipped_cell(p, px, py, xs, ys, wx, wy, s)
    return n, candidates, nearest
