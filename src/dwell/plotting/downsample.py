"""Thinning curves to what print can show, without losing a peak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from dwell._types import Floats, Ints

Curve: TypeAlias = tuple[Floats, Floats]  # ascending times, values; both (n,)


def columns_of(times: Floats, until: float, columns: int) -> Ints:
    """Which of `columns` equal columns of [0, until] each time falls into."""
    scale = columns / until if until > 0.0 else 0.0
    return np.minimum((times * scale).astype(np.int64), columns - 1)


def extremes(curve: Curve, until: float, columns: int) -> Curve:
    """The first, last, smallest and largest point in each column, in order."""
    times, values = curve
    if len(times) <= 4 * columns:
        return curve
    first, last, lowest, highest = _landmarks(times, values, until, columns)
    keep = np.unique(np.concatenate([first, last, lowest, highest]))
    return times[keep], values[keep]


def maxima(curve: Curve, until: float, columns: int) -> Curve:
    """The largest point in each column: the upper envelope of a saw-tooth."""
    times, values = curve
    if not len(times):
        return curve
    highest = _landmarks(times, values, until, columns)[3]
    return times[highest], values[highest]


def _landmarks(
    times: Floats, values: Floats, until: float, columns: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Rows of the first, last, smallest and largest value of each column that has any."""
    column = columns_of(times, until, columns)
    by_value = np.lexsort((values, column))
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    ends = np.append(starts[1:], len(times)) - 1
    return starts, ends, by_value[starts], by_value[ends]


def bands(
    curves: Sequence[Curve], until: float, columns: int, shares: Sequence[float]
) -> tuple[Floats, Floats]:
    """Quantiles of all curves together, column by column: times (n,), values (len(shares), n)."""
    times = np.concatenate([curve[0] for curve in curves])
    values = np.concatenate([curve[1] for curve in curves])
    distinct = len(np.unique(times))
    column = columns_of(times, until, min(columns, max(distinct // 2, 1)))
    order = np.argsort(column, kind="stable")
    times, values, column = times[order], values[order], column[order]
    groups = np.split(np.arange(len(times)), np.flatnonzero(np.diff(column)) + 1)
    middles = np.array([times[rows].mean() for rows in groups])
    found = np.array([np.quantile(values[rows], shares) for rows in groups]).T
    return middles, found
