"""Moments of densities over a convex polygon, to at least 30 correct digits.

Polygons and density parameters are taken at their exact (double or rational)
values. Uniform and polynomial densities are integrated exactly, by Green's
theorem on rationals. A Gaussian is handled as follows.

1. Its largest value over the polygon is found exactly and divided out, so far
   cells do not differ from near ones. Coordinates are relative to that point.
2. An exact shear makes the exponent a sum ``f(u) + g(v)``.
3. The polygon is cut into slabs between consecutive vertex abscissae; each is
   a trapezoid, split further until a Gauss-Legendre rule with few nodes suffices
   for the integral over u, and dropped where the density is negligible.
4. The integral over v is a difference of error functions, with as many digits
   more as cancel where the trapezoid is low or far out.

The number of nodes comes from the classical error bound for functions analytic
in a Bernstein ellipse, so the accuracy is known beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from mpmath import mp, mpf  # type: ignore[import-untyped]

from tests.oracles.rational_cells import (
    Number,
    Point,
    Polygon,
    clip,
    contains,
    edges,
    exact,
    exact_polygon,
    signed_area,
)

WORK_DPS = 60  # decimal digits carried
QUADRATURE_LOG = 88.0  # minus the logarithm of the error allowed per panel, over its maximum
TAIL_LOG = 100.0  # how far below its maximum (natural logarithm) the density is neglected
MAX_NODES = 44  # panels needing more nodes than this are halved


@dataclass(frozen=True)
class Uniform:
    value: Number = 1


@dataclass(frozen=True)
class Polynomial:
    """Sum of ``c (x - ox)^i (y - oy)^j`` over ``terms`` of ``(c, i, j)``."""

    terms: tuple[tuple[Number, int, int], ...]
    origin: tuple[Number, Number] = (0, 0)


@dataclass(frozen=True)
class Gaussian:
    """``exp(-(z-c)^T Q (z-c))`` with ``Q = [[qxx, qxy], [qxy, qyy]]``, all exact."""

    centre: Point
    qxx: Fraction
    qxy: Fraction
    qyy: Fraction

    def __post_init__(self) -> None:
        if not (self.qxx > 0 and self.qxx * self.qyy > self.qxy**2):
            raise ValueError("the quadratic form must be positive definite")

    @classmethod
    def isotropic(cls, centre: Sequence[Number], rate: Number) -> Gaussian:
        """``exp(-rate |z - centre|^2)``."""
        return cls(exact(centre), Fraction(rate), Fraction(0), Fraction(rate))

    @classmethod
    def from_covariance(
        cls, centre: Sequence[Number], covariance: Sequence[Sequence[Number]]
    ) -> Gaussian:
        """``exp(-(z-c)^T C^{-1} (z-c) / 2)`` for a symmetric covariance C."""
        (a, b), (b2, d) = (exact(row) for row in covariance)
        if b != b2:
            raise ValueError("the covariance must be symmetric")
        two_det = 2 * (a * d - b * b)
        return cls(exact(centre), d / two_det, -b / two_det, a / two_det)

    def exponent(self, z: Point) -> Fraction:
        x, y = z[0] - self.centre[0], z[1] - self.centre[1]
        return self.qxx * x * x + 2 * self.qxy * x * y + self.qyy * y * y


Density = Uniform | Polynomial | Gaussian


@dataclass(frozen=True)
class Moments:
    """High-precision moments; ``mass`` may be far below the range of doubles."""

    mass: mpf
    log_mass: mpf
    centroid: tuple[mpf, mpf]
    polar_centroid: mpf
    """Integral of ``|z - centroid|^2`` times the density."""

    def polar_about(self, point: Sequence[Number]) -> mpf:
        """Integral of ``|z - point|^2`` times the density."""
        with mp.workdps(WORK_DPS):
            dx, dy = (to_mp(p) - c for p, c in zip(point, self.centroid, strict=True))
            return self.polar_centroid + self.mass * (dx * dx + dy * dy)


@dataclass(frozen=True)
class Raw:
    """Mass, first moments and polar moment about ``reference`` (fractions or mpf)."""

    reference: Point
    m: Any
    fx: Any
    fy: Any
    j: Any

    def shifted(self, to: Point) -> Raw:
        dx, dy = self.reference[0] - to[0], self.reference[1] - to[1]
        if isinstance(self.m, mpf):
            dx, dy = to_mp(dx), to_mp(dy)
        j = self.j + 2 * (dx * self.fx + dy * self.fy) + (dx * dx + dy * dy) * self.m
        return Raw(to, self.m, self.fx + dx * self.m, self.fy + dy * self.m, j)

    def in_mp(self) -> Raw:
        return Raw(self.reference, *(to_mp(v) for v in (self.m, self.fx, self.fy, self.j)))


def to_mp(value: Number | mpf) -> mpf:
    """The number at the current working precision."""
    if isinstance(value, mpf):
        return value
    value = Fraction(value)
    return mpf(value.numerator) / value.denominator


def relative_error(approximate: Number | mpf, reference: Number | mpf) -> float:
    """``|approximate - reference| / |reference|``, formed at high precision."""
    with mp.workdps(WORK_DPS):
        a, r = to_mp(approximate), to_mp(reference)
        return float(abs(a - r) / abs(r)) if r != 0 else float(abs(a))


def distance(approximate: Sequence[Number | mpf], reference: Sequence[Number | mpf]) -> float:
    """Euclidean distance of two points, formed at high precision."""
    with mp.workdps(WORK_DPS):
        d = [to_mp(a) - to_mp(r) for a, r in zip(approximate, reference, strict=True)]
        return float(mp.sqrt(d[0] * d[0] + d[1] * d[1]))


def moments(
    polygon: Sequence[Sequence[Number]], density: Density, *, slabs: str | None = None
) -> Moments:
    """Moments of ``density`` over a convex polygon of positive area.

    ``slabs`` ("x" or "y") forces the coordinate along which Gaussians are cut
    into slabs; the result does not depend on it.
    """
    vertices = exact_polygon(polygon)
    if len(vertices) < 3 or signed_area(vertices) == 0:
        raise ValueError("the polygon has no area")
    with mp.workdps(WORK_DPS):
        raw = _raw(vertices, density, slabs).shifted(vertices[0]).in_mp()
        if not raw.m > 0:
            raise ValueError("the mass is not positive")
        cx, cy = raw.fx / raw.m, raw.fy / raw.m
        return Moments(
            mass=raw.m,
            log_mass=mp.log(raw.m),
            centroid=(to_mp(vertices[0][0]) + cx, to_mp(vertices[0][1]) + cy),
            polar_centroid=raw.j - raw.m * (cx * cx + cy * cy),
        )


def _raw(vertices: Polygon, density: Density, slabs: str | None) -> Raw:
    if isinstance(density, Uniform):
        density = Polynomial(((density.value, 0, 0),), vertices[0])
    if isinstance(density, Polynomial):
        return _polynomial_raw(vertices, density)
    return _gaussian_raw(vertices, density, slabs)


def _polynomial_raw(vertices: Polygon, density: Polynomial) -> Raw:
    """Exact moments about the polynomial's own origin, then moved to the polygon."""
    origin = exact(density.origin)
    local = [(v[0] - origin[0], v[1] - origin[1]) for v in vertices]
    m = fx = fy = j = Fraction(0)
    for c, px, py in density.terms:
        c = Fraction(c)
        m += c * monomial(local, px, py)
        fx += c * monomial(local, px + 1, py)
        fy += c * monomial(local, px, py + 1)
        j += c * (monomial(local, px + 2, py) + monomial(local, px, py + 2))
    return Raw(origin, m, fx, fy, j).shifted(vertices[0])


