"""Random and degenerate test inputs: Hypothesis strategies and seeded generators.

Polygons are lists of (x, y) doubles, strictly convex and counter-clockwise
(checked exactly). Agents are lists of distinct (x, y) doubles, each inside its
closed polygon (checked exactly). The nearness of vertices or agents is not
limited: needles, neighbouring doubles and the like are intended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from tests.oracles.mp_moments import Gaussian
from tests.oracles.rational_cells import contains, cross, exact, exact_polygon

Point = tuple[float, float]
Polygon = list[Point]
Agents = list[Point]


# ------------------------------------------------------------ exact helpers


def convex_hull(points: Iterable[Sequence[float]]) -> Polygon:
    """Strictly convex hull (no straight vertices), exact, counter-clockwise."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    return _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]


def _chain(ordered: Sequence[Point]) -> Polygon:
    kept: Polygon = []
    for z in ordered:
        while len(kept) > 1 and cross(exact(kept[-2]), exact(kept[-1]), exact(z)) <= 0:
            kept.pop()
        kept.append(z)
    return kept


def is_inside(polygon: Sequence[Sequence[float]], z: Sequence[float]) -> bool:
    """Exact membership in the closed convex polygon."""
    return contains(exact_polygon(polygon), z)


def keep_valid(polygon: Sequence[Sequence[float]], agents: Iterable[Sequence[float]]) -> Agents:
    """The distinct agents inside the polygon, in the order of first appearance.

    Those whose squared distance is below the doubles' range count as one, as they do for dwell.
    """
    vertices = exact_polygon(polygon)
    kept: Agents = []
    for z in dict.fromkeys((float(x), float(y)) for x, y in agents):
        if contains(vertices, z) and all(math.dist(z, other) > 1e-150 for other in kept):
            kept.append(z)
    return kept


def nudge(value: float, ulps: int) -> float:
    """The double that many steps above (or below) the given one."""
    for _ in range(abs(ulps)):
        value = math.nextafter(value, math.inf if ulps > 0 else -math.inf)
    return value


def point_at(polygon: Sequence[Point], u: float, v: float) -> Point:
    """A point of the polygon from two numbers in [0, 1] (a fan triangle, then within it)."""
    n = len(polygon) - 2
    k = min(int(u * n), n - 1)
    u = u * n - k
    if u + v > 1:
        u, v = 1 - u, 1 - v
    o, a, b = polygon[0], polygon[k + 1], polygon[k + 2]
    x = o[0] + u * (a[0] - o[0]) + v * (b[0] - o[0])
    y = o[1] + u * (a[1] - o[1]) + v * (b[1] - o[1])
    return (x, y) if is_inside(polygon, (x, y)) else _pulled_in(polygon, (x, y))


def _pulled_in(polygon: Sequence[Point], z: Point) -> Point:
    """A point outside by rounding, moved towards the middle until inside."""
    vertices = [exact(v) for v in polygon]
    mx, my = (sum(v[i] for v in vertices) / len(vertices) for i in (0, 1))
    x, y = exact(z)
    for k in range(52, -1, -1):
        s = Fraction(1, 2**k)
        w = float(x + s * (mx - x)), float(y + s * (my - y))
        if is_inside(polygon, w):
            return w
    return polygon[0]


def _boundary_distance(polygon: Sequence[Point], z: Point) -> float:
    """Distance from a point inside to the nearest edge line, roughly."""
    edges = pairwise([*polygon, polygon[0]])
    return min(float(cross(exact(a), exact(b), exact(z))) / math.dist(a, b) for a, b in edges)


# ----------------------------------------------------------------- polygons

UNIT = st.floats(0, 1, allow_subnormal=False)


def points(span: float = 100.0) -> st.SearchStrategy[Point]:
    """Points of a square about the origin."""
    coordinate = st.floats(-span, span, allow_subnormal=False)
    return st.tuples(coordinate, coordinate)


@st.composite
def random_polygons(draw: st.DrawFn, span: float = 20.0, max_points: int = 12) -> Polygon:
    """Hulls of random points; at least 1e-6 of the span wide."""
    hull = convex_hull(draw(st.lists(points(span), min_size=3, max_size=max_points)))
    assume(len(hull) > 2 and polygon_area(hull) > 1e-12 * span * span)
    return hull


@st.composite
def lattice_polygons(draw: st.DrawFn, size: int = 8) -> Polygon:
    """Hulls of points with small integer coordinates."""
    coordinate = st.integers(-size, size)
    chosen = draw(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=12))
    hull = convex_hull(chosen)
    assume(len(hull) > 2)
    return hull


