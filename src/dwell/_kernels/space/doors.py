"""Where Python enters."""

from dwell._kernels._jit import inner, njit
from dwell._kernels.space.cells import voronoi_cell
from dwell._kernels.space.clip import turned
from dwell._kernels.space.facets import MOMENTS, integrate_facet
from dwell._kernels.space.look import LOG_SCALE, look
from dwell._kernels.space.moments import list_triangles, reach_of, sharpened

# Columns of a border: whose, towards whom, and the moments of facets.py.
AGENT, OTHER, M = range(3)
BORDER_COLUMNS = M + MOMENTS
FULL = -1


@inner
def list_loops(n, s):
    """Write the faces one after another: vertices to s.gone, first of each to s.crossing.

    What is behind a face goes to s.face. Gives how many there are.
    """
    for v in range(n):
        s.mark[v] = 0
    faces = 0
    filled = 0
    for start in range(4 * n):
        v = start >> 2
        k = start & 3
        if k == 3 or (s.mark[v] >> k) & 1:
            continue
        s.crossing[faces] = filled
        s.face[faces] = s.plane[s.left[start]]
        faces += 1
        e = start
        while True:
            s.mark[e >> 2] |= 1 << (e & 3)
            s.gone[filled] = e >> 2
            filled += 1
            e = turned(s.mate[e])
            if e == start:
                break
    s.crossing[faces] = filled
    for v in range(n):
        s.mark[v] = 0
    return faces


@njit
def cell_of(p, solid, grid, s):
    """One Voronoi cell, with its faces listed: (vertices, agents looked at, faces)."""
    n, looked, _, _ = voronoi_cell(p, solid, grid, s)
    faces = 0
    if n > 0:
        reach = reach_of(grid.x[p], grid.y[p], grid.z[p], solid.x, solid.y, solid.z)
        sharpened(n, p, reach, solid, grid, s)
        faces = list_loops(n, s)
    return n, looked, faces


@njit
def look_many(lo, hi, agent, solid, grid, terms, out, s):
    """Looks lo..hi: agent[k] (a number in the grid) looks; fills out[k]: see look.py."""
    for k in range(lo, hi):
        look(agent[k], solid, grid, terms, s, out[k])


@njit
def look_around(lo, hi, row, agent, x, y, z, solid, grid, terms, out, s):
    """Measure the cell of agent[k] in the configuration row[k] of x, y, z, for k in lo..hi.

    `grid` is any with a single bin for as many agents.
    """
    for k in range(lo, hi):
        r = row[k]
        for q in range(x.shape[1]):
            grid.x[q] = x[r, q]
            grid.y[q] = y[r, q]
            grid.z[q] = z[r, q]
        look(agent[k], solid, grid, terms, s, out[k])


@njit
def borders_of(lo, hi, agent, solid, grid, terms, cells, rows, s):
    """Cells of agent[lo] to agent[hi - 1] into `cells`, their borders one by one into `rows`.

    Agents are numbers in the grid. Gives how many rows were filled, or FULL if there is not enough
    room.
    """
    filled = 0
    for k in range(lo, hi):
        p = agent[k]
        look(p, solid, grid, terms, s, cells[k])
        n, _, _, _ = voronoi_cell(p, solid, grid, s)
        if n <= 0:
            continue
        # The cell once more, as looking may have moved it. All vertices get more digits: where two
        # planes are nearly parallel, as of neighbours close together, faces depend on it.
        reach = reach_of(grid.x[p], grid.y[p], grid.z[p], solid.x, solid.y, solid.z)
        sharpened(n, p, reach, solid, grid, s)
        count = list_triangles(n, s.mate, s.left, s.mark, s.corner, s.face)
        first = 0
        while first < count:
            last = first + 1
            while last < count and s.face[last] == s.face[first]:
                last += 1
            other = s.plane[s.face[first]]
            if other >= 0:
                if filled == rows.shape[0]:
                    return FULL
                rows[filled, AGENT] = p
                rows[filled, OTHER] = other
                rows[filled, M:] = 0.0
                integrate_facet(
                    first, last, grid.x[p], grid.y[p], grid.z[p], terms, cells[k, LOG_SCALE],
                    s.corner, s.x, s.y, s.z, s.low, s.fan, s.node, s.pending, rows[filled, M:],
                )  # fmt: skip
                filled += 1
            first = last
    return filled
