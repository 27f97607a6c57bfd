"""Moments of Gaussians over a star-shaped cell without any cancellation.

Each panel of the boundary, joined to the agent, is a curved triangle z = r z(w), 0 <= r <= 1. A
product of Gauss rules in r and w has positive weights, so nothing cancels, however small or thin
the cell and however far the peak. Patches [w0, w1] x [r0, r1] with too much range of the exponent
are halved; those that weigh nothing are dropped. Slower than gaussian_contour, its last resort.
"""

import math

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import exponential, larger, smaller
from dwell._kernels.common.quadrature import NODES, PANEL_NODES, PANEL_WEIGHTS, WEIGHTS
from dwell._kernels.polygon.gaussian import COUNT, RANGE
from dwell._kernels.polygon.guaranteed_contour import LOST, exponentials, place_on, whitened_curve
from dwell._kernels.polygon.guaranteed_envelope import EX, EY, W0, W1, X0, Y0, A, B, F

MOST = 12  # nodes along r
SPAN = 8.0  # range of the exponent in either direction, at most
RISE = 200.0  # e-folds above the first guess of the largest value after which sums are rescaled


@inner
def ray_ends(qx, qy, zx, zy, r0, r1, ox, oy):
    """The ray from q + r0 z to q + r1 z: |y|**2 at its ends, and the lesser of (y - o) . o."""
    ax = qx + r0 * zx
    ay = qy + r0 * zy
    bx = qx + r1 * zx
    by = qy + r1 * zy
    slope = smaller((ax - ox) * ox + (ay - oy) * oy, (bx - ox) * ox + (by - oy) * oy)
    return ax * ax + ay * ay, bx * bx + by * by, slope


@inner
def patch_shape(curve, qx, qy, w0, w1, r0, r1):
    """How a patch lies, seen from the peak: (attained, bound, range along r, range along w).

    (qx, qy) is the agent. attained: |y|**2 at some point; bound: it is nowhere less, being convex
    and so nowhere below its tangent plane at a point o in the middle. The outer side may bulge a
    little beyond the three points looked at.
    """
    ax, ay = place_on(curve, w0)
    mx, my = place_on(curve, 0.5 * (w0 + w1))
    bx, by = place_on(curve, w1)
    ax -= qx
    ay -= qy
    mx -= qx
    my -= qy
    bx -= qx
    by -= qy
    ox = qx + 0.5 * (r0 + r1) * mx
    oy = qy + 0.5 * (r0 + r1) * my
    middle = ox * ox + oy * oy
    near_a, far_a, slope_a = ray_ends(qx, qy, ax, ay, r0, r1, ox, oy)
    near_m, far_m, slope_m = ray_ends(qx, qy, mx, my, r0, r1, ox, oy)
    near_b, far_b, slope_b = ray_ends(qx, qy, bx, by, r0, r1, ox, oy)
    attained = smaller(smaller(near_a, smaller(near_m, near_b)), smaller(far_a, far_b))
    attained = smaller(attained, smaller(far_m, middle))
    longest = larger(ax * ax + ay * ay, larger(mx * mx + my * my, bx * bx + by * by))
    along_r = larger(abs(far_a - near_a), larger(abs(far_m - near_m), abs(far_b - near_b)))
    along_r += (r1 - r0) * (r1 - r0) * longest
    dx = r1 * (bx - ax)
    dy = r1 * (by - ay)
    ex = r1 * (mx - 0.5 * (ax + bx))
    ey = r1 * (my - 0.5 * (ay + by))
    sag = math.sqrt(ex * ex + ey * ey)
    across = abs(far_m - far_a) + abs(far_b - far_m) + dx * dx + dy * dy + 4.0 * sag * sag
    slope = smaller(slope_a, smaller(slope_m, slope_b))
    return attained, middle + 2.0 * slope - math.sqrt(middle) * sag, along_r, across


@inner
def rays(k, w0, w1, curves, node):
    """Boundary points and weights (z x dz included) of 16 rays, into node[16:64]."""
    length = w1 - w0
    ex = curves[k, EX]
    ey = curves[k, EY]
    f = curves[k, F]
    a = curves[k, A]
    b = curves[k, B]
    for i in range(16):
        w = w0 + length * PANEL_NODES[i]
        s = math.sqrt(1.0 + w * w)
        along = f - a * s
        across = b * w
        node[16 + i] = ex * along - ey * across
        node[32 + i] = ey * along + ex * across
        node[48 + i] = length * PANEL_WEIGHTS[i] * b * (f - a / s)


