"""Workspaces, densities, agents and scenarios that several measurements share."""

from __future__ import annotations

from typing import Any

import numpy as np

import dwell
from dwell.scenario import parse_scenario, template_text, text_to_mapping

HEPTAGON = np.array(
    [(-8, 0), (-3, -9), (10, -11), (22, -5), (24, 8), (12, 18), (-4, 14)], dtype=np.float64
)
PEAK = (7.5, 4.5)
RATE = 0.03
FAR_AWAY = 5e6

Points = np.ndarray


def hill(offset: float = 0.0) -> dwell.Gaussian:
    """The paper's density, moved by `offset` along both axes."""
    return dwell.Gaussian(center=(PEAK[0] + offset, PEAK[1] + offset), rate=RATE)


def scattered(count: int, seed: int = 1) -> Points:
    """Agents spread at random over the heptagon."""
    rng = np.random.default_rng(seed)
    workspace, kept = dwell.Polygon(HEPTAGON), np.empty((0, 2))
    while len(kept) < count:
        points = rng.uniform((-8, -11), (24, 18), (4 * count, 2))
        kept = np.vstack([kept, points[workspace.contains(points)]])
    return kept[:count]


def clustered(count: int, radius: float = 0.5, seed: int = 2) -> Points:
    """Agents crowded together."""
    return np.array([1.5, -2.0]) + radius * np.random.default_rng(seed).uniform(-1, 1, (count, 2))


def lattice(count: int) -> Points:
    """Agents on a square lattice: four cells meet in every corner."""
    side = int(np.ceil(np.sqrt(count)))
    axis = np.arange(side) * (8.0 / side)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)[:count]


def paper(agents: int, **run: Any) -> dwell.Scenario:
    """The paper's scenario of 12 or 30 agents, some keys of its [run] table set anew."""
    mapping = text_to_mapping(template_text(f"paper-{agents}"))
    mapping["run"] |= run
    return parse_scenario(mapping)


def slow_timer(**changes: Any) -> dwell.Timer:
    """The law of the 12-agent run."""
    return dwell.Timer(**({"k1": 0.5, "nu": 0.5, "t1": 0.2, "t2": 0.65} | changes))


def rotated(points: Points, angle: float) -> Points:
    """`points` turned about (0, 0)."""
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


def hexagon(radius: float, aspect: float = 1.0, angle: float = 0.0) -> Points:
    """A hexagon about (0, 0), squeezed to `aspect` and turned."""
    turn = 0.3 + np.pi / 3 * np.arange(6)
    return rotated(np.c_[radius * np.cos(turn), radius / aspect * np.sin(turn)], angle)


def from_peak(distance: float, direction: float = 1.0) -> Points:
    """The point so far from the peak."""
    return np.array(PEAK) + distance * np.array([np.cos(direction), np.sin(direction)])


def crowd(count: int, seed: int = 1) -> tuple[Points, float]:
    """Agents spread evenly over a square, one for each unit of area; and its side."""
    side = float(np.sqrt(count))
    return np.random.default_rng(seed).uniform(0.0, side, (count, 2)), side


def wide_hill(side: float) -> dwell.Gaussian:
    """A density over a whole square, e^-2 at its corners."""
    return dwell.Gaussian((0.5 * side, 0.5 * side), rate=4.0 / side**2)


def brisk_timer() -> dwell.Timer:
    """The law of crowds: about 1.3 looks of each agent per unit of time."""
    return dwell.Timer(k1=0.5, nu=0.5, t1=0.5, t2=1.0)
