"""Moments of rasters over convex polygons in rational arithmetic, cell by cell."""

from __future__ import annotations

from fractions import Fraction

Point = tuple[Fraction, Fraction]


def clipped(ring: list[Point], axis: int, bound: Fraction, above: bool) -> list[Point]:
    """The part of a polygon where a coordinate is at least (above) or at most `bound`."""
    sign = 1 if above else -1
    found: list[Point] = []
    for k, b in enumerate(ring):
        a = ring[k - 1]
        da, db = sign * (a[axis] - bound), sign * (b[axis] - bound)
        if (da < 0 < db) or (db < 0 < da):
            t = da / (da - db)
            found.append((a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])))
        if db >= 0:
            found.append(b)
    return found


def _times(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found


def monomial(ring: list[Point], a: int, b: int) -> Fraction:
    """The integral of x**a y**b over a polygon, by the integral of x**(a + 1) y**b along it."""
    total = Fraction(0)
    for k, end in enumerate(ring):
        start = ring[k - 1]
        line = [[start[c], end[c] - start[c]] for c in (0, 1)]
        product = [line[1][1] / (a + 1)]
        for c, power in ((0, a + 1), (1, b)):
            for _ in range(power):
                product = _times(product, line[c])
        total += sum((p / (k + 1) for k, p in enumerate(product)), Fraction(0))
    return total


def raster_moments(grid, bilinear, place, ring) -> list[Fraction]:
    """Moments 1, x, y, xx + yy about (0, 0) of a grid, the southernmost row first.

    place: ((ox, oy), (xu, xv, yu, yv)), the corner and the matrix from pixels to the plane; ring:
    the polygon. All numbers are taken as they are.
    """
    (ox, oy), matrix = ([Fraction(float(v)) for v in part] for part in place)
    xu, xv, yu, yv = matrix
    area = xu * yv - xv * yu
    shift = Fraction(int(bilinear), 2)
    local: list[Point] = []
    for x, y in ring:
        dx, dy = Fraction(x) - ox, Fraction(y) - oy
        local.append(((yv * dx - xv * dy) / area + shift, (xu * dy - yu * dx) / area + shift))
    if area < 0:
        local.reverse()
    rows, columns = grid.shape
    for axis, most in ((0, columns), (1, rows)):
        local = clipped(clipped(local, axis, shift, True), axis, most + shift, False)
    six = [Fraction(0)] * 6
    for j in range(rows + bilinear if local else 0):
        strip = clipped(clipped(local, 1, Fraction(j), True), 1, Fraction(j + 1), False)
        for i in range(columns + bilinear if strip else 0):
            cell = clipped(clipped(strip, 0, Fraction(i), True), 0, Fraction(i + 1), False)
            if not cell:
                continue
            f = _corners(grid, bilinear, j, i)
            shape = [(u - i, v - j) for u, v in cell]
            parts = {
                (0, 0): f[0],
                (1, 0): f[1] - f[0],
                (0, 1): f[2] - f[0],
                (1, 1): f[3] - f[1] - f[2] + f[0],
            }
            degree = 2 if bilinear else 1
            known = {(p, q): Fraction(0) for p in range(3) for q in range(3 - p)}
            for p, q in known:
                for (c, d), value in parts.items():
                    if value and (degree == 2 or (c, d) == (0, 0)):
                        known[p, q] += value * monomial(shape, p + c, q + d)
            m, u, v = known[0, 0], known[1, 0], known[0, 1]
            six[0] += m
            six[1] += u + i * m
            six[2] += v + j * m
            six[3] += known[2, 0] + 2 * i * u + i * i * m
            six[4] += known[1, 1] + i * v + j * u + i * j * m
            six[5] += known[0, 2] + 2 * j * v + j * j * m
    m, u, v, uu, uv, vv = six
    uu, uv, vv = (
        uu - 2 * shift * u + shift**2 * m,
        uv - shift * (u + v) + shift**2 * m,
        (vv - 2 * shift * v + shift**2 * m),
    )
    u, v = u - shift * m, v - shift * m
    x, y = xu * u + xv * v, yu * u + yv * v
    square = (xu**2 + yu**2) * uu + 2 * (xu * xv + yu * yv) * uv + (xv**2 + yv**2) * vv
    polar = square + 2 * (ox * x + oy * y) + (ox**2 + oy**2) * m
    return [abs(area) * w for w in (m, x + ox * m, y + oy * m, polar)]


def _corners(grid, bilinear, j, i) -> list[Fraction]:
    if not bilinear:
        return [Fraction(float(grid[j, i]))] * 4
    rows, columns = grid.shape
    ys, xs = (max(j - 1, 0), min(j, rows - 1)), (max(i - 1, 0), min(i, columns - 1))
    return [Fraction(float(grid[a, b])) for a in ys for b in xs]
