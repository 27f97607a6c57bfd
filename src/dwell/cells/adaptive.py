"""Adaptive quadrature: pieces of a region are halved until the sum of estimated errors is small.

An estimate is the difference of two rules times a safety factor: for smooth functions far too
large. One of the two has nodes on the sides of a piece wherever that is affordable, and so meets a
jump that runs beside them. No finite number of nodes can exclude a spike between them: a density
with one is better given as a Gaussian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dwell._types import Floats

SAFETY = 8.0  # times the difference of two rules
ROUNDING = 1e-15  # of a value

Pieces = tuple[Floats, ...]  # arrays with a row for each piece


class Integral(NamedTuple):
    """Integrals of some functions, bounds on their errors, and the pieces they were taken over."""

    values: Floats  # (c,)
    errors: Floats  # (c,)
    converged: bool
    pieces: Pieces


def integrate(
    pieces: Pieces,
    estimate: Callable[[Pieces], tuple[Floats, Floats]],
    halve: Callable[[Pieces], Pieces],
    sizes: Floats,
    goal: float,
    most: int,
) -> Integral:
    """Halve the worst pieces until all errors are below `goal` or there are `most` pieces.

    `estimate` returns (pieces, c) integrals and (pieces, e) bounds on errors, `halve` twice as many
    pieces. Errors count relative to the integral of the first function, a mass, times `sizes` (e,):
    those of first moments may vanish.
    """
    values, errors = estimate(pieces)
    while True:
        total = values.sum(axis=0)
        scale = np.abs(total[0]) * sizes
        share = (errors / np.where(scale > 0.0, scale, 1.0)).max(axis=1)
        enough = bool(share.sum() <= goal)
        if enough or len(values) >= most:
            return Integral(total, errors.sum(axis=0), enough, pieces)
        worst = share > 0.25 * share.max()
        halves = halve(tuple(rows[worst] for rows in pieces))
        more, more_errors = estimate(halves)
        pieces = tuple(
            np.concatenate([rows[~worst], new]) for rows, new in zip(pieces, halves, strict=True)
        )
        values = np.concatenate([values[~worst], more])
        errors = np.concatenate([errors[~worst], more_errors])


def error_of(fine: Floats, other: Floats) -> Floats:
    """Bound on the errors of `fine`, integrals by one rule, given those by another."""
    found: Floats = SAFETY * np.abs(fine - other) + ROUNDING * np.abs(fine)
    return found
