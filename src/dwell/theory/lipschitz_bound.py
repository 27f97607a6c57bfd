"""A bound on the Lipschitz constants of the centroids, for all configurations with a separation.

It is rigorous and crude: thousands or millions where one measures 1. That is the point of it: what
the theorem assumes about a run cannot be had from the workspace and the density alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np

from dwell._types import Points, finite_number, in_short
from dwell.density import Density, Gaussian, Mixture, Polynomial, Uniform
from dwell.errors import InputError
from dwell.geometry import Workspace, is_planar, is_polygonal

BOXES = 64  # per side, for the range of a polynomial


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """A rigorous bound for all configurations with some separation; None: there is none."""

    value: float | None
    separation: float
    says: str

    def as_json(self) -> dict[str, Any]:
        """For programs; null stands for infinite or unknown, which `says` distinguishes."""
        value = None if self.value is None else plain(self.value)
        return {"value": value, "separation": self.separation, "says": self.says}


def lipschitz_bound(workspace: Workspace, density: Density, separation: float) -> Bound:
    """2 phi_max per(D) diam(D)**2 / (m rho): no constant is larger while agents keep rho apart.

    No border is longer than the workspace's perimeter in all, no factor in the integrals along it
    larger than its diameter, and no cell lighter than m = phi_min |B(x, rho / 2) in D|, where x is
    the corner at which that is least: such areas are log-concave in x, hence least at a corner.
    Without a separation there is no bound, and it is infinite.
    """
    rho = finite_number(separation)
    if rho is None or rho < 0.0:
        raise InputError(
            f"separation is {in_short(separation)}; a length from 0 on is needed",
            code="design.separation",
        )
    if rho == 0.0:
        return Bound(math.inf, 0.0, "infinite: without a separation there is no bound")
    if workspace.mask is not None:
        return Bound(math.inf, rho, "infinite: the density is 0 beyond the region")
    hull = workspace.hull
    if not is_polygonal(hull):
        return Bound(None, rho, "unknown: worked out for polygons only")
    ends = density_range(density, workspace)
    if ends is None:
        says = "unknown: the range of a density that is only a function cannot be bounded"
        return Bound(None, rho, says)
    low, high = ends
    area = min(disc_area(hull.vertices, corner, 0.5 * rho) for corner in hull.vertices)
    if not low * area * rho > 0.0:
        return Bound(math.inf, rho, "infinite: the density comes too near 0 in the workspace")
    steps = np.roll(hull.vertices, -1, axis=0) - hull.vertices
    perimeter = float(np.hypot(*steps.T).sum())
    value = 2.0 * (high / low) * perimeter * workspace.diameter**2 / (area * rho)
    return Bound(value, rho, f"for every configuration with separation at least {rho:.4g}")


def density_range(density: Density, workspace: Workspace) -> tuple[float, float] | None:
    """Numbers between which the density stays in the workspace; None if they cannot be known."""
    match density:
        case Uniform(level=level):
            return level, level
        case Gaussian():
            nearest, farthest = _form_range(density, workspace)
            return density.weight * math.exp(-farthest), density.weight * math.exp(-nearest)
        case Polynomial():
            return _polynomial_range(density, workspace)
        case Mixture(parts=parts):
            ends = [density_range(part, workspace) for part in parts]
            known = [pair for pair in ends if pair is not None]
            if len(known) < len(ends):
                return None
            return sum(low for low, _ in known), sum(high for _, high in known)
        case _:
            return None


def _form_range(gaussian: Gaussian, workspace: Workspace) -> tuple[float, float]:
    """Least and largest exponent of a Gaussian: a convex function of the position."""
    if not is_polygonal(workspace.hull):
        return _form_range_beyond_polygons(gaussian, workspace)
    form = gaussian.matrix
    a = workspace.hull.vertices - np.array(gaussian.center)
    step = np.roll(a, -1, axis=0) - a
    at_corners = np.einsum("ki,ij,kj->k", a, form, a)
    if float(workspace.outside_by(np.array([gaussian.center]))[0]) == 0.0:
        return 0.0, float(at_corners.max())
    slope, curve = (np.einsum("ki,ij,kj->k", step, form, v) for v in (a, step))
    r = np.clip(-slope / curve, 0.0, 1.0)
    return float((at_corners + r * (2.0 * slope + r * curve)).min()), float(at_corners.max())


def _form_range_beyond_polygons(gaussian: Gaussian, workspace: Workspace) -> tuple[float, float]:
    """Never too narrow; the lower end is attained where the Gaussian is isotropic."""
    terms = gaussian.general_terms(workspace.dimension)
    form, center = terms.forms[0], terms.centers[0]
    away = float(workspace.outside_by(center[None])[0])
    corners = np.array(list(product(*zip(*workspace.bounds, strict=True)))) - center
    farthest = float(np.einsum("ki,ij,kj->k", corners, form, corners).max())
    return float(np.linalg.eigvalsh(form)[0]) * away * away, farthest


def _polynomial_range(density: Polynomial, workspace: Workspace) -> tuple[float, float]:
    """By Taylor's formula in small boxes: never too narrow, and close for smooth polynomials."""
    if not is_planar(workspace):
        return _polynomial_range_by_terms(density, workspace)
    lower, upper = workspace.bounds
    half = 0.5 * (upper - lower) / BOXES
    ticks = (np.arange(BOXES) * 2.0 + 1.0)[:, None] * half + lower
    centers = np.stack(np.meshgrid(*ticks.T), axis=-1).reshape(-1, 2)
    centers = centers[workspace.outside_by(centers) <= math.hypot(*half)]
    x, y = (centers - density.origin).T
    table = density.table()
    polynomial = np.polynomial.polynomial
    spread = np.zeros(len(centers))
    for i in range(density.degree + 1):
        for j in range(density.degree + 1 - i):
            if i + j:
                part = polynomial.polyder(polynomial.polyder(table, i, axis=0), j, axis=1)
                scale = half[0] ** i * half[1] ** j / (math.factorial(i) * math.factorial(j))
                spread += scale * np.abs(polynomial.polyval2d(x, y, part))
    middle = polynomial.polyval2d(x, y, table)
    return max(0.0, float((middle - spread).min())), float((middle + spread).max())


