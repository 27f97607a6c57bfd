"""Guaranteed and dual guaranteed cells as upper envelopes of sinusoids.

Seen from its agent p a cell is a radius rho(u) for each direction u. Agent j, within R of q,
requires for D = q - p and A = (|D|**2 - R**2) / 2

    1 / rho >= u . B + c,    B = D / A,    c = +R / A  guaranteed,  -R / A  dual guaranteed,

and a workspace edge with outward normal n at distance h the same with B = n / h, c = 0. So 1 / rho
is the largest of some sinusoids, and the cell is a ring of arcs, each with one function on top. A
function is put in like a line that cuts a polygon, except that it may win several stretches.

Arcs stay within a quarter turn, so that cross products order their directions. That takes vertices
with the same function on both sides, which are left out of the list of vertices.

Each function is also a curve, z(w) = e (f - a sqrt(1 + w**2)) + e' (b w), e' = e turned left: the
branch of a hyperbola (a = R / 2 or -R / 2, f = |D| / 2, b**2 = f**2 - a**2), or a line (a = 0).
"""

import math
from typing import NamedTuple

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.common.extent import BallBuffers, make_ball_buffers

GUARANTEED, DUAL = 1.0, -1.0  # the sign of R

# Columns of Envelope.curves: B, c, and the curve's e, f, a, b.
BX, BY, C, EX, EY, F, A, B = range(8)
# Columns of Envelope.seen: D, A and R of an agent.
DX, DY, HALF, RADIUS = range(4)
# Columns of a ring: direction and value where an arc begins, and the function on top of it.
UX, UY, VALUE, FUNCTION = range(4)
# Columns of Envelope.panels: from w0 to w1, and the two ends.
W0, W1, X0, Y0, X1, Y1 = range(6)

ROUNDING = 1e-6  # of a cell's largest radius, generously
SAME = 1e-14  # vertices whose directions differ by less count as one
CHUNK = 64  # grid points handled together
MAX_PATCHES = 256


class Envelope(NamedTuple):
    """Buffers for cells of this kind; nothing in them outlives a call."""

    curves: np.ndarray  # (functions, 8): edges first, then agents, then four sides of a square
    seen: np.ndarray  # (agents, 4): the others as seen from p
    shows: np.ndarray  # (agents,): 1 for those that bound either cell
    ring: np.ndarray  # (arcs, 4)
    ring2: np.ndarray  # the ring with the next function
    ring0: np.ndarray  # the ring of the workspace alone
    side: np.ndarray  # by how much the next function exceeds each vertex
    corner: np.ndarray  # (arcs, 3): vertices relative to p, counter-clockwise; z is 0
    label: np.ndarray  # what bounds the cell after each: agent if >= 0, else edge -1 - label
    panels: np.ndarray  # (panels, 6): the boundary in pieces
    owner: np.ndarray  # (panels,): the curve each lies on
    node: np.ndarray  # numbers at quadrature nodes
    pending: np.ndarray  # (MAX_PATCHES, 4): patches still to be integrated
    row: np.ndarray  # (4, CHUNK): grid points
    ball: BallBuffers


def make_envelope(others: int, vertices: int) -> Envelope:
    """Buffers for cells among up to `others` agents in a polygon of `vertices` vertices."""
    many = max(others, 1)
    functions = many + vertices + 4
    arcs = 8 * functions + 64
    return Envelope(
        curves=np.zeros((functions, 8)),
        seen=np.zeros((many, 4)),
        shows=np.zeros(many, dtype=np.int64),
        ring=np.zeros((arcs, 4)),
        ring2=np.zeros((arcs, 4)),
        ring0=np.zeros((arcs, 4)),
        side=np.zeros(arcs),
        corner=np.zeros((arcs, 3)),
        label=np.zeros(arcs, dtype=np.int64),
        panels=np.zeros((8 * arcs, 6)),
        owner=np.zeros(8 * arcs, dtype=np.int64),
        node=np.zeros(80),
        pending=np.zeros((MAX_PATCHES, 4)),
        row=np.zeros((4, CHUNK)),
        ball=make_ball_buffers(),
    )


