"""Moments of a density that is only a Python function: adaptive, with a careful error estimate.

Each triangle is integrated by two rules: Gauss, whose nodes lie inside, and Lobatto, whose outer
nodes lie on the sides and so see a jump that runs beside them. What the two disagree by, times a
safety factor, is taken as the error of the first, and the worst triangles are halved until the sum
of all errors is small enough. For smooth functions that is far too careful. No finite number of
looks can exclude a spike between them: a density with one is better given as a Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._kernels.quadrature import POINTS, TRIANGLE_R, TRIANGLE_U, TRIANGLE_W, rule
from dwell._types import Floats, Points
from dwell.density.base import Density

NODES = 12  # per direction, of the Gauss rule
LOBATTO = 7  # per direction, of the rule to compare with
RELATIVE = 1e-11  # of the mass
MAX_TRIANGLES = 4_000
SAFETY = 8.0


@final
@dataclass(frozen=True)
class Integral:
    """(mass, first x, first y, polar) about the frame's origin, each with a bound on its error."""

    values: Floats  # (4,)
    errors: Floats  # (4,)
    converged: bool


def integrate(density: Density, offsets: Points, origin: Points) -> Integral:
    """Moments of `density` over the convex polygon `origin + offsets`, about `origin`."""
    triangles = _quartered(_fan(offsets))
    values, errors = _estimates(density, triangles, origin)
    reach = float(np.abs(offsets).max()) if len(offsets) else 1.0
    while True:
        total, error = values.sum(axis=0), errors.sum(axis=0)
        # First moments are compared with mass times the size of the cell: they may vanish.
        scale = np.abs(total[0]) * np.array([1.0, reach, reach, reach * reach])
        share = (errors / np.where(scale > 0, scale, 1.0)).max(axis=1)
        if share.sum() <= RELATIVE:
            return Integral(total, error, True)
        if len(triangles) >= MAX_TRIANGLES:
            return Integral(total, error, False)
        worst = share > 0.25 * share.max()
        halves = _halved(triangles[worst])
        more_values, more_errors = _estimates(density, halves, origin)
        triangles = np.concatenate([triangles[~worst], halves])
        values = np.concatenate([values[~worst], more_values])
        errors = np.concatenate([errors[~worst], more_errors])


def _fan(offsets: Points) -> np.ndarray:
    """Triangles (n, 3, 2) that share the polygon's vertex mean."""
    middle = np.broadcast_to(offsets.mean(axis=0), offsets.shape)
    return np.stack([middle, offsets, np.roll(offsets, -1, axis=0)], axis=1)


def _quartered(triangles: np.ndarray) -> np.ndarray:
    """Each triangle as four, so that even the first look is not too coarse."""
    return _halved(_halved(triangles))


def _halved(triangles: np.ndarray) -> np.ndarray:
    """Each triangle as two, across its longest side."""
    sides = np.roll(triangles, -1, axis=1) - np.roll(triangles, 1, axis=1)  # opposite each corner
    apex = np.argmax((sides**2).sum(axis=2), axis=1)
    turned = np.stack(
        [np.take_along_axis(triangles, ((apex + k) % 3)[:, None, None], axis=1) for k in range(3)],
        axis=1,
    )[:, :, 0, :]
    o, a, b = turned[:, 0], turned[:, 1], turned[:, 2]
    m = 0.5 * (a + b)
    return np.concatenate([np.stack([o, a, m], axis=1), np.stack([o, m, b], axis=1)])


Rule = tuple[np.ndarray, np.ndarray, np.ndarray]  # u, r and weight of z = o + r (a + u (b - a))


def _gauss() -> Rule:
    count = POINTS[NODES]
    return TRIANGLE_U[NODES, :count], TRIANGLE_R[NODES, :count], TRIANGLE_W[NODES, :count]


def _lobatto() -> Rule:
    x, w = rule("lobatto", LOBATTO)
    return np.repeat(x, LOBATTO), np.tile(x, LOBATTO), np.outer(w, w * x).ravel()


def _estimates(
    density: Density, triangles: np.ndarray, origin: Points
) -> tuple[np.ndarray, np.ndarray]:
    fine = _by_rule(density, triangles, origin, _gauss())
    other = _by_rule(density, triangles, origin, _lobatto())
    rounding = 1e-15 * np.abs(fine)
    return fine, SAFETY * np.abs(fine - other) + rounding


def _by_rule(density: Density, triangles: np.ndarray, origin: Points, rule: Rule) -> np.ndarray:
    """(triangles, 4) moments by one rule."""
    u, r, w = rule
    o, a, b = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    da, db = a - o, b - o
    area = np.abs(da[:, 0] * db[:, 1] - da[:, 1] * db[:, 0])
    d = da[:, None, :] + u[None, :, None] * (db - da)[:, None, :]
    z = o[:, None, :] + r[None, :, None] * d
    weight = density.at((origin + z).reshape(-1, 2)).reshape(len(triangles), len(u))
    v = area[:, None] * w[None, :] * weight
    first = (v[:, :, None] * z).sum(axis=1)
    polar = (v * (z**2).sum(axis=2)).sum(axis=1)
    return np.column_stack([v.sum(axis=1), first, polar])
