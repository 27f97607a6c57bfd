"""A small place to compare laws in."""

from __future__ import annotations

from typing import Any

import pytest

from dwell import Scenario
from dwell.scenario import parse_scenario

SMALL: dict[str, Any] = {
    "name": "small",
    "workspace": {"kind": "box", "lower": [0, 0], "upper": [4, 3]},
    "density": {"kind": "gaussian", "center": [3, 1], "rate": 0.1},
    "agents": {"start": [[1, 1], [2, 2], [3, 2.5], [0.5, 2]]},
    "controller": {"kind": "timer", "k1": 1.0, "nu": 0.5, "t1": 0.1, "t2": 0.2},
    "certificate": {"eta_max": 0.9, "lipschitz": 5.0},
    "run": {"horizon": 2.0, "seed": 1},
}


def scenario(**changes: Any) -> Scenario:
    """The small scenario with some tables replaced."""
    return parse_scenario({**SMALL, **changes})


@pytest.fixture
def small() -> Scenario:
    """The small scenario."""
    return scenario()