def monomial(vertices: Sequence[Point], i: int, j: int) -> Fraction:
    """Exact integral of ``x^i y^j`` over a counter-clockwise polygon.

    By Green's theorem it is the boundary integral of ``x^(i+1) y^j dy / (i+1)``;
    on an edge the integrand is a polynomial of the edge parameter.
    """
    total = Fraction(0)
    for a, b in edges(vertices):
        product = [Fraction(1)]
        for factor in [(a[0], b[0] - a[0])] * (i + 1) + [(a[1], b[1] - a[1])] * j:
            product = _times_linear(product, *factor)
        total += (b[1] - a[1]) * sum(c / (k + 1) for k, c in enumerate(product))
    return total / (i + 1)


def _times_linear(coefficients: list[Fraction], c0: Fraction, c1: Fraction) -> list[Fraction]:
    """Coefficients of a polynomial in t multiplied by ``c0 + c1 t``."""
    out = [c * c0 for c in coefficients] + [Fraction(0)]
    for k, c in enumerate(coefficients):
        out[k + 1] += c * c1
    return out


def _gaussian_raw(vertices: Polygon, density: Gaussian, slabs: str | None) -> Raw:
    """Moments about the point of the polygon where the density is largest."""
    along_y = slabs == "y" or (slabs is None and density.qxx > density.qyy)
    if along_y:  # exchange the coordinates, so that slabs are always cut along the first
        mirrored = [(v[1], v[0]) for v in reversed(vertices)]
        centre = (density.centre[1], density.centre[0])
        raw = _slab_raw(mirrored, Gaussian(centre, density.qyy, density.qxy, density.qxx))
        return Raw((raw.reference[1], raw.reference[0]), raw.m, raw.fy, raw.fx, raw.j)
    return _slab_raw(vertices, density)