@st.composite
def needles(draw: st.DrawFn, max_log_aspect: float = 8.0) -> Polygon:
    """Thin polygons in any direction, length about 20, aspect up to ten to the given power."""
    height = 10.0 ** -draw(st.floats(1, max_log_aspect))
    angle = draw(st.sampled_from((0.0, math.pi / 4, 1.0)) | st.floats(0, math.pi))
    c, s = math.cos(angle), math.sin(angle)
    ys = draw(st.lists(st.tuples(UNIT, UNIT), min_size=0, max_size=6))
    flat = [(0.0, 0.0), (1.0, 0.0), (0.5, 1.0), *ys]
    hull = convex_hull(
        (20 * (c * x - s * y * height), 20 * (s * x + c * y * height)) for x, y in flat
    )
    assume(len(hull) > 2 and polygon_area(hull) > 100 * height)
    return hull


@st.composite
def many_gons(draw: st.DrawFn, max_sides: int = 200) -> Polygon:
    """Nearly regular polygons with many sides."""
    return regular_polygon(draw(st.integers(3, max_sides)), draw(st.floats(0.5, 20)), draw(UNIT))


def convex_polygons() -> st.SearchStrategy[Polygon]:
    """All kinds of workspace."""
    return random_polygons() | lattice_polygons() | needles() | many_gons(40)


def regular_polygon(n: int, radius: float = 1.0, phase: float = 0.0) -> Polygon:
    """Regular polygon about the origin, up to rounding."""
    angles = [2 * math.pi * (k + phase) / n for k in range(n)]
    return convex_hull((radius * math.cos(a), radius * math.sin(a)) for a in angles)


def polygon_area(polygon: Sequence[Point]) -> float:
    o, *rest = map(exact, polygon)
    return float(sum(cross(o, a, b) for a, b in pairwise(rest)) / 2)


# ------------------------------------------------------------------- agents


@st.composite
def uniform_agents(draw: st.DrawFn, polygon: Polygon, max_size: int = 12) -> Agents:
    """Agents anywhere, also on the boundary and at the corners."""
    pairs = draw(st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=max_size))
    return keep_valid(polygon, (point_at(polygon, u, v) for u, v in pairs))


@st.composite
def clustered_agents(draw: st.DrawFn, polygon: Polygon, max_size: int = 12) -> Agents:
    """A tight cluster and one agent elsewhere."""
    seat, away = (point_at(polygon, *draw(st.tuples(UNIT, UNIT))) for _ in range(2))
    radius = 10.0 ** -draw(st.integers(1, 12))
    shifts = draw(st.lists(points(radius), min_size=1, max_size=max(1, max_size - 2)))
    cluster = [(seat[0] + dx, seat[1] + dy) for dx, dy in shifts]
    return keep_valid(polygon, [seat, *cluster, away])


@st.composite
def lattice_agents(draw: st.DrawFn, polygon: Polygon, max_size: int = 16) -> Agents:
    """A square lattice, exactly or with every coordinate off by up to two doubles."""
    xs, ys = zip(*polygon, strict=True)
    k = draw(st.integers(1, max(1, math.isqrt(max_size))))
    h = max(max(xs) - min(xs), max(ys) - min(ys)) / (k + 1)
    x0, y0 = draw(st.sampled_from(((min(xs), min(ys)), point_at(polygon, 0.4, 0.3))))
    span = range(-k, k + 1)
    nodes = keep_valid(polygon, [(x0 + i * h, y0 + j * h) for i in span for j in span])[:max_size]
    assume(nodes)
    step = st.integers(-2, 2) if draw(st.booleans()) else st.just(0)
    moved = [(nudge(x, draw(step)), nudge(y, draw(step))) for x, y in nodes]
    return _nonempty(keep_valid(polygon, moved))


@st.composite
def collinear_agents(draw: st.DrawFn, polygon: Polygon, max_size: int = 10) -> Agents:
    """Agents on one segment (exactly so when it is parallel to an axis)."""
    (ax, ay), (bx, by) = (point_at(polygon, *draw(st.tuples(UNIT, UNIT))) for _ in range(2))
    bx, by = draw(st.sampled_from(((bx, by), (ax, by), (bx, ay))))
    steps = draw(st.lists(UNIT, min_size=2, max_size=max_size))
    line = [(ax + t * (bx - ax), ay + t * (by - ay)) for t in steps]
    return _nonempty(keep_valid(polygon, line))


