"""The nearest point of a polytope: an active-set method that ends after finitely many steps."""

from __future__ import annotations

import numpy as np

from dwell._types import Floats, Points

DEPENDENT = 1e-20  # squared length of what is left of a unit normal that others span


def project(point: Points, normals: Points, offsets: Floats) -> Points:
    """The nearest z to `point` with normals z <= offsets (unit normals; such z exist).

    Goldfarb and Idnani's dual active-set method: violated constraints enter one by one, the worst
    first, and those whose multiplier becomes negative leave.
    """
    z = point.copy()
    held: list[int] = []
    pull = np.zeros(0)
    slack = 4e-16 * (1.0 + float(np.abs(offsets).max(initial=0.0)) + float(np.abs(point).max()))
    for _ in range(20 * (len(offsets) + 1)):
        broken = normals @ z - offsets
        broken[held] = -np.inf
        k = int(np.argmax(broken))
        if broken[k] <= slack:
            break
        z, held, pull = _take_in(k, z, held, pull, normals, offsets)
    return _foot(point, normals[held], offsets[held]) if held else z


def _take_in(
    k: int, z: Points, held: list[int], pull: Floats, normals: Points, offsets: Floats
) -> tuple[Points, list[int], Floats]:
    """Add constraint k to the active set, and drop those with negative multipliers."""
    own = 0.0
    while True:
        share = _shares(normals[held], normals[k])
        step = normals[k] - share @ normals[held] if held else normals[k].copy()
        square = float(step @ step)
        height = float(normals[k] @ z - offsets[k])
        full = height / square if square > DEPENDENT else np.inf
        ratios = [pull[j] / share[j] if share[j] > 0.0 else np.inf for j in range(len(held))]
        first = int(np.argmin(ratios)) if held else -1
        partial = ratios[first] if held else np.inf
        move = min(full, partial)
        if not np.isfinite(move):  # constraints that contradict each other by rounding only
            return z, held, pull
        if square > DEPENDENT:
            z = z - move * step
        pull = pull - move * share
        own += move
        if full <= partial:
            return z, [*held, k], np.append(pull, own)
        held = held[:first] + held[first + 1 :]
        pull = np.delete(pull, first)


def _shares(rows: Points, normal: Points) -> Floats:
    """Coefficients of the combination of rows nearest to `normal`."""
    if not len(rows):
        return np.zeros(0)
    return np.asarray(np.linalg.lstsq(rows.T, normal, rcond=1e-12)[0], dtype=np.float64)


def _foot(point: Points, rows: Points, values: Floats) -> Points:
    """The nearest point on all of these planes at once; the second step mends the first."""
    foot = point
    for _ in range(2):
        foot = foot - np.linalg.lstsq(rows, rows @ foot - values, rcond=1e-12)[0]
    return foot
