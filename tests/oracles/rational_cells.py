"""Exact Voronoi cells in a convex polygon, in rational arithmetic.

Every double is taken at its exact value and every operation is done on
``fractions.Fraction``, so nothing here is ever rounded. Vertices are listed
counter-clockwise. Only ``to_float`` leaves the rationals, with one correctly
rounded conversion per number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Number = float | int | Fraction
Point = tuple[Fraction, Fraction]
Polygon = list[Point]


def exact(point: Sequence[Number]) -> Point:
    """The point with its coordinates as fractions, without rounding."""
    x, y = point
    return Fraction(x), Fraction(y)


def cross(o: Point, a: Point, b: Point) -> Fraction:
    """Twice the signed area of the triangle o, a, b."""
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def squared_distance(a: Point, b: Point) -> Fraction:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def signed_area(vertices: Sequence[Point]) -> Fraction:
    """Positive for counter-clockwise order."""
    return sum((cross(vertices[0], a, b) for a, b in edges(vertices)), Fraction(0)) / 2


def edges(vertices: Sequence[Point]) -> list[tuple[Point, Point]]:
    """The closed chain of consecutive vertex pairs."""
    return [(vertices[k], vertices[(k + 1) % len(vertices)]) for k in range(len(vertices))]


def exact_polygon(polygon: Sequence[Sequence[Number]]) -> Polygon:
    """Exact vertices, repeated neighbours removed, turned counter-clockwise."""
    vertices = without_repeats([exact(v) for v in polygon])
    return vertices[::-1] if vertices and signed_area(vertices) < 0 else vertices


def without_repeats(vertices: Sequence[Point]) -> Polygon:
    """Drop every vertex equal to its predecessor (cyclically)."""
    kept = [v for k, v in enumerate(vertices) if k == 0 or v != vertices[k - 1]]
    while len(kept) > 1 and kept[-1] == kept[0]:
        kept.pop()
    return kept


def clip(vertices: Sequence[Point], a: Number, b: Number, c: Number) -> Polygon:
    """The part of a convex polygon with ``a x + b y <= c`` (closed half-plane)."""
    a, b, c = Fraction(a), Fraction(b), Fraction(c)
    level = {v: a * v[0] + b * v[1] - c for v in vertices}
    kept: Polygon = []
    for v, w in edges(vertices):
        if level[v] <= 0:
            kept.append(v)
        if level[v] * level[w] < 0:
            t = level[v] / (level[v] - level[w])
            kept.append((v[0] + t * (w[0] - v[0]), v[1] + t * (w[1] - v[1])))
    return without_repeats(kept)


def contains(vertices: Sequence[Point], point: Sequence[Number]) -> bool:
    """Whether the closed convex polygon (counter-clockwise) holds the point."""
    z = exact(point)
    return all(cross(a, b, z) >= 0 for a, b in edges(vertices))


def area(vertices: Sequence[Point]) -> Fraction:
    return abs(signed_area(vertices)) if len(vertices) > 2 else Fraction(0)


def centroid(vertices: Sequence[Point]) -> Point:
    """Centroid of a polygon of positive area, uniform density."""
    total = area(vertices)
    if total == 0:
        raise ValueError("a polygon without area has no centroid")
    o = vertices[0]
    x = y = Fraction(0)
    for a, b in edges(vertices):  # triangle (o, a, b): area times mean of its corners
        w = abs(cross(o, a, b)) / 2
        x += w * (o[0] + a[0] + b[0]) / 3
        y += w * (o[1] + a[1] + b[1]) / 3
    return x / total, y / total


def polar_moment(vertices: Sequence[Point], about: Sequence[Number]) -> Fraction:
    """Integral of ``|z - about|^2`` over the polygon, uniform density."""
    if len(vertices) < 3:
        return Fraction(0)
    o = vertices[0]
    q = exact(about)
    total = Fraction(0)
    for a, b in edges(vertices):  # edge-midpoint rule: exact on a triangle for degree 2
        w = abs(cross(o, a, b)) / 2
        for u, v in ((o, a), (a, b), (b, o)):
            total += w / 3 * squared_distance(((u[0] + v[0]) / 2, (u[1] + v[1]) / 2), q)
    return total


@dataclass(frozen=True)
class RationalCell:
    """One exact Voronoi cell.

    ``edge_neighbours`` share a boundary piece of positive length,
    ``contact_neighbours`` share at least one point (so they include the
    former). A coincident agent shares the whole cell and is in both.
    ``vertices`` may be a point, a segment or empty when the agent lies outside
    the workspace.
    """

    site: Point
    vertices: tuple[Point, ...]
    edge_neighbours: frozenset[int]
    contact_neighbours: frozenset[int]

    @property
    def area(self) -> Fraction:
        return area(self.vertices)

    @property
    def centroid(self) -> Point:
        return centroid(self.vertices)

    def polar_moment(self, about: Sequence[Number]) -> Fraction:
        return polar_moment(self.vertices, about)


def cell(
    polygon: Sequence[Sequence[Number]], agents: Sequence[Sequence[Number]], p: int
) -> RationalCell:
    """The exact Voronoi cell of agent ``p``: the workspace cut by every bisector."""
    sites = [exact(a) for a in agents]
    site = sites[p]
    vertices = exact_polygon(polygon)
    others = sorted(
        (squared_distance(s, site), q) for q, s in enumerate(sites) if q != p and s != site
    )
    near: list[int] = []
    for gap, q in others:
        # A bisector is half the gap away, so it cannot reach past the farthest vertex.
        if all(gap > 4 * squared_distance(v, site) for v in vertices):
            break
        vertices = clip(vertices, *bisector(site, sites[q]))
        near.append(q)
    touching = {q: _on_bisector(vertices, site, sites[q]) for q in near}
    same = {q for q, s in enumerate(sites) if q != p and s == site and vertices}
    return RationalCell(
        site=site,
        vertices=tuple(vertices),
        edge_neighbours=frozenset({q for q, k in touching.items() if k >= 2} | same),
        contact_neighbours=frozenset({q for q, k in touching.items() if k >= 1} | same),
    )


def bisector(p: Point, q: Point) -> tuple[Fraction, Fraction, Fraction]:
    """Coefficients of ``a x + b y <= c``: the points no farther from p than from q."""
    c = q[0] ** 2 + q[1] ** 2 - p[0] ** 2 - p[1] ** 2
    return 2 * (q[0] - p[0]), 2 * (q[1] - p[1]), c


def _on_bisector(vertices: Sequence[Point], p: Point, q: Point) -> int:
    """How many distinct cell vertices are equally far from p and q."""
    return sum(squared_distance(v, p) == squared_distance(v, q) for v in set(vertices))


def tessellation(
    polygon: Sequence[Sequence[Number]], agents: Sequence[Sequence[Number]]
) -> list[RationalCell]:
    """The exact cells of all agents, in agent order."""
    return [cell(polygon, agents, p) for p in range(len(agents))]


def to_float(value: Any) -> Any:
    """Round a fraction, or every fraction in nested lists and tuples, to the nearest double."""
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, (list, tuple)):
        return type(value)(to_float(v) for v in value)
    return value
