"""Balls and ellipsoids as |W (z - center)| <= 1 with W upper triangular: what kernels take."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dwell._types import Floats, Points
from dwell.geometry.ball import Ball
from dwell.geometry.ellipsoid import Ellipsoid


class Root(NamedTuple):
    """|W (z - center)| <= 1 with W upper triangular."""

    center: Points  # (n,)
    matrix: Floats  # (n, n)


def root_of(curved: Ball | Ellipsoid) -> Root:
    """The workspace as the kernels take it; exact but for a rounding of each entry.

    The result is cached.
    """
    axes = tuple(tuple(row) for row in np.asarray(curved.axes, dtype=np.float64).tolist())
    return _root(tuple(curved.center), tuple(float(v) for v in curved.semi_axes), axes)


@lru_cache(maxsize=32)
def _root(
    center: tuple[float, ...], semi_axes: tuple[float, ...], axes: tuple[tuple[float, ...], ...]
) -> Root:
    rows = [
        [Fraction(v) / Fraction(size) for v in row]
        for row, size in zip(axes, semi_axes, strict=True)
    ]
    n = len(rows)
    form = [
        [sum((row[i] * row[j] for row in rows), Fraction(0)) for j in range(n)] for i in range(n)
    ]
    matrix = np.zeros((n, n))
    for i in range(n):
        pivot = math.sqrt(float(form[i][i]))
        matrix[i, i] = pivot
        for j in range(i + 1, n):
            matrix[i, j] = float(form[i][j]) / pivot
        for k in range(i + 1, n):
            share = form[i][k] / form[i][i]
            form[k] = [form[k][j] - share * form[i][j] for j in range(n)]
    middle = np.array(center, dtype=np.float64)
    for shared in (middle, matrix):
        shared.setflags(write=False)
    return Root(middle, matrix)


def seen_from(root: Root, place: Points) -> tuple[Floats, float]:
    """a = W (place - center), and 1 - |a|**2 of that very a, without cancellation."""
    gap = place - root.center
    a = np.array([math.fsum(root.matrix[i] * gap) for i in range(len(gap))])
    return a, float(1 - sum(Fraction(float(v)) ** 2 for v in a))
