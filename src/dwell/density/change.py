"""The time derivative of a density: Gaussians that are carried along, polynomials and rasters.

A Gaussian with center m and covariance S that change over time is carried by the velocity field
w(z) = m' + B (z - m) with B = S' S**-1 / 2, while its weight grows: its time derivative is
-w . grad phi + growth phi. That of a polynomial is a polynomial, of either sign; that of a raster
on keyframes is a difference of two rasters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dwell._types import Floats, Points
from dwell.density.base import Density
from dwell.density.gaussian import Gaussian
from dwell.density.mixture import Mixture
from dwell.density.moving import Moving
from dwell.density.moving_raster import MovingRaster
from dwell.density.polynomial import Polynomial
from dwell.density.raster import Raster


@final
@dataclass(frozen=True, eq=False)
class Carried:
    """A Gaussian at one time, and how it changes."""

    density: Gaussian
    velocity: Points  # (n,) of its center
    stretch: Floats  # (n, n) the matrix B
    growth: float  # relative rate of its weight


@final
@dataclass(frozen=True, eq=False)
class Added:
    """A density that is added at a rate of either sign."""

    density: Polynomial | Raster
    rate: float


def changes_of(density: Density, t: float) -> Iterator[Carried | Added]:
    """The parts of a density that change at time t."""
    if isinstance(density, Mixture):
        for part in density.parts:
            yield from changes_of(part, t)
    if isinstance(density, MovingRaster):
        yield from (Added(raster, rate) for raster, rate in density.changes(t))
    if not isinstance(density, Moving):
        return
    now: Any = density.now(t)
    rates = {name: np.array(track.rate(t)) for name, track in density.tracks.items()}
    if not any(rate.any() for rate in rates.values()):
        return
    if density.kind is Gaussian:
        yield _carried(now, rates)
    else:
        pairs = zip(now.coefficients, rates["coefficients"], strict=True)
        terms = tuple((*row[:-1], float(rate[-1])) for row, rate in pairs)
        yield Added(Polynomial(terms, now.origin), 1.0)


def _carried(now: Gaussian, rates: dict[str, Floats]) -> Carried:
    n = now.dimension
    stretch = np.zeros((n, n))
    if now.rate is not None and "rate" in rates:
        stretch = -0.5 * float(rates["rate"]) / now.rate * np.eye(n)
    elif "covariance" in rates:  # S' S**-1 / 2, where Q = S**-1 / 2
        stretch = _product(rates["covariance"].reshape(n, n), now.matrix)
    velocity = rates.get("center", np.zeros(n)).reshape(n)
    return Carried(now, velocity, stretch, float(rates.get("weight", 0.0)) / now.weight)


def _product(a: Floats, b: Floats) -> Floats:
    """The product of two small matrices, summed in order."""
    whole: Floats = (a[:, :, None] * b[None, :, :]).sum(axis=1)
    return whole
