"""Findings at their limits, and the samples that a check spreads over a run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dwell.verify.finding import HOLDS, NOT_APPLICABLE, VIOLATED, if_guaranteed, spread, worst_of


@pytest.mark.parametrize(
    ("values", "limit", "strict", "status", "worst"),
    [
        ([], 1.0, False, HOLDS, 0.0),
        ([0.2, 0.5, 0.1], 1.0, False, HOLDS, 0.5),
        ([-3.0, -1.0], 0.0, False, HOLDS, 0.0),
        ([1.0], 1.0, False, HOLDS, 1.0),
        ([1.0], 1.0, True, VIOLATED, 1.0),
        ([0.5, np.nextafter(1.0, 2.0)], 1.0, False, VIOLATED, 1.0 + 2.0**-52),
        ([0.5, math.inf], 1.0, False, VIOLATED, math.inf),
    ],
)
def test_the_worst_value_decides(values, limit, strict, status, worst):
    found = worst_of("name", "says", np.array(values), limit, str, strict)
    assert (found.status, found.worst, found.limit) == (status, worst, limit)
    assert found.where == (str(len(values) - 1) if status == VIOLATED else "")


def test_nan_is_a_violation():
    found = worst_of("name", "says", np.array([7.0, math.nan, 0.0]), 10.0, str)
    assert (found.status, found.where) == (VIOLATED, "1")
    assert if_guaranteed(found).status == NOT_APPLICABLE
    assert if_guaranteed(worst_of("name", "says", np.zeros(1), 1.0, str)).status == HOLDS


@pytest.mark.parametrize(
    ("count", "most"), [(0, 5), (1, 1), (5, 5), (6, 5), (1000, 7), (1001, 50), (9, None)]
)
def test_spread_includes_both_ends(count, most):
    rows = spread(count, most)
    assert len(rows) == (count if most is None else min(count, most))
    assert (np.diff(rows) > 0).all()
    assert not count or (rows[0], rows[-1]) == (0, count - 1) or most == 1
    assert np.diff(rows).max(initial=0) <= (1 if most is None else -(-count // max(1, most - 1)))
