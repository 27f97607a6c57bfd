"""Mass, centroid and second moments of a density over a polyhedron.

Its faces are split into triangles, each the base of a tetrahedron with the agent (the origin) as
apex: the agent lies in its own cell, so that all of them count positively. An agent outside its
cell gets another apex. `fan` holds six times the volumes.

The second moment about the centroid is built up from positive parts ("spread", see join), and the
polar moment about the agent from it: polar = spread + mass |centroid|**2.
"""

import numpy as np

from dwell._kernels._jit import inner
from dwell._kernels.common.arithmetic import larger, smaller
from dwell._kernels.space.careful import sharp_fan, sharpen
from dwell._kernels.space.clip import turned
from dwell._kernels.space.gaussian import (
    about_own,
    exponent_on_triangle,
    form,
    gaussian_tetrahedron,
    join,
)
from dwell._kernels.space.rules import FIRST, POINTS, A, B, C, W
from dwell._kernels.space.surface import gaussian_by_faces
from dwell._kernels.star.vectors import less

SAFE_EXPONENT = -600.0  # densities down to e**-600 are kept unscaled: doubles reach e**-708
WIDE = 3.0  # range of a component's exponent over a cell from which faces are quicker than volumes
ROUNDING = 1e-12  # of the volume: tetrahedra that count negatively by less are rounding
THIN = 3e-3  # volume over cubed length of the cell: below, vertices need more digits
SMALL = 1e-9  # volume over cubed reach of the workspace: likewise


@inner
def list_triangles(n, mate, left, mark, corner, face):
    """Split the faces of a polyhedron into triangles; gives how many."""
    for v in range(n):
        mark[v] = 0
    count = 0
    for v in range(n):
        for k in range(3):
            if (mark[v] >> k) & 1:
                continue
            own = left[4 * v + k]
            e = turned(mate[4 * v + k])
            b = e >> 2
            mark[b] |= 1 << (e & 3)
            e = turned(mate[e])
            while e >> 2 != v or e != 4 * v + k:
                w = e >> 2
                mark[w] |= 1 << (e & 3)
                corner[count, 0] = v
                corner[count, 1] = b
                corner[count, 2] = w
                face[count] = own
                count += 1
                b = w
                e = turned(mate[e])
    for v in range(n):
        mark[v] = 0
    return count


@inner
def volume_under(a, b, c, x, y, z):
    """Six times the volume of the tetrahedron over three vertices."""
    ux = x[b] - x[a]
    uy = y[b] - y[a]
    uz = z[b] - z[a]
    vx = x[c] - x[a]
    vy = y[c] - y[a]
    vz = z[c] - z[a]
    return (
        x[a] * (uy * vz - uz * vy) + y[a] * (uz * vx - ux * vz) + z[a] * (ux * vy - uy * vx)
    )  # fmt: skip


@inner
def spread_fan(count, corner, x, y, z, fan):
    """Fill `fan`; gives the sum, and the lowest."""
    total = 0.0
    least = 0.0
    for t in range(count):
        k = volume_under(corner[t, 0], corner[t, 1], corner[t, 2], x, y, z)
        fan[t] = k
        total += k
        least = smaller(least, k)
    return total, least


@inner
def move_apex(n, x, y, z):
    """Shift the polyhedron so that the mean of its vertices is the origin; gives the shift."""
    ox = oy = oz = 0.0
    for v in range(n):
        ox += x[v] / n
        oy += y[v] / n
        oz += z[v] / n
    for v in range(n):
        x[v] -= ox
        y[v] -= oy
        z[v] -= oz
    return ox, oy, oz


