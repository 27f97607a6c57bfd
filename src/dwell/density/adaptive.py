"""Moments of a density that is only a Python function: adaptive, with an error that is a bound.

Each triangle is integrated by two rules of very different order; what they disagree by, doubled,
is taken as the error of the better one, and the worst triangles are halved until the sum of all
errors is small enough. For smooth functions that is far too careful; for jumps it is about right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from dwell._kernels.quadrature import POINTS, TRIANGLE_R, TRIANGLE_U, TRIANGLE_W
from dwell._types import Floats, Points
from dwell.density.base import Density

COARSE, FINE = 7, 12  # nodes per direction of the two rules
RELATIVE = 1e-11  # of the mass
MAX_TRIANGLES = 4_000
SAFETY = 2.0


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
    """Each triangle as four: a first look fine enough not to miss a hill."""
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


def _estimates(
    density: Density, triangles: np.ndarray, origin: Points
) -> tuple[np.ndarray, np.ndarray]:
    fine = _by_rule(density, triangles, origin, FINE)
    coarse = _by_rule(density, triangles, origin, COARSE)
    rounding = 1e-15 * np.abs(fine)
    return fine, SAFETY * np.abs(fine - coarse) + rounding


def _by_rule(density: Density, triangles: np.ndarray, origin: Points, n: int) -> np.ndarray:
    """(triangles, 4) moments by the tensor rule with n nodes per direction."""
    count = POINTS[n]
    u, r, w = (table[n, :count] for table in (TRIANGLE_U, TRIANGLE_R, TRIANGLE_W))
    o, a, b = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    da, db = a - o, b - o
    area = np.abs(da[:, 0] * db[:, 1] - da[:, 1] * db[:, 0])
    d = da[:, None, :] + u[None, :, None] * (db - da)[:, None, :]
    z = o[:, None, :] + r[None, :, None] * d
    weight = density.at((origin + z).reshape(-1, 2)).reshape(len(triangles), count)
    v = area[:, None] * w[None, :] * weight
    first = (v[:, :, None] * z).sum(axis=1)
    polar = (v * (z**2).sum(axis=2)).sum(axis=1)
    return np.column_stack([v.sum(axis=1), first, polar])
