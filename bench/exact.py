"""Exact cells of a few among many agents, to judge everybody's centroids by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.spatial import cKDTree

from bench.places import Points
from tests.oracles import mp_moments as oracle
from tests.oracles import rational_cells

NEAR = 60  # agents that a cell is cut by; the result says whether more could have reached


@dataclass(frozen=True)
class Sample:
    """Some agents, and the exact centroids of their cells."""

    who: np.ndarray
    centroids: list[Sequence[oracle.Number]]

    def worst(self, centroids: Points) -> float:
        """The largest distance of the sample's centroids from the exact ones."""
        pairs = zip(centroids[self.who].tolist(), self.centroids, strict=True)
        return max(oracle.distance(found, exact) for found, exact in pairs)


def some(points: Points, side: float, count: int = 40) -> np.ndarray:
    """Agents to look at closely: half by chance, half nearest to the sides and corners."""
    picked = np.random.default_rng(9).choice(len(points), min(count, len(points)), replace=False)
    wall = np.minimum(points, side - points).min(axis=1)
    return np.unique(np.concatenate([picked[: count // 2], np.argsort(wall)[: count // 2]]))


def sample(
    points: Points, side: float, density: oracle.Density, count: int = 40
) -> Sample:  # fmt: skip
    """Exact centroids of some cells in the square from (0, 0) to (side, side)."""
    tree, who = cKDTree(points), some(points, side, count)
    found = [_centroid(points, tree, int(p), side, density) for p in who]
    return Sample(who, found)


def _centroid(
    points: Points, tree: cKDTree, p: int, side: float, density: oracle.Density
) -> Sequence[oracle.Number]:
    """By rational cuts with the nearest agents; more of them until none beyond can reach."""
    square = [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)]
    near = NEAR
    while True:
        far, others = tree.query(points[p], min(near, len(points)))
        cell = rational_cells.cell(square, points[others].tolist(), 0)
        reach = max(rational_cells.squared_distance(v, cell.site) for v in cell.vertices)
        if len(others) == len(points) or Fraction(float(far[-1])) ** 2 > 5 * reach:
            break
        near *= 2
    if isinstance(density, oracle.Uniform):
        return rational_cells.centroid(cell.vertices)
    return oracle.moments(cell.vertices, density).centroid
