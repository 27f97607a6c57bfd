"""Arcs in pieces short enough for a Gauss rule.

On a piece u = M + P cos + Q sin with cos = (1 - w**2) / (1 + w**2), sin = 2 w / (1 + w**2) and w
from -W to W: everything to be integrated is a rational function of w.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.quadrature import rule
from dwell._kernels.star.arrangement import (
    EX,
    EY,
    EZ,
    FX,
    FY,
    FZ,
    MX,
    MY,
    MZ,
    SPAN,
    X0,
    X1,
    Y0,
    Y1,
)  # fmt: skip
from dwell._kernels.star.gauge import BX, BY, BZ, SHIFT

NODES = 12
X, WEIGHT = rule("legendre", NODES)
X = np.ascontiguousarray(2.0 * X - 1.0)
WEIGHT = np.ascontiguousarray(2.0 * WEIGHT)
FAR = 4.25  # poles lie outside the ellipse of an error below 4**-24, times their order's powers
DEEPEST = 60  # halvings of a piece


@inner
def quarter(e, step, arc):
    """Piece number `step` of at most a quarter turn: (x0, y0, x1, y1, whether it is the last)."""
    x0 = arc[e, X0]
    y0 = arc[e, Y0]
    for _ in range(step):
        x0, y0 = -y0, x0
    if arc[e, SPAN] - step > 1.0:
        return x0, y0, -y0, x0, False
    return x0, y0, arc[e, X1], arc[e, Y1], True


@inner
def put_waiting(depth, x0, y0, x1, y1, stack):
    """Note a piece that waits."""
    stack[depth, 0] = x0
    stack[depth, 1] = y0
    stack[depth, 2] = x1
    stack[depth, 3] = y1


@inner
def middle(x0, y0, x1, y1):
    """Half-way along a piece: (cos and sin of the middle, W)."""
    x = x0 + x1
    y = y0 + y1
    r = math.sqrt(x * x + y * y)
    x /= r
    y /= r
    return x, y, (x * y1 - y * x1) / (1.0 + (x * x1 + y * y1))


@inner
def is_short(f0, f1, f2, w):
    """Whether f0 + f1 cos + f2 sin is far from 0 all round a piece, also at complex places."""
    a = f0 + f1
    c = f0 - f1
    inside = f2 * f2 - a * c  # roots of c w**2 + 2 f2 w + a
    if inside >= 0.0:
        root = math.sqrt(inside)
        high = abs(f2) + root
        if abs(c) > 0.0 and 2.0 * high < FAR * w * abs(c):
            return False
        return not 2.0 * abs(a) < FAR * w * high
    re = -f2 / c
    im = math.sqrt(-inside) / c
    near = math.sqrt((re - w) * (re - w) + im * im) + math.sqrt((re + w) * (re + w) + im * im)
    return near >= FAR * w


@inner
def along_arc(k, e, x, y, gauge, arc):
    """Constraint k on arc e as f0 + f1 cos + f2 sin, angles from its place (x, y)."""
    ux, uy, uz = gauge[k, BX], gauge[k, BY], gauge[k, BZ]
    g1 = arc[e, EX] * ux + arc[e, EY] * uy + arc[e, EZ] * uz
    g2 = arc[e, FX] * ux + arc[e, FY] * uy + arc[e, FZ] * uz
    g0 = arc[e, MX] * ux + arc[e, MY] * uy + arc[e, MZ] * uz + gauge[k, SHIFT]
    return g0, x * g1 + y * g2, x * g2 - y * g1
