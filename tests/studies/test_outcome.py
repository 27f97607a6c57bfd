"""Settling times, and tessellations that are the same whatever the numbering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dwell
from dwell import InputError
from dwell.studies.outcome import (
    Match,
    distance,
    largest_error,
    match,
    resting_place,
    settled_at,
)

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

    assert distance(mixed, points) == 0.0
    moved = mixed + np.array([1e-3, 0.0])
    assert distance(moved, points) == pytest.approx(1e-3)


def test_pairs_are_the_best_there_are() -> None:
    a = np.array([[0.0, 0.0], [1.0, 0.0]])
    b = np.array([[1.1, 0.0], [0.2, 0.0]])

    found = distance(a, b)
    assert found == pytest.approx(0.2)
    assert not Match(found, None, 0.15).same
    assert Match(found, None, 0.25).same
    assert Match(found, 0.1, 0.15).same
    assert not Match(0.1, found, 0.15).same


def test_two_ways_to_one_configuration_are_the_same_long_before_they_are_there() -> None:
    box, start = dwell.Box((0, 0), (4, 3)), [(1, 1), (2, 2), (3, 2.5), (0.5, 2)]
    fast = dwell.simulate(box, None, start, dwell.Lloyd(dt=0.1), until=3.0)
    slow = dwell.simulate(box, None, start, dwell.Lloyd(k2=0.5, dt=0.1), until=3.0)

    found = match(fast, slow)
    assert found.distance > 10.0 * found.tolerance
    assert found.settled is not None
    assert found.settled < 1e-9
    assert found.same
    assert found.tolerance == pytest.approx(1e-3 * 5.0)
    rest = resting_place(fast)
    assert np.abs(dwell.tessellate(box, rest).errors).max() < 1e-9


def test_different_configurations_stay_different() -> None:
    """Two agents side by side, and one above the other: both rest in a square."""
    box, law = dwell.Box((0, 0), (2, 2)), dwell.Lloyd(dt=0.1)
    beside = dwell.simulate(box, None, [(0.4, 1.0), (1.5, 1.0)], law, until=1.0)
    above = dwell.simulate(box, None, [(1.0, 0.4), (1.0, 1.5)], law, until=1.0)

    found = match(beside, above)
    assert found.settled == pytest.approx(np.sqrt(0.5))
    assert not found.same


def test_on_a_grid_agents_rest_where_they_are() -> None:
    box, start = dwell.Box((0, 0), (4, 3)), [(1, 1), (2, 2), (3, 2.5), (0.5, 2)]
    run = dwell.simulate(box, None, start, dwell.Lloyd(dt=0.1), until=1.0, spacing=0.1)
    assert (resting_place(run) == run.positions(1.0)).all()


def test_the_tolerance_goes_with_the_workspace() -> None:
    assert match(fakes.run(), fakes.run()).tolerance == pytest.approx(0.03)
    assert match(fakes.run(contact=True), fakes.run()).settled is None


def test_different_numbers_of_agents_cannot_be_paired() -> None:
    with pytest.raises(InputError, match="cannot be paired"):
        distance(np.zeros((2, 2)), np.zeros((3, 2)))
