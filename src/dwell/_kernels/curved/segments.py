"""Moments of constants and polynomials over the segments between panels and their chords.

A panel from a to b = a + D with tau = tan(angle / 4) is, for v from -1 to 1 and w = tau v,

    m + 1/2 t D + h K D,   t = v (1 + tau**2) / (1 + w**2),   h = 1/2 tau (1 - v**2) / (1 + w**2)

about the middle m of its chord: no term of it cancels, however short it is. K D is conjugate to D
and -D x K D = 4 s**2 / det W with s half the chord's length in the disc. The segment is swept by
m + 1/2 t D + r h K D, 0 <= r <= 1; its area is (2 s**2 / det W) h dt dr, always positive. All of it
is analytic but for w = i and w = -i, ten half panels away or more.
"""

from dwell._kernels._jit import inner
from dwell._kernels.curved.ellipse import half_chord, turned_right
from dwell._kernels.moments import polynomial_at
from dwell._kernels.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS

FEW = 10  # nodes along a panel for a constant: 10**-20 of what the panel differs from its chord


@inner
def panel_point(v, tau):
    """(t, h, h dt / dv) at v."""
    w = tau * v
    square = 1.0 + w * w
    bend = 1.0 + tau * tau
    t = v * bend / square
    h = 0.5 * tau * (1.0 - v) * (1.0 + v) / square
    return t, h, h * bend * (1.0 - w) * (1.0 + w) / (square * square)


@inner
def segment_scale(dx, dy, w):
    """4 s**2 / det W of a chord: with the weights on [0, 1] that makes h dt dr an area."""
    s = half_chord(dx, dy, w)
    return 4.0 * s * s / (w[0] * w[2])


@inner
def constant_segment(ax, ay, dx, dy, tau, px, py, w):
    """(mass, first x, first y, polar) about (px, py) of the constant 1 over one segment.

    Along r the moments are 1, z0 + k / 2 and |z0|**2 + z0 . k + |k|**2 / 3 with k = h K D.
    """
    kx, ky = turned_right(dx, dy, w)
    mx = (ax - px) + 0.5 * dx
    my = (ay - py) + 0.5 * dy
    m = fx = fy = polar = 0.0
    for i in range(FEW):
        t, h, weight = panel_point(2.0 * NODES[FEW, i] - 1.0, tau)
        weight *= WEIGHTS[FEW, i]
        hx = 0.5 * h * kx
        hy = 0.5 * h * ky
        x = mx + 0.5 * t * dx + hx
        y = my + 0.5 * t * dy + hy
        m += weight
        fx += weight * x
        fy += weight * y
        polar += weight * (x * x + y * y + (hx * hx + hy * hy) / 3.0)
    scale = segment_scale(dx, dy, w)
    return scale * m, scale * fx, scale * fy, scale * polar


@inner
def polynomial_segment(c, x0, y0, ax, ay, dx, dy, tau, px, py, w):
    """The same of the polynomial c in z + (x0, y0): across the panel exact by degree."""
    kx, ky = turned_right(dx, dy, w)
    mx = ax + 0.5 * dx
    my = ay + 0.5 * dy
    n = (c.shape[0] + 3) // 2
    m = fx = fy = polar = 0.0
    for i in range(16):
        t, h, weight = panel_point(2.0 * PANEL_NODES[i] - 1.0, tau)
        weight *= PANEL_WEIGHTS[i]
        for j in range(n):
            r = NODES[n, j] * h
            x = mx + 0.5 * t * dx + r * kx
            y = my + 0.5 * t * dy + r * ky
            v = weight * WEIGHTS[n, j] * polynomial_at(c, x0 + x, y0 + y)
            x -= px
            y -= py
            m += v
            fx += v * x
            fy += v * y
            polar += v * (x * x + y * y)
    scale = segment_scale(dx, dy, w)
    return scale * m, scale * fx, scale * fy, scale * polar
