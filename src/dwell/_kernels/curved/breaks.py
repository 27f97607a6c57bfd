"""Heights at which slices of a cell in an ellipsoid change their kind: see slices.py.

In the coordinates y = W u the ellipsoid is a ball, |y|**2 + 2 a . y <= sigma, and a plane
nu . y = offset cuts it in a circle. Candidates that lie outside the cell by no more than rounding
are kept: a break too many does no harm.
"""

import math

import numpy as np

from dwell._kernels._jit import inner, njit
from dwell._kernels.arithmetic import larger, smaller
from dwell._kernels.careful import add, times

LENIENT = 1e-9  # of the ball's radius


@inner
def seen_from(place, center, w):
    """a = W (place - center), and 1 - |a|**2 of that very a, without cancellation."""
    x = place[0] - center[0]
    y = place[1] - center[1]
    z = place[2] - center[2]
    h, low = add(w[0] * x, 0.0, w[1] * y, 0.0)
    a1, _ = add(h, low, w[2] * z, 0.0)
    a2 = w[3] * y + w[4] * z
    a3 = w[5] * z
    h, low = 1.0, 0.0
    for v in (a1, a2, a3):
        ph, pl = times(v, 0.0, v, 0.0)
        h, low = add(h, low, -ph, -pl)
    return (a1, a2, a3), h


@inner
def turn_normal(row, w):
    """nu = W**-T n of a plane."""
    w11, w12, w13, w22, w23, w33 = w
    x = row[0] / w11
    y = (row[1] - w12 * x) / w22
    z = (row[2] - w13 * x - w23 * y) / w33
    return x, y, z


@inner
def excess(x, y, z, skip, m, normals):
    """How far a point is on the wrong side of some plane but `skip`; < 0: within all."""
    worst = -np.inf
    for k in range(m):
        if k != skip:
            gap = normals[k, 0] * x + normals[k, 1] * y + normals[k, 2] * z - normals[k, 3]
            worst = larger(worst, gap)
    return worst


@inner
def note(count, y, w33, breaks):
    """Write one height; gives how many there are."""
    if count < breaks.shape[0]:
        breaks[count] = y / w33
        return count + 1
    return count


@inner
def circle_breaks(i, count, m, normals, a, w33, breaks, shows):
    """The top and the bottom of the circle in plane i."""
    nx = normals[i, 0]
    ny = normals[i, 1]
    nz = normals[i, 2]
    off = normals[i, 3] + (nx * a[0] + ny * a[1] + nz * a[2])  # distance from the centre
    square = (1.0 - off) * (1.0 + off)
    if not square > 0.0:
        return count
    radius = math.sqrt(square)
    flat = math.sqrt(nx * nx + ny * ny)  # of the direction in the plane that climbs most
    cx = off * nx - a[0]
    cy = off * ny - a[1]
    cz = off * nz - a[2]
    if not flat > 0.0:
        shows[i] = shows[i] or excess(cx, cy, cz, i, m, normals) < 0.0
        return note(count, cz, w33, breaks)
    for sign in (-1.0, 1.0):
        step = sign * radius
        x = cx - step * nz * nx / flat
        y = cy - step * nz * ny / flat
        z = cz + step * flat
        beyond = excess(x, y, z, i, m, normals)
        shows[i] = shows[i] or beyond < 0.0
        if beyond <= LENIENT:
            count = note(count, z, w33, breaks)
    return count


@inner
def edge_range(i, j, m, normals, a, sigma):
    """Where planes i and j meet within the cell: (found, whether it has a length, its ends' y)."""
    ax, ay, az = normals[i, 0], normals[i, 1], normals[i, 2]
    bx, by, bz = normals[j, 0], normals[j, 1], normals[j, 2]
    tx = ay * bz - az * by
    ty = az * bx - ax * bz
    tz = ax * by - ay * bx
    square = tx * tx + ty * ty + tz * tz
    if not square > 1e-30:
        return False, False, 0.0, 0.0
    o = normals[i, 3] / square
    q = normals[j, 3] / square
    # o (b x t) + q (t x a)
    x = o * (by * tz - bz * ty) + q * (ty * az - tz * ay)
    y = o * (bz * tx - bx * tz) + q * (tz * ax - tx * az)
    z = o * (bx * ty - by * tx) + q * (tx * ay - ty * ax)
    slope = tx * (x + a[0]) + ty * (y + a[1]) + tz * (z + a[2])
    rest = x * (x + 2.0 * a[0]) + y * (y + 2.0 * a[1]) + z * (z + 2.0 * a[2]) - sigma
    root = slope * slope - square * rest
    if not root > 0.0:
        return False, False, 0.0, 0.0
    root = math.sqrt(root)
    low = (-slope - root) / square
    high = (-slope + root) / square
    length = math.sqrt(square)
    for k in range(m):
        if k != i and k != j:
            climb = normals[k, 0] * tx + normals[k, 1] * ty + normals[k, 2] * tz
            gap = normals[k, 3] - (normals[k, 0] * x + normals[k, 1] * y + normals[k, 2] * z)
            if climb > 0.0:
                high = smaller(high, gap / climb)
            elif climb < 0.0:
                low = larger(low, gap / climb)
            elif gap < -LENIENT:
                return False, False, 0.0, 0.0
    if (low - high) * length > LENIENT:
        return False, False, 0.0, 0.0
    return True, low < high, z + low * tz, z + high * tz


@inner
def list_breaks(m, planes, w, a, sigma, breaks, shows):
    """All heights in the agent's frame, ascending; gives how many.

    shows[k]: whether plane k has a share of the cell's boundary.
    """
    w33 = w[5]
    normals = np.empty((m, 4))
    for k in range(m):
        x, y, z = turn_normal(planes[k], w)
        size = math.sqrt(x * x + y * y + z * z)
        normals[k, 0] = x / size
        normals[k, 1] = y / size
        normals[k, 2] = z / size
        normals[k, 3] = planes[k, 3] / size
        shows[k] = False
    count = 0
    for sign in (-1.0, 1.0):
        if excess(-a[0], -a[1], sign - a[2], -1, m, normals) <= LENIENT:
            count = note(count, sign - a[2], w33, breaks)
    for i in range(m):
        count = circle_breaks(i, count, m, normals, a, w33, breaks, shows)
        for j in range(i):
            found, real, low, high = edge_range(i, j, m, normals, a, sigma)
            if real:
                shows[i] = True
                shows[j] = True
            if found:
                count = note(count, low, w33, breaks)
                count = note(count, high, w33, breaks)
    breaks[:count].sort()
    return count


@njit
def faces_shown(m, planes, w, center, place, breaks, shows):
    """Fill `shows` for the agent at `place`: see list_breaks."""
    a, sigma = seen_from(place, center, w)
    list_breaks(m, planes, w, a, sigma, breaks, shows)
