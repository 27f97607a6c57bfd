"""Sizes of dual guaranteed cells, by diameter and by circumradius."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dwell
from dwell.cells.backend import pair_of
from dwell.cells.weighted_region import weighted_region

SITES: dict[str, tuple[Any, float]] = {  # with twice the largest circumradius over the diameter
    "interval": (dwell.Interval(-1.0, 3.0), 1.0),
    "box": (dwell.Box((-1, 0), (3, 2)), 2.0 / math.sqrt(3.0)),
    "disc": (dwell.Ball((1, 1), 1.7), 2.0 / math.sqrt(3.0)),
    "cuboid": (dwell.Box((-1, 0, 0), (3, 2, 1)), math.sqrt(1.5)),
}


@pytest.mark.parametrize("by_function", [False, True])
@pytest.mark.parametrize("site", SITES)
def test_twice_the_circumradius_is_the_diameter_or_a_little_more(
    site: str, by_function: bool
) -> None:
    """Jung's theorem; both bound the distances of places that the agent may have to cover."""
    workspace, most = SITES[site]
    n = workspace.dimension
    level: Any = (lambda points: 1.0 + 0.0 * points[:, 0]) if by_function else None
    ground = weighted_region(workspace, dwell.Uniform() if level is None else _as(level))
    rng = np.random.default_rng(4)
    lower, upper = workspace.bounds
    middle, reach = 0.5 * (lower + upper), 0.25 * (upper - lower)
    for _ in range(4):
        places = rng.uniform(middle - reach, middle + reach, (4, n))
        gap = np.sqrt(((places[1:] - places[0]) ** 2).sum(axis=1)).min()
        radii = np.full(3, 0.2 * gap)
        pair = pair_of(ground, places[0], places[1:], radii)
        if pair is None:
            continue
        diameter, circle = pair.size("diameter"), pair.size("circumradius")
        assert diameter * (1.0 - 1e-6) <= circle <= diameter * most * 1.05
        points = workspace.nearest(rng.uniform(lower, upper, (4000, n)))
        own = np.sqrt(((points - places[0]) ** 2).sum(axis=1))
        others = np.sqrt(((points[:, None] - places[1:]) ** 2).sum(axis=2)) + radii
        kept = points[(own[:, None] <= others).all(axis=1)]
        far = max(np.sqrt(((kept - one) ** 2).sum(axis=1)).max() for one in kept[:200])
        assert far <= min(diameter, circle) * (1.0 + 1e-9)


def _as(level: Any) -> Any:
    from dwell.density import as_density

    return as_density(level)
