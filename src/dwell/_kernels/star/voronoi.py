"""Voronoi cells in discs and ellipses, and in balls and ellipsoids of space; nodes in them.

A cell of the plane is a facet in the plane z = 0 of space.
"""

from dwell._kernels._jit import inlined, inner, njit
from dwell._kernels.common.algebra import (
    ZERO,
    along,
    dot,
    inverse_upper,
    put,
    row_of,
    scaled,
    upper,
    upper_of,
)
from dwell._kernels.common.quadrature import COUNT, NODES, WEIGHTS
from dwell._kernels.common.status import COINCIDENT, NO_MASS
from dwell._kernels.polygon.halfplane_clip import voronoi_cell
from dwell._kernels.polygon.vertex_refinement import refine_vertices
from dwell._kernels.space.careful import sharpen
from dwell._kernels.space.cells import list_loops
from dwell._kernels.space.cells import voronoi_cell as polyhedron_of
from dwell._kernels.star.buffers import (
    ANGLE,
    CENTER,
    FAN,
    NORMAL,
    OFFSET,
    RADIUS,
    STRETCH,
    CellExtent,
)
from dwell._kernels.star.cell import apex_of, measure, volume_of
from dwell._kernels.star.ring import (
    FULL,
    close_facet,
    frame_at,
    mapped,
    plane_of_facet,
    put_circle,
    put_pieces_of_arcs,
    put_vertex,
    ring_of_facet,
)
from dwell._kernels.star.surface import EDGES, FLAT, surface_nodes, surface_of

UP = (0.0, 0.0, 1.0)
NO_CELL = CellExtent(0, 0, False, -1, (ZERO, 0.0, 0.0))
CROWDED = -3  # status: the buffers are too small for the cell's boundary


@inlined
def disc_cell(p, xs, ys, wx, wy, frame, loop, s, b):
    """The boundary of agent p's cell into b.

    Return (status, cell, squared distance of the nearest agent, agents compared with, in s.seen).
    The vertices of its polygon stay in s, with all digits, so that thin cells keep theirs.
    """
    w = upper_of(frame.matrix)
    ball, rest = frame_at((xs[p], ys[p], 0.0), frame.center, w)
    n, compared, nearest = voronoi_cell(p, xs[p], ys[p], xs, ys, wx, wy, s)
    if n == COINCIDENT or n == 0:
        status = COINCIDENT if n == COINCIDENT else NO_MASS
        return status, CellExtent(0, 0, False, 0, ball), nearest, compared
    sharp = refine_vertices(
        n, xs[p], ys[p], xs, ys, wx, wy, s.label, s.x, s.y, s.x2, s.y2, s.fan, s.side, s.label2
    )
    for k in range(n):
        low = (s.x2[k], s.y2[k], 0.0) if sharp else ZERO
        v, low = mapped(w, ((s.x[k], s.y[k], 0.0), low))
        put_vertex(k, (v, along(low, 1.0, rest)), ball, b.vertex)  # about the rounded g
    put(b.facet, 0, NORMAL, UP)
    b.facet[0, OFFSET] = 0.0
    put(b.facet, 0, CENTER, scaled(-1.0, ball[0]))
    b.facet[0, RADIUS] = b.facet[0, STRETCH] = 1.0
    pieces = ring_of_facet(0, 0, 0, n, loop, ball, b)
    close_facet(0, 0, pieces, -1, b.facet, b.piece)
    return 0 if pieces > 0 else NO_MASS, CellExtent(1, pieces, False, 0, ball), nearest, compared


@njit
def measure_discs(row, agent, terms, x, y, wx, wy, frame, loop, s, b, out):
    """Measure the cells of agent[k] in configuration row[k] of x, y into out[k].

    Columns of `out`: see cell.py. Return (status, cell, agents compared with) of the last one.
    """
    status, cell, compared = NO_MASS, NO_CELL, 0
    for k in range(row.shape[0]):
        xs = x[row[k]]
        ys = y[row[k]]
        p = agent[k]
        status, cell, nearest, compared = disc_cell(p, xs, ys, wx, wy, frame, loop, s, b)
        neighbors = 0
        for i in range(cell.pieces):
            neighbors += b.piece[i, ANGLE] == 0.0
        place = (xs[p], ys[p], 0.0)
        measure(status, cell, neighbors, nearest, place, frame, terms, b, out[k])
    return status, cell, compared


@inner
def put_equator(g, b):
    """Write the pieces of a great circle, for a cell that is the whole ball; return how many."""
    down, center = (0.0, 0.0, -1.0), scaled(-1.0, g)
    put(b.facet, 0, NORMAL, down)
    b.facet[0, OFFSET] = g[2]
    put(b.facet, 0, CENTER, center)
    put(b.facet, 0, FAN, center)
    put_circle(down, center, 1.0, b.arc)
    return put_pieces_of_arcs(1, 0, 0, down, b.piece, b.arc)


