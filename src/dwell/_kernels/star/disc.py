"""Voronoi cells in a disc or an ellipse: boundaries, moments, edges, nodes.

A cell is a facet in the plane z = 0 of space: see buffers.py.
"""

from dwell._kernels._jit import inlined, inner, njit
from dwell._kernels.common.double_double import times
from dwell._kernels.common.status import COINCIDENT
from dwell._kernels.polygon.halfplane_clip import voronoi_cell
from dwell._kernels.star.buffers import CENTER, FAN, NORMAL, OFFSET, RADIUS, STRETCH
from dwell._kernels.star.ellipse import ARC, WHOLE, curved_cell
from dwell._kernels.star.facets import (
    close_facet,
    exact_product,
    frame_at,
    put_arc,
    put_circle,
    put_pieces_of_arcs,
    put_segment,
    settle_arcs,
)
from dwell._kernels.star.gaussian import gaussian_over_facet
from dwell._kernels.star.nearest import nearest_on_facet
from dwell._kernels.star.plain import plain_over_facet
from dwell._kernels.star.surface import put_box
from dwell._kernels.star.total import (
    NO_MASS,
    NOTHING,
    exponent_frame,
    is_plain,
    joined,
    part_of,
    put_total,
    unscaled,
)
from dwell._kernels.star.vectors import (
    along,
    dot,
    inverse_upper,
    put,
    row_of,
    upper,
    upper_of,
)

FLAT = (0.0, 0.0, 1.0)


@inner
def corner_of_ring(k, w, r):
    """Corner k as (v, low part)."""
    xh, xl = exact_product(w[0], w[1], 0.0, r.x[k], r.xl[k], r.y[k], r.yl[k], 0.0, 0.0)
    yh, yl = times(w[3], 0.0, r.y[k], r.yl[k])
    return (xh, yh, 0.0), (xl, yl, 0.0)


@inner
def pieces_of_ring(m, w, g, r, b):
    """Write the ring of m corners as facet 0; return the number of pieces."""
    center = (-g[0], -g[1], 0.0)
    put(b.facet, 0, NORMAL, FLAT)
    b.facet[0, OFFSET] = 0.0
    put(b.facet, 0, CENTER, center)
    b.facet[0, RADIUS] = 1.0
    b.facet[0, STRETCH] = 1.0
    pieces = arcs = 0
    if m == WHOLE:
        put_circle(FLAT, center, 1.0, b.arc)
        arcs = 1
    else:
        last, last_low = corner_of_ring(0, w, r)
        for k in range(m):
            p = last
            pl = last_low
            last, last_low = corner_of_ring(k + 1 if k + 1 < m else 0, w, r)
            if r.label[k] == ARC:
                arcs = put_arc(arcs, p, pl, last, last_low, FLAT, center, b.arc)
            else:
                pieces = put_segment(pieces, p, pl, last, last_low, 0, b.piece)
        settle_arcs(arcs, 0, pieces, FLAT, center, b.piece, b.arc)
    pieces = put_pieces_of_arcs(arcs, pieces, 0, FLAT, b.piece, b.arc)
    close_facet(0, 0, pieces, -1, b.facet, b.piece)
    return pieces


@inlined
def build_cell(p, xs, ys, wx, wy, frame, s, r, b):
    """The boundary of agent p's cell into r and b.

    Return (status, corners, pieces, squared distance of the nearest agent, agents compared with,
    in s.seen); corners may be WHOLE.
    """
    w = upper_of(frame.root)
    n, compared, nearest = voronoi_cell(p, xs[p], ys[p], xs, ys, wx, wy, s)
    if n == COINCIDENT:
        return COINCIDENT, 0, 0, nearest, compared
    corners = 0
    if n > 0:
        ellipse = (frame.center[0], frame.center[1], w[0], w[1], w[3])
        corners, _ = curved_cell(n, xs[p], ys[p], xs, ys, wx, wy, ellipse, s, r)
    if corners == 0:
        return NO_MASS, 0, 0, nearest, compared
    g, _ = frame_at((xs[p], ys[p], 0.0), frame.center, w)
    return 0, corners, pieces_of_ring(corners, w, g, r, b), nearest, compared


@inner
def cell_sums(sums, inverse):
    """Leave only the trace of second moments, in z, and the mass itself: see part_of."""
    x = inverse[0] * inverse[0] * sums[4] + 2.0 * inverse[0] * inverse[1] * sums[5]
    y = inverse[1] * inverse[1] + inverse[3] * inverse[3]
    sums[4] = x + y * sums[7]
    sums[5] = sums[0]


@inner
def cell_total(place, inverse, terms, b):
    """Moments over the cell in b, as a part: see total.py."""
    total = NOTHING
    fine = b.sums[0]
    coarse = b.sums[1]
    if is_plain(terms):
        b.sums[:] = 0.0
        error = plain_over_facet(0, 0, place, inverse, terms, b.facet, b.piece, fine)
        error -= plain_over_facet(0, 2, place, inverse, terms, b.facet, b.piece, coarse)
        cell_sums(fine, inverse)
        total = part_of(0.0, 1.0, fine, row_of(b.facet, 0, FAN), inverse, abs(error))
    for t in range(terms.weights.shape[0]):
        m, base = exponent_frame(t, place, inverse, terms)
        _, q = nearest_on_facet(0, m, base, b.facet, b.piece)
        x = along(base, 1.0, upper(m, q))
        b.sums[:] = 0.0
        error = gaussian_over_facet(0, q, m, x, b.facet, b.piece, b.box, b.node, fine, coarse)
        cell_sums(fine, inverse)
        part = part_of(-dot(x, x), terms.weights[t], fine, q, inverse, error)
        total = joined(total, part, inverse)
    return unscaled(total)


@njit
def measure_many(lo, hi, row, agent, x, y, wx, wy, frame, terms, s, r, b, out):
    """Measure the cells of agent[k] in configuration row[k] of x, y for k from lo to hi - 1.

    Columns of `out`: see total.py.
    """
    inverse = inverse_upper(upper_of(frame.root))
    for k in range(lo, hi):
        xs = x[row[k]]
        ys = y[row[k]]
        p = agent[k]
        status, corners, _, nearest, _ = build_cell(p, xs, ys, wx, wy, frame, s, r, b)
        neighbors = 0
        for i in range(corners):
            neighbors += r.label[i] >= 0
        total = NOTHING
        if status == 0:
            total = cell_total((xs[p], ys[p], 0.0), inverse, terms, b)
        volume = inverse[0] * inverse[3]
        put_total(status, neighbors, nearest, total, volume, inverse, terms, out[k])


@njit
def ring_of(p, xs, ys, wx, wy, frame, s, r, b):
    """Write the corners of a cell to r: (status, corners, agents compared with)."""
    status, corners, _, _, compared = build_cell(p, xs, ys, wx, wy, frame, s, r, b)
    return status, corners, compared


@njit
def boxes_of(p, xs, ys, wx, wy, frame, s, r, b, out):
    """Write a box for each piece of a cell: see ball.py; return how many."""
    _, _, pieces, _, _ = build_cell(p, xs, ys, wx, wy, frame, s, r, b)
    for i in range(min(pieces, out.shape[0])):
        put_box(i, 0, i, out)
    return pieces
