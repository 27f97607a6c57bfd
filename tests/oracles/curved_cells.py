"""Cells in an ellipse and their moments with fifty digits, sharing nothing with the kernels.

Corners are found by trying all pairs of curves; moments by curved triangles from the agent to the
boundary, closed along each ray and by quadrature around.
"""

from __future__ import annotations

import mpmath as mp  # type: ignore[import-untyped]

from tests.oracles.mp_moments import gauss_legendre

DIGITS = 40
SAME = mp.mpf(10) ** -30  # relative: what counts as on a curve


class Scene:
    """One agent's cell."""

    def __init__(self, ellipse, positions, agent):
        self.p = [mp.mpf(float(v)) for v in positions[agent]]
        self.g = [a - mp.mpf(float(b)) for a, b in zip(self.p, ellipse.center, strict=True)]
        self.rows = [
            [mp.mpf(float(v)) / mp.mpf(float(size)) for v in row]
            for row, size in zip(ellipse.axes, ellipse.semi_axes, strict=True)
        ]
        (a, b), (c, d) = self.rows
        self.det = abs(a * d - b * c)
        self.gaps = [
            [mp.mpf(float(v)) - u for v, u in zip(q, self.p, strict=True)]
            for k, q in enumerate(positions)
            if k != agent
        ]
        self.names = [k for k in range(len(positions)) if k != agent]

    def to_disc(self, u):
        """Coordinates in which the ellipse is the unit disc."""
        x, y = u[0] + self.g[0], u[1] + self.g[1]
        return [row[0] * x + row[1] * y for row in self.rows]

    def from_disc(self, y):
        """The way back, to the agent's frame."""
        (a, b), (c, d) = self.rows
        det = a * d - b * c
        return [
            (d * y[0] - b * y[1]) / det - self.g[0],
            (a * y[1] - c * y[0]) / det - self.g[1],
        ]

    def excess(self, gap, u):
        """How much nearer u is to the other agent, over the gap's square."""
        square = gap[0] ** 2 + gap[1] ** 2
        return (gap[0] * u[0] + gap[1] * u[1]) / square - mp.mpf(1) / 2

    def holds(self, u):
        y = self.to_disc(u)
        size = 1 + mp.fsum(abs(v) for v in u)
        return mp.fdot(y, y) <= 1 + SAME and all(
            self.excess(gap, u) * (abs(gap[0]) + abs(gap[1])) <= SAME * size for gap in self.gaps
        )

    def candidates(self):
        for i, d in enumerate(self.gaps):
            half = (d[0] ** 2 + d[1] ** 2) / 2
            for e in self.gaps[:i]:
                det = d[0] * e[1] - d[1] * e[0]
                if det != 0:
                    other = (e[0] ** 2 + e[1] ** 2) / 2
                    yield [(half * e[1] - other * d[1]) / det, (d[0] * other - e[0] * half) / det]
            base = self.to_disc([d[0] / 2, d[1] / 2])
            far = self.to_disc([d[0] / 2 - d[1], d[1] / 2 + d[0]])
            step = [v - u for u, v in zip(base, far, strict=True)]
            a, b, c = mp.fdot(step, step), mp.fdot(base, step), mp.fdot(base, base) - 1
            root = b * b - a * c
            if root > 0:
                for t in ((-b - mp.sqrt(root)) / a, (-b + mp.sqrt(root)) / a):
                    yield [d[0] / 2 - t * d[1], d[1] / 2 + t * d[0]]

    def corners(self):
        """Counter-clockwise, each once."""
        kept = []
        for u in self.candidates():
            if self.holds(u) and not any(
                abs(u[0] - v[0]) + abs(u[1] - v[1]) <= 100 * SAME * (1 + abs(u[0]) + abs(u[1]))
                for v in kept
            ):
                kept.append(u)
        if not kept:
            return []
        middle = [mp.fsum(u[i] for u in kept) / len(kept) for i in range(2)]
        if len(kept) == 2:  # the middle is no help: order them along their bisector
            return kept
        return sorted(kept, key=lambda u: mp.atan2(u[1] - middle[1], u[0] - middle[0]))

    def behind(self, a, b):
        """The agent whose bisector the boundary follows from a to b; None for an arc."""
        best = None
        for name, d in zip(self.names, self.gaps, strict=True):
            on = max(abs(self.excess(d, u)) for u in (a, b)) * mp.sqrt(d[0] ** 2 + d[1] ** 2)
            size = 1 + mp.sqrt(a[0] ** 2 + a[1] ** 2) + mp.sqrt(b[0] ** 2 + b[1] ** 2)
            forward = (b[1] - a[1]) * d[0] - (b[0] - a[0]) * d[1]
            if on <= 1e4 * SAME * size and forward > 0:
                best = name
        return best

    def pieces(self):
        """(start, end, curve and its derivative on [start, end], agent or None) all round."""
        corners = self.corners()
        if not corners:
            if all(self.excess(d, self.from_disc([0, 0])) <= 0 for d in self.gaps):
                for k in range(4):
                    yield mp.pi * k / 2, mp.pi * (k + 1) / 2, self.arc, None
            return
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
            name = self.behind(a, b)
            if name is not None:
                yield mp.mpf(0), mp.mpf(1), _straight(a, b), name
                continue
            first, last = (mp.atan2(*self.to_disc(u)[::-1]) for u in (a, b))
            if last < first:
                last += 2 * mp.pi
            count = int(mp.ceil((last - first) / (mp.pi / 2)))
            for k in range(count):
                ends = [first + (last - first) * mp.mpf(j) / count for j in (k, k + 1)]
                yield *ends, self.arc, None

    def arc(self, angle):
        c, s = mp.cos(angle), mp.sin(angle)
        u, v = self.from_disc([c, s]), self.from_disc([-s, c])
        return u, [v[0] + self.g[0], v[1] + self.g[1]]


