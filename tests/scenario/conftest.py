"""A small scenario that is right, to be spoiled by each test in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dwell.errors import ScenarioError
from dwell.scenario import Scenario, apply_overrides, parse_scenario


def small() -> dict[str, Any]:
    """Three agents in a square, as a mapping."""
    return {
        "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 4]},
        "agents": {"start": [[1, 1], [2, 2], [3, 3]]},
        "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.2},
        "run": {"horizon": 10.0, "seed": 1},
    }


@pytest.fixture
def base() -> dict[str, Any]:
    return small()


@pytest.fixture
def parsed() -> Callable[..., Scenario]:
    """Parses the small scenario with some overrides."""
    return lambda *overrides: parse_scenario(apply_overrides(small(), overrides))


def refusal_of(data: dict[str, Any], *overrides: str) -> ScenarioError:
    """The error that a scenario gives with some overrides."""
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(apply_overrides(data, overrides))
    error, text = caught.value, str(caught.value)
    assert not any(word in text for word in ("pydantic", "http", "~"))
    assert 1 <= len(text.splitlines()) <= 5
    assert all(line[-1] in ".?)" for line in text.splitlines())
    assert text.startswith(f"{error.key} ")
    assert error.code
    return error


@pytest.fixture
def refused() -> Callable[..., ScenarioError]:
    """The error that the small scenario gives with some overrides."""
    return lambda *overrides: refusal_of(small(), *overrides)
