"""Moments of single cells under a Gaussian against 50-digit references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import dwell
from bench.places import PEAK, RATE, Points, from_peak, hexagon, hill
from bench.table import Row, at_most
from tests.oracles import mp_moments as oracle
from tests.oracles import rational_cells

LIMIT = 1e-12
DISTANCES = (0, 1, 5, 10, 50, 100, 157, 200)
QUICK_DISTANCES = (0, 10, 200)
ASPECTS = {"1e2, 1e3": (1e2, 1e3), "1e4 to 1e8": (1e4, 1e6, 1e8)}
ANGLES = (0.0, 0.4, 1.2)
SPACINGS = {"1e-1, 1e-2": (1e-1, 1e-2), "1e-4 to 1e-8": (1e-4, 1e-6, 1e-8)}
LARGEST_UNDERFLOW = 1e-290  # below, masses have fewer digits than doubles: logarithms are compared
PEAK_EXACT = oracle.Gaussian.isotropic(PEAK, RATE)


@dataclass(frozen=True)
class Errors:
    """Relative errors of one cell, or the worst of many."""

    mass: float = 0.0
    of_diameter: float = 0.0  # centroid, relative to the cell's diameter
    of_arm: float = 0.0  # centroid, relative to its distance from the agent
    second: float = 0.0

    def worst(self, other: Errors) -> Errors:
        """The larger of each."""
        return Errors(*(max(a, b) for a, b in zip(self.parts(), other.parts(), strict=True)))

    def parts(self) -> tuple[float, float, float, float]:
        """All four."""
        return self.mass, self.of_diameter, self.of_arm, self.second

    def __str__(self) -> str:
        arm = f" ({self.of_arm:.0e} of |c - x|)" if self.of_arm else ""
        return f"m {self.mass:.0e}, c {self.of_diameter:.0e}{arm}, 2nd {self.second:.0e}"


def rows(quick: bool) -> Iterator[Row]:
    """One row for each kind of cell and way in."""
    distances = QUICK_DISTANCES if quick else DISTANCES
    for name, found in _kinds(distances):
        worst, count = Errors(), 0
        for errors in found:
            worst, count = worst.worst(errors), count + 1
        what = f"relative to mpmath, worst of {count} cells, 0 to 200 from the peak"
        value = max(worst.parts())
        yield at_most("accuracy", f"Gaussian cells: {name}", what, value, LIMIT, str(worst))


def _kinds(distances: tuple[int, ...]) -> Iterator[tuple[str, Iterator[Errors]]]:
    yield "regular, moments()", (_of_region(p) for p in regular(distances))
    yield "regular, tessellate()", (_of_agent(*c) for c in crowds(distances))
    for name, aspects in ASPECTS.items():
        found = (_of_region(p) for p in needles(distances, aspects))
        yield f"needles of aspect {name}, moments()", found
    for name, spacings in SPACINGS.items():
        found = (_of_agent(*c) for c in slivers(distances, spacings))
        yield f"slivers of width {name}, tessellate()", found
    for name, aspects in ASPECTS.items():
        found = (_of_agent(*c) for c in thin_workspaces(distances, aspects))
        yield f"needle workspaces of aspect {name}, tessellate()", found


def regular(distances: tuple[int, ...]) -> Iterator[Points]:
    """Hexagons small, medium and large."""
    for d in distances:
        for radius in (0.3, 3.0, 8.0):
            yield hexagon(radius, 1.0, 0.2) + from_peak(d)


def needles(distances: tuple[int, ...], aspects: tuple[float, ...]) -> Iterator[Points]:
    """Thin hexagons in several directions."""
    for d in distances:
        for aspect in aspects:
            for angle in ANGLES:
                yield hexagon(3.0, aspect, angle) + from_peak(d)


def crowds(distances: tuple[int, ...]) -> Iterator[tuple[Points, Points, int]]:
    """(workspace, agents, which agent): twelve agents in a hexagon."""
    agents = np.random.default_rng(3).uniform(-5, 5, (12, 2))
    for d in distances:
        for p in range(3):
            yield hexagon(8.0) + from_peak(d), agents + from_peak(d), p


def slivers(
    distances: tuple[int, ...], spacings: tuple[float, ...]
) -> Iterator[tuple[Points, Points, int]]:
    """The cell between two agents close on either side."""
    for d in distances:
        for spacing in spacings:
            for angle in (0.0, 0.7):
                step = spacing * np.array([np.cos(angle), np.sin(angle)])
                middle = from_peak(d) + np.array([0.9, -0.4])
                agents = np.array([middle - step, middle, middle + 1.3 * step])
                yield hexagon(8.0) + from_peak(d), agents, 1


def thin_workspaces(
    distances: tuple[int, ...], aspects: tuple[float, ...]
) -> Iterator[tuple[Points, Points, int]]:
    """Two agents along the axis of a needle."""
    for d in distances:
        for aspect in aspects:
            workspace = hexagon(3.0, aspect, 0.4) + from_peak(d)
            middle = workspace.mean(axis=0)
            agents = np.array([middle, middle + 0.3 * (workspace[0] - middle)])
            yield workspace, agents, 0


def _of_region(vertices: Points) -> Errors:
    region = dwell.Polygon(vertices)
    found = dwell.moments(region, hill())
    exact = oracle.moments(region.vertices.tolist(), PEAK_EXACT)
    return Errors(
        mass=_mass_error(found.mass, found.log_mass, exact),
        of_diameter=oracle.distance(found.centroid.tolist(), exact.centroid) / region.diameter,
        second=_second_error(found.second_moment, exact),
    )


def _of_agent(vertices: Points, agents: Points, p: int) -> Errors:
    workspace = dwell.Polygon(vertices)
    found = dwell.tessellate(workspace, agents, hill())
    cell = rational_cells.cell(workspace.vertices.tolist(), agents.tolist(), p)
    exact = oracle.moments(cell.vertices, PEAK_EXACT)
    error = [Fraction(float(v)) for v in found.errors[p]]
    with oracle.mp.workdps(60):
        place = [oracle.to_mp(Fraction(float(v))) for v in agents[p]]
        wanted = [c - x for c, x in zip(exact.centroid, place, strict=True)]
        miss = oracle.distance(error, wanted)
        arm = oracle.distance(wanted, (0, 0))
    return Errors(
        mass=_mass_error(float(found.masses[p]), float(found.log_masses[p]), exact),
        of_diameter=miss / _diameter(cell.vertices),
        of_arm=miss / arm,
        second=_second_error(float(found.second_moments[p]), exact),
    )


def _mass_error(mass: float, log_mass: float, exact: oracle.Moments) -> float:
    """Of the mass itself where doubles hold it, and of its logarithm's exponential."""
    with oracle.mp.workdps(60):
        logarithm = oracle.to_mp(Fraction(log_mass)) - exact.log_mass
        by_log = float(abs(oracle.mp.expm1(logarithm)))
    plain = oracle.relative_error(mass, exact.mass) if mass > LARGEST_UNDERFLOW else 0.0
    return max(by_log, plain)


def _second_error(second: float, exact: oracle.Moments) -> float:
    if exact.polar_centroid < LARGEST_UNDERFLOW:
        return 0.0
    return oracle.relative_error(second, exact.polar_centroid)


def _diameter(vertices: tuple[rational_cells.Point, ...]) -> float:
    points = np.array([[float(x), float(y)] for x, y in vertices])
    return float(max(np.hypot(*(points - v).T).max() for v in points))