def _polynomial_range_by_terms(density: Polynomial, workspace: Workspace) -> tuple[float, float]:
    """Term by term: never too narrow."""
    terms = density.general_terms(workspace.dimension)
    low = high = 0.0
    for powers, c, origin in zip(terms.powers, terms.coefficients, terms.origins, strict=True):
        ends = np.array(workspace.bounds) - origin
        least, largest = 1.0, 1.0
        for power, a, b in zip(powers, *ends, strict=True):
            values = [a**power, b**power] + ([0.0] if a < 0.0 < b and power > 0 else [])
            every = [x * y for x in (least, largest) for y in (min(values), max(values))]
            least, largest = min(every), max(every)
        low += min(c * least, c * largest)
        high += max(c * least, c * largest)
    return max(0.0, low), high


def disc_area(vertices: Points, center: Points, radius: float) -> float:
    """The area of a disc's part in a convex polygon (corners counter-clockwise)."""
    corners = vertices - center
    sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    return sum(_sector(a, b, radius) for a, b in sides)


def _sector(a: Points, b: Points, radius: float) -> float:
    """The signed area of the disc about 0 in the triangle 0, a, b."""
    step = b - a
    square, along = float(step @ step), float(a @ step)
    rest = along * along - square * (float(a @ a) - radius * radius)
    if rest <= 0.0:
        return 0.5 * radius * radius * _angle(a, b)
    root = math.sqrt(rest)
    first, last = ((-along + sign * root) / square for sign in (-1.0, 1.0))
    if last <= 0.0 or first >= 1.0:
        return 0.5 * radius * radius * _angle(a, b)
    p, q = a + max(first, 0.0) * step, a + min(last, 1.0) * step
    inside = 0.5 * float(p[0] * q[1] - p[1] * q[0])
    return inside + 0.5 * radius * radius * (_angle(a, p) + _angle(q, b))


def _angle(a: Points, b: Points) -> float:
    """From a to b, seen from 0."""
    return math.atan2(float(a[0] * b[1] - a[1] * b[0]), float(a @ b))


def plain(value: float) -> float | None:
    """`value` for JSON, which knows no infinity."""
    return value if math.isfinite(value) else None
