"""Mass, centroid and second moment of a density over one convex polygon."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dwell._types import Floats, Points
from dwell.cells.measurement import Moments
from dwell.cells.simplices import polygon_pieces, weigh
from dwell.density.base import Density


def exact_fan(vertices: Points) -> Floats:
    """Cross products of neighbouring corners seen from the first one, without rounding.

    Corners of a needle seen from one of them are rounded by more than its width allows.
    """
    points = [(Fraction(float(x)), Fraction(float(y))) for x, y in vertices]
    ox, oy = points[0]
    local = [(x - ox, y - oy) for x, y in points]
    after = [*local[1:], local[0]]
    return np.array([float(a * d - b * c) for (a, b), (c, d) in zip(local, after, strict=True)])


def polygon_moments(
    offsets: Points, origin: Points, density: Density, fan: Floats | None = None
) -> Moments:
    """Moments over the convex polygon `origin + offsets`.

    `fan` are the cross products of neighbouring offsets, if they are known with more digits.
    """
    from dwell._kernels.polygon.buffers import make_scratch
    from dwell._kernels.polygon.entry_points import moments_of

    terms, n = density.terms(), len(offsets)
    if terms is None:
        return _adaptive(offsets, origin, density)
    scratch = make_scratch(1, n)

    def about(x: float, y: float) -> tuple[float, float, float, float, float]:
        scratch.x[:n], scratch.y[:n] = offsets.T
        if fan is not None:
            scratch.fan[:n] = fan
        found: tuple[float, float, float, float, float] = moments_of(
            n, *map(float, origin), terms, x, y, fan is not None, scratch
        )
        return found

    _, mass, fx, fy, _ = about(0.0, 0.0)
    if mass <= 0.0:
        return _weightless(offsets, origin)
    ex, ey = fx / mass, fy / mass
    log_scale, _, _, _, second = about(ex, ey)
    scale = math.exp(log_scale)
    e = np.array([ex, ey])
    return Moments(mass * scale, math.log(mass) + log_scale, origin + e, e, second * scale)


def _weightless(offsets: Points, origin: Points) -> Moments:
    middle = offsets.mean(axis=0)
    return Moments(0.0, -math.inf, origin + middle, middle, 0.0)


def _adaptive(offsets: Points, origin: Points, density: Density) -> Moments:
    found = weigh(density, None, origin, polygon_pieces(offsets, np.arange(len(offsets))))
    if not found.mass > 0.0:
        return replace(_weightless(offsets, origin), error=found.doubt)
    e = found.error
    return Moments(found.mass, math.log(found.mass), origin + e, e, found.second, found.doubt)
