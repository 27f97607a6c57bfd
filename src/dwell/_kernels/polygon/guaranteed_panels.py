"""The boundary of a star-shaped cell in panels, and moments of constants and polynomials over it.

Each panel is part of one curve z(w) = e (f - a s) + e' (b w) with s = sqrt(1 + w**2): see
guaranteed_envelope.py. Curves are analytic but for w = i and w = -i, so 16 nodes give all digits as
long as a panel is short against its distance from there. Seen from the agent,
z x dz = b (f - a / s) dw is positive: moments that are summed from the agent outwards never cancel.
"""

import math

from dwell._kernels._jit import inner
from dwell._kernels.common.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS
from dwell._kernels.polygon.guaranteed_envelope import (
    EX,
    EY,
    UX,
    UY,
    VALUE,
    W0,
    W1,
    X0,
    X1,
    Y0,
    Y1,
    A,
    B,
    F,
)
from dwell._kernels.polygon.moments import polynomial_at

# (s0 + s1) / (w1 - w0) of a panel, at least. The ellipse round the panel through w = i and w = -i
# then has half axes that sum to 2.85 half panels, and 16 nodes leave an error of 2.85**-32 = 3e-15
# of what the curve differs from a line.
REACH = 1.6


@inner
def middle_of(w0, w1, s0, s1):
    """The w halfway along the branch: sinh of the mean of two areas."""
    return (w0 + w1) / math.sqrt(2.0 * (1.0 + (s0 * s1 - w0 * w1)))


@inner
def point_on(k, w, curves):
    """The point of curve k at w."""
    along = curves[k, F] - curves[k, A] * math.sqrt(1.0 + w * w)
    across = curves[k, B] * w
    x = curves[k, EX] * along - curves[k, EY] * across
    return x, curves[k, EY] * along + curves[k, EX] * across


@inner
def put_panel(m, k, w0, w1, curves, panels, owner):
    """Write one panel of curve k; gives how many there are."""
    owner[m] = k
    panels[m, W0] = w0
    panels[m, W1] = w1
    panels[m, X0], panels[m, Y0] = point_on(k, w0, curves)
    panels[m, X1], panels[m, Y1] = point_on(k, w1, curves)
    return m + 1


@inner
def end_of_panel(w, end):
    """Where a panel of a hyperbola that begins at w ends: at `end`, or as far as 16 nodes serve."""
    s = math.sqrt(1.0 + w * w)
    t = math.sqrt(1.0 + end * end)
    while REACH * (end - w) > s + t:
        end = middle_of(w, end, s, t)
        t = math.sqrt(1.0 + end * end)
    return end


@inner
def place_along(i, k, ring, curves):
    """The w at which corner i of the ring lies on curve k."""
    across = curves[k, EX] * ring[i, UY] - curves[k, EY] * ring[i, UX]
    return across / (ring[i, VALUE] * curves[k, B])


@inner
def cut_into_panels(m, ring, arc, curves, panels, owner):
    """Panels of a ring of m arcs; gives how many."""
    count = 0
    for i in range(m):
        k = arc[i]
        w = place_along(i, k, ring, curves)
        end = place_along(i + 1 if i + 1 < m else 0, k, ring, curves)
        while w < end:
            stop = end
            if curves[k, A] != 0.0 and count + (m - i) < owner.shape[0]:  # leave room for the rest
                stop = end_of_panel(w, end)
            count = put_panel(count, k, w, stop, curves, panels, owner)
            w = stop
    return count


@inner
def constant_moments(px, py, count, panels, owner, curves):
    """(mass, first x, first y, polar) about (px, py) of the constant 1 over the cell.

    Along a ray of length |z| these are 1/2, z / 3 - p / 2 and |z - 4/3 p|**2 / 4 + |p|**2 / 18.
    """
    m = gx = gy = polar = 0.0
    for i in range(count):
        k = owner[i]
        ex = curves[k, EX]
        ey = curves[k, EY]
        f = curves[k, F]
        a = curves[k, A]
        b = curves[k, B]
        w0 = panels[i, W0]
        length = panels[i, W1] - w0
        forward = 4.0 / 3.0 * (px * ex + py * ey)
        left = 4.0 / 3.0 * (py * ex - px * ey)
        sm = sx = sy = sp = 0.0
        for q in range(16):
            w = w0 + length * PANEL_NODES[q]
            s = math.sqrt(1.0 + w * w)
            v = PANEL_WEIGHTS[q] * (f - a / s)
            x = f - a * s
            y = b * w
            sm += v
            sx += v * x
            sy += v * y
            sp += v * ((x - forward) * (x - forward) + (y - left) * (y - left))
        scale = length * b
        m += 0.5 * (scale * sm)
        gx += scale * ((ex * sx - ey * sy) / 3.0 - 0.5 * px * sm)
        gy += scale * ((ey * sx + ex * sy) / 3.0 - 0.5 * py * sm)
        polar += scale * (0.25 * sp + (px * px + py * py) / 18.0 * sm)
    return m, gx, gy, polar


@inner
def polynomial_moments(c, x0, y0, px, py, count, panels, owner, curves):
    """(mass, first x, first y, polar) about (px, py) of the polynomial c in z + (x0, y0).

    Along each ray the rule is exact by degree.
    """
    n = (c.shape[0] + 4) // 2
    m = gx = gy = polar = 0.0
    for i in range(count):
        k = owner[i]
        length = panels[i, W1] - panels[i, W0]
        for q in range(16):
            w = panels[i, W0] + length * PANEL_NODES[q]
            turn = curves[k, F] - curves[k, A] / math.sqrt(1.0 + w * w)
            v = length * PANEL_WEIGHTS[q] * curves[k, B] * turn
            zx, zy = point_on(k, w, curves)
            for j in range(n):
                r = NODES[n, j]
                x = r * zx
                y = r * zy
                u = v * WEIGHTS[n, j] * r * polynomial_at(c, x0 + x, y0 + y)
                x -= px
                y -= py
                m += u
                gx += u * x
                gy += u * y
                polar += u * (x * x + y * y)
    return m, gx, gy, polar