def _slab_raw(vertices: Polygon, density: Gaussian) -> Raw:
    mode = peak(vertices, density)
    # With v = y + shear * x (about the centre) the exponent is alpha u^2 + beta v^2.
    shear = density.qxy / density.qyy
    alpha, beta = density.qxx - density.qxy * shear, density.qyy
    u0 = mode[0] - density.centre[0]
    v0 = mode[1] - density.centre[1] + shear * u0
    local = [(x - mode[0], y - mode[1] + shear * (x - mode[0])) for x, y in vertices]
    excess = _Excess(to_mp(alpha), to_mp(beta), to_mp(2 * u0), to_mp(2 * v0))
    highest = max(density.exponent(v) for v in vertices)
    # Shrinking the polygon towards the peak shows that the mass is at least
    # area * maximum / (e * span^2), so neglecting relative to this is safe.
    span = max(1.0, float(highest - density.exponent(mode)))
    cutoff = TAIL_LOG + 2 * math.log(span)
    sums = [mpf(0)] * 6
    for panel, nodes in _panels(_slabs(_trim(local, excess, cutoff)), excess, cutoff):
        sums = [s + t for s, t in zip(sums, _integrate(panel, nodes, excess), strict=True)]
    factor = mp.exp(-to_mp(density.exponent(mode)))
    m, su, sv, suu, suv, svv = (factor * s for s in sums)
    k = to_mp(shear)
    return Raw(mode, m, su, sv - k * su, suu + svv - 2 * k * suv + k * k * suu)


def peak(vertices: Polygon, density: Gaussian) -> Point:
    """The exact point of the polygon where the Gaussian is largest."""
    if contains(vertices, density.centre):
        return density.centre
    candidates: list[Point] = []
    for a, b in edges(vertices):
        d = (b[0] - a[0], b[1] - a[1])
        s = (a[0] - density.centre[0], a[1] - density.centre[1])
        qd = (density.qxx * d[0] + density.qxy * d[1], density.qxy * d[0] + density.qyy * d[1])
        t = -(s[0] * qd[0] + s[1] * qd[1]) / (d[0] * qd[0] + d[1] * qd[1])
        t = min(max(t, Fraction(0)), Fraction(1))
        candidates.append((a[0] + t * d[0], a[1] + t * d[1]))
    return min(candidates, key=density.exponent)


@dataclass(frozen=True)
class _Excess:
    """``alpha u (u + 2 u0) + beta v (v + 2 v0)``: exponent above its minimum."""

    alpha: mpf
    beta: mpf
    twice_u0: mpf
    twice_v0: mpf

    def lower_bound(self, p: _Panel) -> mpf:
        """A lower bound over the panel (its minimum over the bounding box)."""
        v_min, v_max = min(p.lo0, p.lo1), max(p.lo0 + p.w0, p.lo1 + p.w1)
        u = min(max(-self.twice_u0 / 2, p.u), p.u + p.du)
        v = min(max(-self.twice_v0 / 2, v_min), v_max)
        return self.alpha * u * (u + self.twice_u0) + self.beta * v * (v + self.twice_v0)


@dataclass(frozen=True)
class _Panel:
    """Trapezoid ``u <= u' <= u + du``, lower side from lo0 to lo1, height from w0 to w1."""

    u: mpf
    du: mpf
    lo0: mpf
    lo1: mpf
    w0: mpf
    w1: mpf

    def halves(self) -> list[_Panel]:
        lo, w, du = (self.lo0 + self.lo1) / 2, (self.w0 + self.w1) / 2, self.du / 2
        return [
            _Panel(self.u, du, self.lo0, lo, self.w0, w),
            _Panel(self.u + du, du, lo, self.lo1, w, self.w1),
        ]

    def variation(self, e: _Excess) -> tuple[float, float]:
        """Linear and quadratic size of the exponent along ``u``, on [-1, 1]."""
        h = self.du / 2
        linear = abs(e.alpha * h * (2 * (self.u + h) + e.twice_u0))
        # v = m + n s at the panel's middle and (p + q s) per unit of the outer variable
        m, n = (self.lo0 + self.lo1) / 2 + (self.w0 + self.w1) / 4, (self.w0 + self.w1) / 4
        p = (self.lo1 - self.lo0) / 2 + (self.w1 - self.w0) / 4
        q = (self.w1 - self.w0) / 4
        slope = abs(p) + abs(q)
        linear += e.beta * slope * (abs(2 * m + e.twice_v0) + 2 * abs(n))
        return float(linear), float(e.alpha * h * h + e.beta * slope * slope)