@inner
def crossing(new, old, rising, ax, ay, bx, by, curves):
    """Where function `new` overtakes `old` (rising) or falls behind it: (ux, uy, value).

    Of the two directions, the one required; moved to the ends a, b of the arc if rounding has put
    it beyond. The value is that of the flatter function, which loses fewer digits.
    """
    fx = curves[new, BX]
    fy = curves[new, BY]
    fc = curves[new, C]
    gx = curves[old, BX]
    gy = curves[old, BY]
    gc = curves[old, C]
    mx = fx - gx
    my = fy - gy
    mc = fc - gc
    size = math.sqrt(mx * mx + my * my)
    ux = ax
    uy = ay
    if size > 0.0:
        hx = mx / size
        hy = my / size
        g = larger(-1.0, smaller(1.0, -mc / size))
        s = math.sqrt(larger(0.0, (size - mc) * (size + mc))) / size
        if rising:
            s = -s
        ux = g * hx - s * hy
        uy = g * hy + s * hx
    if ax * uy - ay * ux < 0.0:
        ux = ax
        uy = ay
    elif ux * by - uy * bx < 0.0:
        ux = bx
        uy = by
    if fx * fx + fy * fy < gx * gx + gy * gy:
        return ux, uy, ux * fx + uy * fy + fc
    return ux, uy, ux * gx + uy * gy + gc


@inner
def peaks_between(new, old, ax, ay, bx, by, curves):
    """Whether function `new`, not above `old` at a and b, exceeds it between them.

    Their difference u . m + mc is largest towards m.
    """
    mx = curves[new, BX] - curves[old, BX]
    my = curves[new, BY] - curves[old, BY]
    mc = curves[new, C] - curves[old, C]
    between = ax * my - ay * mx > 0.0 and mx * by - my * bx > 0.0
    return between and (mc > 0.0 or mx * mx + my * my > mc * mc)


@inner
def put_arc(m, ux, uy, value, function, ring):
    """Write one arc; return how many there are."""
    ring[m, UX] = ux
    ring[m, UY] = uy
    ring[m, VALUE] = value
    ring[m, FUNCTION] = function
    return m + 1


@inner
def is_hidden(new, n, curves, ring, side):
    """Whether function `new` shows nowhere on the envelope; fills `side`."""
    hidden = True
    for i in range(n):
        v = ring[i, UX] * curves[new, BX] + ring[i, UY] * curves[new, BY] + curves[new, C]
        side[i] = v - ring[i, VALUE]
        if side[i] > 0.0:
            hidden = False
    for i in range(n):
        if not hidden:
            return False
        j = i + 1 if i + 1 < n else 0
        ax, ay, old = ring[i, UX], ring[i, UY], int(ring[i, FUNCTION])
        hidden = not peaks_between(new, old, ax, ay, ring[j, UX], ring[j, UY], curves)
    return hidden


@inner
def may_merge(m, new, bx, by, ring):
    """Whether the last arc is of function `new` and within a quarter turn if it ends at b."""
    if m == 0 or ring[m - 1, FUNCTION] != new:
        return False
    ax = ring[m - 1, UX]
    ay = ring[m - 1, UY]
    return ax * bx + ay * by > 0.0 and ax * by - ay * bx > 0.0


@inner
def insert(new, n, curves, ring, side, to):
    """Put function `new` into an envelope of n arcs; return its arcs. `side` and `to`: memory.

    On each arc the new function is on top at both ends, at one, or at none; in the first and the
    last case there may still be a stretch of the other kind between.
    """
    if is_hidden(new, n, curves, ring, side):
        return n
    m = 0
    for i in range(n):
        if m + 3 > to.shape[0]:  # full: would take rounding gone wild
            return n
        j = i + 1 if i + 1 < n else 0
        ax, ay, value, old = ring[i, UX], ring[i, UY], ring[i, VALUE], int(ring[i, FUNCTION])
        bx, by = ring[j, UX], ring[j, UY]
        starts = side[i] > 0.0
        ends = side[j] > 0.0
        first = new if starts else old
        second = old if starts else new
        if starts:
            value = value + side[i]
        if not (starts and may_merge(m, new, bx, by, to)):
            m = put_arc(m, ax, ay, value, first, to)
        twice = starts == ends and peaks_between(second, first, ax, ay, bx, by, curves)
        if twice or starts != ends:
            ux, uy, value = crossing(new, old, not starts, ax, ay, bx, by, curves)
            m = put_arc(m, ux, uy, value, second, to)
        if twice:
            ux, uy, value = crossing(new, old, starts, ax, ay, bx, by, curves)
            m = put_arc(m, ux, uy, value, first, to)
    copy_ring(m, to, ring)
    return m


