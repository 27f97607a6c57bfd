"""Convex hulls of points in any dimension: vertices, facets, and the loops around faces.

Qhull (through SciPy) finds which points belong together. It works in a frame in which the points
are spread equally in all directions, as convexity survives any affine map: thin shapes and far
offsets are then like any other. Numbers are not taken from it: planes are computed from the points
themselves, in rational arithmetic, and rounded once.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Ints, Points
from dwell.geometry.rational import unit_normal
from dwell.geometry.validation import FLAT, ROUNDING, degenerate, read_only, refuse_range

EXACT_LIMIT = 60_000  # planes times dimension cubed beyond which rounding has to do
SAME_RANK = 1e-13  # how far normals must be from depending on each other to hold a corner


# Exact merging first. Where so many points are so nearly in one plane that Qhull loses its way, it
# may move them by rounding errors to find out which belong together.
NUDGES = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  # of the size, in the equally spread frame
QHULL_OPTIONS = ("Qx", "Qx Q12", "QJ Pp")


class Shell(NamedTuple):
    """The boundary of a convex polytope."""

    vertices: Points  # (V, n)
    normals: Points  # (m, n) outward unit
    offsets: Floats  # (m,)
    faces: tuple[Ints, ...]  # vertices of each facet; in three dimensions a loop seen from outside
    volume: float


class HullFacets(NamedTuple):
    """What Qhull finds: simplices on the boundary, which of them lie in one plane, the corners."""

    simplices: Ints  # (s, n) numbers of points
    groups: list[Ints]  # simplices of each facet
    normals: Points  # (groups, n) outward, roughly
    corners: Ints  # numbers of the points that are corners, ascending


def shell_of(points: Points, key: str = "workspace.vertices") -> Shell:
    """The convex hull of (k, n) points, not on the line; flat and tiny ones are refused."""
    _, unit, local = framed(points, key)
    facets = find_facets(local, key)
    kept = facets.corners
    number = np.full(len(points), -1)
    number[kept] = np.arange(len(kept))
    found: list[tuple[Ints, Points, float]] = []  # vertices, normal and offset of each facet
    exact = len(facets.groups) * points.shape[1] ** 3 <= EXACT_LIMIT
    for group, rough in zip(facets.groups, facets.normals, strict=True):
        own = np.unique(number[facets.simplices[group]])
        own = own[own >= 0]
        if len(own) < points.shape[1]:
            continue
        simplex = points[_largest(facets.simplices[group], local)]
        normal = unit_normal(simplex, rough) if exact else None
        if normal is None:
            normal = rough / np.sqrt((rough * rough).sum())
        offset = max(math.fsum(normal * point) for point in points[kept[own]])
        found.append((read_only(_loop(own, points[kept], normal)), normal, offset))
    faces, normals, offsets = zip(*sorted(found, key=lambda own: sorted(own[0])), strict=True)
    return Shell(
        read_only(points[kept]),
        read_only(np.array(normals)),
        read_only(np.array(offsets)),
        faces,
        _volume(local, facets.simplices, kept) * unit ** points.shape[1],
    )


def framed(points: Points, key: str) -> tuple[Points, float, Points]:
    """(middle, unit, local): points == middle + unit * local, with local about 1 across."""
    low, high = points.min(axis=0), points.max(axis=0)
    with np.errstate(over="ignore"):
        extent = float(np.sqrt(((high - low) ** 2).sum()))
    if extent == 0.0:
        raise degenerate("all its vertices are one point", key)
    refuse_range(extent, float(np.abs(points).max()), points.shape[1], key)
    unit = 2.0 ** math.ceil(math.log2(extent))  # a power of two: scaling then rounds nothing
    middle = low + 0.5 * (high - low)
    return middle, unit, (points - middle) / unit


def find_facets(local: Points, key: str = "workspace.vertices") -> HullFacets:
    """The hull of (k, n) points that are about 1 across."""
    n = local.shape[1]
    white, back = _whitened(local, key)
    found = _qhull(white, key)
    normals = found.equations[:, :n] @ back.T
    lengths = np.sqrt((normals * normals).sum(axis=1))
    normals, offsets = normals / lengths[:, None], -found.equations[:, n] / lengths
    offsets = offsets + normals @ local.mean(axis=0)
    label = _merged(found.simplices, found.neighbors, normals, offsets, local)
    groups = [np.flatnonzero(label == k) for k in np.unique(label)]
    rough = np.array([normals[group].mean(axis=0) for group in groups])
    # In the equally spread frame, as what is straight there is straight everywhere.
    flat = np.array([found.equations[group[0], :n] for group in groups])
    corners = _corners(found.simplices, groups, flat)
    return HullFacets(found.simplices.astype(np.int64), groups, rough, corners)


def distinct(points: Points, scaled: Points, reach: float) -> Points:
    """Points in the order they came, without those within `reach` of an earlier one, as scaled."""
    from scipy.spatial import KDTree

    later = {max(pair) for pair in KDTree(scaled).query_pairs(reach)}
    return np.delete(points, sorted(later), axis=0)


def independent(rows: Points, count: int) -> list[int]:
    """Numbers of `count` rows that depend on each other as little as can be (greedy)."""
    from scipy.linalg import qr

    chosen: list[int] = qr(rows.T, mode="r", pivoting=True)[1][:count].tolist()
    return chosen


def _whitened(local: Points, key: str) -> tuple[Points, Floats]:
    """Points spread equally in all directions, and the map of normals back to their frame."""
    n = local.shape[1]
    if len(local) <= n:
        raise degenerate(
            f"it has {len(local)} distinct vertices; at least {n + 1} are needed in {n} dimensions",
            key,
        )
    left, sizes, right = np.linalg.svd(local - local.mean(axis=0), full_matrices=False)
    if sizes[-1] <= FLAT * sizes[0]:
        flat = int((sizes > FLAT * sizes[0]).sum())
        what = {0: "in one point", 1: "on one line", 2: "in one plane"}
        raise degenerate(
            f"its vertices lie {what.get(flat, f'in a flat of dimension {flat}')}, but the "
            f"workspace has {n} dimensions",
            key,
        )
    count = math.sqrt(len(local))
    return left * count, right.T * (count / sizes)


def _qhull(points: Points, key: str) -> Any:
    from scipy.spatial import ConvexHull, QhullError

    first = ""
    for options in QHULL_OPTIONS:
        try:
            return ConvexHull(points, qhull_options=options)
        except QhullError as fault:
            lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
            first = first or (lines[0] if lines else "no reason given")
    raise degenerate(f"its convex hull cannot be told ({first})", key)


def _merged(
    simplices: Ints, neighbors: Ints, normals: Points, offsets: Floats, local: Points
) -> Ints:
    """A number for each simplex, the same for those in one plane up to rounding."""
    count, sides = neighbors.shape
    own, other = np.repeat(np.arange(count), sides), neighbors.reshape(-1)
    height = _farthest(simplices[other], normals[own], offsets[own], local)
    back = _farthest(simplices[own], normals[other], offsets[other], local)
    facing = (normals[own] * normals[other]).sum(axis=1) > 0.0
    flat = (np.maximum(height, back) <= ROUNDING) & facing
    return _components(own[flat], other[flat], count)[1]


def _components(here: Ints, there: Ints, count: int) -> tuple[int, Ints]:
    """How many parts a graph of `count` nodes with these links has, and the part of each node."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(here)), (here, there)), shape=(count, count))
    parts, label = connected_components(links, directed=False)
    return parts, label