def _trim(vertices: Polygon, e: _Excess, cutoff: float) -> Polygon:
    """Cut off what lies outside the box around ``excess <= cutoff``."""
    for axis, (own, own2, other, other2) in enumerate(
        ((e.alpha, e.twice_u0, e.beta, e.twice_v0), (e.beta, e.twice_v0, e.alpha, e.twice_u0))
    ):
        slack = cutoff + other * other2 * other2 / 4  # what the other term can give back
        root = mp.sqrt(own2 * own2 / 4 + slack / own)
        high, low = root - own2 / 2, root + own2 / 2  # both positive; widened when rounded
        sides = {1: float(high) * 1.000001, -1: float(low) * 1.000001}
        for sign, bound in sides.items():
            if math.isfinite(bound):
                vertices = clip(vertices, sign * (1 - axis), sign * axis, bound)
    return vertices


def _slabs(vertices: Polygon) -> list[_Panel]:
    """The polygon as trapezoids between consecutive abscissae of its vertices."""
    xs = sorted({v[0] for v in vertices})
    chords = [_chord(vertices, x) for x in xs]
    panels: list[_Panel] = []
    for k in range(len(xs) - 1):
        (lo0, hi0), (lo1, hi1) = chords[k], chords[k + 1]
        exact_values = (xs[k], xs[k + 1] - xs[k], lo0, lo1, hi0 - lo0, hi1 - lo1)
        panels.append(_Panel(*(to_mp(value) for value in exact_values)))
    return panels


def _chord(vertices: Polygon, x: Fraction) -> tuple[Fraction, Fraction]:
    """Lowest and highest point of the convex polygon at abscissa x."""
    ys = [v[1] for v in vertices if v[0] == x]
    for a, b in edges(vertices):
        if (a[0] - x) * (b[0] - x) < 0:
            ys.append(a[1] + (x - a[0]) / (b[0] - a[0]) * (b[1] - a[1]))
    return min(ys), max(ys)


def nodes_needed(linear: float, quadratic: float) -> int:
    """Gauss-Legendre nodes for ``exp(-(e0 + linear s + quadratic s^2))`` times a cubic.

    On the ellipse with foci -1, 1 and semi-axes A, B (A + B = rho) the
    exponential is at most ``exp(-e0 + linear A + quadratic B^2)`` and a cubic
    grows by at most rho^3; the n-point rule then errs by no more than
    ``64/15 * bound * rho^(-2n) / (1 - rho^(-2))``. The maximum on [-1, 1] is at
    least ``exp(-e0 + linear - quadratic)``.
    """
    best = math.inf
    for rho in (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 50.0, 200.0, 1e3, 1e4, 1e6):
        a, b = (rho + 1 / rho) / 2, (rho - 1 / rho) / 2
        log_bound = linear * (a - 1) + quadratic * (b * b + 1) + math.log(64 / 15 * 2)
        best = min(best, (QUADRATURE_LOG + log_bound) / (2 * math.log(rho)) + 1.5)
    return max(4, math.ceil(best)) if math.isfinite(best) else 10**9


def _panels(stack: list[_Panel], excess: _Excess, cutoff: float) -> list[tuple[_Panel, int]]:
    """Relevant panels with their node counts."""
    done: list[tuple[_Panel, int]] = []
    while stack:
        panel = stack.pop()
        if excess.lower_bound(panel) > cutoff:
            continue
        nodes = nodes_needed(*panel.variation(excess))
        if nodes <= MAX_NODES:
            done.append((panel, nodes))
        else:
            stack.extend(panel.halves())
    return done


