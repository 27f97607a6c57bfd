"""Exact Voronoi cells in a convex polyhedron, in rational arithmetic.

Every double is taken at its exact value, so nothing here is ever rounded. A polyhedron is a list of
faces: a label, and the loop of its corners counter-clockwise seen from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Point = tuple[Fraction, Fraction, Fraction]
Face = tuple[int, list[Point]]
Polyhedron = list[Face]


def exact(point: Sequence[float]) -> Point:
    x, y, z = (Fraction(float(v)) for v in point)
    return x, y, z


def minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def dot(a: Point, b: Point) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def clip(body: Polyhedron, normal: Point, offset: Fraction, label: int) -> Polyhedron:
    """The part with normal . z <= offset; what is flat or empty has no faces left."""
    kept: Polyhedron = []
    rim: list[Point] = []
    cut = False
    for name, loop in body:
        level = [dot(normal, v) - offset for v in loop]
        cut = cut or any(f > 0 for f in level)
        ring = _clip_loop(loop, level)
        if len(ring) >= 3:
            kept.append((name, ring))
        rim += [v for v in ring if dot(normal, v) == offset]
    if not cut:
        return body
    if not any(dot(normal, v) < offset for _, loop in kept for v in loop):
        return []
    lid = _ordered(rim, normal)
    flat = [(name, loop) for name, loop in kept if any(dot(normal, v) < offset for v in loop)]
    return [*flat, (label, lid)] if len(lid) >= 3 else flat


def _clip_loop(loop: list[Point], level: list[Fraction]) -> list[Point]:
    ring: list[Point] = []
    for k, v in enumerate(loop):
        w, f, g = loop[(k + 1) % len(loop)], level[k], level[(k + 1) % len(loop)]
        if f <= 0:
            ring.append(v)
        if f * g < 0:
            t = f / (f - g)
            d = minus(w, v)
            ring.append((v[0] + t * d[0], v[1] + t * d[1], v[2] + t * d[2]))
    return [v for k, v in enumerate(ring) if v != ring[k - 1]] if len(ring) > 1 else ring


def _ordered(points: list[Point], normal: Point) -> list[Point]:
    """Distinct points of a plane in convex position, counter-clockwise about `normal`."""
    left = sorted(set(points))
    if len(left) < 3:
        return []
    ring = [left[0]]
    while True:  # gift wrapping; straight corners are left out
        best = None
        for q in left:
            if q == ring[-1]:
                continue
            if best is None:
                best = q
                continue
            turn = dot(normal, cross(minus(best, ring[-1]), minus(q, ring[-1])))
            far = dot(minus(q, ring[-1]), minus(q, ring[-1]))
            near = dot(minus(best, ring[-1]), minus(best, ring[-1]))
            if turn < 0 or (turn == 0 and far > near):
                best = q
        assert best is not None
        if best == ring[0]:
            return ring if len(ring) >= 3 else []
        ring.append(best)


def area_vector(loop: list[Point]) -> Point:
    total = (Fraction(0),) * 3
    for a, b in pairwise(loop[1:]):
        n = cross(minus(a, loop[0]), minus(b, loop[0]))
        total = (total[0] + n[0] / 2, total[1] + n[1] / 2, total[2] + n[2] / 2)
    return total


@dataclass(frozen=True)
class RationalCell:
    """One exact Voronoi cell, in the frame of its own agent."""

    faces: Polyhedron

    def tetrahedra(self) -> list[tuple[Fraction, Point, Point, Point]]:
        """Six times the volume, and the corners, of each tetrahedron with the agent as apex."""
        return [
            (dot(loop[0], cross(a, b)), loop[0], a, b)
            for _, loop in self.faces
            for a, b in pairwise(loop[1:])
        ]

    @property
    def volume(self) -> Fraction:
        return sum((k for k, *_ in self.tetrahedra()), Fraction(0)) / 6

    @property
    def centroid(self) -> Point:
        """Relative to the agent."""
        parts = self.tetrahedra()
        total = sum(k for k, *_ in parts)
        x, y, z = (sum(k * (a[i] + b[i] + c[i]) for k, a, b, c in parts) / 4 for i in range(3))
        return x / total, y / total, z / total

    @property
    def second_moment(self) -> Fraction:
        """About the centroid, uniform density."""
        g = self.centroid
        total = Fraction(0)
        for k, *corners in self.tetrahedra():
            arms = [minus(v, g) for v in [(Fraction(0),) * 3, *corners]]
            mean = tuple(sum(v[i] for v in arms) for i in range(3))
            total += k / 120 * (sum(dot(v, v) for v in arms) + sum(m * m for m in mean))
        return total

    def area(self, label: int) -> float:
        """Area of the faces with this label."""
        vectors = [area_vector(loop) for name, loop in self.faces if name == label]
        return sum(float(dot(n, n)) ** 0.5 for n in vectors)

    @property
    def neighbours(self) -> frozenset[int]:
        """Agents behind a face."""
        return frozenset(name for name, _ in self.faces if name >= 0)


def cell(body: Polyhedron, agents: Sequence[Sequence[float]], p: int) -> RationalCell:
    """The exact cell of agent p: the workspace cut by every bisector, nearest first."""
    site = exact(agents[p])
    gaps = [minus(exact(a), site) for a in agents]
    faces: Polyhedron = [(name, [minus(v, site) for v in loop]) for name, loop in body]
    for q in sorted(range(len(agents)), key=lambda q: dot(gaps[q], gaps[q])):
        if q != p and faces:
            faces = clip(faces, gaps[q], dot(gaps[q], gaps[q]) / 2, q)
    return RationalCell(faces)
