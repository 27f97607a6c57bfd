"""Regions for tests."""

from __future__ import annotations

import numpy as np

import dwell
from dwell._types import Points

U = [(0, 0), (3, 0), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]


def star(rng: np.random.Generator, corners: int, low: float = 0.6, high: float = 1.0) -> Points:
    """A ring that is star-shaped about 0, counter-clockwise, within the unit disc."""
    turn = 2.0 * np.pi * (np.arange(corners) + rng.uniform(0.0, 0.8, corners)) / corners
    return np.column_stack([np.cos(turn), np.sin(turn)]) * rng.uniform(low, high, (corners, 1))


def archipelago(seed: int, *, stay: bool = False, moved: float = 0.0) -> dwell.Region:
    """A region with two parts and three holes, whose coordinates are multiples of 2**-20.

    Moved by whole numbers up to 2**32 they stay exact.
    """
    rng = np.random.default_rng(seed)
    small = [0.15 * star(rng, 5) + shift for shift in ((0.3, 0.2), (-0.25, 0.1), (0.0, -0.3))]
    beyond = star(rng, 9) + np.array([3.2, 1.0])
    rings = [2.0 * star(rng, 17), *(2.0 * hole for hole in small), beyond]
    first, a, b, c, second = (np.round(ring * 2.0**20) / 2.0**20 + moved for ring in rings)
    parts = [{"outer": first, "holes": [a, b, c]}, {"outer": second}]
    return dwell.Region(parts, stay=stay)


def agents(seed: int, count: int, moved: float = 0.0) -> Points:
    """Positions in the hull of an archipelago, multiples of 2**-20."""
    rng = np.random.default_rng(seed + 1000)
    found = np.round(rng.uniform((-1.0, -1.0), (3.5, 1.2), (4 * count + 20, 2)) * 2.0**20) / 2.0**20
    return found[archipelago(seed).hull.holds(found)][:count] + moved