def _integrate(panel: _Panel, nodes: int, excess: _Excess) -> list[mpf]:
    """Integrals of 1, u, v, u^2, u v, v^2 times ``exp(-excess)`` over the panel."""
    sums = [mpf(0)] * 6
    for t, weight in gauss_legendre(nodes):
        u = panel.u + panel.du * t
        lo = panel.lo0 + (panel.lo1 - panel.lo0) * t
        w = panel.w0 + (panel.w1 - panel.w0) * t
        scale = weight * panel.du * mp.exp(-excess.alpha * u * (u + excess.twice_u0))
        s0, s1, s2 = (s * scale for s in _column(lo, w, excess))
        for k, term in enumerate((s0, u * s0, s1, u * u * s0, u * s1, s2)):
            sums[k] += term
    return sums


def _column(lo: mpf, w: mpf, e: _Excess) -> tuple[mpf, mpf, mpf]:
    """Integrals of 1, v, v^2 times ``exp(-beta v (v + 2 v0))`` over [lo, lo + w]."""
    v0 = e.twice_v0 / 2
    far, low = 1 + float(e.beta * v0 * v0), 1 + 1 / float(e.beta * w * w)
    spare = 20 + math.ceil(4 * math.log10(far) + 2 * math.log10(low))  # digits that cancel
    with mp.workdps(WORK_DPS + spare):
        p, q = v0 + lo, v0 + lo + w
        root = mp.sqrt(e.beta)
        scale = mp.exp(e.beta * v0 * v0)
        at_p, at_q = scale * mp.exp(-e.beta * p * p), scale * mp.exp(-e.beta * q * q)
        m0 = scale * mp.sqrt(mp.pi) / (2 * root) * erf_difference(root * p, root * q)
        m1 = (at_p - at_q) / (2 * e.beta)  # about the centre, not yet about the peak
        m2 = (m0 + p * at_p - q * at_q) / (2 * e.beta)
        return m0, m1 - v0 * m0, m2 - 2 * v0 * m1 + v0 * v0 * m0


def erf_difference(p: mpf, q: mpf) -> mpf:
    """``erf(q) - erf(p)``, accurate in the tails."""
    if p > 0:
        return mp.erfc(p) - mp.erfc(q)
    if q < 0:
        return mp.erfc(-q) - mp.erfc(-p)
    return mp.erf(q) - mp.erf(p)


def along_axis(
    a: Number, b: Number, c: Number, rate: Number, digits: int = WORK_DPS
) -> tuple[mpf, mpf, mpf]:
    """Mass, mean and variance of ``exp(-rate (t - c)^2)`` between a and b, in closed form."""
    with mp.workdps(digits):
        a, b, c, rate = (to_mp(v) for v in (a, b, c, rate))
        root = mp.sqrt(rate)
        low, high = root * (a - c), root * (b - c)
        mass = erf_difference(low, high) * mp.sqrt(mp.pi) / (2 * root)
        first = (mp.exp(-low * low) - mp.exp(-high * high)) / (2 * rate)
        edge = (b - c) * mp.exp(-high * high) - (a - c) * mp.exp(-low * low)
        mean = first / mass
        return mass, mean + c, (mass - edge) / (2 * rate) / mass - mean * mean


def in_box(
    lower: Any, upper: Any, center: Any, rates: Any, digits: int = WORK_DPS
) -> tuple[mpf, list[mpf], mpf]:
    """The same over a box in any dimension: log mass, centroid, second moment over the mass."""
    ends = zip(lower, upper, center, rates, strict=True)
    parts = [along_axis(*end, digits=digits) for end in ends]
    with mp.workdps(digits):
        log_mass = sum(mp.log(mass) for mass, _, _ in parts)
        return log_mass, [mean for _, mean, _ in parts], sum(v for _, _, v in parts)


@cache
def gauss_legendre(n: int) -> tuple[tuple[mpf, mpf], ...]:
    """Nodes and weights of the n-point Gauss-Legendre rule on [0, 1], by Newton's method."""
    with mp.workdps(WORK_DPS + 10):
        rule: list[tuple[mpf, mpf]] = []
        for x in map(mpf, np.polynomial.legendre.leggauss(n)[0][::-1].tolist()):
            for _ in range(4):
                value, slope = _legendre(n, x)
                x -= value / slope
            slope = _legendre(n, x)[1]
            rule.append(((1 + x) / 2, 1 / ((1 - x * x) * slope * slope)))
        return tuple(rule)


def _legendre(n: int, x: mpf) -> tuple[mpf, mpf]:
    """The Legendre polynomial of degree n and its derivative at x, |x| < 1."""
    before, value = mpf(1), x
    for k in range(2, n + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, n * (x * value - before) / (x * x - 1)
