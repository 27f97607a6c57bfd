"""Voronoi cells in a convex polyhedron, which bisectors cut one after another.

How polyhedra are held: memory.py. The side of each vertex is computed once per plane; everything
else follows from the edges. Vertices that go are those joined to the outermost one through others
outside; those that stay, the ones joined to the innermost. Where many planes meet in a point,
rounding may scatter signs there: splinters are counted to the larger part, so that the new face
always is a single loop.
"""

import math

import numpy as np

from dwell._kernels._jit import inlined, inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.space.neighbors import gather, guessed, place_at, sort_next


@inlined
def sides(n, dx, dy, dz, offset, s):
    """Put v . d - offset of each vertex v into s.side; returns how many are above and below 0."""
    outside = inside = 0
    for v in range(n):
        f = s.x[v] * dx + s.y[v] * dy + s.z[v] * dz - offset
        s.side[v] = f
        outside += f > 0.0
        inside += f < 0.0
    return outside, inside


@inlined
def turned(e):
    """Return the half-edge before e around its vertex, clockwise."""
    return e + 2 if e & 3 == 0 else e - 1


@inlined
def flood(first, mark, outside, s):
    """Mark the vertices joined to `first` through unmarked ones, only those outside if `outside`.

    They are listed in s.gone. Returns their number, the number of edges between them and other
    unmarked vertices, and one of these edges, from the side of the others.
    """
    s.gone[0] = first
    s.mark[first] = mark
    count = 1
    edges = entry = i = 0
    while i < count:
        e = 4 * s.gone[i]
        for h in range(e, e + 3):
            back = s.mate[h]
            w = back >> 2
            if s.mark[w] == 0:
                if not outside or s.side[w] > 0.0:
                    s.mark[w] = mark
                    s.gone[count] = w
                    count += 1
                else:
                    edges += 1
                    entry = back
        i += 1
    return count, edges, entry


@inlined
def walk_around(entry, mate, mark, crossing):
    """List the half-edges into the marked part, in the order of the new face; returns how many."""
    count = 0
    e = entry
    while True:
        crossing[count] = e
        count += 1
        e = turned(mate[e])
        while mark[mate[e] >> 2] == 1:
            e = turned(mate[e])
        e = mate[e]
        if e == entry:
            return count


@inner
def extreme(n, sign, side):
    """Return the vertex with the largest side, or the lowest one if sign = -1."""
    best = 0
    for v in range(1, n):
        if sign * side[v] > sign * side[best]:
            best = v
    return best


@inner
def settle(n, count, s):
    """Decide where signs are scattered; `count` vertices in s.gone are marked so far.

    Marks the vertices outside that are joined to the outermost one, and with them all that are not
    joined to the innermost one through others. Both parts are in one piece then: what is added to
    the first borders on it. Returns how many are marked, and an edge to them from what stays.
    """
    mark = s.mark
    for i in range(count):
        mark[s.gone[i]] = 0
    flood(extreme(n, 1.0, s.side), 1, True, s)
    flood(extreme(n, -1.0, s.side), 2, False, s)
    count = 0
    for v in range(n):
        mark[v] = 1 if mark[v] != 2 else 0
        if mark[v] == 1:
            s.gone[count] = v
            count += 1
    entry = 0
    for i in range(count):
        for h in range(4 * s.gone[i], 4 * s.gone[i] + 3):
            if mark[s.mate[h] >> 2] == 0:
                entry = s.mate[h]
    return count, entry


@inlined
def place_born(count, s):
    """Put the points where the cutting plane meets the edges s.crossing into s.born."""
    for i in range(count):
        e = s.crossing[i]
        v = e >> 2
        w = s.mate[e] >> 2
        t = 1.0  # splinters go where they are
        if s.side[v] >= 0.0:
            t = 0.0
        elif s.side[w] > 0.0:
            t = s.side[v] / (s.side[v] - s.side[w])
        s.born[0, i] = s.x[v] + t * (s.x[w] - s.x[v])
        s.born[1, i] = s.y[v] + t * (s.y[w] - s.y[v])
        s.born[2, i] = s.z[v] + t * (s.z[w] - s.z[v])


@inlined
def move(last, hole, s):
    """Give vertex `last` the number `hole`."""
    s.x[hole], s.y[hole], s.z[hole] = position(last, s)
    for k in range(3):
        h = s.mate[4 * last + k]
        s.mate[4 * hole + k] = h
        s.left[4 * hole + k] = s.left[4 * last + k]
        s.mate[h] = 4 * hole + k


@inlined
def cut(n, outside, inside, face, s):
    """Take away the part of the polyhedron with side > 0; returns the vertex count, 0 if all goes.

    outside, inside: how many vertices are above and below 0; some are outside. The new face has
    the number `face`. s.mark holds zeros, before and after.
    """
    if inside == 0:
        return 0
    mate, left, mark, gone, crossing = s.mate, s.left, s.mark, s.gone, s.crossing
    first = 0
    while s.side[first] <= 0.0:
        first += 1
    count, edges, entry = flood(first, 1, True, s)
    made = 0
    if count == outside:
        made = walk_around(entry, mate, mark, crossing)
    if made != edges:  # signs are scattered
        count, entry = settle(n, count, s)
        made = walk_around(entry, mate, mark, crossing)
    place_born(made, s)
    end = n
    for i in range(count, made):
        gone[i] = end
        mark[end] = 0
        end += 1
    for i in range(made):
        v = gone[i]
        mark[v] = 0
        e = crossing[i]
        before = i - 1 if i > 0 else made - 1
        after = i + 1 if i + 1 < made else 0
        s.x[v], s.y[v], s.z[v] = s.born[0, i], s.born[1, i], s.born[2, i]
        mate[4 * v] = 4 * gone[before] + 1
        left[4 * v] = face
        mate[4 * v + 1] = 4 * gone[after]
        left[4 * v + 1] = left[e]
        mate[4 * v + 2] = e
        left[4 * v + 2] = left[crossing[before]]
        mate[e] = 4 * v + 2
    for i in range(made, count):  # close the gaps
        while mark[end - 1] == 1:
            end -= 1
            mark[end] = 0
        if gone[i] < end:
            end -= 1
            move(end, gone[i], s)
            mark[gone[i]] = 0
    return end