@inner
def needs_digits(n, volume, reach, x, y, z):
    """Whether a cell is so thin, or so small in its workspace, that rounding of vertices shows.

    volume: six times its own; reach: squared distance of the farthest corner of the workspace.
    """
    left = right = x[0]
    front = back = y[0]
    bottom = top = z[0]
    for v in range(1, n):
        left = smaller(left, x[v])
        right = larger(right, x[v])
        front = smaller(front, y[v])
        back = larger(back, y[v])
        bottom = smaller(bottom, z[v])
        top = larger(top, z[v])
    dx = right - left
    dy = back - front
    dz = top - bottom
    size = dx * dx + dy * dy + dz * dz
    return volume < 6.0 * THIN * (size * np.sqrt(size)) or volume < 6.0 * SMALL * (
        reach * np.sqrt(reach)
    )


@inner
def constant_part(level, count, corner, fan, x, y, z):
    """Mass, first moments and spread of a constant density."""
    m = fx = fy = fz = 0.0
    for t in range(count):
        a = corner[t, 0]
        b = corner[t, 1]
        c = corner[t, 2]
        k = fan[t]
        m += k
        fx += k * (x[a] + x[b] + x[c])
        fy += k * (y[a] + y[b] + y[c])
        fz += k * (z[a] + z[b] + z[c])
    if m == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    gx = 0.25 * fx / m
    gy = 0.25 * fy / m
    gz = 0.25 * fz / m
    apex = gx * gx + gy * gy + gz * gz
    spread = 0.0
    for t in range(count):
        a = corner[t, 0]
        b = corner[t, 1]
        c = corner[t, 2]
        ax = x[a] - gx
        ay = y[a] - gy
        az = z[a] - gz
        bx = x[b] - gx
        by = y[b] - gy
        bz = z[b] - gz
        cx = x[c] - gx
        cy = y[c] - gy
        cz = z[c] - gz
        sx = ax + bx + cx - gx
        sy = ay + by + cy - gy
        sz = az + bz + cz - gz
        squares = (ax * ax + ay * ay + az * az) + (bx * bx + by * by + bz * bz)
        squares += (cx * cx + cy * cy + cz * cz) + apex
        spread += fan[t] * (squares + (sx * sx + sy * sy + sz * sz))
    m *= level / 6.0
    return m, m * gx, m * gy, m * gz, level * spread / 120.0


@inner
def power(x, p):
    """x**p for a whole number p >= 0, by multiplication."""
    value = 1.0
    while p > 0:
        if p & 1:
            value *= x
        x *= x
        p >>= 1
    return value


@inner
def plain_at(x, y, z, terms):
    """The constant and the monomials at a place."""
    value = terms.constant
    for i in range(terms.coefficients.shape[0]):
        f = terms.coefficients[i] * power(x - terms.origins[i, 0], terms.powers[i, 0])
        f *= power(y - terms.origins[i, 1], terms.powers[i, 1])
        value += f * power(z - terms.origins[i, 2], terms.powers[i, 2])
    return value


@inner
def degree_of(powers):
    """Largest total degree of the monomials."""
    degree = 0
    for i in range(powers.shape[0]):
        degree = max(degree, powers[i, 0] + powers[i, 1] + powers[i, 2])
    return degree


@inner
def add_plain(x0, y0, z0, terms, count, corner, fan, x, y, z, total):
    """Add the constant and the monomials, by a rule that is exact for their degree."""
    n = (degree_of(terms.powers) + 4) // 2
    first = FIRST[n]
    for t in range(count):
        a = corner[t, 0]
        b = corner[t, 1]
        c = corner[t, 2]
        g = (0.25 * (x[a] + x[b] + x[c]), 0.25 * (y[a] + y[b] + y[c]), 0.25 * (z[a] + z[b] + z[c]))
        m = fx = fy = fz = polar = 0.0
        for i in range(first, first + POINTS[n]):
            zx = A[i] * x[a] + B[i] * x[b] + C[i] * x[c]
            zy = A[i] * y[a] + B[i] * y[b] + C[i] * y[c]
            zz = A[i] * z[a] + B[i] * z[b] + C[i] * z[c]
            v = W[i] * plain_at(x0 + zx, y0 + zy, z0 + zz, terms)
            zx -= g[0]
            zy -= g[1]
            zz -= g[2]
            m += v
            fx += v * zx
            fy += v * zy
            fz += v * zz
            polar += v * (zx * zx + zy * zy + zz * zz)
        k = fan[t]
        m, fx, fy, fz, spread = about_own(g, k * m, k * fx, k * fy, k * fz, k * polar)
        total = join(total, m, fx, fy, fz, spread)
    return total