def _straight(a, b):
    d = [b[0] - a[0], b[1] - a[1]]
    return lambda t: ([a[0] + t * d[0], a[1] + t * d[1]], d)


def moments(ellipse, positions, agent, density=None, parts=2):
    """(mass, error, polar, second) of the cell of `agent`, as mpmath numbers.

    density: None for the constant 1; (weight, center, ((qxx, qxy), (qxy, qyy))) for a Gaussian; a
    list of (i, j, coefficient) for a polynomial about (0, 0). parts: of each piece of the boundary,
    more where the density changes fast along it.
    """
    with mp.workdps(DIGITS):
        scene = Scene(ellipse, positions, agent)
        total = [mp.mpf(0)] * 4
        for first, last, curve, _ in scene.pieces():
            part = _quadrature(
                lambda t, curve=curve: _ray(scene, curve, t, density), first, last, parts
            )
            total = [u + v for u, v in zip(total, part, strict=True)]
        mass, fx, fy, polar = total
        error = [fx / mass, fy / mass]
        return mass, error, polar, polar - mass * (error[0] ** 2 + error[1] ** 2)


def labels(ellipse, positions, agent):
    """What lies behind each piece, arcs as -1, arcs next to one another once."""
    with mp.workdps(DIGITS):
        names = [
            -1 if name is None else name for *_, name in Scene(ellipse, positions, agent).pieces()
        ]
    return names


def _quadrature(f, first, last, parts):
    """A Gauss rule on so many equal parts."""
    total = [mp.mpf(0)] * 4
    step = (last - first) / parts
    for k in range(parts):
        for x, w in gauss_legendre(20):
            value = f(first + step * (k + x))
            total = [u + step * w * v for u, v in zip(total, value, strict=True)]
    return total


def _ray(scene, curve, t, density):
    """Moments along the ray to curve(t), times its turning."""
    u, v = curve(t)
    turn = u[0] * v[1] - u[1] * v[0]
    r1, r2, r3 = _along(scene, u, density)
    return turn * r1, turn * r2 * u[0], turn * r2 * u[1], turn * r3 * (u[0] ** 2 + u[1] ** 2)


def _along(scene, u, density):
    """Integrals over r in [0, 1] of r, r**2 and r**3 times the density at p + r u."""
    if density is None:
        return mp.mpf(1) / 2, mp.mpf(1) / 3, mp.mpf(1) / 4
    if isinstance(density, list):
        parts = [mp.mpf(0)] * 3
        for r, w in gauss_legendre(12):
            x, y = scene.p[0] + r * u[0], scene.p[1] + r * u[1]
            value = w * mp.fsum(mp.mpf(c) * x**i * y**j for i, j, c in density)
            parts = [part + value * r ** (k + 1) for k, part in enumerate(parts)]
        return parts
    weight, center, ((qxx, qxy), (_, qyy)) = density
    gx, gy = (a - mp.mpf(b) for a, b in zip(scene.p, center, strict=True))
    qxx, qxy, qyy = mp.mpf(qxx), mp.mpf(qxy), mp.mpf(qyy)
    parts = [mp.mpf(0)] * 3
    square = qxx * u[0] ** 2 + 2 * qxy * u[0] * u[1] + qyy * u[1] ** 2
    slope = 2 * ((qxx * gx + qxy * gy) * u[0] + (qxy * gx + qyy * gy) * u[1])
    steps = 1 + int((abs(slope) + abs(slope + 2 * square)) / 8)
    for k in range(steps):
        for x, w in gauss_legendre(16):
            r = (k + x) / steps
            zx, zy = gx + r * u[0], gy + r * u[1]
            value = w / steps * mp.mpf(weight)
            value *= mp.exp(-(qxx * zx * zx + 2 * qxy * zx * zy + qyy * zy * zy))
            parts = [part + value * r ** (j + 1) for j, part in enumerate(parts)]
    return parts
