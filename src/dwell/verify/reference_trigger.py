"""The self-trigger's function h by NumPy alone, along rays from the agent.

Guaranteed cells end along each ray by their definition, |z| + R <= |z - q| for every other agent
q; masses are sums over rays. The size of a dual cell comes from its vertices, or from points of its
boundary in a curved workspace. Good to about 1e-5 on the line and in the plane, 1e-3 in space.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from dwell._types import Floats, Points, dots, lengths
from dwell.agents.traits import ScanLaw
from dwell.density import Density
from dwell.geometry import Curved, Workspace, is_flat

RAYS = 2880  # in the plane
TURNS = 240  # rays round the axis in space; half as many circles of them
ALONG = 4001  # points of a hyperbola
ROUNDING = 1e-9
MOST_POINTS = 720  # of a boundary whose width is measured
ZOOMS = 25


def wider(workspace: Workspace) -> float:
    """By which share a law may take dual cells to be larger than they are, and so sample earlier.

    In the plane arcs are put into polygons. In space the boundary is known by points, and what may
    bulge out between them is more for thin ellipsoids; points of the boundary here are as coarse.
    """
    if not isinstance(workspace, Curved) or is_flat(workspace):
        return 0.0
    uneven = max(workspace.semi_axes) / min(workspace.semi_axes)
    return 2e-4 if workspace.dimension == 2 else 0.02 * uneven * uneven


def reference_trigger(
    trigger: ScanLaw,
    workspace: Workspace,
    density: Density,
    here: Points,
    target: Points,
    others: Points,
    elapsed: float,
    enlarged: float = 0.0,
) -> float:
    """h of an agent at `here` with this target, a time `elapsed` after it sampled `others`.

    enlarged: the share by which the dual cell counts as larger than it is.
    """
    radius = trigger.v * elapsed * (2.0 if trigger.option("own") == "ball" else 1.0)
    away = others - here
    if len(away) and float(lengths(away).min()) <= radius:
        return math.inf
    cell = _UncertainCell(workspace, here, away, radius)
    rays, angles = _rays(len(here))
    inner, outer = cell.ends(rays, radius), cell.ends(rays, -radius)
    mass, centroid = _weighed(density, here, rays, angles, inner)
    dual_mass, _ = _weighed(density, here, rays, angles, outer)
    size = _size(cell.outermost(rays, outer), trigger.option("bound")) * (1.0 + enlarged)
    drift = trigger.option("factor") * size * (1.0 - mass / dual_mass)
    if trigger.option("second") == "sampled":
        return float(max(drift - trigger.delta, -cell.depth(target - here)))
    return float(drift - min(trigger.delta, cell.depth(centroid)))


# Directions, and the length, angle or solid angle that each represents.
Rays = tuple[Points, Floats]


def _rays_on_line() -> Rays:
    return np.array([[-1.0], [1.0]]), np.ones(2)


def _rays_in_plane(count: int = RAYS) -> Rays:
    turn = (np.arange(count) + 0.5) * (2.0 * math.pi / count)
    return np.column_stack([np.cos(turn), np.sin(turn)]), np.full(count, 2.0 * math.pi / count)


def _rays_in_space() -> Rays:
    circle, _ = _rays_in_plane(TURNS)
    cos, weight = np.polynomial.legendre.leggauss(TURNS // 2)
    flat = np.sqrt(1.0 - cos * cos)[:, None, None] * circle
    up = np.broadcast_to(cos[:, None, None], (*flat.shape[:2], 1))
    angles = np.repeat(weight * (2.0 * math.pi / TURNS), TURNS)
    return np.concatenate([flat, up], axis=-1).reshape(-1, 3), angles


class RayRule(NamedTuple):
    """How cells of one dimension are summed along rays, and how exact that is."""

    rays: Callable[[], Rays]
    nodes: int  # along a ray
    limit: float  # of errors of h, relative to the diameter
    decisions: int  # that are made again, unless all are


RULES = {
    1: RayRule(_rays_on_line, 24, 3e-5, 40),
    2: RayRule(_rays_in_plane, 24, 3e-5, 40),
    3: RayRule(_rays_in_space, 8, 1e-3, 10),
}


@cache
def _rays(n: int) -> Rays:
    return RULES[n].rays()


def _weighed(
    density: Density, here: Points, rays: Points, angles: Floats, ends: Floats
) -> tuple[float, Points]:
    """Mass, and centroid relative to `here`."""
    n = len(here)
    nodes, weights = np.polynomial.legendre.leggauss(RULES[n].nodes)
    r = 0.5 * (1.0 + nodes) * ends[:, None]
    z = r[..., None] * rays[:, None, :]
    share = 0.5 * weights * ends[:, None] * angles[:, None] * r ** (n - 1)
    values = share * density.at((here + z).reshape(-1, n)).reshape(r.shape)
    mass = float(values.sum())
    return mass, (values[..., None] * z).sum(axis=(0, 1)) / mass


class _UncertainCell(NamedTuple):
    """Guaranteed and dual guaranteed cell of an agent at `here`, others being at `here + away`."""

    workspace: Any
    here: Points
    away: Points
    radius: float  # of the balls that contain the others

    @property
    def gaps(self) -> Floats:
        """Distances from the facets of a flat-sided workspace; next to none on them."""
        gaps: Floats = self.workspace.offsets - dots(self.workspace.normals, self.here)
        gaps = np.maximum(gaps, 1e-12 * float(np.abs(gaps).max()))
        return gaps

    def limits(self, radius: float) -> tuple[Points, Floats]:
        """(b, c) of facets and sheets, z . b + c |z| <= 1 inside; the dual cell if radius < 0."""
        half = 0.5 * (dots(self.away, self.away) - radius * radius)
        b, c = self.away / half[:, None], radius / half
        if is_flat(self.workspace):
            b = np.vstack([self.workspace.normals / self.gaps[:, None], b])
            c = np.concatenate([np.zeros(len(self.gaps)), c])
        return b, c

    def ends(self, rays: Points, radius: float) -> Floats:
        """How far the cell extends along each ray; the dual one if radius < 0."""
        b, c = self.limits(radius)
        gauge = (rays @ b.T + c).max(axis=1, initial=0.0)
        if not is_flat(self.workspace):
            u = _unit(self.workspace, rays)
            z = _unit(self.workspace, self.here - np.array(self.workspace.center))
            square, along, within = dots(u, u), dots(u, z), max(1.0 - float(dots(z, z)), 0.0)
            reach = (np.sqrt(along * along + square * within) - along) / square
            gauge = np.maximum(gauge, 1.0 / np.maximum(reach, 1e-12))
        end: Floats = 1.0 / gauge
        return end

    def depth(self, z: Points) -> float:
        """Distance of z from the boundary of the guaranteed cell; 0 or less outside."""
        if is_flat(self.workspace):
            depth = float((self.gaps - dots(self.workspace.normals, z)).min())
        else:
            depth = _from_ellipsoid(self.workspace, self.here + z)
        for q in self.away:
            slack = float(lengths(z - q) - lengths(z)) - self.radius
            if slack <= 0.0:
                return min(depth, 0.5 * slack)
            depth = min(depth, _from_sheet(z, q, self.radius))
        return depth

    def outermost(self, rays: Points, ends: Floats) -> Points:
        """Points of the dual cell's boundary that decide its size."""
        if is_flat(self.workspace):
            return _vertices(*self.limits(-self.radius))
        edge = ends[:, None] * rays
        middle = edge.mean(axis=0)
        some = edge[:: max(1, len(edge) // MOST_POINTS) | 1]
        apart = lengths(some[:, None] - some[None])
        pair = some[list(np.unravel_index(np.argmax(apart), apart.shape))]
        around = np.array(list(product((-1.0, 0.0, 1.0), repeat=rays.shape[1])))
        seats = [*pair, *edge[np.argmax(edge @ around.T, axis=0)]]
        if rays.shape[1] == 2:  # vertices are where the distance from the middle is largest
            far = lengths(edge - middle)
            seats += [*edge[(far >= np.roll(far, 1)) & (far >= np.roll(far, -1))]]
        return np.vstack([some, [self._farther(seat, middle) for seat in seats]])

    def _farther(self, seat: Points, middle: Points) -> Points:
        """A point of the dual cell's boundary near `seat`, as far from the middle as it gets."""
        rng = np.random.default_rng(1)
        for zoom in range(ZOOMS):
            rays = seat / lengths(seat) + 0.1 * 0.6**zoom * rng.normal(size=(60, len(seat)))
            rays = rays / lengths(rays)[:, None]
            points = np.vstack([seat, self.ends(rays, -self.radius)[:, None] * rays])
            seat = points[int(np.argmax(lengths(points - middle)))]
        return seat


def _unit(workspace: Curved, vectors: Points) -> Points:
    """Vectors in the frame in which the workspace is the unit ball."""
    turned: Points = vectors @ np.asarray(workspace.axes).T / np.array(workspace.semi_axes)
    return turned


def _from_ellipsoid(workspace: Curved, place: Points) -> float:
    """Distance of a point in an ellipsoid from its boundary: the least over all tangent planes."""
    rays, _ = _rays(workspace.dimension)
    local = np.asarray(workspace.axes) @ (place - np.array(workspace.center))
    return float((lengths(rays * np.array(workspace.semi_axes)) - rays @ local).min())


def _from_sheet(z: Points, q: Points, radius: float) -> float:
    """Distance of z from the sheet of q: in the plane of z and the axis, along the hyperbola."""
    apart = float(lengths(q))
    a, b = 0.5 * radius, 0.5 * math.sqrt(apart * apart - radius * radius)
    along = float(dots(z, q)) / apart - 0.5 * apart
    across = math.sqrt(max(0.0, float(dots(z, z)) - (along + 0.5 * apart) ** 2))
    if len(z) == 1:
        return -a - along
    low, high = -1.0, 2.0 * (abs(along) + across + apart) / b
    for _ in range(4):
        t = np.linspace(low, high, ALONG)
        gaps = np.hypot(-a * np.sqrt(1.0 + t * t) - along, b * t - across)
        best, step = int(np.argmin(gaps)), (high - low) / (ALONG - 1)
        low, high = float(t[best]) - 2.0 * step, float(t[best]) + 2.0 * step
    return float(gaps.min())


def _vertices(b: Points, c: Floats) -> Points:
    """All vertices of a cell: points that as many facets or sheets as dimensions have in common.

    Each facet or sheet is z . b + c |z| = 1: for every |z| a system of equations, and |z| must fit.
    """
    n = b.shape[1]
    few = np.array(list(combinations(range(len(b)), n)))
    few = few[np.abs(np.linalg.det(b[few])) > ROUNDING * lengths(b[few]).prod(axis=1)]
    u, v = np.moveaxis(np.linalg.solve(b[few], np.stack([np.ones(few.shape), c[few]], -1)), -1, 0)
    # z = u - v r with |z| = r: p r r + g = 2 h r
    p = dots(v, v) - 1.0
    h = dots(u, v)
    g = dots(u, u)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.concatenate([g / (h + s * np.sqrt(h * h - p * g)) for s in (1.0, -1.0)])
    fits = np.isfinite(r) & (r > 0.0)
    z = np.tile(u, (2, 1))[fits] - np.tile(v, (2, 1))[fits] * r[fits, None]
    inside: Points = z[(z @ b.T + lengths(z)[:, None] * c <= 1.0 + ROUNDING).all(axis=1)]
    return inside


def _size(points: Points, bound: str) -> float:
    """Diameter of some points, or of the smallest ball that contains them."""
    if bound == "diameter":
        return float(lengths(points[:, None] - points[None]).max())
    kept = points[:1]
    while True:  # the ball grows each time by a point that it leaves out
        radius, middle, kept = min(_balls(kept), key=lambda ball: ball[0])
        far = lengths(points - middle)
        if far.max() <= radius * (1.0 + ROUNDING):
            return 2.0 * radius
        kept = np.vstack([kept, points[int(far.argmax())]])


def _balls(points: Points) -> list[tuple[float, Points, Points]]:
    """Balls that contain a few points: radius, center, and those on the boundary."""
    found = []
    for count in range(1, min(len(points), points.shape[1] + 1) + 1):
        for some in map(np.array, combinations(points, count)):
            sides = some[1:] - some[0]
            offset = np.linalg.lstsq(2.0 * sides, dots(sides, sides), rcond=None)[0]
            radius, middle = float(lengths(offset)), some[0] + offset
            if (lengths(points - middle) <= radius * (1.0 + ROUNDING)).all():
                found.append((radius, middle, some))
    return found
