"""Cutting a convex polyhedron by a half-space. How polyhedra are held: memory.py.

The side of each vertex is computed once; everything else follows from the edges.
Vertices that go are those joined to the outermost one through others outside; those that stay, the
ones joined to the innermost. Where many planes meet in a point, rounding may scatter signs there:
splinters are counted to the larger part, so that the new face always is a single loop.
"""

from dwell._kernels._jit import inlined, inner


@inlined
def sides(n, dx, dy, dz, offset, x, y, z, side):
    """Put v . d - offset of each vertex v into `side`; gives how many are above and below 0."""
    outside = 0
    inside = 0
    for v in range(n):
        f = x[v] * dx + y[v] * dy + z[v] * dz - offset
        side[v] = f
        outside += f > 0.0
        inside += f < 0.0
    return outside, inside


@inlined
def extremes(n, side):
    """The vertices with the lowest and the highest side."""
    lowest = 0
    highest = 0
    for v in range(1, n):
        if side[v] < side[lowest]:
            lowest = v
        if side[v] > side[highest]:
            highest = v
    return lowest, highest


@inlined
def turned(e):
    """The half-edge before e around its vertex, clockwise."""
    return e + 2 if e & 3 == 0 else e - 1


@inlined
def take_outside(first, mate, side, mark, gone):
    """Mark the vertices outside that are joined to `first`.

    Gives their number, the number of edges between them and the others, and one of these edges,
    from the side that stays.
    """
    gone[0] = first
    mark[first] = 1
    count = 1
    edges = 0
    entry = 0
    i = 0
    while i < count:
        e = 4 * gone[i]
        for h in range(e, e + 3):
            back = mate[h]
            w = back >> 2
            if mark[w] == 0:
                if side[w] > 0.0:
                    mark[w] = 1
                    gone[count] = w
                    count += 1
                else:
                    edges += 1
                    entry = back
        i += 1
    return count, edges, entry


@inlined
def walk_around(entry, mate, mark, crossing):
    """List the half-edges into the marked part, in the order of the new face; gives how many."""
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
def settle(n, count, mate, side, mark, gone):
    """Decide where signs are scattered; `count` vertices in `gone` are marked so far.

    Marks the vertices outside that are joined to the outermost one, and with them all that are not
    joined to the innermost one through others. Both parts are in one piece then: what is added to
    the first borders on it. Gives how many are marked, and an edge to them from what stays.
    """
    for i in range(count):
        mark[gone[i]] = 0
    lowest, highest = extremes(n, side)
    take_outside(highest, mate, side, mark, gone)
    gone[0] = lowest
    mark[lowest] = 2
    count = 1
    i = 0
    while i < count:
        e = 4 * gone[i]
        for h in range(e, e + 3):
            w = mate[h] >> 2
            if mark[w] == 0:
                mark[w] = 2
                gone[count] = w
                count += 1
        i += 1
    count = 0
    for v in range(n):
        mark[v] = 1 if mark[v] != 2 else 0
        if mark[v] == 1:
            gone[count] = v
            count += 1
    entry = 0
    for i in range(count):
        for h in range(4 * gone[i], 4 * gone[i] + 3):
            if mark[mate[h] >> 2] == 0:
                entry = mate[h]
    return count, entry


@inlined
def place_born(count, crossing, mate, side, x, y, z, born):
    """Where the cutting plane meets the edges `crossing`."""
    for i in range(count):
        e = crossing[i]
        v = e >> 2
        w = mate[e] >> 2
        t = 1.0  # splinters go where they are
        if side[v] >= 0.0:
            t = 0.0
        elif side[w] > 0.0:
            t = side[v] / (side[v] - side[w])
        born[0, i] = x[v] + t * (x[w] - x[v])
        born[1, i] = y[v] + t * (y[w] - y[v])
        born[2, i] = z[v] + t * (z[w] - z[v])


@inlined
def drop(hole, last, x, y, z, mate, left):
    """Move vertex `last` to the place `hole`."""
    x[hole] = x[last]
    y[hole] = y[last]
    z[hole] = z[last]
    for k in range(3):
        h = mate[4 * last + k]
        mate[4 * hole + k] = h
        left[4 * hole + k] = left[4 * last + k]
        mate[h] = 4 * hole + k


@inlined
def cut(n, outside, inside, face, side, x, y, z, mate, left, mark, gone, crossing, born):
    """Take away the part of the polyhedron with side > 0; gives the vertex count, 0 if all goes.

    outside, inside: how many vertices are above and below 0; some are outside. The new face is
    called `face`. `mark` holds zeros, before and after.
    """
    if inside == 0:
        return 0
    first = 0
    while side[first] <= 0.0:
        first += 1
    count, edges, entry = take_outside(first, mate, side, mark, gone)
    made = 0
    if count == outside:
        made = walk_around(entry, mate, mark, crossing)
    if made != edges:  # signs are scattered
        count, entry = settle(n, count, mate, side, mark, gone)
        made = walk_around(entry, mate, mark, crossing)
    place_born(made, crossing, mate, side, x, y, z, born)
    room = n
    for i in range(count, made):
        gone[i] = room
        mark[room] = 0
        room += 1
    for i in range(made):
        v = gone[i]
        mark[v] = 0
        e = crossing[i]
        before = i - 1 if i > 0 else made - 1
        after = i + 1 if i + 1 < made else 0
        x[v] = born[0, i]
        y[v] = born[1, i]
        z[v] = born[2, i]
        mate[4 * v] = 4 * gone[before] + 1
        left[4 * v] = face
        mate[4 * v + 1] = 4 * gone[after]
        left[4 * v + 1] = left[e]
        mate[4 * v + 2] = e
        left[4 * v + 2] = left[crossing[before]]
        mate[e] = 4 * v + 2
    for i in range(made, count):  # close the gaps
        while mark[room - 1] == 1:
            room -= 1
            mark[room] = 0
        if gone[i] < room:
            room -= 1
            drop(gone[i], room, x, y, z, mate, left)
            mark[gone[i]] = 0
    return room