@inner
def list_facets(loops, place, w, ball, grid, s, b):
    """Write the facets of a polyhedron that lie in the ball, as a cell; its pieces may be FULL.

    Without any piece it is empty.
    """
    facets = pieces = 0
    whole = True
    for k in range(loops):
        q = s.face[k]
        if q < 0:
            continue  # of the box round the ball
        d = (grid.x[q] - place[0], grid.y[q] - place[1], grid.z[q] - place[2])
        if facets == b.facet.shape[0]:
            return CellExtent(facets, FULL, False, -1, ball)
        meets = plane_of_facet(facets, d, w, ball, b.facet)
        if b.facet[facets, OFFSET] + dot(row_of(b.facet, facets, NORMAL), ball[0]) < 0.0:
            whole = False
        if not meets:
            continue
        first = pieces
        pieces = ring_of_facet(facets, first, s.crossing[k], s.crossing[k + 1], s.gone, ball, b)
        if pieces == FULL:
            return CellExtent(facets, FULL, False, -1, ball)
        if pieces > first:
            close_facet(facets, first, pieces, q, b.facet, b.piece)
            facets += 1
    if pieces == 0 and whole:
        pieces = put_equator(ball[0], b)
    return CellExtent(facets, pieces, whole and facets == 0, -1, ball)


@inner
def ball_cell(p, solid, grid, frame, s, b):
    """The boundary of agent p's cell into b.

    Return (status, cell, squared distance of the nearest agent, agents compared with, in s.seen).
    """
    w = upper_of(frame.matrix)
    place = (grid.x[p], grid.y[p], grid.z[p])
    ball, _ = frame_at(place, frame.center, w)
    n, compared, nearest = polyhedron_of(p, solid, grid, s)
    if n == COINCIDENT or n == 0:
        status = COINCIDENT if n == COINCIDENT else NO_MASS
        return status, CellExtent(0, 0, False, -1, ball), nearest, compared
    sharpen(n, p, solid, grid, s)
    loops = list_loops(n, s)
    for k in range(n):
        low = (s.low[0, k], s.low[1, k], s.low[2, k])
        put_vertex(k, mapped(w, ((s.x[k], s.y[k], s.z[k]), low)), ball, b.vertex)
    cell = list_facets(loops, place, w, ball, grid, s, b)
    status = 0 if cell.pieces > 0 else NO_MASS
    return CROWDED if cell.pieces == FULL else status, cell, nearest, compared


@njit
def measure_balls(agent, terms, solid, grid, frame, s, b, out):
    """Measure the cells of agents, by their numbers in the grid, into rows of `out`.

    Return (status, cell, agents compared with) of the last one.
    """
    status, cell, compared = NO_MASS, NO_CELL, 0
    for k in range(agent.shape[0]):
        p = agent[k]
        status, cell, nearest, compared = ball_cell(p, solid, grid, frame, s, b)
        place = (grid.x[p], grid.y[p], grid.z[p])
        measure(status, cell, cell.facets, nearest, place, frame, terms, b, out[k])
    return status, cell, compared


@njit
def boxes_of(cell, b, out):
    """Write a box for each piece of each surface of a cell; return how many there are.

    Rows: surface and piece, then ranges of t, s and the share r of the ray from the apex.
    """
    filled = 0
    for k in range(cell.facets + 2):
        there, first, last, surface = surface_of(k, cell, b)
        for i in range(first, last if there else first):
            if surface.kind <= FLAT or b.piece[i, ANGLE] > 0.0:
                out[filled, 0] = k
                out[filled, 1] = i
                for side in range(3):
                    out[filled, 2 + 2 * side] = 0.0
                    out[filled, 3 + 2 * side] = 1.0
                filled += 1
    return filled


@njit
def nodes_of_boxes(n, cell, boxes, frame, b, out):
    """Write the nodes of each box of a cell to out[k], rows (z - position, weight).

    n: row of the rule each way.
    """
    inverse = inverse_upper(upper_of(frame.matrix))
    volume = volume_of(cell, inverse, b.facet)
    apex = apex_of(cell, b.facet)
    for k in range(cell.facets + 2):
        there, _, _, surface = surface_of(k, cell, b)
        for row in range(boxes.shape[0]):
            if there and int(boxes[row, 0]) == k:
                fill_box(n, boxes[row], surface, apex, volume, inverse, b, out[row])


@inner
def fill_box(n, box, surface, apex, volume, inverse, b, out):
    """Write the nodes of one box: see nodes_of_boxes."""
    sides = (box[2], box[3], box[4], box[5])
    m = COUNT[n]
    for h in range(surface_nodes(int(box[1]), sides, n, n, surface, apex, b.piece, b.node)):
        d = row_of(b.node, h, 0)
        for k in range(m):
            r = box[6] + (box[7] - box[6]) * NODES[n, k]
            put(out, h * m + k, 0, upper(inverse, along(apex, r, d)))
            weight = volume * b.node[h, 3] * WEIGHTS[n, k] * (box[7] - box[6]) * r
            out[h * m + k, 3] = weight if surface.kind == EDGES else weight * r