@inner
def form_of(forms, t):
    """Row t of the quadratic forms as a tuple."""
    return (
        forms[t, 0, 0], forms[t, 0, 1], forms[t, 0, 2], forms[t, 1, 1], forms[t, 1, 2],
        forms[t, 2, 2],
    )  # fmt: skip


@inner
def center_of(centers, t, x0, y0, z0):
    """Centre of a component in the agent's frame."""
    return centers[t, 0] - x0, centers[t, 1] - y0, centers[t, 2] - z0


@inner
def seen_from(center, v, x, y, z):
    """Vertex v, seen from `center`."""
    return x[v] - center[0], y[v] - center[1], z[v] - center[2]


@inner
def exponent_range(n, center, q, x, y, z):
    """Smallest and largest exponent of a component over the vertices."""
    low = np.inf
    high = -np.inf
    for v in range(n):
        d = seen_from(center, v, x, y, z)
        e = -form(q, d[0], d[1], d[2])
        low = smaller(low, e)
        high = larger(high, e)
    return low, high


@inner
def top_exponent(center, q, count, corner, x, y, z):
    """Largest exponent of a component over the polyhedron, and where, seen from its centre."""
    inside = True
    best = -np.inf
    at = (0.0, 0.0, 0.0)
    for t in range(count):
        a = seen_from(center, corner[t, 0], x, y, z)
        b = seen_from(center, corner[t, 1], x, y, z)
        c = seen_from(center, corner[t, 2], x, y, z)
        u = less(b, a)
        v = less(c, a)
        k = a[0] * (u[1] * v[2] - u[2] * v[1]) + a[1] * (u[2] * v[0] - u[0] * v[2])
        if k + a[2] * (u[0] * v[1] - u[1] * v[0]) < 0.0:
            inside = False
        e, place = exponent_on_triangle(q, a, b, c)
        if e > best:
            best = e
            at = place
    if inside:
        return 0.0, (0.0, 0.0, 0.0)
    return best, at


@inner
def choose_log_scale(n, x0, y0, z0, terms, count, corner, x, y, z):
    """0 where the density is within reach of doubles somewhere on the polyhedron, else its log."""
    if terms.constant > 0.0 or terms.coefficients.shape[0] > 0:
        return 0.0
    top = -np.inf
    for t in range(terms.weights.shape[0]):
        center = center_of(terms.centers, t, x0, y0, z0)
        q = form_of(terms.forms, t)
        _, high = exponent_range(n, center, q, x, y, z)
        if high < SAFE_EXPONENT:
            high, _ = top_exponent(center, q, count, corner, x, y, z)
        if high > SAFE_EXPONENT:
            return 0.0
        top = larger(top, high)
    return top


@inner
def add_by_tetrahedra(center, q, weight, top, log_scale, count, s, total):
    """Add a Gaussian tetrahedron by tetrahedron."""
    for i in range(count):
        k = weight * s.fan[i]
        if k != 0.0:
            i0 = s.corner[i, 0]
            i1 = s.corner[i, 1]
            i2 = s.corner[i, 2]
            a = (s.x[i0], s.y[i0], s.z[i0])
            b = (s.x[i1], s.y[i1], s.z[i1])
            c = (s.x[i2], s.y[i2], s.z[i2])
            total = gaussian_tetrahedron(
                center, q, a, b, c, k, log_scale, top, s.node, s.pending, total
            )
    return total