def _farthest(simplices: Ints, normals: Points, offsets: Floats, local: Points) -> Floats:
    """How far each simplex reaches from the plane given with it."""
    heights = np.einsum("svn,sn->sv", local[simplices], normals) - offsets[:, None]
    farthest: Floats = np.abs(heights).max(axis=1)
    return farthest


def _corners(simplices: Ints, groups: list[Ints], normals: Points) -> Ints:
    """Points at which facets in n independent directions meet."""
    n = simplices.shape[1]
    facets: dict[int, list[int]] = {}
    for k, group in enumerate(groups):
        for v in np.unique(simplices[group]):
            facets.setdefault(int(v), []).append(k)
    held = [
        v
        for v, own in sorted(facets.items())
        if len(own) >= n and np.linalg.svd(normals[own], compute_uv=False)[-1] > SAME_RANK
    ]
    return np.array(held, dtype=np.int64)


def _largest(simplices: Ints, local: Points) -> Ints:
    """The simplex with the largest content."""
    edges = local[simplices[:, 1:]] - local[simplices[:, :1]]
    gram = np.einsum("sin,sjn->sij", edges, edges)
    largest: Ints = simplices[int(np.argmax(np.linalg.det(gram)))]
    return largest


def _loop(own: Ints, vertices: Points, normal: Points) -> Ints:
    """The vertices of a facet; in three dimensions in order, counter-clockwise from outside."""
    if vertices.shape[1] != 3:
        return own
    z = vertices[own] - vertices[own].mean(axis=0)
    first = z[int(np.argmax((z * z).sum(axis=1)))]
    second = np.cross(normal, first)
    ring = own[np.argsort(np.arctan2(z @ second, z @ first), kind="stable")]
    z = vertices[ring] - vertices[ring[0]]
    turn = np.cross(z[1:-1], z[2:]).sum(axis=0)
    ring = ring if float((turn * normal).sum()) > 0.0 else ring[::-1]
    return np.roll(ring, -int(np.argmin(ring)))


