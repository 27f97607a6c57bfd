"""Thin and small cells once more, with twice the digits.

Which planes meet in a vertex is known by then, so each vertex is computed again as their meeting,
in double-double arithmetic (numbers h + l), and with it what the moments need: the volumes under
the triangles of the faces.

A plane is (ah, al, bh, bl, ch, cl, oh, ol): a x + b y + c z = o in the agent's frame.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger
from dwell._kernels.common.double_double import add, cross_product, difference, quotient, times

FLATTEST = 1e-14  # sine of the angle at which three planes meet: below, rounding decides where
FARTHEST = 1e-4  # of the cell's size: vertices that would move more are noise, and stay ...
GRAIN = 64.0 * np.finfo(float).eps  # ... if it is also more than so much of the workspace's size


@inner
def triple(u, v, w):
    """u . (v x w) of vectors (xh, xl, yh, yl, zh, zl)."""
    ph, pl = cross_product(v[2], v[3], v[4], v[5], w[2], w[3], w[4], w[5])
    qh, ql = cross_product(v[4], v[5], v[0], v[1], w[4], w[5], w[0], w[1])
    rh, rl = cross_product(v[0], v[1], v[2], v[3], w[0], w[1], w[2], w[3])
    ph, pl = times(u[0], u[1], ph, pl)
    qh, ql = times(u[2], u[3], qh, ql)
    rh, rl = times(u[4], u[5], rh, rl)
    sh, sl = add(ph, pl, qh, ql)
    return add(sh, sl, rh, rl)


@inner
def half_square(ah, al, bh, bl, ch, cl):
    """Half the squared length of a vector."""
    ph, pl = times(ah, al, ah, al)
    qh, ql = times(bh, bl, bh, bl)
    rh, rl = times(ch, cl, ch, cl)
    sh, sl = add(ph, pl, qh, ql)
    sh, sl = add(sh, sl, rh, rl)
    return 0.5 * sh, 0.5 * sl


@inner
def bisector(p, q, x, y, z):
    """The plane between agents p and q, in the frame of p."""
    ah, al = difference(x[q], x[p])
    bh, bl = difference(y[q], y[p])
    ch, cl = difference(z[q], z[p])
    oh, ol = half_square(ah, al, bh, bl, ch, cl)
    return ah, al, bh, bl, ch, cl, oh, ol


@inner
def apart(i, j, x, y, z):
    """Vector from place i to place j."""
    ah, al = difference(x[j], x[i])
    bh, bl = difference(y[j], y[i])
    ch, cl = difference(z[j], z[i])
    return ah, al, bh, bl, ch, cl


@inner
def wall(i, j, k, px, py, pz, wx, wy, wz):
    """The plane through three corners of the workspace, seen from (px, py, pz)."""
    u = apart(i, j, wx, wy, wz)
    v = apart(i, k, wx, wy, wz)
    ah, al = cross_product(u[2], u[3], u[4], u[5], v[2], v[3], v[4], v[5])
    bh, bl = cross_product(u[4], u[5], u[0], u[1], v[4], v[5], v[0], v[1])
    ch, cl = cross_product(u[0], u[1], u[2], u[3], v[0], v[1], v[2], v[3])
    xh, xl = difference(wx[i], px)
    yh, yl = difference(wy[i], py)
    zh, zl = difference(wz[i], pz)
    ph, pl = times(ah, al, xh, xl)
    qh, ql = times(bh, bl, yh, yl)
    rh, rl = times(ch, cl, zh, zl)
    oh, ol = add(ph, pl, qh, ql)
    oh, ol = add(oh, ol, rh, rl)
    return ah, al, bh, bl, ch, cl, oh, ol


@inner
def plane_of(face, plane, p, x, y, z, wx, wy, wz, base):
    """The plane of a face: of the workspace (plane < 0), or the bisector with an agent."""
    q = plane[face]
    if q >= 0:
        return bisector(p, q, x, y, z)
    return wall(base[face, 0], base[face, 1], base[face, 2], x[p], y[p], z[p], wx, wy, wz)


@inner
def length(f):
    """Length of a plane's normal."""
    return math.sqrt(f[0] * f[0] + f[2] * f[2] + f[4] * f[4])


