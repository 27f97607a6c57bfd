"""Moments of a density over a convex polygon within a disc, with some 20 digits.

The integral along y has a closed form (powers, error functions); that along x is taken between the
abscissae at which the boundary changes, by Gauss rules. With x = a + (b - a) (1 - cos(pi t)) / 2
the circle's ends are smooth in t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from mpmath import mp, mpf  # type: ignore[import-untyped]

from tests.oracles.mp_moments import gauss_legendre

DIGITS = 40
NODES = 24
Pair = tuple[float, float]
Along = Callable[[mpf, mpf, mpf], tuple[mpf, mpf, mpf]]  # x, lower and upper y: of 1, y, y**2


def polynomial(rows: Sequence[tuple[int, int, float]]) -> Along:
    """Of the sum of c x**i y**j."""

    def along(x: mpf, lo: mpf, hi: mpf) -> tuple[mpf, mpf, mpf]:
        def of(k: int) -> mpf:
            parts = (
                mpf(c) * x**i * (hi ** (j + k + 1) - lo ** (j + k + 1)) / (j + k + 1)
                for i, j, c in rows
            )
            return mp.fsum(parts)

        return of(0), of(1), of(2)

    return along


def gaussian(center: Pair, form: tuple[float, float, float], weight: float = 1.0) -> Along:
    """Of weight * exp(-(z - center)' Q (z - center)) with the form (Qxx, Qxy, Qyy)."""
    qxx, qxy, qyy = map(mpf, form)
    cx, cy = map(mpf, center)
    rate = qxx - qxy**2 / qyy
    root = mp.sqrt(qyy)

    def along(x: mpf, lo: mpf, hi: mpf) -> tuple[mpf, mpf, mpf]:
        middle = cy - qxy / qyy * (x - cx)
        a, b = root * (lo - middle), root * (hi - middle)
        sign = 1
        if a + b < 0:
            a, b, sign = -b, -a, -1
        half = mp.sqrt(mp.pi) / 2
        i0 = half * (mp.erfc(a) - mp.erfc(b)) / root
        ea, eb = mp.exp(-a * a), mp.exp(-b * b)
        i1 = sign * (ea - eb) / (2 * qyy)
        i2 = (i0 + (a * ea - b * eb) / root) / (2 * qyy)
        scale = mpf(weight) * mp.exp(-rate * (x - cx) ** 2)
        m = scale * i0
        f = scale * i1
        return m, f + middle * m, scale * i2 + 2 * middle * f + middle**2 * m

    return along


def moments(
    vertices: Sequence[Pair], center: Pair, radius: float, parts: Sequence[Along], pieces: int = 1
) -> tuple[mpf, mpf, mpf, mpf]:
    """(mass, first moments, polar moment) about `center`; `pieces`: of each interval of x."""
    with mp.workdps(DIGITS):
        ox, oy, r = mpf(center[0]), mpf(center[1]), mpf(radius)
        corners = [(mpf(x), mpf(y)) for x, y in vertices]
        edges = list(pairwise([*corners, corners[0]]))

        def ends(x: mpf) -> tuple[mpf, mpf]:
            half = mp.sqrt(max(r * r - (x - ox) ** 2, mpf(0)))
            ys = [
                a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
                for a, b in edges
                if a[0] != b[0] and min(a[0], b[0]) <= x <= max(a[0], b[0])
            ]
            if not ys:
                return mpf(0), mpf(0)
            return max(min(ys), oy - half), min(max(ys), oy + half)

        def columns(x: mpf) -> mp.matrix:
            lo, hi = ends(x)
            if not lo < hi:
                return mp.matrix([0, 0, 0, 0])
            found = [part(x, lo, hi) for part in parts]
            m, fy, yy = (mp.fsum(row[k] for row in found) for k in range(3))
            u = x - ox
            return mp.matrix([m, u * m, fy - oy * m, (u * u + oy * oy) * m + yy - 2 * oy * fy])

        cuts = {max(ox - r, min(x for x, _ in corners)), min(ox + r, max(x for x, _ in corners))}
        inside = min(cuts), max(cuts)
        for a, b in edges:
            cuts |= {x for x in (a[0], *_crossings(a, b, ox, oy, r)) if inside[0] < x < inside[1]}
        total = mp.matrix([0, 0, 0, 0])
        for lo, hi in pairwise(sorted(cuts)):
            for k in range(pieces):
                for node, weight in gauss_legendre(NODES):
                    angle = mp.pi * (k + node) / pieces
                    slope = (hi - lo) / 2 * mp.pi * mp.sin(angle) / pieces
                    total += weight * slope * columns(lo + (hi - lo) * (1 - mp.cos(angle)) / 2)
        return tuple(total)


def _crossings(a: tuple[mpf, mpf], b: tuple[mpf, mpf], ox: mpf, oy: mpf, r: mpf) -> list[mpf]:
    """Abscissae at which a segment crosses the circle."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    ux, uy = a[0] - ox, a[1] - oy
    square, half, rest = dx * dx + dy * dy, ux * dx + uy * dy, ux * ux + uy * uy - r * r
    root = half * half - square * rest
    if root <= 0:
        return []
    shares = ((-half - mp.sqrt(root)) / square, (-half + mp.sqrt(root)) / square)
    return [a[0] + t * dx for t in shares if 0 < t < 1]