def _volume(local: Points, simplices: Ints, corners: Ints) -> float:
    """Sum of the simplices between the boundary and a point inside."""
    apex = local[corners].mean(axis=0)
    boundary = closed_boundary(local[corners])
    if boundary is None:
        content = np.abs(np.linalg.det(local[simplices] - apex))
    else:
        content = np.linalg.det(local[corners][boundary] - apex)
    return math.fsum(content) / math.factorial(local.shape[1])


def closed_boundary(points: Points) -> Ints | None:
    """The hull of (k, n) points with an inside, as simplices (S, n) that face outward.

    None if Qhull cannot tell it. Corners of a cell come in planes of many, which Qhull merges and
    splits again, each plane by itself, so that pieces need not meet edge to edge. The boundary must
    be closed (every ridge between exactly two simplices) and have two sides; else points are moved
    by a little more than rounding and Qhull runs again. Only the grouping is taken from its result;
    some simplices may then lie the wrong way round, and their signs say so. A closed surface
    encloses the same signed volume however it is split.
    """
    from scipy.spatial import ConvexHull, QhullError

    spread = points - points.mean(axis=0)
    left, sizes, _ = np.linalg.svd(spread, full_matrices=False)
    if not sizes[-1] > 0.0:
        return None
    white = left * np.sqrt(len(points))
    chance = np.random.default_rng(0)
    for nudge in NUDGES:
        moved = white + nudge * chance.uniform(-1.0, 1.0, white.shape)
        try:
            hull: Any = ConvexHull(moved, qhull_options="" if nudge else "Qx")
        except QhullError:
            continue
        oriented = _oriented(hull.simplices.astype(np.int64))
        if oriented is not None:
            total = np.linalg.det(spread[oriented]).sum()
            return oriented if total > 0.0 else _flipped(oriented)
    return None


def _oriented(simplices: Ints) -> Ints | None:
    """The simplices, all facing one way; None if they do not close, or have one side only."""
    count, n = simplices.shape
    order = np.argsort(simplices, axis=1)
    ascending = np.take_along_axis(simplices, order, axis=1)
    # Ridge k lacks vertex k; in ascending order its sign is (-1)**k.
    ridges = np.concatenate([np.delete(ascending, k, axis=1) for k in range(n)])
    owner = np.tile(np.arange(count), n)
    side = np.repeat([1 - 2 * (k % 2) for k in range(n)], count)
    _, which, times = np.unique(ridges, axis=0, return_inverse=True, return_counts=True)
    if (times != 2).any():
        return None
    pairs = np.argsort(which.reshape(-1), kind="stable").reshape(-1, 2)
    sign = _signs(count, owner[pairs], -side[pairs[:, 0]] * side[pairs[:, 1]])
    if sign is None:
        return None
    return np.where((sign > 0)[:, None], ascending, _flipped(ascending))


def _signs(count: int, pairs: Ints, relation: Ints) -> Ints | None:
    """A sign for each simplex so that sign_i = relation * sign_j across each ridge.

    Node i stands for simplex i, node count + i for the same one flipped: two components are two
    sides.
    """
    here, there = np.concatenate([pairs, pairs + count]).T
    there = np.where(np.tile(relation, 2) > 0, there, (there + count) % (2 * count))
    sides, label = _components(here, there, 2 * count)
    return np.where(label[:count] == label[0], 1, -1) if sides == 2 else None


def _flipped(simplices: Ints) -> Ints:
    turned = simplices.copy()
    turned[:, [0, 1]] = turned[:, [1, 0]]
    return turned