@inner
def integrate_patch(k, w0, w1, r0, r1, n, cx, cy, q, shift, px, py, curves, node):
    """Moments of exp(shift - (z - c)' Q (z - c)) over one patch of curve k, n nodes along r.

    Each exponential is taken relative to its ray's middle; loops as in gaussian.py.
    """
    qxx, qxy, qyy = q
    rays(k, w0, w1, curves, node)
    zx = node[16:32]
    zy = node[32:48]
    turn = node[48:64]
    value = node[64:80]
    m = gx = gy = polar = 0.0
    for j in range(n):
        r = r0 + (r1 - r0) * NODES[n, j]
        low = np.inf
        high = -np.inf
        for i in range(16):
            x = r * zx[i] - cx
            y = r * zy[i] - cy
            value[i] = (qxx * x + 2.0 * qxy * y) * x + qyy * y * y
        for i in range(16):
            low = smaller(low, value[i])
            high = larger(high, value[i])
        middle = 0.5 * (low + high)
        weight = (r1 - r0) * WEIGHTS[n, j] * r * exponential(shift - middle)
        exponentials(middle, value, node)
        for i in range(16):
            u = weight * turn[i] * (1.0 + node[i])
            x = r * zx[i] - px
            y = r * zy[i] - py
            m += u
            gx += u * x
            gy += u * y
            polar += u * (x * x + y * y)
    return m, gx, gy, polar


@inner
def nodes_for(span):
    """Nodes along r for a patch with this range of the exponent there."""
    for i in range(RANGE.shape[0]):
        if span <= RANGE[i]:
            return COUNT[i]
    return MOST


@inner
def put_patch(top, w0, w1, r0, r1, pending):
    """Write one patch on the pile."""
    pending[top, 0] = w0
    pending[top, 1] = w1
    pending[top, 2] = r0
    pending[top, 3] = r1


@inner
def closest_look(count, cx, cy, q, panels):
    """Least exponent (z - c)' Q (z - c) at the agent and at the panels' ends."""
    qxx, qxy, qyy = q
    best = (qxx * cx + 2.0 * qxy * cy) * cx + qyy * cy * cy
    for i in range(count):
        x = panels[i, X0] - cx
        y = panels[i, Y0] - cy
        best = smaller(best, (qxx * x + 2.0 * qxy * y) * x + qyy * y * y)
    return best


@inner
def halve_patch(top, size, along_r, pending):
    """Halve the patch on top of the pile, along r or along w; gives the new size of the pile."""
    w0 = pending[top, 0]
    w1 = pending[top, 1]
    r0 = pending[top, 2]
    r1 = pending[top, 3]
    if along_r:
        middle = 0.5 * (r0 + r1)
        put_patch(top, w0, w1, r0, middle, pending)
        put_patch(size, w0, w1, middle, r1, pending)
    else:
        middle = 0.5 * (w0 + w1)
        put_patch(top, w0, middle, r0, r1, pending)
        put_patch(size, middle, w1, r0, r1, pending)
    return size + 1


@inner
def gaussian_patches(cx, cy, q, white, px, py, count, panels, owner, curves, node, pending):
    """(log_scale, mass, first x, first y, polar) about (px, py) of one hill of height 1.

    (cx, cy): its peak; q = (Qxx, Qxy, Qyy); white = (C11, C12, C22).
    """
    shift = closest_look(count, cx, cy, q, panels)
    best = shift
    qx = -(white[0] * cx + white[1] * cy)
    qy = -(white[2] * cy)
    m = gx = gy = polar = 0.0
    for i in range(count):
        k = owner[i]
        curve = whitened_curve(k, cx, cy, white, curves)
        put_patch(0, panels[i, W0], panels[i, W1], 0.0, 1.0, pending)
        size = 1
        while size > 0:
            top = size - 1
            w0 = pending[top, 0]
            w1 = pending[top, 1]
            r0 = pending[top, 2]
            r1 = pending[top, 3]
            low, bound, along_r, across = patch_shape(curve, qx, qy, w0, w1, r0, r1)
            best = smaller(best, low)
            if bound > best + LOST:
                size -= 1
            elif larger(along_r, across) > SPAN and size < pending.shape[0]:
                size = halve_patch(top, size, along_r > across, pending)
            else:
                if low < shift - RISE:
                    scale = exponential(low - shift)
                    m *= scale
                    gx *= scale
                    gy *= scale
                    polar *= scale
                    shift = low
                n = nodes_for(along_r)
                dm, dx, dy, dp = integrate_patch(
                    k, w0, w1, r0, r1, n, cx, cy, q, shift, px, py, curves, node
                )
                m += dm
                gx += dx
                gy += dy
                polar += dp
                size -= 1
    return -shift, m, gx, gy, polar