@inner
def copy_ring(m, ring, to):
    """Copy m arcs."""
    for i in range(m):
        for k in range(4):
            to[i, k] = ring[i, k]


@inner
def see_agents(px, py, n, qx, qy, radius, seen):
    """Write where the others are seen from (px, py); return whether one may be right there."""
    occupied = False
    for j in range(n):
        dx = qx[j] - px
        dy = qy[j] - py
        half = 0.5 * (dx * dx + dy * dy - radius[j] * radius[j])
        seen[j, DX] = dx
        seen[j, DY] = dy
        seen[j, HALF] = half
        seen[j, RADIUS] = radius[j]
        occupied = occupied or not half > 0.0
    return occupied


@inner
def agent_function(k, sign, j, seen, curves):
    """Write function k, the constraint of agent j."""
    dx = seen[j, DX]
    dy = seen[j, DY]
    half = seen[j, HALF]
    d = math.sqrt(dx * dx + dy * dy)
    curves[k, BX] = dx / half
    curves[k, BY] = dy / half
    curves[k, C] = sign * seen[j, RADIUS] / half
    curves[k, EX] = dx / d
    curves[k, EY] = dy / d
    curves[k, F] = 0.5 * d
    curves[k, A] = 0.5 * (sign * seen[j, RADIUS])
    curves[k, B] = math.sqrt(0.5 * half)


@inner
def curve_of(k, curves):
    """(e, f, a, b) of curve k, e by its two coordinates."""
    return curves[k, EX], curves[k, EY], curves[k, F], curves[k, A], curves[k, B]


@inner
def lowest(n, ring):
    """Smallest value on an envelope, which lies at a vertex: 1 over the cell's largest radius."""
    low = ring[0, VALUE]
    for k in range(n):
        low = smaller(low, ring[k, VALUE])
    return low


@inner
def matters(sign, j, reach, seen):
    """Whether agent j's curve may come into a cell of largest radius reach / 2.

    The curve is nearest on the axis, at (|D| - R) / 2, or (|D| + R) / 2 for the dual. An agent that
    may be at p itself has no curve.
    """
    gap = reach * (1.0 + ROUNDING) + sign * seen[j, RADIUS]
    dx = seen[j, DX]
    dy = seen[j, DY]
    return seen[j, HALF] > 0.0 and gap > 0.0 and dx * dx + dy * dy < gap * gap


@inner
def ring_of(sign, m, n, edges, env):
    """Envelope of workspace and agents, into env.ring; return its arcs.

    m: arcs of the workspace's envelope in env.ring0; n: agents, seen beforehand; edges: how many
    the workspace has.
    """
    curves, ring = env.curves, env.ring
    copy_ring(m, env.ring0, ring)
    reach = 2.0 / lowest(m, ring)
    for j in range(n):
        if matters(sign, j, reach, env.seen):
            agent_function(edges + j, sign, j, env.seen, curves)
            m = insert(edges + j, m, curves, ring, env.side, env.ring2)
            reach = 2.0 / lowest(m, ring)
    return m


@inner
def list_vertices(m, edges, env):
    """List the vertices of a ring of m arcs, without those between arcs of one function."""
    ring, corner, label = env.ring, env.corner, env.label
    count = 0
    for i in range(m):
        j = i + 1 if i + 1 < m else 0
        tx = ring[j, UX] - ring[i, UX]
        ty = ring[j, UY] - ring[i, UY]
        if tx * tx + ty * ty > SAME * SAME:
            k = int(ring[i, FUNCTION])
            name = k - edges if k >= edges else -1 - k
            if count == 0 or label[count - 1] != name:
                corner[count, 0] = ring[i, UX] / ring[i, VALUE]
                corner[count, 1] = ring[i, UY] / ring[i, VALUE]
                label[count] = name
                count += 1
    if count > 1 and label[0] == label[count - 1]:  # the ring began in the middle of a curve
        count -= 1
        corner[0, 0] = corner[count, 0]
        corner[0, 1] = corner[count, 1]
    return count