@inner
def meeting(f, g, h):
    """Where three planes meet: (found, xh, xl, yh, yl, zh, zl)."""
    nf = (f[0], f[1], f[2], f[3], f[4], f[5])
    ng = (g[0], g[1], g[2], g[3], g[4], g[5])
    nh = (h[0], h[1], h[2], h[3], h[4], h[5])
    dh, dl = triple(nf, ng, nh)
    if not abs(dh) > FLATTEST * (length(f) * length(g) * length(h)):
        return False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    u = (f[6], f[7], g[6], g[7], h[6], h[7])
    a = (f[0], f[1], g[0], g[1], h[0], h[1])
    b = (f[2], f[3], g[2], g[3], h[2], h[3])
    c = (f[4], f[5], g[4], g[5], h[4], h[5])
    xh, xl = triple(u, b, c)
    yh, yl = triple(a, u, c)
    zh, zl = triple(a, b, u)
    xh, xl = quotient(xh, xl, dh, dl)
    yh, yl = quotient(yh, yl, dh, dl)
    zh, zl = quotient(zh, zl, dh, dl)
    return True, xh, xl, yh, yl, zh, zl


@inner
def sharpen(n, p, reach, gx, gy, gz, wx, wy, wz, base, plane, left, x, y, z, low):
    """Compute the n vertices again, as x + low[0] and so on.

    reach: squared distance of the farthest corner of the workspace, which cutting started from.
    Those where planes are as good as parallel stay as they are.
    """
    size = 0.0
    for v in range(n):
        size = larger(size, x[v] * x[v] + y[v] * y[v] + z[v] * z[v])
    nearby = larger(FARTHEST * FARTHEST * size, GRAIN * GRAIN * reach)
    for v in range(n):
        low[0, v] = 0.0
        low[1, v] = 0.0
        low[2, v] = 0.0
        f = plane_of(left[4 * v], plane, p, gx, gy, gz, wx, wy, wz, base)
        g = plane_of(left[4 * v + 1], plane, p, gx, gy, gz, wx, wy, wz, base)
        h = plane_of(left[4 * v + 2], plane, p, gx, gy, gz, wx, wy, wz, base)
        found, xh, xl, yh, yl, zh, zl = meeting(f, g, h)
        if found:
            dx = xh - x[v]
            dy = yh - y[v]
            dz = zh - z[v]
            if dx * dx + dy * dy + dz * dz <= nearby:
                x[v] = xh
                y[v] = yh
                z[v] = zh
                low[0, v] = xl
                low[1, v] = yl
                low[2, v] = zl


@inner
def from_to(a, b, x, y, z, low):
    """Vector from vertex a to vertex b, with all digits."""
    xh, xl = add(x[b], low[0, b], -x[a], -low[0, a])
    yh, yl = add(y[b], low[1, b], -y[a], -low[1, a])
    zh, zl = add(z[b], low[2, b], -z[a], -low[2, a])
    return xh, xl, yh, yl, zh, zl


@inner
def sharp_fan(count, corner, x, y, z, low, fan):
    """Fill `fan` from vertices with all digits: see moments.py."""
    for t in range(count):
        a = corner[t, 0]
        o = (x[a], low[0, a], y[a], low[1, a], z[a], low[2, a])
        u = from_to(a, corner[t, 1], x, y, z, low)
        v = from_to(a, corner[t, 2], x, y, z, low)
        fan[t], _ = triple(o, u, v)


@inner
def sharp_area(t, corner, x, y, z, low):
    """Twice the area of triangle t, from vertices with all digits."""
    u = from_to(corner[t, 0], corner[t, 1], x, y, z, low)
    v = from_to(corner[t, 0], corner[t, 2], x, y, z, low)
    a, _ = cross_product(u[2], u[3], u[4], u[5], v[2], v[3], v[4], v[5])
    b, _ = cross_product(u[4], u[5], u[0], u[1], v[4], v[5], v[0], v[1])
    c, _ = cross_product(u[0], u[1], u[2], u[3], v[0], v[1], v[2], v[3])
    return math.sqrt(a * a + b * b + c * c)