@st.composite
def cocircular_agents(draw: st.DrawFn, polygon: Polygon, max_size: int = 10) -> Agents:
    """Agents on one circle, evenly or unevenly spaced, with or without its centre."""
    centre = point_at(polygon, *draw(st.tuples(st.floats(0.2, 0.8), st.floats(0.1, 0.4))))
    radius = draw(st.floats(0.1, 0.95)) * _boundary_distance(polygon, centre)
    assume(radius > 0)
    most = max(3, max_size - 1)
    n = draw(st.integers(3, most))
    even = [k / n for k in range(n)]
    turns = draw(st.just(even) | st.lists(UNIT, min_size=3, max_size=most))
    angles = [2 * math.pi * t for t in turns]
    ring = [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in angles]
    return _nonempty(keep_valid(polygon, ring + [centre] * draw(st.integers(0, 1))))


@st.composite
def near_coincident_agents(draw: st.DrawFn, polygon: Polygon, max_size: int = 10) -> Agents:
    """Pairs of agents a few doubles or some 1e-15 apart, among others."""
    seats = draw(uniform_agents(polygon, max(1, max_size // 2)))
    found: list[Point] = []
    for x, y in seats:
        i, j = draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3)))
        gap = draw(st.sampled_from((0.0, 0.0, 1e-15, 1e-12)))
        found += [(x, y), (nudge(x, i) + gap, nudge(y, j))]
    return keep_valid(polygon, found)


def _nonempty(agents: Agents) -> Agents:
    assume(agents)
    return agents


AGENT_KINDS: tuple[Callable[..., st.SearchStrategy[Agents]], ...] = (
    uniform_agents,
    clustered_agents,
    lattice_agents,
    collinear_agents,
    cocircular_agents,
    near_coincident_agents,
)


def agents_in(polygon: Polygon, max_size: int = 12) -> st.SearchStrategy[Agents]:
    """Agents of every kind inside the given polygon; at least one."""
    return st.one_of([kind(polygon, max_size=max_size) for kind in AGENT_KINDS])


@st.composite
def configurations(draw: st.DrawFn, max_size: int = 12) -> tuple[Polygon, Agents]:
    """A workspace with agents inside."""
    polygon = draw(convex_polygons())
    return polygon, draw(agents_in(polygon, max_size))


# ---------------------------------------------------------------- densities


@st.composite
def gaussians(draw: st.DrawFn, span: float = 30.0) -> Gaussian:
    """Gaussians with standard deviations from 0.5 to 50, and any orientation or none."""
    centre = draw(points(span))
    if not draw(st.booleans()):
        return Gaussian.isotropic(centre, draw(st.sampled_from((0.03,)) | st.floats(2e-4, 2)))
    major, minor = draw(st.tuples(st.floats(0.5, 50), st.floats(0.5, 50)))
    angle = draw(st.floats(0, math.pi))
    c, s = math.cos(angle), math.sin(angle)
    a, d = (c * major) ** 2 + (s * minor) ** 2, (s * major) ** 2 + (c * minor) ** 2
    b = c * s * (major**2 - minor**2)
    return Gaussian.from_covariance(centre, ((a, b), (b, d)))


# --------------------------------------------------------- seeded generators


def random_convex_polygon(
    rng: np.random.Generator, corners: int = 7, radius: float = 10.0, aspect: float = 1.0
) -> Polygon:
    """Polygon with the given number of corners on a randomly turned ellipse."""
    while True:
        angles = np.sort(rng.uniform(0, 2 * math.pi, corners))
        gaps = np.diff(np.append(angles, angles[0] + 2 * math.pi))
        if corners <= 3 or gaps.max() < math.pi:
            turn = rng.uniform(0, math.pi)
            x, y = radius * np.cos(angles), radius / aspect * np.sin(angles)
            c, s = math.cos(turn), math.sin(turn)
            hull = convex_hull(zip((c * x - s * y).tolist(), (s * x + c * y).tolist(), strict=True))
            if len(hull) == corners:
                return hull


def random_positions(rng: np.random.Generator, polygon: Sequence[Point], n: int) -> Agents:
    """Distinct points distributed uniformly over the polygon."""
    corners = np.asarray(polygon, dtype=float)
    weights = np.array(
        [polygon_area([polygon[0], *polygon[k : k + 2]]) for k in range(1, len(polygon) - 1)]
    )
    found: dict[Point, None] = {}
    while len(found) < n:
        k = int(rng.choice(len(weights), p=weights / weights.sum()))
        u, v = rng.uniform(size=2)
        if u + v > 1:
            u, v = 1 - u, 1 - v
        z = corners[0] + u * (corners[k + 1] - corners[0]) + v * (corners[k + 2] - corners[0])
        found.update(dict.fromkeys(keep_valid(polygon, [z.tolist()])))
    return list(found)
