"""Settling times, and tessellations that are the same whatever the numbering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dwell import InputError
from dwell.studies.outcome import largest_error, match, match_points, settled_at

from . import fakes


def with_errors(values: list[float]) -> Any:
    run = fakes.run()
    run.metrics = type(run.metrics)(
        np.arange(float(len(values))), np.array(values)[:, None], np.empty((len(values), 0)),
        np.ones(len(values)), np.ones(len(values)),
    )  # fmt: skip
    return run


@pytest.mark.parametrize(
    ("errors", "at"),
    [
        ([3.0, 2.0, 1.0, 0.5], 2.0),  # a value at the level is within it
        ([3.0, 0.5, 2.0, 0.5], 3.0),  # for good, not for the first time
        ([0.5, 0.5], 0.0),
        ([0.5, 2.0], None),
        ([], None),
    ],
)
def test_settling_is_for_good(errors: list[float], at: float | None) -> None:
    assert settled_at(with_errors(errors), 1.0) == at


def test_the_largest_error_from_a_time_on() -> None:
    run = with_errors([3.0, 1.0, 2.0, 0.5])

    assert largest_error(run, 1.0) == 2.0
    assert largest_error(run, 3.0) == 0.5
    assert largest_error(run, 3.5) is None


@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_numbering_does_not_matter(random: Any, agents: int) -> None:
    rng = np.random.default_rng(random.getrandbits(32))
    points = rng.uniform(-10, 10, (agents, 2))
    mixed = points[rng.permutation(agents)]

    assert match_points(mixed, points, 1e-12).distance == 0.0
    moved = mixed + np.array([1e-3, 0.0])
    assert match_points(moved, points, 1e-2).distance == pytest.approx(1e-3)


def test_pairs_are_the_best_there_are() -> None:
    a = np.array([[0.0, 0.0], [1.0, 0.0]])
    b = np.array([[1.1, 0.0], [0.2, 0.0]])

    found = match_points(a, b, 0.15)
    assert found.distance == pytest.approx(0.2)
    assert not found.same
    assert match_points(a, b, 0.25).same


def test_the_tolerance_goes_with_the_workspace() -> None:
    assert match(fakes.run(), fakes.run()).tolerance == pytest.approx(0.3)


def test_different_numbers_of_agents_cannot_be_paired() -> None:
    with pytest.raises(InputError, match="cannot be paired"):
        match_points(np.zeros((2, 2)), np.zeros((3, 2)), 1.0)
