"""Do the cells add up to the workspace? Sums of masses and of first moments, in exact fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import dwell
from bench.places import FAR_AWAY, HEPTAGON, Points, clustered, hill, lattice, scattered
from bench.table import Row, at_most
from tests.oracles import mp_moments as oracle

LIMIT = 1e-13
COUNTS = (2, 3, 5, 10, 30, 100, 300)
QUICK_COUNTS = (2, 30)


def rows(quick: bool) -> Iterator[Row]:
    """One row for each density, near the origin and far from it."""
    for density in ("uniform", "Gaussian"):
        for offset in (0.0, FAR_AWAY):
            mass, first, cases = worst_sums(density, offset, QUICK_COUNTS if quick else COUNTS)
            place = "at the origin" if offset == 0.0 else "world moved by 5e6"
            yield at_most(
                "accuracy",
                f"cells add up: {density}, {place}",
                f"relative, worst of {cases} sets of agents",
                max(mass, first),
                LIMIT,
                f"Σ m {mass:.1e}, Σ m c {first:.1e}",
            )


def worst_sums(density: str, offset: float, counts: tuple[int, ...]) -> tuple[float, float, int]:
    """Largest relative errors of mass and first moment, and how many sets of agents were tried."""
    workspace = dwell.Polygon(HEPTAGON + offset)
    weight = dwell.Uniform() if density == "uniform" else hill(offset)
    exact = oracle.moments(workspace.vertices.tolist(), _as_oracle(weight))
    found = [
        _sum_errors(workspace, agents + offset, weight, exact)
        for count in counts
        for agents in _sets(count)
    ]
    return max(f[0] for f in found), max(f[1] for f in found), len(found)


def _sets(count: int) -> list[Points]:
    return [scattered(count), clustered(count), clustered(count, 1e-3), lattice(count)]


def _as_oracle(weight: dwell.Uniform | dwell.Gaussian) -> oracle.Density:
    if isinstance(weight, dwell.Gaussian):
        return oracle.Gaussian.isotropic(weight.center, weight.rate)
    return oracle.Uniform()


def _sum_errors(
    workspace: dwell.Polygon, agents: Points, weight: object, exact: oracle.Moments
) -> tuple[float, float]:
    """Relative errors of the sums; first moments are about the workspace's lower left corner."""
    cells = dwell.tessellate(workspace, agents, weight)
    corner = [Fraction(float(v)) for v in workspace.bounds[0]]
    masses = [Fraction(float(m)) for m in cells.masses]
    first = [sum(_arms(cells, corner, masses, k), Fraction(0)) for k in (0, 1)]
    with oracle.mp.workdps(60):
        wanted = [exact.mass * (exact.centroid[k] - oracle.to_mp(corner[k])) for k in (0, 1)]
        size = oracle.mp.sqrt(wanted[0] ** 2 + wanted[1] ** 2)
        return (
            oracle.relative_error(sum(masses, Fraction(0)), exact.mass),
            float(oracle.distance(first, wanted) / size),
        )


def _arms(
    cells: dwell.Tessellation, corner: list[Fraction], masses: list[Fraction], k: int
) -> Iterator[Fraction]:
    for mass, place, error in zip(masses, cells.positions, np.asarray(cells.errors), strict=True):
        yield mass * (Fraction(float(place[k])) + Fraction(float(error[k])) - corner[k])