@inner
def add_hills(n, x0, y0, z0, terms, log_scale, count, s, total):
    """Add all Gaussians: by faces where that is sound and the cell is wide, else by tetrahedra."""
    for t in range(terms.weights.shape[0]):
        center = center_of(terms.centers, t, x0, y0, z0)
        q = form_of(terms.forms, t)
        low, top = exponent_range(n, center, q, s.x, s.y, s.z)
        sound = False
        if top - low > WIDE:
            top, at = top_exponent(center, q, count, s.corner, s.x, s.y, s.z)
            sound, m, fx, fy, fz, spread = gaussian_by_faces(
                n, center, terms.roots[t], count, s.corner, s.x, s.y, s.z, top, at, log_scale,
                s.white, s.pending,
            )  # fmt: skip
            if sound:
                w = terms.weights[t]
                total = join(total, w * m, w * fx, w * fy, w * fz, w * spread)
        if not sound:
            total = add_by_tetrahedra(center, q, terms.weights[t], top, log_scale, count, s, total)
    return total


@inner
def reach_of(px, py, pz, x, y, z):
    """Squared distance of the farthest corner of the workspace."""
    reach = 0.0
    for v in range(x.shape[0]):
        dx = x[v] - px
        dy = y[v] - py
        dz = z[v] - pz
        reach = larger(reach, dx * dx + dy * dy + dz * dz)
    return reach


@inner
def sharpened(n, p, reach, solid, grid, s):
    """Compute the vertices of the cell in s again, with more digits."""
    sharpen(
        n, p, reach, grid.x, grid.y, grid.z, solid.x, solid.y, solid.z, solid.base, s.plane, s.left,
        s.x, s.y, s.z, s.low,
    )  # fmt: skip


@inner
def shape(n, p, solid, grid, s):
    """Split the cell in s into tetrahedra; gives (triangles of faces, volume, least).

    Leaves the triangles in s.corner and s.face (those of a face follow one another) and six times
    the volumes in s.fan. Where the cell is thin or small, vertices get more digits.
    """
    reach = reach_of(grid.x[p], grid.y[p], grid.z[p], solid.x, solid.y, solid.z)
    count = list_triangles(n, s.mate, s.left, s.mark, s.corner, s.face)
    volume, least = spread_fan(count, s.corner, s.x, s.y, s.z, s.fan)
    if needs_digits(n, volume, reach, s.x, s.y, s.z):
        sharpened(n, p, reach, solid, grid, s)
        sharp_fan(count, s.corner, s.x, s.y, s.z, s.low, s.fan)
        volume = 0.0
        least = 0.0
        for t in range(count):
            volume += s.fan[t]
            least = smaller(least, s.fan[t])
    return count, volume, least


@inner
def weigh(n, p, solid, grid, terms, s):
    """Moments of the cell in s: (log_scale, m, fx, fy, fz, spread, triangles).

    First moments are about the agent; all but the last come divided by exp(log_scale). May move the
    vertices to another apex.
    """
    x0 = grid.x[p]
    y0 = grid.y[p]
    z0 = grid.z[p]
    count, volume, least = shape(n, p, solid, grid, s)
    ox = oy = oz = 0.0
    moved = least < -ROUNDING * volume
    if moved:
        ox, oy, oz = move_apex(n, s.x, s.y, s.z)
        spread_fan(count, s.corner, s.x, s.y, s.z, s.fan)
        x0 += ox
        y0 += oy
        z0 += oz
    plain = terms.coefficients.shape[0] > 0
    total = (0.0, 0.0, 0.0, 0.0, 0.0)
    log_scale = 0.0
    if plain:
        total = add_plain(x0, y0, z0, terms, count, s.corner, s.fan, s.x, s.y, s.z, total)
    elif terms.constant > 0.0:
        total = constant_part(terms.constant, count, s.corner, s.fan, s.x, s.y, s.z)
    if terms.weights.shape[0] > 0:
        log_scale = choose_log_scale(n, x0, y0, z0, terms, count, s.corner, s.x, s.y, s.z)
        total = add_hills(n, x0, y0, z0, terms, log_scale, count, s, total)
    m, fx, fy, fz, spread = total
    if moved:
        fx += m * ox
        fy += m * oy
        fz += m * oz
    return log_scale, m, fx, fy, fz, spread, count
