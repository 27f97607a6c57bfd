"""Cells in balls and ellipsoids by rays: for any dimension, and for any density.

From a point inside, rays are shot in directions spread evenly over the sphere. How far one goes
before it meets a bisector or the boundary is known exactly, and so is its share of a constant
density; other densities are integrated along it. This is done eight times, with directions shifted
at random (by a fixed seed); the spread of the eight results is the error estimate of their mean.
With the numbers below that is three to five digits, thousands of times slower than the kernels of
the plane and of space. Gaussians too far off for doubles count as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple, cast, final

import numpy as np

from dwell._kernels.common.quadrature import rule
from dwell._types import Floats, Ints, Points, lengths
from dwell.cells.measurement import CellMeasurements, Weighed, one_by_one
from dwell.cells.weighted_region import WeightedRegion
from dwell.density.uniform import Uniform
from dwell.geometry import Curved, Workspace

SHIFTS = 8
PAIRS = 4096  # rays and their opposites, per shift, for a constant density
FEWER = 512  # for any other density
FACE_PAIRS = 512  # for a facet
PILOT = 512  # pairs to find out where the middle of a cell is, and its shape
ROUNDS = 3  # how often
SURE = 4.0  # standard errors of the mean: 99.5 in 100 lie within, with eight results
RADIAL = 8  # nodes along a piece of a ray
AGREES = 1e-6  # of the mass: between pieces and twice as many along each ray
MOST_RADIAL = 32  # pieces along a ray
TINY = np.finfo(float).tiny

Weight = Callable[[Points], Floats] | float  # a constant, or of points of the region's frame


@final
@dataclass(frozen=True, eq=False)
class CutEllipsoid:
    """{x: normals . x <= gaps, |root x + shift| <= 1} in k dimensions."""

    normals: Points  # (m, k)
    gaps: Floats  # (m,)
    root: Floats  # (j, k)
    shift: Floats  # (j,)

    def seen_from(self, place: Points, map_: Floats) -> CutEllipsoid:
        """The region in coordinates y with x = place + map_ y."""
        return CutEllipsoid(
            self.normals @ map_,
            self.gaps - self.normals @ place,
            self.root @ map_,
            self.shift + self.root @ place,
        )

    def spans(self, rays: Points) -> tuple[Floats, Floats, Ints]:
        """Where each ray enters and leaves the region, and through which plane (-1: the ellipsoid).

        It leaves before it enters if it misses the region.
        """
        w = rays @ self.root.T
        square, slope = (w * w).sum(axis=1), w @ self.shift
        inside = slope * slope - square * (self.shift @ self.shift - 1.0)
        half = np.sqrt(np.maximum(inside, 0.0))
        enter = np.maximum((-slope - half) / square, 0.0)
        leave = np.where(inside > 0.0, (-slope + half) / square, -1.0)
        through = np.full(len(rays), -1)
        if len(self.gaps):
            climb = rays @ self.normals.T
            with np.errstate(divide="ignore", invalid="ignore"):
                meet = self.gaps / climb
            upper = np.where(climb > 0.0, meet, np.inf)
            lower = np.where(climb < 0.0, meet, -np.inf)
            lower[(climb == 0.0) & (self.gaps < 0.0)] = np.inf
            first = upper.argmin(axis=1)
            nearest = upper[np.arange(len(rays)), first]
            through = np.where(nearest < leave, first, through)
            leave, enter = np.minimum(leave, nearest), np.maximum(enter, lower.max(axis=1))
        return enter, leave, through


class RegionMoments(NamedTuple):
    """Moments of a region in its own frame, and how far the mass may be off."""

    mass: float
    first: Points  # (k,)
    second: Floats  # (k, k) about the origin
    spread: float  # trace of the second moments about the centroid
    doubt: float  # of the mass, relative
    hits: Ints  # (m,) rays that left through each plane
    places: Points  # (m, k) mean of where they did


def measure(ground: WeightedRegion, positions: Points, row: Ints, agent: Ints) -> CellMeasurements:
    """Moments of the cells of agent[k] in configuration row[k] of `positions` (R, N, n)."""
    pairs = PAIRS if isinstance(ground.density, Uniform) else FEWER

    def measure(points: Points, p: int) -> tuple[int, Weighed]:
        region = RayCells(ground.workspace, points).region(p)[0]
        found = weigh(region, weight_of(ground, points[p]), pairs)
        middle = found.first / found.mass if found.mass > 0.0 else found.first
        moments = Weighed(0.0, found.mass, middle, found.spread, found.doubt)
        return int((found.hits > 0).sum()), moments

    return one_by_one(measure, ground.workspace, positions, row, agent)


@final
class RayCells:
    """Cells of agents at `points`; a neighbour behind a face that no ray meets is left out."""

    def __init__(self, workspace: Workspace, points: Points) -> None:
        self.root, self.points = cast(Curved, workspace).root, points

    def region(self, p: int) -> tuple[CutEllipsoid, Ints]:
        """The cell of agent p in its own frame, and the agents behind its planes."""
        others = np.delete(np.arange(len(self.points)), p)
        normals = self.points[others] - self.points[p]
        gaps = 0.5 * (normals * normals).sum(axis=1)
        shift = self.root.seen_from(self.points[p])[0]
        return CutEllipsoid(normals, gaps, self.root.matrix, shift), others

    def outline(self, p: int) -> tuple[int, Points, Ints, int]:
        """(status, corners: none, agents behind its facets, the nearest agent)."""
        from dwell._kernels.common.status import COINCIDENT, NO_MASS

        region, others = self.region(p)
        none = np.empty((0, len(self.points[p])))
        nearest = int(others[np.argmin(region.gaps)]) if len(others) else -1
        if len(others) and region.gaps.min() == 0.0:
            return COINCIDENT, none, others[:0], nearest
        borders = others[weigh(region, 1.0, PAIRS).hits > 0]
        away = self.points - self.root.center
        first = int((away * away).sum(axis=1).argmin())  # the cell of the center is never empty
        return NO_MASS if not len(borders) and first != p else 0, none, borders, nearest

    def facets(
        self, ground: WeightedRegion, p: int, log_scale: float
    ) -> list[tuple[int, int, Floats]]:
        """(agent, other, moments 1, z and the upper half of z z') of each facet; three digits.

        Divided by exp(log_scale).
        """
        weight, (region, others) = weight_of(ground, self.points[p]), self.region(p)
        whole = weigh(region, 1.0, PAIRS)
        rows = []
        for i in np.flatnonzero(whole.hits > 0):
            face = _face(region, int(i), whole.places[i], weight)
            upper = face.second[np.triu_indices(len(face.first))]
            moments = np.concatenate([[face.mass], face.first, upper])
            rows.append((p, int(others[i]), moments * math.exp(-log_scale)))
        return rows


def weight_of(ground: WeightedRegion, place: Points) -> Weight:
    """The density in the frame of an agent."""
    if isinstance(ground.density, Uniform):
        return float(ground.density.level)
    return lambda local: ground.density.at(place + local)


def _face(region: CutEllipsoid, i: int, inside: Points, weight: Weight) -> RegionMoments:
    """Moments over the face in plane i, of which `inside` is a point."""
    normal = region.normals[i] / math.sqrt(region.normals[i] @ region.normals[i])
    _, _, turned = np.linalg.svd(normal[None])
    basis = turned[1:].T  # (n, n - 1)
    others = np.arange(len(region.gaps)) != i
    seen = CutEllipsoid(
        region.normals[others], region.gaps[others], region.root, region.shift
    ).seen_from(inside, basis)
    flat = weight if isinstance(weight, float) else _lifted(weight, inside, basis)
    found = weigh(seen, flat, FACE_PAIRS)
    first, second = _mapped(found.mass, found.first, found.second, inside, basis)
    return found._replace(first=first, second=second)


def _mapped(
    mass: float, first: Points, second: Floats, place: Points, map_: Floats
) -> tuple[Points, Floats]:
    """First and second moments of x = place + map_ y, given those of y."""
    around = map_ @ first
    mixed = np.outer(place, around)
    whole = map_ @ second @ map_.T + mixed + mixed.T + mass * np.outer(place, place)
    return around + mass * place, whole


def _lifted(weight: Callable[[Points], Floats], inside: Points, basis: Floats) -> Weight:
    return lambda local: weight(inside + local @ basis.T)


def weigh(region: CutEllipsoid, weight: Weight, pairs: int) -> RegionMoments:
    """Moments of `weight` over a region: the mean of all shifts."""
    k = region.normals.shape[1]
    place: Points = np.zeros(k)
    shape: Floats = np.linalg.inv(np.linalg.qr(region.root)[1])
    for _ in range(ROUNDS):
        m0, m1, m2, *_ = _shoot(region.seen_from(place, shape), 1.0, _directions(k, PILOT)[0])
        if not m0 > 0.0:
            break
        middle = m1 / m0
        values, vectors = np.linalg.eigh(m2 / m0 - np.outer(middle, middle))
        sizes = np.sqrt(np.maximum(values, 1e-12 * max(float(values[-1]), TINY)))
        place, shape = place + shape @ middle, shape @ (vectors * sizes)
    local = weight if isinstance(weight, float) else _lifted(weight, place, shape)
    mapped = region.seen_from(place, shape)
    shots = zip(*(_shoot(mapped, local, rays) for rays in _directions(k, pairs)), strict=True)
    volume = abs(float(np.linalg.det(shape)))
    masses, firsts, seconds, hits, ends, changes = (np.array(column) for column in shots)
    masses, first, second = volume * masses, volume * firsts.mean(0), volume * seconds.mean(0)
    mass, hits = float(masses.mean()), hits.sum(axis=0)
    places = place + (ends.sum(axis=0) / np.maximum(hits, 1)[:, None]) @ shape.T
    around = shape @ first
    spread = np.trace(shape @ second @ shape.T)
    spread = float(spread - (around @ around) / mass) if mass > 0.0 else 0.0
    first, second = _mapped(mass, first, second, place, shape)
    error = SURE * float(masses.std(ddof=1)) / math.sqrt(SHIFTS) + volume * float(changes.max())
    doubt = error / mass if mass > 0.0 else 0.0
    return RegionMoments(mass, first, second, spread, doubt, hits, places)


# What one set of rays tells about a region, about the point they were shot from: mass, first and
# second moments, rays that left through each plane (m,), the sum of where they did (m, k), and the
# change of the mass when the pieces along the rays were halved last.
Shot = tuple[float, Points, Floats, Ints, Points, float]


def _shoot(region: CutEllipsoid, weight: Weight, rays: Points) -> Shot:
    """Moments of a region about the origin by one set of rays."""
    k, m = rays.shape[1], len(region.gaps)
    enter, leave, through = region.spans(rays)
    hit = leave > enter
    enter, leave, through, rays = enter[hit], leave[hit], through[hit], rays[hit]
    share = 2.0 * math.pi ** (k / 2) / math.gamma(k / 2) / len(hit)  # of the unit sphere
    (j0, j1, j2), change = _along(enter, leave, weight, rays)
    flat = through >= 0
    hits, sums = np.bincount(through[flat], minlength=m), np.zeros((m, k))
    np.add.at(sums, through[flat], leave[flat, None] * rays[flat])
    second = share * np.einsum("i,ij,ik->jk", j2, rays, rays)
    return share * float(j0.sum()), share * (j1 @ rays), second, hits, sums, share * change


def _along(enter: Floats, leave: Floats, weight: Weight, rays: Points) -> tuple[Floats, float]:
    """Integrals (3, rays) of r**(k - 1), r**k and r**(k + 1) times the weight along each ray.

    And how much the sum of the first changed when the pieces along the rays were halved last.
    """
    k, length = rays.shape[1], leave - enter
    if isinstance(weight, float):
        powers = np.arange(k, k + 3)[:, None]
        return (leave**powers - enter**powers) * (weight / powers), 0.0
    nodes, weights = rule("legendre", RADIAL)
    total, change, pieces = np.zeros((3, len(rays))), math.inf, 1
    while not change <= AGREES * total[0].sum() and pieces <= MOST_RADIAL:
        before, total = total[0].sum(), np.zeros((3, len(rays)))
        for piece, (node, share) in product(range(pieces), zip(nodes, weights, strict=True)):
            r = enter + (piece + node) / pieces * length
            value = share / pieces * length * weight(r[:, None] * rays) * r ** (k - 1)
            total += [value, value * r, value * r * r]
        change, pieces = abs(float(total[0].sum() - before)), 2 * pieces
    return total, change


@lru_cache(maxsize=8)
def _directions(k: int, pairs: int) -> Points:
    """Unit vectors of k dimensions, evenly spread, each with its opposite: (SHIFTS, 2 pairs, k).

    Multiples of powers of the root of x**(k + 1) = x + 1 fill the unit cube evenly; normal
    numbers that are smaller with these probabilities have no preferred direction.
    """
    from scipy.special import ndtri

    x = 2.0
    for _ in range(60):
        x = (1.0 + x) ** (1.0 / (k + 1))
    steps = np.arange(1, pairs + 1)[:, None] * x ** -np.arange(1.0, k + 1.0)
    shifts = np.random.default_rng(1 + k).uniform(size=(SHIFTS, 1, k))
    normal = ndtri((steps + shifts) % 1.0)
    unit = normal / lengths(normal)[..., None]
    return np.concatenate([unit, -unit], axis=1)