@inlined
def farthest(n, x, y, z):
    """Return the largest squared distance of a vertex from the agent."""
    r = t = 0.0
    for v in range(0, n - 1, 2):  # two at a time: neither waits for the other
        w = v + 1
        r = larger(r, x[v] * x[v] + y[v] * y[v] + z[v] * z[v])
        t = larger(t, x[w] * x[w] + y[w] * y[w] + z[w] * z[w])
    if n % 2 == 1:
        w = n - 1
        t = larger(t, x[w] * x[w] + y[w] * y[w] + z[w] * z[w])
    return larger(r, t)


@inlined
def begin(p, solid, grid, s):
    """Load the workspace in the frame of agent p; returns its vertex count."""
    n = solid.x.shape[0]
    for v in range(n):
        s.x[v] = solid.x[v] - grid.x[p]
        s.y[v] = solid.y[v] - grid.y[p]
        s.z[v] = solid.z[v] - grid.z[p]
    for h in range(4 * n):
        s.mate[h] = solid.mate[h]
        s.left[h] = solid.left[h]
    for f in range(solid.label.shape[0]):
        s.plane[f] = solid.label[f]
    return n


@inlined
def find_cell(p, t, reach, cruise, row, solid, grid, s):
    """Construct the cell of agent p at time t, by agents in balls that grow until it is settled.

    Leaves the polyhedron in s.x, s.y, s.z, s.mate, s.left, what is behind its faces in s.plane, and
    the candidates in s.seen, numbers in the grid. Return (vertices, candidates, squared distance of
    the nearest agent, reach); vertices is 0 for an empty cell and COINCIDENT when another agent is
    at the same position, then s.seen[0]. No agent beyond its reach can change the cell. Given is
    the `reach` of a similar cell, or 0. row: see neighbors.gather.
    """
    key, seen = s.key, s.seen
    own = p if row is None else 0
    if row is not None:
        grid.x[0], grid.y[0], grid.z[0] = place_at(t, p, cruise, row)
    n = begin(own, solid, grid, s)
    faces = solid.label.shape[0]
    radius = guessed(reach, grid.frame)
    square = 4.0 * farthest(n, s.x, s.y, s.z)  # of the reach
    nearest = limit = -1.0
    compared = ready = size = parts = 0  # listed are `size` agents, sorted up to `ready`
    while n > 0:
        if compared == size:
            if limit == np.inf or (nearest >= 0.0 and square <= limit):
                break
            size, limit = gather(p, t, size, limit, radius, cruise, row, grid, key, seen)
            s.ends[0], parts, ready = size, 1, compared
            # Cells only shrink: no agent farther than their reach can matter.
            radius = smaller(2.0 * radius, larger(1.25 * radius, 1.01 * math.sqrt(square)))
            continue
        if compared == ready:
            ready, parts = sort_next(compared, parts, s.ends, key, seen, grid)
        d2, q = key[compared], seen[compared]
        if nearest < 0.0:
            nearest = d2
        if d2 > square:
            break
        compared += 1
        if d2 == 0.0:
            return COINCIDENT, compared, d2, 0.0
        dx, dy, dz = grid.x[q] - grid.x[own], grid.y[q] - grid.y[own], grid.z[q] - grid.z[own]
        outside, inside = sides(n, dx, dy, dz, 0.5 * d2, s)
        if outside > 0:
            s.plane[faces] = q
            n = cut(n, outside, inside, faces, s)
            faces += 1
            square = 4.0 * farthest(n, s.x, s.y, s.z)
    return n, compared, nearest, math.sqrt(square)


@inlined
def voronoi_cell(p, solid, grid, s):
    """Construct the cell of agent p, its number in the grid, at rest: see find_cell."""
    n, compared, nearest, reach = find_cell(p, 0.0, s.reach[0], 0.0, None, solid, grid, s)
    s.reach[0] = reach
    return n, compared, nearest


@inner
def list_loops(n, s):
    """Write the faces one after another: vertices to s.gone, first of each to s.crossing.

    What is behind a face goes to s.face. Returns how many there are.
    """
    s.mark[:n] = 0
    faces = filled = 0
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
    s.mark[:n] = 0
    return faces


@inner
def list_triangles(n, s):
    """Split the faces into triangles: three vertices and what is behind; returns how many."""
    faces = list_loops(n, s)
    count = 0
    for f in range(faces):
        first = s.crossing[f]
        for i in range(first + 1, s.crossing[f + 1] - 1):
            s.corner[count, 0] = s.gone[first]
            s.corner[count, 1] = s.gone[i]
            s.corner[count, 2] = s.gone[i + 1]
            s.corner[count, 3] = s.face[f]
            count += 1
    return count


@inlined
def position(i, solid):
    """Return position i among the coordinates x, y, z of a workspace, of agents or of a cell."""
    return solid.x[i], solid.y[i], solid.z[i]


@inlined
def triangle(t, s):
    """Return the vertices of triangle t."""
    return position(s.corner[t, 0], s), position(s.corner[t, 1], s), position(s.corner[t, 2], s)
